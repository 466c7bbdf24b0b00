import type { Json } from '../../document/document.ts';
import { type Aggregate, itemScope, itemValueScope } from '../../parts/derived/aggregates.ts';
import { type Derivation, derivationsOf } from '../../parts/derived/derivations.ts';
import { Failed } from '../../parts/expressions/cel-value.ts';
import { type CompiledExpression, compileExpression } from '../../parts/expressions/compile.ts';
import { aBoolean } from '../../parts/expressions/scope.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { bareMap } from '../values/at-path.ts';
import type { Expectation, RowFields } from './expectation.ts';

/** The rows that refer to a row by one field of theirs. */
export type Referring = (from: string, by: string) => readonly RowFields[];

/** A row that is new is referred to by none. */
const noneRefer: Referring = () => [];

/** What a derived field comes to, of a row and of all rows that refer to it; nothing where that cannot be reckoned. */
export function derivedValue(
  spec: Spec,
  derivation: Derivation,
  row: RowFields,
  referring: Referring,
): { readonly value: Json } | undefined {
  const { expression, aggregates } = compiled(spec, derivation);
  const context: Record<string, Json> = { resource: row as Json };
  for (const { aggregate, value, where } of aggregates) {
    const reckoned = aggregated(aggregate, referring(aggregate.from, aggregate.by), value, where);
    if (reckoned === undefined) return undefined;
    context[aggregate.name] = reckoned;
  }
  const value = expression.evaluate(context);
  return value instanceof Failed ? undefined : { value: (typeof value === 'bigint' ? Number(value) : (value ?? null)) as Json };
}

/** What is derived of the row as it is after a change; what is derived of other rows too is known of a new one alone, to which none refer. */
export function withDerivedFields(
  spec: Spec,
  name: string,
  expected: Map<string, Expectation>,
  isNew: boolean,
): Map<string, Expectation> {
  for (const derivation of derivationsOf(spec).of(name)) {
    const { field, at, aggregates, ownReads } = derivation;
    const because = 'derived' as const;
    const read = ownReads.map((one) => expected.get(one)?.is);
    const isKnown = read.every((is) => is === 'value' || is === 'absent') && (isNew || aggregates.length === 0);
    const row = bareMap(
      Object.fromEntries(
        [...expected].flatMap(([one, { is, ...rest }]) => (is === 'value' && 'value' in rest ? [[one, rest.value]] : [])),
      ),
    );
    const reckoned = isKnown ? derivedValue(spec, derivation, row, noneRefer) : undefined;
    expected.set(
      field.name,
      !reckoned
        ? { is: 'unknown', because, at }
        : reckoned.value === null
          ? { is: 'absent', because, at }
          : { is: 'value', value: reckoned.value, because, at },
    );
  }
  return expected;
}

/** A row that was just made, with what is derived of it. */
export function withDerivedOfNew(spec: Spec, resource: string, row: RowFields): RowFields {
  const derivations = derivationsOf(spec).of(resource);
  if (derivations.length === 0) return row;
  const out: Record<string, Json> = { ...row };
  for (const derivation of derivations) {
    const reckoned = derivedValue(spec, derivation, out, noneRefer);
    if (reckoned && reckoned.value !== null) out[derivation.field.name] = reckoned.value;
  }
  return out;
}

/** The fields of a resource that change with other rows, so that they may be others than they were when a row was shown. */
export function derivedElsewhere(spec: Spec, resource: string): ReadonlySet<string> {
  const derivations = derivationsOf(spec).of(resource);
  const moving = new Set<string>();
  for (const { field, aggregates, ownReads } of derivations)
    if (aggregates.length > 0 || ownReads.some((name) => moving.has(name))) moving.add(field.name);
  return moving;
}

/** The fields that a row has to be made with for a derived field of it to come to something: itself where it is not derived. */
export function basesOf(spec: Spec, resource: string, field: string): readonly string[] {
  const derivation = derivationsOf(spec)
    .of(resource)
    .find((one) => one.field.name === field);
  return derivation && derivation.level > 0 ? derivation.ownReads.flatMap((name) => basesOf(spec, resource, name)) : [field];
}

interface Compiled {
  readonly expression: CompiledExpression;
  readonly aggregates: readonly {
    readonly aggregate: Aggregate;
    readonly value: CompiledExpression | undefined;
    readonly where: CompiledExpression | undefined;
  }[];
}

const known = new WeakMap<Derivation, Compiled>();

function compiled(spec: Spec, derivation: Derivation): Compiled {
  const found = known.get(derivation);
  if (found) return found;
  const { field, source, scope, aggregates } = derivation;
  const shape = statedValue(field.shape) ?? {};
  const made: Compiled = {
    expression: compileExpression(spec, { source, scope, expected: { shape, optional: true } }),
    aggregates: aggregates.map((aggregate) => {
      const { value, where, from } = aggregate;
      const expected = { shape: aggregate.shape, optional: true };
      return {
        aggregate,
        value:
          value === undefined
            ? undefined
            : compileExpression(spec, { source: value, scope: itemValueScope(spec, from), expected }),
        where:
          where === undefined
            ? undefined
            : compileExpression(spec, { source: where, scope: itemScope(from), expected: aBoolean }),
      };
    }),
  };
  known.set(derivation, made);
  return made;
}

function aggregated(
  { word }: Aggregate,
  rows: readonly RowFields[],
  value: CompiledExpression | undefined,
  where: CompiledExpression | undefined,
): Json | undefined {
  const values: Json[] = [];
  for (const row of rows) {
    const item = { item: row as Json };
    const counts = where ? where.evaluate(item) : true;
    if (counts instanceof Failed) return undefined;
    if (counts !== true) continue;
    const one = value ? value.evaluate(item) : 1;
    if (one instanceof Failed && one.reason !== 'absent') return undefined;
    if (!(one instanceof Failed) && one !== null && one !== undefined)
      values.push(typeof one === 'bigint' ? Number(one) : (one as Json));
  }
  if (word === 'exists') return values.length > 0;
  if (word === 'count') return values.length;
  if (word === 'sum') return values.reduce<number>((sum, one) => sum + Number(one), 0);
  return extreme(values, word === 'min' ? -1 : 1);
}

/** Texts of times compare as times, and other texts by code point. */
function extreme(values: readonly Json[], way: 1 | -1): Json {
  const order = (one: Json, other: Json): number => {
    const [a, b] = [one, other].map((each) =>
      typeof each === 'string' && !Number.isNaN(Date.parse(each)) ? Date.parse(each) : each,
    );
    return (a ?? 0) < (b ?? 0) ? -1 : (a ?? 0) > (b ?? 0) ? 1 : 0;
  };
  return values.reduce<Json>((best, one) => (best === null || order(one, best) * way > 0 ? one : best), null);
}
