import type { Call } from '../http/call.ts';

/** What proxies say of whom they pass on (RFC 7239, RFC 9110 section 7.6.3, and what stood before them). */
const passedOn = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/** Whether an address or host name is of this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Whether a call comes from this machine to a name of this machine: a page of elsewhere that is led here bears its own name, and
 * what a proxy of this machine passes on comes from wherever it came from.
 */
export function isOnLoopback({ address, headers }: Call): boolean {
  return !isPassedOn(headers) && isLoopback(address) && isLoopback(hostOf(headers));
}

/**
 * Whether a call came by a socket of this machine, and to a name of elsewhere: a page made that name lead here. Names without a point are of
 * this network, and an address leads where it says.
 */
export function isLedHere({ address, headers, isDirect }: Call): boolean {
  if (isDirect !== true || isPassedOn(headers) || !isLoopback(address)) return false;
  const host = hostOf(headers);
  return host.includes('.') && !/^[\d.]+$/.test(host) && !host.endsWith('.localhost');
}

function isPassedOn(headers: Call['headers']): boolean {
  return passedOn.some((name) => headers[name] !== undefined);
}

function hostOf({ host }: Call['headers']): string {
  const name = typeof host === 'string' ? host.toLowerCase() : '';
  return name.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}
