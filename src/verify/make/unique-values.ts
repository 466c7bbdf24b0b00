import { entryOf } from '../../parts/fact.ts';
import type { Resource } from '../../parts/resources.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Session } from '../session/session.ts';
import { rowFor } from './row-for.ts';

/** Values for fields that callers send, which no other row has: what is referred to is made anew. @throws {Untestable} */
export async function uniqueValues(
  session: Session,
  resource: Resource,
  fields: readonly string[],
): Promise<Record<string, Symbolic>> {
  const values: Record<string, Symbolic> = {};
  for (const name of fields) {
    const field = entryOf(resource.fields, name);
    if (!field || field.readOnly) continue;
    const value =
      field.ref === undefined
        ? session.model.freshValue(resource.name, name)
        : (await rowFor(session, resource.name, name, field.ref)).id;
    if (value !== undefined) values[name] = value;
  }
  return values;
}
