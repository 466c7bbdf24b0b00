import { takenOf } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Exchange, Fields, Value } from '../exchange/exchange.ts';
import { isHidden } from '../exchange/visibility.ts';
import { withoutPrototype } from '../http/json.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import type { Act, Models, Work } from './act.ts';
import { compileSent, droppedFor, invalid, isFields } from './body.ts';
import { compileChildrenChanging } from './children-changed.ts';
import { compileMaker, type RowMaking } from './create.ts';
import { compileLocator, type Locator } from './locate.ts';
import { identifierValue, type RowModel } from './model.ts';
import { compilePrecondition } from './precondition.ts';
import { withoutStated } from './sent-members.ts';
import { changedImmutables, compileFit, compileRowChange, compileUpdate, rowChangeOf } from './update.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** Compiles `replace RESOURCE`, and `upsert RESOURCE`, which makes what is not there. */
export function compileReplace(
  verb: 'replace' | 'upsert',
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
): Act {
  const locator = compileLocator(endpoint, model, models, compilation);
  const sent = compileSent(endpoint, model, locator, compilation);
  const fit = compileFit(model, compilation);
  const maker = compileMaker(operation, model, compilation);
  const change = compileRowChange(operation, model, 'replace', compilation, rowChangeOf(endpoint, model));
  const { isKept, isOnlyWritten } = keptOnReplace(model, endpoint, compilation);
  const shown = compilation.access.fieldsShown(model.name, compilation.user);

  /** What the row becomes: what was sent, and of what is there what its caller could not have sent, or did not send of what nobody is shown. */
  function replacement(work: Work, request: Value, fields: Fields, before: Fields): Fields {
    const next = withoutPrototype(fields);
    const seen = shown?.(work.scope, before);
    const isUnseen = (name: string) => seen?.has(name) === false && !isOnlyWritten(name);
    // A default is for what a caller leaves out, and this one may have been set by a caller before.
    const isUnsent = (name: string) => next[name] === undefined || (isFields(request) && !Object.hasOwn(request, name));
    const staysUnsent = (name: string) => isOnlyWritten(name) || model.immutable.includes(name);
    for (const name of Object.keys(before))
      if (isKept(name) || isUnseen(name) || (staysUnsent(name) && isUnsent(name))) next[name] = before[name];
    return next;
  }

  const replacing = compileChildrenChanging(
    endpoint,
    model,
    models,
    compilation,
    compileUpdate,
  )({
    model,
    find: (work, exchange) => locator.find(work, exchange),
    precondition: compilePrecondition(endpoint, model, compilation),
    take(work, exchange, { row, fields: before }) {
      // The path names the identifier, of a row or of the one that is made.
      const id = locator.idOf(work, exchange) as string;
      const other = otherIdentifier(takenOf(endpoint, exchange.request), model, id);
      if (other) return invalid([other]);
      const taken = sent(endpoint.takes ? exchange : withIdentifier(exchange, model, id), before);
      if ('refusal' in taken) return taken;
      if (endpoint.takes) taken.fields[model.identifier.field] ??= identifierValue(id, model.identifier.isInteger);
      if (!row || !before) return maker.take(work, taken.fields);
      const wrong = changedImmutables(model, taken.fields, before);
      return wrong.length > 0
        ? invalid(wrong)
        : fit(work, row, before, replacement(work, takenOf(endpoint, exchange.request), taken.fields, before));
    },
    change,
  });
  return verb === 'upsert' ? orMaking(replacing, maker, locator) : replacing;
}

/** An upsert makes the row that is not there. */
function orMaking(replacing: Act, maker: RowMaking, locator: Locator): Act {
  const { model } = replacing;
  return {
    ...replacing,
    find(work, exchange) {
      const found = locator.find(work, exchange);
      if (!('refusal' in found)) return found;
      const id = locator.idOf(work, exchange);
      if (id === undefined || work.rows.get(model.name, id) !== undefined) return found;
      const pass = locator.enter(work, exchange);
      return 'refusal' in pass ? pass : { id, row: undefined, fields: undefined, pass };
    },
    making: maker.change,
  };
}

/** Replace keeps what its caller could not have sent: read-only, state and hidden fields, and those it may not write. What nobody is ever shown it may send all the same; to a stand-in also what only answers call read-only. */
function keptOnReplace(model: RowModel, endpoint: Endpoint, compilation: ViewCompilation) {
  const { user } = compilation;
  const hidden = [...model.fields.values()].filter((field) => isHidden(field, { user, reveals: false }));
  const names = (writeOnly: boolean) => hidden.filter((field) => field.writeOnly === writeOnly).map(({ name }) => name);
  const dropped = withoutStated(droppedFor(model, compilation), endpoint, model, compilation);
  const kept = new Set([...dropped, ...names(false), model.identifier.field]);
  const written = new Set(names(true));
  return { isKept: (name: string) => kept.has(name), isOnlyWritten: (name: string) => written.has(name) };
}

/** A body may repeat the identifier that the path names, and name no other. */
function otherIdentifier(request: Value, model: RowModel, id: string): Violation | undefined {
  const { field } = model.identifier;
  const sent = isFields(request) && !model.readOnly.has(field) ? request[field] : undefined;
  if (sent === undefined || String(sent) === id) return undefined;
  return { in: 'body', path: `/${field}`, found: describeValue(sent), expected: `${describeValue(id)}, as the path says` };
}

/** The path says the identifier of a replace or upsert where the resource's own is the client's. */
function withIdentifier(exchange: Exchange, model: RowModel, id: string): Exchange {
  const { request } = exchange;
  if (model.readOnly.has(model.identifier.field) || !isFields(request) || request[model.identifier.field] !== undefined)
    return exchange;
  const { field, isInteger } = model.identifier;
  return { ...exchange, request: Object.assign(withoutPrototype(request), { [field]: identifierValue(id, isInteger) }) };
}
