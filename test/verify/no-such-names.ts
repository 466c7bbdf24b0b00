import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const { lookup } = dns;

/**
 * Names that are nobody's (RFC 2606) are known at once not to be there: web hooks are sent to many of them, and asking a name server
 * for each is what would take the time.
 */
export function knowReservedNames(): void {
  const known = (name: string, ...rest: unknown[]): void => {
    if (!/(^|\.)example(\.com|\.org|\.net)?$/.test(name)) {
      Reflect.apply(lookup, dns, [name, ...rest]);
      return;
    }
    const told = rest.at(-1);
    const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND', hostname: name });
    if (typeof told === 'function') setImmediate(() => told(error));
  };
  // The cast holds: it takes what `lookup` takes, and calls back as `lookup` does.
  dns.lookup = known as typeof lookup;
  syncBuiltinESMExports();
}
