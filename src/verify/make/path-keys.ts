import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { keyParameters, pathWays, referringField, type WayStep } from '../../parts/path-keys.ts';
import { identifierParameter } from '../../parts/payload.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import { bareMap } from '../values/at-path.ts';

type Make = (resource: string, parents: Readonly<Record<string, TrialRow>>) => Promise<TrialRow>;

/** What a row has to refer to, so that the paths which name it by keys can be filled: by field, the resource. */
function keyedReferences(model: Model, resource: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const endpoint of model.endpoints) {
    if (!endpoint.rows || resourceOfEffect(statedValue(endpoint.does)) !== resource) continue;
    for (const [first, ...more] of keyWays(model, endpoint).values())
      if (first?.target !== undefined && more.length > 0) found.set(first.field, first.target);
  }
  return found;
}

/** The rows that a new one has to refer to, those that are wanted among them; `make` makes the others. */
export async function keyedParents(
  model: Model,
  endpoint: Endpoint,
  wanted: Readonly<Record<string, TrialRow>>,
  make: Make,
): Promise<Record<string, TrialRow>> {
  const parents: Record<string, TrialRow> = bareMap({ ...wanted });
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const verb = statedValue(endpoint.does)?.verb;
  const bound = [...keyWays(model, endpoint).values()].flatMap(([first, ...more]) =>
    first && more.length > 0 ? [first.field] : [],
  );
  for (const [field, target] of keyedReferences(model, resource)) {
    const isSent = bound.includes(field) || entryOf(model.resource(resource)?.fields, field)?.readOnly === false;
    if (isSent && (verb === 'create' || bound.includes(field)))
      parents[field] ??= reachedFrom(model, target, parents) ?? (await make(target, tiedRows(model, target, parents)));
  }
  return parents;
}

/** The rows of a path that another one in it stands below: an issue that is named with its repository is one of that repository. */
export function tiedRows(
  model: Model,
  resource: string,
  rows: Readonly<Record<string, TrialRow>>,
): Readonly<Record<string, TrialRow>> {
  return Object.fromEntries(
    Object.values(rows).flatMap((row) => {
      const field = row.resource === resource ? undefined : referringField(model.spec, resource, row.resource);
      return field === undefined ? [] : [[field, row] as const];
    }),
  );
}

/** The row that one which is there already refers to, as far as its making has told of it. */
function reachedFrom(model: Model, target: string, rows: Readonly<Record<string, TrialRow>>): TrialRow | undefined {
  for (const { resource, known, caller } of Object.values(rows)) {
    const field = resource === target ? undefined : referringField(model.spec, resource, target);
    if (field === undefined) continue;
    const through = Object.entries(known).filter(([name]) => name.startsWith(`${field}.`));
    const own = Object.fromEntries(through.map(([name, value]) => [name.slice(field.length + 1), value]));
    const id = own[model.identifierField(target)] ?? known[field];
    if (id !== undefined && through.length > 0)
      return { resource: target, id, known: own, caller, shown: undefined, fields: undefined };
  }
  return undefined;
}

/** The values of the path's parameters that are fields of rows which it names by keys, as far as these rows are known. */
export function keyValues(
  model: Model,
  endpoint: Endpoint,
  parents: Readonly<Record<string, TrialRow>>,
): Record<string, Symbolic> {
  const path: Record<string, Symbolic> = bareMap({});
  for (const [name, [first, ...more]] of keyWays(model, endpoint)) {
    const value = first && more.length > 0 ? parents[first.field]?.known[keyName(more)] : undefined;
    if (value !== undefined) path[name] = value;
  }
  return path;
}

/** What is known of a row by what it refers to: `owner.login` of a repository whose owner was made. */
export function knownThrough(parents: Readonly<Record<string, TrialRow>>): Record<string, Symbolic> {
  const known: Record<string, Symbolic> = bareMap({});
  for (const [field, row] of Object.entries(parents))
    for (const [name, value] of Object.entries(row.known)) if (name.split('.').length < 4) known[`${field}.${name}`] = value;
  return known;
}

/** Where the values of such parameters stand in what is known of a row. */
export function keysKnown(model: Model, endpoint: Endpoint): ReadonlyMap<string, string> {
  return new Map([...keyWays(model, endpoint)].map(([name, way]) => [name, keyName(way)]));
}

function keyWays(model: Model, endpoint: Endpoint): ReadonlyMap<string, readonly WayStep[]> {
  if (!endpoint.rows) return new Map();
  const keyed = keyParameters(endpoint);
  return new Map([...pathWays(model.spec, endpoint, identifierParameter(endpoint))].filter(([name]) => keyed.has(name)));
}

function keyName(way: readonly WayStep[]): string {
  return way.map(({ field }) => field).join('.');
}
