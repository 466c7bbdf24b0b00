import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { Trail } from './evidence.ts';
import type { SourceOperation } from './operation.ts';
import type { MapAt, SourceReader } from './reader.ts';
import { swaggerServers } from './swagger.ts';

/** Writes what a source says of itself: what it is for, and where it stands. */
export function writePurpose(reader: SourceReader, trail: Trail): OpenMap | undefined {
  const purpose: OpenMap = newMap();
  const info = reader.map(reader.root, 'info');
  if (info) writeWords(info, purpose, reader, trail);
  if (reader.dialect !== '2.0') trail.from('/purpose/base_url', '/servers');
  const urls = reader.dialect === '2.0' ? swaggerServers(reader) : serverUrls(reader, reader.root);
  const usable = urls.filter(isAddress);
  if (usable.length > 0) purpose.base_url = usable.length === 1 ? (usable[0] ?? '') : usable;
  if (reader.dialect === '2.0') trail.from('/purpose/base_url', Object.hasOwn(reader.root.value, 'host') ? '/host' : '/basePath');
  return Object.keys(purpose).length > 0 ? purpose : undefined;
}

/** A summary, or a description of a few words, says what a service is for; a longer one explains. */
export function writeWords(info: MapAt, purpose: OpenMap, reader: SourceReader, trail: Trail): void {
  const summary = reader.text(info, 'summary');
  const description = reader.text(info, 'description');
  const isShort =
    description !== undefined && description !== '' && description.length <= 300 && !description.trim().includes('\n\n');
  const [key, text] =
    summary !== undefined && summary !== '' ? ['summary', summary] : isShort ? ['description', description] : [];
  if (key !== undefined && text !== undefined) {
    purpose.purpose = text.trim();
    trail.from('/purpose/purpose', below(info.at, key));
  }
  if (key !== 'description') trail.prose('/purpose', info.at, description);
}

/** Addresses that a source states: of the whole service, of a path, of one operation (OpenAPI 3.1 section 4.8.5). */

/** The addresses that a map states, their variables at their defaults, without a slash at the end. */
function serverUrls(reader: SourceReader, holder: MapAt): string[] {
  return serversIn(reader, holder).map(({ url }) => url);
}

function isAddress(url: string): boolean {
  return /^https?:\/\/[^/]|^\/./.test(url);
}

/**
 * Operations at the paths at which they are reached: those of an address of their own stand below the path of that, as far as it lies below
 * that of the whole service. The host of such an address is not carried.
 */
export function atOwnServers(
  operations: readonly SourceOperation[],
  itemOf: (operation: SourceOperation) => MapAt | undefined,
  reader: SourceReader,
): SourceOperation[] {
  const taken = new Set(operations.map(({ key }) => key));
  const whole = serverUrls(reader, reader.root);
  const base = pathOf(whole.find(isAddress) ?? '');
  return operations.map((operation) => {
    const holder = [operation.map, itemOf(operation)].find((map) => map !== undefined && Object.hasOwn(map.value, 'servers'));
    const [own, ...others] = holder ? serversIn(reader, holder) : [];
    for (const { at } of others) reader.leave(at, 'a second address of its own');
    if (!own) return operation;
    const path = pathOf(own.url);
    const isBelow = path === base || path.startsWith(`${base}/`);
    const moved = `${path.slice(base.length)}${operation.path}`;
    const key = `${operation.method} ${moved}`;
    if (!isBelow || (key !== operation.key && taken.has(key))) {
      reader.leave(
        own.at,
        isBelow ? 'another operation stands at its path there' : 'an address that does not lie below that of the service',
      );
      return operation;
    }
    if (!own.url.startsWith('/') && !whole.includes(own.url))
      reader.leave(own.at, 'the host of an address of its own; its path is kept');
    taken.add(key);
    return { ...operation, key, path: moved };
  });
}

interface Server {
  readonly url: string;
  readonly at: string;
}

function serversIn(reader: SourceReader, holder: MapAt): Server[] {
  if (Object.hasOwn(holder.value, 'servers') && !Array.isArray(holder.value.servers)) {
    const at = below(holder.at, 'servers');
    reader.once('import/invalid', at, '`servers` is a list of maps, each with its `url`.');
    reader.leave(at, 'it has no valid form');
  }
  return reader.list(holder, 'servers').flatMap((server) => {
    reader.mark(holder.value, 'servers');
    const url = reader.text(server, 'url');
    if (url === undefined) return [];
    const variables = reader.map(server, 'variables');
    const filled = url
      .replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => defaultOf(variables, name, reader) ?? whole)
      .replace(/\/+$/, '');
    if (filled !== '' && !isAddress(filled)) reader.leave(below(server.at, 'url'), 'an address that is none of HTTP');
    return [{ url: filled, at: below(server.at, 'url') }];
  });
}

function defaultOf(variables: MapAt | undefined, name: string, reader: SourceReader): string | undefined {
  const variable = variables?.value[name];
  return isMap(variable) && variables ? reader.text({ value: variable, at: below(variables.at, name) }, 'default') : undefined;
}

/** The path of an address, without a slash at its end. */
function pathOf(url: string): string {
  return url
    .replace(/^https?:\/\/[^/?#]*/, '')
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '');
}
