import type { Endpoint } from '../../parts/endpoints.ts';
import { uniquesOf } from '../../parts/inner-values.ts';
import type { Operation } from '../../parts/operations.ts';
import { Duplicate } from '../../store/failures.ts';
import type { Row } from '../../store/store.ts';
import { type Exchange, type Fields, type Refusal, Refused } from '../exchange/exchange.ts';
import { copy, withoutPrototype } from '../http/json.ts';
import { describeValue } from '../http/violation.ts';
import type { Act, Changing, Models, SentChildren, TakenRow, Work } from './act.ts';
import { compileMissingReference, compileSent, invalid, type SentRow } from './body.ts';
import { type ChildrenTaking, compileChildrenTaking } from './children-sent.ts';
import { takeMadeLast, withMadeLast } from './counting.ts';
import { bringUpDerived, withDerived } from './derive.ts';
import { orFound } from './found-instead.ts';
import { compileBegin, keepEntries, keptFields, newRow, setTimers } from './kept-row.ts';
import { compileLocator, type Locator } from './locate.ts';
import { identifierText, identifierValue, type RowModel } from './model.ts';
import { compileOwnErrors } from './precondition.ts';
import { holdRowLimits } from './row-limits.ts';
import { applySetters, asStored } from './setters.ts';
import { isMadeUpWhereUnsent, type StandIn } from './stand-in.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** How a row is made, for create and for an upsert that finds none. */
export interface RowMaking {
  /** What the row would be: references, the state that it starts in, what is generated. */
  take(work: Work, sent: Fields): TakenRow | { readonly refusal: Refusal };
  readonly change: Changing;
}

/** `given` are the fields that are given from elsewhere, and so not set. */
export function compileMaker(
  operation: Operation,
  model: RowModel,
  compilation: ViewCompilation,
  given?: readonly string[],
): RowMaking {
  const { standIn } = compilation;
  const words = [operation.name, 'create', 'write'];
  const missingReference = compileMissingReference(compilation);
  // Where it is open what a row starts in, a stand-in makes it up.
  const begin = compileBegin(model, operation.name, standIn !== undefined);
  const ownErrors = compileOwnErrors(operation, compilation);
  const derives = model.derived.fields.length > 0;
  return {
    take(work, sent) {
      for (const { field, value } of model.defaults) if (sent[field] === undefined) sent[field] = copy(value);
      const missing = missingReference(work, model, sent, undefined);
      if (missing) return { refusal: missing };
      const known = derives ? withDerived(work.rows, model, undefined, sent, false) : sent;
      const started = begin(work.scope, known);
      return {
        next: generate(work, model, started?.next ?? known),
        answer: started?.answer,
        ...(!started && { illegal: { when: 'transition.illegal.condition' } }),
      };
    },
    change: {
      model,
      asStored: (names, next) => asStored(model.setters(words, given), names, next),
      illegalIn: undefined,
      set(work, { id }, _taken, names, hooked) {
        const known = id ?? generateIdentifier(work, model, standIn);
        const setters = model.setters(words, given);
        const isRead = setters.length > 0 || model.madeLast.length > 0;
        const whole = known === undefined || !isRead ? hooked : identified(model, hooked, known);
        const made = model.madeLast.length === 0 ? whole : withMadeLast(work, model, whole);
        const scope = made === hooked ? names : { ...names, next: made };
        const next = applySetters(setters, scope, made, made !== hooked);
        const identifier = known ?? givenIdentifier(work, model, standIn, next);
        if (identifier === undefined) throw new Refused({ when: 'request.invalid', violations: [noIdentifier(model, next)] });
        next[model.identifier.field] = identifierValue(identifier, model.identifier.isInteger);
        return standIn ? standIn.completeRow(work, model, identifier, next) : next;
      },
      // What a stand-in made besides the row is undone with it.
      ownErrors: standIn && ownErrors ? (names) => undone(ownErrors(names)) : ownErrors,
      store(work, _found, { children }, fields) {
        const at = work.stored.length;
        // The row has its identifier by now.
        const made = insertRow(work, model, String(fields[model.identifier.field]), fields, operation.name);
        withChildren(work, at, children);
        return { did: 'created', ...made };
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
  const children = compileChildrenTaking(endpoint, model, models, compilation);
  const copied = compilation.standIn?.compileCopied(endpoint, model);
  const asked = compilation.standIn?.compileAskedFields(endpoint, model);
  return {
    model,
    find(work, exchange) {
      const pass = locator.enter(work, exchange);
      return 'refusal' in pass ? pass : { row: undefined, fields: undefined, pass };
    },
    precondition: undefined,
    take(work, exchange) {
      const taken = sent(exchange);
      if (children) return takenWithChildren(work, exchange, children, taken, maker);
      if ('refusal' in taken) return taken;
      const usual = copied?.(work, exchange);
      const fields = usual ? Object.assign(withoutPrototype(usual), taken.fields) : taken.fields;
      return maker.take(work, asked ? Object.assign(fields, asked(exchange, taken.fields)) : fields);
    },
    change: endpoint.exists ? orFound(maker.change, compilation) : maker.change,
  };
}

/** Says with a stored change what was sent of the row's children. */
export function withChildren({ stored }: Work, at: number, children: SentChildren | undefined): void {
  const change = stored[at];
  if (children && change) stored[at] = { ...change, children };
}

/** A row with what was sent of its children; what is wrong with either of them is told together. */
function takenWithChildren(
  work: Work,
  exchange: Exchange,
  taking: ChildrenTaking,
  taken: SentRow,
  maker: RowMaking,
): ReturnType<RowMaking['take']> {
  const { violations, children } = taking.sent(exchange);
  if ('refusal' in taken) {
    const { refusal } = taken;
    if (refusal.when !== 'request.invalid' || refusal.inVersion) return taken;
    return { refusal: { ...refusal, violations: [...(refusal.violations ?? []), ...violations] } };
  }
  if (violations.length > 0) return invalid(violations);
  const row = maker.take(work, taken.fields);
  if ('refusal' in row) return row;
  const missing = taking.missing(work, children);
  return missing ? { refusal: missing } : { ...row, children };
}

function undone(own: Refusal | undefined): undefined {
  if (own) throw new Refused(own);
}

function generate(work: Work, model: RowModel, fields: Fields): Fields {
  if (model.generated.length === 0) return fields;
  const next = withoutPrototype(fields);
  for (const { field, make } of model.generated) if (next[field] === undefined) next[field] = make(work.draw);
  return next;
}

/** The identifier that is made of nothing else. */
function generateIdentifier(work: Work, model: RowModel, standIn: StandIn | undefined): string | undefined {
  const { generate: how } = model.identifier;
  // An identifier that was read off something is as likely as one that was made up: the same for the same seed.
  const isSeeded = standIn !== undefined && model.resource.identifier.standing === 'inferred';
  if (how.by === 'template') return isSeeded ? standIn.newIdentifier(work, model) : how.make(work.draw);
  return how.by === 'sequence' ? nextNumber(work, model) : undefined;
}

function givenIdentifier(work: Work, model: RowModel, standIn: StandIn | undefined, next: Fields): string | undefined {
  return identifierText(next[model.identifier.field]) ?? madeUpIdentifier(work, model, standIn, next);
}

/** The identifier of a row that comes without one, as a creation makes it; nothing where whoever makes the row has to give it. */
export function newIdentifierOf(work: Work, model: RowModel, standIn: StandIn | undefined, fields: Fields): string | undefined {
  return generateIdentifier(work, model, standIn) ?? madeUpIdentifier(work, model, standIn, fields);
}

function madeUpIdentifier(work: Work, model: RowModel, standIn: StandIn | undefined, next: Fields): string | undefined {
  if (!standIn) return undefined;
  const isMadeUp = model.identifier.generate.by === 'open' || isMadeUpWhereUnsent(model, standIn);
  return isMadeUp ? standIn.newIdentifier(work, model, next) : undefined;
}

function identified(model: RowModel, fields: Fields, identifier: string): Fields {
  const { field, isInteger } = model.identifier;
  return Object.assign(withoutPrototype(fields), { [field]: identifierValue(identifier, isInteger) });
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
export function insertRow(
  work: Work,
  model: RowModel,
  id: string,
  given: Fields,
  operation: string,
  back?: BroughtBack,
): StoredRow {
  const made = model.madeLast.length === 0 || back ? given : takeMadeLast(work, model, given);
  const fields = model.derived.fields.length > 0 ? withDerived(work.rows, model, undefined, made, true) : made;
  const row = write(work, model, fields, () =>
    work.rows.insert(model.name, newRow(model, id, fields, model.machines.length > 0 || model.isLog ? work.nowMs : 0)),
  );
  keepEntries(work.rows, model, id, undefined, work.nowMs, []);
  holdRowLimits(work.rows, model.counted, undefined, fields);
  setTimers(work, model, row, fields);
  const transitions = back ? [back.transition] : none;
  work.stored.push({ operation, transitions, model, id, before: back?.before, after: fields });
  return asDerived(work, model, row, undefined, fields);
}

const none: readonly string[] = [];

/** How a row is there again that was deleted: what it was, and the transition that brings it back. */
interface BroughtBack {
  readonly before: Fields;
  readonly transition: string;
}

/** A row as it is stored, and its fields. */
interface StoredRow {
  readonly row: Row;
  readonly fields: Fields;
}

/** What is derived elsewhere is brought up; where rows refer to others of their own resource, that may be of this one. */
function asDerived(work: Work, model: RowModel, row: Row, before: Fields | undefined, fields: Fields): StoredRow {
  const { tallies } = model.derived;
  if (tallies.length === 0) return { row, fields };
  bringUpDerived(work, model, before, keptFields(model, fields));
  const now = tallies.some(({ target }) => target === model.name) ? work.rows.get(model.name, row.id) : undefined;
  return now && now.rev !== row.rev ? { row: now, fields: model.parse(now) } : { row, fields };
}

/** Stores a changed row with its timers. It enters its states now, by the transitions, where those are what changes it. */
export function updateRow(
  work: Work,
  model: RowModel,
  row: Row,
  before: Fields,
  given: Fields,
  operation: string,
  transitions: readonly string[] = none,
): StoredRow {
  const [first] = model.machines;
  const entered = first && transitions.some((one) => first.has(one)) ? work.nowMs : row.entered;
  const fields = withDerived(work.rows, model, row.id, given, true);
  const written = write(work, model, fields, () => work.rows.update(model.name, newRow(model, row.id, fields, entered)));
  keepEntries(work.rows, model, row.id, row, work.nowMs, transitions);
  holdRowLimits(work.rows, model.counted, before, fields);
  setTimers(work, model, written, fields);
  work.stored.push({ operation, transitions, model, id: row.id, before, after: fields });
  return asDerived(work, model, written, before, fields);
}

function write(_work: Work, model: RowModel, fields: Fields, act: () => Row): Row {
  try {
    return act();
  } catch (failure) {
    if (!(failure instanceof Duplicate)) throw failure;
    const rule = uniquesOf(model.resource)[Number(failure.column.slice('unique '.length))];
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
