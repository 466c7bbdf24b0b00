import { isSame } from '../../document/values.ts';
import { takenOf } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { mergeJson } from '../../parts/versions/carry.ts';
import type { Row } from '../../store/store.ts';
import type { Exchange, Fields, Refusal } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import { describeValue, sort, type Violation } from '../http/violation.ts';
import type { Act, Changing, Models, TakenRow, Work } from './act.ts';
import {
  bindPath,
  changedField,
  compileLook,
  compileMissingReference,
  droppedFor,
  hasAnyMembers,
  invalid,
  isFields,
  ownFields,
  unknownField,
  withoutKeys,
} from './body.ts';
import { compileChildrenChanging } from './children-changed.ts';
import { updateRow, withChildren } from './create.ts';
import { keptFields } from './kept-row.ts';
import { compileLocator } from './locate.ts';
import type { RowModel } from './model.ts';
import { compileOlderUpdate } from './older-body.ts';
import { compileAllowed, compileMovedErrors, compilePrecondition } from './precondition.ts';
import { compileKeptNulls, compileReadOnlySent, droppedAlone, withoutStated } from './sent-members.ts';
import { applySetters, asStored } from './setters.ts';
import { compileMove, sentStates } from './transition.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** Compiles `update RESOURCE`: JSON Merge Patch (RFC 7396), with the children that it takes. */
export function compileUpdate(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
): Act {
  const withChildrenTaken = compileChildrenChanging(endpoint, model, models, compilation, compileUpdate);
  return withChildrenTaken(compilePatch(operation, endpoint, model, models, compilation));
}

function compilePatch(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
): Act {
  const locator = compileLocator(endpoint, model, models, compilation);
  const dropped = droppedHere(endpoint, model, compilation);
  const move = compileMove(operation, model);
  const readOnlySent = compileReadOnlySent(endpoint, droppedAlone(dropped, endpoint, model));
  const forgive = compilation.standIn?.forgive;
  const older = isStated(endpoint.request) ? undefined : compileOlderUpdate(model, compilation);
  const ownShape = isStated(endpoint.request)
    ? compileLook(compilation.validate(endpoint.request.value, 'sent'), compilation)
    : undefined;
  const [fit, merged] = [compileFit(model, compilation), compileMerge(endpoint, model, compilation)];
  const [renew, beside] = [compilation.standIn?.compileSecretRenewal(endpoint, model), compileBeside(model, compilation)];
  const isNamed = (ownShape !== undefined || compilation.standIn !== undefined) && !(compilation.standIn && hasAnyMembers(model));

  /** What was sent is an object that its own shape, where it has one, admits. */
  function misshapen(exchange: Exchange): readonly Violation[] {
    const { request } = exchange;
    if (isFields(request)) return ownShape?.(exchange, request) ?? [];
    return [{ in: 'body', path: '', found: describeValue(request), expected: 'an object', [sort]: 'type' }];
  }

  return {
    model,
    find: (work, exchange) => locator.find(work, exchange),
    precondition: compilePrecondition(endpoint, model, compilation),
    take(work, exchange, { row, fields }) {
      // An update is of a row that was found.
      const before = fields!;
      const misfits = exchange.older?.violations ?? [];
      if (misfits.length > 0) return invalidInVersion(misfits);
      const listed = compilation.standIn?.patchedBy(exchange.request, before);
      if (listed && 'violations' in listed) return invalid(listed.violations);
      if (listed) return fit(work, row!, before, keeping(listed.fields, before, dropped, isNamed ? model.fields : undefined));
      const patch = endpoint.takes ? (takenOf(endpoint, exchange.request) ?? {}) : exchange.request;
      const badShape = misshapen(exchange);
      if (badShape.length > 0 || !isFields(patch)) return invalid(badShape);
      const changes = withoutKeys(patch, dropped);
      const made = older?.(exchange, before);
      if (made && 'violations' in made) return invalidInVersion(made.violations);
      const unknown = made ? [] : unknownFields(model, changes, ownShape !== undefined);
      const wrong = [
        ...(forgive ? forgive(exchange, unknown) : unknown),
        ...(readOnlySent?.(exchange) ?? []),
        ...(made ? [] : changedImmutables(model, changes, before)),
        ...bindPath({ ...changes }, exchange, model, locator),
      ];
      if (wrong.length > 0) return invalid(beside(wrong, () => merged(exchange, before, ownFields(model.fields, changes))));
      const own = { ...(isNamed ? ownFields(model.fields, changes) : changes), ...renew?.(before, row!) };
      const taken = fit(work, row!, before, made?.next ?? merged(exchange, before, own));
      return !move || 'refusal' in taken ? taken : { ...taken, ...move(work, before, taken.next) };
    },
    change: compileRowChange(operation, model, 'update', compilation, rowChangeOf(endpoint, model)),
  };
}

/** Compiles what else is wrong with a row as it would be: which of several things names the code is told by the order in which they were sent. */
function compileBeside({ validateStored }: RowModel, { standIn }: ViewCompilation) {
  return (wrong: readonly Violation[], next: () => Fields): readonly Violation[] => {
    if (standIn) return wrong;
    const places = new Set(wrong.map(({ path }) => path));
    return [...wrong, ...validateStored(next()).filter(({ path }) => !places.has(path))];
  };
}

/** Compiles the fields after a merge patch; of a stand-in what a mask leaves of it. */
function compileMerge(endpoint: Endpoint, model: RowModel, { standIn }: ViewCompilation) {
  const masked = standIn?.compileUpdateMask(endpoint, model);
  const keepingNull = compileKeptNulls(model);
  return (exchange: Exchange, before: Fields, own: Fields): Fields => {
    const { before: rest, sent } = masked?.(exchange, before, own) ?? { before, sent: own };
    return keepingNull(withoutPrototype(mergeJson(rest, sent) as Fields), sent);
  };
}

/** What an endpoint says of its change. */
export function rowChangeOf(endpoint: Endpoint, model: RowModel): RowChangeOptions {
  return { illegalIn: compileAllowed(endpoint, model), counts: endpoint.counts === 'always' };
}

/** A row that came of a list of changes: of it what it may have, and what a caller cannot write as it was. */
function keeping(
  fields: Fields,
  before: Fields,
  dropped: ReadonlySet<string>,
  known: ReadonlyMap<string, unknown> | undefined,
): Fields {
  const own = known ? ownFields(known, fields) : withoutPrototype(fields);
  for (const name of dropped) if (before[name] !== undefined) own[name] = before[name];
  return own;
}

/** What a change drops; of a stand-in nothing that its stated body has a place for, even where answers call it read-only. */
function droppedHere(endpoint: Endpoint, model: RowModel, compilation: ViewCompilation): ReadonlySet<string> {
  const known = droppedFor(model, compilation);
  const states = sentStates(model, compilation);
  const dropped = states.length === 0 ? known : new Set([...known].filter((name) => !states.includes(name)));
  return withoutStated(dropped, endpoint, model, compilation);
}

/** What a changed row has to be: valid in whole, with what it refers to; a stand-in mends what is not. */
export function compileFit(model: RowModel, compilation: ViewCompilation) {
  const { standIn } = compilation;
  const missingReference = compileMissingReference(compilation);
  return (work: Work, row: Row, before: Fields, changed: Fields): TakenRow | { readonly refusal: Refusal } => {
    const mended = standIn?.mendRow(work, model, row.id, changed, before);
    const next = mended?.whole ?? changed;
    // What a stand-in has mended fits, and its shapes may be too many to be compiled for that.
    const violations = standIn ? [] : model.validateStored(next);
    if (violations.length > 0) return invalid(violations);
    const missing = missingReference(work, model, next, before);
    return missing ? { refusal: missing } : { next, names: mended?.names };
  };
}

interface RowChangeOptions {
  readonly illegalIn?: Changing['illegalIn'];
  readonly given?: readonly string[];
  /** Whether it is a change also where nothing is another. */
  readonly counts?: boolean;
}

/** What is the same for every change of a row that is there, once it is known what it becomes. */
export function compileRowChange(
  operation: Operation,
  model: RowModel,
  verb: 'update' | 'replace',
  compilation: ViewCompilation,
  { illegalIn, given, counts = false }: RowChangeOptions,
): Changing {
  const usual = [operation.name, verb, 'write'];
  const ownName = [operation.name];
  const wordsOf = ({ transitions }: TakenRow) =>
    transitions === undefined ? usual : [operation.name, ...transitions, verb, 'write'];
  const own = compileMovedErrors(operation, model, compilation);
  return {
    model,
    asStored: (names, next, taken) => asStored(model.setters(wordsOf(taken), given), names, next),
    illegalIn,
    set(_work, { fields }, taken, names, next) {
      const words = wordsOf(taken);
      if (taken.transitions !== undefined) return applySetters(model.setters(words, given), names, next);
      // What stands under the operation's own name is what it is for.
      const named = applySetters(model.setters(ownName, given), names, next);
      taken.isUnchanged = !counts && !taken.children && isSame(fields, keptFields(model, named));
      return taken.isUnchanged ? next : applySetters(model.setters(words, given), names, next);
    },
    ownErrors: own,
    store(work, { row, fields }, { names, isUnchanged, transitions, children }, next) {
      // A change is of a row that was found.
      const before = fields!;
      if (isUnchanged) return { did: 'unchanged', row: row!, fields: before };
      if (names) compilation.standIn?.keepNames(work.rows, model, row!.id, names);
      compilation.standIn?.showInOwners(work, model, next, false);
      const at = work.stored.length;
      const changed = updateRow(work, model, row!, before, next, operation.name, transitions);
      withChildren(work, at, children);
      return { did: 'changed', ...changed };
    },
  };
}

function invalidInVersion(violations: readonly Violation[]): { readonly refusal: Refusal } {
  return { refusal: { when: 'request.invalid', violations, inVersion: true } };
}

function unknownFields(model: RowModel, patch: Fields, isOwnShape: boolean): Violation[] {
  if (isOwnShape || model.resource.additionalProperties) return [];
  return Object.keys(patch)
    .filter((name) => !model.fields.has(name))
    .map((name) => unknownField(name, patch[name], model.name));
}

/** What was sent of fields that are set once, and is another. */
export function changedImmutables(model: RowModel, sent: Fields, before: Fields): Violation[] {
  return model.immutable
    .filter((name) => sent[name] !== undefined && !isSame(sent[name], before[name]))
    .map((name) => changedField(name, sent[name]));
}
