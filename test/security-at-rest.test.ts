import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startReceiver } from './events/receiver.ts';
import { startTrial, things } from './events/trial.ts';
import { command } from './verify/command.ts';

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'ninefold-at-rest-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The bytes of every file of a store: the file itself, its log, and whatever else lies beside it. */
function bytesOf(path: string): Buffer {
  return Buffer.concat(readdirSync(path).map((name) => readFileSync(join(path, name))));
}

const events = (trial: Awaited<ReturnType<typeof startTrial>>) => trial.outbox((outbox) => outbox.events(0, 100));

test('what nobody may ever see is in no event, and what rules do not read is in no image', async (context) => {
  const trial = await startTrial(context, things());
  const body = { name: 'secretive name', pin: 'pin-4711-0815' };
  const { json } = await trial.send('owner/o1', 'POST', '/things', body);
  const made = json as unknown as { id: string; token: string };
  assert.match(made.token, /^tok_/);
  await trial.send('owner/o1', 'POST', '/notes', { thing: made.id, text: 'hello' });
  await trial.send('owner/o1', 'DELETE', `/things/${made.id}`);
  const kept = await events(trial);
  assert.deepEqual(
    kept.map(({ kind }) => kind),
    ['thing.made', 'note.made', 'note.gone', 'thing.gone'],
  );
  for (const { payload, image } of kept) {
    assert.doesNotMatch(`${payload}${image}`, /pin-4711|tok_/);
    assert.doesNotMatch(image ?? '', /secretive/);
  }
  const [first, note] = kept;
  assert.deepEqual(JSON.parse(first?.payload ?? ''), {
    id: made.id,
    owner: 'o1',
    name: 'secretive name',
    cost: 5,
    status: 'new',
  });
  assert.equal(first?.image, null, 'the payload says all that rules read');
  assert.deepEqual(JSON.parse(note?.image ?? ''), { near: { [`thing\n${made.id}`]: { owner: 'o1' } } });
});

test('an event whose image lacks what rules ask by now is told to nobody, also where a rule asks for what is absent', async (context) => {
  const { listenTo } = await import('./events/stream-reader.ts');
  const trial = await startTrial(context, things());
  const listen = async (who: string) =>
    listenTo(
      await trial.service.fetch(
        new Request('http://127.0.0.1/stream', { headers: { 'x-who': who, 'last-event-id': 'evt_older' } }),
      ),
    );
  await trial.send('owner/o1', 'POST', '/things', { name: 'a', pin: 'pin-1' });
  const before = await listen('owner/o1');
  await before.until(1);
  await before.close();
  await trial.restart(
    things().replace('"resource.owner == caller.id" }', '"resource.owner == caller.id && !has(resource.pin)" }'),
  );
  await trial.send('owner/o1', 'POST', '/things', { name: 'b' });
  const later = await listen('owner/o1');
  await later.until(1);
  await trial.service.settled();
  assert.deepEqual(
    later.heard.map(({ data }) => data.data.name),
    ['b'],
  );
  await later.close();
});

const members = `
title: Club
purpose:
  purpose: Keeps members.
  users: { member: Belongs to it., staff: Runs it. }
  functions: { all: [create member, read member, read account, create loan, read loan, list loan, create hook, create desk] }
resources:
  member:
    identifier: { field: id, generate: client }
    fields: { id: string, email: { type: string, format: email }, bio: string }
    required: [id, email]
  loan:
    identifier: { field: id, generate: "lon_{ulid}" }
    fields:
      id: string
      by: { type: string, readOnly: true, set: { create: caller.id } }
      text: string
    required: [id, by]
  desk:
    identifier: { field: id, generate: "dsk_{ulid}" }
    fields: { id: string, keeper: { ref: member, onDelete: RULE }, note: string }
    required: [id]
  hook:
    identifier: { field: id, generate: "hok_{ulid}" }
    fields:
      id: string
      url: string
      secret: { type: string, generate: "whsec_{base64:32}", reveal: once }
    required: [id, url, secret]
states: none
endpoints:
  defaults: { POST: { idempotency: { header: Idempotency-Key, keep: 24h } } }
  POST /members: { does: create member }
  GET /me: { does: read member, as: read account, identity: caller.id }
  GET /members/{id}: { does: read member }
  POST /loans: { does: create loan }
  GET /loans/{id}: { does: read loan }
  GET /loans: { does: list loan }
  POST /hooks: { does: create hook }
  POST /desks: { does: create desk }
authentication:
  schemes: { key: { type: api_key, header: X-Key, placeholder: "{key}" } }
  permissions:
    - { allow: [create hook, create desk], to: [member, staff] }
    - { allow: [create member, read account, create loan], to: member }
    - { allow: [read loan, list loan], to: member, if: "resource.by == caller.id" }
    - { allow: [read loan, list loan, read member], to: staff }
events:
  delivery:
    webhook: { signature: standard-webhooks, retry: [1h], timeout: 5s, subscribers: { resource: hook, url: url, secret: secret } }
  kinds:
    member.made: { on: [create member], payload: member, to: "true" }
    loan.made: { on: [create loan], payload: loan, to: "true" }
    desk.made: { on: [create desk], payload: desk, to: "true" }
errors: { payload: problem, codes: none }
limits: { quota: [{ per: caller, on: [create loan], limit: 9, window: month, zone: UTC }], rate: none, size: none, timeout: none }
versioning: { versions: none }
`;

const words = ['m-4711', 'ada@club.example', 'Ada-Lovelace-was-here', 'her first loan'];

async function startClub(context: TestContext, rule: string) {
  const path = folder(context);
  const file = join(path, 'store.sqlite');
  const receiver = await startReceiver(context);
  // A receiver that says again what it was sent.
  receiver.react((response, { body }) => response.end(body));
  const document = members.replace('RULE', rule);
  const trial = await startTrial(context, document, { path: file });
  const send = async (who: string, target: string, body: unknown) => {
    const headers = { 'x-who': who, 'content-type': 'application/json', 'idempotency-key': `${who} ${target}` };
    const url = `http://127.0.0.1${target}`;
    const answer = await trial.service.fetch(new Request(url, { method: 'POST', headers, body: JSON.stringify(body) }));
    assert.equal(answer.status, 201, `${target}: ${await answer.clone().text()}`);
    return (await answer.json()) as { id: string };
  };
  await send('staff/s1', '/hooks', { url: receiver.url });
  await send('member/m-4711', '/members', { id: 'm-4711', email: 'ada@club.example', bio: 'Ada-Lovelace-was-here' });
  await send('member/m-4712', '/members', { id: 'm-4712', email: 'bob@club.example' });
  await send('member/m-4711', '/loans', { text: 'her first loan' });
  await send('member/m-4712', '/loans', { text: 'his first loan' });
  await send('member/m-4711', '/hooks', { url: receiver.url });
  const desk = await send('staff/s1', '/desks', { keeper: 'm-4711', note: 'by the window' });
  await trial.service.settled();
  await trial.service.administer('keys add', { user: 'member', id: 'm-4711' });
  return { path, file, document, trial, desk };
}

test('an erased person is in no byte of any file of the store, while it is served and after, and others are as they were', async (context) => {
  const { path, trial, desk } = await startClub(context, 'clear');
  for (const word of words) assert.ok(bytesOf(path).includes(word), `${word} is there before`);
  const asked = { user: 'member', id: 'm-4711' };
  const would = await trial.service.administer('erase', asked);
  for (const word of words) assert.ok(bytesOf(path).includes(word), `${word} is there when it was only asked`);
  const done = (await trial.service.administer('erase', { ...asked, confirmed: true })) as Record<string, unknown>;
  assert.deepEqual({ ...done, erased: false }, would);
  assert.deepEqual((done.rows as string[]).map((row) => row.replace(/\/.*/, '')).toSorted(), ['hook', 'loan', 'member']);
  assert.equal(done.keys, 1);
  assert.deepEqual(done.left, [], JSON.stringify(done));
  for (const word of words) assert.ok(!bytesOf(path).includes(word), `${word} is gone from every file`);
  for (const word of ['bob@club.example', 'his first loan', 'm-4712']) assert.ok(bytesOf(path).includes(word), `${word} stays`);
  assert.deepEqual(
    (await events(trial)).map(({ kind }) => kind),
    ['member.made', 'loan.made'],
  );
  const kept = await trial.store.read((rows) => rows.get('desk', desk.id)?.doc);
  assert.deepEqual(JSON.parse(kept ?? ''), { id: desk.id, note: 'by the window' });
  await trial.restart();
  for (const word of words) assert.ok(!bytesOf(path).includes(word), `${word} is gone after a start too`);
  assert.deepEqual(trial.failures, []);
});

test('somebody else’s row that holds one of the person’s keeps all of it from being erased, until it is named too', async (context) => {
  const { path, trial, desk } = await startClub(context, 'restrict');
  const asked = { user: 'member', id: 'm-4711', confirmed: true };
  await assert.rejects(trial.service.administer('erase', asked), /member\/m-4711 is still referred to: A desk still refers/);
  for (const word of words) assert.ok(bytesOf(path).includes(word), `${word} is there still`);
  await trial.service.administer('erase', { ...asked, rows: [`desk/${desk.id}`] });
  for (const word of words) assert.ok(!bytesOf(path).includes(word), `${word} is gone`);
});

test('a person with the same identifier and another user is somebody else, and what names a person in words is told', async (context) => {
  const { trial, path } = await startClub(context, 'clear');
  const asked = { user: 'staff', id: 'm-4711', rows: [], texts: ['his first loan'] };
  const would = (await trial.service.administer('erase', asked)) as Record<string, string[]>;
  assert.deepEqual(would.rows, []);
  assert.equal(
    would.left?.filter((row) => row.startsWith('loan/')).length,
    2,
    'the one that she made, and the one that says the text',
  );
  assert.ok(bytesOf(path).includes('his first loan'));
});

test('a file that no service runs over is erased from by the command, which only asks without --yes', async (context) => {
  const { path, file, document, trial } = await startClub(context, 'clear');
  await trial.service.close();
  await trial.store.close();
  const written = join(path, 'club.yaml');
  writeFileSync(written, document);
  const run = (...words: string[]) => command(['erase', written, '--store', file, ...words]);
  const would = await run('--user', 'member', '--id', 'm-4711');
  assert.equal(would.code, 0, would.err);
  assert.match(would.out, /^Would erase 3 rows\n/);
  assert.match(would.err, /Nothing was changed; --yes does it/);
  assert.ok(readFileSync(file).includes('ada@club.example'));
  const done = await run('--user', 'member', '--id', 'm-4711', '--yes');
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /^Erased 3 rows\n/);
  for (const word of words) assert.ok(!bytesOf(path).includes(word), `${word} is gone`);
  const nobody = await run();
  assert.equal(nobody.code, 2);
  assert.match(nobody.err, /erase needs to know who/);
});
