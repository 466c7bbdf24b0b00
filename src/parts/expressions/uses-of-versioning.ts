import { type Expression, entriesOf, entryOf, statedValue } from '../fact.ts';
import type { Shape } from '../shape.ts';
import type { Spec } from '../spec.ts';
import type { Change } from '../versioning.ts';
import { everywhere, scopeOf } from './scope.ts';
import type { ExpressionUse } from './use.ts';

/** The expressions of part 9: how values are carried to an older version and back. */
export function versioningUses(spec: Spec): ExpressionUse[] {
  return entriesOf(spec.versioning.changes).flatMap(([version, changes]) =>
    (statedValue(changes) ?? []).flatMap((change) => changeUses(spec, version, change)),
  );
}

function changeUses(spec: Spec, version: string, change: Change): ExpressionUse[] {
  if (change.kind !== 'map' && change.kind !== 'remove') return [];
  const field = `${change.resource}.${change.field}`;
  const was = change.was ?? {};
  if (change.kind === 'remove') {
    return change.down ? [use(change.down, `what ${field} is before ${version}`, was)] : [];
  }
  const now = shapeInVersion(spec, version, change.resource, change.field);
  return [
    ...(change.down ? [use(change.down, `${field} carried down below ${version}`, was, now)] : []),
    ...(change.up ? [use(change.up, `${field} carried up to ${version}`, now, was)] : []),
  ];
}

function use({ at, source }: Expression, name: string, shape: Shape, value?: Shape): ExpressionUse {
  const scope = scopeOf({ ...everywhere, value: value && { shape: value } });
  return { at, source, name, role: 'value', expected: { shape }, failure: 'internal', scopes: [{ scope }] };
}

/** The shape that a field has in a version: what the first later change of it says it was, else the one that is stored. */
export function shapeInVersion(spec: Spec, version: string, resource: string, field: string): Shape {
  const names = entriesOf(spec.versioning.versions).map(([name]) => name);
  const later = names.slice(names.indexOf(version) + 1);
  let name = field;
  for (const next of later) {
    const changes = entryOf(spec.versioning.changes, next);
    for (const change of (changes && statedValue(changes)) ?? []) {
      if (change.kind === 'endpoint' || change.resource !== resource || change.field !== name) continue;
      if (change.kind === 'rename') name = change.to;
      else if (change.kind === 'map' || change.kind === 'remove') return change.was ?? {};
    }
  }
  const stated = entryOf(spec.resources.all, resource);
  const now = stated && entryOf(stated.fields, name);
  return (now && statedValue(now.shape)) ?? {};
}
