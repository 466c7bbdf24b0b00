import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, identifierParameter, pathParameters } from '../../parts/payload.ts';
import type { TrialCaller } from '../model/callers.ts';
import { bodyFields, briefly, isDone, type TrialExchange } from '../script/exchange.ts';
import type { RequestPlan } from '../script/plan.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import { Captured, type Symbolic } from '../script/symbol.ts';
import { Untestable } from '../untestable.ts';
import type { SampleStyle } from '../values/style.ts';
import { arbitraryValuesOf, Reference } from '../values/values.ts';
import { draftBody } from './body.ts';
import { findRow } from './found.ts';
import { preconditions } from './preconditions.ts';
import type { Parts, RowMaker, TrialRow, WantedRow } from './row.ts';
import { walkTo } from './walk.ts';

/** As it was wanted, then drawn anew, and at last with little, which is refused the least. */
const styles = [undefined, 'full', 'full', 'plain'] as const;

/** Rows that need each other in a circle cannot be made. */
const depthMax = 6;

/** Makes rows through the service's own operations: what a row refers to first, then the row, then the transitions to its state. */
export class Maker implements RowMaker {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async make(resource: string, wanted: WantedRow, depth = 0): Promise<TrialRow> {
    if (depth > depthMax) throw new Untestable(`a row of ${resource} needs rows that need rows, without an end`);
    if (this.#session.run.isReadOnly) return findRow(this.#session, resource, wanted);
    const row = await this.#create(resource, wanted, depth);
    if (wanted.state !== undefined) await walkTo(this.#session, row, wanted.state);
    return row;
  }

  /** Everything that a request to an endpoint needs to be valid but for the row it is about: parents, and a body with its references. */
  async parts(endpoint: Endpoint, wanted: WantedRow, depth = 0): Promise<Parts> {
    const path: Record<string, Symbolic> = {};
    const last = identifierParameter(endpoint);
    for (const name of pathParameters(endpoint.path)) {
      if (name !== last) path[name] = await this.#parent(endpoint, name, wanted, depth);
    }
    const make = (target: string, style: SampleStyle) => this.make(target, { style }, depth + 1).then(({ id }) => id);
    const bound = new Set(boundByPath(this.#session.model.spec, endpoint));
    const json = await draftBody(this.#session, endpoint, { ...wanted, bound, make });
    if (last !== undefined && statedValue(endpoint.does)?.verb === 'upsert') path[last] = this.#ownIdentifier(endpoint, json);
    return { path, json };
  }

  async creation(resource: string, wanted: WantedRow): Promise<RequestPlan> {
    const [way] = waysToCreate(this.#session, resource, wanted.caller);
    if (!way) throw new Untestable(`nobody who can be spoken for may create a ${resource}`);
    const { path, json } = await this.parts(way.endpoint, wanted);
    return this.#session.model.request(way.endpoint, { path, caller: way.caller, ...(json !== undefined && { json }) });
  }

  preconditions(endpoint: Endpoint, row: TrialRow, caller: TrialCaller | undefined): Promise<Record<string, Symbolic>> {
    return preconditions(this.#session, endpoint, row, caller);
  }

  async #create(resource: string, wanted: WantedRow, depth: number): Promise<TrialRow> {
    const { model } = this.#session;
    const given = model.seeds.take(resource, wanted);
    if (given) return given;
    const ways = waysToCreate(this.#session, resource, wanted.caller);
    if (ways.length === 0) throw new Untestable(`nobody who can be spoken for may create a ${resource}`);
    let refused = '';
    // The service's own rules may refuse what is valid: other draws may pass them.
    const tries = ways.slice(0, 4).flatMap((way) => styles.map((style) => ({ ...way, style: style ?? wanted.style })));
    const hopeless = new Set<string>();
    for (const { endpoint, caller, style } of tries) {
      if (hopeless.has(`${endpoint.key} ${caller?.name}`)) continue;
      const { path, json } = await this.parts(endpoint, { ...wanted, ...(style && { style }) }, depth);
      const request = model.request(endpoint, { path, caller, ...(json !== undefined && { json }) });
      const done = await this.#session.send(request);
      if (isDone(done.value)) return rowOf(this.#session, { resource, endpoint, done, caller, path, json });
      if (!this.#isOwnRefusal(endpoint, done.value)) hopeless.add(`${endpoint.key} ${caller?.name}`);
      refused ||= `${endpoint.key} as ${caller?.name ?? 'nobody'} was answered ${done.value.status}${briefly(done.value)}`;
    }
    throw new Untestable(`no ${resource} could be made: ${refused}`);
  }

  /** Whether a refusal is by a rule of the service's own, and not for anything that all services refuse. */
  #isOwnRefusal(endpoint: Endpoint, exchange: TrialExchange): boolean {
    const { refusals } = this.#session.model;
    const code = refusals.codeIn(exchange);
    const stated = code === undefined ? undefined : refusals.named(code, this.#session.model.operationOf(endpoint));
    return stated !== undefined && stated.rule.when.standing === 'open';
  }

  /** The identifier that a caller chooses: the body's, where that has one. */
  #ownIdentifier(endpoint: Endpoint, json: Symbolic | undefined): Symbolic {
    const { model } = this.#session;
    const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
    const field = model.identifierField(resource);
    const sent =
      typeof json === 'object' && json !== null && field in json
        ? (json as Readonly<Record<string, Symbolic>>)[field]
        : undefined;
    return sent ?? model.freshValue(resource, field) ?? null;
  }

  /** A path parameter that is no identifier is a field of its name: a parent's identifier, or a value. */
  async #parent(endpoint: Endpoint, name: string, wanted: WantedRow, depth: number): Promise<Symbolic> {
    const known = wanted.parents?.[name];
    if (known) return known.id;
    const { model } = this.#session;
    const target = model.parentOf(endpoint, name);
    if (target !== undefined) return (await this.make(target, {}, depth + 1)).id;
    const properties = paramsShape(model.spec, endpoint).properties;
    const shape = isMap(properties) ? properties[name] : undefined;
    const draft = this.#session.chance.value(arbitraryValuesOf(model.spec, isMap(shape) ? shape : { type: 'string' }, 'plain'));
    return draft instanceof Reference ? (await this.make(draft.resource, {}, depth + 1)).id : (draft as Symbolic);
  }
}

/** Who can create a row by which endpoint, those first who may also read it. */
function waysToCreate(session: Session, resource: string, wanted: TrialCaller | undefined) {
  const { model } = session;
  const endpoints = [...model.endpointsThat('create', resource), ...model.endpointsThat('upsert', resource)];
  const reads = [...model.endpointsThat('read', resource), ...model.endpointsThat('list', resource)];
  const callers: readonly (TrialCaller | undefined)[] = wanted ? [wanted] : model.callers;
  const ways = endpoints.flatMap((endpoint) => {
    const operation = model.operationOf(endpoint);
    const isPublic = model.access.isPublic(operation);
    const allowed = callers.filter((caller) => model.access.allows(operation, caller) !== 'no');
    if (allowed.length === 0 && isPublic) return [{ endpoint, caller: undefined, rank: 0 }];
    return allowed.map((caller) => {
      const mayRead = reads.some((read) => model.access.allows(model.operationOf(read), caller) !== 'no');
      const isSure = model.access.allows(operation, caller) === 'yes';
      return { endpoint, caller, rank: (isSure ? 2 : 0) + (mayRead ? 1 : 0) };
    });
  });
  return ways.sort((one, other) => other.rank - one.rank);
}

function rowOf(
  session: Session,
  made: {
    readonly resource: string;
    readonly endpoint: Endpoint;
    readonly done: Done<TrialExchange>;
    readonly caller: TrialCaller | undefined;
    readonly path: Readonly<Record<string, Symbolic>>;
    readonly json: Symbolic | undefined;
  },
): TrialRow {
  const { resource, endpoint, done, caller, path, json } = made;
  const { model } = session;
  const fields = bodyFields(done.value);
  const identifier = statedValue(model.resource(resource)?.identifier ?? { standing: 'open', at: '' });
  const field = identifier?.field ?? 'id';
  const last = identifierParameter(endpoint);
  const isShown = fields?.[field] !== undefined;
  const sent =
    typeof json === 'object' && json !== null && field in json ? (json as Readonly<Record<string, Symbolic>>)[field] : undefined;
  const inPath = last === undefined ? undefined : path[last];
  const id = isShown ? session.captured(done, field) : (inPath ?? sent);
  if (id === undefined)
    throw new Untestable(`the answer to ${endpoint.key} shows no ${field}, so that what it made cannot be named`);
  const known: Record<string, Symbolic> = { ...path };
  const stated = model.resource(resource);
  for (const [name, value] of Object.entries(fields ?? {})) {
    const target = isMap(value) && stated ? entryOf(stated.fields, name)?.ref : undefined;
    // An expanded reference is named by the identifier in it.
    const pointer = target === undefined ? [name] : [name, model.identifierField(target)];
    known[name] = new Captured(done.step, { in: 'body', pointer });
  }
  return { resource, id, known, made: done, caller, shown: fields ? done : undefined, fields };
}
