import { along } from '../../parts/reach.ts';
import { type Fields, Refused, type Value } from '../exchange/exchange.ts';
import { describeValue } from '../http/violation.ts';
import { targetFlaw, type WebhookTargets } from './addresses.ts';
import type { Kinds } from './event-kinds.ts';

/** Something can be sent to a subscriber. @throws {Refused} `request.invalid` where nothing can, unless it stood there before. */
export function demandTarget(after: Fields, before: Fields | undefined, field: string, targets: WebhookTargets): void {
  const url = along<Value>(after, field);
  if (typeof url !== 'string' || url === along<Value>(before, field)) return;
  const expected = targetFlaw(url, targets);
  if (expected === undefined) return;
  throw new Refused({
    when: 'request.invalid',
    violations: [{ in: 'body', path: `/${field.replaceAll('.', '/')}`, found: describeValue(url), expected }],
  });
}

/** A subscriber lists kinds that there are. @throws {Refused} `request.invalid` where it lists others, unless it did before. */
export function demandKnown(after: Fields, before: Fields | undefined, field: string, kinds: Kinds): void {
  const list = along<Value>(after, field);
  if (!Array.isArray(list) || JSON.stringify(list) === JSON.stringify(along<Value>(before, field))) return;
  const violations = list.flatMap((entry: Value, index) =>
    typeof entry === 'string' && (entry === '*' || kinds.isKnown(entry))
      ? []
      : [
          {
            in: 'body' as const,
            path: `/${field.replaceAll('.', '/')}/${index}`,
            found: describeValue(entry),
            expected: 'a kind of event, several as in `parcel.*`, or `*`',
          },
        ],
  );
  if (violations.length > 0) throw new Refused({ when: 'request.invalid', violations });
}
