import type { Json } from '../document/document.ts';
import { statedValue } from '../parts/fact.ts';
import { resourceOfEffect } from '../parts/operations.ts';
import { identifierParameter, pathParameters } from '../parts/payload.ts';
import type { Caller } from './model/callers.ts';
import type { Model } from './model/model.ts';
import type { Leftover } from './report.ts';
import { type Exchange, fieldsOf, isDone } from './script/exchange.ts';
import { sending } from './script/request.ts';
import type { Run } from './script/run.ts';

interface MadeRow {
  readonly resource: string;
  readonly id: Json;
  readonly path: Readonly<Record<string, Json>>;
  readonly caller: Caller | undefined;
}

/** Everything that was made at the service and is still there, as far as its answers tell. */
export class Made {
  readonly #rows = new Map<string, MadeRow>();

  /** Notes what an exchange made or removed. */
  note(exchange: Exchange, model: Model): void {
    const effect = exchange.endpoint && statedValue(exchange.endpoint.does);
    const resource = resourceOfEffect(effect);
    if (!exchange.endpoint || resource === undefined || !isDone(exchange)) return;
    const last = identifierParameter(exchange.endpoint);
    if (effect?.verb === 'delete' && last !== undefined) this.#rows.delete(keyOf(resource, exchange.sent.path[last] ?? null));
    if (effect?.verb !== 'create' && !(effect?.verb === 'upsert' && exchange.status === 201)) return;
    const field = statedValue(model.resource(resource)?.identifier ?? { standing: 'open', at: '' })?.field ?? 'id';
    const id = fieldsOf(exchange)?.[field] ?? (last === undefined ? undefined : exchange.sent.path[last]);
    if (id === undefined || id === null) return;
    this.#rows.set(keyOf(resource, id), {
      resource,
      id,
      path: { ...fieldsOf(exchange), ...exchange.sent.path },
      caller: exchange.caller,
    });
  }

  /** What is left, the youngest first: it may refer to what is older. */
  get left(): readonly MadeRow[] {
    return [...this.#rows.values()].reverse();
  }
}

/** Removes what was made, where the document has a way; says what stays. */
export async function cleanUp(made: Made, model: Model, startRun: () => Run): Promise<Leftover[]> {
  const staying = new Map<string, { count: number; why: string }>();
  const run = startRun();
  for (const row of made.left) {
    const why = await remove(row, made, model, run);
    if (why === undefined) continue;
    const known = staying.get(row.resource);
    staying.set(row.resource, { count: (known?.count ?? 0) + 1, why: known?.why ?? why });
  }
  return [...staying].map(([resource, { count, why }]) => ({ resource, count, why }));
}

async function remove(row: MadeRow, made: Made, model: Model, run: Run): Promise<string | undefined> {
  const endpoints = model.endpointsThat('delete', row.resource);
  if (endpoints.length === 0) return 'the document has no operation that deletes one';
  let why = 'nobody who can be spoken for may delete it';
  for (const endpoint of endpoints) {
    const last = identifierParameter(endpoint);
    const path = Object.fromEntries(
      pathParameters(endpoint.path).map((name) => [name, name === last ? row.id : (row.path[name] ?? '')]),
    );
    const operation = model.operationOf(endpoint);
    const callers = [row.caller, ...model.callers].filter((caller) => model.access.allows(operation, caller) !== 'no');
    for (const caller of [...new Set(callers)].slice(0, 2)) {
      const exchange = await sending(model.request(endpoint, { path, caller })).act(run);
      made.note(exchange, model);
      if (isDone(exchange) || exchange.status === 404 || exchange.status === 410) return undefined;
      why = `${endpoint.key} was answered ${exchange.status || exchange.trouble?.message}`;
    }
  }
  return why;
}

function keyOf(resource: string, id: Json): string {
  return `${resource}\n${String(id)}`;
}
