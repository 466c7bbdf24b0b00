import type { Following, FollowingEffect } from '../../../parts/effects.ts';
import { type Followed, fieldNaming, followedOf, followingName, transitionOf } from '../../../parts/followed.ts';
import { type Machine, machineWith, type Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { dueIn, stateOf, walkTo } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { dueRow } from './timed.ts';

/** What is to follow from a transition of the clock, on the row itself or on one that it refers to. */
export const followedInTime: Trial = {
  name: 'states/followed in time',
  part: 'states',
  about: 'What is to follow from a transition of the clock is done once that has come.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    for (const chain of chainsOf(model)) {
      const facts = [{ kind: 'transitions', subject: chain.machine.key }];
      yield { name: followsInTime(chain), facts, run: (session) => carriedOut(session, chain) };
    }
  },
};

/** A transition of the clock, and one of callers that follows from it. */
interface Chain {
  readonly machine: Machine;
  readonly timed: Transition;
  readonly act: Following;
  readonly does: FollowingEffect;
  /** What is done to the row, or to the one that it refers to by a field: the machine and the transition. */
  readonly other: Machine;
  readonly transition: Transition;
  /** The field by which that one is named; nothing where it is the row itself. */
  readonly field: string | undefined;
}

function chainsOf(model: Model): readonly Chain[] {
  return followedOf(model.spec).flatMap((followed) => followed.acts.flatMap((act) => chainOf(model, followed, act) ?? []));
}

/** The reasons of what has to follow from a transition of the clock. */
export function followingInTime(model: Model, timed: Transition): readonly string[] {
  return chainsOf(model).flatMap((chain) => (chain.timed === timed ? [followsInTime(chain)] : []));
}

function followsInTime({ does, timed }: Pick<Chain, 'does' | 'timed'>): string {
  return `${followingName(does)} follows ${timed.name}, in time`;
}

function chainOf(model: Model, { resource, change }: Followed, act: Following): Chain | undefined {
  const { does, each, to } = act;
  const timed = typeof change === 'string' ? undefined : change.transition;
  if (!timed || !(timed.after ?? timed.atTime) || does?.verb !== 'transition' || each) return undefined;
  const machine = machineWith(model.spec.states, resource, timed.name);
  const transition = transitionOf(model.spec, does);
  const other = transition && machineWith(model.spec.states, does.resource, transition.name);
  const name = fieldNaming(to?.source);
  if (!machine || !other || name === undefined || transition.to.length !== 1) return undefined;
  const isItself = does.resource === resource && name === model.identifierField(resource);
  return { machine, timed, act, does, other, transition, field: isItself ? undefined : name };
}

async function carriedOut(session: Session, chain: Chain): Promise<void> {
  const { model } = session;
  const { machine, timed, act, does, other, transition, field } = chain;
  session.need(session.run.clock.advance !== undefined, 'it takes a clock that can be moved');
  const [from] = timed.from === '*' ? [machine.initial[0]?.state] : timed.from;
  const row = await dueRow(session, machine, from ?? '', timed);
  const target = field === undefined ? row : named(row, does.resource, field);
  session.need(target !== undefined, `which ${does.resource} is meant is not shown`);
  await lookAt(session, target);
  const [ready] = transition.from === '*' ? [] : transition.from;
  if (ready !== undefined && !transition.from.includes(asText(stateOf(target, other))))
    await ifTestable(walkTo(session, target, ready, { machine: other }));
  const was = (await lookAt(session, row)).done;
  const old = (await lookAt(session, target)).done;
  const dueMs = dueIn(session, row, timed);
  session.need(dueMs !== undefined && dueMs > 0, `when ${timed.name} is due is not shown`);
  session.need(!endsWithin(model, session, 2 * dueMs), 'the tokens that were given end before that');
  const waited = await session.wait(dueMs + Math.min(dueMs / 4, 60_000));
  const is = (await lookAt(session, row)).done;
  const now = (await lookAt(session, target)).done;
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: followsInTime(chain),
    at: act.at,
    of: [was, old, waited, is, now] as const,
    judge(before: TrialExchange, then: TrialExchange, _waited: null, after: TrialExchange, later: TrialExchange) {
      const [first, last] = [before, after].map((seen) => rowWith(model, seen, idIn(model, seen)));
      const [left, led] = [then, later].map((seen) => rowWith(model, seen, idIn(model, seen))?.[other.field]);
      if (!first || !last || !timed.to.some(({ state }) => state === last[machine.field]))
        return moot('the clock has not moved it');
      if (first[machine.field] === last[machine.field]) return moot('the clock has not moved it');
      const isLegal = left !== undefined && (transition.from === '*' || transition.from.includes(asText(left)));
      const next = { ...first, [machine.field]: last[machine.field] ?? null };
      const holds = (condition: typeof act.if, row: typeof next) => {
        const told = condition && model.expressions.evaluate(condition, undefined, { context: { next: row, resource: row } });
        return told === undefined || (typeof told === 'object' && told.value === true);
      };
      if (!isLegal || !holds(act.if, next) || transition.if) return moot('whether it is done cannot be told');
      const wanted = transition.to[0]?.state;
      if (led === undefined || led === wanted) return led === undefined ? moot('it is not shown') : undefined;
      return { promised: `${followingName(does)} after ${timed.name}: ${wanted}`, seen: asText(led) };
    },
  });
}

/** The row that a field names. */
function named({ known, caller }: TrialRow, resource: string, field: string): TrialRow | undefined {
  const id = known[field];
  return id === undefined ? undefined : { resource, id, known: {}, caller, shown: undefined, fields: undefined };
}
