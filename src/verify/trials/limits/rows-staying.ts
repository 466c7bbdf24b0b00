import { entriesOf } from '../../../parts/fact.ts';
import type { RowLimit } from '../../../parts/row-limits.ts';
import { type Machine, machinesOf } from '../../../parts/states.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { counts } from '../../make/places.ts';
import { walkTo } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { rowsShown } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { type FullHouse, rowAsked, rowLimitFact } from './row-plans.ts';
import { leavings } from './rows-left.ts';

/** A state in which a row counts still, and to which callers bring a new one through such states alone. */
export interface StillCounted {
  readonly machine: Machine;
  readonly state: string;
}

/** So many of them are looked at. */
export const stayingMost = 3;

/** The states other than the first in which rows count. */
export function stayings(model: Model, rule: RowLimit): readonly StillCounted[] {
  if (!rule.while) return [];
  return machinesOf(model.spec.states, rule.of).flatMap((machine): StillCounted[] => {
    const [initial, ...others] = machine.initial;
    const isCounted = (state: string) => counts(model, rule, { [machine.field]: state });
    if (!initial || others.length > 0 || !isCounted(initial.state) || !reads(model, rule, machine)) return [];
    const reached = new Set([initial.state]);
    for (const from of reached)
      for (const [name, { from: states, to }] of entriesOf(machine.transitions)) {
        const [target, ...targets] = to;
        const isOpen = states !== '*' && states.includes(from) && targets.length === 0;
        if (target && isOpen && isCounted(target.state) && model.endpointOfTransition(rule.of, name)) reached.add(target.state);
      }
    return [...reached].filter((state) => state !== initial.state).map((state) => ({ machine, state }));
  });
}

/** Whether the condition of a limit reads the state of a machine. */
function reads({ expressions }: Model, { while: condition }: RowLimit, { field }: Machine): boolean {
  return condition !== undefined && expressions.readsOf(condition, undefined).some(({ path }) => path[0] === field);
}

/** What has to be seen of a limit of rows that count in several states, by the reasons of its claims. */
export function stayingLooks(model: Model, rule: RowLimit): readonly string[] {
  return stayings(model, rule).slice(0, stayingMost).map(keptWhile);
}

const keptWhile = ({ state }: StillCounted): string => `kept, where one is ${state}`;

/** Where nobody takes a row out of what counts but the clock, whoever looks again lets it do so first: the rows of before are there still. */
export async function awaitRoom(session: Session, rule: RowLimit): Promise<void> {
  const { model, run } = session;
  const ms = Math.max(0, ...stayings(model, rule).flatMap(({ machine }) => timesOut(model, rule, machine)));
  const isFreed = model.endpointsThat('delete', rule.of).length > 0 || leavings(model, rule).length > 0;
  if (ms === 0 || isFreed || run.clock.advance === undefined || endsWithin(model, session, repeatsMost * ms)) return;
  let isFirst = true;
  await session.do({
    says: `wait ${ms / 1000} s, so that ${rule.of}s of before count no more`,
    takes: [],
    needs: [],
    async act({ clock }) {
      if (!isFirst) await clock.wait(ms);
      isFirst = false;
      return null;
    },
    tell: () => '',
    shell: () => [`# Wait ${ms / 1000} s, so that ${rule.of}s of before count no more.`],
  });
}

/** So often it may be waited for in one run. */
const repeatsMost = 12;

/** After how long the clock takes rows out of the states in which they count. */
function timesOut(model: Model, rule: RowLimit, { field, transitions }: Machine): readonly number[] {
  const isCounted = (state: string) => counts(model, rule, { [field]: state });
  return entriesOf(transitions).flatMap(([, { from, to, after, if: condition }]) =>
    after && !condition && from !== '*' && from.some(isCounted) && to.every(({ state }) => !isCounted(state)) ? [after.ms] : [],
  );
}

/** One that is moved to another state that counts makes no room. */
export async function claimStaying(
  session: Session,
  { rule, plan, isFull, promised }: FullHouse,
  alone: readonly Done<TrialExchange>[],
  full: Done<TrialExchange>,
): Promise<void> {
  const { model } = session;
  for (const [at, staying] of stayings(model, rule).slice(0, stayingMost).entries()) {
    const { machine, state } = staying;
    const one = alone[at];
    if (!one || !isDone(one.value)) return;
    const row = await rowAsked(session, { rule, plan }, one);
    await ifTestable(walkTo(session, row, state, { machine }));
    const shown = (await lookAt(session, row)).done;
    const again = await session.send(await plan());
    session.claim({
      fact: rowLimitFact(rule),
      reason: keptWhile(staying),
      at: rule.at,
      of: [full, shown, again],
      tries: 1,
      judge: (before: TrialExchange, moved: TrialExchange, seen: TrialExchange): Judgement => {
        const isThere = rowsShown(model, moved)?.rows.some((fields) => fields[machine.field] === state);
        if (!isFull(before) || !isThere) return moot(`none of a full house was ${state}`);
        if (!isDone(seen)) return isFull(seen) ? undefined : moot('something else stood in its way');
        return { promised: `${promised}, while ${rule.while?.source}`, seen: `one more was made where one was ${state}` };
      },
    });
  }
}
