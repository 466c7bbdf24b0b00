import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Claim, type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { freshText } from '../../exchange/symbol.ts';
import { beginBody } from '../../make/begin-body.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { makePlace } from '../../make/left-behind.ts';
import { ready } from '../../make/readied.ts';
import { inVersion, needServed, type RequestVersions, versionsOf } from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor, saysAlone } from '../../model/refused-as.ts';
import { idIn, rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** One key does a thing once: the second request is answered as the first was, and one with another body is refused. */
export const idempotency: Trial = {
  name: 'endpoints/idempotency',
  part: 'endpoints',
  about: 'A request that comes twice with one key is carried out once.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const verb = statedValue(endpoint.does)?.verb ?? '';
      if (!endpoint.idempotency || endpoint.identity || !changing.has(verb)) continue;
      const facts = factsOfKey(endpoint);
      const shownOnce = revealedBy(model, endpoint).map(requiredFlags);
      yield { name: `${endpoint.key} twice`, facts: [...facts, ...shownOnce], run: (session) => sendTwice(session, endpoint) };
      if (verb !== 'create') continue;
      yield { name: `${endpoint.key} by another caller`, facts, run: (session) => sendByAnother(session, endpoint) };
      yield { name: `${endpoint.key} with another body`, facts, run: (session) => sendAnother(session, endpoint) };
      yield { name: `${endpoint.key} at once`, facts, run: (session) => sendAtOnce(session, endpoint) };
      const versions = versionsOf(model);
      const other = versions?.all.find(({ name }) => name !== versions.history.current);
      if (versions && other)
        yield {
          name: `${endpoint.key} in ${other.name}`,
          facts,
          run: (session) => sendInAnother(session, endpoint, versions, other.name),
        };
      if (endpoint.idempotency.required)
        yield { name: `${endpoint.key} without a key`, facts, run: (session) => sendWithout(session, endpoint) };
    }
  },
};

/** What there is to be seen of a key at an endpoint, by the reasons of the claims. */
export function keyLooks(model: Model, endpoint: Endpoint): string[] {
  const verb = statedValue(endpoint.does)?.verb ?? '';
  if (!endpoint.idempotency || endpoint.identity || !changing.has(verb)) return [];
  const operation = model.operationOf(endpoint);
  const able = model.callers.filter((caller) => model.access.allows(operation, caller) !== 'no');
  const isOfSeveral = able.some((one) => able.some((other) => isSomebodyElse(one, other)));
  if (verb !== 'create') return ['key once'];
  const missed = endpoint.idempotency.required ? ['key required'] : [];
  return ['key once', 'key reused', 'key once, raced', ...(isOfSeveral ? ['key of one caller'] : []), ...missed];
}

/** A key is a parameter, and what comes of it is said of the request. */
function factsOfKey({ key }: Endpoint): FactName[] {
  return ['request payload shapes', 'parameters'].map((kind) => ({ kind, subject: key }));
}

/** What is done twice by two requests, and once by two of one key. */
const changing: ReadonlySet<string> = new Set(['create', 'update', 'replace', 'delete', 'transition']);

function withKey(plan: RequestPlan, endpoint: Endpoint, key: ReturnType<typeof freshText>): RequestPlan {
  return { ...plan, headers: { ...plan.headers, [endpoint.idempotency?.header ?? '']: key } };
}

/** Claims something of a key, as a parameter and as what is said of the request. */
function claimOfKey<const T extends readonly unknown[]>(
  session: Session,
  endpoint: Endpoint,
  claim: Omit<Claim<T>, 'fact'>,
): void {
  for (const fact of factsOfKey(endpoint)) session.claim({ ...claim, fact, at: endpoint.idempotency?.at ?? endpoint.at });
}

/** A request with everything that it needs. */
async function readied(session: Session, endpoint: Endpoint): Promise<RequestPlan> {
  if (statedValue(endpoint.does)?.verb === 'create') {
    const begun = await beginBody(session, endpoint, 'plain');
    return begun.request(begun.json);
  }
  const { request, row } = await ready(session, endpoint);
  const headers = row ? await session.preconditions(endpoint, row, request.caller) : {};
  return { ...request, headers: { ...request.headers, ...headers } };
}

async function sendTwice(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const plan = await readied(session, endpoint);
  const key = freshText('nf-key-');
  const first = await session.send(withKey(plan, endpoint, key));
  session.need(isDone(first.value), `${endpoint.key} was answered ${first.value.status}${briefly(first.value)}`);
  const second = await session.send(withKey(plan, endpoint, key));
  claimOfKey(session, endpoint, {
    reason: 'key once',
    of: [first, second] as const,
    judge(one: TrialExchange, other: TrialExchange) {
      const header = endpoint.idempotency?.header.toLowerCase() ?? '';
      if (!isDone(one) || one.sent.headers[header] !== other.sent.headers[header]) return moot('it was not sent twice');
      if (!isSame(one.sent.json, other.sent.json) || one.sent.target !== other.sent.target) return moot('it was not sent twice');
      if (model.refusals.isHurried(other)) return moot('the service had too much to do');
      const isAgain = other.status === one.status && isSame(idIn(model, one), idIn(model, other));
      return isAgain
        ? undefined
        : {
            promised: `the first answer again: ${one.status} ${asText(idIn(model, one) ?? '')}`,
            seen: `${other.status}${briefly(other)}`,
          };
    },
  });
  claimRevealedOnce(session, endpoint, [first, second]);
}

interface Revealed {
  readonly resource: string;
  readonly name: string;
}

/** The fields that the answer of what makes a row shows, and no other one. */
function revealedBy(model: Model, endpoint: Endpoint): Revealed[] {
  const effect = statedValue(endpoint.does);
  const resource = effect?.verb === 'create' ? model.resource(effect.resource) : undefined;
  const fields = resource ? entriesOf(resource.fields).filter(([, { reveal }]) => reveal === 'once') : [];
  return fields.map(([name]) => ({ resource: resource?.name ?? '', name }));
}

function requiredFlags({ resource, name }: Revealed) {
  return { kind: 'required flags', subject: `${resource}.${name}` };
}

/** What is revealed once is not revealed again to whoever sends the same key. */
function claimRevealedOnce(
  session: Session,
  endpoint: Endpoint,
  exchanges: readonly [Done<TrialExchange>, Done<TrialExchange>],
): void {
  const header = endpoint.idempotency?.header.toLowerCase() ?? '';
  for (const revealed of revealedBy(session.model, endpoint)) {
    const { name } = revealed;
    session.claim({
      fact: requiredFlags(revealed),
      reason: 'revealed once',
      of: exchanges,
      judge(one: TrialExchange, other: TrialExchange) {
        if (!isDone(one) || !isDone(other)) return moot('it was not done twice');
        const isAgain = one.sent.headers[header] === other.sent.headers[header] && isSame(rowId(one), rowId(other));
        const [first, again] = [one, other].map((exchange) => rowIn(exchange)?.[name]);
        if (!isAgain || first === undefined) return moot('nothing was revealed that could be revealed again');
        return again === undefined
          ? undefined
          : { promised: `${name} is shown in the first answer alone`, seen: `${other.status}${briefly(other)}` };
      },
    });
  }
  function rowId(exchange: TrialExchange) {
    return idIn(session.model, exchange);
  }
}

/** A key is one of its caller: what another one sends with it is carried out as if it were new. */
async function sendByAnother(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const begun = await beginBody(session, endpoint, 'plain');
  const { caller } = begun;
  const other = caller && callersFor(session, endpoint).find((one) => isSomebodyElse(one, caller));
  session.need(other !== undefined, `no two callers are given who may ${endpoint.key}`);
  const plan = withKey(begun.request(begun.json), endpoint, freshText('nf-key-'));
  const first = await session.send(plan);
  session.need(isDone(first.value), `${endpoint.key} was answered ${first.value.status}${briefly(first.value)}`);
  const second = await session.send({ ...plan, caller: other });
  claimOfKey(session, endpoint, {
    reason: 'key of one caller',
    of: [first, second] as const,
    judge(one: TrialExchange, another: TrialExchange): Judgement {
      const header = endpoint.idempotency?.header.toLowerCase() ?? '';
      if (!isDone(one) || one.sent.headers[header] !== another.sent.headers[header]) return moot('it was not sent twice');
      const promised = `the key of ${one.caller?.name ?? 'nobody'} says nothing of what ${another.caller?.name ?? 'nobody'} sends`;
      const isReused = saysAlone(model, another, 'idempotency.reused');
      // One that finds what is there answers whoever sends the same values with it.
      const isFound = endpoint.exists !== undefined && another.status === 200;
      const isReplayed =
        isDone(another) && !isFound && idIn(model, one) !== undefined && isSame(idIn(model, one), idIn(model, another));
      return isReused || isReplayed ? { promised, seen: `${another.status}${briefly(another)}` } : undefined;
    },
  });
}

/** A caller is its user and its identifier, whatever credential shows it. */
function isSomebodyElse(one: TrialCaller, other: TrialCaller): boolean {
  return one.user !== other.user || (one.id !== undefined && other.id !== undefined && one.id !== other.id);
}

async function sendAnother(session: Session, endpoint: Endpoint): Promise<void> {
  const [begun, other] = [await beginBody(session, endpoint, 'plain'), await beginBody(session, endpoint, 'full')];
  const key = freshText('nf-key-');
  const first = await session.send(withKey(begun.request(begun.json), endpoint, key));
  session.need(isDone(first.value), `${endpoint.key} was answered ${first.value.status}${briefly(first.value)}`);
  const second = await session.send(withKey(begun.request(other.json), endpoint, key));
  const header = endpoint.idempotency?.header.toLowerCase() ?? '';
  const refused = {
    by: { when: 'idempotency.reused' } as const,
    reason: 'key reused',
    what: 'a key that was used for another body',
    control: () =>
      makePlace(session, endpoint, first).then(() => withKey(begun.request(other.json), endpoint, freshText('nf-key-'))),
    beside: [first],
    ...(endpoint.idempotency && { at: endpoint.idempotency.at }),
    isSo: (exchange: TrialExchange, before?: TrialExchange) =>
      before !== undefined &&
      isDone(before) &&
      exchange.sent.headers[header] === before.sent.headers[header] &&
      // A form says nothing of an empty map: it is the same body.
      exchange.sent.text !== before.sent.text &&
      !isSame(exchange.sent.json, before.sent.json),
  };
  for (const fact of factsOfKey(endpoint)) claimRefused(session, second, { ...refused, fact });
}

/** A key belongs to its version: one that comes again in another is that of another request. */
async function sendInAnother(session: Session, endpoint: Endpoint, versions: RequestVersions, version: string): Promise<void> {
  const { model } = session;
  needServed(session, versions, version);
  const begun = await beginBody(session, endpoint, 'plain');
  const plan = withKey(begun.request(begun.json), endpoint, freshText('nf-key-'));
  const first = await session.send(plan);
  session.need(isDone(first.value), `${endpoint.key} was answered ${first.value.status}${briefly(first.value)}`);
  const { endpoint: _endpoint, ...older } = inVersion(model, plan, version);
  const second = await session.send(older);
  const reused = refusalFor(model, 'idempotency.reused', model.operationOf(endpoint));
  claimOfKey(session, endpoint, {
    reason: 'key of another version',
    of: [first, second] as const,
    control: plan,
    judge(one: TrialExchange, another: TrialExchange): Judgement {
      const header = endpoint.idempotency?.header.toLowerCase() ?? '';
      if (!isDone(one) || one.sent.headers[header] !== another.sent.headers[header]) return moot('it was not sent twice');
      const isElsewhere = one.sent.target !== another.sent.target || !isSame(one.sent.headers, another.sent.headers);
      const isReused = reused !== undefined && isRefused(model, another) && isRefusal(model, another, reused);
      if (!isElsewhere || (!isDone(another) && !isReused)) return moot('there it was refused for something else');
      return isReused
        ? undefined
        : {
            promised: `a key that comes again in ${version} is of another request`,
            seen: `${another.status}${briefly(another)}`,
          };
    },
  });
}

/** Two requests at once with one key are carried out once, whichever comes first. */
async function sendAtOnce(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const begun = await beginBody(session, endpoint, 'plain');
  const plan = withKey(begun.request(begun.json), endpoint, freshText('nf-key-'));
  const [one, other] = await session.together([plan, plan]);
  session.need(one !== undefined && other !== undefined, 'they were not sent');
  claimOfKey(session, endpoint, {
    reason: 'key once, raced',
    of: [one, other] as const,
    judge(first: TrialExchange, second: TrialExchange): Judgement {
      const header = endpoint.idempotency?.header.toLowerCase() ?? '';
      if (first.sent.headers[header] !== second.sent.headers[header] || !isSame(first.sent.json, second.sent.json))
        return moot('it was not sent twice');
      const ids = [first, second].filter(isDone).map((done) => idIn(model, done));
      if (ids.length === 0 || ids.includes(undefined)) return moot('neither was carried out, or no row is shown');
      return ids.every((id) => isSame(id, ids[0]))
        ? undefined
        : { promised: 'one of two at once with one key is carried out', seen: `both: ${ids.map(asText).join(' and ')}` };
    },
  });
}

async function sendWithout(session: Session, endpoint: Endpoint): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const plan = begun.request(begun.json);
  const headers = Object.fromEntries(Object.entries(plan.headers).filter(([name]) => name !== endpoint.idempotency?.header));
  const done = await session.send({ ...plan, headers });
  const at = endpoint.idempotency?.at;
  for (const fact of factsOfKey(endpoint))
    claimRefused(session, done, {
      by: { when: 'request.parameter' },
      fact,
      reason: 'key required',
      what: 'no idempotency key',
      control: plan,
      ...(at !== undefined && { at }),
    });
}
