import type { Pointer } from '../../document/document.ts';
import { type Read, readsOf } from '../expressions/compile.ts';
import { inferTypes } from '../expressions/infer.ts';
import { parseExpression } from '../expressions/node.ts';
import { type Scope, scopeOf } from '../expressions/scope.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../fact.ts';
import type { Field, Resource } from '../resources.ts';
import type { Spec } from '../spec.ts';
import { type Aggregate, type Extracted, extractAggregates, itemScope, itemValueScope } from './aggregates.ts';

/** A derived field: what it is reckoned of. */
export interface Derivation extends Extracted {
  readonly resource: string;
  readonly field: Field;
  /** Where its expression stands. */
  readonly at: Pointer;
  /** What the expression can read: the row, and what stands for its aggregates. */
  readonly scope: Scope;
  /** How many derived fields are reckoned one after the other until this one is: 1 where it needs none. */
  readonly level: number;
  /** The fields of its own row that it reads; all of them where it reads the whole. */
  readonly ownReads: readonly string[];
  /** The fields that it reads of rows that refer, by their resource. */
  readonly itemReads: ReadonlyMap<string, readonly string[]>;
  /** What else it would have to follow, or read of itself: each in words. */
  readonly misreads: readonly Misread[];
}

/** Something that a derived field cannot be reckoned of. */
export interface Misread {
  readonly kind: 'follows' | 'cycle' | 'unstored';
  readonly path: string;
}

/** Every derived field of a document. */
export interface Derivations {
  readonly all: readonly Derivation[];
  /** Those of a resource, in an order in which each finds what it reads. */
  of(resource: string): readonly Derivation[];
}

const none: Derivations = { all: [], of: () => [] };
const bySpec = new WeakMap<Spec, Derivations>();

/** The derived fields of a document, taken apart once. */
export function derivationsOf(spec: Spec): Derivations {
  const known = bySpec.get(spec) ?? read(spec);
  bySpec.set(spec, known);
  return known;
}

function read(spec: Spec): Derivations {
  const started = entriesOf(spec.resources.all).flatMap(([, resource]) =>
    entriesOf(resource.fields).flatMap(([, field]) => (field.derive ? [start(spec, resource, field, field.derive)] : [])),
  );
  if (started.length === 0) return none;
  const byName = new Map(started.map((one) => [one.name, one]));
  const levels = new Map<string, number | undefined>();
  const all = started.map(({ derivation, needs, name }): Derivation => {
    const level = levelOf(name, byName, levels);
    const through = level === undefined ? [...needs].find((need) => reaches(need, name, byName, new Set())) : undefined;
    const cycle: Misread[] = through === undefined ? [] : [{ kind: 'cycle', path: through }];
    return { ...derivation, level: level ?? 0, misreads: [...derivation.misreads, ...cycle] };
  });
  const byResource = Map.groupBy(all, ({ resource }) => resource);
  const ordered = new Map([...byResource].map(([name, list]) => [name, list.toSorted((a, b) => a.level - b.level)]));
  return { all, of: (resource) => ordered.get(resource) ?? [] };
}

interface Started {
  readonly name: string;
  readonly derivation: Omit<Derivation, 'level'>;
  /** The derived fields that it reads, its own row's and those of rows that refer to it. */
  readonly needs: ReadonlySet<string>;
}

function start(spec: Spec, resource: Resource, field: Field, { source, at }: { source: string; at: Pointer }): Started {
  const extracted = extractAggregates(spec, resource.name, source);
  const scope = scopeOf({
    resource: { shape: { resource: resource.name } },
    ...Object.fromEntries(extracted.aggregates.map(({ name, shape }) => [name, { shape }])),
    ...Object.fromEntries(extracted.unread.map((name) => [name, { shape: {} }])),
  });
  const reads = [
    ...readsIn(spec, extracted.source, scope).flatMap((one) => (one.root === 'resource' ? [{ of: resource.name, one }] : [])),
    ...extracted.aggregates.flatMap(({ from, value, where }) =>
      [
        ...(value === undefined ? [] : readsIn(spec, value, itemValueScope(spec, from))),
        ...(where === undefined ? [] : readsIn(spec, where, itemScope(from))),
      ].map((one) => ({ of: from, one })),
    ),
  ];
  const misreads = reads.flatMap(({ of, one }): Misread[] => {
    const path = [one.root, ...one.path, ...(one.follows ?? [])].join('.');
    if (one.follows) return [{ kind: 'follows', path }];
    const read = one.path[0] === undefined ? undefined : entryOf(entryOf(spec.resources.all, of)!.fields, one.path[0]);
    return read?.stored === false ? [{ kind: 'unstored', path }] : [];
  });
  const ownReads = reads.flatMap(({ one }) =>
    one.root !== 'resource' ? [] : one.path[0] !== undefined ? [one.path[0]] : entriesOf(resource.fields).map(([name]) => name),
  );
  const ofItems = reads.filter(({ one }) => one.root === 'item');
  const itemReads = new Map(
    [...Map.groupBy(ofItems, ({ of }) => of)].map(([of, list]) => [of, list.flatMap(({ one }) => one.path.slice(0, 1))]),
  );
  const needs = new Set(reads.flatMap(({ of, one }) => derivedIn(spec, of, one)));
  return {
    name: `${resource.name}.${field.name}`,
    derivation: {
      ...extracted,
      resource: resource.name,
      field,
      at,
      scope,
      ownReads: [...new Set(ownReads)],
      itemReads,
      misreads,
    },
    needs,
  };
}

function readsIn(spec: Spec, source: string, scope: Scope): Read[] {
  const parsed = parseExpression(source);
  if ('unparsed' in parsed) return [];
  return readsOf(parsed.node, inferTypes(spec, scope, source, parsed.node), scope);
}

/** The derived fields that are read by a path; by the whole row, all of them. */
function derivedIn(spec: Spec, resource: string, { path: [first] }: Read): string[] {
  const fields = entryOf(spec.resources.all, resource)?.fields;
  const derived = fields && isStated(fields) ? Object.values(statedValue(fields) ?? {}).filter(({ derive }) => derive) : [];
  return derived.flatMap(({ name }) => (first === undefined || first === name ? [`${resource}.${name}`] : []));
}

/** The longest way down to a field that needs no other; nothing where there is no end to it. */
function levelOf(name: string, all: ReadonlyMap<string, Started>, levels: Map<string, number | undefined>): number | undefined {
  if (levels.has(name)) return levels.get(name);
  // What comes back here before its level is known has none.
  levels.set(name, undefined);
  const below = [...(all.get(name)?.needs ?? [])].map((need) => levelOf(need, all, levels));
  const level = below.includes(undefined) ? undefined : Math.max(0, ...below.map(Number)) + 1;
  levels.set(name, level);
  return level;
}

function reaches(from: string, to: string, all: ReadonlyMap<string, Started>, seen: Set<string>): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(all.get(from)?.needs ?? [])].some((need) => reaches(need, to, all, seen));
}

/** What of the rows of a resource is reckoned for rows that they refer to, by the derivation that asks for it. */
export function aggregatesOver(
  spec: Spec,
  from: string,
): readonly { readonly derivation: Derivation; readonly aggregate: Aggregate }[] {
  return derivationsOf(spec).all.flatMap((derivation) =>
    derivation.aggregates.filter((aggregate) => aggregate.from === from).map((aggregate) => ({ derivation, aggregate })),
  );
}
