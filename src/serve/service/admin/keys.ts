import type { Json, JsonMap } from '../../../document/document.ts';
import { nearest } from '../../../document/nearest.ts';
import { sortableTemplate } from '../../../kinds/generators/template.ts';
import type { KeyProof, Proof } from '../../../kinds/schemes/kind.ts';
import { broughtKey, isShared } from '../../../kinds/schemes/request-keys.ts';
import type { RequestSigning } from '../../../kinds/schemes/signing.ts';
import { placed } from '../../../parts/authentication.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Reader, StoredCredential } from '../../../store/store.ts';
import { type Accepted, acceptedSchemes } from '../../callers/accepted-schemes.ts';
import { usersOf } from '../../callers/callers.ts';
import { hashOfKey, hashPassword, newKey, newRequestKey } from '../../callers/credentials.ts';
import { hasExpired, type KeptSecret, keptOf } from '../../callers/kept-credentials.ts';
import { type AdminCommand, type Administered, Unfit } from './command.ts';

/**
 * Keys and passwords. A secret is in the answer that makes it and nowhere else: what is kept is its hash, but of a secret for HMACs.
 * `add { user, id, scopes?, scheme?, expiresMs?, secret? }`, `list { user?, id? }`, `revoke { key } | { user, id }`,
 * `rotate { key, keepMs?, secret? }`. `expiresMs` and `keepMs` are counted from now.
 */
export const keyCommands: readonly AdminCommand[] = [
  { name: 'keys add', run: add },
  { name: 'keys list', isReading: true, run: list },
  { name: 'keys revoke', run: revoke },
  { name: 'keys rotate', run: rotate },
];

/** How long the old secret of a rotation still holds, where nobody says. */
const keptMsUsually = 86_400_000;

async function add(input: JsonMap, over: Administered): Promise<Json> {
  const spec = over.spec();
  const scheme = schemeFor(text(input, 'scheme'), spec);
  const user = userIn(input, spec);
  const caller = text(input, 'id');
  if (caller === undefined || caller === '') throw new Unfit('A key needs the identifier of its caller: id.');
  const nowMs = over.clock.now();
  const lastsMs = number(input, 'expiresMs');
  const name = newKey({ generate: `key_${sortableTemplate}` }, over.chance, nowMs);
  const made = await makeSecret(scheme, { name, caller }, text(input, 'secret'), over);
  const attributes = attributesIn(input, spec);
  const kept = {
    scopes: scopesIn(input),
    ...(attributes && { attributes }),
    createdMs: nowMs,
    ...(lastsMs !== undefined && { expiresMs: nowMs + lastsMs }),
  };
  const credential: StoredCredential = {
    name,
    serial: 1,
    scheme: scheme.scheme.name,
    lookup: made.lookup,
    user,
    caller,
    doc: JSON.stringify({ ...kept, ...made.kept }),
  };
  await over.store.change((rows) => {
    refuseTaken(rows, credential, nowMs);
    rows.putCredential(credential);
  });
  over.credentials.changed();
  return { ...told(credential, nowMs), ...signsWith(made), secret: made.secret };
}

async function list(input: JsonMap, { store, clock }: Administered): Promise<Json> {
  const [user, id] = [text(input, 'user'), text(input, 'id')];
  const all: Json[] = [];
  for (let after = ''; ; ) {
    const page = await store.read((rows) => rows.credentials({ after, most: 500 }));
    const last = page.at(-1);
    if (!last) return all;
    const meant = page.filter((one) => (user === undefined || one.user === user) && (id === undefined || one.caller === id));
    all.push(...meant.map((one) => told(one, clock.now())));
    after = last.name;
  }
}

async function revoke(input: JsonMap, over: Administered): Promise<Json> {
  const [key, user, id] = [text(input, 'key'), text(input, 'user'), text(input, 'id')];
  if (key === undefined && (user === undefined || id === undefined))
    throw new Unfit('Say which key: by its name, or by the user and the identifier of its caller.');
  const revoked = await over.store.change((rows) => {
    const found = rows.credentials(key !== undefined ? { name: key } : { user: user ?? '', caller: id ?? '' });
    for (const { name, serial } of found) rows.removeCredential(name, serial);
    return found;
  });
  over.credentials.changed();
  if (revoked.length === 0) throw new Unfit(key === undefined ? `${user} ${id} has no key.` : `There is no key ${key}.`);
  return { revoked: [...new Set(revoked.map(({ name }) => name))] };
}

/** A new secret under the same name; the old one holds for a while yet. */
async function rotate(input: JsonMap, over: Administered): Promise<Json> {
  const name = text(input, 'key');
  if (name === undefined) throw new Unfit('Say which key, by its name.');
  const before = await over.store.read((rows) => rows.credentials({ name }));
  const newest = before.at(-1);
  if (!newest) throw new Unfit(`There is no key ${name}.`);
  const nowMs = over.clock.now();
  const old = keptOf(newest);
  if (hasExpired(old, nowMs)) throw new Unfit(`The key ${name} has expired; add another.`);
  const made = await makeSecret(schemeFor(newest.scheme, over.spec()), newest, text(input, 'secret'), over);
  const lastsMs = old.expiresMs === undefined ? undefined : old.expiresMs - old.createdMs;
  const kept: KeptSecret = {
    scopes: old.scopes,
    ...(old.attributes && { attributes: old.attributes }),
    createdMs: nowMs,
    ...made.kept,
    ...(lastsMs !== undefined && { expiresMs: nowMs + lastsMs }),
  };
  const credential = { ...newest, serial: newest.serial + 1, lookup: made.lookup, doc: JSON.stringify(kept) };
  const untilMs = nowMs + (number(input, 'keepMs') ?? keptMsUsually);
  await over.store.change((rows) => {
    const current = rows.credentials({ name });
    if (current.at(-1)?.serial !== newest.serial) throw new Unfit(`The key ${name} was changed meanwhile; look again.`);
    refuseTaken(rows, credential, nowMs);
    for (const one of current) {
      const own = keptOf(one);
      const expiresMs = Math.min(untilMs, own.expiresMs ?? untilMs);
      if (expiresMs <= nowMs) rows.removeCredential(one.name, one.serial);
      else rows.putCredential({ ...one, doc: JSON.stringify({ ...own, expiresMs }) });
    }
    rows.putCredential(credential);
  });
  over.credentials.changed();
  return { ...told(credential, nowMs), ...signsWith(made), secret: made.secret, oldUntil: new Date(untilMs).toISOString() };
}

/** What may be shown of a key at any time. */
function told(credential: StoredCredential, nowMs: number): JsonMap {
  const kept = keptOf(credential);
  return {
    key: credential.name,
    serial: credential.serial,
    scheme: credential.scheme,
    user: credential.user,
    id: credential.caller,
    scopes: kept.scopes,
    ...(kept.attributes && { attributes: kept.attributes }),
    hint: kept.hint ?? '',
    created: new Date(kept.createdMs).toISOString(),
    ...(kept.expiresMs !== undefined && { expires: new Date(kept.expiresMs).toISOString(), expired: hasExpired(kept, nowMs) }),
  };
}

interface MadeSecret {
  readonly secret: string;
  readonly lookup: string;
  readonly kept: Pick<KeptSecret, 'hint' | 'password' | 'signing'>;
}

/** What requests are signed by with a new key, where they are. */
function signsWith({ kept: { signing } }: MadeSecret): { readonly signs?: string } {
  return signing ? { signs: signing.algorithm } : {};
}

async function makeSecret(
  { scheme, kind }: Accepted,
  { name, caller }: Pick<StoredCredential, 'name' | 'caller'>,
  given: string | undefined,
  { chance, clock }: Administered,
): Promise<MadeSecret> {
  if (kind.proof?.by === 'signing') return signingSecret(kind.proof.compile(placed(scheme)), name, given, { chance, clock });
  if (kind.proof?.by === 'password') {
    const secret = given ?? newKey({}, chance, clock.now());
    const flaw = kind.proof.flaw(caller, secret) ?? (secret.length < 8 ? 'a password has at least 8 characters' : undefined);
    if (flaw !== undefined) throw new Unfit(`This cannot be sent as a name and a password: ${flaw}.`);
    return { secret, lookup: caller, kept: { password: await hashPassword(secret, chance) } };
  }
  if (kind.proof?.by === 'key' && kind.proof.isToldByProxy) return broughtAlong(kind.proof, given);
  const secret = given ?? newKey(scheme, chance, clock.now());
  if (!/^[!#-+\--:<-[\]-~]{16,512}$/.test(secret))
    throw new Unfit(
      'A key that is brought along has 16 to 512 visible characters, without quotes, commas, semicolons and backslashes.',
    );
  const fixed = /^[^{]*/.exec(scheme.generate ?? '')?.[0] ?? '';
  return { secret, lookup: hashOfKey(secret), kept: { hint: `${given === undefined ? fixed : ''}…${secret.slice(-4)}` } };
}

/**
 * A key that requests are signed with is found by its name. Of a pair the public half is kept, whoever made it; of an HMAC the secret
 * itself, for nothing else shows that a request was signed with it.
 */
async function signingSecret(
  { algorithms }: RequestSigning,
  name: string,
  given: string | undefined,
  { chance, clock }: Pick<Administered, 'chance' | 'clock'>,
): Promise<MadeSecret> {
  const { kept, secret } =
    given === undefined
      ? await newRequestKey(algorithms, chance, clock.now())
      : { kept: broughtKey(algorithms, given), secret: given };
  if ('wrong' in kept) throw new Unfit(kept.wrong);
  const hint = isShared(kept.algorithm) ? `…${kept.text.slice(-4)}` : kept.algorithm;
  return { secret, lookup: name, kept: { hint, signing: kept } };
}

/** What a proxy tells of a caller is known beforehand, and kept as it is read. */
function broughtAlong({ read }: KeyProof, given: string | undefined): MadeSecret {
  const secret = given === undefined ? undefined : read?.(given);
  if (secret === undefined)
    throw new Unfit('A certificate is brought along: give it as the secret, as its header says it, or its SHA-256 fingerprint.');
  return { secret, lookup: hashOfKey(secret), kept: { hint: `…${secret.slice(-4)}` } };
}

/** One key is one caller's, and one name before a password too. */
function refuseTaken(rows: Reader, credential: StoredCredential, nowMs: number): void {
  const { scheme, lookup, name } = credential;
  const others = rows.credentials({ scheme, lookup }).filter((other) => other.name !== name && !hasExpired(keptOf(other), nowMs));
  const [other] = others;
  if (!other) return;
  if (keptOf(other).password === undefined) throw new Unfit('This key is there already.');
  throw new Unfit(`${lookup} has a password already: rotate ${other.name}, or revoke it first.`);
}

const givenOut: ReadonlySet<Proof['by'] | undefined> = new Set(['key', 'password', 'signing'] as const);

/** The scheme that a key is given out for: the one that is named, else the first that there can be keys for. */
function schemeFor(name: string | undefined, spec: Spec): Accepted {
  const kept = acceptedSchemes(spec).filter(({ kind: { proof } }) => givenOut.has(proof?.by));
  const names = kept.map(({ scheme }) => scheme.name);
  const found = name === undefined ? kept[0] : kept.find(({ scheme }) => scheme.name === name);
  if (found) return found;
  if (kept.length === 0) throw new Unfit('The document accepts no scheme that keys or passwords are given out for.');
  const meant = nearest(name ?? '', names);
  throw new Unfit(
    `"${name}" is no scheme that keys are given out for${meant === undefined ? `; there are ${names.join(', ')}.` : `. Did you mean ${meant}?`}`,
  );
}

/** The caller's user, one that the document states. */
function userIn(input: JsonMap, spec: Spec): string {
  const [user, users] = [text(input, 'user'), usersOf({ spec })];
  if (users === undefined || users.length === 0) return user ?? '';
  if (user !== undefined && users.includes(user)) return user;
  if (user === undefined) throw new Unfit(`A key needs the user of its caller: ${users.join(', ')}.`);
  const meant = nearest(user, users);
  throw new Unfit(
    `"${user}" is no user of the document${meant === undefined ? `; there are ${users.join(', ')}.` : `. Did you mean ${meant}?`}`,
  );
}

/** The scopes that a key is made with. */
/** Every attribute that the document states, and no other; nothing where it states none. */
function attributesIn({ attributes = {} }: JsonMap, { authentication }: Spec): Readonly<Record<string, string>> | undefined {
  const names = Object.keys(authentication.attributes);
  const given =
    typeof attributes === 'object' && attributes !== null && !Array.isArray(attributes) ? (attributes as JsonMap) : {};
  const foreign = Object.keys(given).find((name) => !names.includes(name));
  if (foreign !== undefined)
    throw new Unfit(`${foreign} is no attribute of a caller${names.length === 0 ? '' : `: there is ${names.join(', ')}`}.`);
  const missing = names.find((name) => typeof given[name] !== 'string' || given[name] === '');
  if (missing !== undefined)
    throw new Unfit(`A caller has the attribute ${missing}, a text: say which, attributes: { ${missing}: … }.`);
  // Each of them was found to be a text.
  return names.length === 0 ? undefined : (given as Readonly<Record<string, string>>);
}

function scopesIn({ scopes = [] }: JsonMap): string[] {
  const list = Array.isArray(scopes) ? scopes : [scopes];
  // RFC 6749 section 3.3.
  const bad = list.find((scope: Json) => typeof scope !== 'string' || !/^[!#-[\]-~]+$/.test(scope));
  if (bad !== undefined) throw new Unfit(`${JSON.stringify(bad)} is no scope: scopes are words.`);
  return [...new Set(list as string[])];
}

/** A text, where there is one. */
function text(input: JsonMap, name: string): string | undefined {
  const value = input[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new Unfit(`${name} is a text.`);
}

/** A number of milliseconds, where there is one. */
function number(input: JsonMap, name: string): number | undefined {
  const value = input[name];
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0)) return value;
  throw new Unfit(`${name} is a number of milliseconds.`);
}
