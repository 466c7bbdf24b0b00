import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** A connection to a service that one writes on oneself, and what `Host` is on it. */
export function connectTo(origin: string): { readonly socket: Socket; readonly host: string } {
  const url = new URL(origin);
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const socket =
    url.protocol === 'https:' ? connectSecurely({ host: name, port, servername: name }) : connect({ host: name, port });
  return { socket, host: url.host };
}
