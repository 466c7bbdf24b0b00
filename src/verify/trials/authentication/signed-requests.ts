import type { SigningMiss } from '../../../kinds/schemes/signing.ts';
import { kindOfScheme, type Scheme } from '../../../parts/authentication.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { type Credential, credentialParts, type SignsWith, signsWith, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { acceptable, type Door, guardedDoors, knockableSchemes, knocking } from '../../make/knocking.ts';
import { paginationOf } from '../../make/pages.ts';
import type { Model } from '../../model/model.ts';
import { isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { isFreeText } from '../../values/apart.ts';
import { isUnknown, unknownFlaw } from './carriers.ts';

/** A request that is signed is taken; one that differs in anything that is signed is of nobody. */
export const signedRequests: Trial = {
  name: 'authentication/signed requests',
  part: 'authentication',
  about:
    'What is signed of a request is what came: another method, path, query, body or time, or less than has to be signed, is refused.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const scheme of knockableSchemes(model)) {
      const signs = signsWith(scheme);
      if (!signs) continue;
      const good = model.callers.find(({ credential }) => credential?.scheme.name === scheme.name);
      const { misses, isTakenOnce } = signs.signing;
      const quiet = doorOf(model, good, (door) => isReading(door));
      const bodied = doorOf(model, good, (door) => takesBody(door)) ?? quiet;
      if (quiet) {
        const ofHeads = misses.filter(({ needsBody, needsQuery }) => !needsBody && !needsQuery);
        yield missesAt(model, quiet, scheme, { good, misses: ofHeads, part: 'its head' });
      }
      const asked = askedOf(model, good);
      const ofQueries = misses.filter(({ needsQuery }) => needsQuery);
      if (asked && ofQueries.length > 0) yield queryAt(model, asked, scheme, { good, misses: ofQueries, part: 'its query' });
      const ofBodies = misses.filter(({ needsBody }) => needsBody);
      if (bodied && ofBodies.length > 0) yield missesAt(model, bodied, scheme, { good, misses: ofBodies, part: 'its body' });
      if (quiet && isTakenOnce) yield repeatedAt(model, quiet, scheme, good);
    }
  },
};

/** An operation that somebody may call, of this sort. */
function doorOf(model: Model, caller: TrialCaller | undefined, isMeant: (door: Door) => boolean): Door | undefined {
  return guardedDoors(model).find((door) => isMeant(door) && (!caller || model.access.allows(door.operation, caller) !== 'no'));
}

function isReading({ endpoint }: Door): boolean {
  const verb = statedValue(endpoint.does)?.verb;
  return endpoint.method === 'GET' || verb === 'read' || verb === 'list';
}

function takesBody({ endpoint }: Door): boolean {
  const verb = statedValue(endpoint.does)?.verb;
  return verb === 'create' || verb === 'update' || verb === 'replace' || isStated(endpoint.request);
}

interface Missing {
  readonly good: TrialCaller | undefined;
  readonly misses: readonly SigningMiss[];
  readonly part: string;
}

function missesAt(model: Model, door: Door, scheme: Scheme, { good, misses, part }: Missing): Case {
  const fact = { kind: 'token formats', subject: scheme.name };
  return {
    name: `${scheme.name}: a request that is signed otherwise than it came, in ${part}`,
    facts: [fact],
    async run(session: Session) {
      const { request, known, credential, signs } = await knownAt(session, door, scheme, good);
      const tellsSorts = model.refusals.among('caller.unknown', door.operation).length > 1;
      for (const miss of misses) {
        const done = await session.send({ ...request, caller: signing(credential, { ...signs, miss }) });
        claimUnknown(session, door, { fact, known, done, how: miss.how, control: request });
        const when = miss.isOver ? 'caller.unknown.expired' : 'caller.unknown.bad';
        // Where the signature itself is not there any more, nothing was shown.
        if (tellsSorts && credential.carrier.toLowerCase() in done.value.sent.headers)
          claimRefusedAs(session, done, { by: { when }, what: `a request of which ${miss.how}` });
      }
    },
  };
}

/** A request with a query: it is taken where that is signed with the rest, and not where it is left out of what is signed. */
function queryAt(model: Model, door: Door, scheme: Scheme, { good, misses, part }: Missing): Case {
  const fact = { kind: 'token formats', subject: scheme.name };
  return {
    name: `${scheme.name}: a request that is signed with ${part}, and without it`,
    facts: [fact],
    async run(session: Session) {
      const { request, known, credential, signs } = await knownAt(session, door, scheme, good);
      const full = { ...request, query: { ...request.query, ...queryOf(model, door) } };
      const taken = await session.send(full);
      const judge = (before: TrialExchange, seen: TrialExchange): Judgement =>
        !isKnown(session, door, before)
          ? moot('the good one is not')
          : isKnown(session, door, seen)
            ? undefined
            : {
                promised: `${door.operation.name} with a query that is signed too is of whoever signed it`,
                seen: `${seen.status}`,
              };
      session.claim({ fact, reason: querySigned, of: [known, taken], judge });
      if (!isKnown(session, door, taken.value)) return;
      for (const miss of misses) {
        const done = await session.send({ ...full, caller: signing(credential, { ...signs, miss }) });
        claimUnknown(session, door, { fact, known: taken, done, how: miss.how, control: full });
      }
    },
  };
}

/** An operation that somebody may ask something of in a query. */
function askedOf(model: Model, caller: TrialCaller | undefined): Door | undefined {
  return doorOf(model, caller, (door) => isReading(door) && queryOf(model, door) !== undefined);
}

/** Whether a query is signed by requests of a scheme, and there is something that can be asked for in one. */
export function isQuerySigned(model: Model, scheme: Scheme): boolean {
  const good = model.callers.find(({ credential }) => credential?.scheme.name === scheme.name);
  return good !== undefined && signsWith(scheme)?.signing.signs.has('query') === true && askedOf(model, good) !== undefined;
}

export const querySigned = 'a query that is signed';

/** Something that may be asked for in the query of a list: a page of one row, else rows with some text. */
function queryOf(model: Model, { endpoint }: Door): Readonly<Record<string, string | number>> | undefined {
  const isList = statedValue(endpoint.does)?.verb === 'list';
  const size = isList ? paginationOf(model, endpoint)?.size : undefined;
  if (size !== undefined) return { [size]: 1 };
  const filter = entriesOf(endpoint.parameters).find(([, parameter]) => {
    const shape = statedValue(parameter.shape);
    return parameter.in === 'query' && parameter.filters !== undefined && shape !== undefined && isFreeText(shape);
  });
  return filter && { [filter[0]]: 'verify' };
}

/** The same request twice, to the letter. */
function repeatedAt(model: Model, door: Door, scheme: Scheme, good: TrialCaller | undefined): Case {
  const fact = { kind: 'token formats', subject: scheme.name };
  return {
    name: `${scheme.name}: a signed request that comes again`,
    facts: [fact],
    async run(session: Session) {
      const { request, credential, signs } = await knownAt(session, door, scheme, good);
      const once = { ...request, caller: signing(credential, { ...signs, moment: 'the same' }) };
      const known = await session.send(once);
      const done = await session.send(once);
      claimUnknown(session, door, { fact, known, done, how: 'it came before', control: request });
      if (model.refusals.among('caller.unknown', door.operation).length > 1)
        claimRefusedAs(session, done, { by: { when: 'caller.unknown.bad' }, what: 'a signed request that comes again' });
    },
  };
}

/** A request that is signed as it has to be, and was taken. @throws {Untestable} where none is */
async function knownAt(session: Session, door: Door, scheme: Scheme, good: TrialCaller | undefined) {
  const credential = good?.credential;
  session.need(credential?.signs !== undefined, `no key of the scheme ${scheme.name} was given`);
  const request = await acceptable(session, door, good);
  session.need(request !== undefined, `no request can be made that ${door.operation.name} takes`);
  const known = await session.send(request);
  session.need(isKnown(session, door, known.value), `the key of the scheme ${scheme.name} that was given is not good`);
  return { request, known, credential, signs: credential.signs };
}

function isKnown({ model }: Session, { operation }: Door, seen: TrialExchange): boolean {
  const refusal = refusalFor(model, 'caller.unknown', operation);
  return refusal ? !isUnknown(model, refusal, seen) : seen.status !== 401;
}

function signing(credential: Credential, signs: SignsWith): TrialCaller {
  return { name: 'stranger', user: '', credential: { ...credential, signs } };
}

function claimUnknown(
  session: Session,
  door: Door,
  {
    fact,
    known,
    done,
    how,
    control,
  }: {
    readonly fact: { readonly kind: string; readonly subject: string };
    readonly known: Done<TrialExchange>;
    readonly done: Done<TrialExchange>;
    readonly how: string;
    readonly control: RequestPlan;
  },
): void {
  const judge = (before: TrialExchange, seen: TrialExchange): Judgement =>
    isKnown(session, door, before)
      ? unknownFlaw(session.model, door.operation, seen, `with a signed request, but ${how}`)
      : moot('the good one is not');
  session.claim({ fact, reason: how, of: [known, done], control, judge });
}

/** What is accepted as a credential has the form that its scheme states. */
export const credentialFormats: Trial = {
  name: 'authentication/token formats',
  part: 'authentication',
  about: 'A token that is accepted is signed with a stated algorithm, by the stated issuer, for the stated audience.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const scheme of knockableSchemes(model)) yield caseOf(model, scheme);
  },
};

function caseOf(model: Model, scheme: Scheme): Case {
  const fact = { kind: 'token formats', subject: scheme.name };
  const placeholder = { kind: 'credential placeholders', subject: scheme.name };
  return {
    name: `${scheme.name}: the form of what is accepted`,
    facts: [fact, placeholder],
    async run(session: Session) {
      const callers = model.callers.filter(({ credential }) => credential?.scheme.name === scheme.name);
      session.need(callers.length > 0, `no credential of the scheme ${scheme.name} was given`);
      for (const caller of callers) {
        const door = guardedDoors(model).find(({ operation }) => model.access.allows(operation, caller) !== 'no');
        if (!door) continue;
        const done = await session.send((await acceptable(session, door, caller)) ?? knocking(model, door.endpoint, caller));
        const judge = (seen: TrialExchange): Judgement =>
          isUnknown(model, refusalFor(model, 'caller.unknown', door.operation), seen) && isRefused(model, seen)
            ? moot('it is not accepted')
            : flawOf(scheme, seen.caller);
        session.claim({ fact, reason: 'form', of: [done], judge });
      }
      session.need(false, 'a placeholder stands in examples, and no answer shows it');
    },
  };
}

/** What is wrong with the form of a credential that the service accepts. */
function flawOf(scheme: Scheme, { credential }: Partial<TrialCaller> = {}): Judgement {
  if (!credential) return moot('there is none');
  const flaw = kindOfScheme(scheme)?.formFlaw(scheme, credentialParts(credential).text);
  return flaw && 'moot' in flaw ? moot(flaw.moot) : flaw;
}
