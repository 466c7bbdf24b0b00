import { hash, KeyObject, scrypt, timingSafeEqual } from 'node:crypto';
import { readTemplate, secretTemplate } from '../../kinds/generators/template.ts';
import {
  isShared,
  type KeptRequestKey,
  pairOfKeys,
  type RequestAlgorithm,
  webAlgorithm,
} from '../../kinds/schemes/request-keys.ts';
import type { Scheme } from '../../parts/authentication.ts';
import type { Reader, Store, StoredCredential } from '../../store/store.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Caller } from '../exchange/exchange.ts';
import { type Entropy, makeKeyPair } from '../http/clock.ts';
import { type Good, goodOf, hasExpired, keptOf } from './kept-credentials.ts';
import { Remembered } from './remembered.ts';
import { Signers } from './request-signatures.ts';

/** How many passwords are hashed at a time, and for one address; who comes then has to come again. */
const hashingMost = 32;
const hashingMostOfOne = 8;

/**
 * The keys and passwords that were given out. A key costs one hash and one look-up; the store is asked once for each, and
 * whatever an administrator changes holds from the next request on.
 */
export class Credentials {
  /** The keys that requests are signed with. */
  readonly signers: Signers;
  readonly #store: Store;
  readonly #salt: string;
  readonly #good = new Remembered<Good>(32_768);
  readonly #bad = new Remembered<true>(4_096);
  readonly #temporary = new Map<string, Good>();
  readonly #hashing = new Map<string, Promise<Good | undefined>>();
  /** How many of them are of each address. */
  readonly #hashingFor = new Map<string, number>();
  #changes = 0;

  constructor(store: Store, chance: Entropy) {
    this.signers = new Signers(store);
    this.#store = store;
    this.#salt = Buffer.from(chance.bytes(32)).toString('base64url');
  }

  /** Who shows this key; `expired` where its time is over. */
  ofKey(scheme: string, secret: string, nowMs: number): PromiseOrValue<Good | undefined | 'expired'> {
    const lookup = hashOfKey(secret);
    const mark = `${scheme}\n${lookup}`;
    const known = this.#good.get(mark);
    if (known) return valid(known, nowMs) ?? 'expired';
    if (this.#bad.get(mark)) return undefined;
    const temporary = this.#temporary.get(mark);
    if (temporary) return temporary;
    const changes = this.#changes;
    return after(
      this.#store.read((rows) => rows.credentials({ scheme, lookup })),
      ([credential]) => {
        // It may have been revoked while it was read.
        if (changes !== this.#changes) return this.ofKey(scheme, secret, nowMs);
        const good = this.#remember(mark, credential);
        return good && (valid(good, nowMs) ?? 'expired');
      },
    );
  }

  /** Who shows this name and password; `busy` where too many passwords are being looked at already. */
  ofPassword(
    scheme: string,
    { name, password }: { readonly name: string; readonly password: string },
    nowMs: number,
    from: string,
  ): Good | undefined | 'busy' | Promise<Good | undefined> {
    const mark = this.#markOfPassword(scheme, name, password);
    const known = this.#good.get(mark);
    if (known) return valid(known, nowMs);
    if (this.#bad.get(mark)) return undefined;
    const temporary = this.#temporary.get(mark);
    if (temporary) return temporary;
    const underWay = this.#hashing.get(mark);
    if (underWay) return underWay.then((good) => valid(good, nowMs));
    const own = this.#hashingFor.get(from) ?? 0;
    if (this.#hashing.size >= hashingMost || own >= hashingMostOfOne) return 'busy';
    this.#hashingFor.set(from, own + 1);
    const looking = this.#comparePassword(scheme, name, password, nowMs, mark).finally(() => {
      this.#hashing.delete(mark);
      const left = (this.#hashingFor.get(from) ?? 1) - 1;
      if (left > 0) this.#hashingFor.set(from, left);
      else this.#hashingFor.delete(from);
    });
    this.#hashing.set(mark, looking);
    return looking.then((good) => valid(good, nowMs));
  }

  /** Whether a caller still has a key or password of its own. */
  isHeld(rows: Reader, user: string, id: string, nowMs: number): boolean {
    const lent = [...this.#temporary.values(), ...this.signers.lent];
    for (const { caller } of lent) if (caller.user === user && caller.id === id) return true;
    return rows.credentials({ user, caller: id }).some((credential) => !hasExpired(keptOf(credential), nowMs));
  }

  /** Who shows a key that this process has lent. */
  ofLent(scheme: string, secret: string): Good | undefined {
    return this.#temporary.get(`${scheme}\n${hashOfKey(secret)}`);
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
    this.signers.changed();
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

function valid(good: Good | undefined, nowMs: number): Good | undefined {
  return good && nowMs < good.untilMs ? good : undefined;
}

/** Work and memory of one hash: 32 MiB, three times over. What is stored says its own, so that these can rise. */
const [log2N, r, p] = [15, 8, 3];
const bytes = 32;

/** A password as it is stored (RFC 7914): `scrypt$15$8$3$salt$hash`. */
export async function hashPassword(password: string, chance: Entropy): Promise<string> {
  const salt = Buffer.from(chance.bytes(16));
  const hash = await derive(password, salt, log2N, r, p);
  return ['scrypt', log2N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Whether a password is the stored one. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [kind, logN, blocks, lanes, salt = '', hash = ''] = stored.split('$');
  if (kind !== 'scrypt') return false;
  const derived = await derive(password, Buffer.from(salt, 'base64url'), Number(logN), Number(blocks), Number(lanes));
  const kept = Buffer.from(hash, 'base64url');
  return kept.length === derived.length && timingSafeEqual(kept, derived);
}

/** What is compared with where nobody has the name, so that an unknown name takes as long as a wrong password. It fits nothing. */
export const nobodysPassword = `scrypt$${log2N}$${r}$${p}$AAAAAAAAAAAAAAAAAAAAAA$`;

function derive(password: string, salt: Buffer, logN: number, blocks: number, lanes: number): Promise<Buffer> {
  const N = 2 ** logN;
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, bytes, { N, r: blocks, p: lanes, maxmem: 256 * N * blocks }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

/** A key as its scheme says that it looks; 32 random characters where it does not. */
export function newKey(scheme: Pick<Scheme, 'generate'>, chance: Entropy, nowMs: number): string {
  const read = readTemplate(scheme.generate ?? secretTemplate);
  if ('wrong' in read) throw new Error(read.wrong);
  return read.template.make({ nowMs, bytes: (length) => chance.bytes(length), uuid: () => chance.uuid() });
}

/** A new key that requests are signed with, of the first of these algorithms that both sides share a secret of, else of a pair: what is kept, and what its owner is told. */
export async function newRequestKey(
  algorithms: readonly [RequestAlgorithm, ...RequestAlgorithm[]],
  chance: Entropy,
  nowMs: number,
): Promise<{ readonly kept: KeptRequestKey; readonly secret: string }> {
  const shared = algorithms.find(isShared);
  if (shared !== undefined) {
    const secret = newKey({}, chance, nowMs);
    return { kept: { algorithm: shared, text: secret }, secret };
  }
  const [algorithm] = algorithms;
  const { privateKey } = await makeKeyPair(webAlgorithm(algorithm));
  return pairOfKeys(algorithm, KeyObject.from(privateKey));
}
