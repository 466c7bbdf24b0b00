import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { boundByPath, isStateSent, isWritable } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { type Begun, beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { foreignValue } from '../../make/claim-row.ts';
import { lookAt } from '../../make/look.ts';
import { putThere } from '../../make/put-there.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import type { Model } from '../../model/model.ts';
import { bodyMedia, mayHold, writesFields } from '../../model/own-body.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { hasWayTo, withMember } from '../../values/at-path.ts';

/** An immutable field is refused another value, and a field that the resource does not state is refused by name. */
export const fixedFields: Trial = {
  name: 'resources/fixed',
  part: 'resources',
  about: 'Another value for an immutable field is refused, and so is a field that is not stated.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const resource = model.resource(resourceOfEffect(effect) ?? '');
      const writes = ['create', 'update', 'replace', 'upsert'].includes(effect?.verb ?? '');
      if (!resource || !writes || !bodyMedia(endpoint) || !writesFields(model, endpoint) || !isStated(resource.fields)) continue;
      for (const place of closedPlaces(model, endpoint)) {
        const fact = { kind: 'field names', subject: place.resource.name };
        const where = place.path.length === 0 ? '' : ` in ${place.path.join('.')}`;
        yield {
          name: `${endpoint.key} with a field that is not stated${where}`,
          facts: [fact],
          run: (session) => sendUnstated(session, endpoint, place),
        };
      }
      for (const field of endpoint.readOnlySent && !isStated(endpoint.request) ? refusedFields(model, resource) : []) {
        const fact = { kind: 'allowed values', subject: `${resource.name}.${field.name}` };
        yield {
          name: `${endpoint.key} with ${field.name}, which is read-only`,
          facts: [fact],
          run: (session) => sendReadOnly(session, endpoint, field, fact),
        };
      }
      if (effect?.verb === 'create') continue;
      const bound = new Set(boundByPath(model.spec, endpoint));
      for (const [name, field] of entriesOf(resource.fields)) {
        if (!field.immutable || bound.has(name) || !mayHold(model, endpoint, name) || !isWritable(model.spec, resource, field))
          continue;
        const fact = { kind: 'allowed values', subject: `${resource.name}.${name}` };
        yield {
          name: `${endpoint.key} with another ${name}`,
          // What could not be looked at of a field is missing of its resource, too.
          facts: [fact, { kind: 'field names', subject: resource.name }],
          run: (session) => sendAnother(session, endpoint, field, fact),
        };
      }
    }
  },
};

/** The fields that nobody may send, of which a value can be made. */
function refusedFields({ spec }: Model, resource: Resource): Field[] {
  return entriesOf(resource.fields).flatMap(([, field]) =>
    isWritable(spec, resource, field) || isStateSent(spec, resource, field) || foreignValue(field) === undefined ? [] : [field],
  );
}

async function sendReadOnly(
  session: Session,
  endpoint: Endpoint,
  field: Field,
  fact: { readonly kind: string; readonly subject: string },
): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const done = await session.send(begun.request(withMember(begun.json, [field.name], foreignValue(field) ?? null)));
  claimRefused(session, done, {
    by: { when: 'request.invalid.read_only' },
    fact,
    reason: 'read-only refused',
    what: `${field.name}, which is read-only`,
    control: begun.valid,
    isSo: ({ sent }: TrialExchange) =>
      typeof sent.json === 'object' && sent.json !== null && Object.hasOwn(sent.json, field.name),
  });
}

/** What fields of a resource were called in older versions, and those that are gone: names that its newest version does not know. */
function olderNames({ spec }: Model, { name, fields }: Resource): string[] {
  const changes = entriesOf(spec.versioning.changes).flatMap(([, stated]) => statedValue(stated) ?? []);
  const older = changes.flatMap((change) =>
    (change.kind === 'rename' || change.kind === 'remove') && change.resource === name ? [change.field] : [],
  );
  return [...new Set(older)].filter((field) => entryOf(fields, field) === undefined).slice(0, olderMost);
}

const olderMost = 4;

/** So often a body is drawn until the value is in it. */
const drawsMost = 4;

async function sendUnstated(session: Session, endpoint: Endpoint, { resource, path }: ClosedPlace): Promise<void> {
  const names = ['nf_not_stated', ...olderNames(session.model, resource)];
  const isThere = ({ json }: Begun) => hasWayTo(json, [...path, ...names.slice(0, 1)]);
  // A value that may be left out is sent with all that may be; a list of them may have none in it all the same.
  let begun = await beginBody(session, endpoint, path.length === 0 ? 'plain' : 'whole');
  for (let draw = 0; draw < drawsMost && !isThere(begun); draw++) begun = await beginBody(session, endpoint, 'full');
  session.need(isThere(begun), `no ${path.join('.')} could be made`);
  for (const name of names) {
    const done = await session.send(begun.request(withMember(begun.json, [...path, name], 'x')));
    claimRefused(session, done, {
      by: { when: 'request.invalid.unknown' },
      fact: { kind: 'field names', subject: resource.name },
      reason: unstatedRefused,
      what: `a field ${[...path, name].join('.')}`,
      control: begun.valid,
      isSo: ({ sent }: TrialExchange) => hasUnstated(sent.json, [...path, name]),
    });
  }
}

function hasUnstated(json: Json | undefined, [name = '', ...rest]: readonly string[]): boolean {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, name)) return false;
  return rest.length === 0 || hasUnstated((json as Readonly<Record<string, Json>>)[name], rest);
}

/** The reason of a claim that another value for what is set once is refused. */
export const otherNotTaken = 'immutable';

async function sendAnother(
  session: Session,
  endpoint: Endpoint,
  field: Field,
  fact: { readonly kind: string; readonly subject: string },
): Promise<void> {
  const { model } = session;
  const begun = await beginBody(session, endpoint, 'plain');
  // What an upsert has made it replaces then.
  const put = statedValue(endpoint.does)?.verb === 'upsert' ? await putThere(session, begun.valid) : undefined;
  const row = put?.row ?? begun.row;
  const about = put?.about ?? ((plan: RequestPlan) => plan);
  session.need(row !== undefined, `${endpoint.key} is about no row`);
  const before = (await lookAt(session, row)).done;
  const words = statedValue(field.shape)?.enum;
  const other = Array.isArray(words) ? words.find((one: Json) => one !== null && one !== row.fields?.[field.name]) : undefined;
  const value: Symbolic | undefined =
    field.ref === undefined ? (other ?? model.freshValue(row.resource, field.name)) : (await session.make(field.ref)).id;
  session.need(value !== undefined, `no other value could be made for ${field.name}`);
  const done = await session.send(about(begun.request(withMember(begun.json, [field.name], value))));
  const isSo = (exchange: TrialExchange, was?: TrialExchange) => was !== undefined && isAnother(model, exchange, was, field.name);
  claimRefused(session, done, {
    by: { when: 'request.invalid.value' },
    fact,
    reason: otherNotTaken,
    at: `${field.at}/immutable`,
    beside: [before],
    isSo,
    what: `another ${field.name}`,
    control: about(begun.valid),
  });
  await claimUnchanged(session, row, { before, attempt: done, fact });
}

function isAnother(model: Model, exchange: TrialExchange, was: TrialExchange, name: string): boolean {
  const { sent } = exchange;
  const old = rowWith(model, was, idIn(model, exchange))?.[name];
  const now =
    typeof sent.json === 'object' && sent.json !== null && !Array.isArray(sent.json)
      ? (sent.json as Readonly<Record<string, unknown>>)[name]
      : undefined;
  return old !== undefined && now !== undefined && JSON.stringify(old) !== JSON.stringify(now);
}

/** Where in a body a member can be that a resource does not state: in the row, or in a value of it. */
interface ClosedPlace {
  readonly resource: Resource;
  /** The members on the way; `0` is the first item of a list. */
  readonly path: readonly string[];
}

/** The reason of a claim that such a member is refused. */
export const unstatedRefused = 'unstated refused';

const depthMax = 3;

/** The rows and values in the body of an endpoint that take no members but the stated ones. */
export function closedPlaces(model: Model, endpoint: Endpoint): readonly ClosedPlace[] {
  const effect = statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  const writes = ['create', 'update', 'replace', 'upsert'].includes(effect?.verb ?? '');
  if (!resource || !writes || !bodyMedia(endpoint) || !writesFields(model, endpoint) || isStated(endpoint.request)) return [];
  const left = new Set(boundByPath(model.spec, endpoint));
  const sent = (name: string) => !left.has(name) && mayHold(model, endpoint, name);
  return placesIn(model, resource, { path: [], sent });
}

function placesIn(
  model: Model,
  resource: Resource,
  { path, sent }: { readonly path: readonly string[]; readonly sent: (name: string) => boolean },
): readonly ClosedPlace[] {
  if (!isStated(resource.fields) || path.length > depthMax) return [];
  const inside = entriesOf(resource.fields).flatMap(([name, field]) => {
    const shape = statedValue(field.shape);
    const isList = isMap(shape?.items) && typeof shape.items.resource === 'string';
    const value = isList && isMap(shape?.items) ? shape.items.resource : shape?.resource;
    const inner = typeof value === 'string' ? model.resource(value) : undefined;
    if (!inner || field.children || !sent(name) || !isWritable(model.spec, resource, field)) return [];
    return placesIn(model, inner, { path: [...path, name, ...(isList ? ['0'] : [])], sent: () => true });
  });
  return [...(resource.additionalProperties ? [] : [{ resource, path }]), ...inside];
}
