import { below } from '../../document/pointer.ts';
import type { Fields, Value } from '../exchange.ts';
import { describeValue, type Violation } from '../wire/violation.ts';

/** A field that was sent and that its resource does not have. */
export function unknownField(name: string, value: Value, resource: string): Violation {
  return { in: 'body', path: below('', name), found: describeValue(value), expected: `no such field: a ${resource} has none` };
}

/** A field that is set once, sent with another value. */
export function changedField(name: string, value: Value): Violation {
  return { in: 'body', path: below('', name), found: describeValue(value), expected: 'its value unchanged: it is set once' };
}

/** Of what was sent, the fields that a resource has. */
export function ownFields(known: ReadonlyMap<string, unknown>, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => known.has(name)));
}
