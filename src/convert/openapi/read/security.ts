import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { schemeKinds, schemeReaders, unknownScheme } from '../../../kinds/schemes/all.ts';
import type { SchemeKind } from '../../../kinds/schemes/kind.ts';
import type { Trail } from './evidence.ts';
import type { SourceOperation } from './operation.ts';
import { type MapAt, made, type SourceReader } from './reader.ts';

const kinds: readonly SchemeKind[] = schemeKinds;

/** Writes the security schemes of a source, which of them are accepted, and where none is asked for. */
export function writeAuthentication(
  operations: readonly SourceOperation[],
  endpoints: OpenMap,
  reader: SourceReader,
  trail: Trail,
): OpenMap | undefined {
  const schemes = writeSchemes(reader, trail);
  const whole = requirementsOf({ value: reader.root.value, at: '' }, schemes, reader, trail);
  const own = operations.map((operation) => ({ operation, list: requirementsOf(operation.map, schemes, reader, trail) }));
  if (Object.keys(schemes).length === 0) return undefined;
  const authentication: OpenMap = newMap();
  authentication.schemes = schemes;
  const asked = own.flatMap(({ list = [] }) => list.filter((set) => set.length > 0));
  const accepted = whole?.filter((set) => set.length > 0) ?? [...new Set(asked.flat())].map((name) => [name]);
  const each = Object.keys(schemes).map((name) => [name]);
  if (accepted.length > 0 && !isSameChoice(accepted, each)) {
    authentication.accept = writtenSets(accepted);
    trail.from('/authentication/accept', whole ? '/security' : (own.find(({ list }) => list)?.operation.map.at ?? ''));
  }
  for (const { operation, list = [] } of own) {
    const endpoint = endpoints[operation.key];
    if (!isMap(endpoint) || list.some((set) => set.length === 0) || list.length === 0) continue;
    if (whole !== undefined && isSameChoice(list, accepted)) continue;
    made(endpoint).accept = writtenSets(list);
    trail.from(below(below('/endpoints', operation.key), 'accept'), below(operation.map.at, 'security'));
  }
  const open = own.filter(
    ({ list = whole }) => list !== undefined && (list.length === 0 || list.some((set) => set.length === 0)),
  );
  if (open.length > 0) authentication.public = open.map(({ operation }) => nameOfOperation(endpoints, operation));
  for (const [index, { operation }] of open.entries()) {
    trail.from(below('/authentication/public', index), below(operation.map.at, 'security'));
  }
  return authentication;
}

/** The name by which other parts speak of an operation. */
export function nameOfOperation(endpoints: OpenMap, { key }: SourceOperation): string {
  const endpoint = endpoints[key];
  if (!isMap(endpoint)) return key;
  const does = endpoint.does === 'reply' ? undefined : endpoint.does;
  return String(endpoint.as ?? does ?? key);
}

/**
 * What may be shown at some place: one of these sets of schemes, whole. A scheme that is nowhere described is one all the same: nobody can
 * show it, so it is never left out.
 */
function requirementsOf(map: MapAt, schemes: OpenMap, reader: SourceReader, trail: Trail): string[][] | undefined {
  const { security } = map.value;
  if (!Object.hasOwn(map.value, 'security') || !Array.isArray(security)) return undefined;
  reader.mark(map.value, 'security');
  const at = below(map.at, 'security');
  return security.flatMap((requirement: Json, index): string[][] => {
    if (!isMap(requirement)) return [];
    const place = below(at, index);
    const all = Object.keys(requirement);
    const names = all.filter((name) => !isVersion(schemes[name]));
    // What names a version beside a credential shows no caller; a client sends its own.
    const versions = names.length === 0 ? [] : all.filter((name) => !names.includes(name));
    for (const name of versions) reader.leave(below(place, name), 'it names a version, and shows no caller');
    const shown = names.length === 0 ? all : names;
    for (const name of shown) {
      if (hasScopes(requirement[name])) reader.leave(below(place, name), 'scopes of one operation');
      else reader.mark(requirement, name);
      if (Object.hasOwn(schemes, name)) continue;
      reader.find('import/ref-unresolved', below(place, name), `There is no scheme \`${name}\`; nobody can show it.`);
      schemes[name] = { ...unknownScheme };
      trail.from(below('/authentication/schemes', name), below(place, name));
    }
    return shownOneByOne(shown, schemes, (name, other) =>
      reader.leave(below(place, name), `it stands where ${other} does, so that one of both is shown`),
    );
  });
}

/** Two schemes of one requirement that stand in the same place of a request cannot be shown together: either of them is meant. */
function shownOneByOne(names: readonly string[], schemes: OpenMap, told: (name: string, other: string) => void): string[][] {
  const sharing = Map.groupBy(names, (name) => placeOf(schemes[name]) ?? `scheme ${name}`);
  if ([...sharing.values()].reduce((all, { length }) => all * length, 1) > choicesMost) return [[...names]];
  for (const [first = '', ...others] of sharing.values()) for (const other of others) told(other, first);
  return [...sharing.values()].reduce<string[][]>(
    (sets, some) => sets.flatMap((set) => some.map((name) => [...set, name])),
    [[]],
  );
}

const choicesMost = 16;

/** Where the credential of a scheme stands; nothing where that is not known. */
function placeOf(scheme: Json | undefined): string | undefined {
  if (!isMap(scheme)) return undefined;
  for (const place of ['header', 'query', 'cookie'])
    if (typeof scheme[place] === 'string') return `${place} ${scheme[place].toLowerCase()}`;
  const kind = kinds.find(({ word }) => word === scheme.type);
  return kind?.prefix === undefined ? undefined : `header ${(kind.usualHeader ?? 'Authorization').toLowerCase()}`;
}

/** Whether a scheme is a header such as `Api-Version`. */
function isVersion(scheme: Json | undefined): boolean {
  return isMap(scheme) && /(?:^|[-_])version$/i.test(String(scheme.header ?? ''));
}

/** One scheme as a word, several at once as a list. */
function writtenSets(sets: readonly (readonly string[])[]): Json[] {
  return sets.map((set): Json => (set.length === 1 ? (set[0] as string) : [...set]));
}

/** Whether two lists leave the same choice, whatever stands first. */
function isSameChoice(one: readonly (readonly string[])[], other: readonly (readonly string[])[]): boolean {
  const keys = (sets: readonly (readonly string[])[]) =>
    [...new Set(sets.map((set) => JSON.stringify([...set].sort())))].sort().join();
  return keys(one) === keys(other);
}

function hasScopes(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}

function writeSchemes(reader: SourceReader, trail: Trail): OpenMap {
  const holder = reader.dialect === '2.0' ? reader.root : reader.map(reader.root, 'components');
  const schemes: OpenMap = newMap();
  if (!holder) return schemes;
  for (const [name, map] of reader.maps(holder, reader.dialect === '2.0' ? 'securityDefinitions' : 'securitySchemes')) {
    const scheme = writeScheme(name, map, reader, trail);
    if (scheme === undefined) {
      reader.leave(map.at, 'a scheme that is none of this language');
      continue;
    }
    const at = below('/authentication/schemes', name);
    trail.from(at, map.at);
    trail.prose(at, map.at, reader.text(map, 'description'));
    schemes[name] = scheme;
  }
  return schemes;
}

/** Writes one scheme, as the first kind that knows it says; nothing where none does. */
export function writeScheme(name: string, map: MapAt, reader: SourceReader, trail: Trail): OpenMap | undefined {
  for (const kind of schemeReaders()) {
    const known = kind.ofForeign(map.value);
    if (!known) continue;
    for (const key of known.read) if (Object.hasOwn(map.value, key)) reader.mark(map.value, key);
    const scheme: OpenMap = Object.assign(newMap(), known.stated);
    return kind.hasFlows ? Object.assign(scheme, writeFlows(name, map, reader, trail)) : scheme;
  }
  return undefined;
}

/** The flows that give tokens out, and the scopes of all of them. */
function writeFlows(scheme: string, map: MapAt, reader: SourceReader, trail: Trail): OpenMap {
  const whole: OpenMap = newMap();
  const at = below(below('/authentication/schemes', scheme), 'scopes');
  const old = reader.text(map, 'flow');
  const flows = old === undefined ? reader.maps(map, 'flows') : [[oldFlows[old] ?? old, map] as const];
  if (flows.length > 0) reader.mark(map.value, 'flows');
  const written: OpenMap = newMap();
  const scopes: OpenMap = newMap();
  for (const [name, flow] of flows) {
    const words: OpenMap = newMap();
    for (const key of ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'deviceAuthorizationUrl']) {
      const url = reader.text(flow, key);
      if (url !== undefined) words[key] = url;
    }
    written[name] = words;
    const key = Object.hasOwn(flow.value, 'availableScopes') ? 'availableScopes' : 'scopes';
    const stated = reader.take(flow.value, key);
    for (const [scope, text] of isMap(stated) ? Object.entries(stated) : []) {
      const words = typeof text === 'string' ? text : '';
      if (Object.hasOwn(scopes, scope)) {
        if (scopes[scope] !== words) reader.leave(below(flow.at, key), 'another flow describes a scope of it otherwise');
        continue;
      }
      scopes[scope] = words;
      trail.from(below(at, scope), below(below(flow.at, key), scope));
    }
  }
  if (Object.keys(written).length > 0) whole.flows = written;
  if (Object.keys(scopes).length > 0) whole.scopes = scopes;
  return whole;
}

const oldFlows: Readonly<Record<string, string>> = {
  application: 'clientCredentials',
  accessCode: 'authorizationCode',
  implicit: 'implicit',
  password: 'password',
};
