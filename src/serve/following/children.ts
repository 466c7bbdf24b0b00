import { below } from '../../document/pointer.ts';
import type { Following } from '../../parts/following.ts';
import { type Fields, type Refusal, Refused } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import type { StoredChange, Work } from '../resources/act.ts';
import { violationOfChild } from '../resources/children-sent.ts';
import type { Doing } from './doing.ts';

/** Tries to make one row; the refusal, where it is refused. */
type TryToMake = (work: Work, given: Fields) => Refusal | undefined;

/** Compiles the making of the rows that were sent with the one that was made. @throws {Refused} for all of it, at its place in what was sent. */
export function compileChildren(
  { children: name = '', set }: Following,
  doing: Doing,
  attempt: TryToMake,
): (work: Work, change: StoredChange) => void {
  const ties = Object.keys(set);
  return (work, { model, after, children }) => {
    const sent = children?.get(name) ?? [];
    for (const [index, fields] of sent.entries()) {
      const given = withoutPrototype(fields);
      for (const tie of ties) given[tie] = after?.[model.identifier.field];
      const refusal = attempt(work, given);
      if (!refusal) continue;
      const { violations } = refusal;
      // Of which row it is, was not sent.
      const sentWrong = violations?.filter(({ path }) => !ties.some((tie) => path === below('', tie)));
      throw new Refused({
        ...doing.own(refusal),
        ...(sentWrong && { violations: sentWrong.map((one) => violationOfChild(name, index, one)) }),
      });
    }
  };
}
