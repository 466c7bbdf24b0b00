import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Row } from '../../store/store.ts';
import type { Compilation } from '../compilation.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange.ts';
import { sameJson } from '../json.ts';
import type { RowModel } from '../rows/model.ts';
import { applySetters, kept, updateRow } from '../rows/write.ts';
import { isHidden } from '../shown.ts';
import { describeValue, type Violation } from '../wire/violation.ts';
import { type Act, type Hook, type Models, type Outcome, type Pause, refuse, type Work } from './act.ts';
import { bindPath, compileSent, droppedFor, invalid, isFields, missingReference, withoutKeys } from './body.ts';
import { compileMaker, make } from './create.ts';
import { compileLocator } from './locate.ts';
import { compileOwnErrors } from './own-errors.ts';
import { compilePrecondition } from './precondition.ts';

/** A found row and what would become of it. */
interface Changing {
  readonly row: Row;
  readonly before: Fields;
  readonly next: Fields;
}

/** Compiles `update RESOURCE`: JSON Merge Patch (RFC 7396). */
export function compileUpdate(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: Compilation,
): Act {
  const locator = compileLocator(endpoint, model, models, compilation);
  const precondition = compilePrecondition(endpoint, model, compilation);
  const finish = compileFinish(operation, endpoint, model, 'update', compilation);
  const dropped = droppedFor(model, compilation.user);
  const ownShape = isStated(endpoint.request) ? compilation.validate(endpoint.request.value, 'sent') : undefined;
  return (work, exchange, hook) => {
    const found = locator.find(work, exchange);
    if ('refusal' in found) return found;
    const failed = precondition(exchange, found.row, found.fields);
    if (failed) return { refusal: failed };
    const patch = exchange.request;
    if (!isFields(patch)) return invalid([{ in: 'body', path: '', found: describeValue(patch), expected: 'an object' }]);
    const badShape = ownShape?.(patch) ?? [];
    if (badShape.length > 0) return invalid(badShape);
    const changes = withoutKeys(patch, dropped);
    const wrong = [
      ...unknownFields(model, changes, ownShape !== undefined),
      ...changedImmutables(model, changes, found.fields),
      ...bindPath({ ...changes }, exchange, model, locator),
    ];
    if (wrong.length > 0) return invalid(wrong);
    const next = mergePatch(found.fields, ownShape ? pick(model, changes) : changes) as Fields;
    return finish(work, { row: found.row, before: found.fields, next }, hook);
  };
}

/** Compiles `replace RESOURCE`, and `upsert RESOURCE`, which makes what is not there. */
export function compileReplace(
  verb: 'replace' | 'upsert',
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: Compilation,
): Act {
  const locator = compileLocator(endpoint, model, models, compilation);
  const precondition = compilePrecondition(endpoint, model, compilation);
  const sent = compileSent(endpoint, model, locator, compilation);
  const finish = compileFinish(operation, endpoint, model, 'replace', compilation);
  const maker = compileMaker(operation, model, compilation);
  const isKept = keptOnReplace(model, compilation.user);
  return (work, exchange, hook) => {
    const found = locator.find(work, exchange);
    const id = locator.idOf(work, exchange);
    if ('refusal' in found) {
      const isMissing = verb === 'upsert' && id !== undefined && work.rows.get(model.name, id) === undefined;
      const parents = isMissing ? locator.parents(work, exchange) : undefined;
      if (!isMissing || parents) return parents ? { refusal: parents } : found;
      const failed = precondition(exchange, undefined, undefined);
      if (failed) return { refusal: failed };
      const other = otherIdentifier(exchange, model, id);
      if (other) return invalid([other]);
      const taken = sent(withIdentifier(exchange, model, id));
      return 'refusal' in taken ? taken : make(work, maker, taken.fields, id, hook);
    }
    const failed = precondition(exchange, found.row, found.fields);
    if (failed) return { refusal: failed };
    const other = otherIdentifier(exchange, model, id as string);
    if (other) return invalid([other]);
    const taken = sent(withIdentifier(exchange, model, id as string));
    if ('refusal' in taken) return taken;
    const wrong = changedImmutables(model, taken.fields, found.fields);
    if (wrong.length > 0) return invalid(wrong);
    const next: Fields = { ...taken.fields };
    for (const name of Object.keys(found.fields))
      if (isKept(name) || (model.immutable.includes(name) && next[name] === undefined)) next[name] = found.fields[name];
    return finish(work, { row: found.row, before: found.fields, next }, hook);
  };
}

/** What is the same for every change of a row that is there: validity, references, `in`, own errors, what is set, the row. */
function compileFinish(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  verb: 'update' | 'replace',
  compilation: Compilation,
) {
  const ownErrors = compileOwnErrors(operation, compilation);
  const allowed = endpoint.in && new Set<Value>(endpoint.in);
  const words = [operation.name, verb, 'write'];
  return (work: Work, changing: Changing, hook: Hook | undefined): Outcome | Pause => {
    const { row, before, next } = changing;
    const violations = model.validateStored(next);
    if (violations.length > 0) return invalid(violations);
    const missing = missingReference(work, model, next, before);
    if (missing) return { refusal: missing };
    if (allowed && model.machine && !allowed.has(before[model.machine.field])) return refuse('transition.illegal');
    if (hook && !hook.next) return { paused: { resource: before, next } };
    const hooked = hook?.next ?? next;
    const scope = { ...work.scope, resource: before, next: hooked };
    const isSame = sameJson(before, kept(model, hooked));
    const set = isSame ? hooked : applySetters(model.setters(words), scope, hooked);
    const own: Refusal | undefined = ownErrors?.({ ...scope, next: set });
    if (own) return { refusal: own };
    if (isSame) return { did: 'unchanged', row, fields: before };
    const written = updateRow(work, model, row, before, set, row.entered, operation.name);
    return { did: 'changed', row: written, fields: set };
  };
}

/** RFC 7396 section 2. */
export function mergePatch(target: Value, patch: Value): Value {
  if (!isFields(patch)) return patch;
  const result: Fields = { ...(isFields(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else
      Object.defineProperty(result, name, {
        value: mergePatch(result[name], value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return result;
}

function unknownFields(model: RowModel, patch: Fields, isOwnShape: boolean): Violation[] {
  if (isOwnShape || model.resource.additionalProperties) return [];
  return Object.keys(patch)
    .filter((name) => !model.fields.has(name))
    .map((name) => ({
      in: 'body',
      path: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      found: describeValue(patch[name]),
      expected: `no such field: a ${model.name} has none`,
    }));
}

function changedImmutables(model: RowModel, sent: Fields, before: Fields): Violation[] {
  return model.immutable
    .filter((name) => sent[name] !== undefined && !sameJson(sent[name], before[name]))
    .map((name) => ({
      in: 'body',
      path: `/${name}`,
      found: describeValue(sent[name]),
      expected: 'its value unchanged: it is set once',
    }));
}

function pick(model: RowModel, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => model.fields.has(name)));
}

/** Replace keeps what its caller could not have sent: read-only, state and hidden fields, and those it may not write. */
function keptOnReplace(model: RowModel, user: string | undefined): (name: string) => boolean {
  const dropped = droppedFor(model, user);
  const hidden = [...model.fields.values()].filter((field) => isHidden(field, { user, reveals: false })).map(({ name }) => name);
  const kept = new Set([...dropped, ...hidden, model.identifier.field]);
  return (name) => kept.has(name);
}

/** A body may repeat the identifier that the path names, and name no other. */
function otherIdentifier({ request }: Exchange, model: RowModel, id: string): Violation | undefined {
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
  return { ...exchange, request: { ...request, [model.identifier.field]: model.identifier.isInteger ? Number(id) : id } };
}
