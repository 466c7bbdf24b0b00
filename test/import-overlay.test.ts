import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { main } from '../src/cli.ts';
import { overlaid } from '../src/convert/overlay.ts';
import type { Json } from '../src/document/document.ts';
import { newReadContext } from '../src/document/read-context.ts';
import type { OpenMap } from '../src/document/values.ts';

interface Trial {
  readonly says: string;
  readonly actions: unknown;
  readonly becomes?: unknown;
  readonly told?: RegExp;
}

const base = {
  paths: { '/a': { get: { tags: ['x', 'y'], deprecated: true } }, '/b': { get: { tags: ['y'] } } },
  info: { title: 'T' },
};
const paths = (a: unknown, b: unknown = base.paths['/b']) => ({ ...base, paths: { '/a': a, '/b': b } });

/** Actions of an overlay, what the document becomes by them, and what is told; without a word of either nothing changes or is told. */
const trials: readonly Trial[] = [
  {
    says: 'maps are merged',
    actions: [{ target: '$.info', update: { title: 'U', version: '1' } }],
    becomes: { ...base, info: { title: 'U', version: '1' } },
  },
  {
    says: 'lists are added to, by an item or by a list',
    actions: [
      { target: "$.paths['/a'].get.tags", update: 'z' },
      { target: "$.paths['/b'].get", update: { tags: ['w'] } },
    ],
    becomes: paths({ get: { tags: ['x', 'y', 'z'], deprecated: true } }, { get: { tags: ['y', 'w'] } }),
  },
  {
    says: 'single values are replaced wherever a query selects them',
    actions: [{ target: '$.paths.*.get.deprecated', update: false }],
    becomes: paths({ get: { tags: ['x', 'y'], deprecated: false } }),
  },
  {
    says: 'what is selected is taken away, of a list from its end',
    actions: [{ target: '$..tags[?@ != "w"]', remove: true }],
    becomes: paths({ get: { tags: [], deprecated: true } }, { get: { tags: [] } }),
  },
  {
    says: 'what is copied stands on its own',
    actions: [
      { target: '$.paths', update: { '/c': {} } },
      { target: "$.paths['/c']", copy: "$.paths['/b']" },
      { target: "$.paths['/c'].get.tags", update: 'new' },
    ],
    becomes: { ...base, paths: { ...base.paths, '/c': { get: { tags: ['y', 'new'] } } } },
  },
  { says: 'a query that selects nothing is told', actions: [{ target: '$.nothing', update: {} }], told: /selects nothing/ },
  { says: 'so is what is no query', actions: [{ target: 'paths', remove: true }], told: /no JSONPath/ },
  { says: 'so is a map for a list', actions: [{ target: '$.paths', update: { '/a': ['x'] } }], told: /cannot be merged/ },
  { says: 'so is the removal of everything', actions: [{ target: '$', remove: true }], told: /whole document/ },
  { says: 'so is an action that does nothing', actions: [{ target: '$.info' }], told: /one of `update`/ },
  { says: 'and what is no overlay', actions: 'none', told: /no overlay/ },
];

for (const { says, actions, becomes = base, told } of trials) {
  test(says, () => {
    const root = structuredClone(base) as unknown as OpenMap;
    const gathering = newReadContext(() => false);
    overlaid(root, [{ file: 'o.json', content: JSON.stringify({ overlay: '1.1.0', info: {}, actions }) }], gathering);
    assert.deepEqual(JSON.parse(JSON.stringify(root)) as Json, becomes);
    const messages = gathering.findings.map(({ code, message }) => `${code} ${message}`);
    if (told === undefined) assert.deepEqual(messages, []);
    else assert.match(messages.join('\n'), told);
  });
}

test('the command line takes overlays, and shows what could not be carried out at its place in them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-overlay-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const [api, first, second, out] = ['api.yaml', 'first.yaml', 'second.json', 'out.yaml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  writeFileSync(
    api,
    'openapi: 3.1.0\ninfo: { title: T, version: "1" }\npaths:\n  /a: { get: { responses: { "204": { description: x } } } }\n',
  );
  writeFileSync(
    first,
    "overlay: 1.0.0\ninfo: { title: O, version: '1' }\nactions:\n  - target: $.paths['/a'].get\n    update: { operationId: readA }\n",
  );
  writeFileSync(
    second,
    '{"overlay":"1.1.0","info":{"title":"O","version":"1"},"actions":[{"target":"$.info.title","update":"U"},{"target":"$.nope","remove":true}]}',
  );
  let err = '';
  const complain = (text: string) => {
    err += text;
  };
  const terminal = { isTTY: false, columns: 100, colour: false, write: () => {}, complain };
  assert.equal(await main(['import', api, '--overlay', first, '--overlay', second, '-o', out], terminal), 0);
  const written = readFileSync(out, 'utf8');
  assert.match(written, /title: U/);
  assert.match(written, /as: readA/);
  assert.match(err, /1 finding/);
  assert.equal(await main(['import', api, '--overlay', join(folder, 'none.yaml')], terminal), 2);
});
