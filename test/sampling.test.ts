import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Tried, type TriedOptions, tryService } from './serving/tried.ts';

/** Somebody else's interface, as it would be read off its description: shapes are stated, what happens is not. */
const shop = `
resources:
  customer:
    identifier: { field: id }
    fields:
      id: { type: string, maxLength: 40 }
      object: { const: customer }
      created: { type: integer, format: unix-time }
      email: string
      name: { type: string, maxLength: 20 }
      livemode: boolean
      card: { ref: card, type: [string, 'null'] }
    required: [id, object, created, livemode]
  card:
    identifier: { field: id }
    fields: { id: string, owner: { ref: customer }, brand: { enum: [visa, amex], example: diners }, state: { type: object } }
    required: [id, owner, brand]
  gone:
    identifier: none
    fields: { id: string, object: { const: customer }, deleted: { const: true } }
    required: [id, object, deleted]
  refund:
    identifier: { field: id }
    fields: { id: string, card: { ref: card }, reason: { type: string, minLength: 3 } }
    required: [id, card, reason]
states: none
endpoints:
  POST /customers:
    does: create customer
    request: { type: object, properties: { email: string, name: string, created: { type: [string, integer] }, plan: string }, additionalProperties: false }
    response: { 200: { shape: customer } }
  GET /customers/{id}: { does: read customer, response: { 200: { shape: customer } } }
  POST /customers/{id}:
    does: update customer
    request: { type: object, properties: { email: { type: [string, 'null'] }, name: { type: [string, integer] }, livemode: boolean } }
    response: { 200: { shape: customer } }
  DELETE /customers/{id}: { does: delete customer, response: { 200: { shape: gone } } }
  GET /customers:
    does: list customer
    parameters: { email: { in: query } }
    pagination: { style: after, after: starting_after, size: limit, default: 10, items: data, has_more: has_more }
    response:
      200:
        type: object
        properties: { object: { const: list }, data: [customer], has_more: boolean, url: { type: string, pattern: ^/customers } }
        required: [object, data, has_more, url]
  POST /refunds: { does: create refund, request: { type: object, properties: { reason: string } } }
  GET /refunds: { does: list refund, response: { 200: { type: object, properties: { refunds: [refund], ok: boolean }, required: [refunds, ok] } } }
  GET /cards: { does: list card }
  GET /cards/{id}: { does: read card }
  POST /customers/{id}/verify: { request: { type: object, properties: { code: string }, required: [code] }, response: { 200: { shape: customer } } }
  POST /cards/issue: { response: { 200: { shape: card } } }
  GET /balance: { response: { 200: { type: object, properties: { available: { type: integer, minimum: 5, maximum: 9 }, currency: string }, required: [available, currency] } } }
  POST /ping: { response: { 204: none } }
  POST /echo: { request: { type: object, properties: { text: string } }, response: { 200: { type: object, properties: { text: string, ok: boolean }, required: [text, ok] } } }
`;

async function served<T>(options: TriedOptions, body: (tried: Tried) => Promise<T>, text = shop): Promise<T> {
  const tried = await tryService(text, { sample: true, ...options });
  try {
    const result = await body(tried);
    assert.deepEqual(tried.failures, []);
    return result;
  } finally {
    await tried.close();
  }
}

type Row = Readonly<Record<string, unknown>>;
const names = (answer: { readonly headers: Readonly<Record<string, string>> }) => answer.headers['ninefold-sampled']?.split(', ');

test('what is created has what its shape requires, and what was made up is named, then and whenever it is read', async () => {
  await served({}, async ({ send }) => {
    const made = await send('POST', '/customers', { body: { email: 'a@example.com', name: 'Ada' } });
    assert.equal(made.status, 200);
    const row = made.json as Row;
    assert.deepEqual(Object.keys(row), ['id', 'object', 'created', 'email', 'name', 'livemode']);
    assert.deepEqual([row.object, row.email, row.name, row.livemode], ['customer', 'a@example.com', 'Ada', false]);
    assert.match(String(row.id), /^customer_/);
    assert.deepEqual(names(made), ['created', 'livemode']);
    const read = await send('GET', `/customers/${row.id}`);
    assert.deepEqual(read.json, row);
    assert.deepEqual(names(read), ['created', 'livemode']);
  });
});

test('what is sent and does not fit its field is made up instead', async () => {
  await served({}, async ({ send }) => {
    const made = await send('POST', '/customers', { body: { name: 'x'.repeat(30), created: 'today', plan: 'gold' } });
    assert.equal(made.status, 200);
    const row = made.json as Row;
    assert.equal(typeof row.created, 'number');
    assert.deepEqual([row.name, row.plan], [undefined, undefined]);
  });
});

test('a list is in its stated envelope, filtered, paged and completed', async () => {
  await served({}, async ({ send }) => {
    const made = [];
    for (const name of ['a', 'b', 'c'])
      made.push((await send('POST', '/customers', { body: { name, email: `${name}@example.com` } })).json as Row);
    const page = await send('GET', '/customers?limit=2');
    const { object, data, has_more, url } = page.json as { object: string; data: Row[]; has_more: boolean; url: string };
    assert.deepEqual([object, data.map(({ name }) => name), has_more], ['list', ['a', 'b'], true]);
    assert.match(url, /^\/customers/);
    assert.deepEqual(names(page), ['created', 'livemode', 'url']);
    const next = (await send('GET', `/customers?limit=2&starting_after=${made[1]?.id}`)).json as {
      data: Row[];
      has_more: boolean;
    };
    assert.deepEqual([next.data.map(({ name }) => name), next.has_more], [['c'], false]);
    const found = (await send('GET', '/customers?email=b@example.com')).json as { data: Row[] };
    assert.deepEqual(
      found.data.map(({ name }) => name),
      ['b'],
    );
  });
});

test('without a stated envelope the rows stand in the member that is a list of them', async () => {
  await served({}, async ({ send }) => {
    const { json } = await send('POST', '/refunds', { body: { reason: 'broken' } });
    const list = (await send('GET', '/refunds')).json as { refunds: Row[]; ok: boolean };
    assert.deepEqual(list, { refunds: [json], ok: true });
  });
});

test('a change keeps what fits; what does not stays as it was, and what was sent is no longer named as made up', async () => {
  await served({}, async ({ send }) => {
    const { json } = await send('POST', '/customers', { body: { email: 'a@example.com', name: 'Ada' } });
    const { id, created } = json as Row;
    const changed = await send('POST', `/customers/${id}`, { body: { email: null, name: 7, livemode: true } });
    assert.deepEqual(changed.json, { id, object: 'customer', created, name: 'Ada', livemode: true });
    assert.deepEqual(names(changed), ['created']);
  });
});

test('a deletion answers in its stated shape, made of what the row was, and the row is gone', async () => {
  await served({}, async ({ send }) => {
    const { id } = (await send('POST', '/customers', { body: {} })).json as Row;
    const deleted = await send('DELETE', `/customers/${id}`);
    assert.deepEqual([deleted.status, deleted.json], [200, { id, object: 'customer', deleted: true }]);
    assert.equal((await send('GET', `/customers/${id}`)).status, 404);
  });
});

test('a required reference points to a row that is there, and one is made where there is none', async () => {
  await served({}, async ({ send }) => {
    const refund = (await send('POST', '/refunds', { body: { reason: 'broken' } })).json as Row;
    const card = await send('GET', `/cards/${refund.card}`);
    assert.equal(card.status, 200);
    const { owner, brand } = card.json as Row;
    assert.ok(brand === 'visa' || brand === 'amex');
    assert.equal((await send('GET', `/customers/${owner}`)).status, 200);
    const second = (await send('POST', '/refunds', { body: { reason: 'broken' } })).json as Row;
    assert.deepEqual([second.card, ((await send('GET', '/cards')).json as Row[]).length], [refund.card, 1]);
    const customer = (await send('GET', '/customers')).json as { data: Row[] };
    assert.ok(customer.data.every(({ card: own }) => own === undefined));
  });
});

test('the same seed gives the same rows, another one others', async () => {
  const play = (seedValue: string) =>
    served({ seedValue }, async ({ send }) => {
      const made = await send('POST', '/customers', { body: { name: 'Ada' } });
      return [made.json, (await send('GET', '/balance')).json, (await send('POST', '/cards/issue')).json];
    });
  const [one, again, other] = [await play('7'), await play('7'), await play('8')];
  assert.deepEqual(one, again);
  assert.notDeepEqual(one, other);
});

test('an open effect answers a sample of its stated shape and names the open fact', async () => {
  await served({}, async ({ send }) => {
    const balance = await send('GET', '/balance');
    const { available, currency } = balance.json as { available: number; currency: string };
    assert.ok(available >= 5 && available <= 9);
    assert.equal(currency, 'eur');
    assert.deepEqual(names(balance), ['available', 'currency']);
    assert.match(balance.headers['ninefold-open'] ?? '', /response payload shapes \(GET \/balance\)/);
    assert.deepEqual((await send('GET', '/balance')).json, balance.json);
    assert.deepEqual([(await send('POST', '/ping')).status, (await send('POST', '/ping')).text], [204, '']);
    assert.deepEqual((await send('POST', '/echo', { body: { text: 'hello' } })).json, { text: 'hello', ok: true });
  });
});

test('an open effect on a row that its path names answers with that row, unchanged, or that it is missing', async () => {
  await served({}, async ({ send }) => {
    const { json } = await send('POST', '/customers', { body: { name: 'Ada' } });
    const { id } = json as Row;
    assert.deepEqual((await send('POST', `/customers/${id}/verify`, { body: { code: '1' } })).json, json);
    assert.equal((await send('POST', `/customers/${id}/verify`, { body: {} })).status, 400);
    assert.equal((await send('POST', '/customers/nobody/verify', { body: { code: '1' } })).status, 404);
  });
});

test('a row that an open effect made up is there afterwards', async () => {
  await served({}, async ({ send }) => {
    const issued = await send('POST', '/cards/issue');
    const { id, owner } = issued.json as Row;
    assert.deepEqual((await send('GET', `/cards/${id}`)).json, issued.json);
    assert.equal((await send('GET', `/customers/${owner}`)).status, 200);
    // What is issued again is another card.
    const again = (await send('POST', '/cards/issue')).json as Row;
    assert.notEqual(again.id, id);
    assert.deepEqual((await send('GET', `/cards/${again.id}`)).json, again);
  });
});

test('without --sample the same requests are in doubt', async () => {
  await served({ sample: false }, async ({ send }) => {
    assert.equal((await send('POST', '/customers', { body: {} })).status, 501);
    assert.equal((await send('GET', '/balance')).status, 501);
  });
});

const guarded = `
purpose: { users: { member: Anyone who joined. } }
resources:
  note: { identifier: { field: id, generate: ulid }, fields: { id: string, text: string, owner: { type: string, readOnly: true, set: { create: caller.id } } }, required: [id, text] }
endpoints:
  POST /notes:
    does: create note
    parameters: { token: { in: query, type: string, required: true } }
    request: { type: object, properties: { text: string }, required: [text], additionalProperties: false }
  GET /notes: { does: list note, parameters: { token: { in: query, type: string, required: true, op: contains, filters: text } } }
authentication:
  schemes:
    bearer: { type: oauth2, header: Authorization }
    login: { type: basic, header: Authorization }
    key: { type: api_key, header: X-Key }
`;

test('with --relax auth any credential is taken that stands where one is declared or is called so, whatever scheme it names, and nothing else', async () => {
  await served(
    { relax: 'auth' },
    async ({ send }) => {
      const post = (headers: Record<string, string>) => send('POST', '/notes?token=t', { headers, body: { text: 'x' } });
      const [bearer, basic, key] = [
        await post({ authorization: 'Bearer whatever' }),
        await post({ authorization: `Basic ${btoa('sk_test_x:')}` }),
        await post({ 'x-key': 'anything' }),
      ];
      assert.deepEqual([bearer.status, basic.status, key.status], [201, 201, 201]);
      assert.equal((basic.json as Row).owner, 'sk_test_x');
      assert.notEqual((bearer.json as Row).owner, (key.json as Row).owner);
      assert.equal((await post({ authorization: 'Digest x' })).status, 201);
      // The document names another header than the client sends.
      assert.deepEqual([(await post({ 'private-token': 'a' })).status, (await post({ 'x-api-key': 'b' })).status], [201, 201]);
      for (const headers of [{}, { authorization: 'Basic ???' }, { authorization: '' }, { 'x-key': '' }, { 'x-other': 'x' }]) {
        const refused = await post(headers as Record<string, string>);
        assert.equal(refused.status, 401, JSON.stringify(headers));
        assert.match(refused.headers['www-authenticate'] ?? '', /Bearer/);
      }
    },
    guarded,
  );
});

test('without it a stand-in asks for credentials as every service does', async () => {
  await served(
    {},
    async ({ send }) => assert.equal((await send('GET', '/notes', { headers: { 'x-key': 'anything' } })).status, 401),
    guarded,
  );
});

test('what vendors leave out or add passes with a warning; with --strict it is refused', async () => {
  const credential = { authorization: 'Bearer x' };
  const warned: (readonly string[] | undefined)[] = [];
  const post = (target: string, body: unknown, strict: boolean) =>
    served(
      { relax: 'auth', strict, onExchange: ({ warnings }) => warned.push(warnings) },
      ({ send }) => send('POST', target, { headers: credential, body }),
      guarded,
    );
  const lenient = await post('/notes?debug=1', { text: 'x', newer: true }, false);
  assert.equal(lenient.status, 201);
  assert.equal(
    lenient.headers['ninefold-warning'],
    'query token is required and was not sent, query debug is not stated, body newer is not stated',
  );
  assert.deepEqual(warned, [lenient.headers['ninefold-warning']?.split(', ')]);
  assert.equal((await post('/notes', { text: 'x' }, true)).status, 400);
  assert.equal((await post('/notes?token=t', { text: 'x', newer: true }, true)).status, 400);
  const wrong = await post('/notes', {}, false);
  assert.deepEqual([wrong.status, wrong.headers['ninefold-warning']], [400, 'query token is required and was not sent']);
});

const erring = `
resources:
  person: { identifier: { field: id, generate: ulid }, fields: { id: string, age: integer }, required: [id] }
  mistake:
    identifier: none
    fields: { message: { type: string, maxLength: 200 }, type: { enum: [api_error, card_error, invalid_request_error] }, param: string, code: string }
    required: [type]
endpoints:
  POST /people:
    does: create person
    request: { type: object, properties: { age: integer } }
    response: { 200: { shape: person }, 400: { type: object, properties: { error: mistake }, required: [error] }, default: { type: object, properties: { ok: { const: false }, error: string }, required: [ok, error] } }
  GET /people/{id}:
    does: read person
    response: { 200: { shape: person }, 4XX: { type: object, properties: { title: string, status: integer, detail: string, instance: { type: string, format: uri } }, required: [title, detail, instance] } }
  GET /people: { does: list person, response: { 200: [person] } }
`;

test('a refusal has the shape that its endpoint states for its status, for one like it, or for any', async () => {
  await served(
    {},
    async ({ send }) => {
      const invalid = await send('POST', '/people', { body: { age: 'old' } });
      const { error } = invalid.json as { error: Row };
      assert.deepEqual([invalid.status, error.type, error.param], [400, 'invalid_request_error', 'age']);
      assert.match(String(error.message), /right shape/);
      const media = await send('POST', '/people', { headers: { 'content-type': 'text/csv' }, body: 'age' });
      assert.equal(media.status, 400);
      const missing = await send('GET', '/people/nobody');
      const { title, status, instance } = missing.json as Row;
      assert.deepEqual([missing.status, title, status, names(missing)], [404, 'Not Found', 404, ['instance']]);
      assert.match(String(instance), /^https:/);
    },
    erring,
  );
});

test('another media type than those asked for is answered with a warning, and refused where a stand-in is strict', async () => {
  const headers = { accept: 'image/png' };
  await served(
    {},
    async ({ send }) => {
      const { status, headers: told } = await send('GET', '/people', { headers });
      assert.deepEqual([status, told['ninefold-warning']], [200, 'the answer is in no media type that was asked for']);
    },
    erring,
  );
  await served(
    { strict: true },
    async ({ send }) => {
      const { status, json } = await send('POST', '/people', { headers, body: {} });
      assert.deepEqual([status, json], [406, { ok: false, error: 'not_acceptable' }]);
      const unstated = await send('GET', '/people?x=1', { headers });
      assert.equal(unstated.headers['content-type'], 'application/problem+json');
    },
    erring,
  );
});

test('an error payload that is stated as a whole is completed to its shape', async () => {
  const text = `${erring}errors: { payload: { shape: { type: object, properties: { error: mistake }, required: [error] }, data: { error: "{'message': message}" } } }\n`;
  await served(
    {},
    async ({ send }) => {
      const { json, status } = await send('POST', '/people', { body: { age: 'old' } });
      const { type, message } = (json as { error: Row }).error;
      assert.deepEqual([status, type, typeof message], [400, 'invalid_request_error', 'string']);
    },
    text,
  );
});
