import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';

type Change = { readonly path: readonly string[] } & (
  | { readonly kind: 'delete' }
  | { readonly kind: 'replace'; readonly value: Json }
  | { readonly kind: 'rename'; readonly to: string }
);

/** A tree with a few of its statements taken out, put into other words, or called otherwise: most such trees are unsound. */
export function changedTrees(tree: JsonMap): fc.Arbitrary<JsonMap> {
  const paths = pathsIn(tree);
  const words = [...new Set(paths.flat())];
  const strange = fc.oneof(
    fc.constantFrom<Json>(null, true, 0, -1, 1.5, 1e300, '', 'none', 'any', 'all parcel', 'parcel', 'draft -> bought', '{', '[]'),
    fc.constantFrom<Json>([], {}, [null], { $open: 'what?' }, { $none: true }, { $any: true }, { type: 'string' }, [[]], ['*']),
    fc.constantFrom(...words),
    fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as Json),
  );
  const path = fc.constantFrom(...paths);
  const change: fc.Arbitrary<Change> = fc.oneof(
    fc.record({ kind: fc.constant('delete' as const), path }),
    fc.record({ kind: fc.constant('replace' as const), path, value: strange }),
    fc.record({
      kind: fc.constant('rename' as const),
      path,
      to: fc.oneof(fc.constantFrom(...words), fc.string(), fc.constant('__proto__')),
    }),
  );
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => changes.reduce(apply, tree));
}

/** Every path into a tree but that of the tree itself. */
function pathsIn(value: Json, at: readonly string[] = []): string[][] {
  const entries: [string, Json][] = Array.isArray(value)
    ? (value as readonly Json[]).map((item, index) => [String(index), item])
    : isMap(value)
      ? Object.entries(value)
      : [];
  return entries.flatMap(([key, inner]) => [[...at, key], ...pathsIn(inner, [...at, key])]);
}

function apply(tree: JsonMap, wanted: Change): JsonMap {
  // A change below the top leaves the top a map.
  return changedAt(tree, wanted.path, wanted) as JsonMap;
}

function changedAt(value: Json, [key, ...rest]: readonly string[], wanted: Change): Json {
  if (key === undefined || typeof value !== 'object' || value === null) return value;
  const entries: [string, Json][] = Object.entries(value);
  const changed = entries.flatMap(([name, inner]): [string, Json][] => {
    if (name !== key) return [[name, inner]];
    if (rest.length > 0) return [[name, changedAt(inner, rest, wanted)]];
    if (wanted.kind === 'delete') return [];
    return wanted.kind === 'replace' ? [[name, wanted.value]] : [[wanted.to, inner]];
  });
  if (Array.isArray(value)) return changed.map(([, inner]) => inner);
  const map: Record<string, Json> = Object.create(null);
  for (const [name, inner] of changed) map[name] = inner;
  return map;
}
