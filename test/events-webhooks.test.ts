import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { startReceiver } from './events/receiver.ts';
import { startTrial, type Trial, type TrialOptions, things } from './events/trial.ts';

const second = 1000;
const hour = 3_600_000;

/** A service with a receiver that an owner has a hook for. */
async function hooked(context: TestContext, document = things(), options: TrialOptions = {}) {
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, document, options);
  const hook = await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url });
  assert.equal(hook.status, 201);
  return { receiver, trial, hook: hook.json };
}

const make = async (trial: Trial, name = 'a', who = 'owner/o1') => (await trial.send(who, 'POST', '/things', { name })).json.id;

/** What is known of the deliveries, oldest first. */
const deliveries = (trial: Trial) =>
  trial.outbox((outbox) =>
    outbox
      .deliveries({}, 1000)
      .reverse()
      .map((delivery) => ({ ...delivery, attempts: outbox.attempts(delivery.seq) })),
  );

const statuses = async (trial: Trial) => (await deliveries(trial)).map(({ attempts }) => attempts.map(({ status }) => status));

test('a webhook verifies with the library of Standard Webhooks, and says what happened', async (context) => {
  const startMs = Math.floor(Date.now() / second) * second;
  const { receiver, trial, hook } = await hooked(context, things(), { startMs });
  const id = await make(trial, 'é');
  await trial.service.settled();
  assert.equal(receiver.received.length, 1);
  const [got] = receiver.received;
  const headers = got!.headers as Record<string, string>;
  const verified = new Webhook(hook.secret).verify(got!.body, headers);
  assert.deepEqual(verified, {
    id: headers['webhook-id'],
    type: 'thing.made',
    timestamp: new Date(startMs).toISOString(),
    data: { id, owner: 'o1', name: 'é', status: 'new' },
  });
  assert.throws(() => new Webhook(hook.secret).verify(`${got!.body} `, headers));
  assert.equal(headers['content-type'], 'application/json');
});

test('without an envelope a payload is sent as it is, signed and with its own header fields', async (context) => {
  const document = things().replace('    stream:', '    envelope: none\n    stream:');
  const { receiver, trial, hook } = await hooked(context, document, { startMs: Math.floor(Date.now() / second) * second });
  const id = await make(trial);
  await trial.service.settled();
  const note = await trial.send('owner/o1', 'POST', '/notes', { thing: id, text: 'n' });
  await trial.service.settled();
  const bodies = receiver.received.map(({ body, headers }) => {
    new Webhook(hook.secret).verify(body, headers as Record<string, string>);
    return JSON.parse(body) as unknown;
  });
  // What nobody is kept from seeing goes out as it is stored.
  assert.deepEqual(bodies, [{ id, owner: 'o1', name: 'a', status: 'new' }, note.json]);
});

test('a row that stands whole in what an event says is shown as its receiver sees any row', async (context) => {
  const told = `{ object: "{'row': next, 'was': has(resource.name) ? resource : next}", rows: "[next]" }`;
  const document = things('', `thing.told: { on: [update thing], payload: { type: object }, data: ${told} }`);
  const { receiver, trial } = await hooked(context, document);
  const id = await make(trial);
  await trial.send('clerk/c1', 'PATCH', `/things/${id}`, { pin: 'p', name: 'b', cost: 7 });
  await trial.service.settled();
  const data = receiver.received
    .map(({ body }) => JSON.parse(body) as { type: string; data: unknown })
    .find(({ type }) => type === 'thing.told')?.data;
  const row = { id, owner: 'o1', name: 'b', status: 'new' };
  assert.deepEqual(data, { object: { row, was: { ...row, name: 'a' } }, rows: [row] });
});

test('a signature of one’s own, own headers and an own envelope are written as they are stated', async (context) => {
  const document = things('headers: { X-Kind: event.kind, X-Hook: subscriber.id }')
    .replace(
      'signature: standard-webhooks',
      'signature: { header: X-Sign, value: "t={timestamp},v1={hmac-sha256:hex}", signs: "{timestamp}.{body}" }',
    )
    .replace('    stream:', '    envelope: { kind: event.kind, about: event.payload.name, at: event.at }\n    stream:');
  const { receiver, trial, hook } = await hooked(context, document);
  await make(trial, 'it');
  await trial.service.settled();
  const [got] = receiver.received;
  assert.deepEqual(got!.json as unknown, { kind: 'thing.made', about: 'it', at: '2026-06-01T09:00:00.000Z' });
  const seconds = trial.clock.now() / second;
  const hmac = createHmac('sha256', hook.secret).update(`${seconds}.${got!.body}`).digest('hex');
  assert.equal(got!.headers['x-sign'], `t=${seconds},v1=${hmac}`);
  assert.equal(got!.headers['x-kind'], 'thing.made');
  assert.equal(got!.headers['x-hook'], hook.id);
  assert.equal(got!.headers['webhook-id'], undefined);
});

test('a delivery that fails is tried again after the stated waits, with one id, and then given up', async (context) => {
  const { receiver, trial } = await hooked(context);
  receiver.react(500);
  await make(trial);
  await trial.service.settled();
  assert.equal(receiver.received.length, 1);
  await trial.advance(3.9 * second);
  assert.equal(receiver.received.length, 1, 'a fifth before its time at the earliest');
  await trial.advance(2.2 * second);
  assert.equal(receiver.received.length, 2, 'a fifth after its time at the latest');
  await trial.advance(6 * 60 * second);
  assert.equal(receiver.received.length, 3);
  await trial.advance(36 * 60 * second);
  assert.equal(receiver.received.length, 4);
  await trial.advance(100 * hour);
  assert.equal(receiver.received.length, 4);
  assert.equal(new Set(receiver.ids()).size, 1);
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
  const times = receiver.received.map(({ headers }) => headers['webhook-timestamp']);
  assert.equal(new Set(times).size, 4, 'the time is that of the try');
  const [only] = await deliveries(trial);
  assert.equal(only!.outcome, 'given up');
  assert.deepEqual(
    only!.attempts.map(({ status, response }) => [status, response]),
    Array(4).fill([500, 'answered 500']),
  );
});

test('only 2xx is success: a redirect is not followed, and everything else fails', async (context) => {
  const { receiver, trial } = await hooked(context);
  const other = await startReceiver(context);
  for (const status of [204, 299]) {
    receiver.react(status);
    await make(trial);
    await trial.service.settled();
  }
  receiver.react((response) => response.writeHead(302, { location: other.url }).end());
  await make(trial);
  receiver.react((response) => response.writeHead(302, { location: other.url }).end(), 400, 404, 200);
  await trial.service.settled();
  for (let n = 0; n < 3; n++) await trial.advance(hour);
  assert.deepEqual(await statuses(trial), [[204], [299], [302, 400, 404, 200]]);
  assert.equal(other.received.length, 0);
});

test('a receiver that asks to be left alone is, for all of its deliveries, up to a day', async (context) => {
  const { receiver, trial } = await hooked(context);
  receiver.react((response) => response.writeHead(429, { 'retry-after': '120' }).end(), 200);
  await make(trial);
  await trial.service.settled();
  await make(trial);
  await trial.advance(60 * second);
  assert.equal(receiver.received.length, 1);
  await trial.advance(61 * second);
  assert.equal(receiver.received.length, 3);
  const until = new Date(trial.clock.now() + 10 * 60 * second).toUTCString();
  receiver.react((response) => response.writeHead(503, { 'retry-after': until }).end(), 200);
  await make(trial);
  await trial.advance(9 * 60 * second);
  assert.equal(receiver.received.length, 4);
  await trial.advance(2 * 60 * second);
  assert.equal(receiver.received.length, 5);
  receiver.react((response) => response.writeHead(503, { 'retry-after': '999999999' }).end(), 200);
  await make(trial);
  await trial.service.settled();
  await trial.advance(25 * hour);
  assert.equal(receiver.received.length, 7);
});

test('events of one row come in order, a later one once the earlier is accepted or given up; other rows do not wait', async (context) => {
  const { receiver, trial } = await hooked(context);
  receiver.react((response, { json }) => response.writeHead(json.data.name === 'slow' ? 500 : 200).end());
  const slow = await make(trial, 'slow');
  await trial.send('owner/o1', 'PATCH', `/things/${slow}`, { name: 'slow', cost: null });
  await trial.send('owner/o1', 'POST', `/things/${slow}/finish`);
  const quick = await make(trial, 'quick');
  await trial.send('owner/o1', 'POST', `/things/${quick}/finish`);
  await trial.service.settled();
  const seen = () => receiver.received.map(({ json }) => `${json.type} ${json.data.name} ${json.data.status}`);
  assert.deepEqual(
    seen().filter((line) => line.includes('quick')),
    ['thing.made quick new', 'thing.changed quick done'],
  );
  assert.deepEqual(new Set(seen().filter((line) => line.includes('slow'))), new Set(['thing.made slow new']));
  for (let n = 0; n < 3; n++) await trial.advance(hour);
  assert.deepEqual(
    (await deliveries(trial)).slice(0, 2).map(({ outcome, tries }) => [outcome, tries]),
    [
      ['given up', 4],
      [null, 1],
    ],
  );
  receiver.react(200);
  await trial.advance(hour);
  assert.equal(seen().at(-1), 'thing.changed slow done');
});

test('with `order: any` nothing waits for anything', async (context) => {
  const { receiver, trial } = await hooked(context, things('order: any'));
  receiver.react(500);
  const id = await make(trial);
  await trial.send('owner/o1', 'POST', `/things/${id}/finish`);
  await trial.service.settled();
  assert.deepEqual(receiver.received.map(({ json }) => json.type).sort(), ['thing.changed', 'thing.made']);
});

test('410 disables a subscriber, as the operation that says so', async (context) => {
  const { receiver, trial, hook } = await hooked(context);
  const clerk = await startReceiver(context);
  await trial.send('owner/o1', 'POST', '/hooks', { url: clerk.url, kinds: ['hook.off'] });
  receiver.react(410);
  await make(trial);
  await make(trial);
  await trial.service.settled();
  assert.equal((await trial.send('owner/o1', 'GET', `/hooks/${hook.id}`)).json.enabled, false);
  assert.ok(receiver.received.length <= 2);
  assert.deepEqual(
    clerk.received.map(({ json }) => [json.type, json.data.id, json.data.enabled]),
    [['hook.off', hook.id, false]],
  );
  await make(trial);
  await trial.advance(100 * hour);
  assert.ok(receiver.received.length <= 2, 'a disabled one is sent nothing');
  receiver.react(200);
  await trial.send('owner/o1', 'PATCH', `/hooks/${hook.id}`, { enabled: true });
  const before = receiver.received.length;
  await make(trial);
  await trial.service.settled();
  assert.equal(receiver.received.length, before + 1);
});

test('a subscriber that only fails for the stated time is disabled; one success in between starts it anew', async (context) => {
  const { receiver, trial, hook } = await hooked(context);
  const enabled = async () => (await trial.send('owner/o1', 'GET', `/hooks/${hook.id}`)).json.enabled;
  receiver.react(500);
  for (let day = 0; day < 4; day++) {
    await make(trial);
    await trial.advance(24 * hour);
  }
  receiver.react(200);
  await make(trial);
  await trial.service.settled();
  receiver.react(500);
  for (let day = 1; day < 5; day++) {
    await make(trial);
    await trial.advance(24 * hour);
    assert.equal(await enabled(), true, `day ${day}`);
  }
  await make(trial);
  await trial.advance(24 * hour);
  assert.equal(await enabled(), false);
});

test('for a day after its secret has changed a delivery is signed with both', async (context) => {
  const { receiver, trial, hook } = await hooked(context);
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  await trial.send('owner/o1', 'PATCH', `/hooks/${hook.id}`, { secret });
  for (const wait of [23 * hour, 2 * hour, 0]) {
    await make(trial);
    await trial.service.settled();
    await trial.advance(wait);
  }
  const signatures = receiver.received.map(({ headers, body }) => {
    const timestamp = new Date(Number(headers['webhook-timestamp']) * second);
    const own = (key: string) => new Webhook(key).sign(String(headers['webhook-id']), timestamp, body);
    return String(headers['webhook-signature'])
      .split(' ')
      .map((entry) => (entry === own(secret) ? 'new' : entry === own(hook.secret) ? 'old' : 'neither'));
  });
  assert.deepEqual(signatures, [['new', 'old'], ['new', 'old'], ['new']]);
});

test('a secret that is none is not signed with, and nothing is sent', async (context) => {
  const { receiver, trial, hook } = await hooked(context);
  await trial.send('owner/o1', 'PATCH', `/hooks/${hook.id}`, { secret: 'whsec_c2hvcnQ=' });
  await make(trial);
  await trial.service.settled();
  assert.equal(receiver.received.length, 0);
  assert.match(String((await deliveries(trial))[0]!.attempts[0]!.error), /24 to 64 bytes/);
});

test('a hanging receiver is given up when its time is over, and a dripping one decided by its status', async (context) => {
  const { receiver, trial } = await hooked(context);
  receiver.react(() => {});
  await make(trial);
  const settled = trial.service.settled();
  while (receiver.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  trial.clock.advance(15 * second);
  await settled;
  assert.deepEqual(await statuses(trial), [[null]]);
  assert.equal((await deliveries(trial))[0]!.attempts[0]!.error, 'No answer came in time.');
  receiver.react((response) => void response.writeHead(200).write('drip'));
  trial.clock.advance(6 * second);
  while (receiver.received.length === 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 20));
  trial.clock.advance(15 * second);
  await trial.service.settled();
  assert.deepEqual(await statuses(trial), [[null, 200]]);
});

test('an answer is read up to a bound, and garbage is a failure like any other', async (context) => {
  const { receiver, trial } = await hooked(context);
  receiver.react((response) => response.writeHead(500).end('x'.repeat(5_000_000)));
  await make(trial);
  await trial.service.settled();
  receiver.react((response) => response.socket?.end('this is not HTTP\r\n\r\n'));
  await trial.advance(10 * second);
  receiver.react((response) => response.socket?.destroy());
  await trial.advance(10 * 60 * second);
  const [delivery] = await deliveries(trial);
  const [long, garbage, broken] = delivery!.attempts;
  assert.equal(long!.status, 500);
  assert.equal(long!.response?.length, 20_000);
  assert.deepEqual([garbage!.status, broken!.status], [null, null]);
  assert.ok(garbage!.error && broken!.error);
});

test('a receiver that hangs slows nobody but itself', async (context) => {
  const { receiver, trial } = await hooked(context);
  const good = await startReceiver(context);
  await trial.send('owner/o1', 'POST', '/hooks', { url: good.url });
  receiver.react(() => {});
  for (let n = 0; n < 100; n++) await make(trial, `n${n}`);
  const until = Date.now() + 10_000;
  while (good.received.length < 100 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(good.received.length, 100);
  assert.ok(receiver.received.length <= 32);
  trial.clock.advance(15 * second);
});

test('more than may be on its way at once is sent all the same, a few at a time', async (context) => {
  const { receiver, trial } = await hooked(context);
  for (let n = 0; n < 40; n++) await trial.send('owner/o1', 'POST', '/hooks', { url: `${receiver.url}/${n}` });
  receiver.react((response) => void setImmediate(() => response.writeHead(204).end()));
  // Told to 41 subscribers, of which half fit into what may be on its way.
  await make(trial, 'x'.repeat(900_000));
  await trial.service.settled();
  assert.equal(receiver.received.length, 41);
});

test('private addresses are not connected to unless that is allowed', async (context) => {
  const { receiver, trial } = await hooked(context, things(), { allowPrivateWebhooks: false });
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url.replace('127.0.0.1', 'localhost') });
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url.replace('127.0.0.1', '[::ffff:127.0.0.1]') });
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url.replace('127.0.0.1', '2130706433') });
  for (const url of ['ftp://example.com/', 'nothing'])
    assert.equal((await trial.send('owner/o1', 'POST', '/hooks', { url })).status, 422, url);
  await make(trial);
  await trial.service.settled();
  assert.equal(receiver.connections(), 0);
  const errors = (await deliveries(trial)).map(({ attempts }) => attempts[0]!.error);
  assert.deepEqual(
    errors.map((error) => /no public address/.test(String(error))),
    Array(4).fill(true),
    String(errors),
  );
});

test('a kind that there is not is refused in a subscriber, when it is made and when it is changed', async (context) => {
  const { trial, hook } = await hooked(context);
  const bad = await trial.send('owner/o1', 'POST', '/hooks', { url: 'https://a.example/', kinds: ['thing.made', 'thing.mad'] });
  assert.equal(bad.status, 422);
  assert.deepEqual(
    bad.json.violations.map(({ path }) => path),
    ['/kinds/1'],
  );
  assert.equal((await trial.send('owner/o1', 'PATCH', `/hooks/${hook.id}`, { kinds: ['nothing.*'] })).status, 422);
  assert.equal(
    (await trial.send('owner/o1', 'PATCH', `/hooks/${hook.id}`, { kinds: ['thing.*', '*', 'note.made'] })).status,
    200,
  );
});

/** Kinds that tell of hooks; the second cannot be evaluated where the hook lists one kind alone, and undoes what was done. */
const tellingOfHooks = `
hook.made: { on: [create hook], payload: hook }
hook.counted: { on: [create hook], payload: { type: object, properties: { share: integer }, required: [share] }, data: { share: "100 / (has(next.kinds) ? size(next.kinds) - 1 : 1)" } }`;

test('a subscriber whose making was undone is sent nothing', async (context) => {
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, things('', tellingOfHooks.trim()));
  const undone = await trial.send('clerk/c1', 'POST', '/hooks', { url: receiver.url, kinds: ['thing.made'] });
  assert.equal(undone.status, 500);
  await make(trial);
  await trial.service.settled();
  assert.equal((await trial.send('clerk/c1', 'POST', '/hooks', { url: receiver.url, kinds: ['thing.made'] })).status, 500);
  await make(trial);
  await trial.service.settled();
  assert.deepEqual(receiver.received, []);
  assert.equal((await trial.outbox((outbox) => outbox.deliveries({}, 9))).length, 0);
});

test('a subscriber hears of its own making, and of what comes after', async (context) => {
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, things('', tellingOfHooks.trim()));
  const hook = { url: receiver.url, kinds: ['hook.made', 'thing.made'] };
  for (const path of ['/first', '/second']) {
    assert.equal((await trial.send('clerk/c1', 'POST', '/hooks', { ...hook, url: `${receiver.url}${path}` })).status, 201);
  }
  await trial.send('clerk/c1', 'POST', '/things', { name: 'a' });
  await trial.service.settled();
  assert.deepEqual(receiver.received.map(({ path, json }) => `${path.split('/').at(-1)} ${json.type}`).sort(), [
    'first hook.made',
    'first hook.made',
    'first thing.made',
    'second hook.made',
    'second thing.made',
  ]);
});

test('a subscriber hears of the kinds that it lists', async (context) => {
  const { receiver, trial, hook } = await hooked(context);
  await trial.send('owner/o1', 'PATCH', `/hooks/${hook.id}`, { kinds: ['thing.gone', 'note.*'] });
  const id = await make(trial);
  const note = (await trial.send('owner/o1', 'POST', '/notes', { thing: id, text: 't' })).json.id;
  await trial.send('owner/o1', 'DELETE', `/notes/${note}`);
  await trial.send('owner/o1', 'DELETE', `/things/${id}`);
  await trial.service.settled();
  assert.deepEqual(receiver.received.map(({ json }) => json.type).sort(), ['note.gone', 'note.made', 'thing.gone']);
});

test('a webhook given at the start receives every kind, and its secret is told', async (context) => {
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, things(), { webhooks: [{ url: receiver.url }], allowPrivateWebhooks: false });
  await make(trial);
  await make(trial, 'b', 'clerk/c1');
  await trial.service.settled();
  assert.equal(receiver.received.length, 2);
  const secret = /whsec_\S+?(?=\.?$)/.exec(trial.service.notes.find((note) => note.includes(receiver.url)) ?? '')?.[0] ?? '';
  for (const { headers, body } of receiver.received) {
    const timestamp = new Date(Number(headers['webhook-timestamp']) * second);
    assert.equal(new Webhook(secret).sign(String(headers['webhook-id']), timestamp, body), headers['webhook-signature']);
  }
});

test('deliveries go on over another document, and after the subscriber is gone they are given up', async (context) => {
  const { receiver, trial, hook } = await hooked(context);
  receiver.react(500);
  await make(trial);
  await trial.service.settled();
  await trial.restart(things('headers: { X-New: "\'yes\'" }'));
  receiver.react(200);
  await trial.advance(10 * second);
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['x-new']),
    [undefined, 'yes'],
  );
  receiver.react(500);
  await make(trial);
  await trial.service.settled();
  await trial.send('owner/o1', 'DELETE', `/hooks/${hook.id}`);
  await trial.advance(hour);
  assert.equal(receiver.received.length, 3);
  assert.deepEqual(
    (await deliveries(trial)).map(({ outcome }) => outcome),
    ['accepted', 'given up'],
  );
});
