import type { Call } from '../http/call.ts';

/** Whether an address or host name is of this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether a call comes from this machine to a name of this machine: a page of elsewhere that is led here bears its own name. */
export function isOnLoopback({ address, headers }: Call): boolean {
  const host = typeof headers.host === 'string' ? headers.host.toLowerCase() : '';
  return isLoopback(address) && isLoopback(host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1'));
}
