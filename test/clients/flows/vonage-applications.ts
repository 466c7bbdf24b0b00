import assert from 'node:assert/strict';
import { Applications } from '@vonage/applications';
import { Auth } from '@vonage/auth';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Application = Parameters<Applications['createApplication']>[0];
type Capabilities = Application['capabilities'];
type Post = 'POST';
type Get = 'GET';

/** The credential is the account's key and its secret, with a colon between them, in Base64. */
const connect = (place: Place, token: string): Applications => {
  const [apiKey, apiSecret = 'none'] = Buffer.from(token, 'base64').toString().split(':');
  return new Applications(new Auth({ apiKey, apiSecret }), { apiHost: place.url });
};
const pair = (key: string, secret: string): string => Buffer.from(`${key}:${secret}`).toString('base64');

const voice = {
  webhooks: {
    answerUrl: { address: 'https://example.com/webhooks/answer', httpMethod: 'GET' as Get },
    eventUrl: { address: 'https://example.com/webhooks/event', httpMethod: 'POST' as Post },
  },
} as Capabilities['voice'];
const messages = {
  webhooks: {
    inboundUrl: { address: 'https://example.com/webhooks/inbound', httpMethod: 'POST' as Post },
    statusUrl: { address: 'https://example.com/webhooks/status', httpMethod: 'POST' as Post },
  },
} as Capabilities['messages'];
const rtc = {
  webhooks: { eventUrl: { address: 'https://example.com/webhooks/rtc', httpMethod: 'POST' as Post } },
} as Capabilities['rtc'];

const create = async (client: Applications, s: State, name: string, more: object = {}): Promise<Application> => {
  const made = await client.createApplication({ name, capabilities: {}, ...more });
  s.id = given(made.id, 'id');
  return made;
};
const five = ['one', 'two', 'three', 'four', 'five'];
const nowhere = '78d335fa-323d-0114-9c3d-d6f0d48968cf';

/** The pages of the list, each with its applications and what its links say. */
interface Page {
  readonly page?: number;
  readonly page_size?: number;
  readonly total_items?: number;
  readonly total_pages?: number;
  readonly _embedded?: { readonly applications?: readonly Application[] };
  readonly _links?: Readonly<Record<'self' | 'first' | 'last' | 'next' | 'prev', { readonly href: string } | undefined>>;
}
const page = async (client: Applications, asked: { pageSize?: number; page?: number } = {}): Promise<Page> =>
  (await client.listApplications(asked)) as unknown as Page;
const ids = (answer: Page): string[] => (answer._embedded?.applications ?? []).map(({ id }) => given(id, 'id'));

const told = async (thrown: unknown): Promise<Readonly<Record<string, unknown>>> => {
  const { response } = thrown as { response: Response };
  return (await response.json()) as Record<string, unknown>;
};

/** Guide: developer.vonage.com, "Application API" (overview, its reference, "Pagination", "Errors"). */
export const vendor: Vendor<Applications> = {
  document: 'vonage/application.v2.json',
  header: 'Authorization',
  word: 'Basic',
  made: pair('abcd1234', 'MySecret1'),
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'an application is created, read, renamed and deleted': (client, s) => ({
      create: async () => {
        const made = await client.createApplication({ name: 'My Application', capabilities: {} });
        s.id = given(made.id, 'id');
        assert.equal(made.name, 'My Application');
      },
      read: async () => {
        const read = await client.getApplication(s.id);
        assert.deepEqual([read.id, read.name], [s.id, 'My Application']);
      },
      rename: async () => {
        const changed = await client.updateApplication({ id: s.id, name: 'Our Application', capabilities: {} });
        assert.deepEqual([changed.id, changed.name], [s.id, 'Our Application']);
      },
      'it stays so': async () => assert.equal((await client.getApplication(s.id)).name, 'Our Application'),
      delete: () => client.deleteApplication(s.id),
      'it is gone': () => refused(client.getApplication(s.id), 404),
    }),
    'the keys of an application': (client, s) => ({
      create: async () => {
        const made = await create(client, s, 'With keys');
        s.key = given(made.keys?.publicKey, 'public key');
        assert.ok(given(made.keys?.privateKey, 'private key'));
      },
      'the private one is told once': async () => {
        const read = await client.getApplication(s.id);
        assert.deepEqual([read.keys?.publicKey, read.keys?.privateKey], [s.key, undefined]);
      },
    }),
    'a key of one’s own': (client, s) => ({
      create: async () => {
        const publicKey =
          '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\nKOxjsU4pf/sMFi9N0jqcSLcjxu33G\nd/vynKnlw9SENi\n-----END PUBLIC KEY-----\n';
        const made = await create(client, s, 'My key', { keys: { publicKey } });
        assert.equal(made.keys?.publicKey, publicKey);
        s.key = publicKey;
      },
      'it is kept': async () => assert.equal((await client.getApplication(s.id)).keys?.publicKey, s.key),
    }),
    'an application that takes calls': (client, s) => ({
      create: async () => {
        const made = await create(client, s, 'Calls', { capabilities: { voice } });
        assert.partialDeepStrictEqual(made.capabilities.voice, voice);
      },
      read: async () => assert.partialDeepStrictEqual((await client.getApplication(s.id)).capabilities.voice, voice),
      'answered elsewhere': async () => {
        const webhooks = {
          ...voice?.webhooks,
          answerUrl: { address: 'https://example.org/answer', httpMethod: 'POST' as Post },
        };
        const asked = { id: s.id, name: 'Calls', capabilities: { voice: { webhooks } } } as Application;
        const changed = await client.updateApplication(asked);
        assert.equal(changed.capabilities.voice?.webhooks?.answerUrl?.address, 'https://example.org/answer');
        assert.equal(changed.capabilities.voice?.webhooks?.eventUrl?.address, 'https://example.com/webhooks/event');
      },
    }),
    'an application that takes messages': (client, s) => ({
      create: async () => {
        const made = await create(client, s, 'Messages', { capabilities: { messages } });
        assert.partialDeepStrictEqual(made.capabilities.messages, messages);
      },
      read: async () => {
        const read = await client.getApplication(s.id);
        assert.partialDeepStrictEqual(read.capabilities.messages, messages);
        assert.equal(read.capabilities.voice, undefined);
      },
    }),
    'an application for several things': (client, s) => ({
      create: async () => {
        const made = await create(client, s, 'Several', { capabilities: { voice, messages, rtc, vbc: {} } });
        assert.deepEqual(Object.keys(made.capabilities).toSorted(), ['messages', 'rtc', 'vbc', 'voice']);
      },
      'read it': async () => assert.partialDeepStrictEqual((await client.getApplication(s.id)).capabilities.rtc, rtc),
      'no longer for calls': async () => {
        const changed = await client.updateApplication({ id: s.id, name: 'Several', capabilities: { messages, rtc } });
        assert.deepEqual(Object.keys(changed.capabilities).toSorted(), ['messages', 'rtc']);
      },
      'it stays so': async () => {
        const read = await client.getApplication(s.id);
        assert.equal(read.capabilities.voice, undefined);
        assert.partialDeepStrictEqual(read.capabilities.messages, messages);
      },
    }),
    'whether what is said may be learned from': (client, s) => ({
      'not from this one': async () => {
        const made = await create(client, s, 'Private', { privacy: { improveAi: false } });
        assert.equal(made.privacy?.improveAi, false);
      },
      'it stays so': async () => assert.equal((await client.getApplication(s.id)).privacy?.improveAi, false),
      'from this one': async () => {
        const changed = await client.updateApplication({
          id: s.id,
          name: 'Private',
          privacy: { improveAi: true },
          capabilities: {},
        });
        assert.equal(changed.privacy?.improveAi, true);
      },
    }),
    'applications, page by page': (client, s) => ({
      'create five': async () => {
        const made: string[] = [];
        for (const name of five) made.push(given((await create(client, s, name)).id, 'id'));
        s.ids = made.join(',');
      },
      'a page says where it stands': async () => {
        const first = await page(client, { pageSize: 2, page: 1 });
        assert.equal(ids(first).length, 2);
        assert.deepEqual([first.page, first.page_size, first.total_items, first.total_pages], [1, 2, 5, 3]);
      },
      'all pages hold each once': async () => {
        const rows = await pages(
          (_from, number) => page(client, { pageSize: 2, page: number }),
          ids,
          (answer) => answer._links?.next?.href,
        );
        once(rows, s.ids.split(','), 'applications');
      },
      'the client walks them by itself': async () => {
        const found: string[] = [];
        for await (const one of client.listAllApplications({ pageSize: 2 })) {
          found.push(given(one.id, 'id'));
          assert.ok(found.length < 60);
        }
        once(found, s.ids.split(','), 'applications');
      },
    }),
    'where the pages lead': (client, s) => ({
      'create five': async () => {
        for (const name of five) await create(client, s, name);
      },
      'the first leads to the next and to the last': async () => {
        const { _links } = await page(client, { pageSize: 2, page: 1 });
        assert.match(given(_links?.next, 'next').href, /page=2/);
        assert.match(given(_links?.last, 'last').href, /page=3/);
      },
      'the second leads back': async () => {
        const { _links } = await page(client, { pageSize: 2, page: 2 });
        assert.match(given(_links?.prev, 'prev').href, /page=1/);
      },
      'the last leads no further': async () => {
        const last = await page(client, { pageSize: 2, page: 3 });
        assert.deepEqual([ids(last).length, last._links?.next], [1, undefined]);
      },
    }),
    'what was deleted is not listed': (client, s) => ({
      'create two': async () => {
        s.kept = given((await create(client, s, 'kept')).id, 'id');
        await create(client, s, 'deleted');
      },
      'both are listed': async () => once(ids(await page(client)), [s.kept, s.id], 'applications'),
      delete: () => client.deleteApplication(s.id),
      'one is': async () => {
        const answer = await page(client);
        assert.deepEqual([ids(answer), answer.total_items], [[s.kept], 1]);
      },
      'it is not deleted twice': () => refused(client.deleteApplication(s.id), 404),
    }),
    'two applications of one name are two': (client, s) => ({
      create: async () => {
        s.first = given((await create(client, s, 'same')).id, 'id');
        await create(client, s, 'same');
        assert.notEqual(s.first, s.id);
      },
      'rename one': async () => {
        await client.updateApplication({ id: s.id, name: 'other', capabilities: {} });
        assert.deepEqual(
          [(await client.getApplication(s.first)).name, (await client.getApplication(s.id)).name],
          ['same', 'other'],
        );
      },
    }),
    'a key that is refused': (client, _s, another) => ({
      'the right one is taken': async () => assert.equal(typeof (await page(client)).total_items, 'number'),
      'another is not': () => refused(page(another(pair('nobody', 'wrong'))), 401),
    }),
    'requests that are wrong': (client, s) => ({
      'one that never was': () => refused(client.getApplication(nowhere), 404),
      'a change of one that never was': () =>
        refused(client.updateApplication({ id: nowhere, name: 'Lost', capabilities: {} }), 404),
      'without a name': async () => {
        const thrown = await refused(client.createApplication({ capabilities: {} } as Application), 400);
        const problem = await told(thrown);
        assert.ok(given(problem.title, 'title'));
        assert.ok(Array.isArray(problem.invalid_parameters));
      },
      'a way to ask that is none': async () => {
        const webhooks = { eventUrl: { address: 'https://example.com/rtc', httpMethod: 'SHOUT' } };
        await refused(create(client, s, 'Loud', { capabilities: { rtc: { webhooks } } }), 400);
      },
    }),
  },
};
