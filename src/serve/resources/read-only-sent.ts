import { below } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isMembers } from '../../parts/versions/older-values.ts';
import type { Exchange, Value } from '../exchange/exchange.ts';
import { describeValue, sort, type Violation } from '../http/violation.ts';

/** Compiles the look for fields that were sent and that the caller cannot write; nothing where they are ignored. */
export function compileReadOnlySent(
  { readOnlySent }: Endpoint,
  dropped: ReadonlySet<string>,
): ((exchange: Exchange) => readonly Violation[]) | undefined {
  if (readOnlySent === undefined) return undefined;
  // An older version has had a look of its own, at the names that it has.
  return ({ older, request }) => (older ? [] : readOnlyIn(request, dropped));
}

/** The fields of a body that are for the service alone to write. */
export function readOnlyIn(body: Value, dropped: ReadonlySet<string>): readonly Violation[] {
  if (!isMembers(body)) return [];
  return Object.keys(body)
    .filter((name) => dropped.has(name))
    .map((name) => ({
      in: 'body' as const,
      path: below('', name),
      found: describeValue(body[name]),
      expected: 'nothing: it is not for its caller to write',
      [sort]: 'read_only' as const,
    }));
}
