import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import { type FactName, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { Captured } from '../../exchange/symbol.ts';
import { beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { etagFor, lookAt } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** A change of what has changed since it was read is refused; so is one that says nothing, where it has to. */
export const preconditionsKept: Trial = {
  name: 'endpoints/preconditions',
  part: 'endpoints',
  about:
    'If-Match of a version that is gone is refused, its own is taken, alone, among others and as `*`, and, made weak, refused, and its absence refused where it is required.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const { ifMatch } = endpoint;
      if (!isCompared(endpoint)) continue;
      const facts = [{ kind: 'request payload shapes', subject: endpoint.key }];
      yield { name: `${endpoint.key} of another time`, facts, run: (session) => sendStale(session, endpoint) };
      if (ifMatch === 'required')
        yield { name: `${endpoint.key} without If-Match`, facts, run: (session) => sendWithout(session, endpoint) };
      if (isTagShown(model, endpoint))
        for (const said of current)
          yield { name: `${endpoint.key} ${said.what}`, facts, run: (session) => sendCurrent(session, endpoint, said) };
      if (isTagShown(model, endpoint))
        yield { name: `${endpoint.key} of now, weak`, facts, run: (session) => sendWeak(session, endpoint) };
      if (isTagRaced(model, endpoint.key))
        yield {
          name: `${endpoint.key}, three of one time`,
          facts: [factOfRace(model, endpoint)],
          run: (session) => race(session, endpoint),
        };
    }
  },
};

/** Whether a change of one row is compared with its tag. */
function isCompared({ ifMatch, does, identity }: Endpoint): boolean {
  const verb = statedValue(does)?.verb;
  const isMatched = ifMatch === 'accepted' || ifMatch === 'required';
  return isMatched && !identity && verb !== undefined && changing.has(verb) && resourceOfEffect(statedValue(does)) !== undefined;
}

function isTagShown(model: Model, { does }: Endpoint): boolean {
  return model.endpointsThat('read', resourceOfEffect(statedValue(does)) ?? '').some(({ etag }) => etag === 'strong');
}

/** Whether several changes at once with one tag can be told from one: what is deleted is gone anyway. */
export function isTagRaced(model: Model, key: string): boolean {
  const endpoint = model.endpoints.find((one) => one.key === key);
  return endpoint !== undefined && isCompared(endpoint) && isTagShown(model, endpoint) && endpoint.method !== 'DELETE';
}

const changing: ReadonlySet<string> = new Set(['update', 'replace', 'delete', 'transition']);

/** A change of a row that is there, in a state in which it may be changed. @throws {Untestable} */
async function begin(
  session: Session,
  endpoint: Endpoint,
  style: 'plain' | 'full',
): Promise<{ readonly row: TrialRow; readonly plan: RequestPlan }> {
  const verb = statedValue(endpoint.does)?.verb;
  if (verb === 'delete' || verb === 'transition') {
    const { row, request } = await ready(session, endpoint, { style });
    session.need(row !== undefined, `${endpoint.key} is about no row`);
    return { row, plan: request };
  }
  const { row, request, json } = await beginBody(session, endpoint, style);
  session.need(row !== undefined, `${endpoint.key} is about no row`);
  return { row, plan: request(json) };
}

async function sendStale(session: Session, endpoint: Endpoint): Promise<void> {
  const { row, plan } = await begin(session, endpoint, 'full');
  const before = (await lookAt(session, row)).done;
  const done = await session.send({ ...plan, headers: { ...plan.headers, 'If-Match': '"nf-of-another-time"' } });
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  claimRefused(session, done, {
    by: { when: 'precondition.failed' },
    fact,
    reason: 'If-Match',
    what: 'an If-Match that does not match',
    control: plan,
    at: `${endpoint.at}/if_match`,
  });
  await claimUnchanged(session, row, { before, attempt: done, fact });
}

async function sendWithout(session: Session, endpoint: Endpoint): Promise<void> {
  const { plan } = await begin(session, endpoint, 'plain');
  const headers = Object.fromEntries(Object.entries(plan.headers).filter(([name]) => name.toLowerCase() !== 'if-match'));
  const done = await session.send({ ...plan, headers });
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  claimRefused(session, done, {
    by: { when: 'precondition.required' },
    fact,
    reason: 'If-Match required',
    what: 'no If-Match',
    control: plan,
    at: `${endpoint.at}/if_match`,
  });
}

/** How a caller says what it has read: by its tag alone, beside another, and whatever it is (RFC 9110 section 13.1.1). */
const current = [
  { what: 'of now', before: '' },
  { what: 'of now after another', before: '"nf-of-another-time", ' },
  { what: 'of any time', before: undefined },
] as const;

async function sendCurrent(session: Session, endpoint: Endpoint, { what, before }: (typeof current)[number]): Promise<void> {
  const { model } = session;
  const { row, plan } = await begin(session, endpoint, 'plain');
  const etag = await etagFor(session, row, plan.caller);
  const isPlain = before === '';
  session.need(isPlain || etag instanceof Captured, `nothing shows the ETag of a ${row.resource}`);
  const listed = etag instanceof Captured && before ? new Captured(etag.step, etag.spot, before) : etag;
  const done = await session.send({ ...plan, headers: { ...plan.headers, 'If-Match': before === undefined ? '*' : listed } });
  const failed = model.refusals.of('precondition.failed', model.operationOf(endpoint));
  session.claim({
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: `If-Match ${what}`,
    at: `${endpoint.at}/if_match`,
    of: [done] as const,
    judge(exchange: TrialExchange) {
      const isFailed = exchange.status === 412 || (failed !== undefined && model.refusals.codeIn(exchange) === failed.code.name);
      if (isFailed) return { promised: 'the ETag that was just read matches', seen: asText(exchange.status) };
      return isDone(exchange) ? undefined : moot('something else stood in its way');
    },
  });
}

/** The reason of a claim of a weak tag. */
export const weakTag = 'If-Match, weak';

/** `If-Match` compares strongly: a weak tag is equal to none (RFC 9110 sections 8.8.3.2 and 13.1.1). */
async function sendWeak(session: Session, endpoint: Endpoint): Promise<void> {
  const { row, plan } = await begin(session, endpoint, 'full');
  const etag = await etagFor(session, row, plan.caller);
  const request = { ...plan, headers: { ...plan.headers, 'If-Match': etag } };
  session.need(etag instanceof Captured, `nothing shows the ETag of a ${row.resource}`);
  const weak = new Captured(etag.step, etag.spot, 'W/');
  const done = await session.send({ ...plan, headers: { ...plan.headers, 'If-Match': weak } });
  claimRefused(session, done, {
    by: { when: 'precondition.failed' },
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: weakTag,
    what: 'an If-Match with the tag of now, made weak',
    control: request,
    at: `${endpoint.at}/if_match`,
  });
}

/** The reason of a claim of several requests with one tag. */
export const tagRaced = 'If-Match, at once';
/** So many ask with one tag at once. */
const rivals = 3;

function factOfRace(model: Model, endpoint: Endpoint): FactName {
  const failed = model.refusals.of('precondition.failed', model.operationOf(endpoint));
  return failed ? { kind: 'conditions', subject: failed.code.name } : { kind: 'request payload shapes', subject: endpoint.key };
}

/** Of several changes at once with the tag of now one is carried out: after it the others' is of another time. */
async function race(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const { row, plan } = await begin(session, endpoint, 'full');
  const before = (await lookAt(session, row)).done;
  const etag = await etagFor(session, row, plan.caller);
  const key = endpoint.idempotency?.header;
  const headers = Object.fromEntries(Object.entries(plan.headers).filter(([name]) => name !== key));
  const request = { ...plan, headers: { ...headers, 'If-Match': etag } };
  const done = await session.together(Array.from({ length: rivals }, () => request));
  const after = (await lookAt(session, row)).done;
  session.claim({
    fact: factOfRace(model, endpoint),
    reason: tagRaced,
    at: `${endpoint.at}/if_match`,
    of: [before, after, ...done],
    tries: 8,
    judge(was: TrialExchange, is: TrialExchange, ...exchanges: readonly TrialExchange[]) {
      const [old, row] = [was, is].map((one) => rowWith(model, one, idIn(model, one)));
      // Who changes nothing leaves the tag as it was.
      if (!old || !row || isSame(old, row)) return moot('nothing was changed');
      const winners = exchanges.filter(isDone).length;
      if (winners === 0) return moot('none was carried out');
      return winners === 1
        ? undefined
        : { promised: `of ${rivals} at once with one If-Match, one is carried out`, seen: `${winners} were` };
    },
  });
}
