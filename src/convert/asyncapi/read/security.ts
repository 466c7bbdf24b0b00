import type { Json, Pointer } from '../../../document/document.ts';
import { below, pathOf } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { Trail } from '../../openapi/read/evidence.ts';
import { type MapAt, refOf, type SourceReader } from '../../openapi/read/reader.ts';
import { writeScheme } from '../../openapi/read/security.ts';

/** Writes how whoever listens shows who it is: the stated schemes, and which of them servers and operations ask for. */
export function writeListenerAuthentication(reader: SourceReader, trail: Trail): OpenMap | undefined {
  const schemes: OpenMap = newMap();
  const components = reader.map(reader.root, 'components');
  const known = new Map<string, string>();
  for (const [key, map] of components ? reader.maps(components, 'securitySchemes') : []) {
    const name = reader.text(map, 'x-ninefold-name') ?? key;
    if (take(name, map, schemes, reader, trail)) known.set(map.at, name);
  }
  const accepted = new Map<string, Pointer>();
  const holders = [...serversOf(reader), ...reader.maps(reader.root, 'operations').map(([, map]) => map)];
  for (const holder of holders) for (const used of requirements(holder, reader)) accept(used);
  if (Object.keys(schemes).length === 0) return undefined;
  const authentication: OpenMap = newMap();
  authentication.schemes = schemes;
  if (accepted.size > 0 && accepted.size < Object.keys(schemes).length) {
    authentication.accept = [...accepted.keys()];
    for (const [index, place] of [...accepted.values()].entries()) trail.from(below('/authentication/accept', index), place);
  }
  return authentication;

  /** A scheme that stands where it is asked for has no name but its type. */
  function accept({ name, map, at }: Requirement): void {
    const own = known.get(map.at) ?? name;
    if (Object.hasOwn(schemes, own) && (known.has(map.at) || name !== own)) accepted.set(own, accepted.get(own) ?? at);
    else if (!known.has(map.at) && take(own, map, schemes, reader, trail)) {
      known.set(map.at, own);
      accepted.set(own, at);
    }
  }
}

interface Requirement {
  readonly name: string;
  readonly map: MapAt;
  /** Where it is asked for. */
  readonly at: Pointer;
}

/** What a server or an operation asks for: schemes themselves since 3.0, before that the names of schemes with their scopes. */
function requirements(holder: MapAt, reader: SourceReader): Requirement[] {
  if (!Object.hasOwn(holder.value, 'security')) return [];
  const { value, at } = reader.get(holder, 'security');
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: Json, index): Requirement[] => {
    if (!isMap(item)) return [];
    const place = below(at, index);
    const map = reader.follow({ value: item, at: place });
    if (!map) return [];
    if (refOf(item) !== undefined || Object.hasOwn(map.value, 'type')) {
      if (Object.hasOwn(map.value, 'scopes')) reader.leave(below(map.at, 'scopes'), 'scopes of one operation');
      return [{ name: refOf(item) === undefined ? String(map.value.type) : (pathOf(map.at).at(-1) ?? ''), map, at: place }];
    }
    return Object.keys(item).flatMap((name) => {
      const target = reader.target(`#${below('/components/securitySchemes', name)}`);
      if (target === undefined) reader.find('import/ref-unresolved', place, `There is no scheme \`${name}\`.`);
      return target && isMap(target.value) ? [{ name, map: { value: target.value, at: target.at }, at: place }] : [];
    });
  });
}

function take(name: string, map: MapAt, schemes: OpenMap, reader: SourceReader, trail: Trail): boolean {
  const scheme = writeScheme(name, map, reader, trail);
  if (scheme === undefined) {
    reader.leave(map.at, 'a scheme that is none of this language');
    return false;
  }
  const at = below('/authentication/schemes', name);
  trail.from(at, map.at);
  trail.prose(at, map.at, reader.text(map, 'description'));
  schemes[name] = scheme;
  return true;
}

/** The base addresses of a service: those of its servers that speak HTTP, variables at their defaults. */
export function baseUrls(reader: SourceReader, trail: Trail): string[] {
  const urls = serversOf(reader).flatMap((server) => {
    const url = urlOf(server, reader);
    if (url === undefined || !/^https?:\/\/[^/{}]+(?:\/[^{}]*)?$/.test(url)) {
      reader.leave(
        server.at,
        url === undefined ? 'it says no address' : `${url.replace(/:.*/s, '')} with a fixed address is not spoken there`,
      );
      return [];
    }
    if (trail.origins.get('/purpose/base_url') === undefined) trail.from('/purpose/base_url', server.at);
    return [url];
  });
  return [...new Set(urls)];
}

/** The servers, which were a list before they were a map. */
function serversOf(reader: SourceReader): MapAt[] {
  const isList = Array.isArray(reader.root.value.servers);
  const servers = isList ? reader.list(reader.root, 'servers') : reader.maps(reader.root, 'servers').map(([, map]) => map);
  if (servers.length > 0) reader.mark(reader.root.value, 'servers');
  return servers;
}

function urlOf(server: MapAt, reader: SourceReader): string | undefined {
  const protocol = (reader.text(server, 'protocol') ?? reader.text(server, 'scheme'))?.toLowerCase();
  const host = reader.text(server, 'host');
  const whole = host === undefined ? reader.text(server, 'url') : host + (reader.text(server, 'pathname') ?? '');
  if (whole === undefined) return undefined;
  const filled = whole.replaceAll(/\{([^{}]+)\}/g, (written, name: string) => defaultOf(server, name, reader) ?? written);
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(filled) ? filled : `${protocol ?? ''}://${filled}`;
  return url.replace(/\/+$/, '');
}

function defaultOf(server: MapAt, name: string, reader: SourceReader): string | undefined {
  const variables = reader.map(server, 'variables');
  const variable = variables && reader.follow({ value: variables.value[name], at: below(variables.at, name) });
  return variable && isMap(variable.value) ? reader.text(variable, 'default') : undefined;
}
