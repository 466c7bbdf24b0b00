import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { schemeKinds } from '../../../kinds/schemes/all.ts';
import type { SchemeKind } from '../../../kinds/schemes/kind.ts';
import type { Trail } from './evidence.ts';
import type { SourceOperation } from './operation.ts';
import type { MapAt, SourceReader } from './reader.ts';

/** Writes the security schemes of a source, which of them are accepted, and where none is asked for. */
export function writeAuthentication(
  operations: readonly SourceOperation[],
  endpoints: OpenMap,
  reader: SourceReader,
  trail: Trail,
): OpenMap | undefined {
  const schemes = writeSchemes(reader, trail);
  if (Object.keys(schemes).length === 0) return undefined;
  const authentication: OpenMap = newMap();
  authentication.schemes = schemes;
  const whole = requirementsOf(reader.root.value, reader);
  const own = operations.map((operation) => ({ operation, list: requirementsOf(operation.map.value, reader) }));
  const accepted = new Set<string>();
  const notCarried = (place: string) => reader.leave(place, 'several schemes at once, or scopes of one operation');
  for (const { list, at } of [{ list: whole, at: '' }, ...own.map(({ list, operation }) => ({ list, at: operation.map.at }))]) {
    for (const [index, requirement] of (list ?? []).entries()) {
      const names = Object.keys(requirement);
      if (names.length > 1 || names.some((name) => hasScopes(requirement[name]))) notCarried(below(below(at, 'security'), index));
      for (const name of names) {
        if (!Object.hasOwn(schemes, name)) continue;
        accepted.add(name);
        reader.mark(requirement, name);
      }
    }
  }
  if (accepted.size > 0 && accepted.size < Object.keys(schemes).length) {
    authentication.accept = [...accepted];
    trail.from('/authentication/accept', whole ? '/security' : (own.find(({ list }) => list)?.operation.map.at ?? ''));
  }
  const open = own.filter(
    ({ list }) => list !== undefined && (list.length === 0 || list.some((entry) => Object.keys(entry).length === 0)),
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
  return isMap(endpoint) ? String(endpoint.as ?? endpoint.does ?? key) : key;
}

function requirementsOf(map: JsonMap, reader: SourceReader): JsonMap[] | undefined {
  if (!Object.hasOwn(map, 'security') || !Array.isArray(map.security)) return undefined;
  reader.mark(map, 'security');
  return map.security.filter((entry: Json): entry is JsonMap => isMap(entry));
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
  for (const kind of schemeKinds as readonly SchemeKind[]) {
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
