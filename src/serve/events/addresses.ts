/** Where webhooks may go: whether an address is public, which addresses a name has, and who asks for it. */

import { type LookupAddress, Resolver } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

/**
 * Whether an address may be sent to: a public one, and none of this machine, its network, a cloud's own services or a group,
 * however it is written (RFC 6890 and its registries; RFC 6052 for addresses of IPv4 inside IPv6).
 */
export function isPublicAddress(address: string): boolean {
  const text = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const version = isIP(text);
  if (version === 4) return !closed.check(text, 'ipv4');
  if (version !== 6) return false;
  const bytes = bytesOf(text);
  const inner = innerAddresses(bytes);
  return inner.length > 0 ? inner.every(isPublicAddress) : open6.check(text, 'ipv6') && !closed.check(text, 'ipv6');
}

const closed = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  closed.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
] as const)
  closed.addSubnet(net, bits, 'ipv6');

/** Of IPv6 only global unicast is public; everything else is this machine's, its network's or nobody's. */
const open6 = new BlockList();
open6.addSubnet('2000::', 3, 'ipv6');

/** The addresses of IPv4 that one of IPv6 leads to: mapped, compatible, translated (NAT64) or tunnelled (6to4). */
function innerAddresses(bytes: readonly number[]): string[] {
  const starts = (prefix: readonly number[]) => prefix.every((byte, at) => bytes[at] === byte);
  const at = (from: number) => bytes.slice(from, from + 4).join('.');
  if (
    starts([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) &&
    ((bytes[10] === 0 && bytes[11] === 0) || (bytes[10] === 255 && bytes[11] === 255))
  )
    return [at(12)];
  if (starts([0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0])) return [at(12)];
  if (starts([0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])) return [at(12)];
  if (starts([0x20, 0x02])) return [at(2)];
  return [];
}

/** The sixteen bytes of an address of IPv6 that is written rightly. */
function bytesOf(text: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const hex = (high: string | undefined, low: string | undefined) => (Number(high) * 256 + Number(low)).toString(16);
  const plain = dotted ? `${dotted[1]}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}` : text;
  const [head = '', tail] = plain.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const middle = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...middle, ...right].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}

/** An address that nothing is sent to. */
class ClosedAddress extends Error {
  constructor(host: string, address: string) {
    const which = host === address ? address : `${host} is ${address}, which`;
    super(`${which} is no public address; --allow-private-webhooks allows it.`);
  }
}

/**
 * Opens connections, to public addresses alone: what is looked at is the address that is connected to, not what a name said before.
 * A socket is there once its name is known: names whose servers are silent cost none.
 */
export function publicConnector(allowsPrivate: boolean, timeoutMs: number): buildConnector.connector {
  if (allowsPrivate) return buildConnector({ timeout: timeoutMs });
  const names = new HostNames(timeoutMs);
  /** What names of sockets that are being opened lead to, as it was looked at. */
  const seen = new Map<string, readonly LookupAddress[]>();
  const known: LookupFunction = (host, { all }, callback) => {
    const addresses = seen.get(host) ?? [];
    const [first] = addresses;
    if (!first) callback(new ClosedAddress(host, 'nowhere'), '', 0);
    else if (all) (callback as (error: null, addresses: readonly LookupAddress[]) => void)(null, addresses);
    else callback(null, first.address, first.family);
  };
  const connect = buildConnector({ timeout: timeoutMs, lookup: known });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0) {
      if (isPublicAddress(host)) connect(options, callback);
      else setImmediate(callback, new ClosedAddress(host, host), null);
      return;
    }
    // RFC 6761 section 6.3: nobody is asked for these.
    if (/(?:^|\.)localhost\.?$/i.test(host)) {
      setImmediate(callback, new ClosedAddress(host, '127.0.0.1'), null);
      return;
    }
    names.find(host, (error, addresses) => {
      const closed = addresses.find(({ address }) => !isPublicAddress(address));
      if (error || closed || addresses.length === 0) {
        callback(error ?? new ClosedAddress(host, closed?.address ?? 'nowhere'), null);
        return;
      }
      seen.set(host, addresses);
      connect(options, (...opened) => {
        if (seen.get(host) === addresses) seen.delete(host);
        callback(...opened);
      });
    });
  };
}

type Found = (error: Error | undefined, addresses: readonly LookupAddress[]) => void;

/**
 * Looks names up in the domain name system, without the few threads of the process that hash passwords: a name whose server is
 * silent would hold one of them for half a minute. Who asks for a name that is being looked up waits for that.
 */
export class HostNames {
  readonly #timeoutMs: number;
  readonly #servers: readonly string[] | undefined;
  readonly #waiting = new Map<string, Found[]>();
  #resolver: Resolver | undefined;

  /** `servers` are asked in place of those of the machine. */
  constructor(timeoutMs: number, servers?: readonly string[]) {
    this.#timeoutMs = timeoutMs;
    this.#servers = servers;
  }

  find(host: string, found: Found): void {
    const waiting = this.#waiting.get(host);
    if (waiting) waiting.push(found);
    else {
      this.#waiting.set(host, [found]);
      this.#ask(host);
    }
  }

  #ask(host: string): void {
    this.#resolver ??= this.#newResolver();
    const addresses: LookupAddress[] = [];
    let failed: Error | undefined;
    let left = 2;
    const came = (family: 4 | 6) => (error: Error | null, found: readonly string[] | undefined) => {
      for (const address of found ?? []) addresses.push({ address, family });
      failed ??= error ?? undefined;
      left -= 1;
      if (left === 0) this.#tell(host, addresses.length === 0 ? failed : undefined, addresses);
    };
    this.#resolver.resolve4(host, came(4));
    this.#resolver.resolve6(host, came(6));
  }

  #tell(host: string, error: Error | undefined, addresses: readonly LookupAddress[]): void {
    // Whom to ask is read anew after a failure: it may have changed.
    if (error) this.#resolver = undefined;
    const waiting = this.#waiting.get(host) ?? [];
    this.#waiting.delete(host);
    for (const found of waiting) found(error, addresses);
  }

  #newResolver(): Resolver {
    // Two tries, the second of which may take twice as long.
    const resolver = new Resolver({ timeout: Math.max(1, Math.min(2000, Math.floor(this.#timeoutMs / 3))), tries: 2 });
    if (this.#servers) resolver.setServers(this.#servers);
    return resolver;
  }
}

/** Where webhooks may go that rows ask for. Whoever starts the service chooses its own addresses besides. */
export interface WebhookTargets {
  /** Whether to this machine and its network too. */
  readonly allowsPrivate: boolean;
  /** The hosts, `*.example.com` for all below one; nothing = all. */
  readonly hosts: readonly string[] | undefined;
  readonly isHttpsOnly: boolean;
  /** Whether who subscribes with an address of this machine or its network is refused; else it finds out that nothing comes. */
  readonly refusesPrivate: boolean;
}

const urlLengthMost = 2048;

/** What an address has to be that it is not; nothing where something can be sent to it. What its name leads to is found out when connecting. */
export function targetFlaw(text: string, { hosts, isHttpsOnly, refusesPrivate }: WebhookTargets): string | undefined {
  const url = text.length <= urlLengthMost ? URL.parse(text) : null;
  if (!url || (url.protocol !== 'https:' && (isHttpsOnly || url.protocol !== 'http:')))
    return `an address of ${isHttpsOnly ? 'https' : 'http or https'}`;
  if (url.username !== '' || url.password !== '') return 'an address without a name and password';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (refusesPrivate && (host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host))))
    return 'an address that is public';
  if (hosts && !hosts.some((pattern) => isOf(host, pattern.toLowerCase()))) return `an address at ${hosts.join(', ')}`;
  return undefined;
}

function isOf(host: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
