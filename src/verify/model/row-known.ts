import type { Json } from '../../document/document.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Field } from '../../parts/resources.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { Before, RowFields } from './expectation.ts';
import { expectedAfter } from './expected.ts';
import type { Model } from './model.ts';
import { idIn } from './row-shown.ts';

/** Whether an exchange made the row of this identifier. */
export function hasMade(model: Model, exchange: TrialExchange, resource: string, id: Json): boolean {
  const effect = exchange.endpoint && statedValue(exchange.endpoint.does);
  const makes = isMaking(exchange);
  return makes && isDone(exchange) && resourceOfEffect(effect) === resource && String(idIn(model, exchange)) === String(id);
}

/** Whether an exchange asked for a row that was not there: what was found by a creation is not made by it. */
export function isMaking({ endpoint, status }: TrialExchange): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  return (effect?.verb === 'create' && !(endpoint?.exists && status === 200)) || (effect?.verb === 'upsert' && status === 201);
}

/** A row as conditions read it: as it was shown to its reader and, where a field is hidden, as its creation set it for good. */
export function rowKnown(
  model: Model,
  resource: string,
  { fields, unseen: hiddenThen, creation }: Before & { readonly creation: TrialExchange | undefined },
): Before {
  const unseen = new Set(hiddenThen);
  const lasting = creation ? setForGood(model, resource, creation) : {};
  const hidden = Object.fromEntries(Object.entries(lasting).filter(([name]) => unseen.has(name) && fields[name] === undefined));
  for (const name of [...Object.keys(hidden), ...Object.keys(fields)]) unseen.delete(name);
  return { fields: { ...hidden, ...fields }, unseen };
}

const reckoned = new WeakMap<TrialExchange, RowFields>();

/** What a creation gave the fields that nothing changes afterwards, as far as that can be reckoned from the request and its caller. */
function setForGood(model: Model, name: string, creation: TrialExchange): RowFields {
  const known = reckoned.get(creation);
  if (known) return known;
  const resource = model.resource(name);
  const out: Record<string, Json> = {};
  const expected = resource && isDone(creation) ? expectedAfter(model, creation, undefined) : new Map();
  for (const [field, stated] of resource ? entriesOf(resource.fields) : []) {
    const one = expected.get(field);
    if (one?.is === 'value' && one.because !== 'state' && isForGood(model, name, stated)) out[field] = one.value;
  }
  reckoned.set(creation, out);
  return out;
}

/** Whether only a creation gives a field its value. */
function isForGood(model: Model, resource: string, { immutable, readOnly, set }: Field): boolean {
  const creating = new Set(['create', ...model.endpointsThat('create', resource).map(({ operation }) => operation)]);
  return (immutable || readOnly) && Object.keys(set).every((word) => creating.has(word));
}
