import { isSame } from '../../document/values.ts';
import { entriesOf } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import type { Machine, Transition } from '../../parts/states.ts';
import type { Model } from '../model/model.ts';
import { timeOf } from '../model/reckoned.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import { moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
/** Claims that the times that a transition of the clock sets are of when it was due. */
export function claimTimes(
  session: Session,
  machine: Machine,
  transition: Transition,
  seen: Record<'made' | 'before' | 'after', Done<Exchange>> & Record<'early' | 'late', Done<null>>,
): void {
  const { model } = session;
  const { resource } = machine;
  const { name } = transition;
  const dueMs = transition.after?.ms ?? 0;
  for (const [field, stated] of timesSet(model, machine, transition)) {
    session.claim({
      ...{ fact: { kind: 'allowed values', subject: `${resource}.${field}` }, reason: `set by ${name}`, at: stated.at },
      of: [seen.made, seen.before, seen.early, seen.late, seen.after] as const,
      judge(creation: Exchange, was: Exchange, _early: null, _late: null, now: Exchange) {
        const id = isDone(creation) ? idIn(model, creation) : undefined;
        const [old, row] = [rowWith(model, was, id), rowWith(model, now, id)];
        const value = row?.[field];
        if (!old || !row || isSame(old, row) || now.fromMs - was.toMs < dueMs) return moot('the clock has changed nothing');
        const ms = timeOf(value, stated);
        // When it was entered is not known to the second; what is due is done then, or later.
        const isLater = ms !== undefined && ms >= was.fromMs + dueMs / 2;
        return value === undefined || isLater
          ? undefined
          : { promised: `${field}: the time at which ${name} came`, seen: String(value) };
      },
    });
  }
}

/** The fields that such a change sets to the time that it is. */
export function timesSet(model: Model, { resource }: Machine, { name }: Transition): (readonly [string, Field])[] {
  const fields = model.resource(resource)?.fields;
  return (fields ? entriesOf(fields) : []).filter(([, { set }]) => (set[name] ?? set.write)?.source.trim() === 'now');
}
