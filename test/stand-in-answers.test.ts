import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';
import { describedAlways } from '../src/parts/samples/described-words.ts';
import { firstState } from '../src/parts/samples/first-state.ts';
import { take } from './import/source.ts';
import { answers, integer, json, list, object, ref, sends, standIn, string, type Words, within } from './import/stand-in.ts';

/** What answers of stand-ins say of themselves: words, moments, pages, results and refusals that a client reads. */

const said = (description: string, more: Words = {}): Words => ({ ...string, description, ...more });
const boats = (boat: Words, more: Words = {}): Words => ({
  '/boats': {
    get: answers(object({ kind: said('This is always "boats#list".'), items: list(ref('Boat')) })),
    post: { ...sends(boat), ...answers(ref('Boat'), {}, '201') },
  },
  '/boats/{boatId}': { ...within('boatId'), get: answers(ref('Boat')) },
  ...more,
});

test('a thing begins in the first state that is told, and in none that ends it', () => {
  const words = 'One of `requires_method`, `processing`, `canceled`, or `succeeded`.';
  const sorted = ['canceled', 'processing', 'requires_method', 'succeeded'];
  assert.equal(firstState(sorted, 'status', words), 'requires_method');
  assert.equal(firstState(sorted, 'status', 'How it is.'), 'processing');
  assert.equal(
    firstState(['requires_method', 'canceled'], 'status', 'One of `canceled` and `requires_method`.'),
    'requires_method',
  );
  assert.equal(firstState(['queued', 'completed', 'failed'], 'status', undefined), 'queued');
  assert.equal(firstState(['failed', 'deleted'], 'status', undefined), 'failed');
});

test('a text that is always one word by its description is that word, in new things, lists and made-up answers', async () => {
  const boat = object({ id: string, name: string, object: said('String representing the type. Always has the value `boat`.') }, [
    'id',
  ]);
  const about = object({ object: said('The object type, which is always `about`.'), text: string }, ['object']);
  const paths = boats(ref('Boat'), { '/about': { get: answers(about) } });
  await standIn(paths, { Boat: boat }, async (ask) => {
    assert.equal((await ask('POST', '/boats', { name: 'Anna' })).json.object, 'boat');
    const { json: page } = await ask('GET', '/boats');
    assert.deepEqual([page.kind, page.items.length], ['boats#list', 1]);
    assert.equal((await ask('GET', '/about')).json.object, 'about');
  });
});

test('what is always so in some case alone, or like something else, is no word', () => {
  const none = [
    'Always `null` if `other` is there.',
    'Always `draft` when it was made',
    'Always `a` or `b`.',
    'This is always a string.',
    'It will always have the same value as `status`.',
    'Valid values are: - `always`: users are asked',
    'Always less than `most`.',
  ];
  for (const text of none) assert.equal(describedAlways('type', text), undefined, text);
  assert.equal(describedAlways('type', 'Always location.'), 'location');
  assert.equal(describedAlways('type', 'The type of this resource: `accounts`'), 'accounts');
  assert.equal(describedAlways('type', 'The type identifier of a user (`users`).'), 'users');
  assert.equal(describedAlways('type', 'What it is, a `user` or a file (`files`).'), undefined);
  assert.equal(describedAlways('type', 'The object type: "track".\n'), 'track');
  const others = [
    'The unique identifier of the relationship type. Example: `INSTANCE`',
    'Type of condition for a component. Valid value: "Healthy"',
    'The type of this resource: `accounts` or `users`',
  ];
  for (const text of others) assert.equal(describedAlways('type', text), undefined, text);
  assert.equal(describedAlways('format', 'The type of this resource: `accounts`'), undefined);
  assert.equal(describedAlways('note', 'Always location.'), undefined);
  assert.equal(describedAlways('token_type', 'This value is always _bearer_.'), 'bearer');
});

test('a number that is a Unix timestamp by its description is one, in seconds or milliseconds', async () => {
  const report = object(
    {
      seen: { ...integer, description: 'Last visit in Unix timestamp.' },
      sent: { type: 'number', description: 'The timestamp for when it was sent, in milliseconds.' },
      done_at: { ...integer, description: 'Unix time in milliseconds' },
      epochs: { ...integer, description: 'The number of epochs to train for.' },
      grace: { ...integer, description: 'Grace period (in seconds) for the timestamp.' },
    },
    ['seen', 'sent', 'done_at', 'epochs', 'grace'],
  );
  await standIn({ '/report': { get: answers(report) } }, {}, async (ask) => {
    const { seen, sent, done_at: done, epochs, grace } = (await ask('GET', '/report')).json;
    const isOf = (value: number, least: number, most: number) => assert.ok(value >= least && value < most, String(value));
    isOf(seen, 1e9, 1e10);
    isOf(sent, 1e12, 1e13);
    isOf(done, 1e12, 1e13);
    isOf(epochs, 0, 1e5);
    isOf(grace, 0, 1e5);
  });
});

test('an error that may be null is the one that says why, in whichever of its words', async () => {
  const kind = { type: 'string', enum: ['ITEM_ERROR', 'INVALID_REQUEST', 'API_ERROR'] };
  const error = {
    ...object({ error_code: string, error_message: string, error_type: ref('Kind'), message: { type: ['string', 'null'] } }, [
      'error_code',
      'error_message',
      'error_type',
    ]),
    type: ['object', 'null'],
  };
  const read = { ...within('boatId'), get: answers(ref('Boat')) };
  const make = { ...sends(object({ name: string }, ['name'])), ...answers(ref('Boat'), {}, '201') };
  const paths = { '/boats': { post: make }, '/boats/{boatId}': read };
  await standIn(paths, { Boat: object({ id: string, name: string }, ['id']), Error: error, Kind: kind }, async (ask) => {
    const { status, json: body } = await ask('POST', '/boats', { name: 7 });
    assert.equal(status, 400);
    assert.match(body.error_message, /name/);
    assert.match(body.message, /name/);
    assert.equal(body.error_type, 'INVALID_REQUEST');
    assert.match((await ask('GET', '/boats/none')).json.error_message, /no such/);
  });
});

test('the code of a refusal is no example that HTTP calls another status', async () => {
  const code = async (example: string): Promise<string> => {
    const failure = object({ code: { ...string, example }, message: string }, ['code', 'message']);
    const make = { ...sends(object({ name: string }, ['name'])), ...answers(object({ id: string }), {}, '201') };
    const responses = { ...(make.responses as Words), 400: { description: 'bad', ...json(failure) } };
    let found = '';
    await standIn({ '/acts': { post: { ...make, responses } } }, {}, async (ask) => {
      found = (await ask('POST', '/acts', { name: 7 })).json.code;
    });
    return found;
  };
  assert.notEqual(await code('unauthorized'), 'unauthorized');
  assert.equal(await code('parameter_invalid'), 'parameter_invalid');
});

test('what was just made has no moment of its end', async () => {
  const moment = { ...string, format: 'date-time' };
  const boat = object(
    { id: string, name: string, archivedAt: moment, last_used_at: { ...moment, type: ['string', 'null'] }, builtAt: moment },
    ['id'],
  );
  await standIn(boats(object({ name: string })), { Boat: boat }, async (ask) => {
    const { json: made } = await ask('POST', '/boats', { name: 'Anna' });
    assert.deepEqual([made.archivedAt, made.last_used_at], [undefined, null]);
    assert.match(made.builtAt, /^\d{4}-/);
  });
});

test('two acts have identifiers of their own, the same one under its key the same', async () => {
  const sent = object({ MessageID: string, at: string }, ['MessageID']);
  await standIn({ '/send': { post: { ...sends(object({ to: string })), ...answers(sent) } } }, {}, async (ask) => {
    const idFor = async (to: string, headers = {}): Promise<string> =>
      (await ask('POST', '/send', { to }, headers)).json.MessageID;
    const keyed = { 'idempotency-key': 'k1' };
    assert.match(await idFor('one'), /^[a-z]{16}$/);
    assert.equal(await idFor('one', keyed), await idFor('one', keyed));
    assert.notEqual(await idFor('one'), await idFor('one'));
    assert.notEqual(await idFor('one'), await idFor('two'));
  });
});

test('after an act a status is spelt as the example of its own answer has it', async () => {
  const boat = object({ id: string, name: string, status: string }, ['id']);
  const acted = (status: string): Words => ({
    [`/boats/{boatId}/${status === 'sunk' ? 'archive' : 'cancel'}`]: {
      ...within('boatId'),
      post: answers(ref('Boat'), { example: { id: 'b1', name: 'Anna', status } }),
    },
  });
  const after = async (status: string, act: string): Promise<unknown> => {
    let found: unknown;
    await standIn(boats(ref('Boat'), acted(status)), { Boat: boat }, async (ask) => {
      const { id } = (await ask('POST', '/boats', { name: 'Anna' })).json;
      found = (await ask('POST', `/boats/${id}/${act}`)).json.status;
    });
    return found;
  };
  assert.equal(await after('cancelled', 'cancel'), 'cancelled');
  assert.equal(await after('canceled', 'cancel'), 'canceled');
  // A word that is not called like the act says nothing of it.
  assert.equal(await after('sunk', 'archive'), 'archived');
});

test('a list that is asked for by POST is cut into pages by its body, at the top or in a map about pages', async () => {
  const boat = object({ id: string, name: string }, ['id']);
  const answer = answers(object({ boats: list(ref('Boat')), cursor: string, has_more: { type: 'boolean' } }, ['boats']));
  const inMap = object({ query: string, pagination: object({ per_page: integer, starting_after: string }) });
  const paths = boats(ref('Boat'), {
    '/boats/search': { post: { ...sends(object({ limit: integer, cursor: string, name: string })), ...answer } },
    '/boats/find': { post: { ...sends(inMap), ...answer } },
  });
  await standIn(paths, { Boat: boat }, async (ask) => {
    for (const name of ['Anna', 'Berta', 'Carla']) await ask('POST', '/boats', { name });
    const names = (page: { boats: { name: string }[] }) => page.boats.map(({ name }) => name);
    const first = (await ask('POST', '/boats/search', { limit: 2 })).json;
    assert.deepEqual([names(first), first.has_more], [['Anna', 'Berta'], true]);
    const second = (await ask('POST', '/boats/search', { limit: 2, cursor: first.cursor })).json;
    assert.deepEqual([names(second), second.has_more, second.cursor], [['Carla'], false, undefined]);
    assert.deepEqual(names((await ask('POST', '/boats/search', { limit: 2, name: 'Carla' })).json), ['Carla']);
    assert.deepEqual(names((await ask('POST', '/boats/find', { pagination: { per_page: 1 } })).json), ['Anna']);
  });
});

test('an act that is sent several answers for each of them, and as many as are asked for', async () => {
  const result = object({ To: string, MessageID: string, ErrorCode: integer }, ['To', 'MessageID', 'ErrorCode']);
  const mail = object({ To: string, Text: string });
  const choice = object({ index: integer, text: string }, ['index', 'text']);
  const paths = {
    '/email/batch': { post: { ...sends(list(mail)), ...answers(list(result)) } },
    '/email/many': {
      post: { ...sends(object({ message: object({ to: list(object({ To: string })) }) })), ...answers(list(result)) },
    },
    '/texts': {
      post: {
        ...sends(object({ n: integer, messages: list(object({ role: string })) })),
        ...answers(object({ choices: list(choice) }, ['choices'])),
      },
    },
  };
  await standIn(paths, {}, async (ask) => {
    const sent = [{ To: 'one@example.com' }, { To: 'two@example.com' }];
    for (const [path, body] of [
      ['/email/batch', sent],
      ['/email/many', { message: { to: sent } }],
    ] as const) {
      const { json: results } = await ask('POST', path, body);
      assert.deepEqual(
        results.map((one: { To: string }) => one.To),
        ['one@example.com', 'two@example.com'],
        path,
      );
      assert.notEqual(results[0].MessageID, results[1].MessageID);
      assert.deepEqual([results[0].ErrorCode, results[1].ErrorCode], [0, 0]);
    }
    const { choices } = (await ask('POST', '/texts', { n: 3, messages: [{ role: 'user' }, { role: 'system' }] })).json;
    assert.deepEqual(
      choices.map((one: { index: number }) => one.index),
      [0, 1, 2],
    );
    assert.equal((await ask('POST', '/texts', { messages: [{ role: 'user' }, { role: 'system' }] })).json.choices.length, 1);
  });
});

test('a value that is taken already, by the words of a stated conflict, is refused with 409; elsewhere it may be had twice', async () => {
  const boat = object({ id: string, name: string, hull: string }, ['id']);
  const twice = async (description: string, field: string): Promise<number> => {
    const conflict = { 409: { description, ...json(object({ message: string }, ['message'])) } };
    const made = answers(ref('Boat'), {}, '201').responses as Words;
    const post = { ...sends(ref('Boat')), responses: { ...made, ...conflict } };
    let status = 0;
    await standIn({ ...boats(ref('Boat')), '/boats': { post } }, { Boat: boat }, async (ask) => {
      assert.equal((await ask('POST', '/boats', { [field]: 'one' })).status, 201);
      assert.equal((await ask('POST', '/boats', { [field]: 'other' })).status, 201);
      ({ status } = await ask('POST', '/boats', { [field]: 'one' }));
    });
    return status;
  };
  assert.equal(await twice('A boat with this name already exists.', 'name'), 409);
  assert.equal(await twice('name conflicts with an existing object', 'name'), 409);
  assert.equal(await twice('A boat in the same port with the same `hull` already exists.', 'hull'), 409);
  assert.equal(await twice('A boat with the same name already exists in this port.', 'name'), 201);
  assert.equal(await twice('Conflict', 'name'), 201);
});

test('a key that is described as the whole of Authorization may have its word before it', async () => {
  const paths = { '/boats': { get: answers(list(string)) } };
  const status = async (strict: boolean, write: (value: string) => string) => {
    const scheme = { type: 'apiKey', in: 'header', name: 'Authorization' };
    const source = { paths, components: { securitySchemes: { bearer: scheme } }, security: [{ bearer: [] }] };
    const service = await serve(take(source), { sample: true, strict, development: true });
    try {
      const [printed] = service.credentials;
      assert.match(printed?.value ?? '', /^Bearer \S+$/);
      const authorization = write((printed?.value ?? '').replace('Bearer ', ''));
      return (await service.fetch(new Request('http://127.0.0.1/boats', { headers: { authorization } }))).status;
    } finally {
      await service.close();
    }
  };
  assert.equal(await status(false, (key) => `Bearer ${key}`), 200);
  assert.equal(await status(false, (key) => `token ${key}`), 200);
  assert.equal(await status(false, (key) => key), 200);
  assert.equal(await status(false, (key) => `Bearer x${key}`), 401);
  // Who signs names the key by which it is done.
  assert.equal(
    await status(false, (key) => `AWS4-HMAC-SHA256 Credential=${key}/20261128/here/boats/aws4_request, Signature=ab`),
    200,
  );
  assert.equal(await status(false, (key) => `Signature algorithm="hs2019", keyId="${key}", signature="ab"`), 200);
  assert.equal(
    await status(false, (key) => `AWS4-HMAC-SHA256 Credential=x${key}/20261128/here/boats/aws4_request, Signature=ab`),
    401,
  );
  assert.equal(
    await status(true, (key) => `AWS4-HMAC-SHA256 Credential=${key}/20261128/here/boats/aws4_request, Signature=ab`),
    401,
  );
});

test('what only a pattern is said of is an ordinary text where that fits it, and is left out where it does not', async () => {
  const boat = object(
    { id: string, name: string, boatArn: { ...string, pattern: '.*' }, hull: { ...string, pattern: '^[A-Z]{3}$' } },
    ['id'],
  );
  const made = object({ name: string });
  await standIn(boats(made), { Boat: boat }, async (ask) => {
    const { json } = await ask('POST', '/boats', { name: 'Ada' });
    assert.match(json.boatArn, /^boatArn \w+$/);
    assert.equal(json.hull, undefined);
  });
});

test('the answer to a deletion tells what was deleted by the name that it has there', async () => {
  const boat = object({ id: string, name: string }, ['id']);
  const paths = boats(ref('Boat'), {
    '/boats/{boatId}': {
      ...within('boatId'),
      get: answers(ref('Boat')),
      delete: answers(object({ boatId: { ...string, example: 'b-1' } })),
    },
  });
  await standIn(paths, { Boat: boat }, async (ask) => {
    const { json: made } = await ask('POST', '/boats', { name: 'Ada' });
    const { json: gone } = await ask('DELETE', `/boats/${made.id}`);
    assert.equal(gone.boatId, made.id);
  });
});
