import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { type NodeOf, parseExpression } from '../../../parts/expressions/node.ts';
import { type Expression, statedValue } from '../../../parts/fact.ts';
import { followedOf } from '../../../parts/followed.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { resolve } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { contextOfRow, identified } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { findsIn, sayings, wayOf } from '../../make/looked-up.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Known } from '../../model/expressions.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { hiddenJudgement, largestPage, listedJudgement } from './lists.ts';
import { makersFor, ownCode, ownJudgement, readability } from './row-rules.ts';

/** What a rule grants to whom a row is there, it grants to them alone, as the row says, and no longer than it is there. */
export const lookUps: Trial = {
  name: 'authentication/look-ups',
  part: 'authentication',
  about: 'Where a rule looks a row up, a caller is refused without it, let in with it, and refused where it says something else.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      for (const link of linksOf(model, endpoint)) {
        for (const caller of model.callers.filter((one) => isMeant(model, endpoint, link, one)))
          yield caseOf(model, endpoint, link, caller);
      }
    }
  },
};

/** A look-up of what a caller is to a row: found by the caller's identifier, and by what a field of the row is. */
interface Link {
  readonly rule: Expression;
  readonly resource: string;
  /** The field that holds who is meant. */
  readonly who: string;
  /** The field that holds the row, or what the row has in this field. */
  readonly what: string;
  readonly of: string;
}

const verbs: ReadonlySet<string> = new Set(['read', 'list', 'update', 'replace', 'delete', 'transition']);

function linksOf(model: Model, endpoint: Endpoint): Link[] {
  const operation = model.operationOf(endpoint);
  if (!verbs.has(statedValue(endpoint.does)?.verb ?? '') || endpoint.identity || model.access.isPublic(operation)) return [];
  if (statedValue(endpoint.does)?.verb === 'list' && pathParameters(endpoint.path).length > 0) return [];
  const rules = statedValue(model.spec.authentication.permissions) ?? [];
  return rules.flatMap(({ allow, if: rule }): Link[] => {
    const isAbout = allow.includes(endpoint.operation) || allow.includes(`all ${operation.resource}`);
    const parsed = rule && isAbout ? parseExpression(rule.source) : undefined;
    if (!rule || !parsed || 'unparsed' in parsed) return [];
    const [found] = findsIn(parsed.node);
    const link = found && linkOf(found);
    return link && !isMadeAlong(model, link.resource) ? [{ rule, ...link }] : [];
  });
}

/** A look-up by two fields: `caller.id`, and a field of the row. */
function linkOf({ resource, keys }: NodeOf<'find'>): Omit<Link, 'rule'> | undefined {
  const rooted = keys.map(({ field, value }) => ({ field, path: wayOf(value) }));
  const who = rooted.find(({ path }) => path?.join('.') === 'caller.id');
  const what = rooted.find(({ path }) => path?.length === 2 && path[0] === 'resource');
  const of = what?.path?.[1];
  return keys.length === 2 && who && what && of !== undefined ? { resource, who: who.field, what: what.field, of } : undefined;
}

/** Whether such rows are made by what follows from other changes, so that one may be there which nobody asked for. */
function isMadeAlong({ spec }: Model, resource: string): boolean {
  return followedOf(spec).some(({ acts }) => acts.some(({ does }) => does?.verb === 'create' && does.resource === resource));
}

function isMeant(model: Model, endpoint: Endpoint, { rule }: Link, caller: TrialCaller): boolean {
  if (!caller.credential || makersFor(model, caller).every((maker) => maker === caller)) return false;
  return (model.access.rules(model.operationOf(endpoint), caller) ?? []).some((one) => one.if?.at === rule.at);
}

function caseOf(model: Model, endpoint: Endpoint, link: Link, caller: TrialCaller): Case {
  const fact = { kind: 'permission rules', subject: endpoint.operation };
  return {
    name: `${endpoint.key} as ${caller.name}, who is no ${link.resource} and then one`,
    facts: [fact],
    async run(session: Session) {
      const who = await identified(session, caller);
      session.need(who.id !== undefined, `nothing tells who ${caller.name} is`);
      const [maker] = makersFor(model, caller);
      const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
      // Rows of their own, as each is looked at once: what is done to one may be its end.
      const without = await session.make(resource, { caller: maker });
      const refused = await tryAs(session, endpoint, link, who, without, undefined);
      let isLetIn = false;
      for (const isAllowed of [true, false]) {
        const row = await session.make(resource, { caller: maker });
        const member = await ifTestable(memberFor(session, endpoint, link, who, row, isAllowed));
        if (member) isLetIn = (await tryAs(session, endpoint, link, who, row, member)) || isLetIn;
      }
      session.need(refused || isLetIn, `of no ${resource} it could be known whether ${caller.name} may`);
    },
  };
}

/** What is known where the looked-up row is this one, or where there is none. */
function knownWith(session: Session, row: TrialRow, link: Link, who: TrialCaller, member: Fields | undefined): Known | undefined {
  const known = contextOfRow(session, row);
  const value = known && (known.context.resource as Fields | undefined)?.[link.of];
  if (!known || value === undefined) return undefined;
  const { follow } = known.context;
  return {
    ...known,
    context: {
      ...known.context,
      follow(resource, key, unique) {
        const isIt = typeof key !== 'string' && resource === link.resource && asText(key[link.who]) === who.id;
        return isIt && asText(key[link.what]) === asText(value) ? member : follow?.(resource, key, unique);
      },
    },
  };
}

type Fields = Readonly<Record<string, Json>>;

/** Makes the row that is looked up, with values by which the rules let the caller in, or by which they do not. @throws {Untestable} */
async function memberFor(
  session: Session,
  endpoint: Endpoint,
  link: Link,
  who: TrialCaller,
  row: TrialRow,
  isAllowed: boolean,
): Promise<TrialRow | undefined> {
  const { model } = session;
  const wanted = isAllowed ? 'yes' : 'no';
  const body = sayings(model, link.resource).find((one) => {
    const known = knownWith(session, row, link, who, { [link.who]: who.id ?? '', ...one });
    return known && model.access.allows(model.operationOf(endpoint), who, known) === wanted;
  });
  const value = link.of === model.identifierField(row.resource) ? row.id : row.known[link.of];
  if (!body || value === undefined || who.id === undefined) return undefined;
  const isReferred = link.of === model.identifierField(row.resource);
  return session.make(link.resource, {
    body: { ...body, [link.who]: who.id, [link.what]: value },
    ...(isReferred && { parents: { [link.what]: row } }),
    ...(row.caller && { for: row.caller }),
  });
}

/** Asks as the caller, and claims what the rules come to; gives whether that is known. */
async function tryAs(
  session: Session,
  endpoint: Endpoint,
  link: Link,
  who: TrialCaller,
  row: TrialRow,
  member: TrialRow | undefined,
): Promise<boolean> {
  const { model } = session;
  const operation = model.operationOf(endpoint);
  if (member && !member.fields) return false;
  const known = knownWith(session, row, link, who, member && (resolve(member.fields as Fields, session.run) as Fields));
  const allowed = known ? model.access.allows(operation, who, known) : 'unknown';
  if (!known || allowed === 'unknown' || !row.made) return false;
  const caller = model.callers.find(({ name }) => name === who.name);
  if (statedValue(endpoint.does)?.verb === 'list') {
    await tryList(session, endpoint, link, who, { row, member, isAllowed: allowed === 'yes' });
    return true;
  }
  const headers = endpoint.ifMatch === 'required' ? { 'If-Match': '*' } : {};
  const plan: RequestPlan = await requestAbout(session, row, endpoint, { caller, headers });
  const done = await session.send(plan);
  const fact = { kind: 'permission rules', subject: operation.name };
  const beside = [row.made, ...(member?.made ? [member.made] : [])];
  const areMade = (made: readonly TrialExchange[]) => made.every((one) => isDone(one));
  if (allowed === 'yes') {
    session.claim({
      fact,
      reason: `let in by its ${link.resource}`,
      of: [done, ...beside],
      judge: (seen: TrialExchange, ...made: readonly TrialExchange[]) =>
        ownJudgement(model, operation, who, seen, made.find((one) => !isDone(one)) ?? made[0]),
    });
    return true;
  }
  const code = ownCode(model, operation, who);
  const readable = readability(model, row, who, known);
  if (code === undefined && readable === 'unknown') return false;
  claimRefused(session, done, {
    by: code === undefined ? { when: readable === 'yes' ? 'caller.forbidden.row' : 'resource.missing' } : { code },
    fact,
    reason: member ? `whose ${link.resource} says otherwise` : `without a ${link.resource}`,
    what: `${operation.name} by ${who.name}, ${member ? `whose ${link.resource} does not allow it` : `who is no ${link.resource} of it`}`,
    beside,
    isSo: (_seen: TrialExchange, ...made: readonly TrialExchange[]) => areMade(made),
    ...(row.caller && { control: { ...plan, caller: row.caller } }),
  });
  return true;
}

interface Listed {
  readonly row: TrialRow;
  readonly member: TrialRow | undefined;
  readonly isAllowed: boolean;
}

/** A list shows the row to whom the looked-up one lets see it, and to nobody else. */
async function tryList(
  session: Session,
  endpoint: Endpoint,
  link: Link,
  who: TrialCaller,
  { row, member, isAllowed }: Listed,
): Promise<void> {
  const { model } = session;
  const { resource } = row;
  if (!row.made) return;
  const caller = model.callers.find(({ name }) => name === who.name);
  const done = await session.send(model.request(endpoint, { caller, query: largestPage(model, endpoint) }));
  session.claim({
    fact: { kind: 'permission rules', subject: endpoint.operation },
    reason: isAllowed ? `shown for its ${link.resource}` : `shown without a ${link.resource} that allows it`,
    of: [done, row.made, ...(member?.made ? [member.made] : [])],
    judge(seen: TrialExchange, made: TrialExchange, ...looked: readonly TrialExchange[]) {
      if (!looked.every((one) => isDone(one))) return moot('what is looked up was not made');
      return isAllowed
        ? listedJudgement(model, endpoint, resource, made, seen)
        : hiddenJudgement(model, { endpoint, resource, known: who }, seen, made);
    },
  });
}
