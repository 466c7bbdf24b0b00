import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import { type Expression, entriesOf } from '../../../parts/fact.ts';
import type { Field } from '../../../parts/resources.ts';
import type { Machine, Transition } from '../../../parts/states.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { dueAt } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { timeOf } from '../../model/reckoned.ts';
import { idIn, rowWith, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';

/** The reason of a claim about what a transition that nobody calls for sets. */
export const setBy = (transition: string): string => `set by ${transition}`;

/** The fields that a transition sets, and by what. */
export function setByClock(
  model: Model,
  { resource }: Machine,
  { name }: Transition,
): (readonly [field: Field, expression: Expression])[] {
  const fields = model.resource(resource)?.fields;
  return (fields ? entriesOf(fields) : []).flatMap(([, field]) => {
    const expression = field.set[name] ?? field.set.write;
    return expression ? [[field, expression] as const] : [];
  });
}

/** Claims that what a transition of the clock sets is what it says, and times are of when it was due. */
export function claimSetByClock(
  session: Session,
  machine: Machine,
  transition: Transition,
  seen: Record<'made' | 'before' | 'after', Done<TrialExchange>> & Record<'early' | 'late', Done<null>>,
): void {
  const { model } = session;
  const { resource } = machine;
  for (const [field, expression] of setByClock(model, machine, transition)) {
    session.claim({
      fact: { kind: 'allowed values', subject: `${resource}.${field.name}` },
      reason: setBy(transition.name),
      at: expression.at,
      of: [seen.made, seen.before, seen.early, seen.late, seen.after] as const,
      judge(creation: TrialExchange, was: TrialExchange, _early: null, _late: null, now: TrialExchange): Judgement {
        const id = isDone(creation) ? idIn(model, creation) : undefined;
        const [old, row] = [rowWith(model, was, id), rowWith(model, now, id)];
        const dueMs = (old && dueAt(model, transition, old, was.toMs)) ?? Number.NaN;
        if (!old || !row || isSame(old[machine.field], row[machine.field]) || !(now.fromMs >= dueMs))
          return moot('the clock has changed nothing');
        const hidden = model.unseenIn(resource, model.readerOf(now), row);
        if (hidden.has(field.name)) return moot('it is not shown');
        const value = row[field.name] ?? null;
        if (expression.source.trim() !== 'now')
          return judgeReckoned(model, expression, field, {
            old,
            row,
            hidden: model.unseenIn(resource, model.readerOf(was), old),
            value,
          });
        const ms = timeOf(value, field);
        // When it was entered is not known to the second; what is due is done then, or later.
        const isLater = ms !== undefined && ms >= was.fromMs + (dueMs - was.toMs) / 2;
        return isLater
          ? undefined
          : { promised: `${field.name}: the time at which ${transition.name} came`, seen: JSON.stringify(value) };
      },
    });
  }
}

/** What is set by anything else than the clock comes to the same of the row as it was, where that shows all that it reads. */
function judgeReckoned(
  model: Model,
  expression: Expression,
  { name }: Field,
  {
    old,
    row,
    hidden,
    value,
  }: { readonly old: ShownFields; readonly row: ShownFields; readonly hidden: ReadonlySet<string>; readonly value: Json },
): Judgement {
  // Reads of rows that stand elsewhere, of the time and of who calls are not known.
  const wanted = model.expressions.evaluate(expression, undefined, {
    context: { resource: old, next: row },
    unseen: { resource: hidden, next: new Set([...hidden, name]) },
  });
  if (typeof wanted === 'string') return moot('what it comes to is not known');
  return isSame(wanted.value, value)
    ? undefined
    : { promised: `${name}: ${JSON.stringify(wanted.value)}`, seen: JSON.stringify(value) };
}
