import type { Endpoint } from '../../../parts/endpoints.ts';
import { refusingActs } from '../../../parts/possible-errors.ts';
import { type Machine, machineOn, type Transition } from '../../../parts/states.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { imagine } from '../../make/imagined.ts';
import type { ConditionSubject, Scene } from '../../make/scene.ts';
import { besideNow, stage } from '../../make/staged.ts';
import { claimUnchanged, factsOfMachine, fireable } from '../../make/transitions.ts';
import { movedByClock } from '../../model/clock-changes.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { isSetBySent } from '../../model/set-by-sent.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { isRefusedAs } from './fired.ts';
import { outcomeFor } from './outcome.ts';

/** At the very edge of its condition a transition is carried out, and just beyond it is blocked. */
export const edges: Trial = {
  name: 'states/edges',
  part: 'states',
  about: 'A transition is carried out at the edge of its condition, and blocked just beyond it.',
  noise: 'quiet',
  *cases(model) {
    for (const { machine, transition } of fireable(model)) {
      // What only the service sets is brought about by states/conditions, or by nobody.
      if (!transition.if || !isChosen(model, machine, transition)) continue;
      yield {
        name: `${transition.name} ${machine.resource}`,
        facts: factsOfMachine(machine),
        run: (session) => severalTimes(() => atTheEdge(session, machine, transition)),
      };
    }
  },
};

/** Whether callers choose everything that a condition reads of the row itself. */
function isChosen(model: Model, { resource, field }: Machine, { name, if: condition }: Transition): boolean {
  const operation = model.endpointOfTransition(resource, name)?.operation;
  const reads = condition ? model.expressions.readsOf(condition, operation) : [];
  return reads.every(({ root, path, follows }) => {
    const [member = ''] = path;
    // What another machine writes is moved by that one.
    if (member !== field && machineOn(model.spec.states, resource, member)) return false;
    if (isSetBySent(model, resource, member)) return true;
    return root !== 'resource' || follows !== undefined || member === field || isSendable(model, resource, member);
  });
}

/** Whether rows can be made as they were imagined is not known: the service's own rules may refuse some, and not others. */
async function severalTimes(attempt: () => Promise<void>): Promise<void> {
  for (let left = attemptsMax; ; left--) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (!(error instanceof Untestable) || left <= 1) throw error;
    }
  }
}

const attemptsMax = 5;

async function atTheEdge(session: Session, machine: Machine, transition: Transition): Promise<void> {
  const endpoint = session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined && transition.if !== undefined, 'no caller can fire it');
  const [imagined] = imagine(session, endpoint, { rule: { if: transition.if } });
  session.need(imagined !== undefined, `nothing was found for which ${transition.if.source} holds`);
  const { slots, met, unmet } = imagined;
  await inside(session, { machine, transition, endpoint, slots, scene: met });
  session.need(unmet !== undefined, `no edge of ${transition.if.source} was found`);
  await beyond(session, { machine, transition, endpoint, slots, scene: unmet });
}

interface Edge {
  readonly machine: Machine;
  readonly transition: Transition;
  readonly endpoint: Endpoint;
  readonly slots: readonly ConditionSubject[];
  readonly scene: Scene;
}

async function inside(session: Session, edge: Edge): Promise<void> {
  const { machine, transition, endpoint } = edge;
  const { model } = session;
  const staged = await stage(session, endpoint, edge.slots, { scene: edge.scene, resource: machine.resource });
  const [before] = staged.beside;
  session.need(before !== undefined, `a ${machine.resource} is not shown`);
  const [, ...others] = await besideNow(session, staged);
  const done = await session.send(staged.request);
  const code =
    transition.ifElse ??
    transition.else ??
    model.refusals.of('transition.illegal.condition', model.operationOf(endpoint))?.code.name;
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: `${transition.name} at its edge`,
    at: transition.if?.at ?? transition.at,
    of: [done, before, ...others] as const,
    judge(exchange: TrialExchange, was: TrialExchange, ...beside: readonly TrialExchange[]): Judgement {
      const outcome = outcomeFor(session.model, edge, { exchange, was, beside, isLatest: true });
      if (outcome === undefined || outcome === 'unknown' || outcome === 'blocked') return moot('its condition does not hold');
      if (isDone(exchange)) return undefined;
      const isElsewhere =
        refusingActs(model.spec, model.operationOf(endpoint)).length > 0 || movedByClock(model, machine, exchange, was);
      return !isElsewhere && isRefusedAs(model, exchange, code)
        ? { promised: `${transition.name} where ${transition.if?.source}`, seen: `${exchange.status}${briefly(exchange)}` }
        : moot('something else stood in its way');
    },
  });
}

async function beyond(session: Session, edge: Edge): Promise<void> {
  const { machine, transition, endpoint } = edge;
  const staged = await stage(session, endpoint, edge.slots, { scene: edge.scene, resource: machine.resource });
  const [before] = staged.beside;
  session.need(before !== undefined && staged.row !== undefined, `a ${machine.resource} is not shown`);
  const shown = await besideNow(session, staged);
  const done = await session.send(staged.request);
  const fact = { kind: 'transitions', subject: machine.key };
  claimRefused(session, done, {
    by: transition.ifElse === undefined ? { when: 'transition.illegal.condition' } : { code: transition.ifElse },
    fact,
    reason: `${transition.name} blocked`,
    at: transition.if?.at ?? transition.at,
    beside: shown,
    isSo: (exchange, was, ...beside) =>
      was !== undefined && outcomeFor(session.model, edge, { exchange, was, beside, isLatest: true }) === 'blocked',
    isOvertaken: (exchange, ...was) => movedByClock(session.model, machine, exchange, ...was),
    what: `${transition.name} where ${transition.if?.source} does not hold`,
  });
  await claimUnchanged(session, staged.row, { before, attempt: done, fact });
}
