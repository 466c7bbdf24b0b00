import type { Endpoint } from '../../../parts/endpoints.ts';
import type { Expression } from '../../../parts/fact.ts';
import { allMachines, type Machine, machineOn, type Target, type Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { initialTarget } from '../../make/beginning.ts';
import { type Imagined, imagine } from '../../make/imagined.ts';
import { lookAt } from '../../make/look.ts';
import { type Staged, stage } from '../../make/staged.ts';
import { factsOfMachine, fireable } from '../../make/transitions.ts';
import { movedByClock } from '../../model/clock-changes.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { idIn, rowIn, rowWith } from '../../model/row-shown.ts';
import { isSetBySent } from '../../model/set-by-sent.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { isRefusedAs } from './fired.ts';
import { targetFor } from './outcome.ts';

/** Which of several states a row comes to, or begins in, is told by the values at the edge of each condition. */
export const choices: Trial = {
  name: 'states/choices',
  part: 'states',
  about:
    'Where a transition or a creation may lead to several states, each is come to at the edge of its condition, and not beyond.',
  noise: 'quiet',
  *cases(model) {
    for (const choice of choicesIn(model)) {
      yield {
        name: `${choice.machine.resource}, ${choice.name} at ${choice.endpoint.key}`,
        facts: factsOfMachine(choice.machine),
        run: (session) => atBothSides(session, choice),
      };
    }
  },
};

/** A state that a condition over numbers chooses among several, where callers choose all that it reads. */
interface Choice {
  readonly machine: Machine;
  /** Absent where a row begins. */
  readonly transition?: Transition;
  readonly endpoint: Endpoint;
  /** What it says of itself: where it leads, and why. */
  readonly name: string;
  readonly when: When;
}

/** The condition of a target, and what else has to be so that it decides: that of the transition, and none of those before it. */
interface When {
  readonly own: Expression;
  readonly within: Expression | undefined;
}

function* choicesIn(model: Model): Iterable<Choice> {
  for (const { machine, transition } of fireable(model)) {
    const endpoint = model.endpointOfTransition(machine.resource, transition.name);
    if (!endpoint) continue;
    for (const [target, when] of whensOf(model, transition.to, transition.if)) {
      const name = chosen(target, transition);
      if (isChosenByCallers(model, machine, endpoint, when)) yield { machine, transition, endpoint, name, when };
    }
  }
  for (const machine of allMachines(model.spec.states)) {
    const creations = model.endpointsThat('create', machine.resource);
    for (const [target, when] of whensOf(model, machine.initial)) {
      for (const endpoint of creations)
        if (isChosenByCallers(model, machine, endpoint, when)) yield { machine, endpoint, name: chosen(target, undefined), when };
    }
  }
}

function chosen({ state, if: condition }: Target, transition: Transition | undefined): string {
  return `${transition?.name ?? 'begun'} to ${state} by ${condition?.source.trim()}`;
}

/** Each target that a condition over numbers chooses, and when it is come to. */
function whensOf({ expressions }: Model, targets: readonly Target[], guard?: Expression): [Target, When][] {
  if (targets.length < 2) return [];
  return targets.flatMap((target, at): [Target, When][] => {
    const { if: own } = target;
    if (!own || !/[<>]/.test(own.source)) return [];
    const before = targets.slice(0, at).flatMap((one) => (one.if ? [`!(${one.if.source})`] : []));
    const all = [...(guard ? [`(${guard.source})`] : []), ...before].join(' && ');
    return [[target, { own, within: all === '' ? undefined : expressions.composed(own, all) }]];
  });
}

/** Whether callers choose everything that it reads: what is sent along, and members of the row that can be sent. */
function isChosenByCallers(model: Model, { resource }: Machine, { operation }: Endpoint, { own, within }: When): boolean {
  const reads = [own, ...(within ? [within] : [])].flatMap((one) => model.expressions.readsOf(one, operation));
  return reads.every(({ root, path: [member = ''], follows }) => {
    if (root === 'request') return true;
    if (root !== 'resource' && root !== 'next') return false;
    if (machineOn(model.spec.states, resource, member)) return false;
    return follows !== undefined || isSendable(model, resource, member) || isSetBySent(model, resource, member);
  });
}

const sides = ['at', 'beyond'] as const;
type Side = (typeof sides)[number];

function chosenAt({ name }: Pick<Choice, 'name'>, side: Side): string {
  return `${name}, ${side} its edge`;
}

/** The reasons of the claims about where transitions of a machine lead at their edges. */
export function choiceLooks(model: Model, machine: Machine, transition: Transition): readonly string[] {
  const own = [...choicesIn(model)].filter((one) => one.machine === machine && one.transition === transition);
  return [...new Set(own.flatMap((one) => sides.map((side) => chosenAt(one, side))))];
}

/** The reasons of the claims about where rows begin at the edges of what decides that. */
export function beginningLooks(model: Model, machine: Machine): readonly string[] {
  const own = [...choicesIn(model)].filter((one) => one.machine === machine && one.transition === undefined);
  return [...new Set(own.flatMap((one) => sides.map((side) => chosenAt(one, side))))];
}

/** So many rows are imagined for one edge: those of the first may be refused by rules of the service's own. */
const scenesMost = 4;

async function atBothSides(session: Session, choice: Choice): Promise<void> {
  const { endpoint, when } = choice;
  const seen = new Set<Side>();
  let tries = 0;
  for (const imagined of imagine(session, endpoint, { rule: { if: when.own }, within: when.within })) {
    for (const side of sides) if (!seen.has(side) && (await lookFrom(session, choice, imagined, side))) seen.add(side);
    tries += 1;
    if (seen.size === sides.length || tries === scenesMost) break;
  }
  session.need(seen.size > 0, `no edge of ${when.own.source} was found`);
}

async function lookFrom(session: Session, choice: Choice, { slots, met, unmet }: Imagined, side: Side): Promise<boolean> {
  const { machine, endpoint } = choice;
  const scene = side === 'at' ? met : unmet;
  const staged = scene && (await ifTestable(stage(session, endpoint, slots, { scene, resource: machine.resource })));
  if (!staged) return false;
  return choice.transition ? fire(session, choice, staged, side) : begin(session, choice, staged, side);
}

/** Fires it, and sees where it has led. */
async function fire(session: Session, choice: Choice, { request, row, beside }: Staged, side: Side): Promise<boolean> {
  const { model } = session;
  const { machine, transition } = choice;
  const [before, ...others] = beside;
  if (!row || !before || !transition) return false;
  const done = await session.send(request);
  const after = (await lookAt(session, row)).done;
  const fact: FactName = { kind: 'transitions', subject: machine.key };
  const of = [done, after, before, ...others] as const;
  session.claim({
    fact,
    reason: chosenAt(choice, side),
    at: transition.at,
    of,
    judge(exchange: TrialExchange, seen: TrialExchange, was: TrialExchange, ...rows: readonly TrialExchange[]): Judgement {
      const target = targetFor(model, { machine, transition }, { exchange, was, beside: rows });
      if (typeof target !== 'object') return moot('it is not known where it leads');
      const { state, answer } = target;
      if (answer === undefined ? !isDone(exchange) : !isRefusedAs(model, exchange, answer))
        return moot('something else stood in its way');
      const now = rowWith(model, seen, idIn(model, exchange))?.[machine.field];
      if (now === undefined) return moot('the row is not shown');
      if (now === state) return undefined;
      if (movedByClock(model, machine, exchange, was, seen)) return moot('the clock may have moved it meanwhile');
      return { promised: `${transition.name} leads to ${state}`, seen: asText(now) };
    },
  });
  return true;
}

/** Makes it, and sees where it has begun. */
async function begin(session: Session, choice: Choice, { request, beside }: Staged, side: Side): Promise<boolean> {
  const { model } = session;
  const { machine } = choice;
  const done = await session.send(request);
  if (!isDone(done.value)) return false;
  const fact: FactName = { kind: 'states', subject: machine.key };
  session.claim({
    fact,
    reason: chosenAt(choice, side),
    at: `${machine.at}/initial`,
    of: [done, ...beside] as const,
    judge(exchange: TrialExchange, ...rows: readonly TrialExchange[]): Judgement {
      const target = initialTarget(model, machine, exchange, rows);
      if (!target || !isDone(exchange)) return moot('it is not known where it begins');
      const now = rowIn(exchange)?.[machine.field];
      if (now === undefined) return moot('the row is not shown');
      if (now === target.state) return undefined;
      if (movedByClock(model, machine, exchange)) return moot('the clock may have moved it meanwhile');
      return { promised: `a ${machine.resource} begins as ${target.state}`, seen: asText(now) };
    },
  });
  return true;
}
