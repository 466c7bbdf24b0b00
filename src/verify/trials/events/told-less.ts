/** Who is told less of a row than others, since some of it is never shown to them. */
import { isMap } from '../../../document/values.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { isWritable } from '../../../parts/payload.ts';
import type { Field } from '../../../parts/resources.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { resolve } from '../../exchange/symbol.ts';
import type { Readied } from '../../make/readied.ts';
import { isNeverShown } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import { subscribing } from './subscribing.ts';

/** Who may subscribe, may read rows of a kind's resource, and is never shown some of its fields: they are left out of what is told, too. */
export function toldLess(model: Model, { payload, data }: EventKind): readonly TrialCaller[] {
  const name = statedValue(payload)?.resource;
  const resource = typeof name === 'string' && !data ? model.resource(name) : undefined;
  if (!resource) return [];
  const reads = [...model.endpointsThat('read', resource.name), ...model.endpointsThat('list', resource.name)];
  const isFilled = (field: Field) =>
    isWritable(model.spec, resource, field) || statedValue(field.required) === true || Object.keys(field.set).length > 0;
  return subscribing(model).filter(
    (caller): caller is TrialCaller =>
      caller !== undefined &&
      reads.some((endpoint) => model.access.allows(model.operationOf(endpoint), caller) !== 'no') &&
      entriesOf(resource.fields).some(([, field]) => isFilled(field) && isNeverShown(model.spec, field, caller)),
  );
}

/** Whether somebody may read what a request makes, or the row that it changes, as far as that is known. */
export function mayBeTold(
  session: Session,
  operation: Operation,
  caller: TrialCaller,
  { request: { body }, row }: Readied,
): boolean {
  const { model } = session;
  const { resource = '' } = operation;
  const sent = body && 'value' in body ? resolve(body.value, session.run) : undefined;
  const fields = { ...row?.fields, ...(isMap(sent) && sent) };
  const missing = entriesOf(model.resource(resource)?.fields).flatMap(([name]) => (Object.hasOwn(fields, name) ? [] : [name]));
  const known = { context: { resource: fields }, unseen: { resource: new Set(missing) } };
  const reads = [...model.endpointsThat('read', resource), ...model.endpointsThat('list', resource)];
  return reads.some((endpoint) => model.access.allows(model.operationOf(endpoint), caller, known) !== 'no');
}
