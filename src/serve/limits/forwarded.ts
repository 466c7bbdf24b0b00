import type { Call } from '../call.ts';
import { readAddress } from './address.ts';

/** The address that a call comes from, as text. */
export type AddressOf = (call: Pick<Call, 'address' | 'headers'>) => string;

/**
 * Compiles whom a call comes from. Without trusted proxies no forwarding header counts. With them, `X-Forwarded-For` or
 * `Forwarded` (RFC 7239) is gone through from its end, where the nearest proxy wrote, for as long as the address before it is
 * trusted. Where both are sent and do not agree, one of them was not written by the proxy: neither counts.
 */
export function compileAddressOf(trusted: readonly string[]): AddressOf {
  const networks = trusted.flatMap((word) => networkOf(word) ?? []);
  if (networks.length === 0) return ({ address }) => address;
  const isTrusted = (text: string): boolean => {
    const bytes = readAddress(text);
    return bytes !== undefined && networks.some((network) => contains(network, bytes));
  };
  return ({ address, headers }) => {
    if (!isTrusted(address)) return address;
    const plain = textOf(headers['x-forwarded-for']);
    const standard = textOf(headers.forwarded);
    const one = plain === undefined ? undefined : walk(address, plain, bare, isTrusted);
    const other = standard === undefined ? undefined : walk(address, standard, forOf, isTrusted);
    if (one === undefined || other === undefined) return one ?? other ?? address;
    return one === other ? one : address;
  };
}

interface Network {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

function networkOf(word: string): Network | undefined {
  const [address = '', bits] = word.split('/');
  const bytes = readAddress(address);
  if (bytes === undefined) return undefined;
  // `::ffff:10.0.0.0/104` is 10.0.0.0/8.
  const shift = bytes.length === 4 && address.includes(':') ? 96 : 0;
  return { bytes, bits: bits === undefined ? bytes.length * 8 : Number(bits) - shift };
}

function contains({ bytes, bits }: Network, address: Uint8Array): boolean {
  if (bytes.length !== address.length) return false;
  const whole = bits >> 3;
  for (let at = 0; at < whole; at++) if (bytes[at] !== address[at]) return false;
  const rest = bits & 7;
  return rest === 0 || (bytes[whole]! ^ address[whole]!) >> (8 - rest) === 0;
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}

/** Goes from the last entry to the first while the address before it is trusted; ends before what is no address. */
function walk(
  nearest: string,
  list: string,
  addressIn: (entry: string) => string | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let address = nearest;
  for (let end = list.length; end >= 0 && isTrusted(address); ) {
    const comma = list.lastIndexOf(',', end - 1);
    const next = end === 0 ? undefined : addressIn(list.slice(comma + 1, end).trim());
    if (next === undefined) return address;
    address = next;
    end = comma;
  }
  return address;
}

/** An address, maybe in brackets, maybe with a port. */
function bare(entry: string): string | undefined {
  const match = /^\[([^\]]+)\](?::\d+)?$/.exec(entry) ?? /^([\d.]+):\d+$/.exec(entry);
  const text = match?.[1] ?? entry;
  return readAddress(text) && text;
}

/** The `for` of one element of `Forwarded`; its value is quoted where it holds a colon (RFC 7239 section 4). */
function forOf(entry: string): string | undefined {
  const match = /(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^\s;",]+))\s*(?:;|$)/i.exec(entry);
  const text = match?.[1] ?? match?.[2];
  return text === undefined ? undefined : bare(text);
}
