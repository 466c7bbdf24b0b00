import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { standardWebhooks } from '../src/kinds/signatures/standard-webhooks.ts';
import { template } from '../src/kinds/signatures/template.ts';
import { HostNames, isPublicAddress } from '../src/serve/events/addresses.ts';

test('nothing is sent to this machine, its network, the services of a cloud or a group, however it is written', () => {
  const closed = [
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254'],
    ...['169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.168.0.1', '198.18.0.1'],
    ...['198.51.100.7', '203.0.113.7', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...[
      '::',
      '::1',
      '[::1]',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '0:0:0:0:0:ffff:10.0.0.1',
      '::127.0.0.1',
      '::ffff:169.254.169.254',
    ],
    ...[
      '64:ff9b::127.0.0.1',
      '64:ff9b::a00:1',
      '64:ff9b:1::1',
      '2002:7f00:1::',
      '2002:c0a8:101::1',
      '2001:0:1::1',
      '2001:db8::1',
    ],
    ...[
      'fc00::1',
      'fd00:ec2::254',
      'fe80::1',
      'fe80::1%eth0',
      'fec0::1',
      'ff02::1',
      '100::1',
      '3fff::1',
      '5f00::1',
      '::ffff:0:127.0.0.1',
    ],
    ...['', 'localhost', '127.1', '0x7f000001', '1.2.3', '1.2.3.4.5', ':::', 'g::1'],
  ];
  for (const address of closed) assert.equal(isPublicAddress(address), false, address);
  const open = [
    ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
    ...['169.253.255.255', '172.15.255.255', '172.32.0.0', '192.167.255.255', '223.255.255.255'],
    ...['2606:4700::1111', '2a00:1450:4001::', '[2606:4700::1111]', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1'],
  ];
  for (const address of open) assert.equal(isPublicAddress(address), true, address);
});

const signed = { id: 'evt_1', timestamp: 1_700_000_000, body: '{"a":"é {hmac-sha256:hex}"}' };
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 3).toString('base64')}`;

test('a Standard Webhooks signature is the one that the library makes, once for each secret', () => {
  const made = standardWebhooks.compile().sign(signed, [secretOf(24), secretOf(64)]) as Record<string, string>;
  const library = (secret: string) => new Webhook(secret).sign(signed.id, new Date(signed.timestamp * 1000), signed.body);
  assert.deepEqual(made, {
    'webhook-id': 'evt_1',
    'webhook-timestamp': '1700000000',
    'webhook-signature': `${library(secretOf(24))} ${library(secretOf(64))}`,
  });
});

test('a secret has 24 to 64 bytes, and is base64', () => {
  for (const secret of [secretOf(23), secretOf(65), 'whsec_', 'whsec_no base64', ''])
    assert.ok('wrong' in standardWebhooks.compile().sign(signed, [secret]), secret);
});

test('a signature of one’s own fills its words once, and stands for each secret where its value has parts', () => {
  const hmac = (hash: string, secret: string, content: string, form: 'hex' | 'base64') =>
    createHmac(hash, secret).update(content).digest(form);
  const stripe = template.compile({
    header: 'Stripe-Signature',
    value: 't={timestamp},v1={hmac-sha256:hex}',
    signs: '{timestamp}.{body}',
  });
  const content = `${signed.timestamp}.${signed.body}`;
  assert.deepEqual(stripe.sign(signed, ['new', 'old']), {
    'stripe-signature': `t=1700000000,v1=${hmac('sha256', 'new', content, 'hex')},v1=${hmac('sha256', 'old', content, 'hex')}`,
  });
  const plain = template.compile({ header: 'X-Hub', value: 'sha1={hmac-sha1:base64}', signs: '{id}{body}' });
  const whole = `evt_1${signed.body}`;
  const got = plain.sign(signed, ['new', 'old']) as Record<string, string>;
  assert.ok(got['x-hub']?.startsWith('sha1='));
  assert.equal(got['x-hub'], `sha1=${hmac('sha1', 'new', whole, 'base64')}`);
  assert.ok('wrong' in plain.sign(signed, []));
});

test('names whose servers are silent hold no thread, end in time, and are asked for once however many wait', async () => {
  const server = createSocket('udp4');
  const asked: string[] = [];
  server.on('message', (question) => asked.push(question.subarray(12).toString('latin1').slice(0, 4)));
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const names = new HostNames(90, [`127.0.0.1:${server.address().port}`]);
  const find = (host: string) => new Promise<string>((resolve) => names.find(host, (error) => resolve(String(error))));
  const hosts = Array.from({ length: 100 }, (_, at) => `h${at % 4}.example`);
  const waiting = hosts.map(find);
  assert.ok(!process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap'));
  for (const told of await Promise.all(waiting)) assert.match(told, /ETIMEOUT|ECANCELLED/);
  // Of each name two addresses, each tried twice at most.
  assert.ok(asked.length <= 4 * 2 * 2, `${asked.length} questions`);
  server.close();
});
