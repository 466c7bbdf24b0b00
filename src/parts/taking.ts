import type { Named } from './fact.ts';
import { named, type Source } from './source.ts';

/** How a stated body holds the fields of a row. */
export interface Taking {
  /** The members that lead to the map that holds them; none where it is the body itself. */
  readonly path: readonly string[];
  /** The fields that members of other names stand for, by the member; every other member is the field of its own name. */
  readonly fields: Named<string>;
}

/** Reads `takes: data.attributes`, or `takes: { FriendlyName: friendly_name }`. */
export function readTaking(source: Source): Taking | undefined {
  if (!source.isMap) {
    const path = source.text()?.split('.');
    return path && { path, fields: named<string>([]) };
  }
  if (source.unstated()) return undefined;
  const fields = source.entries().flatMap(([member, field]) => {
    const name = field.text();
    return name === undefined ? [] : [[member, name] as const];
  });
  return { path: [], fields: named(fields) };
}

/** What a body says of the row, by the names of the fields: the whole, or what stands where `takes` says it does. */
export function takenOf({ takes }: { readonly takes?: Taking }, body: unknown): unknown {
  let value = body;
  for (const name of takes?.path ?? []) {
    const members = mapOf(value);
    value = members && Object.hasOwn(members, name) ? members[name] : undefined;
  }
  const sent = takes && mapOf(value);
  return sent && isRenaming(takes) ? renamed(sent, (member) => fieldOfMember(takes, member)) : value;
}

/** The same the other way round: a map by the names of fields as a body holds it whose members are called as `takes` says. */
export function sentAs<T>(
  { takes }: { readonly takes?: Taking },
  fields: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  if (!takes || !isRenaming(takes)) return fields;
  const members = new Map(Object.entries(takes.fields).map(([member, field]) => [field, member]));
  return renamed(fields, (field) => members.get(field) ?? field);
}

/** The field that a member of a body stands for. */
export function fieldOfMember(takes: Taking | undefined, member: string): string {
  return takes && Object.hasOwn(takes.fields, member) ? (takes.fields[member] as string) : member;
}

function isRenaming({ fields }: Taking): boolean {
  return Object.keys(fields).length > 0;
}

/** What two names stand for has the value of the one that was renamed. */
function renamed<T>(map: Readonly<Record<string, T>>, nameOf: (name: string) => string): Record<string, T> {
  const out: Record<string, T> = Object.create(null);
  for (const [name, value] of Object.entries(map)) {
    const other = nameOf(name);
    if (other !== name || !Object.hasOwn(out, name)) out[other] = value;
  }
  return out;
}

function mapOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) return undefined;
  // What is neither null nor a list nor bytes is a map.
  return value as Readonly<Record<string, unknown>>;
}
