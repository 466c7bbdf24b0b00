/** Answers that tell of an operation which may take long: `{ name, done, response }`, where the thing itself is what came of it. */

import type { Json } from '../../../document/document.ts';
import type { Effect } from '../../../parts/effects.ts';
import { entriesOf } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import { insertRow, updateRow } from '../create.ts';
import { asChange } from '../locate.ts';
import type { CompleteAnswer, Rows } from '../stand-in.ts';
import type { Sampling } from './sampling.ts';

/** What an answer is once it tells that everything was done at once. */
type TellOperation = (whole: Value, exchange: Exchange) => Value;

/**
 * Compiles the telling of an operation, where the shape of an answer is one: it has a `name`, says by a flag whether it is `done`, and has a place for what came of it.
 * It is done at once, nothing went wrong, and its name is one by which the source reads operations, where it does.
 */
export function compileOperationTold(
  prefix: OperationsPath,
  shape: Shape,
  does: Effect | undefined,
  sampling: Sampling,
): TellOperation | undefined {
  const members = sampling.shown.membersOf(shape);
  const [name, done, response, error] = ['name', 'done', 'response', 'error'].map((member) =>
    whole(members[member], sampling.shown),
  );
  if (name?.type !== 'string' || done?.type !== 'boolean' || !response || !error) return undefined;
  return (told, exchange) => {
    if (!isFields(told)) return told;
    const { error: _, ...rest } = told;
    // An operation that is asked for keeps what it is called.
    if (does?.verb === 'read' || does?.verb === 'list') return told.done === undefined ? told : { ...rest, done: true };
    const { method, path } = exchange.call;
    const before = prefix(exchange.params);
    // One that is kept has its name already.
    if (does === undefined && typeof told.name === 'string' && told.name.startsWith(before)) return { ...rest, done: true };
    const of = isFields(told.response) ? String(told.response.name ?? '') : '';
    const end = sampling.chance(`${method} ${path}\n${of}`).below(2 ** 32);
    return { ...rest, name: `${before}operation-${end.toString(16)}`, done: true };
  };
}

/** Completes an answer, and then tells it as one of an operation, where it is; such operations are kept where the source reads them by their names. */
export function toldAsDone(complete: CompleteAnswer, tell: TellOperation | undefined, { resource }: Shape): CompleteAnswer {
  if (!tell) return complete;
  return (given, exchange, work, ...more) => {
    const told = tell(complete(given, exchange, work, ...more), exchange);
    if (typeof resource === 'string' && exchange.call.method !== 'GET') keepOperation(work, exchange, resource, told);
    return told;
  };
}

/** An operation stands where its name says, within what the request's path says. */
function keepOperation(work: Rows, { pathParams }: Exchange, resource: string, told: Value): void {
  const [model, change] = [work.models.get(resource), asChange(work)];
  const name = isFields(told) && model ? told[model.identifier.field] : undefined;
  if (!model || !change || typeof name !== 'string' || !name.includes('/')) return;
  const place = Object.entries(pathParams).filter(([one]) => model.fields.has(one));
  const row = { ...Object.fromEntries(place), ...(told as Fields) };
  const there = change.rows.get(resource, name);
  if (there) updateRow(change, model, there, model.parse(there), row, `keep ${resource}`);
  else insertRow(change, model, name, row, `keep ${resource}`);
}

function whole(member: Json | undefined, samples: Samples): Shape | undefined {
  return isPlainMap(member) ? samples.whole(member) : undefined;
}

/** What the name of an operation begins with, of what the path of a request says. */
type OperationsPath = (params: Readonly<Record<string, Value>>) => string;

/** What the names of operations begin with, as the shortest path says that reads one and whose parameters a request knows. */
export function operationsPath(spec: Spec): OperationsPath {
  const paths = entriesOf(spec.endpoints.all)
    .flatMap(([, { method, path }]) => (method === 'GET' ? [path] : []))
    .flatMap((path) => {
      const [, template] = /^(?:\/v\d\w*)?\/((?:[^/]+\/)*operations\/)\{\w+\}$/.exec(path) ?? [];
      return template === undefined ? [] : [template];
    })
    .sort((one, other) => other.length - one.length);
  return (params) => {
    for (const template of paths) {
      const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      if (names.every((name) => typeof params[name] === 'string' || typeof params[name] === 'number'))
        return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name]));
    }
    return 'operations/';
  };
}
