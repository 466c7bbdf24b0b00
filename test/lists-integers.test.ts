import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';

test('a filter by integers beyond 64 bits finds those that fit it alone, and sorts them', async () => {
  const service = await serve({
    title: 'Stars',
    resources: {
      star: { identifier: { field: 'id', generate: 'client' }, fields: { id: 'string', a: 'integer' }, required: ['id', 'a'] },
    },
    endpoints: {
      'POST /stars': { does: 'create star' },
      'GET /stars': {
        does: 'list star',
        parameters: { min_a: { in: 'query', type: 'integer', filters: 'a', op: '>=' } },
        order: '-a',
      },
    },
    authentication: 'none',
  });
  const post = (body: string) =>
    service.fetch(
      new Request('http://127.0.0.1/stars', { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
    );
  const numbers = ['-99999999999999999999', '5', '9223372036854775807', '9223372036854775808', '99999999999999999999'];
  for (const number of numbers) assert.equal((await post(`{"id":"n${number}","a":${number}}`)).status, 201);
  const from = async (least: string) => {
    const answer = await service.fetch(new Request(`http://127.0.0.1/stars?min_a=${least}`));
    return [...(await answer.text()).matchAll(/"a":(-?\d+)/g)].map(([, number]) => number);
  };
  for (const [index, number] of numbers.entries()) assert.deepEqual(await from(number), numbers.slice(index).reverse());
  await service.close();
});
