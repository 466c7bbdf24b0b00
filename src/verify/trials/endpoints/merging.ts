import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { isWritable, writableShape } from '../../../parts/payload.ts';
import type { Field } from '../../../parts/resources.ts';
import { branchesOf, someInside } from '../../../parts/shapes/branches.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
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
import { rowIn, rowPlace, rowsShown, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { withMember, withoutMember } from '../../values/at-path.ts';
import { oneLine } from '../../values/difference.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf } from '../../values/values.ts';

/** An update is merged inside of values as well: a member of one that is sent alone leaves the others (RFC 7396 section 2). */
export const merging: Trial = {
  name: 'endpoints/merging',
  part: 'endpoints',
  about: 'A patch with one member of a value leaves the other members of it as they are.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
      const isPatch = statedValue(endpoint.does)?.verb === 'update' && !endpoint.identity && writesFields(model, endpoint);
      if (!resource || !isPatch) continue;
      const facts = [{ kind: 'request payload shapes', subject: endpoint.key }];
      for (const [name, field] of entriesOf(resource.fields)) {
        const isMade = model.endpointsThat('create', resource.name).every((create) => mayHold(model, create, name));
        const isOurs =
          isMade &&
          mayHold(model, endpoint, name) &&
          isWritable(model.spec, resource, field) &&
          field.visible === undefined &&
          field.writable === undefined;
        const members = isOurs && !field.immutable && !field.writeOnly ? membersOf(model, field) : [];
        const [member, ...others] = members;
        if (member === undefined || others.length === 0) continue;
        const patch = { endpoint, resource: resource.name, field: name, members };
        yield { name: `${endpoint.key} with ${name}.${member} alone`, facts, run: (session) => patchInside(session, patch) };
      }
    }
  },
};

interface Inside {
  readonly endpoint: Endpoint;
  readonly resource: string;
  readonly field: string;
  /** The members that a value of the field has to have, and those that it may. */
  readonly members: readonly string[];
}

/** The members of a field's value that everybody may write and see; none where the value is no map. */
function membersOf(model: Model, field: Field): string[] {
  const shape = statedValue(field.shape);
  if (!shape || shape.ref !== undefined) return [];
  const name = typeof shape.resource === 'string' ? shape.resource : undefined;
  const inner = name === undefined ? undefined : model.resource(name);
  if (inner) {
    return entriesOf(inner.fields).flatMap(([member, one]) =>
      isWritable(model.spec, inner, one) && !one.visible && !one.writable && !one.writeOnly && !one.ref ? [member] : [],
    );
  }
  const isPlain =
    shape.type === 'object' && isMap(shape.properties) && !someInside(shape, (one) => refers(one) || branchesOf(one).length > 0);
  return isPlain && isMap(shape.properties) ? Object.keys(shape.properties) : [];
}

function refers({ ref, resource }: JsonMap): boolean {
  return ref !== undefined || resource !== undefined;
}

async function patchInside(session: Session, { endpoint, resource, field, members }: Inside): Promise<void> {
  const { model } = session;
  const [state] = endpoint.in ?? [];
  const body = { [field]: wholeValue(session, { endpoint, resource, field, members }) };
  const row = await session.make(resource, { body, ...(state !== undefined && { state }) });
  const { made } = row;
  const value = made && rowIn(made.value)?.[field];
  session.need(made !== undefined && isMap(value), `the ${resource} that was made has no ${field}`);
  const [member, ...others] = members.filter((name) => value[name] !== undefined && value[name] !== null);
  session.need(member !== undefined && others.length > 0, `the ${field} of the ${resource} has one member only`);
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const place = made.value.endpoint ? rowPlace(made.value.endpoint, resource, made.value.status) : undefined;
  const same = session.captured(made, ...(place ?? []), field, member);
  const plan = await requestAbout(session, row, endpoint, { caller, headers, json: { [field]: { [member]: same } } });
  const done = await session.send(plan);
  session.claim({
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: `merges ${field}`,
    of: [made, done] as const,
    judge: (was: TrialExchange, change: TrialExchange) => mergedJudgement(model, { endpoint, field }, was, change),
  });
}

/** A value of the field with every member that can be drawn. */
function wholeValue(session: Session, { resource, field }: Inside): Symbolic {
  const { model } = session;
  const stated = model.resource(resource);
  const shape = stated && statedValue(entryOf(stated.fields, field)?.shape);
  const inner = typeof shape?.resource === 'string' ? model.resource(shape.resource) : undefined;
  const { properties } = inner ? writableShape(model.spec, inner, []) : (shape ?? {});
  const value: Record<string, Symbolic> = {};
  for (const [name, member] of Object.entries(isMap(properties) ? properties : {})) {
    if (!isMap(member) || someInside(member, refers)) continue;
    try {
      // The cast holds: a shape without references has drafts without them.
      value[name] = session.chance.value(arbitraryValuesOf(model.spec, member, 'plain')) as Json;
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
    }
  }
  return value;
}

/** What was sent is a part of what is there, so nothing changes, and nothing about it can be invalid. */
function mergedJudgement(
  model: Model,
  { endpoint, field }: { readonly endpoint: Endpoint; readonly field: string },
  was: TrialExchange,
  change: TrialExchange,
): Judgement {
  const old = isDone(was) ? rowIn(was)?.[field] : undefined;
  const sent = isMap(change.sent.json) ? change.sent.json[field] : undefined;
  if (!isMap(old) || !isMap(sent) || Object.keys(change.sent.json ?? {}).length > 1)
    return moot('it is no part of what is there');
  if (!Object.entries(sent).every(([name, value]) => isSame(value as Json, old[name])))
    return moot('it is no part of what is there');
  const promised = `${oneLine(sent as Json)} is merged into ${field}, which stays ${oneLine(old as Json)}`;
  if (isDone(change)) {
    const row = rowsShown(model, change)?.rows[0];
    if (!row) return moot('the row is not shown');
    const now = row[field];
    const lost = Object.keys(old).find((name) => !isSame(old[name], isMap(now) ? now[name] : undefined));
    return lost === undefined ? undefined : { promised, seen: oneLine(now) };
  }
  const invalid = model.refusals.codesFor('request.invalid', model.operationOf(endpoint));
  const code = model.refusals.codeIn(change);
  const isInvalid = code !== undefined && invalid.includes(code);
  return isInvalid ? { promised, seen: `${change.status}${briefly(change)}` } : moot('something else stood in its way');
}

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

/** A value for each member that a body may leave out without the service filling it in. */
function membersToLeaveOut(session: Session, endpoint: Endpoint, caller: TrialCaller | undefined): Record<string, Symbolic> {
  const { model } = session;
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const out: Record<string, Symbolic> = {};
  for (const { path, shape, isNeeded, isImmutable } of membersSent(model, endpoint, caller)) {
    const [name = '', ...inside] = path;
    const field = resource && entryOf(resource.fields, name);
    const isFilled = field?.default !== undefined || field?.generate !== undefined || Object.keys(field?.set ?? {}).length > 0;
    const isSeen = field !== undefined && field.visible === undefined && field.writable === undefined && !field.writeOnly;
    const isMade = model.endpointsThat('create', resource?.name ?? '').every((create) => mayHold(model, create, name));
    if (inside.length > 0 || isNeeded || isImmutable || isFilled || !isSeen || !isMade) continue;
    // Values that name rows, or that no two rows may share, say nothing more here.
    const isPlain = !/"(?:ref|resource)":/.test(JSON.stringify(shape));
    if (!isPlain || model.uniqueFields(resource?.name ?? '').includes(name)) continue;
    try {
      // The cast holds: a shape without references has drafts without them.
      out[name] = session.chance.value(arbitraryValuesOf(model.spec, shape, 'plain')) as Symbolic;
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
    }
  }
  return out;
}

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
  const expected = expectedAfter(model, change, { fields: row, ...beforeFrom(model, resource, was) });
  for (const [name, expectation] of expected) {
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
