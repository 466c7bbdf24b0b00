import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { identifierParameter, namesRow, pathParameters } from '../../parts/payload.ts';
import { machineWith, type Transition, transitionNamed } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { SampleStyle, TrialRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { arbitraryValuesOf, Reference } from '../values/values.ts';
import { callerFor } from './callers-for.ts';
import { requestAbout } from './request-about.ts';
import { rowFor } from './row-where.ts';
import { openToFire } from './walk.ts';

/** A valid request with everything in place that it needs, which has not been sent. */
export interface Readied {
  readonly request: RequestPlan;
  /** The row that it is about; nothing where it makes one, or is about none. */
  readonly row: TrialRow | undefined;
}

export interface Readying {
  /** Who is to send it; anybody who may, unless said. */
  readonly caller?: TrialCaller | undefined;
  /** Who is to make the row that it is about. */
  readonly maker?: TrialCaller | undefined;
  readonly style?: SampleStyle;
}

/** Makes what a valid request to an endpoint needs: parents and references, or the row that it is about, in a state in which it may be asked for. @throws {Untestable} */
export async function ready(session: Session, endpoint: Endpoint, readying: Readying = {}): Promise<Readied> {
  const effect = statedValue(endpoint.does);
  const { verb } = effect ?? { verb: 'open' };
  if (verb === 'create' || verb === 'upsert') return making(session, endpoint, readying);
  if (verb === 'handler' || verb === 'reply' || verb === 'list') return asking(session, endpoint, readying);
  const resource = resourceOfEffect(effect);
  if (resource === undefined || !namesRow(endpoint))
    throw new Untestable(`of ${endpoint.key} it is not known which row it is about`);
  const transition = effect?.verb === 'transition' ? transitionOf(session, resource, effect.transition) : undefined;
  const machine = transition && machineWith(session.model.spec.states, resource, transition.name);
  let failure: unknown;
  // What is drawn with everything in it may be more than the service's own rules allow.
  for (const style of new Set([readying.style ?? 'plain', 'plain'] as const)) {
    for (const state of statesFor(endpoint, transition)) {
      try {
        const row = await session.make(resource, {
          style,
          ...(readying.maker && { caller: readying.maker }),
          ...(state !== undefined && { state, mayBeDeleted: true, ...(machine && { machine }) }),
        });
        if (transition) await openToFire(session, row, transition);
        const caller = readying.caller ?? callerFor(session, endpoint, row);
        const headers = await session.preconditions(endpoint, row, caller);
        const about = { caller, headers, ...(transition && { transition }), style: readying.style ?? 'plain' };
        return { row, request: writable(session, endpoint, resource, await requestAbout(session, row, endpoint, about)) };
      } catch (error) {
        if (!(error instanceof Untestable)) throw error;
        failure = error;
      }
    }
  }
  throw failure;
}

async function making(session: Session, endpoint: Endpoint, readying: Readying): Promise<Readied> {
  const { model } = session;
  const caller = readying.caller ?? callerFor(session, endpoint);
  const { path, json } = await session.parts(endpoint, { style: readying.style ?? 'plain', caller });
  const last = identifierParameter(endpoint);
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const identifier = statedValue(model.resource(resource)?.identifier);
  const id = last === undefined || !identifier ? undefined : model.freshValue(resource, identifier.field);
  const target = { ...path, ...(last !== undefined && id !== undefined && { [last]: id }) };
  const request = model.request(endpoint, { path: target, caller, ...(json !== undefined && { json }) });
  return { request, row: undefined };
}

/** The path of what stands below rows that are named by keys. */
async function keyedPath(session: Session, endpoint: Endpoint, caller: TrialCaller | undefined) {
  if (resourceOfEffect(statedValue(endpoint.does)) === undefined)
    throw new Untestable(`of ${endpoint.key} it is not known which rows are above it`);
  return (await session.parts(endpoint, { caller })).path;
}

/** Parameters are drawn by their shapes, those of the path and those that are required. */
async function asking(session: Session, endpoint: Endpoint, readying: Readying): Promise<Readied> {
  const { model } = session;
  const caller = readying.caller ?? callerFor(session, endpoint);
  const { properties, required } = paramsShape(model.spec, endpoint);
  const keyed = endpoint.rows ? await keyedPath(session, endpoint, caller) : {};
  const names = new Set(pathParameters(endpoint.path));
  const parts: {
    readonly path: Record<string, Symbolic>;
    readonly query: Record<string, Symbolic>;
    readonly headers: Record<string, Symbolic>;
  } = {
    path: { ...keyed },
    query: {},
    headers: {},
  };
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name === 'string' && Object.hasOwn(keyed, name)) continue;
    const stated = typeof name === 'string' ? entryOf(endpoint.parameters, name) : undefined;
    if (typeof name !== 'string' || (stated?.default && !names.has(name))) continue;
    const shape: Json = isMap(properties) ? (properties[name] ?? {}) : {};
    const parent = model.parentOf(endpoint, name);
    const drawn =
      parent === undefined
        ? session.chance.value(arbitraryValuesOf(model.spec, isMap(shape) ? shape : {}, 'plain'))
        : new Reference(parent);
    const value =
      drawn instanceof Reference ? (await referredTo(session, endpoint, name, drawn.resource)).id : (drawn as Symbolic);
    if (names.has(name)) parts.path[name] = value;
    else if (stated?.in === 'header') parts.headers[name] = value;
    else if (stated?.in === 'query') parts.query[name] = value;
    else throw new Untestable(`the parameter ${name} of ${endpoint.key} is sent in a ${stated?.in ?? 'place that is not known'}`);
  }
  return { request: model.request(endpoint, { ...parts, caller }), row: undefined };
}

/** What a parameter names: where it stands for a field of the rows that are asked for, such that there may be rows of it. */
function referredTo(session: Session, endpoint: Endpoint, field: string, target: string): Promise<TrialRow> {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  return resource === undefined ? session.make(target) : rowFor(session, resource, field, target);
}

/** A patch without the fields that are set once: a drawn value would be another one. In the place of the row stands what it has. */
function writable(session: Session, endpoint: Endpoint, resource: string, request: RequestPlan): RequestPlan {
  const verb = statedValue(endpoint.does)?.verb;
  const { body } = request;
  if (!body || !('value' in body) || verb !== 'update' || !isPlain(body.value)) return request;
  const stated = session.model.resource(resource);
  const once = new Set((stated ? entriesOf(stated.fields) : []).filter(([, { immutable }]) => immutable).map(([name]) => name));
  const value = Object.fromEntries(Object.entries(body.value).filter(([name]) => !once.has(name)));
  return { ...request, body: { ...body, value } };
}

function isPlain(value: Symbolic): value is { readonly [key: string]: Symbolic } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value))
  );
}

function statesFor(endpoint: Endpoint, transition: Transition | undefined): readonly (string | undefined)[] {
  const from = transition ? (transition.from === '*' ? [] : transition.from) : (endpoint.in ?? []);
  return from.length === 0 ? [undefined] : from;
}

function transitionOf(session: Session, resource: string, name: string): Transition | undefined {
  return transitionNamed(session.model.spec.states, resource, name);
}
