import type { Endpoint } from '../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../parts/fact.ts';
import { type Operation, operationsOf } from '../parts/operations.ts';
import { compileCreate } from './acts/create.ts';
import { compileDelete } from './acts/delete.ts';
import { compileTransitionAct } from './acts/transition.ts';
import { compileReplace, compileUpdate } from './acts/update.ts';
import { deprecationHeaders } from './deprecation.ts';
import { compileDoubts, doubtsAbout } from './doubts.ts';
import type { Engine } from './engine.ts';
import { compileRefusals } from './errors.ts';
import { compileInput } from './input.ts';
import { compileList } from './lists/list.ts';
import type { Plan, Run } from './plan.ts';
import type { RowModel } from './rows/model.ts';
import { compileChange } from './runs/change.ts';
import { compileHandlerRun } from './runs/handler.ts';
import { compileListRun } from './runs/list.ts';
import { compileRead } from './runs/read.ts';
import { compileReplyRun } from './runs/reply.ts';
import { compileAccept } from './wire/accept.ts';

/** Compiles every endpoint of a document. What is only needed once an endpoint is called is compiled then. */
export function compilePlans(engine: Engine): Plan[] {
  const operations = new Map(
    operationsOf(engine.compilation.spec).flatMap((operation) =>
      operation.endpoint ? [[operation.endpoint.key, operation] as const] : [],
    ),
  );
  return entriesOf(engine.compilation.spec.endpoints.all).map(([key, endpoint]) =>
    compilePlan(operations.get(key) ?? { name: endpoint.operation, endpoint }, endpoint, engine),
  );
}

function compilePlan(operation: Operation, endpoint: Endpoint, engine: Engine): Plan {
  const { compilation } = engine;
  const inDoubt = doubtsAbout(endpoint, compilation);
  const runs: Run[] = [];
  const list = statedValue(endpoint.does)?.verb === 'list' ? lazily(() => listOf(endpoint, engine)) : undefined;
  return {
    endpoint,
    operation,
    refusals: compileRefusals(compilation.spec, operation, compilation.facts, (expression) => compilation.expression(expression)),
    input: compileInput(endpoint, list?.()?.paging.names ?? [], compilation),
    negotiate: compileAccept(endpoint.produces ?? ['application/json']),
    forbids: () => undefined,
    headers: deprecationHeaders(endpoint.deprecated),
    inDoubt,
    doubtsOf: compileDoubts(endpoint, compilation),
    unsupported: inDoubt.length > 0 ? undefined : unsupportedBy(endpoint, engine),
    run(exchange) {
      const { index, engine: seen } = exchange.view;
      let run = runs[index];
      if (!run) {
        run = compileRun(operation, endpoint, seen);
        runs[index] = run;
      }
      return run(exchange);
    },
  };
}

function compileRun(operation: Operation, endpoint: Endpoint, engine: Engine): Run {
  const effect = statedValue(endpoint.does);
  if (!effect) throw new Error(`${endpoint.key} has no stated effect.`);
  if (effect.verb === 'reply') return compileReplyRun(operation, endpoint, engine);
  if (effect.verb === 'handler') {
    const handler = engine.handlers[effect.name];
    if (!handler) throw new Error(`There is no handler "${effect.name}".`);
    return compileHandlerRun(operation, endpoint, handler, engine);
  }
  const model = modelOf(effect.resource, engine);
  const { models, compilation } = engine;
  if (effect.verb === 'read') return compileRead(operation, endpoint, model, engine);
  if (effect.verb === 'list')
    return compileListRun(operation, endpoint, model, listOf(endpoint, engine) as NonNullable<ReturnType<typeof listOf>>, engine);
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
  return compileChange(operation, endpoint, model, act, engine);
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
