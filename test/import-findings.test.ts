import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foreignFindings } from '../src/document/foreign/foreign.ts';
import { field, findings, type Source, schema } from './import/source.ts';

const operation = (words: Readonly<Record<string, unknown>>): Source => ({
  paths: { '/things': { get: { responses: { 200: { description: 'ok' } }, ...words } } },
});

/** For each finding a source that makes it, and the line of the place. */
const made: Readonly<Record<string, readonly [Source, line: number]>> = {
  'import/ref-unresolved': [schema({ $ref: '#/components/schemas/nothing' }), 12],
  'import/invalid': [schema({ type: 'text' }), 13],
  'import/contradiction': [schema({ type: 'integer', default: 'many' }), 14],
  'import/parameter-twice': [
    operation({
      parameters: [
        { name: 'token', in: 'query' },
        { name: 'token', in: 'header' },
      ],
    }),
    20,
  ],
  'import/not-read-back': [{ 'x-ninefold': {}, components: { headers: { Left: { schema: { type: 'integer' } } } } }, 9],
  'import/other-version': [schema({ type: 'string', nullable: true }), 14],
};

for (const { code } of foreignFindings) {
  test(`${code} is found at its place, and leaves the document sound`, () => {
    const [source, line] = made[code] ?? ['', 0];
    const found = findings(source);
    assert.ok(found.includes(`${code} ${line}`), found.join(', '));
    assert.deepEqual(
      found.filter((one) => !one.startsWith('import/') && !one.startsWith('resources/unused')),
      [],
    );
  });
}

test('a word of the version before is read as it was meant', () => {
  assert.deepEqual(field({ type: 'string', nullable: true }), 'string?');
});
