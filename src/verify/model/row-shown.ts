import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entriesOf, isStated, type Named, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { identifierParameter } from '../../parts/payload.ts';
import { placeMadeBy } from '../../parts/reach.ts';
import type { Shape } from '../../parts/shape.ts';
import { asText } from '../exchange/as-text.ts';
import { bodyFields, isDone, type TrialExchange } from '../exchange/exchange.ts';
import { bareMap } from '../values/at-path.ts';
import type { Model } from './model.ts';

export type ShownFields = Readonly<Record<string, Json>>;

/** The rows of a resource that an answer shows whole, as they are: one, or the items of a list. Nothing where it shows something else. */
export function rowsShown(model: Model, exchange: TrialExchange): ReturnType<typeof rowsAnswered> {
  return choosesFields(exchange) ? undefined : rowsAnswered(model, exchange);
}

/** Whether an exchange asked for a row that was not there: what was found by a creation is not made by it. */
export function isMaking({ endpoint, status }: TrialExchange): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  return (effect?.verb === 'create' && !(endpoint?.exists && status === 200)) || (effect?.verb === 'upsert' && status === 201);
}

/** Whether a request chose what its answer shows of its rows. */
export function choosesFields({ endpoint, sent }: TrialExchange): boolean {
  return endpoint?.select !== undefined && Object.hasOwn(sent.query, endpoint.select.parameter);
}

/** As `rowsShown`, whole or as much of them as was chosen. */
export function rowsAnswered(
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
    const row = tellsDeleted(model, exchange) ? undefined : rowIn(exchange);
    return row && { resource, rows: [row] };
  }
  const items = itemsOf(model, exchange);
  return items && { resource, rows: items };
}

/** Whether an answer shows the resource as it is: by rule, because it is stated so, or in one member of it. */
export function showsResource(endpoint: Endpoint, resource: string, status: number): boolean {
  return rowPlace(endpoint, resource, status) !== undefined;
}

/** Where an answer shows a row as it is: nowhere, as its whole body, or in the member that is stated to be what came out. */
export function rowPlace({ response, does }: Endpoint, resource: string, status: number): readonly string[] | undefined {
  if (response.standing === 'open') return response.question === undefined ? [] : undefined;
  if (!isStated(response) || statedValue(does)?.verb === 'list') return undefined;
  const own = response.value.filter((answer) => answer.status === asText(status));
  const places = own.map(({ shape, data }) => {
    const isWhole = data === undefined || isResult(data.source);
    if (isWhole) return statedValue(shape)?.resource === resource ? '' : undefined;
    if (typeof data.source === 'string') return undefined;
    return placeMadeBy(data as Named<Expression>, 'result')?.join('\n');
  });
  const [first] = places;
  if (first === undefined || places.some((one) => one !== first)) return undefined;
  return first === '' ? [] : first.split('\n');
}

function isResult(source: unknown): boolean {
  return typeof source === 'string' && source.trim() === 'result';
}

/** The row that an answer shows as it is, by itself or in a member; whatever is there where nothing says that it is a row. */
export function rowIn(exchange: TrialExchange): ShownFields | undefined {
  const { endpoint, status } = exchange;
  const resource = resourceOfEffect(endpoint && statedValue(endpoint.does));
  const body = bodyFields(exchange);
  const place = (endpoint && resource !== undefined && rowPlace(endpoint, resource, status)) || [];
  return place.reduce<ShownFields | undefined>((at, member) => {
    const inner = at?.[member];
    return isMap(inner) ? inner : undefined;
  }, body);
}

/** The row that an answer surely shows whole; nothing where it shows a part of it, or something else. */
export function wholeRowIn(exchange: TrialExchange): ShownFields | undefined {
  const { endpoint, status } = exchange;
  const resource = resourceOfEffect(endpoint && statedValue(endpoint.does));
  return endpoint && resource !== undefined && showsResource(endpoint, resource, status) ? rowIn(exchange) : undefined;
}

/** Whether reading a row tells that it was deleted: that is what came, and it is no row. */
export function tellsDeleted(model: Model, { endpoint, status, body }: TrialExchange): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  if (effect?.verb !== 'read' || body === undefined) return false;
  const answers = model.resource(effect.resource)?.kept?.answers ?? [];
  const isTold = answers.some(
    (answer) => answer.status === asText(status) && isStated(answer.shape) && fits(model, answer.shape.value, body),
  );
  return isTold && !fits(model, { resource: effect.resource }, body);
}

function fits(model: Model, shape: Shape, body: Json): boolean {
  return model.schemas.of(shape, 'shown')(body).length === 0;
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
  const out: Record<string, Json> = bareMap(row);
  for (const [name, field] of entriesOf(stated.fields)) {
    const value = out[name];
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
  const row = shown.rows.find((one) => asText(one[field]) === asText(id));
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
  const own = rowIn(exchange)?.[field];
  return own ?? (isMap(sent.json) ? sent.json[field] : undefined);
}
