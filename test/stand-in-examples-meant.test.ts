import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { take } from './import/source.ts';
import { answers, json, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** Examples that refer to others or are of another answer, forms that are deprecated, acts that answer a little, credentials that are asked for together. */

test('the parts of an example are what they refer to, and one that is of another answer is none of it', async () => {
  const page = object({ collection: list(object({ title: string, length: { type: 'integer' } })), next_href: string });
  const shown = (example: object) => ({ get: answers(page, { example }) });
  const one = { $ref: '#/components/examples/One/value' };
  await standIn(
    {
      '/charts': shown({ collection: [one, { title: 'Two' }], next_href: 'n' }),
      '/other': shown({ body: 'a remark', timestamp: 4 }),
      '/alone': shown({ collection: one, next_href: 'n' }),
    },
    {},
    async (ask) => {
      const told = { title: 'One', length: 7 };
      assert.deepEqual((await ask('GET', '/charts')).json.collection, [told, { title: 'Two' }]);
      for (const path of ['/other', '/alone']) assert.ok(Array.isArray((await ask('GET', path)).json.collection), path);
    },
    {
      components: {
        schemas: {},
        examples: {
          One: { value: { title: 'One', length: { $ref: '#/components/examples/Seven/value' } } },
          Seven: { value: 7 },
        },
      },
    },
  );
});

test('examples whose parts refer to each other come to an end', async () => {
  const loop = { $ref: '#/components/examples/Loop/value' };
  const paths = { '/loops': { get: answers(object({ inner: { type: 'object' } }), { example: { inner: [loop, loop] } }) } };
  const more = { components: { schemas: {}, examples: { Loop: { value: { inner: [loop, loop] } } } } };
  await standIn(paths, {}, async (ask) => assert.equal((await ask('GET', '/loops')).status, 200), more);
});

test('of two forms of a list the one that is not deprecated is answered', async () => {
  const toy = object({ id: { type: 'integer', readOnly: true }, name: string }, ['id']);
  const page = object({ collection: list(ref('Toy')), next_href: string });
  const paths = {
    '/toys': {
      post: { ...sends(ref('Toy')), ...answers(ref('Toy'), {}, '201') },
      get: answers({ oneOf: [ref('Toys'), ref('Page')] }),
    },
    '/toys/{id}': { ...within('id'), get: answers(ref('Toy')) },
    '/charts': { get: answers({ oneOf: [{ ...list(object({ score: string })), deprecated: true }, ref('Chart')] }) },
  };
  const schemas = {
    Toy: toy,
    Toys: { ...list(ref('Toy')), deprecated: true },
    Page: page,
    Chart: object({ chart: string }, ['chart']),
  };
  await standIn(paths, schemas, async (ask) => {
    const { json: made } = await ask('POST', '/toys', { name: 'Ball' });
    assert.deepEqual((await ask('GET', '/toys')).json.collection, [made]);
    assert.equal(typeof (await ask('GET', '/charts')).json.chart, 'string');
  });
});

test('an act that is sent nothing of the thing, and answers with a little or an operation that takes long, leads to its state', async () => {
  const job = object(
    { id: { ...string, readOnly: true }, label: string, state: { ...string, enum: ['RUNNING', 'PAUSED', 'DONE'] } },
    ['id'],
  );
  const operation = object({
    name: string,
    done: { type: 'boolean' },
    error: object({ code: { type: 'integer' } }),
    response: { type: 'object', additionalProperties: true },
  });
  const at = (act: string, sent: object, answered: object) => ({
    [`/jobs/{id}:${act}`]: { ...within('id'), post: { requestBody: json(sent), ...answers(answered) } },
  });
  const paths = {
    '/jobs': { post: { ...sends(ref('Job')), ...answers(ref('Job')) }, get: answers(list(ref('Job'))) },
    '/jobs/{id}': { ...within('id'), get: answers(ref('Job')) },
    ...at('pause', object({ name: string, requestId: string }), ref('Operation')),
    ...at('resume', object({}), object({ token: string })),
    // A label is of the job: what this does with it nobody says.
    ...at('done', object({ label: string }), object({ token: string })),
    '/jobs/{id}/relabel': {
      ...within('id'),
      post: { requestBody: json(object({ label: string })), responses: { 202: { description: 'ok' } } },
    },
  };
  await standIn(paths, { Job: job, Operation: operation }, async (ask) => {
    const { json: made } = await ask('POST', '/jobs', { label: 'a' });
    const stateAfter = async (act: string) => {
      assert.equal((await ask('POST', `/jobs/${made.id}:${act}`, {})).status, 200);
      return (await ask('GET', `/jobs/${made.id}`)).json.state;
    };
    assert.equal(await stateAfter('pause'), 'PAUSED');
    assert.equal(await stateAfter('resume'), 'RUNNING');
    assert.equal(await stateAfter('done'), 'RUNNING');
    assert.equal((await ask('POST', `/jobs/${made.id}/relabel`, { label: 'b' })).status, 202);
    assert.equal((await ask('GET', `/jobs/${made.id}`)).json.label, 'b');
  });
});

test('where any credential is taken, one of several that are asked for together is enough, if it is so elsewhere', async () => {
  const toys = { security: [{ token: [], client: [] }], ...answers(list(string)) };
  const securitySchemes = {
    token: { type: 'apiKey', in: 'header', name: 'Authorization' },
    client: { type: 'apiKey', in: 'query', name: 'client_id' },
  };
  const boxes = { security: [{ token: [] }], ...answers(list(string)) };
  const source = { paths: { '/toys': { get: toys }, '/boxes': { get: boxes } }, components: { securitySchemes } };
  const statuses = async (options: object): Promise<readonly number[]> => {
    const service = await serve(take(source), { sample: true, ...options });
    const ask = async (path: string, headers = {}) =>
      (await service.fetch(new Request(`http://127.0.0.1${path}`, { headers }))).status;
    try {
      return [await ask('/toys'), await ask('/toys', { authorization: 'one' }), await ask('/toys?client_id=two')];
    } finally {
      await service.close();
    }
  };
  assert.deepEqual(await statuses({ relax: 'auth' }), [401, 200, 401]);
  assert.deepEqual(await statuses({ relax: 'auth', strict: true }), [401, 401, 401]);
  assert.deepEqual(await statuses({}), [401, 401, 401]);
});

test('a list of which it is said that the newest come first begins with what was made last; a newer word elsewhere says nothing', async () => {
  const toy = object({ id: { type: 'integer', readOnly: true }, name: string }, ['id']);
  const kept = (name: string, description: string) => ({
    [`/${name}`]: {
      post: { ...sends(ref('Toy')), ...answers(ref('Toy'), {}, '201') },
      get: { description, ...answers(list(ref('Toy'))) },
    },
    [`/${name}/{id}`]: { ...within('id'), get: answers(ref('Toy')) },
  });
  for (const [words, first] of [
    ['Lists toys, with the most recent toys appearing first.', 'b'],
    ['Lists toys in reverse chronological order.', 'b'],
    ['Lists toys. Ask for the newest toy by its first name.', 'a'],
    ['Lists toys, the latest last and the oldest first.', 'a'],
  ] as const)
    await standIn(kept('toys', words), { Toy: toy }, async (ask) => {
      for (const name of ['a', 'b']) await ask('POST', '/toys', { name });
      assert.equal((await ask('GET', '/toys')).json[0].name, first, words);
    });
});

test('a POST that is called after reading makes nothing', async () => {
  const toy = object({ id: { ...string, readOnly: true }, name: string }, ['id']);
  const paths = {
    '/toys': {
      post: { operationId: 'getToysInBatch', ...sends(object({ ids: string })), ...answers(object({ toys: list(ref('Toy')) })) },
    },
    '/toys/{id}': { ...within('id'), get: answers(ref('Toy')) },
  };
  await standIn(paths, { Toy: toy }, async (ask) => {
    assert.equal((await ask('POST', '/toys', { ids: 'a,b' })).status, 200);
    assert.equal((await ask('GET', '/toys/a')).json.id, 'a');
  });
});

test('what tells a thing apart beside its identifier is another for each, like the example, and finds it', async () => {
  const shown = { ...string, example: '9c9de5e8-0a1e-484a-b099-e80766180a6d' };
  const toy = object(
    {
      id: { type: 'integer', readOnly: true },
      uuid: { ...shown, format: 'uuid', pattern: '^[\\da-f-]{36}$', readOnly: true },
      partGuid: { ...shown, readOnly: true },
      code: string,
    },
    ['id'],
  );
  const paths = {
    '/toys': { post: { ...sends(ref('Toy')), ...answers(ref('Toy'), {}, '201') } },
    '/toys/{toyId}': { ...within('toyId'), get: answers(ref('Toy')) },
  };
  await standIn(paths, { Toy: toy }, async (ask) => {
    const { json: one } = await ask('POST', '/toys', { code: 'ball' });
    const { json: two } = await ask('POST', '/toys', { code: 'top' });
    for (const name of ['uuid', 'partGuid']) {
      assert.match(one[name], /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
      assert.notEqual(one[name], two[name]);
      assert.notEqual(one[name], shown.example);
    }
    assert.deepEqual((await ask('GET', `/toys/${two.uuid}`)).json, two);
    assert.deepEqual((await ask('GET', '/toys/top')).json, two);
    assert.equal((await ask('GET', `/toys/${shown.example}`)).status, 404);
  });
});
