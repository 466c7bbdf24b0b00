import type { Endpoint, PathRow } from './endpoints.ts';
import { entriesOf, entryOf, statedValue } from './fact.ts';
import { uniquesOf } from './inner-values.ts';
import type { Resource } from './resources.ts';
import type { Spec } from './spec.ts';

/** How a row of a path is found. */
export interface PathLookup {
  readonly resource: string;
  /** Which of the rules by which its rows are told apart (`uniquesOf`); absent = by its identifier. */
  readonly unique?: number;
  readonly fields: readonly KeyField[];
}

/** One field of a key, and where its value comes from: a path parameter, a row that the path names before it, or one that is found first. */
export interface KeyField {
  readonly field: string;
  readonly from: { readonly parameter: string } | { readonly row: string } | { readonly lookup: PathLookup };
}

/** What is wrong with a key: at which of its fields, and why. */
export interface BadKey {
  readonly wrong: 'field' | 'reference' | 'unique';
  readonly resource: string;
  readonly field: string;
}

const aboutOne: ReadonlySet<string> = new Set(['read', 'update', 'replace', 'upsert', 'delete', 'transition']);

/** The row that an operation about one row means, where the path names it by a key. */
export function ownRow(endpoint: Pick<Endpoint, 'does' | 'path' | 'rows' | 'parameters'>): PathRow | undefined {
  const effect = statedValue(endpoint.does);
  const last = endpoint.rows?.at(-1);
  if (!last || !effect || !('resource' in effect) || !aboutOne.has(effect.verb) || last.resource !== effect.resource)
    return undefined;
  const apart = parametersApart(endpoint);
  return namesIn(endpoint.path.slice(last.prefix.length)).every((name) => apart.has(name)) ? last : undefined;
}

/** The parameters of a path that name no row and are no field of one. */
export function parametersApart({ parameters }: Pick<Endpoint, 'parameters'>): ReadonlySet<string> {
  const apart = entriesOf(parameters).filter(([, { isApart }]) => isApart);
  return apart.length === 0 ? none : new Set(apart.map(([name]) => name));
}

/** The rows of a path that are above the one which is meant. */
export function parentRows(endpoint: Endpoint): readonly PathRow[] {
  const own = endpoint.rows && ownRow(endpoint);
  return own ? (endpoint.rows ?? []).filter((row) => row !== own) : (endpoint.rows ?? []);
}

/** The path parameters that are fields of such rows, and so none of the row that the endpoint is about. */
export function keyParameters({ rows = [] }: Pick<Endpoint, 'rows'>): ReadonlySet<string> {
  return rows.length === 0 ? none : new Set(rows.flatMap(({ prefix }) => namesIn(prefix)));
}

const none: ReadonlySet<string> = new Set();

function namesIn(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1] as string);
}

/** The field by which rows of a resource refer to one of another: that of its name, or the only one that does. */
export function referringField(spec: Spec, resource: string, target: string): string | undefined {
  const fields = entriesOf(entryOf(spec.resources.all, resource)?.fields ?? openFields).filter(([, { ref }]) => ref === target);
  return (fields.find(([name]) => name === target) ?? (fields.length === 1 ? fields[0] : undefined))?.[0];
}

const openFields: Resource['fields'] = { standing: 'open', at: '' };

/** The parents of a path that fields of the row refer to, each with its field. */
export function boundRows(spec: Spec, endpoint: Endpoint): readonly { readonly row: PathRow; readonly field: string }[] {
  const effect = statedValue(endpoint.does);
  if (!endpoint.rows || !effect || !('resource' in effect)) return [];
  return parentRows(endpoint).flatMap((row) => {
    const field = referringField(spec, effect.resource, row.resource);
    return field === undefined ? [] : [{ row, field }];
  });
}

/** A step of the way from a row to a value: a field, and the resource that it refers to where it does. */
export interface WayStep {
  readonly field: string;
  readonly target: string | undefined;
}

/**
 * By which fields each path parameter is known of a row that the endpoint is about: its identifier, the field of its name, or for one of a
 * key the references that lead to it: `repository`, `owner`, `login`. Without those that nothing of the row leads to.
 */
export function pathWays(
  spec: Spec,
  endpoint: Endpoint,
  identifier: string | undefined,
): ReadonlyMap<string, readonly WayStep[]> {
  const effect = statedValue(endpoint.does);
  const resource = effect && 'resource' in effect ? effect.resource : undefined;
  const ways = new Map<string, readonly WayStep[]>();
  if (resource === undefined) return ways;
  const keyed = keyParameters(endpoint);
  const apart = parametersApart(endpoint);
  for (const name of namesIn(endpoint.path.replace(/[?#].*$/, ''))) {
    if (keyed.has(name) || apart.has(name)) continue;
    const field = name === identifier ? statedValue(entryOf(spec.resources.all, resource)?.identifier)?.field : name;
    if (field !== undefined) ways.set(name, wayOf(spec, resource, [field]));
  }
  const own = endpoint.rows && ownRow(endpoint);
  const known: { readonly resource: string; readonly path: readonly string[] }[] = [{ resource, path: [] }];
  for (const row of (endpoint.rows ?? []).toReversed()) {
    const path = row === own ? [] : pathTo(spec, row, known);
    if (!path) continue;
    if (row !== own) known.push({ resource: row.resource, path });
    for (const [field, parameter] of Object.entries(row.key))
      ways.set(parameter, wayOf(spec, resource, [...path, ...field.split('.')]));
  }
  return ways;
}

function pathTo(
  spec: Spec,
  row: PathRow,
  known: readonly { readonly resource: string; readonly path: readonly string[] }[],
): readonly string[] | undefined {
  for (const { resource, path } of known) {
    const field = referringField(spec, resource, row.resource);
    if (field !== undefined) return [...path, field];
  }
  return undefined;
}

function wayOf(spec: Spec, resource: string, path: readonly string[]): WayStep[] {
  let at: string | undefined = resource;
  return path.map((field) => {
    const target = entryOf(entryOf(spec.resources.all, at ?? '')?.fields, field)?.ref;
    at = target;
    return { field, target };
  });
}

/** How a row of a path is found: by a rule without conditions that its key meets, with the rows before it that the rule asks for. */
export function lookupOf(spec: Spec, row: PathRow, before: readonly PathRow[]): PathLookup | BadKey {
  const given = before.toReversed().flatMap(({ prefix, resource }): KeyField[] => {
    const field = referringField(spec, row.resource, resource);
    return field === undefined || Object.hasOwn(row.key, field) ? [] : [{ field, from: { row: prefix } }];
  });
  const stated = Object.entries(row.key).map(([path, parameter]) => ({ path: path.split('.'), parameter }));
  return lookupBy(spec, row.resource, stated, given);
}

function lookupBy(
  spec: Spec,
  name: string,
  stated: readonly { readonly path: readonly string[]; readonly parameter: string }[],
  given: readonly KeyField[],
): PathLookup | BadKey {
  const resource = entryOf(spec.resources.all, name);
  const fields: KeyField[] = [];
  for (const [head, parts] of Map.groupBy(stated, ({ path }) => path[0] ?? '')) {
    const field = resource && entryOf(resource.fields, head);
    const deeper = parts.filter(({ path }) => path.length > 1);
    if (!field) return { wrong: 'field', resource: name, field: head };
    if (deeper.length === 0) {
      fields.push({ field: head, from: { parameter: (parts[0] as (typeof parts)[number]).parameter } });
      continue;
    }
    if (field.ref === undefined || deeper.length < parts.length) return { wrong: 'reference', resource: name, field: head };
    const lookup = lookupBy(
      spec,
      field.ref,
      deeper.map(({ path, parameter }) => ({ path: path.slice(1), parameter })),
      [],
    );
    if ('wrong' in lookup) return lookup;
    fields.push({ field: head, from: { lookup } });
  }
  return matching(resource, name, fields, given);
}

/** The rule that asks for all the fields of a key, and for no others than it is given besides. */
function matching(
  resource: Resource | undefined,
  name: string,
  stated: readonly KeyField[],
  given: readonly KeyField[],
): PathLookup | BadKey {
  const [first] = stated;
  if (!resource || !first) return { wrong: 'unique', resource: name, field: first?.field ?? '' };
  if (stated.length === 1 && statedValue(resource.identifier)?.field === first.field) return { resource: name, fields: stated };
  const known = new Map([...given, ...stated].map((one) => [one.field, one]));
  const rules = uniquesOf(resource).map(({ fields, while: only }, unique) => ({ fields, only, unique }));
  const fitting = rules
    .filter(
      ({ fields, only }) => !only && fields.every((one) => known.has(one)) && stated.every(({ field }) => fields.includes(field)),
    )
    .sort((one, other) => one.fields.length - other.fields.length);
  const [rule] = fitting;
  if (!rule) return { wrong: 'unique', resource: name, field: first.field };
  // Every field of the rule is known, by the filter above.
  return { resource: name, unique: rule.unique, fields: rule.fields.map((field) => known.get(field) as KeyField) };
}
