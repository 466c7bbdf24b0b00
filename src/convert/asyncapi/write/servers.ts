import type { JsonMap } from '../../../document/document.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';

/** The server that stands for whoever listens: its address is known to it alone. */
export const subscriberServer = 'subscriber';

/** The servers of a service, one for each base address, and the one that events are posted to. */
export function writeServers(spec: Spec, security: readonly JsonMap[]): JsonMap {
  const servers: OpenMap = newMap();
  const urls = statedValue(spec.purpose.baseUrls) ?? [];
  for (const [index, url] of urls.entries()) {
    const server = serverOf(url);
    if (server)
      servers[index === 0 ? 'service' : `service_${index + 1}`] = { ...server, ...(security.length > 0 && { security }) };
  }
  if (statedValue(spec.events.delivery)?.webhook) {
    servers[subscriberServer] = {
      host: '{host}',
      protocol: 'https',
      description: 'Whoever has subscribed.',
      variables: { host: { description: 'The host of the address that was subscribed.' } },
    };
  }
  return servers;
}

/** The names of the servers that are the service itself. */
export function ownServers(servers: JsonMap): string[] {
  return Object.keys(servers).filter((name) => name !== subscriberServer);
}

function serverOf(url: string): JsonMap | undefined {
  const parts = /^(https?):\/\/([^/?#]+)([^?#]*)/i.exec(url);
  if (!parts) return undefined;
  const [, protocol = '', host = '', pathname = ''] = parts;
  return { host, protocol: protocol.toLowerCase(), ...(pathname !== '' && { pathname }) };
}
