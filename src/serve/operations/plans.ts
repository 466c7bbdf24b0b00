import { pullKind } from '../../kinds/deliveries/all.ts';
import { streamKind } from '../../kinds/streams/all.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { pullOf } from '../../parts/events.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { type Operation, operationsOf, resourceOfEffect } from '../../parts/operations.ts';
import { named } from '../../parts/source.ts';
import { versionedPath } from '../../parts/versioning.ts';
import { varyByCredential } from '../callers/accepted-schemes.ts';
import type { OperationAccess } from '../callers/operation-access.ts';
import { type OperationRun, type Plan, Planned, Refused, refusalReply, type View } from '../exchange/exchange.ts';
import { compileCreate } from '../resources/create.ts';
import { compileDelete } from '../resources/delete.ts';
import { compileList } from '../resources/lists/list.ts';
import type { RowModel } from '../resources/model.ts';
import { compileReplace } from '../resources/replace.ts';
import { compileSelecting } from '../resources/selection.ts';
import { compileTransitionAct } from '../resources/transition.ts';
import { compileUpdate } from '../resources/update.ts';
import { compileNegotiation } from './answers.ts';
import { compileChange } from './change.ts';
import type { Engine } from './engine.ts';
import { compileRefusals } from './errors.ts';
import { compileHandlerRun } from './handler.ts';
import { compileInput } from './input.ts';
import { compileListRun } from './list.ts';
import { compileDoubts, doubtsAbout } from './open-facts.ts';
import { compileReplyRun, compileTold } from './reply.ts';
import { compileEarlierRow, inStatedOrder } from './row-order.ts';
import { compileRead } from './row-reply.ts';
import { compileSampledRun } from './sampled-run.ts';

/** The plans of every endpoint of a document. */
export function plansOf(engine: Engine, views: Views): Planned[] {
  const operations = new Map(
    operationsOf(engine.compilation.spec).flatMap((operation) =>
      operation.endpoint ? [[operation.endpoint.key, operation] as const] : [],
    ),
  );
  const plans = entriesOf(engine.compilation.spec.endpoints.all).map(
    ([key, endpoint]) =>
      new Planned(endpoint, () =>
        compilePlan(operations.get(key) ?? { name: endpoint.operation, endpoint }, endpoint, engine, views),
      ),
  );
  return [...plans, ...pullPlan(engine, views)];
}

/** The operation by which somebody listens, which goes the way of every operation up to its answer; a stated endpoint of the same path comes first. */
function pullPlan(engine: Engine, views: Views): Planned[] {
  const { spec } = engine.compilation;
  const pull = pullOf(spec.events);
  const kind = streamKind(pull?.format);
  if (!kind || !pull || pullKind(pull.word).problems(pull).length > 0) return [];
  const { at, method, path, operation } = pull;
  const key = `${method} ${path}`;
  if (entriesOf(spec.endpoints.all).some(([stated]) => stated === key)) return [];
  const none = { standing: 'none', at } as const;
  const endpoint: Endpoint = {
    key,
    at,
    method,
    path,
    operation: operation.name,
    does: none,
    parameters: none,
    request: none,
    response: none,
    produces: [kind.mediaType],
    headers: named([]),
    order: [],
  };
  const compile = () => {
    const plan = compilePlan(operation, endpoint, engine, views);
    const inDoubt = engine.acceptsOpen ? [] : engine.compilation.access.doubts(plan.operation);
    return { ...plan, inDoubt, doubtsOf: undefined, unsupported: undefined, run: engine.events.open };
  };
  return [new Planned(endpoint, compile)];
}

function compilePlan(operation: Operation, endpoint: Endpoint, engine: Engine, views: Views): Plan {
  const { compilation } = engine;
  const { access } = compilation;
  const undecided = access.doubts(operation);
  const { standIn } = compilation;
  const doubts = doubtsAbout(endpoint, compilation);
  const unsupported = unsupportedBy(endpoint, engine);
  // A stand-in answers all the same, in the stated shape.
  const isUnable = doubts.length > 0 || unsupported?.type === 'urn:ninefold:handler' || !isKept(endpoint, engine);
  const isSampled = standIn !== undefined && isUnable;
  const inDoubt = [...(isSampled ? [] : doubts), ...(engine.acceptsOpen ? [] : undecided)];
  const runs: OperationRun[] = [];
  const allowances: OperationAccess[] = [];
  const list = statedValue(endpoint.does)?.verb === 'list' ? lazily(() => listOf(endpoint, engine)) : undefined;
  const paging = list?.()?.paging.names ?? [];
  return {
    endpoint,
    operation,
    refusals: compileRefusals(
      compilation.spec,
      operation,
      compilation.facts,
      (expression) => compilation.expression(expression),
      standIn,
    ),
    input: compileInput(endpoint, paging, compilation),
    paging,
    negotiate: compileNegotiation(compilation.spec, endpoint),
    forbids({ caller, view: { index, user } }) {
      const allowed = allowances[index] ?? access.of(operation, user);
      allowances[index] = allowed;
      return allowed.forbids(caller);
    },
    earlierRow: isStated(compilation.spec.errors.order)
      ? compileEarlierRow(endpoint, engine, (view) => views.engineOf(view))
      : undefined,
    headers: varyByCredential(compilation.spec, operation),
    tell: compileTold(endpoint, (expression) => compilation.expression(expression, operation.name)),
    inDoubt,
    doubtsOf: compileDoubts(endpoint, compilation, engine.acceptsOpen ? undecided : [], paging),
    unsupported: inDoubt.length > 0 || isSampled ? undefined : unsupported,
    run(exchange) {
      const { index } = exchange.view;
      let run = runs[index];
      if (!run) {
        const seen = views.engineOf(exchange.view);
        const whole = isSampled
          ? compileSampledRun(operation, endpoint, doubts, standIn, seen)
          : compileRun(operation, endpoint, seen);
        run = compileSelecting(endpoint, seen.compilation, whole);
        runs[index] = run;
      }
      return run(exchange);
    },
    onFailure: engine.onFailure,
  };
}

function compileRun(operation: Operation, endpoint: Endpoint, engine: Engine): OperationRun {
  const effect = statedValue(endpoint.does);
  if (!effect) throw new Error(`${endpoint.key} has no stated effect.`);
  if (effect.verb === 'reply') return compileSpending(compileReplyRun(operation, endpoint, engine), operation, engine);
  if (effect.verb === 'handler') {
    const handler = engine.handlers[effect.name];
    if (!handler) throw new Error(`There is no handler "${effect.name}".`);
    return compileHandlerRun(operation, endpoint, handler, engine);
  }
  const model = modelOf(effect.resource, engine);
  const { models, compilation } = engine;
  if (effect.verb === 'read') return compileSpending(compileRead(operation, endpoint, model, engine), operation, engine);
  if (effect.verb === 'list') {
    const list = listOf(endpoint, engine) as NonNullable<ReturnType<typeof listOf>>;
    return compileSpending(compileListRun(operation, endpoint, model, list, engine), operation, engine);
  }
  const act =
    effect.verb === 'create'
      ? compileCreate(operation, endpoint, model, models, compilation)
      : effect.verb === 'update'
        ? compileUpdate(operation, endpoint, model, models, compilation)
        : effect.verb === 'delete'
          ? compileDelete(operation, endpoint, model, models, compilation)
          : effect.verb === 'transition'
            ? compileTransitionAct(effect.transition, operation, endpoint, model, models, compilation)
            : compileReplace(effect.verb, operation, endpoint, model, models, compilation);
  return compileChange(operation, endpoint, model, inStatedOrder(act, engine), engine);
}

function listOf(endpoint: Endpoint, engine: Engine) {
  const effect = statedValue(endpoint.does);
  const model = effect?.verb === 'list' ? engine.models.get(effect.resource) : undefined;
  return model && compileList(endpoint, model, engine.models, engine.cursors, engine.acceptsOpen, engine.compilation);
}

function modelOf(name: string, engine: Engine): RowModel {
  const model = engine.models.get(name);
  if (!model) throw new Error(`${name} is no resource that can be kept.`);
  return model;
}

/** Whether there are rows of the resource that an endpoint is about, if it is about one. */
function isKept({ does }: Endpoint, engine: Engine): boolean {
  const resource = resourceOfEffect(statedValue(does));
  return resource === undefined || engine.models.has(resource);
}

/** What this service has no means for: a handler that was not given, an answer in a media type that it cannot write. */
function unsupportedBy(endpoint: Endpoint, engine: Engine): Plan['unsupported'] {
  const effect = statedValue(endpoint.does);
  if (effect?.verb === 'handler' && !engine.handlers[effect.name]) {
    return { type: 'urn:ninefold:handler', detail: `The handler "${effect.name}" is not supplied.` };
  }
  const isStructured = effect?.verb !== 'handler' && effect?.verb !== 'reply';
  const types = endpoint.produces ?? [];
  const isWritable = types.length === 0 || types.some((type) => type === 'application/json' || type.endsWith('+json'));
  if (isStructured && !isWritable && !isStated(endpoint.response)) {
    return { type: 'urn:ninefold:unsupported', detail: `A resource cannot be written as ${types.join(' or ')}.` };
  }
  return undefined;
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Gives a run that changes nothing a change of its own for the quota that its answer uses, where one counts the operation. */
function compileSpending(run: OperationRun, operation: Operation, engine: Engine): OperationRun {
  const spend = engine.limits.spendOf(operation);
  if (!spend) return run;
  return async (exchange) => {
    const reply = await run(exchange);
    // A refusal uses none, whatever status it is given.
    if (exchange.refusedWith) return reply;
    try {
      await engine.store.change((rows) => {
        exchange.deadline?.apply();
        spend(rows, exchange, reply.status);
      });
      return reply;
    } catch (failure) {
      if (failure instanceof Refused) return refusalReply(exchange, failure.refusal);
      throw failure;
    }
  };
}

/** The views of a service, each made when its first request comes. */
export interface Views {
  of(user: string | undefined, version: string | undefined): View;
  /** The engine as a view sees it: its compilation knows the user and the version, its base path what chooses the version. */
  engineOf(view: View): Engine;
}

export function startViews(engine: Engine): Views {
  const known = new Map<string, View>();
  const engines: Engine[] = [];
  // A request is seen as nobody's first, and then as its caller's.
  let lastOfNobody: View | undefined;
  let last: View | undefined;

  function viewOf(user: string | undefined, version: string | undefined): View {
    const key = `${user ?? ''}\n${version ?? ''}`;
    const found = known.get(key);
    if (found) return found;
    const view = { index: known.size, user, version };
    known.set(key, view);
    engines[view.index] = seenBy(engine, view);
    return view;
  }

  return {
    of(user, version) {
      const near = user === undefined ? lastOfNobody : last;
      if (near && near.user === user && near.version === version) return near;
      const view = viewOf(user, version);
      if (user === undefined) lastOfNobody = view;
      else last = view;
      return view;
    },
    engineOf: ({ index }) => engines[index] as Engine,
  };
}

function seenBy(engine: Engine, { user, version }: View): Engine {
  const { versions, basePath, compilation } = engine;
  const select = versions?.selection;
  const isInPath = version !== undefined && select?.by === 'path';
  const older = version === undefined ? undefined : versions?.older(version);
  const ownPath = isInPath ? basePath + versionedPath(select.carrier, version) : basePath;
  return { ...engine, basePath: ownPath, compilation: { ...compilation, basePath: ownPath, user, version: older } };
}
