import type { JsonMap } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import { parametersOf } from '../../../kinds/pages/kind.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { type Parameter, sortKeyOf } from '../../../parts/parameters.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { arrange } from '../../make/begin-body.ts';
import { callersFor } from '../../make/callers-for.ts';
import { beginList } from '../../make/own-list.ts';
import { paginationOf } from '../../make/pages.ts';
import { pathValues } from '../../make/request-about.ts';
import { pathFits } from '../../model/field-rules.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf, Reference } from '../../values/values.ts';
import type { Variant } from '../../values/variants.ts';

/** Sends a request that is ready but for its query. */
export type Ask = (query: Readonly<Record<string, Symbolic>>) => ReturnType<Session['send']>;

/** The query parameters of an endpoint that have a shape of one word, and whether each is needed. */
export function queryOf(session: Session, endpoint: Endpoint) {
  const { properties } = paramsShape(session.model.spec, endpoint);
  // What says where a page begins is a place that was told, or the name of a row: no value of its shape has to be one.
  const pagination = paginationOf(session.model, endpoint);
  const places = pagination ? parametersOf(pageStyle(pagination.style), pagination) : [];
  const told = places.filter(({ parameter }) => parameter.schema.type === 'string').map(({ name }) => name);
  return entriesOf(endpoint.parameters).flatMap(([name, parameter]) => {
    const shape = isMap(properties) ? properties[name] : undefined;
    if (told.includes(name)) return [];
    if (parameter.in !== 'query' || !isMap(shape) || parameter.op === 'contains' || parameter.op === 'prefix') return [];
    return [{ name, shape, isNeeded: parameter.required }];
  });
}

/** Makes what a request that asks for something needs, and the query that it cannot do without. @throws {Untestable} */
export async function beginAsking(session: Session, endpoint: Endpoint): Promise<Asking> {
  const { model } = session;
  const verb = statedValue(endpoint.does)?.verb;
  const valid = await neededQuery(session, endpoint);
  if (!isByRule(endpoint)) {
    const { query: _needed, ...request } = await arrange(session, endpoint);
    return asking(session, (query) => ({ ...request, query: { ...model.version().query, ...query } }), valid);
  }
  if (verb === 'list') {
    const { plan } = await beginList(session, endpoint, { bodies: [{}] });
    return asking(session, plan, valid);
  }
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const row = resource === undefined ? undefined : await session.make(resource);
  const isPublic = model.access.isPublic(model.operationOf(endpoint)) && model.callers[0]?.credential !== undefined;
  const caller: TrialCaller | undefined = isPublic ? undefined : callersFor(session, endpoint, row)[0];
  session.need(
    caller !== undefined || isPublic || model.callers.every(({ credential }) => !credential),
    `nobody may call ${endpoint.key}`,
  );
  const path = row ? pathValues(model, endpoint, row) : (await session.parts(endpoint)).path;
  return asking(session, (query) => model.request(endpoint, { path, caller, query }), valid);
}

/** A request that is ready but for its query, and the query that it cannot do without. */
export interface Asking {
  readonly ask: Ask;
  readonly valid: Record<string, Symbolic>;
  /** The same without one of its parameters. */
  without(name: string): ReturnType<Ask>;
}

function asking(
  session: Session,
  plan: (query: Readonly<Record<string, Symbolic>>) => RequestPlan,
  valid: Asking['valid'],
): Asking {
  return {
    valid,
    ask: (query) => session.send(plan(query)),
    without(name) {
      const whole = plan(valid);
      const { [name]: _left, ...query } = whole.query;
      return session.send({ ...whole, query });
    },
  };
}

async function neededQuery(session: Session, endpoint: Endpoint): Promise<Record<string, Symbolic>> {
  const { model } = session;
  const { properties } = paramsShape(model.spec, endpoint);
  const query: Record<string, Symbolic> = {};
  for (const [name, parameter] of entriesOf(endpoint.parameters)) {
    const shape = isMap(properties) ? properties[name] : undefined;
    if (parameter.in !== 'query' || !parameter.required || !isMap(shape)) continue;
    try {
      const draft = session.chance.value(arbitraryValuesOf(model.spec, shape, 'plain'));
      query[name] = draft instanceof Reference ? (await session.make(draft.resource)).id : (draft as Symbolic);
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
      session.need(false, `no ${name} could be made`);
    }
  }
  return query;
}

/** Whether a request was taken, as far as its parameters go. */
export function takenAsValid(session: Session, exchange: TrialExchange, what = 'what is valid'): Judgement {
  const { model } = session;
  if (isDone(exchange)) return undefined;
  if (goesByUnseen(session, exchange)) return moot('nobody asks by what it does not see');
  if (!pathFits(model, exchange)) return moot('the row is called what no row may be called');
  const operation = exchange.endpoint && model.operationOf(exchange.endpoint);
  if (model.refusals.mayBeOwn(exchange, operation)) return moot('it may be an error of its own, which shows no code');
  const code = model.refusals.codeIn(exchange);
  const parameter = model.refusals.of('request.parameter', operation)?.code.name;
  const isRefused = code === undefined ? exchange.status === 400 : code === parameter;
  const isFailure = exchange.status === 500 && exchange.endpoint !== undefined && isByRule(exchange.endpoint);
  if (!isRefused && !isFailure) return moot('something else stood in its way');
  return { promised: `${what} is taken`, seen: `${exchange.status} ${exchange.text}` };
}

function chosenBy({ chooses }: Parameter): string | undefined {
  return chooses?.by === 'path' ? chooses.path : undefined;
}

/** Whether a caller is not shown a field, or one of what a reference leads to (`customer.score`), or of what refers to the row (`line.order.price`). */
function isUnseen(
  model: Model,
  resource: string,
  [first = '', ...rest]: readonly string[],
  caller: TrialCaller | undefined,
): boolean {
  if (model.unseenBy(resource, caller).has(first)) return true;
  const stated = entryOf(model.resource(resource)?.fields, first);
  const target = stated ? stated.ref : model.resource(first)?.name;
  return rest.length > 0 && target !== undefined && isUnseen(model, target, stated ? rest : rest.slice(1), caller);
}

/** Whether a list is asked to go by a field that its caller does not see, or not of every row. */
function goesByUnseen({ model }: Session, { endpoint, sent, caller }: TrialExchange): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  const listed = effect?.verb === 'list' ? resourceOfEffect(effect) : undefined;
  if (!endpoint || listed === undefined) return false;
  const unseen = { has: (way: string) => isUnseen(model, listed, way.split('.'), caller) };
  return Object.entries(sent.query).some(([name, value]) => {
    const parameter = entryOf(endpoint.parameters, name);
    if (!parameter) return false;
    const sorted = parameter.sorts ? asText(value).split(',') : [];
    return (
      unseen.has(parameter.filters ?? chosenBy(parameter) ?? '') ||
      sorted.some((word) => unseen.has(sortKeyOf(parameter, word.trim()).field))
    );
  });
}

/** What a query can carry: no null, nothing empty, nothing that is written like something else. */
export function isWritten({ value }: Variant): boolean {
  return value !== null && value !== '' && typeof value !== 'object';
}

/** A word is a word in a query, whatever it was meant to be: only what no reading of the text admits is broken. */
export function isBrokenWritten(shape: JsonMap, { value }: Variant): boolean {
  const types = typeof shape.type === 'string' ? [shape.type] : Array.isArray(shape.type) ? shape.type.map(String) : [];
  if (types.includes('string')) return typeof value === 'string';
  // In a query 7 and "7" are one.
  return !(
    typeof value === 'string' &&
    /^-?\d+(?:\.\d+)?$/.test(value) &&
    types.some((type) => type === 'integer' || type === 'number')
  );
}
