import type { Json, Pointer } from '../../../document/document.ts';
import { below, pathOf } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { MapAt, Reader } from '../../openapi/reader.ts';
import { refOf } from '../../openapi/reader.ts';
import { writeScheme } from '../../openapi/security.ts';
import type { Trail } from '../../openapi/trail.ts';
import { serversOf } from './servers.ts';

/** Writes how whoever listens shows who it is: the stated schemes, and which of them servers and operations ask for. */
export function writeAuthentication(reader: Reader, trail: Trail): OpenMap | undefined {
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
function requirements(holder: MapAt, reader: Reader): Requirement[] {
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

function take(name: string, map: MapAt, schemes: OpenMap, reader: Reader, trail: Trail): boolean {
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
