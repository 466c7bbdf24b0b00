import { hash } from 'node:crypto';
import type { Reader, Store, StoredCredential } from '../../store/store.ts';
import { after, type PromiseOrValue } from '../after.ts';
import type { Chance } from '../clock.ts';
import type { Caller } from '../exchange.ts';
import { isPassword, nobodysPassword } from './passwords.ts';
import { Remembered } from './remembered.ts';

/** What is kept of a credential besides what it is found by. */
export interface KeptSecret {
  readonly scopes: readonly string[];
  readonly createdMs: number;
  readonly expiresMs?: number;
  /** What is shown of a key to those who know it: its fixed beginning and its last four characters. */
  readonly hint?: string;
  /** The hash of a password. */
  readonly password?: string;
}

/** A credential that is good, and until when. */
export interface Good {
  readonly caller: Caller;
  readonly untilMs: number;
}

/** How many passwords are hashed at a time; who comes then has to come again. */
const hashingMost = 32;

/**
 * The keys and passwords that were given out. A key costs one hash and one look-up; the store is asked once for each, and
 * whatever an administrator changes holds from the next request on.
 */
export class Credentials {
  readonly #store: Store;
  readonly #salt: string;
  readonly #good = new Remembered<Good>(32_768);
  readonly #bad = new Remembered<true>(4_096);
  readonly #temporary = new Map<string, Good>();
  readonly #hashing = new Map<string, Promise<Good | undefined>>();
  #changes = 0;

  constructor(store: Store, chance: Chance) {
    this.#store = store;
    this.#salt = Buffer.from(chance.bytes(32)).toString('base64url');
  }

  /** Who shows this key. */
  ofKey(scheme: string, secret: string, nowMs: number): PromiseOrValue<Good | undefined> {
    const lookup = hashOfKey(secret);
    const mark = `${scheme}\n${lookup}`;
    const known = this.#good.get(mark);
    if (known) return valid(known, nowMs);
    if (this.#bad.get(mark)) return undefined;
    const temporary = this.#temporary.get(mark);
    if (temporary) return temporary;
    const changes = this.#changes;
    return after(
      this.#store.read((rows) => rows.credentials({ scheme, lookup })),
      ([credential]) => {
        // It may have been revoked while it was read.
        if (changes !== this.#changes) return this.ofKey(scheme, secret, nowMs);
        return valid(this.#remember(mark, credential), nowMs);
      },
    );
  }

  /** Who shows this name and password; `busy` where too many passwords are being looked at already. */
  ofPassword(
    scheme: string,
    name: string,
    password: string,
    nowMs: number,
  ): Good | undefined | 'busy' | Promise<Good | undefined> {
    const mark = this.#markOfPassword(scheme, name, password);
    const known = this.#good.get(mark);
    if (known) return valid(known, nowMs);
    if (this.#bad.get(mark)) return undefined;
    const temporary = this.#temporary.get(mark);
    if (temporary) return temporary;
    const underWay = this.#hashing.get(mark);
    if (underWay) return underWay.then((good) => valid(good, nowMs));
    if (this.#hashing.size >= hashingMost) return 'busy';
    const looking = this.#comparePassword(scheme, name, password, nowMs, mark).finally(() => this.#hashing.delete(mark));
    this.#hashing.set(mark, looking);
    return looking.then((good) => valid(good, nowMs));
  }

  /** Whether a caller still has a key or password of its own. */
  isHeld(rows: Reader, user: string, id: string, nowMs: number): boolean {
    for (const { caller } of this.#temporary.values()) if (caller.user === user && caller.id === id) return true;
    return rows.credentials({ user, caller: id }).some((credential) => !hasExpired(keptOf(credential), nowMs));
  }

  /** A key or password for as long as this process runs; it is never stored. */
  lendKey(scheme: string, secret: string, caller: Caller): void {
    this.#temporary.set(`${scheme}\n${hashOfKey(secret)}`, { caller, untilMs: Number.POSITIVE_INFINITY });
  }

  lendPassword(scheme: string, name: string, password: string, caller: Caller): void {
    this.#temporary.set(this.#markOfPassword(scheme, name, password), { caller, untilMs: Number.POSITIVE_INFINITY });
  }

  /** What is stored has changed: nothing that was found out before holds any more. */
  changed(): void {
    this.#changes += 1;
    this.#good.clear();
    this.#bad.clear();
  }

  #remember(mark: string, credential: StoredCredential | undefined): Good | undefined {
    const good = credential && goodOf(credential);
    if (good) this.#good.set(mark, good);
    else this.#bad.set(mark, true);
    return good;
  }

  async #comparePassword(scheme: string, name: string, password: string, nowMs: number, mark: string): Promise<Good | undefined> {
    const changes = this.#changes;
    const found = await this.#store.read((rows) => rows.credentials({ scheme, lookup: name }));
    const current = found.filter((credential) => !hasExpired(keptOf(credential), nowMs));
    if (current.length === 0) await isPassword(password, nobodysPassword);
    let match: StoredCredential | undefined;
    for (const credential of current) {
      if (!match && (await isPassword(password, keptOf(credential).password ?? ''))) match = credential;
    }
    // It may have been revoked while it was compared.
    if (changes !== this.#changes) return this.#comparePassword(scheme, name, password, nowMs, mark);
    return this.#remember(mark, match);
  }

  #markOfPassword(scheme: string, name: string, password: string): string {
    return `${scheme}\n${hash('sha256', `${this.#salt}${name}\0${password}`, 'base64url')}`;
  }
}

/** What a key is stored as: it is random, so that a plain hash cannot be turned round. */
export function hashOfKey(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** What is kept of a credential besides what it is found by. */
export function keptOf(credential: StoredCredential): KeptSecret {
  // It was written by `keys add` or `keys rotate`.
  return JSON.parse(credential.doc) as KeptSecret;
}

/** Whether its time is over. */
export function hasExpired({ expiresMs }: KeptSecret, nowMs: number): boolean {
  return expiresMs !== undefined && expiresMs <= nowMs;
}

function goodOf(credential: StoredCredential): Good {
  const { scopes, expiresMs } = keptOf(credential);
  const caller = { id: credential.caller, user: credential.user, scopes: Object.freeze([...scopes]), key: credential.name };
  return { caller: Object.freeze(caller), untilMs: expiresMs ?? Number.POSITIVE_INFINITY };
}

function valid(good: Good | undefined, nowMs: number): Good | undefined {
  return good && nowMs < good.untilMs ? good : undefined;
}
