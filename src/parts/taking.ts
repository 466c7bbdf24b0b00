import type { Named } from './fact.ts';
import { named, type Source } from './source.ts';

/** How a stated body holds the fields of a row. */
export interface Taking {
  /** The members that lead to the map that holds them; none where it is the body itself. */
  readonly path: readonly string[];
  /**
   * The fields that members of other names stand for, by the member; every other member is the field of its own name. What stands in a
   * field that is a map is named by its way: `attributes.title`.
   */
  readonly fields: Named<string>;
}

/** Reads `takes: data.attributes`, or `takes: { FriendlyName: friendly_name, title: attributes.title }`. */
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
  return sent && isRenaming(takes) ? placed(sent, takes) : value;
}

/** The same the other way round: a map by the names of fields as a body holds it whose members are called as `takes` says. */
export function sentAs<T>(
  { takes }: { readonly takes?: Taking },
  fields: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  if (!takes || !isRenaming(takes)) return fields;
  const members = new Map(Object.entries(takes.fields).map(([member, field]) => [field, member]));
  return renamed(spread(takes, fields), (field) => members.get(field) ?? field);
}

/** What was sent, each member where its field has it. */
function placed(sent: Readonly<Record<string, unknown>>, takes: Taking): Record<string, unknown> {
  const flat = renamed(sent, (member) => fieldOfMember(takes, member));
  const inner = Object.values(takes.fields).filter((field) => Object.hasOwn(flat, field) && field.includes('.'));
  for (const way of inner) {
    const { [way]: value } = flat;
    delete flat[way];
    const names = way.split('.');
    const last = names.pop() as string;
    let holder = flat;
    for (const name of names) {
      const own: Record<string, unknown> = Object.assign(Object.create(null), mapOf(holder[name]));
      holder[name] = own;
      holder = own;
    }
    holder[last] = value;
  }
  return flat;
}

/** The fields with what stands inside of some beside them, under its way; a map of which nothing is left is left out. */
function spread<T>({ fields: ways }: Taking, fields: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const out: Record<string, T> = Object.assign(Object.create(null), fields);
  for (const way of Object.values(ways)) {
    const [name = '', inner, ...more] = way.split('.');
    const held = mapOf(out[name]);
    if (inner === undefined || more.length > 0 || !held) continue;
    const { [inner]: value, ...rest } = held;
    // What a map of such values holds is one.
    if (value !== undefined) out[way] = value as T;
    if (Object.keys(rest).length === 0) delete out[name];
    else out[name] = rest as T;
  }
  return out;
}

/** The field that a member of a body stands for, or its way inside of one. */
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
