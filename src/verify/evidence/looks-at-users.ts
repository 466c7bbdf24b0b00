import type { NearMiss } from '../../kinds/schemes/kind.ts';
import { beginsAfter, endedBy, readToken, type Token } from '../../kinds/schemes/token.ts';
import { acceptedNames } from '../../parts/authentication.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import type { Operation } from '../../parts/operations.ts';
import { credentialParts, type TrialCaller } from '../exchange/callers.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import { doorsForAnyone, knockableSchemes } from '../make/knocking.ts';
import type { Model } from '../model/model.ts';
import { isByRule } from '../model/promises.ts';
import { belowOthers, parentsHidden } from '../trials/authentication/below.ts';
import { badBeside, badWhereAnyone, isTokenScheme, pairsOf, tamperedWith } from '../trials/authentication/carriers.ts';
import { challenged, hasChallenges } from '../trials/authentication/challenges.ts';
import { looksAtDoors } from '../trials/authentication/schemes-at-doors.ts';
import { isQuerySigned, querySigned } from '../trials/authentication/signed-requests.ts';
import { statesLooks } from '../trials/authentication/states-of-rules.ts';
import { storedRefused, storingUsers } from '../trials/authentication/stored-rules.ts';
import { otherSchemes, userBy } from '../trials/purpose/purpose.ts';
import { leftOutByRules } from '../trials/resources/shown-to.ts';
import { looksAtRefused } from './looks-at-endpoints.ts';
import { looksFor } from './looks-at-limits.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/** Each user, in something that was done for one of them, by each scheme of which there are credentials. */
export function looksAtUsers(model: Model): Obligation[] {
  return entriesOf(model.spec.purpose.users).flatMap(([user]) => [
    {
      name: `a ${user}`,
      ...(model.callers.some((caller) => caller.user === user) ? {} : { why: `no credential of a ${user} was given` }),
      isMetBy: ({ exchanges }: HeldClaim) => exchanges.some((one) => isDone(one) && one.caller?.user === user),
    },
    ...otherSchemes(model, user).map((scheme) => looksFor(`a ${userBy(user, scheme)}`, userBy(user, scheme))),
  ]);
}

/** A good credential of each scheme. */
export function looksAtSchemes(model: Model): Obligation[] {
  const { spec, callers } = model;
  const names = acceptedNames(spec);
  const accepted = entriesOf(spec.authentication.schemes).filter(([name]) => names.has(name));
  const beside = pairsOf(model).length > 0 ? [looksFor(badBeside)] : [];
  const good = accepted.map(
    ([name]): Obligation => ({
      name: `a credential of the scheme ${name}`,
      ...(callers.some(({ credential }) => credential?.scheme.name === name) ? {} : { why: 'none was given' }),
      isMetBy: ({ exchanges }) => exchanges.some((one) => isDone(one) && one.caller?.credential?.scheme.name === name),
    }),
  );
  const open = doorsForAnyone(model).some(({ endpoint }) => isByRule(endpoint)) ? [looksFor(badWhereAnyone)] : [];
  // What nobody gave out, and is nearly what somebody has, is no credential.
  const atDoors = looksAtDoors(model).map((reason) => looksFor(reason));
  const challenges = hasChallenges(model) ? [looksFor('the challenges of a 401', challenged)] : [];
  return [
    ...good,
    ...beside,
    ...open,
    ...challenges,
    ...atDoors,
    ...accepted.flatMap(([name]) => looksNear(model, name, 'schemes')),
  ];
}

/** Each user who may, one who may not, a row that a rule is not about, and nobody. */
export function looksAtRules(model: Model, { subject }: LedgerFact): Obligation[] {
  const operation = model.operations.find(({ name }) => name === subject);
  const { endpoint } = operation ?? {};
  if (!operation || !endpoint) return [];
  const isAt = (exchange: TrialExchange) => exchange.endpoint?.key === endpoint.key;
  const given = model.callers.filter(({ credential }) => credential !== undefined);
  const looks = usersNamed(model, operation).map((user): Obligation => {
    const isKnown = given.some((caller) => caller.user === user && model.access.allows(operation, caller) !== 'no');
    return {
      name: `a ${user}, let in`,
      ...(isKnown ? {} : { why: `no credential of a ${user} who may was given` }),
      isMetBy: ({ exchanges }) => exchanges.some((one) => isAt(one) && isDone(one) && one.caller?.user === user),
    };
  });
  const excluded = given.filter((caller) => model.access.rules(operation, caller)?.length === 0);
  if (excluded.length > 0) looks.push(refusedTo(model, operation, excluded));
  looks.push(...scopelessLooks(model, operation, excluded));
  if (given.length > 0 && !isForAnyone(model, operation))
    looks.push(looksAtRefused('nobody, refused', (one) => isAt(one) && one.caller?.user === undefined));
  if (storingUsers(model, endpoint).length > 0) looks.push(looksFor(storedRefused));
  if (parentsHidden(model, endpoint).length > 0) looks.push(looksFor(belowOthers));
  looks.push(...statesLooks(model, { operation, endpoint }).map((reason) => looksFor(reason)));
  if (showsInPart(model, operation)) looks.push({ name: 'fields that rules leave out', isMetBy: isOfPart(endpoint) });
  return looks;
}

/** Whether rules show somebody whose credential was given some fields of a row, and not others. */
function showsInPart(model: Model, operation: Operation): boolean {
  const verb = operation.endpoint && statedValue(operation.endpoint.does)?.verb;
  if (verb !== 'read' && verb !== 'list') return false;
  return model.callers.some((caller) => (model.access.rules(operation, caller) ?? []).some(({ fields }) => fields !== undefined));
}

function isOfPart({ key }: Endpoint): Obligation['isMetBy'] {
  return ({ claim, exchanges }) => claim.reason === leftOutByRules && exchanges.some(({ endpoint }) => endpoint?.key === key);
}

function refusedTo(model: Model, operation: Operation, excluded: readonly TrialCaller[]): Obligation {
  const users = new Set(excluded.map(({ user }) => user));
  return looksAtRefused(
    `a ${[...users].join(' or ')}, refused`,
    ({ endpoint, caller }) =>
      endpoint?.key === operation.endpoint?.key && caller !== undefined && model.access.rules(operation, caller)?.length === 0,
  );
}

/** Users of whom every rule asks for scopes, without them, one of those of whom the same rule does: whether these are asked for nobody else shows. */
function scopelessLooks(model: Model, operation: Operation, excluded: readonly TrialCaller[]): Obligation[] {
  const asked = usersNamed(model, operation).flatMap((user) => {
    const rules = model.access.rules(operation, { name: user, user }) ?? [];
    const isAsked = rules.length > 0 && rules.every(({ scopes, to }) => scopes.length > 0 && to !== 'anyone');
    return isAsked ? [{ user, rule: rules[0] }] : [];
  });
  return [...Map.groupBy(asked, ({ rule }) => rule).values()].map((alike): Obligation => {
    const users = new Set(alike.map(({ user }) => user));
    const without = excluded.filter(({ user, scopes }) => users.has(user) && scopes !== undefined);
    const names = new Set(without.map(({ name }) => name));
    const words = `a ${[...users].join(' or ')} without the scopes`;
    return {
      ...looksAtRefused(
        `${words}, refused`,
        ({ endpoint, caller }) => endpoint?.key === operation.endpoint?.key && caller !== undefined && names.has(caller.name),
      ),
      ...(without.length > 0 ? {} : { why: `no credential of ${words} was given, with its scopes` }),
    };
  });
}

/** The users that rules name for an operation. */
function usersNamed(model: Model, operation: Operation): string[] {
  const stated = entriesOf(model.spec.purpose.users).map(([user]) => user);
  const users = stated.length > 0 ? stated : model.callers.map(({ user }) => user);
  const unscoped = (user: string): TrialCaller => ({ name: user, user });
  return [...new Set(users)].filter((user) =>
    (model.access.rules(operation, unscoped(user)) ?? []).some(({ to }) => to !== 'anyone'),
  );
}

function isForAnyone({ spec, access }: Model, operation: Operation): boolean {
  const rules = access.rules(operation, undefined) ?? [];
  return access.isPublic(operation) || rules.length > 0 || statedValue(spec.authentication.schemes) === undefined;
}

/** Each credential that is nearly a good one of a scheme, and breaks this of it, refused; none where no good one was given that can be made bad. */
function looksNear(model: Model, name: string, breaks: NearMiss['breaks']): Obligation[] {
  if (!knockableSchemes(model).some((scheme) => scheme.name === name)) return [];
  const { credential } = model.callers.find((caller) => caller.credential?.scheme.name === name) ?? {};
  const made = credential ? tamperedWith(credential.scheme, credentialParts(credential).text) : [];
  return made.filter((one) => one.breaks === breaks).map(({ how }) => looksFor(`${name}: ${how}`));
}

/** A token that has ended, one that does not hold yet, and one of another issuer and audience where these are stated: whoever gives them out alone can make them. */
export function looksAtTokens(model: Model, { subject }: LedgerFact): Obligation[] {
  const scheme = entryOf(model.spec.authentication.schemes, subject);
  const isToken = scheme !== undefined && isTokenScheme(scheme);
  if (!isToken)
    return [
      ...looksNear(model, subject, 'token formats'),
      ...(scheme && isQuerySigned(model, scheme) ? [looksFor(querySigned)] : []),
    ];
  const nowMs = Date.now();
  const kinds: readonly (readonly [name: string, isSo: (token: Token) => boolean])[] = [
    ['one that has ended', (token) => endedBy(token, nowMs)],
    ['one that does not hold yet', (token) => beginsAfter(token, nowMs)],
    ...(scheme.issuer === undefined
      ? []
      : [['one of another issuer', ({ claims }: Token) => claims.iss !== scheme.issuer] as const]),
    ...(scheme.audience === undefined
      ? []
      : [['one for another audience', ({ claims }: Token) => ![claims.aud].flat().includes(scheme.audience ?? '')] as const]),
  ];
  const bad = model.strangers.filter(({ credential }) => credential?.scheme.name === subject);
  return [
    { name: 'one that was made of a good one', isMetBy: ({ claim }) => claim.reason.startsWith(`${subject}: `) },
    ...kinds.map(([name, isSo]): Obligation => {
      const given = bad.filter(({ credential }) => {
        const token = credential && readToken(credentialParts(credential).text);
        return token !== undefined && isSo(token);
      });
      return {
        name,
        ...(given.length === 0 && { why: 'none was given, with the word `bad`' }),
        isMetBy: ({ claim }) => given.some(({ bad: word }) => word === claim.reason),
      };
    }),
  ];
}
