import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importForeign } from '../src/convert/foreign.ts';
import type { Imported } from '../src/convert/openapi/import.ts';
import { reportOfImport } from '../src/convert/openapi/report.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { isKey } from '../src/parts/form.ts';

/**
 * What the source says and the nine parts cannot hold is listed, not dropped: each text that ends in LOST is nowhere in what
 * comes out, and the place of it, or of what holds it, is in the report; each that ends in KEPT is there.
 */
const ok = { responses: { 200: { description: 'KEPT' } } };
const sources: readonly (readonly [what: string, source: object])[] = [
  [
    'addresses that are none of HTTP',
    {
      openapi: '3.1.0',
      servers: [{ url: 'https://api.example/KEPT' }, { url: 'wss://api.example/LOST' }],
      paths: { '/a': { get: ok } },
    },
  ],
  [
    'the description of a schema inside a described parameter or header',
    {
      openapi: '3.0.3',
      paths: {
        '/a': {
          get: {
            parameters: [{ name: 'q', in: 'query', description: 'q KEPT', schema: { type: 'string', description: 'q LOST' } }],
            responses: {
              200: {
                description: 'KEPT',
                headers: { 'X-A': { description: 'a KEPT', schema: { type: 'string', description: 'a LOST' } } },
              },
            },
          },
        },
      },
    },
  ],
  [
    'a scope that two flows describe',
    {
      openapi: '3.0.3',
      paths: { '/a': { get: { security: [{ o: ['r'] }], ...ok } } },
      components: {
        securitySchemes: {
          o: {
            type: 'oauth2',
            flows: {
              implicit: { authorizationUrl: 'https://id.example/KEPT', scopes: { r: 'KEPT' } },
              clientCredentials: { tokenUrl: 'https://id.example/token/KEPT', scopes: { r: 'LOST' } },
            },
          },
        },
      },
    },
  ],
  [
    'the title and members of an envelope that all webhooks share',
    {
      openapi: '3.1.0',
      webhooks: {
        made: {
          post: {
            requestBody: {
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    title: 'envelope LOST',
                    properties: {
                      type: { type: 'string', description: 'type LOST' },
                      data: { type: 'object', title: 'data KEPT' },
                    },
                  },
                },
              },
            },
            ...ok,
          },
        },
      },
    },
  ],
];

for (const [what, source] of sources) {
  test(`listed as not carried: ${what}`, () => {
    const whole = { info: { title: 'T', version: '1' }, ...source };
    const imported = traced(whole);
    const listed = reportOfImport(imported).notCarried.flatMap(({ at }) => at);
    const shown = JSON.stringify([imported.document.tree, imported.document.prose]);
    for (const [at, text] of textsOf(whole)) {
      if (text.endsWith('KEPT')) assert.ok(shown.includes(text), `${text} is there`);
      if (!text.endsWith('LOST')) continue;
      assert.ok(!shown.includes(text), `${text} is not there`);
      assert.ok(
        listed.some((place) => at === place || at.startsWith(`${place}/`)),
        `${at} is listed: ${listed.join(' ')}`,
      );
    }
  });
}

test('a list that stands otherwise than its place allows in Swagger 2.0 is listed', () => {
  const parameters = [{ name: 'q', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'tsv' }];
  const source = { swagger: '2.0', info: { title: 'T', version: '1' }, paths: { '/a': { get: { parameters, ...ok } } } };
  const { notCarried } = reportOfImport(traced(source));
  assert.deepEqual(
    notCarried.filter(({ at }) => at.some((place) => place.endsWith('/collectionFormat'))).map(({ what }) => what),
    ['lists cannot be written so in this place'],
  );
});

/** Takes a source over with account of what was taken. */
function traced(source: object): Imported {
  let imported: Imported | undefined;
  parseDocument(JSON.stringify(source), 'api.json', {
    isKey,
    foreign(foreign) {
      imported = importForeign(foreign, true);
      return imported?.document;
    },
  });
  assert.ok(imported);
  return imported;
}

function* textsOf(value: unknown, at = ''): Generator<readonly [at: string, text: string]> {
  if (typeof value === 'string') yield [at, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    yield* textsOf(inner, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}
