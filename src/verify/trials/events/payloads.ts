import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { Flaw } from '../../exchange/claim.ts';
import { isHiddenFrom } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { oneLine } from '../../values/difference.ts';
import { tellsPayload } from './envelope.ts';
import { isPlainField, knownOf, type ObservedChange } from './expected.ts';

/** What is wrong with the payload of an event about a change, as a subscriber's maker is told of it. */
export function payloadFlaw(
  model: Model,
  kind: EventKind,
  payload: Json | undefined,
  change: ObservedChange,
  maker: TrialCaller | undefined,
  item?: Json,
): Flaw | undefined {
  const shape = statedValue(kind.payload);
  if (!shape || !tellsPayload(model.spec)) return undefined;
  if (payload === undefined) return { promised: `an event ${kind.name} has a payload`, seen: 'there is none' };
  const [misfit] = model.schemas.of(shape, 'shown')(payload);
  const seen = oneLine(payload);
  if (misfit) return { promised: `the payload of ${kind.name}: ${[...misfit.path].join('.')} ${misfit.message}`, seen };
  const resource = typeof shape.resource === 'string' ? shape.resource : undefined;
  const hidden = resource === undefined ? undefined : hiddenIn(model, resource, payload, maker);
  if (hidden !== undefined) return { promised: `${hidden} is not shown to ${maker?.user ?? 'the subscriber'}`, seen };
  if (kind.data) return dataFlaw(model, kind, payload, change, item);
  if (shape.ref !== undefined && shape.ref === change.operation.resource) return referenceFlaw(model, shape.ref, payload, change);
  return resource === undefined || resource !== change.operation.resource
    ? undefined
    : rowFlaw(model, resource, payload, change, maker);
}

/** A payload by reference is the identifier of the row. */
function referenceFlaw(model: Model, resource: Json, payload: Json, { before, after }: ObservedChange): Flaw | undefined {
  const id = (after ?? before)?.[model.identifierField(String(resource))];
  if (id === undefined || isSame(id, payload)) return undefined;
  return { promised: `the identifier of the row: ${oneLine(id)}`, seen: oneLine(payload) };
}

function hiddenIn(model: Model, resource: string, payload: Json, maker: TrialCaller | undefined): string | undefined {
  const stated = model.resource(resource);
  if (!stated || !isMap(payload)) return undefined;
  return entriesOf(stated.fields).find(([name, field]) => Object.hasOwn(payload, name) && isHiddenFrom(field, maker))?.[0];
}

/** A payload that is the resource itself shows the row as it is, or as it was before its deletion. */
function rowFlaw(
  model: Model,
  resource: string,
  payload: Json,
  change: ObservedChange,
  maker: TrialCaller | undefined,
): Flaw | undefined {
  const effect = change.operation.endpoint && statedValue(change.operation.endpoint.does);
  const row = change.after ?? (effect?.verb === 'delete' ? change.before : undefined);
  const stated = model.resource(resource);
  if (!row || !stated || !isMap(payload)) return undefined;
  for (const [name, field] of entriesOf(stated.fields)) {
    // Children are in answers alone.
    if (field.children || change.unseen.has(name) || isHiddenFrom(field, maker) || !isPlainField(model, resource, name)) continue;
    if (!isSame(row[name], payload[name]))
      return { promised: `${name} as it is in the row: ${oneLine(row[name])}`, seen: oneLine(payload[name]) };
  }
  return undefined;
}

/** What `data` reckons, as far as it can be reckoned here. */
function dataFlaw(model: Model, kind: EventKind, payload: Json, change: ObservedChange, item?: Json): Flaw | undefined {
  const { data } = kind;
  if (!data || 'source' in data || !isMap(payload)) return undefined;
  for (const [name, expression] of Object.entries(data)) {
    // What refers to a whole row is held to its shape alone.
    if (['next', 'resource'].includes(expression.source.trim())) continue;
    const evaluated = model.expressions.evaluate(expression, change.operation.name, knownOf(model, kind, change, item));
    if (typeof evaluated === 'string' || isSame(evaluated.value, payload[name])) continue;
    return { promised: `${name} is \`${expression.source}\`: ${oneLine(evaluated.value)}`, seen: oneLine(payload[name]) };
  }
  return undefined;
}
