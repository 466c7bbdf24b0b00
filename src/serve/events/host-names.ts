import { type LookupAddress, Resolver } from 'node:dns';

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
