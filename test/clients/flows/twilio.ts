import assert from 'node:assert/strict';
import twilio from 'twilio';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

const account = 'AC0123456789abcdef0123456789abcdef';

/** The way of the guide "Custom HTTP clients": every request is sent as it is, to another host. */
const elsewhere = (host: string): twilio.RequestClient => {
  const http = new twilio.RequestClient();
  const send = http.request.bind(http);
  http.request = (options) => send({ ...options, uri: options.uri.replace('https://api.twilio.com', host) });
  return http;
};

/** A credential is an API key and its secret, given as they are or as HTTP's basic scheme writes them. */
const connect = (place: Place, token: string): twilio.Twilio => {
  const pair = token.includes(':') ? token : Buffer.from(token, 'base64').toString();
  const [name = '', secret = ''] = pair.split(':');
  return twilio(name, secret, { accountSid: account, httpClient: elsewhere(place.url) });
};

const numbers = { from: '+15017122661', to: '+15558675310' };

const send = async (client: twilio.Twilio, body: string): Promise<string> =>
  (await client.messages.create({ ...numbers, body })).sid;

/** Guide: twilio.com/docs, "Messages resource", "Make calls", "Applications", "Queues", "Addresses", "REST API: Your Account". */
export const vendor: Vendor<twilio.Twilio> = {
  document: 'twilio/api.json',
  header: 'Authorization',
  word: 'Basic',
  made: Buffer.from('SK0123456789abcdef0123456789abcdef:its_secret').toString('base64'),
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a message is sent, read and deleted': (client, s) => ({
      send: async () => {
        const made = await client.messages.create({ ...numbers, body: 'Hi there' });
        s.sid = made.sid;
        assert.match(made.sid, /^(SM|MM)[0-9a-fA-F]{32}$/);
        assert.deepEqual([made.body, made.from, made.to], ['Hi there', numbers.from, numbers.to]);
      },
      read: async () => {
        const read = await client.messages(s.sid).fetch();
        assert.deepEqual([read.sid, read.body, read.to], [s.sid, 'Hi there', numbers.to]);
      },
      list: async () =>
        once(
          (await client.messages.list({ limit: 20 })).map(({ sid }) => sid),
          [s.sid],
        ),
      redact: async () => assert.equal((await client.messages(s.sid).update({ body: '' })).body, ''),
      delete: async () => assert.equal(await client.messages(s.sid).remove(), true),
      gone: async () => refused(client.messages(s.sid).fetch(), 404),
      'gone from the list': async () => assert.deepEqual(await client.messages.list({ limit: 20 }), []),
    }),
    'messages through all pages': (client, s) => ({
      'send five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`sid${n}`] = await send(client, `Message ${n}`);
      },
      'the client walks pages of two': async () => {
        const rows = await client.messages.list({ pageSize: 2, limit: 20 });
        assert.equal(rows.length, 5);
        once(
          rows.map(({ sid }) => sid),
          [s.sid1, s.sid2, s.sid3, s.sid4, s.sid5],
        );
      },
      'a page holds what was asked for, and names the next': async () => {
        const page = await client.messages.page({ pageSize: 2 });
        assert.equal(page.instances.length, 2);
        given(page.nextPageUrl, 'next page');
      },
      'only those to a number': async () => {
        await client.messages.create({ from: numbers.from, to: '+15559999999', body: 'Elsewhere' });
        const rows = await client.messages.list({ to: '+15559999999', limit: 20 });
        assert.deepEqual(
          rows.map(({ body }) => body),
          ['Elsewhere'],
        );
      },
    }),
    'a call is made and hung up': (client, s) => ({
      call: async () => {
        const made = await client.calls.create({ ...numbers, url: 'http://demo.twilio.com/docs/voice.xml' });
        s.sid = made.sid;
        assert.match(made.sid, /^CA[0-9a-fA-F]{32}$/);
        assert.deepEqual([made.from, made.to], [numbers.from, numbers.to]);
      },
      read: async () => assert.equal((await client.calls(s.sid).fetch()).sid, s.sid),
      'hang up': async () => assert.equal((await client.calls(s.sid).update({ status: 'completed' })).status, 'completed'),
      list: async () =>
        once(
          (await client.calls.list({ limit: 20 })).map(({ sid }) => sid),
          [s.sid],
        ),
      delete: async () => client.calls(s.sid).remove(),
      gone: async () => refused(client.calls(s.sid).fetch(), 404),
    }),
    'an application': (client, s) => ({
      create: async () => {
        const asked = {
          friendlyName: 'Phone Me',
          voiceMethod: 'GET' as const,
          voiceUrl: 'http://demo.twilio.com/docs/voice.xml',
        };
        const made = await client.applications.create(asked);
        s.sid = made.sid;
        assert.match(made.sid, /^AP[0-9a-fA-F]{32}$/);
        assert.deepEqual([made.friendlyName, made.voiceMethod, made.voiceUrl], Object.values(asked));
      },
      change: async () => {
        const changed = await client.applications(s.sid).update({ friendlyName: 'Phone You' });
        assert.deepEqual([changed.friendlyName, changed.voiceMethod], ['Phone You', 'GET']);
      },
      'read the change': async () => assert.equal((await client.applications(s.sid).fetch()).friendlyName, 'Phone You'),
      'find it by its name': async () =>
        assert.deepEqual(
          (await client.applications.list({ friendlyName: 'Phone You', limit: 20 })).map(({ sid }) => sid),
          [s.sid],
        ),
      delete: async () => client.applications(s.sid).remove(),
      gone: async () => refused(client.applications(s.sid).fetch(), 404),
    }),
    'a queue': (client, s) => ({
      create: async () => {
        const made = await client.queues.create({ friendlyName: 'Support', maxSize: 100 });
        s.sid = made.sid;
        assert.match(made.sid, /^QU[0-9a-fA-F]{32}$/);
        assert.deepEqual([made.friendlyName, made.maxSize], ['Support', 100]);
      },
      change: async () => assert.equal((await client.queues(s.sid).update({ maxSize: 123 })).maxSize, 123),
      'read the change': async () => {
        const read = await client.queues(s.sid).fetch();
        assert.deepEqual([read.friendlyName, read.maxSize], ['Support', 123]);
      },
      list: async () =>
        once(
          (await client.queues.list({ limit: 20 })).map(({ sid }) => sid),
          [s.sid],
        ),
      delete: async () => client.queues(s.sid).remove(),
      gone: async () => refused(client.queues(s.sid).fetch(), 404),
    }),
    'an address': (client, s) => {
      const where = { street: '645 Harrison St.', city: 'San Francisco', region: 'CA', postalCode: '94107', isoCountry: 'US' };
      return {
        create: async () => {
          const made = await client.addresses.create({ customerName: 'Twilio', ...where });
          s.sid = made.sid;
          assert.match(made.sid, /^AD[0-9a-fA-F]{32}$/);
          assert.deepEqual([made.customerName, made.postalCode, made.isoCountry], ['Twilio', '94107', 'US']);
        },
        change: async () => {
          const changed = await client.addresses(s.sid).update({ customerName: 'Customer 456' });
          assert.deepEqual([changed.customerName, changed.street], ['Customer 456', where.street]);
        },
        'read the change': async () => assert.equal((await client.addresses(s.sid).fetch()).customerName, 'Customer 456'),
        delete: async () => client.addresses(s.sid).remove(),
        gone: async () => refused(client.addresses(s.sid).fetch(), 404),
      };
    },
    'a number is bought and released': (client, s) => ({
      buy: async () => {
        const made = await client.incomingPhoneNumbers.create({ phoneNumber: '+15017122661', friendlyName: 'Front desk' });
        s.sid = made.sid;
        assert.match(made.sid, /^PN[0-9a-fA-F]{32}$/);
        assert.deepEqual([made.phoneNumber, made.friendlyName], ['+15017122661', 'Front desk']);
      },
      'find it by the number': async () =>
        assert.deepEqual(
          (await client.incomingPhoneNumbers.list({ phoneNumber: '+15017122661', limit: 20 })).map(({ sid }) => sid),
          [s.sid],
        ),
      change: async () => {
        const voiceUrl = 'https://www.example.com/voice.xml';
        assert.equal((await client.incomingPhoneNumbers(s.sid).update({ voiceUrl })).voiceUrl, voiceUrl);
      },
      release: async () => client.incomingPhoneNumbers(s.sid).remove(),
      gone: async () => refused(client.incomingPhoneNumbers(s.sid).fetch(), 404),
    }),
    'a subaccount is suspended and closed': (client, s) => ({
      create: async () => {
        const made = await client.api.v2010.accounts.create({ friendlyName: 'Submarine' });
        s.sid = made.sid;
        assert.match(made.sid, /^AC[0-9a-fA-F]{32}$/);
        assert.equal(made.friendlyName, 'Submarine');
      },
      suspend: async () =>
        assert.equal((await client.api.v2010.accounts(s.sid).update({ status: 'suspended' })).status, 'suspended'),
      'read it': async () => {
        const read = await client.api.v2010.accounts(s.sid).fetch();
        assert.deepEqual([read.friendlyName, read.status], ['Submarine', 'suspended']);
      },
      close: async () => assert.equal((await client.api.v2010.accounts(s.sid).update({ status: 'closed' })).status, 'closed'),
    }),
    'SIP credentials in their list': (client, s) => ({
      'create the list': async () => {
        const made = await client.sip.credentialLists.create({ friendlyName: 'Office' });
        s.list = made.sid;
        assert.match(made.sid, /^CL[0-9a-fA-F]{32}$/);
      },
      'create one': async () => {
        const asked = { username: 'ada', password: 'Countess-1815' };
        const made = await client.sip.credentialLists(s.list).credentials.create(asked);
        s.sid = made.sid;
        assert.deepEqual([made.username, made.credentialListSid], ['ada', s.list]);
      },
      list: async () =>
        assert.deepEqual(
          (await client.sip.credentialLists(s.list).credentials.list({ limit: 20 })).map(({ sid }) => sid),
          [s.sid],
        ),
      'none in another list': async () => {
        const { sid } = await client.sip.credentialLists.create({ friendlyName: 'Shop' });
        assert.deepEqual(await client.sip.credentialLists(sid).credentials.list({ limit: 20 }), []);
      },
      delete: async () => client.sip.credentialLists(s.list).credentials(s.sid).remove(),
      gone: async () => refused(client.sip.credentialLists(s.list).credentials(s.sid).fetch(), 404),
    }),
    'an API key, whose secret is told once': (client, s) => ({
      create: async () => {
        const made = await client.newKeys.create({ friendlyName: 'For tests' });
        s.sid = made.sid;
        assert.deepEqual([made.friendlyName, typeof made.secret], ['For tests', 'string']);
      },
      rename: async () => assert.equal((await client.keys(s.sid).update({ friendlyName: 'For all' })).friendlyName, 'For all'),
      'read it without its secret': async () => {
        const read = await client.keys(s.sid).fetch();
        assert.equal(read.friendlyName, 'For all');
        assert.ok(!('secret' in read.toJSON()));
      },
      delete: async () => client.keys(s.sid).remove(),
      gone: async () => refused(client.keys(s.sid).fetch(), 404),
    }),
    'a credential that is refused': (client, _s, another) => ({
      'the right one is taken': async () => assert.deepEqual(await client.queues.list({ limit: 1 }), []),
      'another is refused': async () =>
        refused(another('SK00000000000000000000000000000000:wrong').queues.list({ limit: 1 }), 401),
    }),
    'requests that are wrong': (client) => ({
      'a message that nobody sent': async () => {
        const thrown = await refused(client.messages('SM00000000000000000000000000000000').fetch(), 404);
        assert.equal(typeof (thrown as { message?: unknown }).message, 'string');
      },
      'a queue whose size is a word': async () =>
        refused(client.queues.create({ friendlyName: 'Support', maxSize: 'many' as unknown as number }), 400),
      'a call with a status that there is not': async () => {
        const { sid } = await client.calls.create({ ...numbers, url: 'http://demo.twilio.com/docs/voice.xml' });
        await refused(client.calls(sid).update({ status: 'paused' as 'completed' }), 400);
      },
    }),
  },
};
