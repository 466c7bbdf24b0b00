import type { Json, JsonMap } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import { bytesFormat } from '../../kinds/formats/all.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { boundByPath, identifierParameter, isStateSent, isWritable, pathParameters } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import { takenOf } from '../../parts/taking.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { bareMap } from '../values/at-path.ts';
import { isForm } from '../values/forms.ts';
import type { Before, RowFields } from './expectation.ts';
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

/** A row before a change, as far as what becomes of it can be reckoned: the rest may be as it was. */
export function reckonedOf(before: Before, resource: Resource, words: readonly string[], unknown: ReadonlySet<string>): Before {
  const fields = Object.entries(unset(resource, words, before.fields)).filter(([name]) => !unknown.has(name));
  return { ...before, fields: Object.fromEntries(fields) };
}

/** Whether an update or replacement leaves everything as it was, as far as it can be seen. */
export function leavesAsItWas({ fields }: Resource, next: RowFields, before: Before): boolean {
  // What is derived of other rows is another only where the rest of the row is, or they are.
  const isGone = (name: string) => !Object.hasOwn(next, name) && entryOf(fields, name)?.derive === undefined;
  return (
    Object.entries(next).every(
      ([name, value]) => before.unseen.has(name) || isSame(value ?? null, before.fields[name] ?? null),
    ) && Object.entries(before.fields).every(([name, value]) => value === null || !isGone(name))
  );
}

/** The fields that the path of an exchange binds, and their values. */
export function boundValues(model: Model, { endpoint, sent }: TrialExchange): ReadonlyMap<string, Json> {
  const bound = new Map<string, Json>();
  if (!endpoint) return bound;
  const effect = statedValue(endpoint.does);
  const resource = effect && 'resource' in effect ? model.resource(effect.resource) : undefined;
  if (!resource) return bound;
  const names = new Set(boundByPath(model.spec, endpoint));
  const last = identifierParameter(endpoint);
  const identifier = statedValue(resource.identifier)?.field;
  for (const parameter of pathParameters(endpoint.path)) {
    const name = parameter === last ? identifier : parameter;
    const value = sent.path[parameter];
    const field = name === undefined ? undefined : entryOf(resource.fields, name);
    if (name === undefined || value === undefined || !field || !names.has(name)) continue;
    const type = field.ref === undefined ? statedValue(field.shape)?.type : identifierType(model.spec, field.ref);
    bound.set(name, type === 'integer' && typeof value === 'string' ? Number(value) : value);
  }
  return bound;
}
