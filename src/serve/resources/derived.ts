import { createHash } from 'node:crypto';
import { type Aggregate, itemScope, itemValueScope } from '../../parts/derived/aggregates.ts';
import { aggregatesOver, type Derivation, derivationsOf } from '../../parts/derived/derivations.ts';
import { Failed } from '../../parts/expressions/cel-value.ts';
import { compileExpression } from '../../parts/expressions/compile.ts';
import { aBoolean } from '../../parts/expressions/scope.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { ColumnSpec, QuerySpec, Scalar } from '../../store/store.ts';
import { columnCode, fieldCode } from '../exchange/column.ts';
import type { Compilation } from '../exchange/compilation.ts';
import { type Fields, Refused, type Value } from '../exchange/exchange.ts';
import type { Validate } from '../http/validation.ts';

/** A derived field of a row, compiled. */
export interface DerivedField {
  readonly field: string;
  readonly source: string;
  /** How many derived fields are reckoned one after the other until this one is. */
  readonly level: number;
  readonly aggregates: readonly RowAggregate[];
  /** What it comes to, over the row and its aggregates by their names; a reason where it comes to nothing. */
  evaluate(names: Readonly<Record<string, Value>>): Value | Failed;
  readonly validate: Validate;
}

/** What is reckoned for one row of the rows that refer to it. */
export interface RowAggregate {
  /** What stands for it in the expression around it. */
  readonly name: string;
  /** Under which its running state is kept with the row. */
  readonly key: string;
  readonly word: Aggregate['word'];
  /** Whether a sum is a whole number. */
  readonly isWhole: boolean;
  readonly from: string;
  /** The rows that refer to this one; of `min` and `max`, the first of those that count. */
  readonly query: QuerySpec;
  /** The identifier of this row as the column of the referring rows holds it. */
  encode(identifier: Value): Scalar;
  /** What a referring row brings to it: nothing where it does not count. @throws {Refused} `internal` where that cannot be reckoned. */
  contribution(item: Fields): Value;
}

/** What rows of a resource bring to those that they refer to by one field. */
export interface TalliedReference {
  readonly by: string;
  readonly target: string;
  readonly aggregates: readonly RowAggregate[];
}

/** A column that holds what is compared for `min` and `max`, so that the first is found without looking at all. */
export interface ExtremeColumn {
  readonly column: ColumnSpec;
  readonly by: string;
  read(values: Fields): Scalar;
}

/** What is derived of the rows of a resource, and for its rows. */
export interface Derived {
  /** The derived fields of its rows, each after those that it reads. */
  readonly fields: readonly DerivedField[];
  /** Whether one of them is reckoned of other rows. */
  readonly isOfOthers: boolean;
  readonly tallies: readonly TalliedReference[];
  readonly extremes: readonly ExtremeColumn[];
  /** How many times stored rows are gone through until all of them are true: 0 where nothing is derived. */
  readonly levels: number;
  /** What its derived fields say, as a fingerprint: another one means that stored rows are reckoned anew. */
  readonly made: string;
}

const nothing: Derived = { fields: [], isOfOthers: false, tallies: [], extremes: [], levels: 0, made: '' };

/** Compiles it for each resource of a document; a document without derived fields has one value for all. */
export function compileDerived({ spec, validate }: Pick<Compilation, 'spec' | 'validate'>): (resource: string) => Derived {
  const { all } = derivationsOf(spec);
  if (all.length === 0) return () => nothing;
  const known = new Map<Aggregate, RowAggregate>();
  const compiled = (derivation: Derivation, aggregate: Aggregate): RowAggregate => {
    const found = known.get(aggregate) ?? compileAggregate(spec, derivation, aggregate);
    known.set(aggregate, found);
    return found;
  };
  return (resource) => {
    const own = derivationsOf(spec).of(resource);
    const over = aggregatesOver(spec, resource);
    const groups = Map.groupBy(over, ({ derivation, aggregate }) => JSON.stringify([aggregate.by, derivation.resource]));
    return {
      fields: own.map((derivation) => compileField(spec, derivation, validate, compiled)),
      isOfOthers: own.some(({ aggregates }) => aggregates.length > 0),
      tallies: [...groups].map(([key, list]) => {
        // The key is made of these two a line above.
        const [by, target] = JSON.parse(key) as [string, string];
        return { by, target, aggregates: list.map(({ derivation, aggregate }) => compiled(derivation, aggregate)) };
      }),
      extremes: over.flatMap(({ derivation, aggregate }) =>
        isExtreme(aggregate) ? [extremeColumn(derivation, aggregate, compiled(derivation, aggregate))] : [],
      ),
      levels: Math.max(0, ...own.map(({ level }) => level)),
      made: own.length === 0 ? '' : madeOf(spec, own),
    };
  };
}

/** What the derived fields of a resource say, and what they need: its own words, and those of what they are derived of. */
function madeOf(spec: Spec, own: readonly Derivation[]): string {
  const said = own.map(({ field, source, aggregates }) => [field.name, statedValue(field.shape), source, aggregates]);
  const around = [...new Set(own.flatMap(({ aggregates }) => aggregates.map(({ from }) => from)))].map((from) => [
    from,
    derivationsOf(spec).of(from).length === 0
      ? ''
      : derivationsOf(spec)
          .of(from)
          .map(({ source, aggregates }) => [source, aggregates]),
  ]);
  return createHash('sha256')
    .update(JSON.stringify([said, around]))
    .digest('base64url');
}

function compileField(
  spec: Spec,
  derivation: Derivation,
  validate: Compilation['validate'],
  compiled: (derivation: Derivation, aggregate: Aggregate) => RowAggregate,
): DerivedField {
  const { field, source, scope } = derivation;
  const shape = statedValue(field.shape) ?? {};
  const { evaluate } = compileExpression(spec, { source, scope, expected: { shape, optional: true } });
  return {
    field: field.name,
    source: field.derive?.source ?? source,
    level: derivation.level,
    aggregates: derivation.aggregates.map((aggregate) => compiled(derivation, aggregate)),
    // The names hold JSON values, which is what a context is.
    evaluate: (names) => evaluate(names as Parameters<typeof evaluate>[0]),
    validate: validate(shape, 'stored'),
  };
}

function compileAggregate(spec: Spec, derivation: Derivation, aggregate: Aggregate): RowAggregate {
  const { name, word, from, by, shape, value, where } = aggregate;
  const counts =
    where === undefined ? undefined : compileExpression(spec, { source: where, scope: itemScope(from), expected: aBoolean });
  const reckoned =
    value === undefined
      ? undefined
      : compileExpression(spec, { source: value, scope: itemValueScope(spec, from), expected: { shape, optional: true } });
  const attempt = (expression: ReturnType<typeof compileExpression>, item: Fields): Value => {
    const result = expression.evaluate({ item } as Parameters<typeof expression.evaluate>[0]);
    if (result instanceof Failed && result.reason === 'absent' && expression === reckoned) return undefined;
    if (result instanceof Failed)
      throw new Refused({
        when: 'internal',
        message: `What ${derivation.resource}.${derivation.field.name} is derived of failed (${expression.source.trim()}): ${result.message}`,
      });
    return result;
  };
  const field = entryOf(entryOf(spec.resources.all, from)!.fields, by)!;
  return {
    name,
    key: `${derivation.field.name} ${name}`,
    word,
    isWhole: shape.type === 'integer',
    from,
    query: queryOf(derivation, aggregate),
    encode: fieldCode(spec, field).encode,
    contribution(item) {
      if (counts && attempt(counts, item) !== true) return undefined;
      return reckoned ? (attempt(reckoned, item) ?? undefined) : 1;
    },
  };
}

export function isExtreme({ word }: Pick<Aggregate, 'word'>): boolean {
  return word === 'min' || word === 'max';
}

function queryOf(derivation: Derivation, aggregate: Aggregate): QuerySpec {
  const { from, by, word } = aggregate;
  const refers = { op: '=' as const, left: { column: by }, right: { param: 0 } };
  if (!isExtreme(aggregate)) return { table: from, where: refers, order: [], after: 1, limit: 2 };
  const column = extremeName(derivation, aggregate);
  // With creation order turned round as well, both ends are read off the index.
  const isMost = word === 'max';
  const there = { op: 'not' as const, of: { op: 'absent' as const, of: { column } } };
  return {
    table: from,
    where: { op: 'and', of: [refers, there] },
    order: [{ column, descending: isMost }],
    newestFirst: isMost,
    limit: 1,
  };
}

function extremeName({ resource, field }: Derivation, { word, name }: Aggregate): string {
  return `${word} ${resource}.${field.name} ${name}`;
}

function extremeColumn(derivation: Derivation, aggregate: Aggregate, compiled: RowAggregate): ExtremeColumn {
  const { type, made, encode } = columnCode(aggregate.shape, false);
  return {
    column: {
      name: extremeName(derivation, aggregate),
      type,
      made: JSON.stringify([made, aggregate.value?.trim(), aggregate.where?.trim()]),
    },
    by: aggregate.by,
    read: (values) => encode(contributionOrNone(compiled, values)),
  };
}

/** Of a row that was stored under another document what it needs may be missing: it is written again when that is there. */
function contributionOrNone({ contribution }: RowAggregate, values: Fields): Value {
  try {
    return contribution(values);
  } catch (failure) {
    if (failure instanceof Refused) return undefined;
    throw failure;
  }
}
