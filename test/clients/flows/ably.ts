import assert from 'node:assert/strict';
import * as Ably from 'ably';
import { given, once, pages, refused, type Vendor } from '../kit.ts';

// Its key is what Basic authentication sends, before it is encoded.
const keyOf = (token: string): string => Buffer.from(token, 'base64').toString('utf8');

const recipient = { transportType: 'fcm', registrationToken: 'eJw9y0kKgDAMBdC7' };
const phone = (id: string, clientId: string): Ably.DeviceDetails =>
  ({ id, clientId, platform: 'android', formFactor: 'phone', metadata: {}, push: { recipient } }) as Ably.DeviceDetails;

// https://ably.com/docs/api/rest-api
export const vendor: Vendor<Ably.Rest> = {
  document: 'ably/platform.json',
  header: 'authorization',
  word: 'Basic',
  made: Buffer.from('I2ACJQ.Lv8AUQ:nKXnMw8T1tHnrjGvTj0gq6Qz').toString('base64'),
  client: (place, token) =>
    new Ably.Rest({
      key: keyOf(token),
      restHost: new URL(place.url).hostname,
      port: place.port,
      tls: false,
      fallbackHosts: [],
      useBinaryProtocol: false,
      httpMaxRetryCount: 0,
      logLevel: 0,
    }),
  strict: ['a wrong key is refused'],
  flows: {
    'the time of the service': (rest) => ({
      'is a number of milliseconds': async () => {
        const time = await rest.time();
        assert.equal(typeof time, 'number');
      },
    }),

    'a message published, and found in the history': (rest, s) => ({
      published: () => rest.channels.get('orders').publish('placed', 'order 1001'),
      'found with its name and data': async () => {
        const { items } = await rest.channels.get('orders').history({ limit: 10 });
        const found = given(
          items.find(({ data }) => data === 'order 1001'),
          'message',
        );
        assert.equal(found.name, 'placed');
        s.id = String(found.id);
      },
      'with a time and an id': async () => {
        const { items } = await rest.channels.get('orders').history({ limit: 10 });
        const found = given(
          items.find(({ id }) => id === s.id),
          'message',
        );
        assert.equal(typeof found.timestamp, 'number');
      },
    }),

    'a message with what its publisher says of itself': (rest) => ({
      published: () => rest.channels.get('chat').publish({ name: 'said', data: 'hello', clientId: 'ann' }),
      'found with its client': async () => {
        const { items } = await rest.channels.get('chat').history();
        assert.equal(items.find(({ data }) => data === 'hello')?.clientId, 'ann');
      },
    }),

    'data that is an object': (rest) => ({
      published: () => rest.channels.get('readings').publish('temperature', { celsius: 21.5, room: 'hall' }),
      'comes back as one': async () => {
        const { items } = await rest.channels.get('readings').history();
        const found = given(
          items.find(({ name }) => name === 'temperature'),
          'message',
        );
        assert.deepEqual(found.data, { celsius: 21.5, room: 'hall' });
      },
    }),

    'a history through all pages': (rest) => ({
      'seven are published': async () => {
        for (let n = 1; n <= 7; n += 1) await rest.channels.get('ticks').publish('tick', `tick ${n}`);
      },
      'a page is no longer than asked for, and there is another': async () => {
        const page = await rest.channels.get('ticks').history({ limit: 3 });
        assert.equal(page.items.length, 3);
        assert.ok(page.hasNext());
      },
      'all pages together hold each once': async () => {
        let page: Ably.PaginatedResult<Ably.InboundMessage> | null = null;
        const all = await pages(
          async (from) => {
            page =
              page === null || from === undefined ? await rest.channels.get('ticks').history({ limit: 3 }) : await page.next();
            return given(page, 'page');
          },
          ({ items }) => items,
          (last) => (last.hasNext() ? 'next' : undefined),
        );
        once(
          all.map(({ data }) => String(data)),
          ['tick 1', 'tick 2', 'tick 3', 'tick 4', 'tick 5', 'tick 6', 'tick 7'],
          'messages',
        );
      },
      'forwards, the oldest is the first': async () => {
        const { items } = await rest.channels.get('ticks').history({ limit: 3, direction: 'forwards' });
        assert.deepEqual(
          items.map(({ data }) => data),
          ['tick 1', 'tick 2', 'tick 3'],
        );
      },
      'backwards, as without a word, the newest': async () => {
        const { items } = await rest.channels.get('ticks').history({ limit: 1 });
        assert.equal(items[0]?.data, 'tick 7');
      },
    }),

    'each channel has its own history': (rest) => ({
      'one message in each of two': async () => {
        await rest.channels.get('left').publish('note', 'to the left');
        await rest.channels.get('right').publish('note', 'to the right');
      },
      'the left one': async () => {
        const { items } = await rest.channels.get('left').history();
        assert.deepEqual(
          items.map(({ data }) => data),
          ['to the left'],
        );
      },
    }),

    'the state of a channel': (rest) => ({
      'a message in it': () => rest.channels.get('lobby').publish('note', 'open'),
      'says which it is': async () => assert.equal((await rest.channels.get('lobby').status()).channelId, 'lobby'),
    }),

    'the channels there are': (rest) => ({
      'asked for by prefix': async () => {
        const answer = await rest.request('GET', '/channels', 3, { prefix: 'lob', limit: 10 });
        assert.equal(answer.success, true);
        assert.equal(answer.statusCode, 200);
      },
    }),

    'who is present': (rest) => ({
      'nobody, in a room nobody entered': async () => {
        const { items } = await rest.channels.get('empty-room').presence.get({ limit: 5 });
        assert.equal(items.length, 0);
      },
      'and nobody was': async () => {
        assert.equal((await rest.channels.get('empty-room').presence.history()).items.length, 0);
      },
    }),

    'a device registered, read, removed': (rest) => ({
      registered: async () => {
        const saved = await rest.push.admin.deviceRegistrations.save(phone('device-1', 'ann'));
        assert.equal(saved.id, 'device-1');
        assert.equal(saved.platform, 'android');
      },
      'read as it was registered': async () => {
        const read = await rest.push.admin.deviceRegistrations.get('device-1');
        assert.equal(read.id, 'device-1');
        assert.equal(read.clientId, 'ann');
        assert.equal(read.formFactor, 'phone');
      },
      'registered again as of another client': () => rest.push.admin.deviceRegistrations.save(phone('device-1', 'bob')),
      'read so': async () => {
        assert.equal((await rest.push.admin.deviceRegistrations.get('device-1')).clientId, 'bob');
      },
      removed: () => rest.push.admin.deviceRegistrations.remove('device-1'),
      'no more there': () => refused(rest.push.admin.deviceRegistrations.get('device-1'), 404),
    }),

    'the devices of a client': (rest) => ({
      'two of one, one of another': async () => {
        for (const [id, client] of [
          ['d-1', 'carol'],
          ['d-2', 'carol'],
          ['d-3', 'dave'],
        ] as const)
          await rest.push.admin.deviceRegistrations.save(phone(id, client));
      },
      'the two are listed': async () => {
        const { items } = await rest.push.admin.deviceRegistrations.list({ clientId: 'carol' });
        assert.deepEqual(items.map(({ id }) => String(id)).sort(), ['d-1', 'd-2']);
      },
      'they are removed at once': () => rest.push.admin.deviceRegistrations.removeWhere({ clientId: 'carol' }),
      'and the other is left': async () => {
        assert.equal((await rest.push.admin.deviceRegistrations.get('d-3')).id, 'd-3');
      },
    }),

    'a device subscribed to a channel': (rest) => ({
      'a device': () => rest.push.admin.deviceRegistrations.save(phone('device-9', 'erin')),
      subscribed: () => rest.push.admin.channelSubscriptions.save({ channel: 'alerts', deviceId: 'device-9' }),
      'the channel has subscribers': async () => {
        const { items } = await rest.push.admin.channelSubscriptions.listChannels({});
        once(items, ['alerts'], 'channels');
      },
      'is subscribed no more': () => rest.push.admin.channelSubscriptions.remove({ channel: 'alerts', deviceId: 'device-9' }),
    }),

    'a notification pushed to a client': (rest) => ({
      'is taken': () => rest.push.admin.publish({ clientId: 'erin' }, { notification: { title: 'Hello', body: 'There' } }),
    }),

    'a token for somebody else': (rest) => ({
      'is given for the key': async () => {
        const details = await rest.auth.requestToken({ clientId: 'frank', ttl: 60_000 });
        assert.equal(typeof details.token, 'string');
        assert.ok(details.token.length > 0);
      },
    }),

    'what was used': (rest) => ({
      'is counted by the hour': async () => assert.ok(Array.isArray((await rest.stats({ unit: 'hour', limit: 5 })).items)),
    }),

    'a wrong key is refused': (rest, _s, another) => ({
      'a history': () => refused(wrong(another).channels.get('orders').history(), 401),
      'a message': () => refused(wrong(another).channels.get('orders').publish('placed', 'free of charge'), 401),
      'and it is not in the history': async () => {
        const { items } = await rest.channels.get('orders').history();
        assert.ok(!items.some(({ data }) => data === 'free of charge'));
      },
    }),

    'what is not there, and what is not right': (rest) => ({
      'no such device': () => refused(rest.push.admin.deviceRegistrations.get('nowhere'), 404),
      'no such direction': () => refused(rest.channels.get('orders').history({ direction: 'sideways' as never }), 400),
      'no such platform': () =>
        refused(
          rest.push.admin.deviceRegistrations.save({
            ...phone('device-2', 'ann'),
            platform: 'abacus',
          } as unknown as Ably.DeviceDetails),
          400,
          422,
        ),
    }),
  },
};

const wrong = (another: (token: string) => Ably.Rest): Ably.Rest =>
  another(Buffer.from('I2ACJQ.wrong0:not-the-secret-of-anybody').toString('base64'));
