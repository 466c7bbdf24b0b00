import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../src/check/check.ts';
import type { Json, JsonMap } from '../src/document/document.ts';
import { isMap } from '../src/document/values.ts';
import { base, named } from './check/harness.ts';
import { isLong } from './long.ts';

/** A document's tree with the member at a path put into other words. */
function put(tree: JsonMap, [key = '', ...rest]: readonly string[], value: Json): JsonMap {
  const inner = tree[key];
  return { ...tree, [key]: rest.length > 0 && isMap(inner) ? put(inner, rest, value) : value };
}

/** The paths of all members of maps. */
function members(tree: JsonMap, at: readonly string[] = []): string[][] {
  return Object.entries(tree).flatMap(([key, value]) => [[...at, key], ...(isMap(value) ? members(value, [...at, key]) : [])]);
}

/** The errors of the base document with a member that is open. */
function errorsOf(path: readonly string[]): string[] {
  const { findings } = check({ ...base, tree: put(base.tree, path, { $open: 'which?' }) });
  return [...new Set(findings.filter(({ severity }) => severity === 'error').map(named))];
}

/** What is told all the same, and why. */
const toldYet: Readonly<Record<string, readonly string[]>> = {
  // An operation whose own name is open is called by what it does.
  'endpoints / GET /books/{book}/notes / as': [
    'purpose/unknown-operation @ /purpose/functions/read/2',
    'endpoints/operation-twice @ /endpoints/GET ~1books~1{book}~1notes',
    'authentication/unknown-operation @ /authentication/permissions/1/allow/2',
  ],
  // An event that no operation is named for is a handler's, which has no row.
  'events / kinds / note.deleted / on': ['expressions/not-in-scope @ /events/kinds/note.deleted/data/id'],
  // A field of which it is open whether it is required may be absent.
  'resources / note / required': [
    'expressions/may-be-absent @ /authentication/permissions/1/if',
    'expressions/may-be-absent @ /events/kinds/note.deleted/data/id',
  ],
  // What a keyword of a shape says is read by validators, which know nothing open.
  'resources / note / fields / made_at / format': ['expressions/wrong-result @ /resources/note/fields/made_at/set/create'],
  'endpoints / GET /count / response / 200 / required': ['shapes/refused @ /endpoints/GET ~1count/response/200'],
  'events / kinds / note.deleted / payload / required': ['shapes/refused @ /events/kinds/note.deleted/payload'],
};

test('what is open contradicts nothing, whatever of a sound document it is', () => {
  // Each member takes a check of the whole document.
  const paths = members(base.tree).filter((path, at) => isLong || at % 12 === 0 || toldYet[path.join(' / ')] !== undefined);
  const found = paths.map((path) => [path.join(' / '), errorsOf(path)] as const);
  assert.deepEqual(Object.fromEntries(found.filter(([, errors]) => errors.length > 0)), { ...toldYet });
});
