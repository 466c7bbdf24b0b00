import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { type Received, startReceiver } from './events/receiver.ts';
import { startTrial, type TrialOptions } from './events/trial.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { confirmed } from './values/confirmed.ts';

type Row = Readonly<Record<string, unknown>>;

const ann = 'program/ann';

/** Gives the challenge back, as the whole of the answer; everything else is taken. */
function echo(response: ServerResponse, { json }: Received): void {
  const { challenge } = json as unknown as { challenge?: string };
  response.writeHead(200).end(challenge ?? '');
}

async function open(context: TestContext, text = confirmed, options: TrialOptions = {}) {
  const trial = await startTrial(context, `title: Notes\n${text}`, options);
  const receiver = await startReceiver(context, echo);
  const hook = async (url = receiver.url, more: object = {}) =>
    (await trial.send(ann, 'POST', '/hooks', { url, ...more })).json as unknown as { id: string };
  const note = async () => {
    await trial.send(ann, 'POST', '/notes', { text: 'x' });
    await trial.service.settled();
  };
  const isConfirmed = async (id: string) => ((await trial.send(ann, 'GET', `/hooks/${id}`)).json as unknown as Row).confirmed;
  const types = () => receiver.received.map(({ json }) => json?.type);
  return { trial, receiver, hook, note, isConfirmed, types };
}

test('an address is asked before anything is delivered to it, and told of what comes after', async (context) => {
  const { trial, receiver, hook, note, isConfirmed, types } = await open(context);
  const { id } = await hook();
  assert.equal(await isConfirmed(id), false);
  await trial.service.settled();
  assert.equal(await isConfirmed(id), true);
  const [first] = receiver.received;
  const { json, headers } = first as Received;
  assert.deepEqual(Object.keys(json), ['type', 'challenge']);
  assert.match(String((json as Row).challenge), /^[\w-]{32}$/);
  assert.equal(headers['content-type'], 'application/json');
  assert.match(String(headers['webhook-signature']), /^v1,/);
  await note();
  assert.deepEqual(types(), ['url_verification', 'note.made']);
});

test('the challenge may be given back as a member, and nothing else will do', async (context) => {
  const wrong: readonly ((response: ServerResponse, challenge: string) => void)[] = [
    (response) => response.writeHead(200).end(),
    (response) => response.writeHead(200).end('ok'),
    (response, challenge) => response.writeHead(200).end(`${challenge} `),
    (response, challenge) => response.writeHead(200).end(JSON.stringify({ challenge: challenge.slice(1) })),
    (response, challenge) => response.writeHead(200).end(JSON.stringify({ other: challenge })),
    (response, challenge) => response.writeHead(200).end(`${challenge}${' '.repeat(100_000)}`),
    (response, challenge) => response.writeHead(400).end(challenge),
    (response, challenge) => response.writeHead(302, { location: '/other' }).end(challenge),
  ];
  for (const answer of wrong) {
    const { trial, receiver, hook, note, isConfirmed, types } = await open(context);
    receiver.react((response, { json }) => answer(response, String((json as unknown as Row).challenge)));
    const { id } = await hook();
    await trial.service.settled();
    await note();
    for (let waits = 0; waits < 4; waits++) await trial.advance(6_000);
    assert.equal(await isConfirmed(id), false);
    assert.deepEqual(types(), ['url_verification', 'url_verification', 'url_verification']);
  }
  const { trial, receiver, hook, isConfirmed } = await open(context);
  receiver.react((response, { json }) =>
    response.writeHead(200).end(JSON.stringify({ challenge: (json as unknown as Row).challenge })),
  );
  const { id } = await hook();
  await trial.service.settled();
  assert.equal(await isConfirmed(id), true);
});

test('an address that does not answer is asked again after each wait, with one challenge', async (context) => {
  const { trial, receiver, hook, note, isConfirmed, types } = await open(context);
  receiver.react(500, echo);
  const { id } = await hook();
  await trial.service.settled();
  await note();
  assert.deepEqual([await isConfirmed(id), types()], [false, ['url_verification']]);
  await trial.advance(3_000);
  assert.equal(await isConfirmed(id), true);
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
  // What was told of before is not for it.
  await trial.advance(60_000);
  assert.deepEqual(types(), ['url_verification', 'url_verification']);
});

test('another address is asked anew, and is sent nothing that waits until it has confirmed', async (context) => {
  const { trial, receiver, hook, note, isConfirmed, types } = await open(context);
  const { id } = await hook();
  await trial.service.settled();
  receiver.react(500);
  await note();
  const other = await startReceiver(context, 500);
  const { json } = await trial.send(ann, 'PATCH', `/hooks/${id}`, { url: other.url });
  assert.equal((json as unknown as Row).confirmed, false);
  await trial.advance(3_000);
  assert.deepEqual(
    other.received.map(({ json: told }) => told.type),
    ['url_verification', 'url_verification'],
  );
  other.react(echo);
  await trial.advance(5_000);
  assert.equal(await isConfirmed(id), true);
  assert.deepEqual(types(), ['url_verification', 'note.made']);
  await note();
  assert.deepEqual(other.received.map(({ json: told }) => told.type).slice(2, 3), ['url_verification']);
  assert.ok(other.received.map(({ json: told }) => told.type).includes('note.made'));
});

test('a change that leaves the address asks nothing, and the field is nobody’s to write', async (context) => {
  const { trial, hook, isConfirmed, types } = await open(context);
  const { id } = await hook(undefined, { confirmed: true });
  assert.equal(await isConfirmed(id), false);
  await trial.service.settled();
  await trial.send(ann, 'PATCH', `/hooks/${id}`, { events: ['note.made'], confirmed: false });
  await trial.service.settled();
  assert.deepEqual([await isConfirmed(id), types()], [true, ['url_verification']]);
});

test('who is not enabled is asked once it is', async (context) => {
  const { trial, hook, isConfirmed, types } = await open(context);
  const { id } = await hook(undefined, { enabled: false });
  await trial.service.settled();
  assert.deepEqual(types(), []);
  await trial.send(ann, 'PATCH', `/hooks/${id}`, { enabled: true });
  await trial.service.settled();
  assert.deepEqual([await isConfirmed(id), types()], [true, ['url_verification']]);
});

test('a ping has to be taken', async (context) => {
  const { trial, receiver, hook, isConfirmed, types } = await open(
    context,
    confirmed.replace('confirm: challenge', 'confirm: ping'),
  );
  receiver.react(500, 204);
  const { id } = await hook();
  await trial.service.settled();
  assert.equal(await isConfirmed(id), false);
  await trial.advance(3_000);
  assert.deepEqual([await isConfirmed(id), types()], [true, ['ping', 'ping']]);
});

test('what is asked may be stated: a GET with its parameters, and the answer to it', async (context) => {
  const own =
    'confirm: { method: GET, parameters: { hub.mode: subscribe, hub.challenge: "{challenge}", hub.of: "{id}" }, headers: { X-Asks: "{id}" }, answer: "{challenge}" }';
  const { trial, receiver, hook, isConfirmed } = await open(context, confirmed.replace('confirm: challenge', own));
  receiver.react((response, { path }) =>
    response.writeHead(200).end(new URL(path, receiver.url).searchParams.get('hub.challenge')),
  );
  const { id } = await hook(`${receiver.url}?a=1`);
  await trial.service.settled();
  assert.equal(await isConfirmed(id), true);
  const [{ path = '', headers = {}, body = 'x' } = {}] = receiver.received;
  const asked = new URL(path, receiver.url).searchParams;
  assert.deepEqual([...asked.keys()], ['a', 'hub.mode', 'hub.challenge', 'hub.of']);
  assert.deepEqual([asked.get('hub.of'), headers['x-asks'], body], [id, id, '']);
});

test('what is asked goes on after the service was stopped, and addresses of the operator’s are not asked', async (context) => {
  const given = await startReceiver(context);
  const { trial, receiver, hook, note, isConfirmed, types } = await open(context, confirmed, {
    webhooks: [{ url: given.url, secret: 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=' }],
  });
  receiver.react(500, echo);
  const { id } = await hook();
  await trial.service.settled();
  await trial.restart();
  await trial.advance(3_000);
  assert.deepEqual([await isConfirmed(id), types()], [true, ['url_verification', 'url_verification']]);
  await note();
  assert.deepEqual(
    given.received.map(({ json }) => json.type),
    ['note.made'],
  );
});

test('who was there before addresses were asked, and who is given at the start, is told as before', async (context) => {
  const unasked = confirmed.replace(', confirmed: confirmed }\n      confirm: challenge', ' }');
  const { trial, hook, note, types } = await open(context, unasked);
  await hook();
  await trial.service.settled();
  await trial.restart(`title: Notes\n${confirmed}`);
  await note();
  assert.deepEqual(types(), ['note.made']);
});

test('that an address has confirmed may itself be told of', async (context) => {
  const telling = confirmed.replace(
    '    note.made:',
    '    hook.confirmed: { on: [confirm hook], payload: hook }\n    note.made:',
  );
  const { trial, hook, types } = await open(context, telling);
  await hook();
  await trial.service.settled();
  assert.deepEqual(types(), ['url_verification', 'hook.confirmed']);
});

test('what addresses are asked is read back from OpenAPI as it was stated', () => {
  const document = parseDocument(`title: Notes\n${confirmed}`, 'notes.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
