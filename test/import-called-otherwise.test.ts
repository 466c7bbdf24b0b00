import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueAt } from '../src/document/source.ts';
import { take } from './import/source.ts';

type Words = Readonly<Record<string, unknown>>;

const string = { type: 'string' };
const map = (properties: Words): Words => ({ type: 'object', properties });
const json = (schema: unknown): Words => ({ content: { 'application/json': { schema } } });
const answers = (schema: unknown): Words => ({ responses: { 200: { description: 'ok', ...json(schema) } } });
const bare = { responses: { 204: { description: 'ok' } } };
const inPath = (path: string): Words[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: string }));

/** Things that are made at a path and read and deleted below it; `shown` and `made` are what the two answers hold. */
function things(path: string, { sent, shown, made = shown }: { sent: Words; shown: Words; made?: Words }): Words {
  const above = path.replace(/\/\{\w+\}$/, '');
  return {
    [above]: { parameters: inPath(above), post: { requestBody: json(map(sent)), ...answers(map(made)) } },
    [path]: { parameters: inPath(path), get: answers(map(shown)), delete: bare },
  };
}

/** What reading one of them does, and the field that its path means. */
function read(paths: Words, path: string): { does: unknown; field: unknown; sure: unknown } {
  const { tree } = take({ paths });
  const at = `/endpoints/GET ${path.replaceAll('/', '~1')}/does`;
  const does = valueAt(tree, at);
  const field = typeof does === 'string' ? valueAt(tree, `/resources/${does.replace(/^read /, '')}/identifier/field`) : undefined;
  const evidence = (tree.evidence ?? []) as readonly Record<string, unknown>[];
  return { does: does ?? null, field: field ?? null, sure: evidence.find(({ fact }) => fact === at)?.confidence ?? null };
}

const found: Readonly<Record<string, readonly [string, Words, string]>> = {
  'a slug that the service makes': [
    '/teams/{team}',
    things('/teams/{team}', { sent: { name: string }, shown: { slug: string, name: string } }),
    'slug',
  ],
  'the word that the parameter ends in': [
    '/floating_ips/{floating_ip}',
    things('/floating_ips/{floating_ip}', {
      sent: { region: string },
      shown: { floating_ip: map({ ip: string, region: string }) },
      made: { floating_ip: map({ ip: string, region: string }), links: map({ next: string }) },
    }),
    'ip',
  ],
  'a word that ends in the parameter': [
    '/receipts/{rule_id}',
    things('/receipts/{rule_id}', { sent: { name: string }, shown: { receipt_rule_id: string, name: string, user_id: string } }),
    'receipt_rule_id',
  ],
  'the name of the thing': [
    '/collections/{id}',
    things('/collections/{id}', { sent: { collection: string, note: string }, shown: { collection: string, note: string } }),
    'collection',
  ],
  'the one text of it that says what was made, beside how it went': [
    '/profiles/{profileId}',
    things('/profiles/{profileId}', {
      sent: { billing: map({ city: string }) },
      shown: { customer_code: string, code: { type: 'integer' }, billing: map({ city: string }), language: string },
      made: { code: { type: 'integer' }, message: string, customer_code: string },
    }),
    'customer_code',
  ],
  'a name that is sent, where its owner has one too': [
    '/repos/{repo}/mirrors/{name}',
    things('/repos/{repo}/mirrors/{name}', { sent: { url: string }, shown: { repo_name: string, remote_name: string } }),
    'remote_name',
  ],
};

for (const [name, [path, paths, field]] of Object.entries(found)) {
  test(`a path calls a thing otherwise than it calls itself: ${name}`, () => {
    const { does, field: own, sure } = read(paths, path);
    assert.match(String(does), /^read /);
    assert.deepEqual([own, sure], [field, 0.8]);
  });
}

const left: Readonly<Record<string, readonly [string, Words]>> = {
  'what says that it was made says two texts of it': [
    '/profiles/{profileId}',
    things('/profiles/{profileId}', {
      sent: { city: string },
      shown: { customer_code: string, batch_code: string, city: string },
      made: { message: string, customer_code: string, batch_code: string },
    }),
  ],
  'the field is nowhere told when one is made': [
    '/teams/{team}',
    things('/teams/{team}', { sent: { name: string }, shown: { slug: string }, made: { ok: { type: 'boolean' } } }),
  ],
  'the number of a key is not the key': [
    '/keys/{key_id}',
    things('/keys/{key_id}', { sent: { key: string }, shown: { key: string, comment: string } }),
  ],
  'two words may be meant': [
    '/repos/{repo}/protections/{name}',
    things('/repos/{repo}/protections/{name}', {
      sent: { rule_name: string, branch_name: string },
      shown: { rule_name: string, branch_name: string },
    }),
  ],
  'nothing changes or deletes one': [
    '/teams/{team}',
    {
      '/teams': { post: { requestBody: json(map({ name: string })), ...answers(map({ slug: string })) } },
      '/teams/{team}': { parameters: inPath('/{team}'), get: answers(map({ slug: string })) },
    },
  ],
};

for (const [name, [path, paths]] of Object.entries(left)) {
  test(`what a path is about stays open where ${name}`, () => {
    assert.deepEqual(read(paths, path), { does: null, field: null, sure: null });
  });
}
