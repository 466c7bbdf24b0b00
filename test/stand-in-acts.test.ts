import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describedWords } from '../src/parts/samples/described-words.ts';
import { answers, integer, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What acts, methods and forms come to on a stand-in, where a description says little of them. */

test('an act sets the time that is called like it, and a status of which no words are listed', async () => {
  const time = { ...string, format: 'date-time', nullable: true };
  const draft = object({ id: { ...string, readOnly: true }, title: string, status: string, archived_at: time, closed_at: time });
  const act = { post: answers(ref('Draft')) };
  const paths = {
    '/drafts': { post: { ...sends(object({ title: string })), ...answers(ref('Draft'), {}, '201') } },
    '/drafts/{draftId}': { ...within('draftId'), get: answers(ref('Draft')) },
    '/drafts/{draftId}/archive': { ...within('draftId'), ...act },
    '/drafts/{draftId}/nudge': { ...within('draftId'), ...act },
  };
  await standIn(paths, { Draft: draft }, async (ask) => {
    const { json: made } = await ask('POST', '/drafts', { title: 'One' });
    const { json: nudged } = await ask('POST', `/drafts/${made.id}/nudge`);
    assert.deepEqual([nudged.status, nudged.archived_at], [made.status, made.archived_at]);
    const before = Date.now() - 1;
    const { json: done } = await ask('POST', `/drafts/${made.id}/archive`);
    assert.equal(done.status, 'archived');
    assert.ok(Date.parse(done.archived_at) >= before);
    assert.equal(done.closed_at, made.closed_at);
    assert.deepEqual((await ask('GET', `/drafts/${made.id}`)).json, done);
  });
});

test('methods by POST alone are told by an identifier of their own, and list what they made in another shape', async () => {
  const wallet = { wallet_id: string, currency: string, status: string };
  const answer = (more = {}) => answers(object({ ...wallet, ...more, request_id: string }, ['wallet_id']));
  const schemas = { WalletGet: object({ ...wallet, request_id: string }, ['wallet_id']), Wallet: object(wallet, ['wallet_id']) };
  const named = sends(object({ wallet_id: string }, ['wallet_id']));
  const paths = {
    '/wallet/create': { post: { ...sends(object({ currency: string })), ...answer() } },
    '/wallet/get': { post: { ...named, ...answers(ref('WalletGet')) } },
    '/wallet/list': { post: { ...sends(object({ currency: string })), ...answers(object({ wallets: list(ref('Wallet')) })) } },
  };
  await standIn(paths, schemas, async (ask) => {
    const { json: one } = await ask('POST', '/wallet/create', { currency: 'GBP' });
    const { json: other } = await ask('POST', '/wallet/create', { currency: 'EUR' });
    assert.notEqual(one.wallet_id, other.wallet_id);
    assert.equal((await ask('POST', '/wallet/get', { wallet_id: other.wallet_id })).json.currency, 'EUR');
    const ids = (await ask('POST', '/wallet/list', { currency: 'EUR' })).json.wallets;
    assert.deepEqual(
      ids.map(({ wallet_id }: { wallet_id: string }) => wallet_id),
      [other.wallet_id],
    );
    assert.equal((await ask('POST', '/wallet/get', { wallet_id: 'none' })).status, 404);
  });
});

test('an answer of which nothing is known has no second page', async () => {
  const page = object({ lines: list(string), next: string });
  const example = { lines: ['a'], next: '/report?cursor=b' };
  const query = { parameters: [{ name: 'cursor', in: 'query', schema: string }] };
  await standIn({ '/report': { get: { ...query, ...answers(page, { example }) } } }, {}, async (ask) => {
    assert.deepEqual((await ask('GET', '/report')).json, example);
    assert.deepEqual((await ask('GET', '/report?cursor=b')).json, { lines: [] });
  });
});

test('a required identifier that is not sent is made up, where one shape is sent and answered; the strict refuse it', async () => {
  const pet = object({ id: string, name: string }, ['id', 'name']);
  const paths = {
    '/pets': { post: { ...sends(ref('Pet')), ...answers(ref('Pet'), {}, '201') } },
    '/pets/{petId}': { ...within('petId'), get: answers(ref('Pet')) },
  };
  await standIn(paths, { Pet: pet }, async (ask) => {
    const { status, json: made, headers } = await ask('POST', '/pets', { name: 'Rex' });
    assert.equal(status, 201);
    assert.match(headers.get('ninefold-warning') ?? '', /body id is required and was not sent/);
    assert.deepEqual((await ask('GET', `/pets/${made.id}`)).json, made);
    assert.equal((await ask('POST', '/pets', { id: 'mine', name: 'Tom' })).json.id, 'mine');
    assert.equal((await ask('POST', '/pets', { id: 'other' })).status, 400);
  });
  const strictly = async (ask: Parameters<Parameters<typeof standIn>[2]>[0]) =>
    assert.equal((await ask('POST', '/pets', { name: 'Rex' })).status, 400);
  await standIn(paths, { Pet: pet }, strictly, {}, true);
});

test('a status has the words that its description lists, at the start and after an act; what is called otherwise has none of them', async () => {
  const description = 'Whether the payment is `APPROVED`, `COMPLETED` or `CANCELED`.';
  const payment = object({ id: string, amount: integer, status: { ...string, description }, note: { ...string, description } }, [
    'id',
    'status',
    'note',
  ]);
  const paths = {
    '/payments': { post: { ...sends(object({ amount: integer })), ...answers(ref('Payment'), {}, '201') } },
    '/payments/{paymentId}': { ...within('paymentId'), get: answers(ref('Payment')) },
    '/payments/{paymentId}/cancel': { ...within('paymentId'), post: answers(ref('Payment')) },
  };
  await standIn(paths, { Payment: payment }, async (ask) => {
    const { json: made } = await ask('POST', '/payments', { amount: 5 });
    assert.equal(made.status, 'APPROVED');
    assert.notEqual(made.note, 'APPROVED');
    await ask('POST', `/payments/${made.id}/cancel`);
    assert.equal((await ask('GET', `/payments/${made.id}`)).json.status, 'CANCELED');
  });
});

test('words are read off descriptions that list several, in capitals or as code, and off no abbreviations', () => {
  const of = (description: string, name = 'status') => describedWords(name, description);
  assert.deepEqual(of('One of OPEN, ON_HOLD and CLOSED.'), ['OPEN', 'ON_HOLD', 'CLOSED']);
  assert.deepEqual(of("Is 'idle', 'active' or 'disabled'.", 'streamStatus'), ['idle', 'active', 'disabled']);
  assert.deepEqual(of('As JSON over HTTP, in UTC.'), []);
  assert.deepEqual(of('It is `open` until somebody closes it.'), []);
  assert.deepEqual(of('One of OPEN and CLOSED.', 'summary'), []);
});

test('a list of changes (RFC 6902) is carried out, bare or in a member, and refused where it speaks of what is not there', async () => {
  const flag = object({
    key: string,
    name: string,
    tags: list(string),
    on: { type: 'boolean' },
    inner: object({ a: integer, b: integer }),
  });
  const change = object({ op: string, path: string, value: {} }, ['op', 'path']);
  const paths = {
    '/flags': {
      post: {
        ...sends(object({ key: string, name: string, inner: object({ a: integer, b: integer }) })),
        ...answers(ref('Flag'), {}, '201'),
      },
    },
    '/flags/{key}': { ...within('key'), get: answers(ref('Flag')), patch: { ...sends(list(change)), ...answers(ref('Flag')) } },
    '/toggles': { post: { ...sends(object({ key: string, name: string })), ...answers(ref('Toggle'), {}, '201') } },
    '/toggles/{key}': {
      ...within('key'),
      get: answers(ref('Toggle')),
      patch: { ...sends(object({ comment: string, patch: list(change) })), ...answers(ref('Toggle')) },
    },
  };
  const toggle = object({ key: string, name: string });
  await standIn(paths, { Flag: flag, Toggle: toggle }, async (ask) => {
    await ask('POST', '/flags', { key: 'new', name: 'New', inner: { a: 1, b: 2 } });
    const changes = [
      { op: 'test', path: '/name', value: 'New' },
      { op: 'replace', path: '/name', value: 'Renamed' },
      { op: 'add', path: '/tags/0', value: 'first' },
      { op: 'add', path: '/tags/-', value: 'last' },
      { op: 'remove', path: '/inner/b' },
      { op: 'copy', from: '/tags/0', path: '/tags/1' },
      { op: 'move', from: '/inner/a', path: '/inner/b' },
    ];
    const { status, json } = await ask('PATCH', '/flags/new', changes);
    assert.equal(status, 200);
    assert.partialDeepStrictEqual(json, { name: 'Renamed', tags: ['first', 'first', 'last'], inner: { b: 1 } });
    assert.equal(json.inner.a, undefined);
    assert.deepEqual((await ask('GET', '/flags/new')).json, json);
    const wrong = await ask('PATCH', '/flags/new', [
      { op: 'remove', path: '/nothing' },
      { op: 'remove', path: '/name' },
    ]);
    assert.equal(wrong.status, 400);
    assert.equal((await ask('PATCH', '/flags/new', [{ op: 'test', path: '/name', value: 'New' }])).status, 400);
    assert.deepEqual((await ask('GET', '/flags/new')).json, json);
    assert.equal((await ask('PATCH', '/flags/none', changes)).status, 404);
    const chosen = await ask('PATCH', '/flags/new', [{ op: 'replace', path: "/tags/@x=='y'", value: 'no such item' }]);
    assert.equal(chosen.status, 400);
    await ask('POST', '/toggles', { key: 'old', name: 'Old' });
    const patch = [{ op: 'replace', path: '/name', value: 'Other' }];
    assert.equal((await ask('PATCH', '/toggles/old', { comment: 'why', patch })).json.name, 'Other');
    assert.equal((await ask('GET', '/toggles/old')).json.name, 'Other');
  });
});

test('many things are made and changed at once where a body lists them as its answer does; what a thing holds is no such list', async () => {
  const contact = object({ ContactID: string, Name: string, Mail: string });
  const many = object({ Contacts: list(ref('Contact')) });
  const album = object({ id: string, name: string, songs: list(ref('Song')) });
  const paths = {
    '/Contacts': { get: answers(many), post: { ...sends(many), ...answers(many) } },
    '/Contacts/{ContactID}': { ...within('ContactID'), get: answers(many), post: { ...sends(many), ...answers(many) } },
    '/songs/{id}': { ...within('id'), get: answers(ref('Song')) },
    '/albums': { post: { ...sends(object({ name: string, songs: list(ref('Song')) })), ...answers(album) } },
    '/albums/{id}': { ...within('id'), get: answers(album) },
  };
  await standIn(paths, { Contact: contact, Song: object({ id: string, name: string }) }, async (ask) => {
    const { json } = await ask('POST', '/Contacts', { Contacts: [{ Name: 'One' }, { Name: 'Two' }] });
    const [one, two] = json.Contacts;
    assert.deepEqual([one.Name, two.Name], ['One', 'Two']);
    assert.notEqual(one.ContactID, two.ContactID);
    assert.deepEqual((await ask('GET', `/Contacts/${two.ContactID}`)).json.Contacts, [two]);
    await ask('POST', `/Contacts/${one.ContactID}`, { Contacts: [{ Mail: 'a@example.com' }] });
    await ask('POST', '/Contacts', { Contacts: [{ ContactID: two.ContactID, Name: 'Three' }] });
    const { Contacts: listed } = (await ask('GET', '/Contacts')).json;
    assert.deepEqual(
      listed.map(({ Name, Mail }: { Name: string; Mail: string }) => [Name, Mail ?? '']),
      [
        ['One', 'a@example.com'],
        ['Three', ''],
      ],
    );
    const { json: made } = await ask('POST', '/albums', { name: 'Album', songs: [{ id: 's', name: 'Song' }] });
    assert.equal((await ask('GET', `/albums/${made.id}`)).json.name, 'Album');
  });
});

test('a whole thing that is put among others is a new one where nothing else makes them, and is told by its _id', async () => {
  const account = object({ _id: string, code: string });
  const paths = {
    '/accounts': {
      get: answers(object({ items: list(ref('Account')) })),
      put: { ...sends(ref('Account')), ...answers(ref('Account')) },
    },
    '/accounts/{accountId}': {
      ...within('accountId'),
      get: answers(ref('Account')),
      delete: { responses: { 204: { description: 'ok' } } },
    },
    '/pets': { post: { ...sends(ref('Pet')), ...answers(ref('Pet')) }, put: { ...sends(ref('Pet')), ...answers(ref('Pet')) } },
    '/pets/{id}': { ...within('id'), get: answers(ref('Pet')) },
  };
  await standIn(paths, { Account: account, Pet: object({ id: string, name: string }) }, async (ask) => {
    const { json: one } = await ask('PUT', '/accounts', { code: '200' });
    const { json: other } = await ask('PUT', '/accounts', { code: '300' });
    assert.notEqual(one._id, other._id);
    assert.deepEqual((await ask('GET', `/accounts/${one._id}`)).json, one);
    assert.equal((await ask('DELETE', `/accounts/${one._id}`)).status, 204);
    assert.equal((await ask('GET', `/accounts/${one._id}`)).status, 404);
    const { json: pet } = await ask('POST', '/pets', { name: 'Rex' });
    assert.equal((await ask('PUT', '/pets', { id: pet.id, name: 'Tom' })).json.id, pet.id);
    assert.equal((await ask('GET', `/pets/${pet.id}`)).json.name, 'Tom');
  });
});

test('a key of idempotency in the body, or in a header that is said to be one, makes one thing of a request that comes twice', async () => {
  const order = object({ id: { ...string, readOnly: true }, name: string }, ['id']);
  const key = { name: 'Acme-Request-Id', in: 'header', schema: string, description: 'Makes the request idempotent.' };
  const trace = { name: 'X-Request-Id', in: 'header', schema: string, description: 'Shown in logs.' };
  const sent = sends(object({ name: string, idempotency_key: string }));
  const paths = {
    '/orders': { post: { ...sent, ...answers(ref('Order'), {}, '201'), parameters: [key] } },
    '/orders/{id}': { ...within('id'), get: answers(ref('Order')) },
    '/drafts': { post: { ...sends(object({ name: string })), ...answers(ref('Draft'), {}, '201'), parameters: [trace] } },
    '/drafts/{id}': { ...within('id'), get: answers(ref('Draft')) },
  };
  await standIn(paths, { Order: order, Draft: order }, async (ask) => {
    const post = async (body: unknown, headers = {}, path = '/orders') => (await ask('POST', path, body, headers)).json.id;
    const id = await post({ name: 'One', idempotency_key: 'k' });
    assert.equal(await post({ name: 'One', idempotency_key: 'k' }), id);
    assert.notEqual(await post({ name: 'One', idempotency_key: 'other' }), id);
    assert.notEqual(await post({ name: 'One' }), id);
    const byHeader = await post({ name: 'Two' }, { 'Acme-Request-Id': 'h' });
    assert.equal(await post({ name: 'Two' }, { 'Acme-Request-Id': 'h' }), byHeader);
    const draft = await post({ name: 'Two' }, { 'X-Request-Id': 'h' }, '/drafts');
    assert.notEqual(await post({ name: 'Two' }, { 'X-Request-Id': 'h' }, '/drafts'), draft);
  });
});

test('an act that takes and answers nothing leads to the word of a status that is called like it, also behind a word that gathers acts', async () => {
  const states = (...words: string[]) => ({ ...string, enum: words });
  const user = object({ id: { ...string, readOnly: true }, name: string, status: states('ACTIVE', 'STAGED', 'SUSPENDED') }, [
    'id',
  ]);
  const stream = object({ id: { ...string, readOnly: true }, state: states('idle', 'disabled') }, ['id']);
  const origin = object({ id: { ...string, readOnly: true }, status: string }, ['id']);
  const silent = (method: string) => ({ [method]: { responses: { 200: { description: 'ok' } } } });
  const kept = (name: string, schema: string) => ({
    [`/${name}`]: { post: { ...sends(ref(schema)), ...answers(ref(schema)) } },
    [`/${name}/{id}`]: { ...within('id'), get: answers(ref(schema)) },
  });
  const paths = {
    ...kept('users', 'User'),
    '/users/{id}/lifecycle/suspend': { ...within('id'), ...silent('post') },
    '/users/{id}/lifecycle/unsuspend': { ...within('id'), ...silent('post') },
    '/users/{id}/lifecycle/nudge': { ...within('id'), ...silent('post') },
    ...kept('streams', 'Stream'),
    '/streams/{id}/disable': { ...within('id'), put: answers(object({ data: { type: 'object' } })) },
    ...kept('origins', 'Origin'),
    '/origins/{id}/deactivate': { ...within('id'), post: answers(ref('Origin')) },
  };
  const capitals = Object.fromEntries(
    ['A', 'B', 'C', 'D'].map((one) => [one, object({ kind: states(`${one}_ONE`, `${one}_TWO`) })]),
  );
  await standIn(paths, { User: user, Stream: stream, Origin: origin, ...capitals }, async (ask) => {
    const statusAfter = async (name: string, id: string, act: string, method = 'POST') => {
      await ask(method, `/${name}/${id}/${act}`);
      const { json } = await ask('GET', `/${name}/${id}`);
      return json.status ?? json.state;
    };
    const { json: ada } = await ask('POST', '/users', { name: 'Ada' });
    assert.equal(await statusAfter('users', ada.id, 'lifecycle/suspend'), 'SUSPENDED');
    assert.equal(await statusAfter('users', ada.id, 'lifecycle/nudge'), 'SUSPENDED');
    assert.equal(await statusAfter('users', ada.id, 'lifecycle/unsuspend'), 'ACTIVE');
    const { json: one } = await ask('POST', '/streams', {});
    assert.equal(await statusAfter('streams', one.id, 'disable', 'PUT'), 'disabled');
    const { json: origin } = await ask('POST', '/origins', {});
    assert.equal(await statusAfter('origins', origin.id, 'deactivate'), 'INACTIVE');
  });
});

test('what is made below a thing stands in the list that the thing has of such things, as it is now, until it is deleted', async () => {
  const id = { ...string, readOnly: true };
  const asset = object({ id, name: string, tracks: list(ref('Track')), notes: list(string) }, ['id']);
  const track = object({ id, language: string }, ['id']);
  const sent = sends(object({ language: string }));
  const none = { responses: { 204: { description: 'ok' } } };
  const paths = {
    '/assets': { post: { ...sends(object({ name: string })), ...answers(ref('Asset'), {}, '201') } },
    '/assets/{asset_id}': { ...within('asset_id'), get: answers(ref('Asset')) },
    '/assets/{asset_id}/tracks': { ...within('asset_id'), post: { ...sent, ...answers(ref('Track'), {}, '201') } },
    '/assets/{asset_id}/tracks/{track_id}': {
      ...within('asset_id', 'track_id'),
      get: answers(ref('Track')),
      patch: { ...sent, ...answers(ref('Track')) },
      delete: none,
    },
  };
  await standIn(paths, { Asset: asset, Track: track }, async (ask) => {
    const { json: one } = await ask('POST', '/assets', { name: 'One' });
    const { json: other } = await ask('POST', '/assets', { name: 'Other' });
    const tracksOf = async (asset: string) =>
      ((await ask('GET', `/assets/${asset}`)).json.tracks ?? []).map(({ language }: { language: string }) => language);
    const { json: first } = await ask('POST', `/assets/${one.id}/tracks`, { language: 'en' });
    await ask('POST', `/assets/${one.id}/tracks`, { language: 'de' });
    assert.deepEqual(await tracksOf(one.id), ['en', 'de']);
    assert.equal((await tracksOf(other.id)).includes('en'), false);
    await ask('PATCH', `/assets/${one.id}/tracks/${first.id}`, { language: 'fr' });
    assert.deepEqual(await tracksOf(one.id), ['fr', 'de']);
    assert.equal((await ask('DELETE', `/assets/${one.id}/tracks/${first.id}`)).status, 204);
    assert.deepEqual(await tracksOf(one.id), ['de']);
    assert.equal((await ask('GET', `/assets/${one.id}`)).json.tracks[0].asset_id, undefined);
  });
});
