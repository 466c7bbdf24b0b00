import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type Flow, given, once, type Place, pages, refused, type State, type Steps, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>> & { readonly id: number };
interface Answer {
  readonly status: number;
  readonly obj: unknown;
}
type Operation = (asked: object) => PromiseLike<Answer>;
/** What is used of the client: once it is ready it has an object for each tag, which has the operations by their ids. */
interface Api {
  ready(done: (client: unknown) => void, failed: (why: unknown) => void): void;
}
interface Maker {
  new (login: string, password: string): Api;
  swaggerUrl(): string;
}
const CallfireClient = createRequire(import.meta.url)('callfire-api-client-js') as Maker;

/**
 * The operations used here, as the vendor's description has them: id, method, path, parameters of the query (`*` with many
 * values), and whether there is a body.
 */
const operations: Readonly<Record<string, readonly (readonly [string, string, string, string, boolean])[]>> = {
  contacts: [
    ['findContacts', 'get', '/contacts', 'fields limit offset id* number* contactListId propertyName propertyValue', false],
    ['createContacts', 'post', '/contacts', '', true],
    ['getContact', 'get', '/contacts/{id}', 'fields', false],
    ['updateContact', 'put', '/contacts/{id}', '', true],
    ['deleteContact', 'delete', '/contacts/{id}', '', false],
    ['findContactLists', 'get', '/contacts/lists', 'fields limit offset name', false],
    ['createContactList', 'post', '/contacts/lists', 'fields', true],
    ['getContactList', 'get', '/contacts/lists/{id}', 'fields', false],
    ['updateContactList', 'put', '/contacts/lists/{id}', '', true],
    ['deleteContactList', 'delete', '/contacts/lists/{id}', '', false],
    ['getContactListItems', 'get', '/contacts/lists/{id}/items', 'fields limit offset', false],
    ['addContactListItems', 'post', '/contacts/lists/{id}/items', '', true],
    ['removeContactListItems', 'delete', '/contacts/lists/{id}/items', 'contactId*', false],
    ['removeContactListItem', 'delete', '/contacts/lists/{id}/items/{contactId}', '', false],
    ['findDoNotContacts', 'get', '/contacts/dncs', 'fields limit offset prefix source call text number*', false],
    ['addDoNotContacts', 'post', '/contacts/dncs', '', true],
    ['getDoNotContact', 'get', '/contacts/dncs/{number}', '', false],
    ['updateDoNotContact', 'put', '/contacts/dncs/{number}', '', true],
    ['deleteDoNotContact', 'delete', '/contacts/dncs/{number}', '', false],
    ['deleteDoNotContactsBySource', 'delete', '/contacts/dncs/sources/{source}', '', false],
  ],
  webhooks: [
    ['findWebhooks', 'get', '/webhooks', 'fields limit offset name resource event callback enabled', false],
    ['createWebhook', 'post', '/webhooks', '', true],
    ['getWebhook', 'get', '/webhooks/{id}', 'fields', false],
    ['updateWebhook', 'put', '/webhooks/{id}', '', true],
    ['deleteWebhook', 'delete', '/webhooks/{id}', '', false],
    ['findWebhookResources', 'get', '/webhooks/resources', 'fields', false],
    ['getWebhookResource', 'get', '/webhooks/resources/{resource}', 'fields', false],
  ],
  texts: [
    ['findTexts', 'get', '/texts', 'fields limit offset id* campaignId toNumber', false],
    ['sendTexts', 'post', '/texts', 'fields campaignId defaultMessage', true],
    ['getText', 'get', '/texts/{id}', 'fields', false],
    ['findTextBroadcasts', 'get', '/texts/broadcasts', 'fields limit offset name label running', false],
    ['createTextBroadcast', 'post', '/texts/broadcasts', 'start', true],
    ['getTextBroadcast', 'get', '/texts/broadcasts/{id}', 'fields', false],
    ['updateTextBroadcast', 'put', '/texts/broadcasts/{id}', '', true],
    ['archiveTextBroadcast', 'post', '/texts/broadcasts/{id}/archive', '', false],
    ['addTextBroadcastRecipients', 'post', '/texts/broadcasts/{id}/recipients', 'fields', true],
    ['getTextBroadcastTexts', 'get', '/texts/broadcasts/{id}/texts', 'fields limit offset', false],
    ['getTextBroadcastBatches', 'get', '/texts/broadcasts/{id}/batches', 'fields limit offset', false],
    ['addTextBroadcastBatch', 'post', '/texts/broadcasts/{id}/batches', '', true],
    ['findTextAutoReplys', 'get', '/texts/auto-replys', 'fields limit offset number', false],
    ['createTextAutoReply', 'post', '/texts/auto-replys', '', true],
    ['getTextAutoReply', 'get', '/texts/auto-replys/{id}', 'fields', false],
    ['deleteTextAutoReply', 'delete', '/texts/auto-replys/{id}', '', false],
  ],
  campaigns: [
    ['getCampaignBatch', 'get', '/campaigns/batches/{id}', 'fields', false],
    ['updateCampaignBatch', 'put', '/campaigns/batches/{id}', '', true],
    ['findCampaignSounds', 'get', '/campaigns/sounds', 'fields limit offset filter includeArchived includePending', false],
    ['postTTSCampaignSound', 'post', '/campaigns/sounds/tts', 'fields', true],
    ['getCampaignSound', 'get', '/campaigns/sounds/{id}', 'fields', false],
    ['deleteCampaignSound', 'delete', '/campaigns/sounds/{id}', '', false],
  ],
  me: [
    ['getAccount', 'get', '/me/account', '', false],
    ['findApiCredentials', 'get', '/me/api/credentials', 'fields limit offset name', false],
    ['createApiCredential', 'post', '/me/api/credentials', '', true],
    ['getApiCredential', 'get', '/me/api/credentials/{id}', 'fields', false],
    ['deleteApiCredential', 'delete', '/me/api/credentials/{id}', '', false],
    ['disableApiCredentials', 'post', '/me/api/credentials/{id}/disable', '', false],
    ['enableApiCredentials', 'post', '/me/api/credentials/{id}/enable', '', false],
  ],
  numbers: [['findNumberLeases', 'get', '/numbers/leases', 'fields limit offset', false]],
};

/** The client reads a description in Swagger 2.0 from the service before its first call: this is that, with another address. */
function swagger(host: string, basePath: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [tag, list] of Object.entries(operations)) {
    for (const [operationId, method, path, query, body] of list) {
      const parameters: object[] = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        name,
        in: 'path',
        required: true,
        type: 'string',
      }));
      for (const name of query.split(' ').filter((one) => one !== '')) {
        const many = name.endsWith('*');
        const type = many ? { type: 'array', items: { type: 'string' }, collectionFormat: 'multi' } : { type: 'string' };
        parameters.push({ name: many ? name.slice(0, -1) : name, in: 'query', required: false, ...type });
      }
      if (body) parameters.push({ name: 'body', in: 'body', required: false, schema: { type: 'object' } });
      const operation = {
        tags: [tag],
        operationId,
        parameters,
        responses: { default: { description: '' } },
        security: [{ basicAuth: [] }],
      };
      paths[path] = { ...paths[path], [method]: operation };
    }
  }
  return {
    swagger: '2.0',
    info: { title: 'CallFire API Documentation', version: 'V2' },
    host,
    basePath,
    schemes: ['http'],
    consumes: ['application/json'],
    produces: ['application/json'],
    securityDefinitions: { basicAuth: { type: 'basic' } },
    paths,
  };
}

let serving: Promise<number> | undefined;
/** Serves that description on loopback: the path before `/api-docs` is the service's host and base path. */
function described(): Promise<number> {
  serving ??= new Promise((resolve, reject) => {
    const server = createServer((asked, answer) => {
      const [, host, base] = given(asked.url, 'path').split('/');
      const text = JSON.stringify(swagger(decodeURIComponent(host ?? ''), decodeURIComponent(base ?? '') || '/'));
      answer.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(text);
    });
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    server.unref();
  });
  return serving;
}

/** Calls an operation by `tag.operationId`. */
// biome-ignore lint/suspicious/noExplicitAny: the client has no types of what it answers
type Call = (operation: string, asked?: object) => Promise<any>;

/** A login and a password, from the form in which they go into the header. */
const connect = (place: Place, token: string): Call => {
  const [login = '', ...rest] = Buffer.from(token, 'base64').toString('latin1').split(':');
  let client: Promise<Record<string, Record<string, Operation>>> | undefined;
  const ready = async (): Promise<Record<string, Record<string, Operation>>> => {
    const { host, pathname } = new URL(place.base);
    const url = `http://127.0.0.1:${await described()}/${encodeURIComponent(host)}/${encodeURIComponent(pathname)}/api-docs/swagger.json`;
    const vendors = CallfireClient.swaggerUrl;
    CallfireClient.swaggerUrl = () => url;
    try {
      const made = new CallfireClient(login, rest.join(':'));
      return await new Promise((resolve, reject) => {
        made.ready(() => resolve(made as unknown as Record<string, Record<string, Operation>>), reject);
      });
    } finally {
      CallfireClient.swaggerUrl = vendors;
    }
  };
  return async (operation, asked = {}) => {
    client ??= ready();
    const [tag = '', name = ''] = operation.split('.');
    const call = given((await client)[tag]?.[name], operation);
    try {
      return (await call(asked)).obj;
    } catch (thrown) {
      const { status, obj } = thrown as Partial<Answer>;
      const text = typeof thrown === 'string' ? thrown : JSON.stringify(obj ?? (thrown as { data?: unknown }).data);
      throw Object.assign(new Error(`${operation}: ${status} ${text}`), { status, body: obj });
    }
  };
};

/** Every row of a list, page after page: one with fewer rows than asked for is the last. */
const all = (call: Call, operation: string, asked: object = {}, limit = 100): Promise<Row[]> =>
  pages<readonly Row[], Row>(
    async (from) => (await call(operation, { ...asked, limit, offset: Number(from ?? 0) })).items ?? [],
    (rows) => rows,
    (() => {
      let offset = 0;
      return (rows: readonly Row[]) => {
        offset += limit;
        return rows.length < limit ? undefined : String(offset);
      };
    })(),
  );
const ids = (rows: readonly { readonly id: number }[]): string[] => rows.map(({ id }) => String(given(id, 'id')));
const id = (made: { readonly id?: number }): string => String(given(made.id, 'id'));
const nobody = 999_999_999_999;

const contacts = async (call: Call, ...rows: object[]): Promise<string[]> =>
  ids((await call('contacts.createContacts', { body: rows })).items);
const webhook = async (call: Call, name: string, more: object = {}): Promise<string> =>
  id(
    await call('webhooks.createWebhook', {
      body: {
        name,
        resource: 'TextBroadcast',
        events: ['started', 'stopped'],
        callback: 'https://yourservice.com/callback',
        ...more,
      },
    }),
  );

/** What steps of these flows find out for later ones. */
type Held = Record<
  | 'all'
  | 'amy'
  | 'batch'
  | 'bea'
  | 'call'
  | 'cyd'
  | 'events'
  | 'fay'
  | 'first'
  | 'gil'
  | 'hal'
  | 'id'
  | 'list'
  | 'number'
  | 'numbers'
  | 'off'
  | 'resource'
  | 'text'
  | 'texts'
  | 'to12135558001'
  | 'to12135558002',
  string
>;
type Told = (call: Call, s: Held, another: (token: string) => Call, place: Place) => Steps;
const held = (flows: Readonly<Record<string, Told>>): Record<string, Flow<Call>> => flows as Record<string, Flow<Call>>;

/**
 * Guide: developers.callfire.com: docs (pagination, partial response, errors), learn (contacts, DNC, texts, sounds), the
 * webhooks guide; and the client's own description of statuses.
 */
export const vendor: Vendor<Call> = {
  document: 'callfire/callfire.com.json',
  header: 'Authorization',
  word: 'Basic',
  made: Buffer.from('c1a2llf1re:p4ssw0rd-made-up').toString('base64'),
  client: connect,
  strict: ['credentials that are refused, and what is not there'],
  flows: held({
    'a contact from its making to its end': (call, s) => ({
      create: async () => {
        const body = {
          firstName: 'Bob',
          lastName: 'Smith',
          homePhone: '12135551100',
          zipcode: '40460',
          properties: { age: '30' },
        };
        const made = await contacts(call, body);
        assert.equal(made.length, 1);
        s.id = given(made[0], 'id');
      },
      read: async () => {
        const read = await call('contacts.getContact', { id: s.id });
        assert.deepEqual(
          [String(read.id), read.firstName, read.lastName, read.homePhone, read.zipcode, read.properties],
          [s.id, 'Bob', 'Smith', '12135551100', '40460', { age: '30' }],
        );
      },
      'it is listed': async () => once(ids(await all(call, 'contacts.findContacts')), [s.id], 'contacts'),
      change: async () => {
        await call('contacts.updateContact', {
          id: s.id,
          body: { firstName: 'Bob', lastName: 'Jones', homePhone: '12135551122' },
        });
      },
      'it stays changed': async () => {
        const read = await call('contacts.getContact', { id: s.id });
        assert.deepEqual([String(read.id), read.firstName, read.lastName, read.homePhone], [s.id, 'Bob', 'Jones', '12135551122']);
      },
      delete: () => call('contacts.deleteContact', { id: s.id }),
      'it can be read, as deleted': async () => {
        const read = await call('contacts.getContact', { id: s.id });
        assert.deepEqual([String(read.id), read.deleted], [s.id, true]);
      },
      'it is not listed': async () => assert.ok(!ids(await all(call, 'contacts.findContacts')).includes(s.id)),
    }),
    'contacts page by page': (call, s) => ({
      'make five at once': async () => {
        const made = await contacts(
          call,
          ...['Ann', 'Ben', 'Cid', 'Dan', 'Eve'].map((firstName, n) => ({ firstName, mobilePhone: `1213555200${n}` })),
        );
        assert.equal(made.length, 5);
        once(made, made, 'made ids');
        s.all = made.join(' ');
      },
      'two on a page': async () => {
        const page = await call('contacts.findContacts', { limit: 2, offset: 0 });
        assert.deepEqual([page.items.length, page.limit, page.offset], [2, 2, 0]);
        s.first = ids(page.items).join(' ');
      },
      'the next two are others': async () => {
        const page = await call('contacts.findContacts', { limit: 2, offset: 2 });
        assert.deepEqual([page.items.length, page.offset], [2, 2]);
        for (const one of ids(page.items)) assert.ok(!s.first.split(' ').includes(one), `${one} again`);
      },
      'all pages': async () => once(ids(await all(call, 'contacts.findContacts', {}, 2)), s.all.split(' '), 'contacts'),
      'how many there are': async () => {
        const { totalCount } = await call('contacts.findContacts', { limit: 2 });
        assert.equal(totalCount, (await all(call, 'contacts.findContacts')).length);
      },
      'beyond the last': async () => {
        const { items, totalCount } = await call('contacts.findContacts', { limit: 2, offset: 5000 });
        assert.deepEqual(items ?? [], []);
        assert.ok(totalCount >= 5);
      },
    }),
    'contacts by what they have': (call, s) => ({
      'make three': async () => {
        const made = await contacts(
          call,
          { firstName: 'Amy', homePhone: '12135553001', properties: { city: 'Fresno' } },
          { firstName: 'Bea', workPhone: '12135553002', properties: { city: 'Fresno' } },
          { firstName: 'Cyd', mobilePhone: '12135553003', properties: { city: 'Oakland' } },
        );
        [s.amy, s.bea, s.cyd] = made as [string, string, string];
      },
      'by ids': async () => {
        const found = ids(await all(call, 'contacts.findContacts', { id: [s.amy, s.cyd] }));
        assert.deepEqual(found.toSorted(), [s.amy, s.cyd].toSorted());
      },
      'by a number': async () =>
        assert.deepEqual(ids(await all(call, 'contacts.findContacts', { number: ['12135553002'] })), [s.bea]),
      'by a property': async () => {
        const found = ids(await all(call, 'contacts.findContacts', { propertyName: 'city', propertyValue: 'Fresno' }));
        assert.deepEqual(found.toSorted(), [s.amy, s.bea].toSorted());
      },
      'by a number that none has': async () =>
        assert.deepEqual(await all(call, 'contacts.findContacts', { number: ['12135553999'] }), []),
      'only two fields of each': async () => {
        const { items } = await call('contacts.findContacts', { id: [s.bea], fields: 'items(id,firstName)' });
        assert.deepEqual(items, [{ id: Number(s.bea), firstName: 'Bea' }]);
      },
    }),
    'a contact list from its making to its end': (call, s) => ({
      create: async () => {
        const body = {
          name: 'My contact list',
          contactNumbers: ['12135554001', '12135554002'],
          contactNumbersField: 'homePhone',
        };
        const made = await call('contacts.createContactList', { body });
        s.id = id(made);
        assert.equal(made.name, 'My contact list');
      },
      read: async () => {
        const read = await call('contacts.getContactList', { id: s.id });
        assert.deepEqual([String(read.id), read.name, typeof read.created], [s.id, 'My contact list', 'number']);
      },
      'it is listed by a part of its name': async () =>
        once(ids(await all(call, 'contacts.findContactLists', { name: 'My contact' })), [s.id], 'lists'),
      rename: () => call('contacts.updateContactList', { id: s.id, body: { name: 'Customers of May' } }),
      'it stays renamed': async () => {
        const read = await call('contacts.getContactList', { id: s.id });
        assert.deepEqual([String(read.id), read.name], [s.id, 'Customers of May']);
      },
      delete: () => call('contacts.deleteContactList', { id: s.id }),
      'it is gone': () => refused(call('contacts.getContactList', { id: s.id }), 404),
      'it is not listed': async () => assert.ok(!ids(await all(call, 'contacts.findContactLists')).includes(s.id)),
    }),
    'who is in a contact list': (call, s) => ({
      'three contacts': async () => {
        const made = await contacts(
          call,
          { firstName: 'Fay', homePhone: '12135555001' },
          { firstName: 'Gil', homePhone: '12135555002' },
          { firstName: 'Hal', homePhone: '12135555003' },
        );
        [s.fay, s.gil, s.hal] = made as [string, string, string];
      },
      'a list of two of them': async () => {
        const body = { name: 'Friends', contactIds: [Number(s.fay), Number(s.gil)] };
        s.list = id(await call('contacts.createContactList', { body }));
        assert.deepEqual(
          ids(await all(call, 'contacts.getContactListItems', { id: s.list })).toSorted(),
          [s.fay, s.gil].toSorted(),
        );
      },
      'and the third': async () => {
        await call('contacts.addContactListItems', { id: s.list, body: { contactIds: [Number(s.hal)] } });
        once(ids(await all(call, 'contacts.getContactListItems', { id: s.list })), [s.fay, s.gil, s.hal], 'items');
      },
      'contacts are found by their list': async () =>
        once(ids(await all(call, 'contacts.findContacts', { contactListId: s.list })), [s.fay, s.gil, s.hal], 'contacts'),
      'one leaves': async () => {
        await call('contacts.removeContactListItem', { id: s.list, contactId: s.gil });
        assert.deepEqual(
          ids(await all(call, 'contacts.getContactListItems', { id: s.list })).toSorted(),
          [s.fay, s.hal].toSorted(),
        );
      },
      'the others leave together': async () => {
        await call('contacts.removeContactListItems', { id: s.list, contactId: [s.fay, s.hal] });
        assert.deepEqual(await all(call, 'contacts.getContactListItems', { id: s.list }), []);
      },
      'they are contacts still, also without the list': async () => {
        await call('contacts.deleteContactList', { id: s.list });
        const read = await call('contacts.getContact', { id: s.gil });
        assert.deepEqual([String(read.id), read.firstName, read.deleted ?? false], [s.gil, 'Gil', false]);
      },
    }),
    'a webhook from its making to its end': (call, s) => ({
      create: async () => {
        s.id = await webhook(call, 'test_webhook', { secret: 'verysecret', singleUse: false });
      },
      read: async () => {
        const read = await call('webhooks.getWebhook', { id: s.id });
        assert.deepEqual(
          [String(read.id), read.name, read.resource, read.events.toSorted(), read.callback],
          [s.id, 'test_webhook', 'TextBroadcast', ['started', 'stopped'], 'https://yourservice.com/callback'],
        );
        assert.equal(typeof read.createdAt, 'number');
      },
      'it is listed': async () => once(ids(await all(call, 'webhooks.findWebhooks')), [s.id], 'webhooks'),
      change: () =>
        call('webhooks.updateWebhook', {
          id: s.id,
          body: {
            name: 'renamed',
            resource: 'TextBroadcast',
            events: ['finished'],
            callback: 'https://yourservice.com/other',
            enabled: false,
          },
        }),
      'it stays changed': async () => {
        const read = await call('webhooks.getWebhook', { id: s.id });
        assert.deepEqual(
          [String(read.id), read.name, read.events, read.callback, read.enabled],
          [s.id, 'renamed', ['finished'], 'https://yourservice.com/other', false],
        );
      },
      delete: () => call('webhooks.deleteWebhook', { id: s.id }),
      'it is gone': () => refused(call('webhooks.getWebhook', { id: s.id }), 404),
      'it is not listed': async () => assert.ok(!ids(await all(call, 'webhooks.findWebhooks')).includes(s.id)),
    }),
    'webhooks by their filters': (call, s) => ({
      'make three': async () => {
        s.text = await webhook(call, 'of texts', { enabled: true });
        s.call = await webhook(call, 'of calls', { resource: 'CallBroadcast', events: ['finished'], enabled: true });
        s.off = await webhook(call, 'switched off', { callback: 'https://elsewhere.com/callback', enabled: false });
      },
      'of a resource': async () => {
        const found = ids(await all(call, 'webhooks.findWebhooks', { resource: 'CallBroadcast' }));
        once(found, [s.call], 'webhooks');
        assert.ok(!found.includes(s.text) && !found.includes(s.off));
      },
      'of an event': async () => {
        const found = ids(await all(call, 'webhooks.findWebhooks', { event: 'stopped' }));
        once(found, [s.text, s.off], 'webhooks');
        assert.ok(!found.includes(s.call));
      },
      'by a callback': async () =>
        assert.deepEqual(ids(await all(call, 'webhooks.findWebhooks', { callback: 'https://elsewhere.com/callback' })), [s.off]),
      'by a name': async () => assert.deepEqual(ids(await all(call, 'webhooks.findWebhooks', { name: 'of texts' })), [s.text]),
      'those that are enabled': async () => {
        const found = ids(await all(call, 'webhooks.findWebhooks', { enabled: true }));
        once(found, [s.text, s.call], 'webhooks');
        assert.ok(!found.includes(s.off));
      },
      'one on a page': async () =>
        once(ids(await all(call, 'webhooks.findWebhooks', {}, 1)), [s.text, s.call, s.off], 'webhooks'),
    }),
    'parts of answers, and what webhooks are of': (call, s) => ({
      'a webhook': async () => {
        s.id = await webhook(call, 'partial');
      },
      'two fields of it': async () =>
        assert.deepEqual(await call('webhooks.getWebhook', { id: s.id, fields: 'id,name' }), {
          id: Number(s.id),
          name: 'partial',
        }),
      'one field of each in the list': async () => {
        const { items } = await call('webhooks.findWebhooks', { fields: 'items(name)' });
        assert.ok(items.length > 0);
        for (const item of items) assert.deepEqual(Object.keys(item), ['name']);
      },
      'the resources': async () => {
        const { items } = await call('webhooks.findWebhookResources');
        const one = given<{ resource: string; supportedEvents: string[] }>(items[0], 'resource');
        assert.ok(Array.isArray(one.supportedEvents));
        [s.resource, s.events] = [one.resource, one.supportedEvents.join(' ')];
      },
      'one by its name': async () => {
        const { resource, supportedEvents } = await call('webhooks.getWebhookResource', { resource: s.resource });
        assert.deepEqual([resource, supportedEvents.join(' ')], [s.resource, s.events]);
      },
    }),
    'numbers that must not be called': (call, s) => ({
      add: async () => {
        const body = { numbers: ['12135556001', '12135556002'], call: true, text: true, source: 'optouts' };
        await call('contacts.addDoNotContacts', { body });
        s.numbers = '12135556001 12135556002';
      },
      read: async () => {
        const read = await call('contacts.getDoNotContact', { number: '12135556001' });
        assert.deepEqual([read.number, read.call, read.text, read.source], ['12135556001', true, true, 'optouts']);
      },
      'both are of their source': async () => {
        const rows: unknown[] = await all(call, 'contacts.findDoNotContacts', { source: 'optouts' });
        assert.deepEqual((rows as { number: string }[]).map(({ number }) => number).toSorted(), s.numbers.split(' '));
      },
      'texts are allowed again': async () => {
        await call('contacts.updateDoNotContact', { number: '12135556001', body: { call: true, text: false } });
        const read = await call('contacts.getDoNotContact', { number: '12135556001' });
        assert.deepEqual([read.number, read.call, read.text], ['12135556001', true, false]);
      },
      'it is not among those that must not have texts': async () => {
        const rows: unknown[] = await all(call, 'contacts.findDoNotContacts', { prefix: '1213555600', text: true });
        assert.deepEqual(
          (rows as { number: string }[]).map(({ number }) => number),
          ['12135556002'],
        );
      },
      'delete one': async () => {
        await call('contacts.deleteDoNotContact', { number: '12135556001' });
        const rows: unknown[] = await all(call, 'contacts.findDoNotContacts', { source: 'optouts' });
        assert.deepEqual(
          (rows as { number: string }[]).map(({ number }) => number),
          ['12135556002'],
        );
      },
      'delete all of the source': async () => {
        await call('contacts.deleteDoNotContactsBySource', { source: 'optouts' });
        assert.deepEqual(await all(call, 'contacts.findDoNotContacts', { source: 'optouts' }), []);
      },
    }),
    'a text broadcast from its making to the archive': (call, s) => ({
      create: async () => {
        const body = {
          name: 'Spring sale',
          fromNumber: '67076',
          message: 'Hello, 20% off this week',
          bigMessageStrategy: 'SEND_MULTIPLE',
          labels: ['spring'],
        };
        s.id = id(await call('texts.createTextBroadcast', { body }));
      },
      read: async () => {
        const read = await call('texts.getTextBroadcast', { id: s.id });
        assert.deepEqual(
          [String(read.id), read.name, read.fromNumber, read.message, read.bigMessageStrategy, read.labels],
          [s.id, 'Spring sale', '67076', 'Hello, 20% off this week', 'SEND_MULTIPLE', ['spring']],
        );
      },
      'found by its name and its label': async () => {
        once(ids(await all(call, 'texts.findTextBroadcasts', { name: 'Spring sale' })), [s.id], 'broadcasts');
        once(ids(await all(call, 'texts.findTextBroadcasts', { label: 'spring' })), [s.id], 'broadcasts');
      },
      'not by another label': async () =>
        assert.deepEqual(await all(call, 'texts.findTextBroadcasts', { label: 'no-such-label' }), []),
      change: () => call('texts.updateTextBroadcast', { id: s.id, body: { name: 'Spring sale', message: 'Hello, 30% off' } }),
      'it stays changed': async () => {
        const read = await call('texts.getTextBroadcast', { id: s.id });
        assert.deepEqual([String(read.id), read.name, read.message], [s.id, 'Spring sale', 'Hello, 30% off']);
      },
      archive: async () => {
        await call('texts.archiveTextBroadcast', { id: s.id });
        assert.equal((await call('texts.getTextBroadcast', { id: s.id })).status, 'ARCHIVED');
      },
      'it is hidden in the list': async () => assert.ok(!ids(await all(call, 'texts.findTextBroadcasts')).includes(s.id)),
    }),
    'whom a text broadcast goes to': (call, s) => ({
      'a broadcast': async () => {
        s.id = id(await call('texts.createTextBroadcast', { body: { name: 'Bulk', fromNumber: '67076', message: 'Hi' } }));
      },
      'two recipients': async () => {
        const body = [{ phoneNumber: '12135557001' }, { phoneNumber: '12135557002', message: 'Hi, you' }];
        const { items } = await call('texts.addTextBroadcastRecipients', { id: s.id, body });
        assert.deepEqual(items.map((one: { toNumber: string }) => one.toNumber).toSorted(), ['12135557001', '12135557002']);
        s.texts = ids(items).join(' ');
      },
      'they are texts of the broadcast': async () => {
        const rows = await all(call, 'texts.getTextBroadcastTexts', { id: s.id });
        once(ids(rows), s.texts.split(' '), 'texts');
        assert.ok(rows.every(({ campaignId }) => String(campaignId) === s.id));
      },
      'a batch': async () => {
        const body = { name: 'contact batch for text', recipients: [{ phoneNumber: '12135557003' }] };
        s.batch = id(await call('texts.addTextBroadcastBatch', { id: s.id, body }));
        const rows = await all(call, 'texts.getTextBroadcastBatches', { id: s.id });
        once(ids(rows), [s.batch], 'batches');
      },
      'the batch by itself': async () => {
        const read = await call('campaigns.getCampaignBatch', { id: s.batch });
        assert.deepEqual([String(read.id), String(read.broadcastId), read.name], [s.batch, s.id, 'contact batch for text']);
      },
      'the batch is disabled': async () => {
        await call('campaigns.updateCampaignBatch', { id: s.batch, body: { enabled: false } });
        const read = await call('campaigns.getCampaignBatch', { id: s.batch });
        assert.deepEqual([String(read.id), read.name, read.enabled], [s.batch, 'contact batch for text', false]);
      },
    }),
    'single texts': (call, s) => ({
      send: async () => {
        const body = [{ phoneNumber: '12135558001', message: 'Hello World!' }, { phoneNumber: '12135558002' }];
        const { items } = await call('texts.sendTexts', { defaultMessage: 'Hello from everybody', body });
        assert.equal(items.length, 2);
        for (const text of items) (s as State)[`to${text.toNumber}`] = id(text);
      },
      'read one': async () => {
        const read = await call('texts.getText', { id: s.to12135558001 });
        assert.deepEqual([String(read.id), read.toNumber, read.message], [s.to12135558001, '12135558001', 'Hello World!']);
      },
      'the other has the default message': async () => {
        const read = await call('texts.getText', { id: s.to12135558002 });
        assert.deepEqual([read.toNumber, read.message, read.inbound ?? false], ['12135558002', 'Hello from everybody', false]);
      },
      'find both by their ids': async () => {
        const rows = await all(call, 'texts.findTexts', { id: [s.to12135558001, s.to12135558002] });
        assert.deepEqual(ids(rows).toSorted(), [s.to12135558001, s.to12135558002].toSorted());
      },
      'find one by its number': async () => {
        const rows = await all(call, 'texts.findTexts', { toNumber: '12135558002' });
        assert.deepEqual(ids(rows), [s.to12135558002]);
      },
      'one that was never sent': () => refused(call('texts.getText', { id: nobody }), 404),
    }),
    'an automatic reply': (call, s) => ({
      'a number of the account': async () => {
        const { items } = await call('numbers.findNumberLeases', { limit: 10 });
        s.number = given<{ number: string }>(items[0], 'leased number').number;
      },
      create: async () => {
        const body = { number: s.number, message: 'Thank you, we are open at 9', match: 'hours' };
        s.id = id(await call('texts.createTextAutoReply', { body }));
      },
      read: async () => {
        const read = await call('texts.getTextAutoReply', { id: s.id });
        assert.deepEqual(
          [String(read.id), read.number, read.message, read.match],
          [s.id, s.number, 'Thank you, we are open at 9', 'hours'],
        );
      },
      'it is listed for its number': async () =>
        once(ids(await all(call, 'texts.findTextAutoReplys', { number: s.number })), [s.id], 'auto replies'),
      'not for another': async () => assert.deepEqual(await all(call, 'texts.findTextAutoReplys', { number: '12135550000' }), []),
      delete: () => call('texts.deleteTextAutoReply', { id: s.id }),
      'it is gone': () => refused(call('texts.getTextAutoReply', { id: s.id }), 404),
    }),
    'an api credential': (call, s) => ({
      create: async () => {
        const made = await call('me.createApiCredential', { body: { name: 'api_20_account' } });
        s.id = id(made);
        assert.deepEqual([made.name, typeof made.username, typeof made.password], ['api_20_account', 'string', 'string']);
      },
      'it is found by its name': async () =>
        once(ids(await all(call, 'me.findApiCredentials', { name: 'api_20_account' })), [s.id], 'credentials'),
      disable: async () => {
        await call('me.disableApiCredentials', { id: s.id });
        assert.equal((await call('me.getApiCredential', { id: s.id })).enabled, false);
      },
      enable: async () => {
        await call('me.enableApiCredentials', { id: s.id });
        const read = await call('me.getApiCredential', { id: s.id });
        assert.deepEqual([String(read.id), read.name, read.enabled], [s.id, 'api_20_account', true]);
      },
      delete: () => call('me.deleteApiCredential', { id: s.id }),
      'it is gone': () => refused(call('me.getApiCredential', { id: s.id }), 404),
    }),
    'a sound of spoken text': (call, s) => ({
      create: async () => {
        const made = await call('campaigns.postTTSCampaignSound', { body: { message: 'this is a tts message', voice: 'MALE1' } });
        s.id = id(made);
      },
      read: async () => {
        const read = await call('campaigns.getCampaignSound', { id: s.id });
        assert.equal(String(read.id), s.id);
        assert.notEqual(read.status, 'ARCHIVED');
      },
      'it is listed': async () =>
        once(ids(await all(call, 'campaigns.findCampaignSounds', { includePending: true })), [s.id], 'sounds'),
      delete: () => call('campaigns.deleteCampaignSound', { id: s.id }),
      'it can be read, as archived': async () => {
        const read = await call('campaigns.getCampaignSound', { id: s.id });
        assert.deepEqual([String(read.id), read.status], [s.id, 'ARCHIVED']);
      },
      'it is listed only with the archived ones': async () => {
        assert.ok(!ids(await all(call, 'campaigns.findCampaignSounds', { includePending: true })).includes(s.id));
        once(ids(await all(call, 'campaigns.findCampaignSounds', { includeArchived: true })), [s.id], 'sounds');
      },
      'a voice that there is not': () =>
        refused(call('campaigns.postTTSCampaignSound', { body: { message: 'hello', voice: 'ROBOT9' } }), 400),
    }),
    'credentials that are refused, and what is not there': (call, _, another) => ({
      'the right ones': async () => assert.equal(typeof (await call('me.getAccount')).id, 'number'),
      'wrong ones': async () => {
        const thrown = await refused(another(Buffer.from('nobody:wrong').toString('base64'))('me.getAccount'), 401);
        const { body } = thrown as { body?: { httpStatusCode?: unknown; message?: unknown } };
        assert.deepEqual([body?.httpStatusCode, typeof body?.message], [401, 'string']);
      },
      'they cannot make anything': () =>
        refused(webhook(another(Buffer.from('nobody:wrong').toString('base64')), 'intruder'), 401),
      'no such contact': async () => {
        const thrown = await refused(call('contacts.getContact', { id: nobody }), 404);
        const { body } = thrown as { body?: { httpStatusCode?: unknown; message?: unknown } };
        assert.deepEqual([body?.httpStatusCode, typeof body?.message], [404, 'string']);
      },
      'no such webhook to change': () =>
        refused(
          call('webhooks.updateWebhook', {
            id: nobody,
            body: { name: 'x', resource: 'TextBroadcast', events: ['started'], callback: 'https://yourservice.com/callback' },
          }),
          404,
        ),
      'no such list to delete': () => refused(call('contacts.deleteContactList', { id: nobody }), 404),
    }),
  }),
};
