import { everywhere, scopeOf } from '../expressions/scope.ts';
import type { ExpressionUse } from '../expressions/use.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../fact.ts';
import type { Shape } from '../shape.ts';
import { isPlainMap } from '../source.ts';
import type { Spec } from '../spec.ts';
import type { Change } from '../versioning.ts';
import { withOlderValues } from './older-values.ts';

/** The expressions of part 9: how values are carried to an older version and back. */
export function versioningUses(spec: Spec): ExpressionUse[] {
  return entriesOf(spec.versioning.changes).flatMap(([version, changes]) =>
    (statedValue(changes) ?? []).flatMap((change) => changeUses(spec, version, change)),
  );
}

function changeUses(spec: Spec, version: string, change: Change): ExpressionUse[] {
  if (change.kind !== 'map' && change.kind !== 'remove') return [];
  const field = `${change.resource}.${change.field}`;
  if (change.kind === 'remove') {
    return change.down ? [use(change.down, `what ${field} is before ${version}`, change.was ?? {})] : [];
  }
  const now = shapeAfter(spec, change);
  // What says no `was` changes its values and not their shape.
  const was = change.was ?? now;
  return [
    ...(change.down ? [use(change.down, `${field} carried down below ${version}`, was, now)] : []),
    ...(change.up ? [use(change.up, `${field} carried up to ${version}`, now, was)] : []),
  ];
}

function use({ at, source }: Expression, name: string, shape: Shape, value?: Shape): ExpressionUse {
  const scope = scopeOf({ ...everywhere, value: value && { shape: value } });
  return { at, source, name, role: 'value', expected: { shape }, failure: 'internal', scopes: [{ scope }] };
}

/** The shape that a field has after a change of it: what the first later change says it was, else the one that is stored. */
export function shapeAfter(spec: Spec, change: FieldChange): Shape {
  const all = entriesOf(spec.versioning.versions).flatMap(([version]) => {
    const changes = entryOf(spec.versioning.changes, version);
    return (changes && statedValue(changes)) ?? [];
  });
  const { resource } = change;
  let name = change.field;
  // The names that its values had, the oldest first.
  const named: Extract<Change, { kind: 'enum' }>[] = [];
  const asThen = (shape: Shape) => named.reduceRight((then, { values }) => withOlderValues(then, values), shape);
  for (const later of all.slice(all.indexOf(change) + 1)) {
    if (later.kind === 'endpoint' || later.resource !== resource) continue;
    const isAbove = later.kind === 'rename' && name.startsWith(`${later.field}.`);
    if (later.field !== name && !isAbove) continue;
    if (later.kind === 'rename') name = renamed(name, later.field, later.to);
    else if (later.kind === 'remove') return asThen(later.was ?? {});
    else if (later.kind === 'map' && later.was) return asThen(later.was);
    else if (later.kind === 'enum') named.push(later);
  }
  const [root = '', ...inside] = name.split('.');
  return asThen(inside.reduce((shape, step) => memberOf(spec, shape, step), memberOf(spec, { resource }, root)));
}

type FieldChange = Exclude<Change, { readonly kind: 'endpoint' }>;

/** A field inside another keeps what stands before its last word: `size.high` to `height` is `size.height`. */
function renamed(name: string, from: string, to: string): string {
  const parent = from.includes('.') && !to.includes('.') ? `${from.slice(0, from.lastIndexOf('.'))}.` : '';
  return parent + to + name.slice(from.length);
}

/** The shape of a member, through lists and values. */
function memberOf(spec: Spec, shape: Shape, name: string): Shape {
  if (typeof shape.resource === 'string') {
    const stated = entryOf(spec.resources.all, shape.resource);
    const field = stated && entryOf(stated.fields, name);
    return (field && statedValue(field.shape)) ?? {};
  }
  if (isPlainMap(shape.items)) return memberOf(spec, shape.items, name);
  const member = isPlainMap(shape.properties) ? shape.properties[name] : undefined;
  return isPlainMap(member) ? member : {};
}
