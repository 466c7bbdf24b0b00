import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetFlaw } from '../src/serve/events/addresses.ts';
import { startTrial, things } from './events/trial.ts';

const any = { allowsPrivate: false, hosts: undefined, isHttpsOnly: false, refusesPrivate: true };

test('an address that nothing can be sent to is told from one that something can', () => {
  for (const url of ['https://hooks.example/a?b=c', 'http://hooks.example', 'https://[2606:4700::1111]/x'])
    assert.equal(targetFlaw(url, any), undefined, url);
  for (const url of [
    '',
    'hooks.example',
    'ftp://hooks.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://ann:secret@hooks.example',
    `https://hooks.example/${'a'.repeat(3000)}`,
    'http://localhost:4009',
    'http://localhost.:4009',
    'http://a.localhost',
    'http://127.0.0.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://[::1]',
    'http://[::ffff:10.0.0.1]',
    'http://169.254.169.254/latest/meta-data',
    'http://10.1.2.3',
  ])
    assert.notEqual(targetFlaw(url, any), undefined, url);
  assert.equal(targetFlaw('http://127.0.0.1', { ...any, refusesPrivate: false }), undefined);
  assert.equal(targetFlaw('http://hooks.example', { ...any, isHttpsOnly: true }), 'an address of https');
  const listed = { ...any, hosts: ['hooks.example', '*.Partner.example'] };
  for (const host of ['hooks.example', 'a.partner.example', 'HOOKS.example', 'b.a.partner.example'])
    assert.equal(targetFlaw(`https://${host}/`, listed), undefined, host);
  for (const host of ['partner.example', 'evilpartner.example', 'hooks.example.evil.example', 'a.hooks.example'])
    assert.notEqual(targetFlaw(`https://${host}/`, listed), undefined, host);
});

test('a subscriber with such an address is refused at its place, and one that has one already is not sent to where that is not allowed', async (context) => {
  const trial = await startTrial(context, things(), { httpsWebhooks: true });
  const { status, json } = await trial.send('owner/o1', 'POST', '/hooks', { url: 'http://hooks.example' });
  assert.equal(status, 422);
  assert.equal(json.violations[0]?.path, '/url');
  assert.equal((await trial.send('owner/o1', 'POST', '/hooks', { url: 'https://hooks.invalid' })).status, 201);
  const strict = await startTrial(context, things(), { production: true, allowPrivateWebhooks: false });
  assert.equal((await strict.send('owner/o1', 'POST', '/hooks', { url: 'http://127.0.0.1:9' })).status, 422);
});

test('one caller has so many subscribers, and another has room of its own', async (context) => {
  const trial = await startTrial(context, things());
  const make = (who: string) => trial.send(who, 'POST', '/hooks', { url: 'https://hooks.invalid' });
  for (let at = 0; at < 256; at++) assert.equal((await make('owner/o1')).status, 201);
  assert.equal((await make('owner/o1')).status, 429);
  assert.equal((await make('owner/o2')).status, 201);
});

test('streams of callers that nobody knows are counted by address', async (context) => {
  const open = things().replace('{ allow: [stream events], to: [owner, clerk] }', '{ allow: [stream events], to: anyone }');
  const trial = await startTrial(context, open);
  const listen = () => trial.service.fetch(new Request('http://127.0.0.1/stream'));
  const streams = [];
  for (let at = 0; at < 128; at++) streams.push(await listen());
  assert.ok(streams.every(({ status }) => status === 200));
  assert.equal((await listen()).status, 429);
  for (const { body } of streams) await body?.cancel();
  assert.equal((await listen()).status, 200);
});
