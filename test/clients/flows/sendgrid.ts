import assert from 'node:assert/strict';
import sendgrid from '@sendgrid/client';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Client = typeof sendgrid;

/** The class is there, as the guide has it; the types know only the client that is made of it. */
const { Client: Connection } = sendgrid as unknown as { readonly Client: new () => Client };

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Query = Record<string, string | number | boolean>;

const connect = (place: Place, token: string): Client => {
  const client = new Connection();
  client.setApiKey(token);
  client.setDefaultRequest('baseUrl', `${place.url}/`);
  return client;
};

/** What the service answers to a request; the client leaves its type open. */
const send = async <Body = unknown>(client: Client, method: Method, path: string, body?: unknown, qs?: Query): Promise<Body> => {
  const [, answer] = await client.request({
    method,
    url: `/v3${path}`,
    ...(body === undefined ? {} : { body }),
    ...(qs && { qs }),
  });
  return answer as Body;
};

interface Named {
  readonly id: string | number;
  readonly name: string;
}

interface Listed<Row> {
  readonly result: Row[];
  readonly _metadata: { readonly next?: string };
}

const ids = (rows: readonly { id: string | number }[]): string[] => rows.map(({ id }) => String(given(id, 'id')));

/** All rows of a list in pages: each page has the address of the next one, and with it a token. */
const paged = (client: Client, path: string, page_size: number, more: Query = {}): Promise<Named[]> =>
  pages(
    (page_token) =>
      send<Listed<Named>>(client, 'GET', path, undefined, { page_size, ...more, ...(page_token && { page_token }) }),
    ({ result }) => result,
    ({ _metadata }) => (_metadata.next ? new URL(_metadata.next).searchParams.get('page_token') : undefined),
  );

const made = async (client: Client, path: string, body: object): Promise<string> =>
  String(given((await send<Named>(client, 'POST', path, body)).id, 'id'));

const template = async (client: Client, s: State): Promise<void> => {
  s.template = await made(client, '/templates', { name: 'Order receipt', generation: 'dynamic' });
};

interface Version extends Named {
  readonly template_id: string;
  readonly active: number;
  readonly subject: string;
}

const version = (client: Client, s: State, name: string, active: 0 | 1): Promise<Version> =>
  send(client, 'POST', `/templates/${s.template}/versions`, {
    name,
    subject: '{{subject}}',
    html_content: '<p>Thank you, {{name}}</p>',
    active,
  });

interface Group extends Named {
  readonly description: string;
  readonly is_default: boolean;
}

const letter = {
  personalizations: [{ to: [{ email: 'john_doe@example.com', name: 'John Doe' }] }],
  from: { email: 'orders@example.com', name: 'Example Order Confirmation' },
  subject: 'Your Example Order Confirmation',
  content: [{ type: 'text/plain', value: 'Hello from Example!' }],
};

/** Guide: docs.sendgrid.com/api-reference, "Suppressions - Unsubscribe Groups", "Transactional Templates", "Designs API", "API Keys", "Alerts", "Lists", "Custom Fields", "Single Sends", "Senders", "Cancel Scheduled Sends", "IP Pools", "Inbound Parse", "Mail Send". */
export const vendor: Vendor<Client> = {
  document: 'sendgrid/sendgrid.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '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',
  client: connect,
  strict: ['an API key that is refused'],
  flows: {
    'a group of unsubscribers': (client, s) => ({
      create: async () => {
        const asked = {
          name: 'Product Suggestions',
          description: 'Suggestions for products our users might like.',
          is_default: false,
        };
        const group = await send<Group>(client, 'POST', '/asm/groups', asked);
        s.id = String(given(group.id, 'id'));
        assert.partialDeepStrictEqual(group, asked);
      },
      read: async () => {
        const group = await send<Group>(client, 'GET', `/asm/groups/${s.id}`);
        assert.deepEqual([String(group.id), group.name, group.is_default], [s.id, 'Product Suggestions', false]);
      },
      rename: async () => {
        const group = await send<Group>(client, 'PATCH', `/asm/groups/${s.id}`, { name: 'Item Suggestions' });
        assert.deepEqual([String(group.id), group.name], [s.id, 'Item Suggestions']);
      },
      'it keeps its description': async () => {
        const group = await send<Group>(client, 'GET', `/asm/groups/${s.id}`);
        assert.deepEqual([group.name, group.description], ['Item Suggestions', 'Suggestions for products our users might like.']);
      },
      list: async () => once(ids(await send<Group[]>(client, 'GET', '/asm/groups')), [s.id]),
      delete: async () => send(client, 'DELETE', `/asm/groups/${s.id}`),
      'it is gone': async () => {
        await refused(send(client, 'GET', `/asm/groups/${s.id}`), 404);
      },
    }),
    'who is in a group of unsubscribers': (client, s) => ({
      'create two groups': async () => {
        s.id = await made(client, '/asm/groups', { name: 'Newsletter', description: 'Our monthly newsletter.' });
        s.other = await made(client, '/asm/groups', { name: 'Alerts', description: 'What went down.' });
      },
      'add two addresses': async () => {
        const asked = { recipient_emails: ['test1@example.com', 'test2@example.com'] };
        const added = await send<typeof asked>(client, 'POST', `/asm/groups/${s.id}/suppressions`, asked);
        assert.deepEqual([...added.recipient_emails].sort(), asked.recipient_emails);
      },
      'the group has both': async () =>
        assert.deepEqual((await send<string[]>(client, 'GET', `/asm/groups/${s.id}/suppressions`)).sort(), [
          'test1@example.com',
          'test2@example.com',
        ]),
      'the other group has none': async () =>
        assert.deepEqual(await send(client, 'GET', `/asm/groups/${s.other}/suppressions`), []),
      'remove one': async () => send(client, 'DELETE', `/asm/groups/${s.id}/suppressions/test1@example.com`),
      'the group has one': async () =>
        assert.deepEqual(await send(client, 'GET', `/asm/groups/${s.id}/suppressions`), ['test2@example.com']),
    }),
    'a template is made, renamed and deleted': (client, s) => ({
      create: async () => {
        const asked = { name: 'example_name', generation: 'dynamic' };
        const template = await send<Named & { generation: string }>(client, 'POST', '/templates', asked);
        s.id = String(given(template.id, 'id'));
        assert.deepEqual([template.name, template.generation], ['example_name', 'dynamic']);
      },
      rename: async () =>
        assert.equal(
          (await send<Named>(client, 'PATCH', `/templates/${s.id}`, { name: 'new_example_name' })).name,
          'new_example_name',
        ),
      read: async () => {
        const template = await send<Named & { generation: string }>(client, 'GET', `/templates/${s.id}`);
        assert.deepEqual([template.id, template.name, template.generation], [s.id, 'new_example_name', 'dynamic']);
      },
      delete: async () => send(client, 'DELETE', `/templates/${s.id}`),
      'it is gone': async () => {
        await refused(send(client, 'GET', `/templates/${s.id}`), 404);
      },
    }),
    'templates through all pages': (client, s) => ({
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5])
          s[`id${n}`] = await made(client, '/templates', { name: `Template ${n}`, generation: 'dynamic' });
      },
      'pages of two': async () =>
        once(ids(await paged(client, '/templates', 2, { generations: 'dynamic' })), [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages'),
      'a page holds what was asked for': async () => {
        const page = await send<Listed<Named>>(client, 'GET', '/templates', undefined, { page_size: 2, generations: 'dynamic' });
        assert.equal(page.result.length, 2);
      },
      'none is of the old kind': async () => {
        const found = ids(await paged(client, '/templates', 100, { generations: 'legacy' }));
        assert.ok(![s.id1, s.id2, s.id3, s.id4, s.id5].some((id) => found.includes(id)));
      },
    }),
    'versions of a template': (client, s) => ({
      'create the template': async () => template(client, s),
      'a version': async () => {
        const first = await version(client, s, 'First', 1);
        s.first = String(given(first.id, 'id'));
        assert.deepEqual([first.name, first.template_id, first.active, first.subject], ['First', s.template, 1, '{{subject}}']);
      },
      'another one, not active': async () => {
        const second = await version(client, s, 'Second', 0);
        s.second = String(given(second.id, 'id'));
        assert.equal(second.active, 0);
      },
      'the template has both': async () => {
        const read = await send<{ versions: Version[] }>(client, 'GET', `/templates/${s.template}`);
        assert.deepEqual(ids(read.versions).sort(), [s.first, s.second].sort());
      },
      'another subject': async () => {
        const asked = { name: 'Second', subject: 'Your receipt' };
        const changed = await send<Version>(client, 'PATCH', `/templates/${s.template}/versions/${s.second}`, asked);
        assert.equal(changed.subject, 'Your receipt');
      },
      activate: async () => {
        const changed = await send<Version>(client, 'POST', `/templates/${s.template}/versions/${s.second}/activate`);
        assert.deepEqual([String(changed.id), changed.active], [s.second, 1]);
      },
      'it is active': async () => {
        const read = await send<Version>(client, 'GET', `/templates/${s.template}/versions/${s.second}`);
        assert.deepEqual([read.active, read.subject], [1, 'Your receipt']);
      },
      'delete the first': async () => send(client, 'DELETE', `/templates/${s.template}/versions/${s.first}`),
      'it is gone': async () => {
        await refused(send(client, 'GET', `/templates/${s.template}/versions/${s.first}`), 404);
      },
    }),
    'a template is copied': (client, s) => ({
      create: async () => template(client, s),
      copy: async () => {
        const copy = await send<Named & { generation: string }>(client, 'POST', `/templates/${s.template}`, { name: 'A copy' });
        s.copy = String(given(copy.id, 'id'));
        assert.deepEqual([copy.name, copy.generation], ['A copy', 'dynamic']);
        assert.notEqual(s.copy, s.template);
      },
      'both are there': async () =>
        once(ids(await paged(client, '/templates', 100, { generations: 'dynamic' })), [s.template, s.copy]),
    }),
    'a design': (client, s) => ({
      create: async () => {
        const asked = { name: 'Ahoy, World!', editor: 'design', subject: 'Getting Started', html_content: '<p>Ahoy</p>' };
        const design = await send<Named & { subject: string; editor: string }>(client, 'POST', '/designs', asked);
        s.id = String(given(design.id, 'id'));
        assert.deepEqual([design.name, design.editor, design.subject], ['Ahoy, World!', 'design', 'Getting Started']);
      },
      change: async () => {
        const asked = { name: 'Ahoy, Cake or Pie Cafe!', subject: 'Cake and pie' };
        assert.partialDeepStrictEqual(await send<Named>(client, 'PATCH', `/designs/${s.id}`, asked), asked);
      },
      read: async () => {
        const design = await send<Named & { editor: string }>(client, 'GET', `/designs/${s.id}`);
        assert.deepEqual([design.id, design.name, design.editor], [s.id, 'Ahoy, Cake or Pie Cafe!', 'design']);
      },
      copy: async () => {
        s.copy = await made(client, `/designs/${s.id}`, { name: 'The other cafe' });
        const copy = await send<Named & { subject: string }>(client, 'GET', `/designs/${s.copy}`);
        assert.deepEqual([copy.name, copy.subject], ['The other cafe', 'Cake and pie']);
      },
      'both are there, one to a page': async () => once(ids(await paged(client, '/designs', 1)), [s.id, s.copy], 'pages'),
      delete: async () => send(client, 'DELETE', `/designs/${s.id}`),
      'it is gone': async () => {
        await refused(send(client, 'GET', `/designs/${s.id}`), 404);
      },
    }),
    'an alert': (client, s) => ({
      create: async () => {
        const asked = { type: 'stats_notification', email_to: 'example@example.com', frequency: 'daily' };
        const alert = await send<{ id: number }>(client, 'POST', '/alerts', asked);
        s.id = String(given(alert.id, 'id'));
        assert.partialDeepStrictEqual(alert, asked);
      },
      'send it to another address': async () => {
        const alert = await send<{ email_to: string }>(client, 'PATCH', `/alerts/${s.id}`, { email_to: 'other@example.com' });
        assert.equal(alert.email_to, 'other@example.com');
      },
      read: async () => {
        const alert = await send<object>(client, 'GET', `/alerts/${s.id}`);
        assert.partialDeepStrictEqual(alert, { type: 'stats_notification', email_to: 'other@example.com', frequency: 'daily' });
      },
      list: async () => once(ids(await send<{ id: number }[]>(client, 'GET', '/alerts')), [s.id]),
      delete: async () => send(client, 'DELETE', `/alerts/${s.id}`),
      'it is gone': async () => {
        await refused(send(client, 'GET', `/alerts/${s.id}`), 404);
      },
    }),
    'an API key': (client, s) => ({
      create: async () => {
        const asked = { name: 'My API Key', scopes: ['mail.send', 'alerts.create', 'alerts.read'] };
        const key = await send<{ api_key: string; api_key_id: string; name: string; scopes: string[] }>(
          client,
          'POST',
          '/api_keys',
          asked,
        );
        s.id = given(key.api_key_id, 'api_key_id');
        assert.deepEqual([typeof key.api_key, key.name], ['string', 'My API Key']);
        assert.ok(asked.scopes.every((scope) => key.scopes.includes(scope)));
      },
      rename: async () => {
        const key = await send<{ api_key_id: string; name: string }>(client, 'PATCH', `/api_keys/${s.id}`, {
          name: 'A New Hope',
        });
        assert.deepEqual([key.api_key_id, key.name], [s.id, 'A New Hope']);
      },
      'give it fewer scopes': async () => {
        const asked = { name: 'A New Hope', scopes: ['user.profile.read', 'user.profile.update'] };
        const key = await send<{ scopes: string[] }>(client, 'PUT', `/api_keys/${s.id}`, asked);
        assert.ok(asked.scopes.every((scope) => key.scopes.includes(scope)));
        assert.ok(!key.scopes.includes('mail.send'));
      },
      'it is listed by its name, without its secret': async () => {
        const { result } = await send<{ result: { api_key_id: string; name: string; api_key?: string }[] }>(
          client,
          'GET',
          '/api_keys',
        );
        assert.deepEqual(
          result.filter(({ api_key_id }) => api_key_id === s.id).map(({ name, api_key }) => [name, api_key]),
          [['A New Hope', undefined]],
        );
      },
      delete: async () => send(client, 'DELETE', `/api_keys/${s.id}`),
      'it is gone': async () => {
        await refused(send(client, 'GET', `/api_keys/${s.id}`), 404);
      },
    }),
    'a list of contacts': (client, s) => ({
      create: async () => {
        const list = await send<Named & { contact_count: number }>(client, 'POST', '/marketing/lists', { name: 'list-name' });
        s.id = String(given(list.id, 'id'));
        assert.deepEqual([list.name, list.contact_count], ['list-name', 0]);
      },
      rename: async () =>
        assert.equal(
          (await send<Named>(client, 'PATCH', `/marketing/lists/${s.id}`, { name: 'updated-name' })).name,
          'updated-name',
        ),
      read: async () => {
        const list = await send<Named>(client, 'GET', `/marketing/lists/${s.id}`);
        assert.deepEqual([list.id, list.name], [s.id, 'updated-name']);
      },
      delete: async () => send(client, 'DELETE', `/marketing/lists/${s.id}`),
      'it is gone': async () => {
        await refused(send(client, 'GET', `/marketing/lists/${s.id}`), 404);
      },
    }),
    'lists of contacts through all pages': (client, s) => ({
      'create three': async () => {
        for (const n of [1, 2, 3]) s[`id${n}`] = await made(client, '/marketing/lists', { name: `List ${n}` });
      },
      'pages of two': async () => once(ids(await paged(client, '/marketing/lists', 2)), [s.id1, s.id2, s.id3], 'pages'),
      'a page of two has the address of the next': async () => {
        const page = await send<Listed<Named>>(client, 'GET', '/marketing/lists', undefined, { page_size: 2 });
        assert.deepEqual([page.result.length, typeof page._metadata.next], [2, 'string']);
      },
    }),
    'a field for contacts': (client, s) => ({
      create: async () => {
        const field = await send<Named & { field_type: string }>(client, 'POST', '/marketing/field_definitions', {
          name: 'custom_field_name',
          field_type: 'Text',
        });
        s.id = String(given(field.id, 'id'));
        assert.deepEqual([field.name, field.field_type], ['custom_field_name', 'Text']);
      },
      rename: async () => {
        const field = await send<Named>(client, 'PATCH', `/marketing/field_definitions/${s.id}`, {
          name: 'new_custom_field_name',
        });
        assert.deepEqual([String(field.id), field.name], [s.id, 'new_custom_field_name']);
      },
      list: async () => {
        const { custom_fields } = await send<{ custom_fields: Named[] }>(client, 'GET', '/marketing/field_definitions');
        assert.deepEqual(
          custom_fields.filter(({ id }) => String(id) === s.id).map(({ name }) => name),
          ['new_custom_field_name'],
        );
      },
      delete: async () => send(client, 'DELETE', `/marketing/field_definitions/${s.id}`),
      'it is listed no more': async () => {
        const { custom_fields } = await send<{ custom_fields?: Named[] }>(client, 'GET', '/marketing/field_definitions');
        assert.ok(!ids(custom_fields ?? []).includes(s.id));
      },
    }),
    'a single send': (client, s) => ({
      create: async () => {
        const single = await send<Named & { status: string }>(client, 'POST', '/marketing/singlesends', {
          name: 'Example API Created Single Send',
          categories: ['unique opens'],
        });
        s.id = String(given(single.id, 'id'));
        assert.deepEqual([single.name, single.status], ['Example API Created Single Send', 'draft']);
      },
      rename: async () => {
        const asked = { name: 'Summer sale' };
        assert.equal((await send<Named>(client, 'PATCH', `/marketing/singlesends/${s.id}`, asked)).name, 'Summer sale');
      },
      copy: async () => {
        const copy = await send<Named & { status: string }>(client, 'POST', `/marketing/singlesends/${s.id}`, {
          name: 'Winter sale',
        });
        s.copy = String(given(copy.id, 'id'));
        assert.deepEqual([copy.name, copy.status], ['Winter sale', 'draft']);
      },
      list: async () => once(ids(await paged(client, '/marketing/singlesends', 100)), [s.id, s.copy]),
      delete: async () => send(client, 'DELETE', `/marketing/singlesends/${s.id}`),
      'it is gone': async () => {
        await refused(send(client, 'GET', `/marketing/singlesends/${s.id}`), 404);
      },
      'the copy is there': async () =>
        assert.equal((await send<Named>(client, 'GET', `/marketing/singlesends/${s.copy}`)).name, 'Winter sale'),
    }),
    'a sender': (client, s) => ({
      create: async () => {
        const asked = {
          nickname: 'My Sender ID',
          from: { email: 'from@example.com', name: 'Example INC' },
          reply_to: { email: 'replyto@example.com', name: 'Example INC' },
          address: '123 Elm St.',
          city: 'Denver',
          state: 'Colorado',
          zip: '80202',
          country: 'United States',
        };
        const sender = await send<{ id: number }>(client, 'POST', '/senders', asked);
        s.id = String(given(sender.id, 'id'));
        assert.partialDeepStrictEqual(sender, { nickname: asked.nickname, from: asked.from, city: 'Denver' });
      },
      'another city': async () => {
        const sender = await send<{ city: string }>(client, 'PATCH', `/senders/${s.id}`, { city: 'Boulder' });
        assert.equal(sender.city, 'Boulder');
      },
      read: async () => {
        const sender = await send<object>(client, 'GET', `/senders/${s.id}`);
        assert.partialDeepStrictEqual(sender, { nickname: 'My Sender ID', city: 'Boulder', state: 'Colorado' });
      },
      delete: async () => send(client, 'DELETE', `/senders/${s.id}`),
      'it is gone': async () => {
        await refused(send(client, 'GET', `/senders/${s.id}`), 404);
      },
    }),
    'scheduled mail is paused, then cancelled': (client, s) => ({
      'a batch': async () => {
        s.batch = given((await send<{ batch_id: string }>(client, 'POST', '/mail/batch')).batch_id, 'batch_id');
      },
      pause: async () => {
        const asked = { batch_id: s.batch, status: 'pause' };
        assert.partialDeepStrictEqual(await send<object>(client, 'POST', '/user/scheduled_sends', asked), asked);
      },
      'it is listed as paused': async () => {
        const rows = await send<{ batch_id: string; status: string }[]>(client, 'GET', '/user/scheduled_sends');
        assert.deepEqual(
          rows.filter(({ batch_id }) => batch_id === s.batch).map(({ status }) => status),
          ['pause'],
        );
      },
      cancel: async () => send(client, 'PATCH', `/user/scheduled_sends/${s.batch}`, { status: 'cancel' }),
      'it is cancelled': async () => {
        const rows = await send<{ batch_id: string; status: string }[]>(client, 'GET', `/user/scheduled_sends/${s.batch}`);
        assert.deepEqual(
          rows.map(({ batch_id, status }) => [batch_id, status]),
          [[s.batch, 'cancel']],
        );
      },
      'take it back': async () => send(client, 'DELETE', `/user/scheduled_sends/${s.batch}`),
      'none is listed': async () => {
        const rows = await send<{ batch_id: string }[]>(client, 'GET', '/user/scheduled_sends');
        assert.ok(!rows.some(({ batch_id }) => batch_id === s.batch));
      },
    }),
    'where mail is sent on to': (client) => ({
      create: async () => {
        const asked = { url: 'https://newdomain.com/parse', hostname: 'myhostname.com', spam_check: true, send_raw: false };
        assert.partialDeepStrictEqual(await send<object>(client, 'POST', '/user/webhooks/parse/settings', asked), asked);
      },
      'read it by its host': async () => {
        const setting = await send<object>(client, 'GET', '/user/webhooks/parse/settings/myhostname.com');
        assert.partialDeepStrictEqual(setting, {
          url: 'https://newdomain.com/parse',
          hostname: 'myhostname.com',
          spam_check: true,
        });
      },
      'another URL': async () => {
        const asked = { url: 'https://otherdomain.com/parse', spam_check: false, send_raw: true };
        const setting = await send<object>(client, 'PATCH', '/user/webhooks/parse/settings/myhostname.com', asked);
        assert.partialDeepStrictEqual(setting, asked);
      },
      list: async () => {
        const { result } = await send<{ result: { hostname: string; url: string }[] }>(
          client,
          'GET',
          '/user/webhooks/parse/settings',
        );
        assert.deepEqual(
          result.filter(({ hostname }) => hostname === 'myhostname.com').map(({ url }) => url),
          ['https://otherdomain.com/parse'],
        );
      },
      delete: async () => send(client, 'DELETE', '/user/webhooks/parse/settings/myhostname.com'),
      'it is gone': async () => {
        await refused(send(client, 'GET', '/user/webhooks/parse/settings/myhostname.com'), 404);
      },
    }),
    'a pool of addresses': (client) => ({
      create: async () =>
        assert.equal((await send<{ name: string }>(client, 'POST', '/ips/pools', { name: 'marketing' })).name, 'marketing'),
      list: async () =>
        once(
          (await send<{ name: string }[]>(client, 'GET', '/ips/pools')).map(({ name }) => name),
          ['marketing'],
        ),
      rename: async () =>
        assert.equal((await send<{ name: string }>(client, 'PUT', '/ips/pools/marketing', { name: 'sales' })).name, 'sales'),
      'it has the new name alone': async () => {
        const names = (await send<{ name: string }[]>(client, 'GET', '/ips/pools')).map(({ name }) => name);
        assert.deepEqual([names.includes('sales'), names.includes('marketing')], [true, false]);
      },
      delete: async () => send(client, 'DELETE', '/ips/pools/sales'),
      'it is gone': async () => {
        await refused(send(client, 'GET', '/ips/pools/sales'), 404);
      },
    }),
    'mail is sent': (client) => ({
      send: async () => {
        const [{ statusCode }] = await client.request({ method: 'POST', url: '/v3/mail/send', body: letter });
        assert.equal(statusCode, 202);
      },
      'without anybody who sends it': async () => {
        const { from: _from, ...body } = letter;
        await refused(send(client, 'POST', '/mail/send', body), 400);
      },
      'without anybody who gets it': async () => {
        const { personalizations: _personalizations, ...body } = letter;
        await refused(send(client, 'POST', '/mail/send', body), 400);
      },
    }),
    'an API key that is refused': (_client, _s, another) => ({
      refused: async () => {
        await refused(send(another('SG.nobody.nothing'), 'GET', '/asm/groups'), 401);
      },
    }),
    'requests that are wrong': (client) => ({
      'an alert of which nobody knows': async () => {
        await refused(send(client, 'GET', '/alerts/99999999'), 404);
      },
      'an alert without an address': async () => {
        await refused(send(client, 'POST', '/alerts', { type: 'stats_notification', frequency: 'daily' }), 400);
      },
      'an API key without a name': async () => {
        await refused(send(client, 'POST', '/api_keys', { scopes: ['mail.send'] }), 400);
      },
    }),
  },
};
