import type { Draw } from '../../kinds/generators/kind.ts';
import { readTemplate } from '../../kinds/generators/template.ts';
import { logOf } from '../../parts/event-telling.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { generatedOf, uniquesOf } from '../../parts/inner-values.ts';
import { isWritable } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import type { Spec } from '../../parts/spec.ts';
import { machinesOf } from '../../parts/states.ts';
import type { QuerySpec, Row, Scalar, TableSpec } from '../../store/store.ts';
import type { ListAsking } from '../callers/access.ts';
import { type ColumnCode, canonical, fieldCode } from '../exchange/column.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import { compileForgetting, type Prune } from '../exchange/visibility.ts';
import { parseStored } from '../http/json.ts';
import type { Validate } from '../http/validation.ts';
import { compileDerived, type Derived } from './derived.ts';
import { indexedFields } from './indexes.ts';
import { type CompleteInner, compileFieldRules, compileInner, type FieldRules, shownFields } from './inner-values.ts';
import { compileMadeLast, isMadeLast, type MadeLast } from './made-last.ts';
import { compileReferences, type FindReferences } from './references.ts';
import { type CountedRows, compileCountedRows } from './row-limits.ts';
import { rememberSetters, type Setters } from './setters.ts';
import { type CompiledMachine, compileAlarms, compileMachine, type EventAlarm } from './states.ts';

/** A resource with an identifier, compiled for keeping: its table, and all that its field words ask for. */
export interface RowModel {
  readonly name: string;
  readonly resource: Resource;
  readonly table: TableSpec;
  readonly identifier: { readonly field: string; readonly isInteger: boolean; readonly generate: GenerateIdentifier };
  /** One for each field that holds a state, in the order of the document. */
  readonly machines: readonly CompiledMachine[];
  /** Whether its rows are the events, which are kept for a time from when they are made. */
  readonly isLog: boolean;
  /** What the clock tells of its rows. */
  readonly alarms: readonly EventAlarm[];
  readonly fields: ReadonlyMap<string, Field>;
  /** What a caller cannot write, whoever it is. */
  readonly readOnly: ReadonlySet<string>;
  readonly immutable: readonly string[];
  /** Takes what is never stored out of a row that is about to be kept, in place. */
  readonly forget: Prune | undefined;
  readonly defaults: readonly { readonly field: string; readonly value: Value }[];
  readonly generated: readonly { readonly field: string; make(draw: Draw): string }[];
  /** What is made last of a new row: what is counted, and what holds other fields. */
  readonly madeLast: readonly MadeLast[];
  /** What is reckoned of its rows, and for them. */
  readonly derived: Derived;
  readonly references: readonly Reference[];
  /** References of other resources, and of its own, to this one. */
  readonly referrers: readonly Referrer[];
  /** Finds every reference in a row, nested ones too. */
  readonly findReferences: FindReferences | undefined;
  /** Makes what the service makes inside values; nothing where it makes nothing there. */
  readonly inner: CompleteInner | undefined;
  /** What sets a field on a change, by change word. */
  readonly setters: Setters;
  columnsOf(fields: Fields): Scalar[];
  /** The column of one of its rules of uniqueness (`uniquesOf`), and what stands there for a row; null where it lacks one of the fields. */
  uniqueColumn(rule: number): string;
  uniqueKey(rule: number, fields: Fields): Scalar;
  code(field: string): ColumnCode | undefined;
  /** What its fields together must not be; nothing where it states no rules. */
  readonly rules: FieldRules | undefined;
  /** How many rows there may be. */
  readonly counted: readonly CountedRows[];
  /** A whole row as it is kept. */
  readonly validateStored: Validate;
  parse(row: Pick<Row, 'doc'>): Fields;
}

type GenerateIdentifier =
  | { readonly by: 'client' }
  | { readonly by: 'open' }
  | { readonly by: 'sequence' }
  | { readonly by: 'template'; make(draw: Draw): string };

interface Reference {
  readonly field: string;
  readonly target: string;
  readonly onDelete: Field['onDelete'];
  readonly show: Field['show'];
  /** The fields that are shown, where `show` is a shape that names them. */
  readonly shown: readonly string[] | undefined;
}

/** A field of a resource that refers to this one, with the question which rows do. */
export interface Referrer {
  readonly from: string;
  readonly field: string;
  readonly onDelete: Field['onDelete'];
  readonly keepsNull: Field['keepsNull'];
  readonly isInteger: boolean;
  readonly query: QuerySpec;
}

/** Compiles every resource that has an identifier and stated fields. */
export function compileModels(
  compilation: Compilation & { readonly standIn?: object | undefined },
  access: ListAsking,
): ReadonlyMap<string, RowModel> {
  const models = new Map<string, RowModel>();
  const derivedOf = compileDerived(compilation);
  for (const [name, resource] of entriesOf(compilation.spec.resources.all)) {
    if (isStated(resource.identifier) && isStated(resource.fields))
      models.set(name, compileModel(resource, compilation, access, derivedOf(name)));
  }
  return models;
}

function compileModel(
  resource: Resource,
  compilation: Compilation & { readonly standIn?: object | undefined },
  access: ListAsking,
  derived: Derived,
): RowModel {
  const { spec } = compilation;
  const fields = new Map(entriesOf(resource.fields));
  const list = [...fields.values()];
  const identifier = statedValue(resource.identifier) ?? { field: 'id' };
  const codes = new Map(list.map((field) => [field.name, fieldCode(spec, field)]));
  const rules = compileFieldRules(resource, compilation);
  const counted = compileCountedRows(resource, compilation);
  return {
    name: resource.name,
    resource,
    ...compileTable(resource, fields, codes, compilation, access, derived, counted),
    derived,
    counted,
    identifier: {
      field: identifier.field,
      isInteger: identifierType(spec, resource.name) === 'integer',
      generate: compileIdentifier(identifier.generate),
    },
    machines: machinesOf(spec.states, resource.name).map((machine) => compileMachine(machine, compilation)),
    isLog: logOf(spec)?.resource === resource.name,
    alarms: compileAlarms(resource.name, compilation),
    fields,
    readOnly: new Set(list.filter((field) => !isWritable(spec, resource, field)).map((field) => field.name)),
    immutable: list.filter(({ name, immutable }) => immutable || name === identifier.field).map(({ name }) => name),
    forget: compileForgetting(spec, { resource: resource.name }),
    defaults: list.flatMap((field) => (field.default ? [{ field: field.name, value: field.default.value }] : [])),
    generated: list.flatMap((field) => compileGenerated(resource, field)),
    madeLast: compileMadeLast(resource),
    references: list.flatMap(({ name, ref, onDelete, show }) =>
      ref === undefined ? [] : [{ field: name, target: ref, onDelete, show, shown: shownFields(show, spec) }],
    ),
    referrers: referrersOf(spec, resource.name),
    findReferences: compileReferences(spec, { resource: resource.name }),
    inner: compileInner(resource, compilation),
    setters: rememberSetters(resource, compilation),
    code: (field) => codes.get(field),
    rules,
    validateStored: withRules(compilation.validate({ resource: resource.name }, 'stored'), rules),
    parse: (row) => parseStored(row.doc),
  };
}

/** A whole row has to fit its shape, and keep the rules of its resource. */
function withRules(validate: Validate, rules: FieldRules | undefined): Validate {
  if (!rules) return validate;
  return (value) => {
    const misfits = validate(value);
    const isRow = typeof value === 'object' && value !== null && !Array.isArray(value);
    // Not null and no list: an object.
    return isRow ? [...misfits, ...rules(value as Fields, misfits.length === 0)] : misfits;
  };
}

/** The table of a resource: columns for what is asked of its rows, those of its rules, and one for each that is unique. */
function compileTable(
  resource: Resource,
  fields: ReadonlyMap<string, Field>,
  codes: ReadonlyMap<string, ColumnCode>,
  compilation: Compilation,
  access: ListAsking,
  { extremes }: Derived,
  counted: readonly CountedRows[],
): Pick<RowModel, 'table' | 'columnsOf' | 'uniqueColumn' | 'uniqueKey'> {
  const { fields: asked, own: ruled, sought } = access.columnsOf(resource.name);
  const own = [...ruled, ...[...extremes, ...counted].map(({ column, read }) => ({ ...column, read }))];
  const indexed = indexedFields(compilation.spec, resource, {
    columns: asked,
    own: ruled.map(({ name }) => name),
    sought,
    lists: access,
  });
  const uniques = uniquesOf(resource).map((rule, index) => ({
    column: `unique ${index}`,
    made: JSON.stringify(rule),
    fields: rule.fields,
    holds: rule.while && compilation.expression(rule.while),
  }));
  const table: TableSpec = {
    name: resource.name,
    columns: [
      ...indexed.columns.map((name) => ({
        name,
        type: codes.get(name)?.type ?? ('text' as const),
        made: codes.get(name)?.made ?? '',
      })),
      ...own.map(({ name, type, made = '' }) => ({ name, type, made })),
      ...uniques.map(({ column, made }) => ({ name: column, type: 'text' as const, made })),
    ],
    unique: uniques.map(({ column }) => column),
    indexes: [...indexed.indexes, ...extremes.map(({ by, column }) => [by, column.name]), ...indexesOf(counted)],
  };
  // Every indexed column is a field's.
  const encoders = indexed.columns.map((name) => ({ name, encode: (codes.get(name) as ColumnCode).encode }));

  function columnsOf(values: Fields): Scalar[] {
    const columns: Scalar[] = [];
    for (const { name, encode } of encoders) columns.push(encode(values[name]));
    for (const { read } of own) columns.push(read(values));
    for (const rule of uniques) {
      const holds = rule.holds === undefined || rule.holds({ next: values, resource: values }) === true;
      columns.push(holds ? uniqueKey(rule.fields, values, fields, codes) : null);
    }
    return columns;
  }
  return {
    table,
    columnsOf,
    uniqueColumn: (rule) => uniques[rule]?.column ?? '',
    uniqueKey: (rule, values) => uniqueKey(uniques[rule]?.fields ?? [], values, fields, codes),
  };
}

function indexesOf(counted: readonly CountedRows[]): string[][] {
  return counted.map(({ column }) => [column.name]);
}

function referrersOf(spec: Spec, target: string): Referrer[] {
  return entriesOf(spec.resources.all).flatMap(([from, other]) => {
    if (!isStated(other.identifier)) return [];
    const fields = entriesOf(other.fields).filter(([, field]) => field.ref === target);
    return fields.map(([field, { onDelete, shape, ignoreCase, keepsNull }]) => ({
      from,
      field,
      onDelete,
      keepsNull,
      isInteger:
        identifierType(spec, target) === 'integer' && fieldCode(spec, { shape, ref: target, ignoreCase }).type === 'integer',
      query: { table: from, where: { op: '=' as const, left: { column: field }, right: { param: 0 } } },
    }));
  });
}

function compileIdentifier(generate: string | undefined): GenerateIdentifier {
  if (generate === undefined) return { by: 'open' };
  if (generate === 'client') return { by: 'client' };
  if (generate === 'integer') return { by: 'sequence' };
  const read = readTemplate(generate);
  return 'template' in read ? { by: 'template', make: read.template.make } : { by: 'open' };
}

function compileGenerated(resource: Resource, field: Field): { field: string; make(draw: Draw): string }[] {
  const made = statedValue(resource.identifier)?.field === field.name ? undefined : generatedOf(resource, field);
  if (!made || 'wrong' in made || isMadeLast(made)) return [];
  return [{ field: field.name, make: (draw) => String(made.make(draw)) }];
}

/** The text by which a row is known: of an integer its digits. Nothing for what no path could name. */
export function identifierText(value: Value): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'number' && Number.isInteger(value) ? String(BigInt(value)) : String(value);
  return text === '' || text === '.' || text === '..' || text.includes('\0') ? undefined : text;
}

/** What that text is as the value of a field: an integer exactly. A text that is none stays as it is, and fits no integer. */
export function identifierValue(text: string, isInteger: boolean): Value {
  if (!isInteger || !/^(?:0|-?[1-9]\d*)$/.test(text)) return text;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** Several fields of which no two rows may agree, as one text; null where one of them is absent. */
function uniqueKey(
  names: readonly string[],
  values: Fields,
  fields: ReadonlyMap<string, Field>,
  codes: ReadonlyMap<string, ColumnCode>,
): string | null {
  const parts: unknown[] = [];
  for (const name of names) {
    const value = values[name];
    if (value === undefined || value === null) return null;
    const field = fields.get(name);
    const code = field && codes.get(name);
    // A column bends integers beyond 64 bits; here they are told apart.
    parts.push(typeof value === 'number' || typeof value === 'bigint' ? value : (code?.encode(value) ?? value));
  }
  return canonical(parts);
}
