import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { NearMiss } from '../../../kinds/schemes/kind.ts';
import { acceptedSets, kindOfScheme, type Scheme } from '../../../parts/authentication.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { type Credential, credentialParts, isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Flaw, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { acceptable, type Door, guardedDoors, inventedFor, knockableSchemes } from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, mayBeRefusedBefore, type RefusalForm, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

/** The reason of a claim that a bad credential is refused where none is needed. */
export const badWhereAnyone = 'a bad one where anyone may';

/** The same credential where none is looked for. */
export async function elsewhere(
  session: Session,
  { operation }: Door,
  request: RequestPlan,
  credential: Credential,
): Promise<void> {
  const { model } = session;
  // What signs is never sent; the header of a signature is looked at with the signatures.
  if (credential.signs) return;
  const fact = { kind: 'header names', subject: credential.scheme.name };
  const { text } = credentialParts(credential);
  const taken = new Set(knockableSchemes(model).map((scheme) => `${scheme.in} ${statedValue(scheme.carrier)?.toLowerCase()}`));
  const places: readonly Place[] = [
    ['header', 'X-Ninefold-Verify', credential.value],
    ['header', 'Authorization', `Bearer ${text}`],
    ['header', 'X-API-Key', text],
    ['query', 'access_token', text],
    ['query', 'api_key', text],
  ];
  const others = places.filter(([place, carrier]) => !taken.has(`${place} ${carrier.toLowerCase()}`));
  for (const [place, carrier, value] of [...others, ...underOtherWords(model, credential)]) {
    const other: Credential = { ...credential, in: place, carrier, value };
    const done = await session.send({ ...request, caller: { name: 'stranger', user: '', credential: other } });
    const word =
      carrier === credential.carrier ? (value === text ? ' without its word' : ` under the word ${value.split(' ')[0]}`) : '';
    const judge = (seen: TrialExchange): Judgement =>
      place === 'query' && mayBeRefusedBefore(model, 'caller', seen) && !isUnknownCaller(model, operation, seen)
        ? moot('the parameter may have been looked at first')
        : unknownFlaw(model, operation, seen, `with the credential in the ${place} ${carrier}${word}`);
    session.claim({ fact, reason: `in ${carrier}${word}`, of: [done], control: request, judge });
  }
}

/** The reason of a claim that the word before a credential is read in any case of letters. */
export const wordInAnyCase = 'its word in another case';

/** By which rule that is asked for. */
export const wordRule = 'the word before a credential in any case';

/** The same credential behind its word in other letters: HTTP names schemes in any case (RFC 9110 section 11.1). */
export async function inAnotherCase(
  session: Session,
  { operation }: Door,
  request: RequestPlan,
  credential: Credential,
): Promise<void> {
  const { model } = session;
  const { prefix, text } = credentialParts(credential);
  const other = prefix === prefix.toLowerCase() ? prefix.toUpperCase() : prefix.toLowerCase();
  if (!model.isHeld(wordRule) || !hasWord(credential) || other === prefix) return;
  const known = await session.send(request);
  // Whoever is known by it is who it is, and is shown what it may see.
  const own = request.caller ?? { name: 'stranger', user: '' };
  const caller: TrialCaller = { ...own, credential: { ...credential, value: `${other}${text}` } };
  const done = await session.send({ ...request, caller });
  const fact = { kind: 'header names', subject: credential.scheme.name };
  const judge = (before: TrialExchange, seen: TrialExchange): Judgement => {
    if (isUnknownCaller(model, operation, before) || before.status >= 500) return moot('the credential is not good');
    return isUnknownCaller(model, operation, seen)
      ? { promised: `${other.trim()} is ${prefix.trim()} (RFC 9110 section 11.1)`, seen: `it was answered ${seen.status}` }
      : undefined;
  };
  session.claim({ fact, reason: wordInAnyCase, of: [known, done], judge });
}

/** Whether a credential stands in `Authorization` behind a word. */
export function hasWord(credential: Credential): boolean {
  const isAuthorization = credential.in === 'header' && credential.carrier.toLowerCase() === 'authorization';
  return isAuthorization && !credential.signs && /^[A-Za-z]/.test(credentialParts(credential).prefix.trim());
}

type Place = readonly [place: 'header' | 'query', carrier: string, value: string];

/** The credential in its own header behind words that no accepted scheme there has (RFC 9110 section 11.1: whatever their case), and behind none. */
function underOtherWords(model: Model, credential: Credential): Place[] {
  const { prefix, text } = credentialParts(credential);
  if (credential.in !== 'header') return [];
  const usual = knockableSchemes(model).map((scheme) => inventedFor(scheme)?.value.split(' ')[0]?.toLowerCase());
  const isAuthorization = credential.carrier.toLowerCase() === 'authorization';
  const words = (isAuthorization ? ['Bearer', 'Token', 'JWT', 'Key'] : []).filter((word) => !usual.includes(word.toLowerCase()));
  const others = [...words.map((word) => `${word} ${text}`), ...(prefix.trim() === '' ? [] : [text])];
  return others.map((value) => ['header', credential.carrier, value] as const);
}

/** That an answer is the refusal of somebody unknown. */
export function unknownFlaw(model: Model, operation: Operation, seen: TrialExchange, how: string): Flaw | undefined {
  const refusal = refusalFor(model, 'caller.unknown', operation);
  if (isUnknown(model, refusal, seen)) return undefined;
  const wanted = refusal?.status === undefined ? 'refused' : `answered ${refusal.status} (${refusal.code})`;
  return { promised: `${operation.name} ${how} is ${wanted}: the caller is unknown`, seen: `it was answered ${seen.status}` };
}

/** Whether an answer says that it is not known who is calling; where no refusal is stated for that, HTTP's own says it. */
export function isUnknownCaller(model: Model, operation: Operation, seen: TrialExchange): boolean {
  const refusal = refusalFor(model, 'caller.unknown', operation);
  return refusal ? isUnknown(model, refusal, seen) : seen.status === 401;
}

/** Whether an answer is the refusal of somebody unknown; where none is stated, any refusal is. */
export function isUnknown(model: Model, refusal: RefusalForm | undefined, seen: TrialExchange): boolean {
  return refusal ? isRefusal(model, seen, refusal) && isRefused(model, seen) : seen.status >= 400;
}

/** Everything that can be made from outside of a good credential of a scheme; `text` is what stands behind its prefix. */
export function tamperedWith(scheme: Pick<Scheme, 'type' | 'generate'>, text: string): readonly NearMiss[] {
  return kindOfScheme(scheme)?.nearMisses(scheme, text, signedByOthers) ?? [];
}

/** Whether a credential of a scheme may be a JWT. */
export function isTokenScheme(scheme: Pick<Scheme, 'type'>): boolean {
  const by = kindOfScheme(scheme)?.proof?.by;
  return by !== 'key' && by !== 'password' && by !== 'asking' && by !== 'signing';
}

/** The signature of a key that was made for this purpose. */
function signedByOthers(algorithm: string, content: string): string {
  const hash = `sha${/\d{3}$/.exec(algorithm)?.[0] ?? '256'}`;
  if (algorithm.startsWith('HS')) return createHmac(hash, 'ninefold-verify').update(content).digest('base64url');
  const bytes = Buffer.from(content);
  if (algorithm.startsWith('ES')) {
    const namedCurve = algorithm === 'ES384' ? 'P-384' : algorithm === 'ES512' ? 'P-521' : 'P-256';
    const { privateKey } = generateKeyPairSync('ec', { namedCurve });
    return sign(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  }
  if (algorithm.startsWith('Ed')) return sign(undefined, bytes, generateKeyPairSync('ed25519').privateKey).toString('base64url');
  return sign(hash, bytes, generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey).toString('base64url');
}

const fact: FactName = { kind: 'schemes', subject: 'service' };

/** The reasons of such claims. */
export const badBeside = 'a bad credential beside a good one';
const otherBeside = 'credentials of two callers';

/** Several credentials on one request are all good and name one caller, or its caller is unknown. */
export const besideOthers: Trial = {
  name: 'authentication/beside',
  part: 'authentication',
  about: 'A request with two credentials is refused where one of them is not good, or is of somebody else.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const pair of pairsOf(model)) yield caseOf(model, pair);
  },
};

/** Two callers who show who they are by different headers, and what the first may ask for. */
interface CredentialPair {
  readonly door: Door;
  readonly first: TrialCaller & { readonly credential: Credential };
  readonly second: TrialCaller & { readonly credential: Credential };
}

/** One pair for each two schemes, each way round; none where only both together will do. */
export function pairsOf(model: Model): CredentialPair[] {
  const accepted = new Set(acceptedSets(model.spec.authentication).flat());
  const given = model.callers.filter(
    (one): one is CredentialPair['first'] => one.credential?.in === 'header' && accepted.has(one.credential.scheme.name),
  );
  const doors = guardedDoors(model).filter(({ endpoint }) => endpoint.method === 'GET' && endpoint.accept === undefined);
  const seen = new Set<string>();
  return given.flatMap((first) =>
    given.flatMap((second): CredentialPair[] => {
      const [one, other] = [first, second].map(({ credential }) => credential);
      const isApart = one && other && one.carrier.toLowerCase() !== other.carrier.toLowerCase();
      const key = `${one?.scheme.name} ${other?.scheme.name}`;
      if (!isApart || isSamePerson(first, second) || seen.has(key)) return [];
      const door = doors.find(({ operation }) => model.access.allows(operation, first) === 'yes');
      if (!door) return [];
      seen.add(key);
      return [{ door, first, second }];
    }),
  );
}

function caseOf(model: Model, { door, first, second }: CredentialPair): Case {
  const { operation } = door;
  return {
    name: `${door.endpoint.key} by ${first.credential.scheme.name}, with ${second.credential.scheme.name} beside`,
    facts: [fact],
    async run(session: Session) {
      const plan = await acceptable(session, door, first);
      session.need(plan !== undefined, `${first.name} may not ask for it`);
      const good = await session.send(plan);
      session.need(isDone(good.value), `it was answered ${good.value.status}`);
      const { carrier, scheme, value } = second.credential;
      const invented = inventedFor(scheme);
      const shown = [...(invented ? [[badBeside, invented.value] as const] : []), [otherBeside, value] as const];
      for (const [reason, other] of shown) {
        const done = await session.send({ ...plan, headers: { ...plan.headers, [carrier]: other } });
        session.claim({
          fact,
          reason,
          of: [good, done],
          control: plan,
          judge: (one: TrialExchange, seen: TrialExchange): Judgement => {
            if (!isDone(one) || seen.status >= 500 || model.refusals.isHurried(seen)) return moot('it was refused anyhow');
            const unknown = refusalFor(model, 'caller.unknown', operation);
            const isSo = unknown ? isRefused(model, seen) && isRefusal(model, seen, unknown) : seen.status >= 400;
            return isSo ? undefined : { promised: `${reason}: the caller is unknown`, seen: `it was answered ${seen.status}` };
          },
        });
      }
    },
  };
}
