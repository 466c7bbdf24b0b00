import { below } from '../../document/pointer.ts';
import type { Following } from '../../parts/following.ts';
import { freePass } from '../callers/operation-access.ts';
import { type Refusal, Refused } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import type { ChangedChild, SentChild, SentRows, StoredChange, Work } from '../resources/act.ts';
import { violationOfChild } from '../resources/children-sent.ts';
import type { RowModel } from '../resources/model.ts';
import type { Doing } from './doing.ts';

/** Tries what is done to one row; the refusal, where it is refused. */
type Attempt = (work: Work, act: (work: Work) => Refusal | undefined) => Refusal | undefined;

/**
 * Compiles what becomes of the rows that were sent with the one that was made or changed: those that are made, changed or deleted, as the
 * act says. @throws {Refused} for all of it, at its place in what was sent.
 */
export function compileChildren(
  { does, children: name = '', set }: Following,
  doing: Doing,
  child: RowModel,
  attempt: Attempt,
): (work: Work, change: StoredChange) => void {
  const ties = Object.keys(set);
  const refuse = (refusal: Refusal, { model }: StoredChange, index?: number): Refused => {
    const { violations } = refusal;
    const tie = below('', model.fields.get(name)?.children?.field ?? '');
    // Of which row it is, was not sent; and one that is left out has no place.
    const sentWrong = index === undefined ? [] : violations?.filter(({ path }) => path !== tie);
    return new Refused({
      ...doing.own(refusal),
      ...(sentWrong && index !== undefined && { violations: sentWrong.map((one) => violationOfChild(name, index, one)) }),
    });
  };
  function make(work: Work, change: StoredChange, { fields, index }: SentChild): void {
    const given = withoutPrototype(fields);
    for (const tie of ties) given[tie] = change.after?.[change.model.identifier.field];
    const refusal = attempt(work, (own) => doing.act(own, undefined, given));
    if (refusal) throw refuse(refusal, change, index);
  }
  function alter(work: Work, change: StoredChange, { id, index, take }: ChangedChild): void {
    const refusal = attempt(work, (own) => {
      const row = own.rows.get(child.name, id);
      if (!row) return { when: 'reference.missing' };
      const found = { row, fields: child.parse(row), pass: freePass };
      const taken = take(own, found);
      return 'refusal' in taken ? taken.refusal : doing.change(own, found, taken);
    });
    if (refusal) throw refuse(refusal, change, index);
  }
  function remove(work: Work, change: StoredChange, id: string): void {
    // What another one took with it is gone already.
    if (!work.rows.get(child.name, id)) return;
    const refusal = attempt(work, (own) => doing.act(own, id, {}));
    if (refusal) throw refuse(refusal, change);
  }
  return (work, change) => {
    const sent: SentRows | undefined = change.children?.get(name);
    if (!sent) return;
    if (does?.verb === 'create') for (const one of sent.made) make(work, change, one);
    else if (does?.verb === 'update') for (const one of sent.changed) alter(work, change, one);
    else for (const id of sent.gone) remove(work, change, id);
  };
}
