import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { identifierParameter } from '../../parts/payload.ts';
import { bodyFields, isDone, type TrialExchange } from '../script/exchange.ts';
import type { Model } from './model.ts';

export type ShownFields = Readonly<Record<string, Json>>;

/** The rows of a resource that an answer shows as they are: one, or the items of a list. Nothing where it shows something else. */
export function rowsShown(
  model: Model,
  exchange: TrialExchange,
): { readonly resource: string; readonly rows: readonly ShownFields[] } | undefined {
  const { endpoint } = exchange;
  if (!endpoint || !isDone(exchange) || exchange.status === 204) return undefined;
  const effect = statedValue(endpoint.does);
  const resource = resourceOfEffect(effect);
  if (
    !effect ||
    resource === undefined ||
    !showsResource(endpoint, resource, exchange.status) ||
    effect.verb === 'delete' ||
    endpoint.produces !== undefined
  )
    return undefined;
  if (effect.verb !== 'list') {
    const row = bodyFields(exchange);
    return row && { resource, rows: [row] };
  }
  const items = itemsOf(model, exchange);
  return items && { resource, rows: items };
}

/** Whether an answer shows the resource as it is: by rule, or because it is stated so. */
function showsResource(endpoint: Endpoint, resource: string, status: number): boolean {
  const { response, does } = endpoint;
  if (response.standing === 'open') return response.question === undefined;
  if (!isStated(response) || statedValue(does)?.verb === 'list') return false;
  const own = response.value.filter((answer) => answer.status === String(status));
  return own.length > 0 && own.every(({ shape, data }) => data === undefined && statedValue(shape)?.resource === resource);
}

/** The items of a list's answer, in the envelope that its pagination states. */
export function itemsOf(model: Model, exchange: TrialExchange): readonly ShownFields[] | undefined {
  const { endpoint, body } = exchange;
  const pagination = statedValue(endpoint?.pagination ?? model.spec.limits.pagination);
  const list = pagination?.items === undefined ? body : isMap(body) ? body[pagination.items] : undefined;
  if (!Array.isArray(list)) return undefined;
  return list.filter((item: Json): item is ShownFields => isMap(item));
}

/** A row with every expanded reference as the identifier that it stands for. */
export function unexpanded(model: Model, resource: string, row: ShownFields): ShownFields {
  const stated = model.resource(resource);
  if (!stated) return row;
  const out: Record<string, Json> = { ...row };
  for (const [name, field] of entriesOf(stated.fields)) {
    const value = row[name];
    if (field.ref === undefined || !isMap(value)) continue;
    const inner = value[model.identifierField(field.ref)];
    if (inner === undefined) delete out[name];
    else out[name] = inner;
  }
  return out;
}

/** The row with an identifier, wherever in an answer it is shown. */
export function rowWith(model: Model, exchange: TrialExchange, id: Json | undefined): ShownFields | undefined {
  const shown = rowsShown(model, exchange);
  if (!shown || id === undefined) return undefined;
  const field = model.identifierField(shown.resource);
  const row = shown.rows.find((one) => String(one[field]) === String(id));
  return row && unexpanded(model, shown.resource, row);
}

/** The identifier of the row that an exchange is about: as it answered it, else as the path had it. */
export function idIn(model: Model, exchange: TrialExchange): Json | undefined {
  const { endpoint, sent } = exchange;
  const effect = endpoint && statedValue(endpoint.does);
  const resource = resourceOfEffect(effect);
  if (!endpoint || resource === undefined) return undefined;
  const last = identifierParameter(endpoint);
  if (last !== undefined) return sent.path[last];
  const field = model.identifierField(resource);
  const own = bodyFields(exchange)?.[field];
  return own ?? (isMap(sent.json) ? sent.json[field] : undefined);
}
