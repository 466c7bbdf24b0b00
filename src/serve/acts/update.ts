import { isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { mergeJson } from '../../parts/versions/json-merge.ts';
import type { Row } from '../../store/store.ts';
import type { Pass } from '../access/passing.ts';
import type { Compilation } from '../compilation.ts';
import type { Fields, Refusal, Value } from '../exchange.ts';
import { bare } from '../json.ts';
import type { RowModel } from '../rows/model.ts';
import { applySetters, asStored, kept, updateRow } from '../rows/write.ts';
import { compileForgiving } from '../sampling/forgiving.ts';
import { keepNames } from '../sampling/names.ts';
import { mendRow } from '../sampling/sampled-rows.ts';
import { isHidden } from '../shown.ts';
import { compileOlderUpdate } from '../versioning/older-update.ts';
import { describeValue, type Violation } from '../wire/violation.ts';
import { type Act, type Hook, type Models, type Outcome, type Pause, refuse, seen, type Work } from './act.ts';
import { bindPath, compileMissingReference, compileSent, droppedFor, invalid, isFields, withoutKeys } from './body.ts';
import { compileMaker, make } from './create.ts';
import { compileLocator } from './locate.ts';
import { otherIdentifier, withIdentifier } from './named-identifier.ts';
import { compileOwnErrors } from './own-errors.ts';
import { compilePrecondition } from './precondition.ts';
import { changedField, ownFields, unknownField } from './wrong-fields.ts';

/** A found row and what would become of it. */
interface Changing {
  readonly row: Row;
  readonly before: Fields;
  readonly next: Fields;
  readonly pass: Pass;
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
  const dropped = droppedFor(model, compilation);
  const forgive = compileForgiving(compilation);
  const older = isStated(endpoint.request) ? undefined : compileOlderUpdate(model, compilation);
  const ownShape = isStated(endpoint.request) ? compilation.validate(endpoint.request.value, 'sent') : undefined;
  return (work, exchange, hook) => {
    const found = locator.find(work, exchange);
    if ('refusal' in found) return found;
    const { row, fields: before, pass } = found;
    const failed = precondition(exchange, row, before);
    if (failed) return { refusal: pass.conceal(failed) };
    const misfits = exchange.older?.violations ?? [];
    if (misfits.length > 0) return concealed(pass, misfits, true);
    const patch = exchange.request;
    const badShape = isFields(patch)
      ? forgive(exchange, ownShape?.(patch) ?? [])
      : [{ in: 'body' as const, path: '', found: describeValue(patch), expected: 'an object' }];
    if (badShape.length > 0 || !isFields(patch)) return concealed(pass, badShape);
    const changes = withoutKeys(patch, dropped);
    const made = older?.(exchange, before);
    if (made && 'violations' in made) return concealed(pass, made.violations, true);
    const wrong = [
      ...(made ? [] : forgive(exchange, unknownFields(model, changes, ownShape !== undefined))),
      ...(made ? [] : changedImmutables(model, changes, before)),
      ...bindPath({ ...changes }, exchange, model, locator),
    ];
    if (wrong.length > 0) return concealed(pass, wrong);
    const next =
      made?.next ??
      bare(mergeJson(before, ownShape || compilation.sampling ? ownFields(model.fields, changes) : changes) as Fields);
    return finish(work, { row, before, next, pass }, hook);
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
  const isKept = keptOnReplace(model, compilation);
  return (work, exchange, hook) => {
    const found = locator.find(work, exchange);
    const id = locator.idOf(work, exchange);
    if ('refusal' in found) {
      const isMissing = verb === 'upsert' && id !== undefined && work.rows.get(model.name, id) === undefined;
      if (!isMissing) return found;
      const pass = locator.enter(work, exchange);
      if ('refusal' in pass) return pass;
      const failed = precondition(exchange, undefined, undefined);
      if (failed) return { refusal: failed };
      const other = otherIdentifier(exchange, model, id);
      if (other) return invalid([other]);
      const taken = sent(withIdentifier(exchange, model, id));
      return 'refusal' in taken ? taken : make(work, maker, taken.fields, id, hook, pass);
    }
    const { row, fields: before, pass } = found;
    const failed = precondition(exchange, row, before);
    if (failed) return { refusal: pass.conceal(failed) };
    const other = otherIdentifier(exchange, model, id as string);
    if (other) return concealed(pass, [other]);
    const taken = sent(withIdentifier(exchange, model, id as string), before);
    if ('refusal' in taken) return { refusal: pass.conceal(taken.refusal) };
    const wrong = changedImmutables(model, taken.fields, before);
    if (wrong.length > 0) return concealed(pass, wrong);
    const next = bare(taken.fields);
    for (const name of Object.keys(before))
      if (isKept(name) || (model.immutable.includes(name) && next[name] === undefined)) next[name] = before[name];
    return finish(work, { row, before, next, pass }, hook);
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
  const missingReference = compileMissingReference(compilation);
  const { sampling } = compilation;
  return (work: Work, changing: Changing, hook: Hook | undefined): Outcome | Pause => {
    const { row, before, pass } = changing;
    const mended = sampling && mendRow(sampling, work, model, row.id, changing.next, before);
    const next = mended?.whole ?? changing.next;
    // What a stand-in has mended fits, and its shapes may be too many to be compiled for that.
    const violations = sampling ? [] : model.validateStored(next);
    if (violations.length > 0) return concealed(pass, violations);
    const missing = missingReference(work, model, next, before);
    if (missing) return { refusal: pass.conceal(missing) };
    const hooked = hook?.next ?? next;
    const scope = { ...work.scope, resource: before, next: hooked };
    const forbidden = pass.settle(() => asStored(model.setters(words), scope, hooked));
    if (forbidden) return { refusal: forbidden };
    if (allowed && model.machine && !allowed.has(before[model.machine.field])) return refuse('transition.illegal');
    if (hook && !hook.next) return { paused: { resource: before, next, seen: seen(model, row) } };
    const isUnchanged = isSame(before, kept(model, hooked));
    const set = isUnchanged ? hooked : applySetters(model.setters(words), scope, hooked);
    const own: Refusal | undefined = ownErrors?.({ ...scope, next: set });
    if (own) return { refusal: own };
    if (isUnchanged) return { did: 'unchanged', row, fields: before };
    if (mended) keepNames(work.rows, model.name, row.id, mended.names);
    const written = updateRow(work, model, row, before, set, row.entered, operation.name);
    return { did: 'changed', row: written, fields: set };
  };
}

function concealed(pass: Pass, violations: readonly Violation[], inVersion?: true): { readonly refusal: Refusal } {
  return { refusal: pass.conceal({ when: 'request.invalid', violations, ...(inVersion && { inVersion }) }) };
}

function unknownFields(model: RowModel, patch: Fields, isOwnShape: boolean): Violation[] {
  if (isOwnShape || model.resource.additionalProperties) return [];
  return Object.keys(patch)
    .filter((name) => !model.fields.has(name))
    .map((name) => unknownField(name, patch[name], model.name));
}

function changedImmutables(model: RowModel, sent: Fields, before: Fields): Violation[] {
  return model.immutable
    .filter((name) => sent[name] !== undefined && !isSame(sent[name], before[name]))
    .map((name) => changedField(name, sent[name]));
}

/** Replace keeps what its caller could not have sent: read-only, state and hidden fields, and those it may not write. */
function keptOnReplace(model: RowModel, compilation: Compilation): (name: string) => boolean {
  const { user } = compilation;
  const dropped = droppedFor(model, compilation);
  const hidden = [...model.fields.values()].filter((field) => isHidden(field, { user, reveals: false })).map(({ name }) => name);
  const kept = new Set([...dropped, ...hidden, model.identifier.field]);
  return (name) => kept.has(name);
}
