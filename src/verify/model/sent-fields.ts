import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { bytesFormat } from '../../kinds/formats/all.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { isStateSent, isWritable } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import { takenOf } from '../../parts/taking.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { bareMap } from '../values/bare-map.ts';
import { isForm } from '../values/forms.ts';
import type { Model } from './model.ts';
import { writesFields } from './own-body.ts';

/** The fields that a body sets, as its caller may write them; nothing where the body has a shape of its own, or is neither JSON nor a form that says them plainly. */
export function sentFields(
  model: Model,
  resource: Resource,
  exchange: TrialExchange,
): Readonly<Record<string, Json>> | undefined {
  const { endpoint, sent } = exchange;
  const isOwn = endpoint !== undefined && (isUnstated(endpoint.request) || !writesFields(model, endpoint));
  const taken = takenOf(endpoint ?? {}, sent.json);
  const type = sent.headers['content-type'];
  if (isOwn || !isJsonMap(taken) || !(isJson(type) || (isForm(type) && isSaidPlainly(resource, endpoint, taken))))
    return undefined;
  const caller = model.readerOf(exchange);
  const effect = endpoint && statedValue(endpoint.does);
  const fields = Object.entries(taken).filter(([name]) => {
    const field = entryOf(resource.fields, name);
    const isMoved = field && effect?.verb === 'update' && isStateSent(model.spec, resource, field);
    if (!field || !(isMoved || isWritable(model.spec, resource, field))) return false;
    return field.writable === undefined || (caller !== undefined && field.writable.includes(caller.user));
  });
  return bareMap(Object.fromEntries(fields));
}

/** What no expression sets: what is sent of the rest need not be what comes to be. */
export function unset(
  { fields }: Resource,
  words: readonly string[],
  row: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const isSet = (name: string) => words.some((word) => entryOf(fields, name)?.set[word] !== undefined);
  return bareMap(Object.fromEntries(Object.entries(row).filter(([name]) => !isSet(name))));
}

/** What is taken of a body of JSON is JSON. */
export function isJsonMap(taken: unknown): taken is JsonMap {
  return isMap(taken as Json);
}

/** Whether it is said that the body is none, or of no promised shape. */
function isUnstated({ standing, ...request }: Endpoint['request']): boolean {
  return (
    standing === 'none' || standing === 'any' || (standing === 'open' && 'question' in request && request.question !== undefined)
  );
}

/** Whether a form says for sure what each field is to be: one type tells how its text, or each of a list, is read, and an empty text is what it is stated to be. */
function isSaidPlainly({ fields }: Resource, endpoint: Endpoint | undefined, taken: JsonMap): boolean {
  return Object.entries(taken).every(([name, value]) => {
    const shape = statedValue(entryOf(fields, name)?.shape);
    if (value === null || value === '') return endpoint?.emptySent !== undefined;
    return shape === undefined || isReadPlainly(shape, value);
  });
}

function isReadPlainly({ type, items, ...more }: JsonMap, value: Json): boolean {
  if (Array.isArray(value)) return isMap(items) && value.every((item: Json) => isReadPlainly(items, item));
  const isFile = ['contentMediaType', 'contentEncoding'].some((word) => word in more) || more.format === bytesFormat;
  const isOfType = typeof type === 'string' ? scalars.has(type) : type === undefined && Array.isArray(more.enum);
  return isOfType && !isFile && value !== null && value !== '' && typeof value !== 'object';
}

const scalars: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean']);

function isJson(type: string | undefined): boolean {
  return type === undefined || /^application\/(?:[\w.-]+\+)?json/.test(type);
}
