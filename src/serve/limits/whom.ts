/** Whom a limit counts: who asks, the address that a call comes from, and whom that stands for. */

import { hash } from 'node:crypto';
import type { LimitScope } from '../../parts/limits.ts';
import { type CompileExpression, isFailed } from '../exchange/compilation.ts';
import type { Caller } from '../exchange/exchange.ts';
import type { Call } from '../http/call.ts';

/** Who asks for what, and when. */
export interface WhoAsks {
  readonly caller: Caller | undefined;
  readonly operation: string;
  readonly nowMs: number;
}

/** Whom a limit counts, and apart from whom. */
export interface Whom {
  /** What is counted apart by name; nothing where it is the address. Those without a user are one. */
  readonly nameOf: (asked: WhoAsks) => string | undefined;
  /** Whether it counts a caller at all; absent where it counts each. */
  readonly counts?: (asked: WhoAsks) => boolean;
}

/** Compiles whom a limit counts. Where a condition comes to nothing it counts, and who has no value of its own is counted for itself. */
export function compileWhom({ per, by, if: condition }: LimitScope, compile: CompileExpression): Whom {
  const apart = by && compile(by);
  const holds = condition && compile(condition);
  const nameOf = ({ caller, operation, nowMs }: WhoAsks): string | undefined => {
    if (per === 'everyone') return '';
    if (per === 'user') return caller?.user ?? '';
    if (per === 'address' || !caller) return undefined;
    const value = apart?.({ caller, operation, now: nowMs });
    return value === undefined || value === null || isFailed(value) ? `${caller.user}\n${caller.id}` : named(String(value));
  };
  if (!holds) return { nameOf };
  return {
    nameOf,
    counts({ caller, operation, nowMs }) {
      const value = holds({ caller, operation, now: nowMs });
      return isFailed(value) || value === true;
    },
  };
}

/** No name that a caller has begins so; what is long is kept as its hash. */
function named(value: string): string {
  return `=\n${value.length <= namedMost ? value : hash('sha256', value, 'base64url')}`;
}

const namedMost = 64;

/**
 * Whom an address stands for, as 64 bits: an IPv4 address itself, of an IPv6 address the network of 64 bits, since whoever
 * has one address of it has them all (RFC 6177 section 2). Addresses of IPv4 inside IPv6 (`::ffff:`, `64:ff9b::`) are those of IPv4.
 */
export interface AddressBits {
  readonly high: number;
  readonly low: number;
}

/** The upper half of every IPv4 address: no IPv6 network that a request comes from begins like this (RFC 4291 section 2.7). */
const v4 = 0xffffffff;

/** What is no address; all of it is counted together. */
const noAddress: AddressBits = { high: v4, low: 0 };

/** Reads an address without port, brackets or zone; undefined where it is none. */
function readAddress(text: string): Uint8Array | undefined {
  return text.includes(':') ? readV6(text) : readV4(text);
}

/** The bits of an address as text; `noAddress` where it is none. */
export function addressBits(text: string): AddressBits {
  const low = v4Number(text);
  if (low !== -1) return { high: v4, low };
  const bytes = readAddress(text);
  if (bytes === undefined) return noAddress;
  if (bytes.length === 4) return { high: v4, low: numberAt(bytes, 0) };
  return { high: numberAt(bytes, 0), low: numberAt(bytes, 4) };
}

/** The bits as text, for a key that is kept. */
export function addressName({ high, low }: AddressBits): string {
  if (high === v4) return [24, 16, 8, 0].map((shift) => (low >>> shift) & 255).join('.');
  const words = [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff];
  return `${words.map((word) => word.toString(16)).join(':')}::/64`;
}

/**
 * Under what the connections of an address are counted, each with those of its network of IPv6; nothing for this machine's own, and for all
 * where the document trusts proxies, which bring many.
 */
export function connectionKey(trusted: readonly string[]): (address: string) => string | undefined {
  if (trusted.length > 0) return () => undefined;
  return (address) => {
    const name = addressName(addressBits(address));
    return name.startsWith('127.') || address === '::1' ? undefined : name;
  };
}

/** An IPv4 address as a number, or -1: by hand, since every request needs it. */
function v4Number(text: string): number {
  let value = 0;
  let part = -1;
  let parts = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? 46 : text.charCodeAt(at);
    if (code === 46) {
      if (part === -1 || part > 255) return -1;
      value = value * 256 + part;
      part = -1;
      parts++;
    } else if (code >= 48 && code <= 57) part = part === -1 ? code - 48 : part * 10 + code - 48;
    else return -1;
  }
  return parts === 4 && text.length <= 15 ? value : -1;
}

function readV4(text: string): Uint8Array | undefined {
  const value = v4Number(text);
  return value === -1 ? undefined : Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function readV6(whole: string): Uint8Array | undefined {
  const zone = whole.indexOf('%');
  const text = zone === -1 ? whole : whole.slice(0, zone);
  const [head = '', tail, more] = text.split('::');
  if (more !== undefined || text.length > 45) return undefined;
  const before = readWords(head, tail === undefined);
  const after = tail === undefined ? [] : readWords(tail, true);
  if (before === undefined || after === undefined) return undefined;
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const words = [...before, ...Array<number>(missing).fill(0), ...after];
  const bytes = Uint8Array.from(words.flatMap((word) => [word >> 8, word & 255]));
  return isEmbedded(words) ? bytes.subarray(12) : bytes;
}

/** IPv4 as IPv6 shows it (RFC 4291 section 2.5.5.2, RFC 6052 section 2.1). */
function isEmbedded(words: readonly number[]): boolean {
  const mapped = [0, 0, 0, 0, 0, 0xffff];
  const translated = [0x64, 0xff9b, 0, 0, 0, 0];
  return mapped.every((word, at) => words[at] === word) || translated.every((word, at) => words[at] === word);
}

/** Groups of four hexadecimal digits; the last two may be written as an IPv4 address. */
function readWords(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return [];
  const words: number[] = [];
  const groups = text.split(':');
  for (const [at, group] of groups.entries()) {
    if (group.includes('.')) {
      const bytes = isEnd && at === groups.length - 1 ? readV4(group) : undefined;
      if (bytes === undefined) return undefined;
      words.push((bytes[0]! << 8) | bytes[1]!, (bytes[2]! << 8) | bytes[3]!);
    } else if (/^[0-9a-f]{1,4}$/i.test(group)) words.push(Number.parseInt(group, 16));
    else return undefined;
  }
  return words;
}

function numberAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** The address that a call comes from, as text. */
export type AddressOf = (call: Pick<Call, 'address' | 'headers'>) => string;

/**
 * Compiles whom a call comes from. Without trusted proxies no forwarding header counts. With them, `X-Forwarded-For` or
 * `Forwarded` (RFC 7239) is gone through from its end, where the nearest proxy wrote, for as long as the address before it is
 * trusted. Where both are sent and do not agree, one of them was not written by the proxy: neither counts.
 */
export function compileAddressOf(trusted: readonly string[]): AddressOf {
  if (trusted.length === 0) return ({ address }) => address;
  const isTrusted = compileIsTrusted(trusted);
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

/** Whether a request comes from a proxy that is trusted, by the address of its connection. */
export function compileIsFromProxy(trusted: readonly string[]): (call: Pick<Call, 'address'>) => boolean {
  const isTrusted = compileIsTrusted(trusted);
  return ({ address }) => isTrusted(address);
}

function compileIsTrusted(trusted: readonly string[]): (text: string) => boolean {
  const networks = trusted.flatMap((word) => networkOf(word) ?? []);
  return (text) => {
    const bytes = readAddress(text);
    return bytes !== undefined && networks.some((network) => contains(network, bytes));
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
