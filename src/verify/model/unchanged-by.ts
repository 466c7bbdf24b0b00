import { isSame } from '../../document/values.ts';
import { entryOf } from '../../parts/fact.ts';
import type { Resource } from '../../parts/resources.ts';
import type { Before, RowFields } from './expectation.ts';
import { unset } from './sent-fields.ts';

/** A row before a change, as far as what becomes of it can be reckoned: the rest may be as it was. */
export function reckonedOf(before: Before, resource: Resource, words: readonly string[], unknown: ReadonlySet<string>): Before {
  const fields = Object.entries(unset(resource, words, before.fields)).filter(([name]) => !unknown.has(name));
  return { ...before, fields: Object.fromEntries(fields) };
}

/** Whether an update or replacement leaves everything as it was, as far as it can be seen. */
export function leavesAsItWas({ fields }: Resource, next: RowFields, before: Before): boolean {
  // What is derived of other rows is another only where the rest of the row is, or they are.
  const isGone = (name: string) => !Object.hasOwn(next, name) && entryOf(fields, name)?.derive === undefined;
  return (
    Object.entries(next).every(
      ([name, value]) => before.unseen.has(name) || isSame(value ?? null, before.fields[name] ?? null),
    ) && Object.entries(before.fields).every(([name, value]) => value === null || !isGone(name))
  );
}
