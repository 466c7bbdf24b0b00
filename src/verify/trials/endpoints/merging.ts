import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { isWritable, writableShape } from '../../../parts/payload.ts';
import type { Field } from '../../../parts/resources.ts';
import { branchesOf, someInside } from '../../../parts/shapes/branches.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import { mayHold, writesFields } from '../../model/own-body.ts';
import { rowIn, rowPlace, rowsShown } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
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
