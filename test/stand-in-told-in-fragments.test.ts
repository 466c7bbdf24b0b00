import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePatternSamples } from '../src/parts/samples/formats.ts';
import { chanceOf } from '../src/parts/samples/sampler.ts';
import { answers, list, object, ref, sends, standIn, string } from './import/stand-in.ts';

/** Descriptions that tell the operations of one path apart by a fragment: `/#X-Target=Depot.CreateCrate`, `/crates#operation=search`. */

const target = (value: string) => ({
  parameters: [{ name: 'X-Target', in: 'header', required: true, schema: { ...string, enum: [value] } }],
});
const call = (name: string, sent: unknown, answered: unknown) => ({
  [`/#X-Target=Depot.${name}`]: { post: { operationId: name, ...target(`Depot.${name}`), ...sends(sent), ...answers(answered) } },
});

const named = object({ CrateId: { ...string, pattern: 'CR[0-9a-f]{8}', minLength: 10, maxLength: 10 } }, ['CrateId']);
const crate = { CrateId: { ...string, pattern: '.*' }, Label: string };
const calls = {
  ...call('CreateCrate', object({ Label: string }), object({ CrateId: string })),
  ...call('DescribeCrate', named, object({ Crate: ref('Crate') })),
  ...call('DescribeCrates', object({ NextToken: string }), object({ Crates: list(ref('Crate')), NextToken: string })),
  ...call('DeleteCrate', named, object({})),
};
const kind = { 'content-type': 'application/x-depot-json-1.1' };

test('each operation is reached by what its fragment says, and does what it is called', () =>
  standIn(calls, { Crate: object(crate) }, async (ask) => {
    const say = (name: string, body: unknown) => ask('POST', '/', body, { ...kind, 'X-Target': `Depot.${name}` });
    const { json: made } = await say('CreateCrate', { Label: 'fragile' });
    assert.match(made.CrateId, /^CR[0-9a-f]{8}$/, 'it fits the members that name it');
    assert.deepEqual((await say('DescribeCrate', made)).json, { Crate: { CrateId: made.CrateId, Label: 'fragile' } });
    assert.deepEqual((await say('DescribeCrates', {})).json.Crates, [{ CrateId: made.CrateId, Label: 'fragile' }]);
    assert.equal((await say('DeleteCrate', made)).status, 200);
    assert.equal((await say('DescribeCrate', made)).status, 404);
    assert.deepEqual((await say('DescribeCrates', {})).json.Crates, []);
  }));

test('a body of a kind of its own is no JSON to a strict stand-in', () =>
  standIn(
    calls,
    { Crate: object(crate) },
    async (ask) =>
      assert.equal((await ask('POST', '/', { Label: 'x' }, { ...kind, 'X-Target': 'Depot.CreateCrate' })).status, 415),
    {},
    true,
  ));

test('what a fragment tells apart is not the plain list or creation of its path', async () => {
  const operation = (value: string) => ({
    parameters: [{ name: 'operation', in: 'query', required: true, schema: { ...string, enum: [value] } }],
  });
  const paths = {
    '/crates#operation=search': {
      post: { ...operation('search'), ...sends(object({ Words: string })), ...answers(object({ Crates: list(ref('Crate')) })) },
    },
    '/crates': {
      post: { ...sends(object({ Label: string })), ...answers(ref('Crate'), {}, '201') },
      get: answers(object({ Crates: list(ref('Crate')) })),
    },
    '/crates/{CrateId}': {
      parameters: [{ name: 'CrateId', in: 'path', required: true, schema: string }],
      get: answers(ref('Crate')),
    },
  };
  await standIn(paths, { Crate: object(crate, ['CrateId']) }, async (ask) => {
    const { json: made } = await ask('POST', '/crates', { Label: 'a' });
    assert.equal((await ask('POST', '/crates?operation=search', { Words: 'a' })).status, 200);
    assert.deepEqual((await ask('GET', '/crates')).json.Crates, [made], 'searching made none');
  });
});

test('texts are made of patterns that repeat something a thousand times at the most', () => {
  for (const pattern of ['arn:[a-z0-9-\\.]{1,63}:[a-z0-9-\\.]{0,63}:[a-z0-9-\\.]{0,63}:[^/].{0,1023}', '.{5,1600}']) {
    const text = compilePatternSamples(pattern)?.(chanceOf('a'), 5);
    assert.match(text ?? '', new RegExp(pattern));
  }
});

test('a list that is asked for by POST is cut by its body, though the query has the same names', () => {
  const paging = ['MaxResults', 'NextToken'].map((name) => ({ name, in: 'query', schema: string }));
  const name = '/#X-Target=Depot.ListCrates';
  const listing = call(
    'ListCrates',
    object({ MaxResults: { type: 'integer' }, NextToken: string }),
    object({ Crates: list(ref('Crate')), NextToken: string }),
  );
  const { post } = listing[name] as { post: { parameters: readonly unknown[] } };
  const paths = { ...calls, [name]: { post: { ...post, parameters: [...paging, ...post.parameters] } } };
  return standIn(paths, { Crate: object(crate) }, async (ask) => {
    const say = (operation: string, body: unknown) => ask('POST', '/', body, { ...kind, 'X-Target': `Depot.${operation}` });
    for (const Label of ['a', 'b', 'c']) await say('CreateCrate', { Label });
    const { json: first } = await say('ListCrates', { MaxResults: 2 });
    const { json: second } = await say('ListCrates', { MaxResults: 2, NextToken: first.NextToken });
    const labels = [first, second].map(({ Crates }) => Crates.map(({ Label }: { Label: string }) => Label));
    assert.deepEqual(labels, [['a', 'b'], ['c']]);
  });
});
