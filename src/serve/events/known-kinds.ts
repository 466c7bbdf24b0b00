import { type Fields, Refused, type Value } from '../exchange.ts';
import { describeValue } from '../wire/violation.ts';
import type { Kinds } from './kinds.ts';

/** A subscriber lists kinds that there are. @throws {Refused} `request.invalid` where it lists others, unless it did before. */
export function demandKnown(after: Fields, before: Fields | undefined, field: string, kinds: Kinds): void {
  const list = after[field];
  if (!Array.isArray(list) || JSON.stringify(list) === JSON.stringify(before?.[field])) return;
  const violations = list.flatMap((entry: Value, index) =>
    typeof entry === 'string' && (entry === '*' || kinds.isKnown(entry))
      ? []
      : [
          {
            in: 'body' as const,
            path: `/${field}/${index}`,
            found: describeValue(entry),
            expected: 'a kind of event, several as in `parcel.*`, or `*`',
          },
        ],
  );
  if (violations.length > 0) throw new Refused({ when: 'request.invalid', violations });
}
