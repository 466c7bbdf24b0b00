import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { type Tried, tryService } from './serving/tried.ts';
import { codeHost } from './values/code-host.ts';

type Fields = Record<string, string | number>;

async function made(send: Tried['send'], target: string, body: unknown): Promise<Fields> {
  const { status, text, json } = await send('POST', target, { body });
  assert.equal(status, 201, text);
  return json as Fields;
}

/** Two people with a repository of the same name each, and an issue in both. */
async function begun(send: Tried['send']) {
  const [ann, bob] = [await made(send, '/users', { login: 'Ann' }), await made(send, '/users', { login: 'Bob' })];
  const one = await made(send, '/users/Ann/repos', { name: 'docs' });
  const other = await made(send, '/users/Bob/repos', { name: 'docs' });
  for (const title of ['first', 'second']) await made(send, '/repos/Ann/docs/issues', { title });
  await made(send, '/repos/Bob/docs/issues', { title: 'his' });
  return { ann, bob, one, other };
}

test('a row is found by what tells it apart, also through a reference, and what is made below it is its own', async () => {
  const { send, close, failures } = await tryService(codeHost);
  const { ann, bob, one, other } = await begun(send);
  assert.deepEqual([one.owner, other.owner], [ann.id, bob.id]);
  const read = async (target: string) => (await send('GET', target)).json as Fields;
  assert.deepEqual(await read('/repos/Ann/docs'), one);
  // Case is ignored where the field says so.
  assert.deepEqual(await read('/repos/bob/docs'), other);
  const issue = await read('/repos/Ann/docs/issues/2');
  assert.deepEqual([issue.title, issue.number, issue.repository], ['second', 2, one.id]);
  assert.deepEqual((await read('/repos/Bob/docs/issues/1')).title, 'his');
  const listed = (await send('GET', '/repos/Ann/docs/issues')).json as Fields[];
  assert.deepEqual(
    listed.map(({ title }) => title),
    ['first', 'second'],
  );
  assert.deepEqual(
    ((await send('GET', '/users/Ann/repos')).json as Fields[]).map(({ id }) => id),
    [one.id],
  );
  assert.deepEqual(failures, []);
  await close();
});

test('what the path names has to be there, at every place of it', async () => {
  const { send, close } = await tryService(codeHost);
  await begun(send);
  const { id } = await made(send, '/repos/Ann/docs/issues/1/comments', { text: 'so' });
  for (const [method, target] of [
    ['GET', '/repos/Ann/none'],
    ['GET', '/repos/none/docs'],
    ['GET', '/repos/Ann/docs/issues/3'],
    ['GET', '/repos/Bob/docs/issues/2'],
    // Written otherwise, a number names nothing.
    ['GET', '/repos/Ann/docs/issues/01'],
    ['GET', '/repos/Ann/docs/issues/1.0'],
    ['GET', '/repos/Ann/docs/issues/x'],
    ['GET', '/repos/Ann/none/issues'],
    ['POST', '/repos/Ann/none/issues'],
    ['POST', '/repos/Ann/docs/issues/9/close'],
    ['PATCH', '/repos/Ann/docs/issues/9'],
    // What is there, and not there.
    ['GET', `/repos/Ann/docs/issues/2/comments/${id}`],
    ['GET', `/repos/Bob/docs/issues/1/comments/${id}`],
  ] as const) {
    const body = method === 'GET' ? {} : { body: { title: 'x' } };
    assert.equal((await send(method, target, body)).status, 404, `${method} ${target}`);
  }
  assert.equal((await send('GET', `/repos/Ann/docs/issues/1/comments/${id}`)).status, 200);
  await close();
});

test('a row that is found so is changed, moved, replaced and deleted, and one that moved is found at its new place', async () => {
  const { send, close } = await tryService(codeHost);
  await begun(send);
  assert.equal((await send('PATCH', '/repos/Ann/docs/issues/1', { body: { title: 'new' } })).status, 200);
  assert.equal((await send('POST', '/repos/Ann/docs/issues/1/close')).status, 200);
  assert.equal((await send('POST', '/repos/Ann/docs/issues/1/close')).status, 409);
  assert.deepEqual(
    ((await send('GET', '/repos/Ann/docs/issues?state=closed')).json as Fields[]).map(({ title }) => title),
    ['new'],
  );
  const comment = await made(send, '/repos/Ann/docs/issues/1/comments', { text: 'so' });
  const put = await send('PUT', `/repos/Ann/docs/issues/1/comments/${comment.id}`, { body: { text: 'not so' } });
  assert.deepEqual(put.json, { ...comment, text: 'not so' });
  // A body that names another parent than the path does is refused.
  const { status, json } = await send('POST', '/repos/Ann/docs/issues', { body: { title: 'x', repository: 7 } });
  assert.deepEqual(
    [status, (json as { violations: { path: string }[] }).violations.map(({ path }) => path)],
    [422, ['/repository']],
  );
  assert.equal((await send('PATCH', '/repos/Ann/docs', { body: { name: 'pages' } })).status, 200);
  assert.equal((await send('GET', '/repos/Ann/docs/issues/1')).status, 404);
  assert.equal((await send('GET', '/repos/Ann/pages/issues/1')).status, 200);
  assert.equal((await send('DELETE', '/repos/Ann/pages')).status, 204);
  assert.equal((await send('GET', '/repos/Ann/pages/issues/1')).status, 404);
  await close();
});

test('a new row is told by its address, which follows its references', async () => {
  const { send, close } = await tryService(codeHost);
  await begun(send);
  const at = async (target: string, body: unknown) => (await send('POST', target, { body })).headers.location;
  assert.equal(await at('/users/Ann/repos', { name: 'two' }), '/repos/Ann/two');
  assert.equal(await at('/repos/ann/two/issues', { title: 'x' }), '/repos/Ann/two/issues/1');
  assert.equal(await at('/repos/ann/two/labels', { name: 'a b' }), '/repos/Ann/two/labels/a%20b');
  const address = await at('/repos/Ann/two/issues/1/comments', { text: 'so' });
  assert.equal((await send('GET', String(address))).status, 200);
  await close();
});

test('what a prefix names has to be readable to whoever goes below it', async () => {
  const guarded = codeHost
    .replace(
      'about: { type: string',
      'open: { type: boolean, default: false }, about: { type: string'.replace(', about', '\n      about'),
    )
    .replace(
      'authentication: none',
      `authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  permissions:
    - { allow: [all account, create repository, create issue, list issue, read issue, create comment, list comment], to: anyone }
    - { allow: [read repository], to: anyone, if: "has(resource.open) && resource.open && params.owner != 'Bob' && params.repo != ''" }`,
    );
  const { send, close } = await tryService(guarded);
  await made(send, '/users', { login: 'Ann' });
  await made(send, '/users', { login: 'Bob' });
  for (const [who, name, open] of [
    ['Ann', 'shown', true],
    ['Ann', 'hidden', false],
    ['Bob', 'shown', true],
  ])
    await made(send, `/users/${who}/repos`, { name, open });
  assert.equal((await send('POST', '/repos/Ann/shown/issues', { body: { title: 'x' } })).status, 201);
  for (const below of ['Ann/hidden', 'Bob/shown']) {
    assert.equal((await send('POST', `/repos/${below}/issues`, { body: { title: 'x' } })).status, 404);
    assert.equal((await send('GET', `/repos/${below}/issues`)).status, 404);
    assert.equal((await send('GET', `/repos/${below}`)).status, 404);
  }
  assert.equal((await send('GET', '/repos/Ann/shown/issues/1')).status, 200);
  await close();
});

test('a path keeps its words in every version, and what it names is shown in the words of each', async () => {
  const { send, close } = await tryService(`${codeHost}
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Version, default: current }
  changes: { "2": [{ rename: issue.no, to: number }, { rename: label.owner, to: name }] }
`);
  await begun(send);
  await made(send, '/repos/Ann/docs/labels', { name: 'bug' });
  const old = async (target: string) => (await send('GET', target, { headers: { version: '1' } })).json as Fields;
  assert.equal((await old('/repos/Ann/docs/issues/2')).no, 2);
  // A parameter of a prefix is no field of what stands below it, whatever that is called in an older version.
  assert.equal((await old('/repos/Ann/docs/labels/bug')).owner, 'bug');
  await close();
});

test('an answer that is about no row asks for the rows of its path all the same', async () => {
  const { send, close } = await tryService(
    codeHost.replace(
      'authentication: none',
      `  GET /repos/{owner}/{repo}/about: { does: reply, as: about, response: { 200: { shape: { type: object }, example: { so: true } } } }
authentication: none`,
    ),
  );
  await begun(send);
  assert.equal((await send('GET', '/repos/Ann/docs/about')).status, 200);
  assert.equal((await send('GET', '/repos/Ann/none/about')).status, 404);
  await close();
});

test('keys of paths are read back from OpenAPI as they were stated', () => {
  const document = parseDocument(`title: Host\n${codeHost}`, 'host.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
