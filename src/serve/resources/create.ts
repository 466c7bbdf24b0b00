import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import { Duplicate } from '../../store/failures.ts';
import type { NewRow, Row } from '../../store/store.ts';
import { EvaluationFailure } from '../exchange/compilation.ts';
import { type Fields, type Refusal, Refused, type Value } from '../exchange/exchange.ts';
import { Bare, copy, toJson, withoutPrototype } from '../http/json.ts';
import { describeValue } from '../http/violation.ts';
import { type Act, type Changing, compileOwnErrors, type Models, type Names, type TakenRow, type Work } from './act.ts';
import { compileMissingReference, compileSent } from './body.ts';
import { compileLocator, type Locator } from './locate.ts';
import { identifierText, identifierValue, type RowModel, type Setter } from './model.ts';
import type { StandIn } from './stand-in.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** How a row is made, for create and for an upsert that finds none. */
export interface RowMaking {
  /** What the row would be: references, the state that it starts in, what is generated. */
  take(work: Work, sent: Fields): TakenRow | { readonly refusal: Refusal };
  readonly change: Changing;
}

export function compileMaker(operation: Operation, model: RowModel, compilation: ViewCompilation): RowMaking {
  const { standIn } = compilation;
  const words = [operation.name, 'create', 'write'];
  const missingReference = compileMissingReference(compilation);
  // Where it is open what a row starts in, a stand-in makes it up.
  const initial = standIn && !model.machine?.hasInitial ? undefined : model.machine?.initial(operation.name);
  const ownErrors = compileOwnErrors(operation, compilation);
  return {
    take(work, sent) {
      for (const { field, value } of model.defaults) if (sent[field] === undefined) sent[field] = copy(value);
      const missing = missingReference(work, model, sent, undefined);
      if (missing) return { refusal: missing };
      const started = start(work, model, initial, sent);
      return { next: generate(work, model, started ?? sent), ...(!started && { illegal: { when: 'transition.illegal' } }) };
    },
    change: {
      model,
      asStored: (names, next) => asStored(model.setters(words), names, next),
      illegalIn: undefined,
      set(work, { id }, _taken, names, hooked) {
        const next = applySetters(model.setters(words), names, hooked);
        const identifier = id ?? identify(work, model, standIn, next);
        if (identifier === undefined) throw new Refused({ when: 'request.invalid', violations: [noIdentifier(model, next)] });
        next[model.identifier.field] = identifierValue(identifier, model.identifier.isInteger);
        return standIn ? standIn.completeRow(work, model, identifier, next) : next;
      },
      // What a stand-in made besides the row is undone with it.
      ownErrors: standIn && ownErrors ? (names) => undone(ownErrors(names)) : ownErrors,
      store(work, _found, _taken, fields) {
        // The row has its identifier by now.
        const row = insertRow(work, model, String(fields[model.identifier.field]), fields, operation.name);
        return { did: 'created', row, fields };
      },
    },
  };
}

/** Compiles `create RESOURCE`. */
export function compileCreate(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
): Act {
  const locator: Locator = compileLocator(endpoint, model, models, compilation);
  const sent = compileSent(endpoint, model, locator, compilation);
  const maker = compileMaker(operation, model, compilation);
  return {
    model,
    find(work, exchange) {
      const pass = locator.enter(work, exchange);
      return 'refusal' in pass ? pass : { row: undefined, fields: undefined, pass };
    },
    precondition: undefined,
    take(work, exchange) {
      const taken = sent(exchange);
      return 'refusal' in taken ? taken : maker.take(work, taken.fields);
    },
    change: maker.change,
  };
}

function undone(own: Refusal | undefined): undefined {
  if (own) throw new Refused(own);
}

/** The state that a new row starts in; nothing where no target holds. */
function start(
  work: Work,
  { machine }: RowModel,
  initial: ((names: Names) => string | undefined) | undefined,
  sent: Fields,
): Fields | undefined {
  if (!machine || !initial) return sent;
  const state = initial({ ...work.scope, next: sent });
  return state === undefined ? undefined : Object.assign(withoutPrototype(sent), { [machine.field]: state });
}

function generate(work: Work, model: RowModel, fields: Fields): Fields {
  if (model.generated.length === 0) return fields;
  const next = withoutPrototype(fields);
  for (const { field, make } of model.generated) if (next[field] === undefined) next[field] = make(work.draw);
  return next;
}

function identify(work: Work, model: RowModel, standIn: StandIn | undefined, next: Fields): string | undefined {
  const { generate: how, field } = model.identifier;
  // An identifier that was read off something is as likely as one that was made up: the same for the same seed.
  const isSeeded = standIn !== undefined && model.resource.identifier.standing === 'inferred';
  if (how.by === 'template') return isSeeded ? standIn.newIdentifier(work, model) : how.make(work.draw);
  if (how.by === 'sequence') return nextNumber(work, model);
  const given = identifierText(next[field]);
  return given === undefined && how.by === 'open' && standIn ? standIn.newIdentifier(work, model) : given;
}

/** The next number; those of rows that were stored under a number of their own are passed over. */
function nextNumber({ rows }: Work, { name }: RowModel): string {
  for (;;) {
    const number = String(rows.next(name));
    if (!rows.get(name, number)) return number;
  }
}

function noIdentifier(model: RowModel, next: Fields) {
  return {
    in: 'body' as const,
    path: `/${model.identifier.field}`,
    found: describeValue(next[model.identifier.field]),
    expected: `the identifier of the new ${model.name}, which a path can name`,
  };
}

/** Stores a new row with its timers. @throws {Refused} `resource.exists` where its identifier or a unique value is taken. */
export function insertRow(work: Work, model: RowModel, id: string, fields: Fields, operation: string): Row {
  const row = write(work, model, fields, () =>
    work.rows.insert(model.name, newRow(model, id, fields, model.machine ? work.nowMs : 0)),
  );
  setTimers(work, model, row, fields);
  work.stored.push({ operation, model, id, before: undefined, after: fields });
  return row;
}

/** Stores a changed row with its timers. `entered` is when it entered its state. */
export function updateRow(
  work: Work,
  model: RowModel,
  row: Row,
  before: Fields,
  fields: Fields,
  entered: number,
  operation: string,
): Row {
  const written = write(work, model, fields, () => work.rows.update(model.name, newRow(model, row.id, fields, entered)));
  setTimers(work, model, written, fields);
  work.stored.push({ operation, model, id: row.id, before, after: fields });
  return written;
}

/** What is set on a change, all of it over the same scope. @throws {Refused} `internal` where it fails or does not fit its field. */
export function applySetters(setters: readonly Setter[], scope: Readonly<Record<string, Value>>, fields: Fields): Fields {
  if (setters.length === 0) return fields;
  const values = setters.map(({ field, expression, evaluate, validate }) => {
    const value = evaluate(scope);
    if (value instanceof EvaluationFailure)
      throw new Refused({ when: 'internal', message: `What sets ${field} failed (${expression.source}): ${value.reason}` });
    if (value !== undefined && value !== null && validate(value).length > 0) {
      throw new Refused({
        when: 'internal',
        message: `What sets ${field} (${expression.source}) gave ${describeValue(value)}, which is no ${field}.`,
      });
    }
    return value;
  });
  const next = withoutPrototype(fields);
  for (const [index, { field }] of setters.entries()) {
    const value = values[index];
    if (value === undefined || value === null) delete next[field];
    else next[field] = value;
  }
  return next;
}

/** A row with what would be set on it, for those who ask before it is known whether it can be stored. */
export function asStored(setters: readonly Setter[], scope: Readonly<Record<string, Value>>, fields: Fields): Fields {
  try {
    return applySetters(setters, scope, fields);
  } catch (failure) {
    if (!(failure instanceof Refused)) throw failure;
    return fields;
  }
}

function newRow(model: RowModel, id: string, fields: Fields, entered: number): NewRow {
  return { id, entered, doc: toJson(keptFields(model, fields)), columns: model.columnsOf(fields) };
}

/** The fields as they are kept: in the order of the document, without what is never stored. */
export function keptFields(model: RowModel, fields: Fields): Fields {
  const source = model.forget ? copy(fields) : fields;
  model.forget?.(source);
  const ordered: Fields = new Bare();
  for (const name of model.fields.keys())
    if (Object.hasOwn(source, name) && source[name] !== undefined) ordered[name] = source[name];
  if (model.resource.additionalProperties) {
    for (const name of Object.keys(source)) {
      if (!model.fields.has(name)) ordered[name] = source[name];
    }
  }
  return ordered;
}

function write(_work: Work, model: RowModel, fields: Fields, act: () => Row): Row {
  try {
    return act();
  } catch (failure) {
    if (!(failure instanceof Duplicate)) throw failure;
    const rule = model.resource.unique[Number(failure.column.slice('unique '.length))];
    const names = rule?.fields ?? [model.identifier.field];
    const violations = names.map((name) => ({
      in: 'body' as const,
      path: `/${name}`,
      found: describeValue(fields[name]),
      expected: 'a value that no other one holds',
    }));
    throw new Refused({ when: 'resource.exists', violations });
  }
}

/** Sets the timers that the row's state asks for and clears the others. */
export function setTimers(work: Pick<Work, 'rows' | 'scope'>, model: RowModel, row: Row, fields: Fields): void {
  const { machine } = model;
  if (!machine || machine.timed.length === 0) return;
  const state = fields[machine.field];
  for (const timed of machine.timed) {
    const due = timed.leaves(state)
      ? timed.due(fields, row.entered, { ...work.scope, resource: fields, next: fields })
      : undefined;
    if (due) work.rows.setTimer({ resource: model.name, id: row.id, name: timed.name, dueMs: due.ms, token: due.token });
    else work.rows.clearTimers(model.name, row.id, timed.name);
  }
}
