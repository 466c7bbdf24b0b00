import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { MapAt, Reader } from '../../openapi/reader.ts';
import type { Trail } from '../../openapi/trail.ts';

/** The base addresses of a service: those of its servers that speak HTTP, variables at their defaults. */
export function baseUrls(reader: Reader, trail: Trail): string[] {
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
export function serversOf(reader: Reader): MapAt[] {
  const isList = Array.isArray(reader.root.value.servers);
  const servers = isList ? reader.list(reader.root, 'servers') : reader.maps(reader.root, 'servers').map(([, map]) => map);
  if (servers.length > 0) reader.mark(reader.root.value, 'servers');
  return servers;
}

function urlOf(server: MapAt, reader: Reader): string | undefined {
  const protocol = (reader.text(server, 'protocol') ?? reader.text(server, 'scheme'))?.toLowerCase();
  const host = reader.text(server, 'host');
  const whole = host === undefined ? reader.text(server, 'url') : host + (reader.text(server, 'pathname') ?? '');
  if (whole === undefined) return undefined;
  const filled = whole.replaceAll(/\{([^{}]+)\}/g, (written, name: string) => defaultOf(server, name, reader) ?? written);
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(filled) ? filled : `${protocol ?? ''}://${filled}`;
  return url.replace(/\/+$/, '');
}

function defaultOf(server: MapAt, name: string, reader: Reader): string | undefined {
  const variables = reader.map(server, 'variables');
  const variable = variables && reader.follow({ value: variables.value[name], at: below(variables.at, name) });
  return variable && isMap(variable.value) ? reader.text(variable, 'default') : undefined;
}
