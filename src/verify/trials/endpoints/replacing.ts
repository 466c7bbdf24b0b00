import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { beginBody } from '../../make/begin-body.ts';
import { callersFor } from '../../make/callers-for.ts';
import { identifiedByMaker } from '../../make/entrusted.ts';
import { membersSent } from '../../make/fields-sent.ts';
import { requestAbout } from '../../make/request-about.ts';
import { beforeFrom, expectedAfter } from '../../model/expected.ts';
import type { Model } from '../../model/model.ts';
import { mayHold, writesFields } from '../../model/own-body.ts';
import { rowsShown, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { withMember, withoutMember } from '../../values/at-path.ts';
import { oneLine } from '../../values/difference.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf } from '../../values/values.ts';

/** What is put in the place of a row leaves nothing of what was there, and an upsert says whether something was. */
export const replacing: Trial = {
  name: 'endpoints/replacing',
  part: 'endpoints',
  about:
    'A replacement leaves nothing that was not sent; an upsert is answered with 201 where it makes a row, and with 200 after.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const verb = statedValue(endpoint.does)?.verb;
      if ((verb !== 'replace' && verb !== 'upsert') || endpoint.identity || !writesFields(model, endpoint)) continue;
      const request = { kind: 'request payload shapes', subject: endpoint.key };
      const response = { kind: 'response payload shapes', subject: endpoint.key };
      if (verb === 'replace')
        yield { name: `${endpoint.key} with less`, facts: [request], run: (session) => replaceWithLess(session, endpoint) };
      else yield { name: `${endpoint.key} twice`, facts: [request, response], run: (session) => putTwice(session, endpoint) };
    }
  },
};

async function replaceWithLess(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const body = membersToLeaveOut(session, endpoint, model.callers[0]);
  const row = await session.make(resource, { body });
  session.need(row.shown !== undefined, `the ${resource} that was made is not shown`);
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const plan = await requestAbout(session, row, endpoint, { caller, headers });
  const put = await session.send(withLess(plan, Object.keys(body)));
  await claimGone(session, endpoint, { plan, before: row.shown, put });
}

/** The first makes the row, with all that it can have; the second leaves out what it may. */
async function putTwice(session: Session, endpoint: Endpoint): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const more = membersToLeaveOut(session, endpoint, begun.caller);
  let json = begun.json;
  for (const [name, value] of Object.entries(more)) json = withMember(json, [name], value);
  const plan = begun.request(json);
  const before = await session.send(plan);
  const put = await session.send(withLess(plan, Object.keys(more)));
  claimStatuses(session, endpoint, before, put);
  await claimGone(session, endpoint, { plan, before, put });
}

/** A value for each member that a body may leave out, another than what the service fills in for it. */
function membersToLeaveOut(session: Session, endpoint: Endpoint, caller: TrialCaller | undefined): Record<string, Symbolic> {
  const { model } = session;
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const out: Record<string, Symbolic> = {};
  for (const { path, shape, isNeeded, isImmutable } of membersSent(model, endpoint, caller)) {
    const [name = '', ...inside] = path;
    const field = resource && entryOf(resource.fields, name);
    const isFilled = field?.generate !== undefined || Object.keys(field?.set ?? {}).length > 0;
    const isSeen = field !== undefined && field.visible === undefined && field.writable === undefined && !field.writeOnly;
    const isMade = model.endpointsThat('create', resource?.name ?? '').every((create) => mayHold(model, create, name));
    if (inside.length > 0 || isNeeded || isImmutable || isFilled || !isSeen || !isMade) continue;
    // Values that name rows, or that no two rows may share, say nothing more here.
    const isPlain = !/"(?:ref|resource)":/.test(JSON.stringify(shape));
    if (!isPlain || model.uniqueFields(resource?.name ?? '').includes(name)) continue;
    try {
      // The cast holds: a shape without references has drafts without them.
      const drawn = session.chance.values(arbitraryValuesOf(model.spec, shape, 'plain'), drawsApart) as Json[];
      const value = drawn.find((one) => !isSame(one, field.default?.value));
      if (value !== undefined) out[name] = value;
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
    }
  }
  return out;
}

/** So many values are drawn to find one that is another than the default. */
const drawsApart = 8;

function withLess(plan: RequestPlan, names: readonly string[]): RequestPlan {
  const { body } = plan;
  if (!body || !('value' in body)) return plan;
  const value = names.reduce<Symbolic>((less, name) => withoutMember(less, [name]), body.value);
  return { ...plan, body: { ...body, value } };
}

/** What may be left out, and was, is gone: in the answer, and in a later one that shows the row. */
async function claimGone(
  session: Session,
  endpoint: Endpoint,
  { plan, before, put }: { readonly plan: RequestPlan; readonly before: Done<TrialExchange>; readonly put: Done<TrialExchange> },
): Promise<void> {
  const { model } = session;
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  const judge = (was: TrialExchange, change: TrialExchange, seen: TrialExchange) =>
    goneJudgement(model, endpoint, was, change, seen);
  session.claim({ fact, reason: 'replaced', of: [before, put, put] as const, judge });
  const read = model.endpoints.find(
    (one) => one.method === 'GET' && one.path === endpoint.path && statedValue(one.does)?.verb === 'read' && !one.identity,
  );
  if (!read || model.access.allows(model.operationOf(read), plan.caller) === 'no') return;
  const seen = await session.send(model.request(read, { path: plan.path, caller: plan.caller }));
  session.claim({ fact, reason: 'replaced for good', of: [before, put, seen] as const, judge });
}

function goneJudgement(
  model: Model,
  endpoint: Endpoint,
  was: TrialExchange,
  change: TrialExchange,
  seen: TrialExchange,
): Judgement {
  const [old] = isDone(was) ? (rowsShown(model, was)?.rows ?? []) : [];
  const shownRow = isDone(change) ? rowsShown(model, seen)?.rows[0] : undefined;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  if (!old || !shownRow) return moot('the row is not shown');
  const row = unexpanded(model, resource, old);
  const expected = expectedAfter(model, change, beforeFrom(model, resource, was, row));
  for (const [name, expectation] of expected) {
    const isFilled = expectation.is === 'value' && expectation.because === 'default';
    if (isFilled && row[name] !== undefined && !isSame(shownRow[name], expectation.value))
      return { promised: `${name}, which was not sent, is ${oneLine(expectation.value)} again`, seen: oneLine(shownRow[name]) };
    if (expectation.is !== 'absent' || expectation.because !== 'sent' || row[name] === undefined || row[name] === null) continue;
    const now = shownRow[name];
    if (now !== undefined && now !== null) return { promised: `${name}, which was not sent, is gone`, seen: oneLine(now) };
  }
  return undefined;
}

/** Where the answers follow by rule, 201 is for what was made, and 200 for what was there (RFC 9110 section 9.3.4). */
function claimStatuses(session: Session, endpoint: Endpoint, first: Done<TrialExchange>, second: Done<TrialExchange>): void {
  const fact = { kind: 'response payload shapes', subject: endpoint.key };
  if (endpoint.response.standing !== 'open') return;
  const isOfMaker = identifiedByMaker(session.model, resourceOfEffect(statedValue(endpoint.does)) ?? '') !== undefined;
  const judge = (put: TrialExchange): Judgement => {
    if (!isDone(put)) return moot('it was refused');
    if (isOfMaker) return moot('others may have put it before');
    return put.status === 201 ? undefined : { promised: '201 for a row that was not there', seen: asText(put.status) };
  };
  session.claim({ fact, reason: 'made', of: [first] as const, judge });
  session.claim({
    fact,
    reason: 'there',
    of: [first, second] as const,
    judge: (before: TrialExchange, put: TrialExchange): Judgement => {
      if (!isDone(before) || !isDone(put) || before.sent.target !== put.sent.target) return moot('it was not put twice');
      return put.status === 200 ? undefined : { promised: '200 for a row that was there', seen: asText(put.status) };
    },
  });
}
