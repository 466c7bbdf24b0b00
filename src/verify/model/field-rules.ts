import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import { takenOf } from '../../parts/answers.ts';
import type { ChildrenTaker } from '../../parts/children.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { childrenTakerOf, takesChildren } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { bareMap } from '../values/at-path.ts';
import type { RowFields } from './expectation.ts';
import type { Model } from './model.ts';
import { isJsonMap } from './own-body.ts';

/** What a new row says of the rules of its resource: which are broken, as far as that can be told of what was sent. */
export type KeepsRules = 'yes' | 'no' | 'unknown';

/** Whether the fields of a row keep the rules of its resource together. */
export function keepsRules(model: Model, { name, rules, choices }: Resource, row: RowFields): KeepsRules {
  if (choices.some(({ fields }) => fields.filter((name) => isThere(row[name])).length !== 1)) return 'no';
  const told = Object.values(rules).map((rule) =>
    readsMadeInside(model, name, rule.if)
      ? 'unknown'
      : model.expressions.evaluate(rule.if, undefined, { context: { next: row as Json } }),
  );
  if (told.some((one) => typeof one === 'object' && one.value === true)) return 'no';
  return told.every((one) => typeof one === 'object' && one.value === false) ? 'yes' : 'unknown';
}

/** Whether an expression reads values inside of which the service makes something of what is sent: what that is nobody has reckoned. */
function readsMadeInside(model: Model, resource: string, condition: Expression): boolean {
  const fields = model.resource(resource)?.fields;
  return model.expressions.readsOf(condition, undefined).some(({ path: [field = ''] }) => {
    const shape = statedValue(entryOf(fields, field)?.shape);
    const inner = [shape?.resource, isMap(shape?.items) ? shape.items.resource : undefined];
    return inner.some(
      (one) => typeof one === 'string' && entriesOf(model.resource(one)?.fields).some(([, made]) => isMade(made)),
    );
  });
}

function isMade({ set, derive }: Field): boolean {
  return derive !== undefined || Object.keys(set).length > 0;
}

/** Whether a body that makes a row keeps the rules; of one that changes a row that is not looked at, it is not known. */
export function sentKeepsRules(model: Model, endpoint: Endpoint | undefined, json: Json | undefined): KeepsRules {
  const effect = endpoint && statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  const writes = ['create', 'upsert', 'update', 'replace'].includes(effect?.verb ?? '');
  if (!resource || !writes) return 'yes';
  const along = effect && isMap(json) ? childrenKeepRules(model, resource, json, childrenTakerOf(effect)) : 'yes';
  if (along === 'no' || !hasRules(resource)) return along;
  const isWhole = effect?.verb === 'create' || effect?.verb === 'upsert';
  if (!isWhole || !endpoint || !isMap(json)) return 'unknown';
  if (isStated(endpoint.request)) {
    // Where it is stated which member is the row, what that has can break a rule, and keep none for sure.
    const taken = endpoint.takes ? takenOf(endpoint, json) : undefined;
    return isJsonMap(taken) && keepsRules(model, resource, bareMap({ ...defaultsIn(resource), ...taken })) === 'no'
      ? 'no'
      : 'unknown';
  }
  const own = keepsRules(model, resource, bareMap({ ...defaultsIn(resource), ...json }));
  return own === 'yes' ? along : own;
}

/** Whether the children that are sent with a row keep the rules of theirs, and are told apart as they have to be. */
function childrenKeepRules(model: Model, resource: Resource, json: RowFields, taker: ChildrenTaker | undefined): KeepsRules {
  const told = entriesOf(resource.fields).flatMap(([name, field]): KeepsRules[] => {
    const child = taker && takesChildren(field, taker) ? model.resource(field.children?.resource ?? '') : undefined;
    const list = json[name];
    if (!child || !Array.isArray(list)) return [];
    const rows = list.filter(isMap).map((row) => bareMap({ ...defaultsIn(child), ...row }));
    const kept = hasRules(child) ? rows.map((row) => keepsRules(model, child, row)) : [];
    return [...kept, ...child.unique.map((rule) => (isTwice(rule.fields, rows, field.children?.field) ? 'no' : 'yes'))];
  });
  return told.find((one) => one === 'no') ?? told.find((one) => one === 'unknown') ?? 'yes';
}

/** Whether two of these have the same values of fields that may not be shared; all of them refer to the same row. */
function isTwice(fields: readonly string[], rows: readonly RowFields[], tie: string | undefined): boolean {
  const keys = rows
    .filter((row) => fields.every((name) => name === tie || isThere(row[name])))
    .map((row) => JSON.stringify(fields.map((name) => (name === tie ? null : row[name]))));
  return new Set(keys).size < keys.length;
}

/** Whether a change sends another value for an immutable field than its row was shown with. */
export function changesFixed(model: Model, { endpoint, sent }: TrialExchange, row: RowFields | undefined): boolean {
  const resource = resourceOfEffect(endpoint && statedValue(endpoint.does));
  const fields = entriesOf(resource === undefined ? undefined : model.resource(resource)?.fields);
  const { json } = sent;
  return (
    row !== undefined &&
    isMap(json) &&
    fields.some(([name, { immutable }]) => immutable && Object.hasOwn(json, name) && !isSame(json[name], row[name]))
  );
}

/** Whether a row that is changed by a body keeps the rules of its resource, as far as it is shown. */
export function changeKeepsRules(model: Model, endpoint: Endpoint, row: RowFields, json: Json | undefined): KeepsRules {
  const effect = statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  const isChange = effect?.verb === 'update' || effect?.verb === 'replace';
  if (!resource || !isChange || isStated(endpoint.request) || !isMap(json) || !hasRules(resource)) return 'yes';
  const isKept = (name: string): boolean => {
    const field = entryOf(resource.fields, name);
    return effect.verb === 'update' || field?.readOnly === true || field?.immutable === true;
  };
  const kept = Object.entries(row).filter(([name]) => isKept(name));
  const filled = effect.verb === 'replace' ? defaultsIn(resource) : {};
  return keepsRules(model, resource, bareMap({ ...filled, ...Object.fromEntries(kept), ...json }));
}

export function hasRules({ rules, choices }: Resource): boolean {
  return choices.length > 0 || Object.keys(rules).length > 0;
}

export function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** What fields are where nothing is sent of them. */
export function defaultsIn({ fields }: Resource): RowFields {
  return Object.fromEntries(entriesOf(fields).flatMap(([name, field]) => (field.default ? [[name, field.default.value]] : [])));
}

/** The endpoints at which rows of a resource could be made to break a rule. */
export function ruledEndpoints(model: Model, resource: string): readonly Endpoint[] {
  return ['create', 'upsert', 'update', 'replace']
    .flatMap((verb) => model.endpointsThat(verb, resource))
    .filter(({ request }) => !isStated(request));
}

/** The field at which a rule is told: what is allowed of that is said by it. */
export function fieldOfRule({ fields }: Resource, field: string | undefined): string {
  return field ?? entriesOf(fields)[0]?.[0] ?? '';
}

/**
 * Whether what a request has the service set is sure to fit: what an expression makes of the rows that a new one refers to may be beyond the bounds
 * of its field, and then the request is refused for it.
 */
export function isSetToFit(model: Model, exchange: TrialExchange): boolean {
  const { endpoint, sent } = exchange;
  const resource = endpoint && model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const own = isMap(sent.json) ? sent.json : {};
  return (resource ? entriesOf(resource.fields) : []).every(
    ([name, field]) => Object.hasOwn(own, name) || !isBounded(field) || !readsOthers(model, endpoint?.operation, field),
  );
}

/** Whether there are values of its type that a field does not take. */
function isBounded({ shape }: Field): boolean {
  const stated = statedValue(shape) ?? {};
  return bounds.some((word) => word in stated);
}

const bounds = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
] as const;

/** Whether an expression sets it to what it reads of rows that are referred to. */
function readsOthers({ expressions }: Model, operation: string | undefined, { set, readOnly }: Field): boolean {
  return (
    !readOnly &&
    Object.values(set).some((one) => expressions.readsOf(one, operation).some(({ follows = [] }) => follows.length > 0))
  );
}

/** Whether the values in a path are such as its parameters are stated to be; else nothing is said of what comes of them. */
export function pathFits(model: Model, { endpoint, sent }: Pick<TrialExchange, 'endpoint' | 'sent'>): boolean {
  if (!endpoint) return true;
  return entriesOf(endpoint.parameters).every(([name, parameter]) => {
    const value = sent.path[name];
    if (parameter.in !== 'path') return true;
    if (value === undefined) return false;
    if (!isStated(parameter.shape)) return true;
    const fits = model.schemas.of(parameter.shape.value, 'sent');
    // In a path everything is text, and a text of digits may mean a number.
    const text = typeof value === 'object' ? undefined : asText(value);
    const read = text === undefined ? [value] : [value, text, ...(/^-?\d+$/.test(text) ? [Number(text)] : [])];
    return read.some((one) => fits(one).length === 0);
  });
}
