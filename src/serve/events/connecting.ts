import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isPublicAddress } from './addresses.ts';

/** An address that nothing is sent to. */
export class ClosedAddress extends Error {
  constructor(host: string, address: string) {
    const which = host === address ? address : `${host} is ${address}, which`;
    super(`${which} is no public address; --allow-private-webhooks allows it.`);
  }
}

/** Opens connections, to public addresses alone: what is looked at is the address that is connected to, not what a name said before. */
export function publicConnector(allowsPrivate: boolean, timeoutMs: number): buildConnector.connector {
  if (allowsPrivate) return buildConnector({ timeout: timeoutMs });
  const connect = buildConnector({ timeout: timeoutMs, lookup: publicLookup });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) === 0 || isPublicAddress(host)) connect(options, callback);
    else setImmediate(callback, new ClosedAddress(host, host), null);
  };
}

/** Looks a name up; one that leads to any address that is not public leads nowhere. */
const publicLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) {
      callback(error, '', 0);
      return;
    }
    const closed = addresses.find(({ address }) => !isPublicAddress(address));
    const [first] = addresses;
    if (closed || !first) callback(new ClosedAddress(host, closed?.address ?? 'nowhere'), '', 0);
    else if (options.all) (callback as (error: null, addresses: LookupAddress[]) => void)(null, addresses);
    else callback(null, first.address, first.family);
  });
};
