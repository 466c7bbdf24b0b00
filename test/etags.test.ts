import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../src/index.ts';

test('each endpoint says its tag as it states it, and a strong one beside a weak one lets its caller change the row', async () => {
  const service = await serve({
    title: 'Notes',
    resources: {
      note: {
        identifier: { field: 'id', generate: 'client' },
        fields: { id: 'string', text: 'string' },
        required: ['id', 'text'],
      },
    },
    endpoints: {
      'POST /notes': { does: 'create note', etag: 'strong' },
      'GET /notes/{id}': { does: 'read note', etag: 'strong' },
      'GET /notes/{id}/short': { does: 'read note', as: 'glance at note', etag: 'weak' },
      'PATCH /notes/{id}': { does: 'update note', if_match: 'required', etag: 'strong' },
    },
    authentication: 'none',
  });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    );
  const made = (await send('POST', '/notes', { id: 'n1', text: 'a' })).headers.get('etag') ?? '';
  const strong = (await send('GET', '/notes/n1')).headers.get('etag') ?? '';
  const weak = (await send('GET', '/notes/n1/short')).headers.get('etag') ?? '';
  assert.match(strong, /^"/);
  assert.deepEqual([made, weak], [strong, `W/${strong}`]);
  assert.equal((await send('PATCH', '/notes/n1', { text: 'b' }, { 'if-match': weak })).status, 412);
  assert.equal((await send('PATCH', '/notes/n1', { text: 'b' }, { 'if-match': strong })).status, 200);
  assert.equal((await send('PATCH', '/notes/n1', { text: 'c' }, { 'if-match': strong })).status, 412);
  await service.close();
});

/** Members that everybody reads; staff sees more of them, and only staff changes them. */
const club = {
  title: 'Club',
  purpose: { purpose: 'Keeps members.', users: { staff: 'Runs it.', guest: 'Looks.' } },
  resources: {
    member: {
      identifier: { field: 'id', generate: 'client' },
      fields: {
        id: 'string',
        name: 'string',
        note: { type: 'string', visible: ['staff'] },
        pin: { type: 'string', writeOnly: true },
        friend: { ref: 'member', show: 'expand' },
      },
      required: ['id', 'name'],
    },
  },
  endpoints: {
    'POST /members': { does: 'create member', etag: 'strong' },
    'GET /members/{id}': { does: 'read member', etag: 'strong' },
    'GET /members/{id}/staff': { does: 'read member', as: 'inspect member', etag: 'strong' },
    'PATCH /members/{id}': { does: 'update member', if_match: 'accepted', etag: 'strong' },
  },
  authentication: {
    schemes: { key: { type: 'api_key', header: 'X-Key', placeholder: '{key}' } },
    public: ['read member'],
    permissions: [{ allow: ['create member', 'update member', 'inspect member'], to: ['staff', 'guest'] }],
  },
};

async function startClub() {
  const service = await serve(club, {
    identify: ({ headers }) => (headers['x-who'] ? { user: String(headers['x-who']), id: 'one', scopes: [] } : undefined),
  });
  const send = async (who: string, method: string, path: string, body?: unknown, match?: string) => {
    const answer = await service.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: {
          'content-type': 'application/json',
          ...(who !== '' && { 'x-who': who }),
          ...(match !== undefined && { 'if-match': match }),
        },
      }),
    );
    return { status: answer.status, tag: answer.headers.get('etag') ?? '', text: await answer.text() };
  };
  return { service, send };
}

test('a tag that is read without a credential is good for a change with one, until what it showed has changed', async () => {
  const { service, send } = await startClub();
  await send('staff', 'POST', '/members', { id: 'm1', name: 'Ada' });
  const { tag } = await send('', 'GET', '/members/m1');
  assert.equal((await send('staff', 'PATCH', '/members/m1', { name: 'Ada L.' }, tag)).status, 200);
  assert.equal((await send('staff', 'PATCH', '/members/m1', { name: 'Ada K.' }, tag)).status, 412);
  await service.close();
});

test('a change of what is not seen changes no tag of who does not see it, and every tag of who does', async () => {
  const { service, send } = await startClub();
  await send('staff', 'POST', '/members', { id: 'm1', name: 'Ada' });
  const tags = async () => [
    (await send('', 'GET', '/members/m1')).tag,
    (await send('guest', 'GET', '/members/m1/staff')).tag,
    (await send('staff', 'GET', '/members/m1/staff')).tag,
  ];
  const before = await tags();
  await send('staff', 'PATCH', '/members/m1', { note: 'pays late' });
  const noted = await tags();
  assert.deepEqual(noted.slice(0, 2), before.slice(0, 2));
  assert.notEqual(noted[2], before[2]);
  await send('staff', 'PATCH', '/members/m1', { pin: '4711' });
  assert.deepEqual(await tags(), noted);
  await service.close();
});

test('a tag says nothing of other rows, and one of a row that is shown with others is good for its change', async () => {
  const { service, send } = await startClub();
  const tagOf = async (id: string) => (await send('staff', 'POST', '/members', { id, name: id })).tag;
  const first = await tagOf('a');
  for (let at = 0; at < 5; at++) await tagOf(`x${at}`);
  const other = await startClub();
  assert.equal(
    (await other.send('staff', 'POST', '/members', { id: 'a', name: 'a' })).tag,
    first,
    'how many there are is not in it',
  );
  await send('staff', 'PATCH', '/members/a', { friend: 'x1' });
  const { tag } = await send('', 'GET', '/members/a');
  await send('staff', 'PATCH', '/members/x1', { name: 'renamed' });
  const again = await send('', 'GET', '/members/a');
  assert.notEqual(again.tag, tag, 'what is shown is another');
  assert.match(again.text, /renamed/);
  assert.equal((await send('staff', 'PATCH', '/members/a', { name: 'b' }, tag)).status, 200, 'the row itself is the same');
  await service.close();
  await other.service.close();
});

test('who may change a row and not read it cannot guess by `If-Match` what stands in it', async () => {
  const { contentTag } = await import('../src/serve/http/conditions.ts');
  const closed = {
    ...club,
    authentication: {
      ...club.authentication,
      public: [],
      permissions: [
        { allow: ['create member', 'update member'], to: ['staff', 'guest'] },
        { allow: ['read member', 'inspect member'], to: 'staff' },
      ],
    },
  };
  const service = await serve(closed, {
    identify: ({ headers }) => ({ user: String(headers['x-who']), id: 'one', scopes: [] }),
  });
  const send = (who: string, method: string, body: unknown, match: string) =>
    service.fetch(
      new Request(`http://127.0.0.1/members${method === 'POST' ? '' : '/m1'}`, {
        method,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', 'x-who': who, 'if-match': match },
      }),
    );
  await send('staff', 'POST', { id: 'm1', name: 'Ada' }, '*');
  const guessed = contentTag('{"id":"m1","name":"Ada"}');
  assert.equal((await send('staff', 'PATCH', {}, guessed)).status, 200, 'whoever reads it may say so');
  for (const match of [guessed, contentTag('{}'), '" "', '""'])
    assert.equal((await send('guest', 'PATCH', {}, match)).status, 412, match);
  assert.equal((await send('guest', 'PATCH', {}, '*')).status, 204);
  await service.close();
});
