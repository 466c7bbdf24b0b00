/** Whether a refusal may say that whoever asks is not allowed to, or is told that something is not there. */
import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { ErrorCondition } from '../../parts/conditions.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { childrenTakerOf, identifierParameter, pathParameters, takesChildren } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Known } from '../model/expressions.ts';
import type { Model } from '../model/model.ts';
import { rowsShown, rowWith, type ShownFields } from '../model/row-shown.ts';

/** The fields by which a creation takes children along, and of which resource these are: they may be refused for what they are. */
export function childrenSent(model: Model, endpoint: Endpoint) {
  const effect = statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  const taker = effect && childrenTakerOf(effect);
  return (resource && taker ? entriesOf(resource.fields) : []).flatMap(([name, field]) =>
    field.children && takesChildren(field, taker) ? [[name, field.children] as const] : [],
  );
}

/** Whether a refusal says that the caller may not do it, and that cannot be excluded. */
export function mayBeDenied(model: Model, exchange: TrialExchange, code: string, beside: readonly TrialExchange[] = []): boolean {
  const { endpoint, sent } = exchange;
  if (!endpoint) return false;
  const operation = model.operationOf(endpoint);
  // Where the path names no row, nothing that could be hidden is asked for.
  const hides: readonly ErrorCondition[] = pathParameters(endpoint.path).length > 0 ? ['resource.missing'] : [];
  const denials = (['caller.forbidden', 'caller.unknown', ...hides] as const).flatMap((when) =>
    model.refusals.codesFor(when, operation),
  );
  const own = model.access.rules(operation, exchange.caller)?.flatMap((rule) => rule.else ?? []) ?? [];
  const absent = model.refusals.of('reference.missing', operation)?.code.name;
  if (code === absent && refersToUnreadable(model, exchange)) return true;
  if (![...denials, ...own].includes(code)) return false;
  const missing = model.refusals.of('resource.missing', operation)?.code.name;
  const row = rowShownOf(model, exchange, beside);
  const isReadable = row !== undefined && mayReadIt(model, exchange, row);
  if (code === missing && !isReadable && namesUnreadable(model, endpoint, exchange.caller)) return true;
  const request = sent.json === undefined ? {} : { request: sent.json };
  const context = { ...request, params: { ...sent.path, ...sent.query } };
  if (model.access.allows(operation, exchange.caller, { context }) === 'yes') return false;
  return (
    !isReadable || model.access.allows(operation, exchange.caller, knownOf({ ...context, resource: row.fields }, row)) !== 'yes'
  );
}

/** A row as it was shown beside a request about it, and what its reader was not shown of it. */
interface RowBeside {
  readonly fields: ShownFields;
  readonly unseen: ReadonlySet<string>;
}

/** The row that a path names alone, as it was shown last. */
function rowShownOf(model: Model, { endpoint, sent }: TrialExchange, beside: readonly TrialExchange[]): RowBeside | undefined {
  const last = endpoint && identifierParameter(endpoint);
  if (!endpoint || last === undefined || pathParameters(endpoint.path).length > 1) return undefined;
  const id = sent.path[last];
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const shown = beside.findLast((one) => rowsShown(model, one)?.resource === resource && rowWith(model, one, id));
  const fields = shown && rowWith(model, shown, id);
  return fields && resource !== undefined ? { fields, unseen: model.unseenBy(resource, model.readerOf(shown)) } : undefined;
}

function knownOf(context: Known['context'], { unseen }: RowBeside): Known {
  return { context, unseen: { resource: unseen } };
}

/** Whether a caller is sure to be allowed to read a row that was shown: to it the row is not hidden. */
function mayReadIt(model: Model, { endpoint, caller }: TrialExchange, row: RowBeside): boolean {
  const resource = resourceOfEffect(endpoint && statedValue(endpoint.does)) ?? '';
  const known = knownOf({ resource: row.fields }, row);
  return model
    .endpointsThat('read', resource)
    .some((read) => model.access.allows(model.operationOf(read), caller, known) === 'yes');
}

/** Whether a path names a row, or what is above it, that the caller may not be allowed to read: to that caller it is not there. */
export function namesUnreadable(model: Model, endpoint: Endpoint, caller: TrialCaller | undefined): boolean {
  const last = identifierParameter(endpoint);
  return pathParameters(endpoint.path).some((name) => {
    const target = name === last ? resourceOfEffect(statedValue(endpoint.does)) : model.parentOf(endpoint, name);
    return target === undefined || !readsAll(model, target, caller);
  });
}

/** Whether a body, or a child in it, refers to a row that the caller may not be allowed to read: to that caller it is not there either. */
function refersToUnreadable(model: Model, { endpoint, sent, caller }: TrialExchange): boolean {
  const { json } = sent;
  if (!endpoint || !isMap(json)) return false;
  const hidesOne = (name: string, one: Json | undefined): boolean => {
    const fields = entriesOf(model.resource(name)?.fields).filter(([field]) => isMap(one) && Object.hasOwn(one, field));
    return fields.some(([, { ref }]) => ref !== undefined && !readsAll(model, ref, caller));
  };
  const children = childrenSent(model, endpoint).flatMap(([name, { resource }]) => {
    const held = json[name];
    return (Array.isArray(held) ? held : []).map((one) => [resource, one] as const);
  });
  return (
    hidesOne(resourceOfEffect(statedValue(endpoint.does)) ?? '', json) || children.some(([name, one]) => hidesOne(name, one))
  );
}

/** Whether a caller is sure to be allowed to read whatever row there is. */
function readsAll(model: Model, resource: string, caller: TrialCaller | undefined): boolean {
  return model.endpointsThat('read', resource).some((read) => model.access.allows(model.operationOf(read), caller) === 'yes');
}
