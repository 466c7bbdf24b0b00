import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
type Calls = Readonly<Record<string, (body: object) => Promise<unknown>>>;

/** The parts of the client that are used here: it has no types of its own. */
interface Mandrill {
  basePath: string;
  setDefaultOutputFormat(format: string): void;
  readonly inbound: Calls;
  readonly messages: Calls;
  readonly metadata: Calls;
  readonly rejects: Calls;
  readonly senders: Calls;
  readonly subaccounts: Calls;
  readonly templates: Calls;
  readonly urls: Calls;
  readonly users: Calls;
  readonly webhooks: Calls;
}
const make = createRequire(import.meta.url)('@mailchimp/mailchimp_transactional') as (key: string) => Mandrill;

/** With its default output format the client asks for `/users/ping2`, with this one for `/users/ping2.json`. */
const connect = (place: Place, token: string): Mandrill => {
  const client = make(token);
  client.basePath = place.base;
  client.setDefaultOutputFormat('json');
  return client;
};

/** The client answers with an error instead of throwing it. */
const sent = async (answer: Promise<unknown>): Promise<unknown> => {
  const value = await answer;
  if (value instanceof Error) throw value;
  return value;
};
const one = async (answer: Promise<unknown>): Promise<Row> => (await sent(answer)) as Row;
const many = async (answer: Promise<unknown>): Promise<readonly Row[]> => {
  const value = await sent(answer);
  assert.ok(Array.isArray(value), 'the answer is a list');
  return value as Row[];
};
const of = (rows: readonly Row[], name: string): string[] => rows.map((row) => String(row[name]));

/** The guide: any answer but 200 is an error. */
const wrong = (answer: Promise<unknown>): Promise<unknown> => refused(sent(answer), 400, 401, 403, 404, 422, 500);

const letter = (to: readonly string[], more: object = {}): object => ({
  from_email: 'message.from_email@example.com',
  from_name: 'Example Name',
  subject: 'example subject',
  html: '<p>Example HTML content</p>',
  text: 'Example text content',
  to: to.map((email) => ({ email, type: 'to' })),
  ...more,
});
const template = (mandrill: Mandrill, name: string, more: object = {}): Promise<Row> =>
  one(
    mandrill.templates.add({
      name,
      from_email: 'from_email@example.com',
      subject: 'example subject',
      code: '<div mc:edit="main">Hello *|NAME|*</div>',
      text: 'Hello',
      publish: true,
      ...more,
    }),
  );
const later = (days: number): string => `2037-01-0${days} 12:00:00`;
const account = (mandrill: Mandrill, id: string): Promise<Row> => one(mandrill.subaccounts.add({ id, name: `Of ${id}` }));
const planned = async (mandrill: Mandrill, s: State, to: string): Promise<void> => {
  const [result] = await many(mandrill.messages.send({ message: letter([to]), send_at: later(1) }));
  s.id = String(result._id);
  assert.deepEqual([result.email, result.status], [to, 'scheduled']);
};

/** Guide: mailchimp.com/developer/transactional, "Quick start", "Templates", "Rejections", "Subaccounts", "Inbound email", and the API's reference. */
export const vendor: Vendor<Mandrill> = {
  document: 'mandrill/mandrillapp.com.json',
  // Not a header: the client puts its key into every body.
  header: 'key',
  made: 'md-0123456789abcdefghijkl',
  hides: true,
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'it is there': (mandrill) => ({
      ping: async () => assert.equal(await sent(mandrill.users.ping({})), 'PONG!'),
      'ping for those who read JSON': async () => assert.deepEqual(await sent(mandrill.users.ping2({})), { PING: 'PONG!' }),
      'who asks': async () => {
        const user = await one(mandrill.users.info({}));
        assert.equal(typeof user.username, 'string');
        assert.equal(typeof user.hourly_quota, 'number');
      },
    }),
    'a template is added, changed and deleted': (mandrill) => ({
      add: async () => {
        const made = await template(mandrill, 'welcome');
        assert.deepEqual([made.name, made.slug, made.subject, made.text], ['welcome', 'welcome', 'example subject', 'Hello']);
      },
      read: async () => {
        const read = await one(mandrill.templates.info({ name: 'welcome' }));
        assert.deepEqual([read.name, read.from_email], ['welcome', 'from_email@example.com']);
      },
      change: async () => {
        const changed = await one(mandrill.templates.update({ name: 'welcome', subject: 'another subject' }));
        assert.deepEqual([changed.subject, changed.text], ['another subject', 'Hello']);
      },
      'it is listed': async () => once(of(await many(mandrill.templates.list({})), 'name'), ['welcome'], 'templates'),
      delete: async () => assert.equal((await one(mandrill.templates.delete({ name: 'welcome' }))).name, 'welcome'),
      'it is gone': () => wrong(mandrill.templates.info({ name: 'welcome' })),
    }),
    'a draft is published': (mandrill) => ({
      'add a draft': async () => {
        const made = await template(mandrill, 'spring', { publish: false });
        assert.deepEqual([made.published_at, made.publish_code], [null, null]);
      },
      publish: async () => {
        const made = await one(mandrill.templates.publish({ name: 'spring' }));
        assert.equal(made.publish_code, made.code);
        assert.ok(made.published_at);
      },
      'a change of the draft is not published': async () => {
        await one(mandrill.templates.update({ name: 'spring', code: '<div>Bye</div>', publish: false }));
        const read = await one(mandrill.templates.info({ name: 'spring' }));
        assert.equal(read.code, '<div>Bye</div>');
        assert.match(String(read.publish_code), /Hello/);
      },
    }),
    'templates with a label': (mandrill) => ({
      'add three': async () => {
        await template(mandrill, 'one', { labels: ['news'] });
        await template(mandrill, 'two', { labels: ['news', 'weekly'] });
        await template(mandrill, 'three', { labels: ['bills'] });
      },
      'those with the label': async () => {
        const found = of(await many(mandrill.templates.list({ label: 'news' })), 'name');
        assert.deepEqual(found.toSorted(), ['one', 'two']);
      },
      'those with another': async () =>
        assert.deepEqual(of(await many(mandrill.templates.list({ label: 'bills' })), 'name'), ['three']),
      'all of them': async () => assert.equal((await many(mandrill.templates.list({}))).length, 3),
    }),
    'a template is filled in': (mandrill) => ({
      add: () => template(mandrill, 'greeting'),
      render: async () => {
        const body = {
          template_name: 'greeting',
          template_content: [{ name: 'main', content: 'Hi *|NAME|*!' }],
          merge_vars: [{ name: 'NAME', content: 'Freddie' }],
        };
        assert.match(String((await one(mandrill.templates.render(body))).html), /Hi Freddie!/);
      },
      'one that never was': () => wrong(mandrill.templates.render({ template_name: 'no-such', template_content: [] })),
    }),
    'a letter is sent': (mandrill) => ({
      'to one': async () => {
        const results = await many(mandrill.messages.send({ message: letter(['one@example.com']) }));
        assert.deepEqual(of(results, 'email'), ['one@example.com']);
        assert.ok(['sent', 'queued'].includes(String(results[0].status)), `it is ${results[0].status}`);
        assert.ok(results[0]._id);
      },
      'to three: a result for each': async () => {
        const to = ['one@example.com', 'two@example.com', 'three@example.com'];
        const results = await many(mandrill.messages.send({ message: letter(to, { tags: ['password-resets'] }) }));
        assert.deepEqual(of(results, 'email').toSorted(), to.toSorted());
        assert.equal(new Set(of(results, '_id')).size, 3);
      },
      'in the background': async () => {
        const [result] = await many(mandrill.messages.send({ message: letter(['one@example.com']), async: true }));
        assert.equal(result.status, 'queued');
      },
      'as it is': async () => {
        const raw = 'From: sender@example.com\nTo: one@example.com\nSubject: Some Subject\n\nSome content.';
        const results = await many(mandrill.messages.sendRaw({ raw_message: raw, to: ['one@example.com'] }));
        assert.deepEqual(of(results, 'email'), ['one@example.com']);
      },
    }),
    'a letter is sent by a template': (mandrill) => ({
      'add the template': () => template(mandrill, 'receipt'),
      send: async () => {
        const body = {
          template_name: 'receipt',
          template_content: [{ name: 'main', content: 'Your receipt' }],
          message: letter(['buyer@example.com'], { global_merge_vars: [{ name: 'NAME', content: 'Buyer' }] }),
        };
        const results = await many(mandrill.messages.sendTemplate(body));
        assert.deepEqual(of(results, 'email'), ['buyer@example.com']);
      },
      'not by one that never was': () =>
        wrong(
          mandrill.messages.sendTemplate({ template_name: 'no-such', template_content: [], message: letter(['a@example.com']) }),
        ),
    }),
    'a letter that is planned': (mandrill, s) => ({
      plan: () => planned(mandrill, s, 'future@example.com'),
      'it is listed': async () => {
        const [found] = await many(mandrill.messages.listScheduled({ to: 'future@example.com' }));
        assert.deepEqual([found._id, found.to, found.subject], [s.id, 'future@example.com', 'example subject']);
      },
      'later still': async () => {
        const moved = await one(mandrill.messages.reschedule({ id: s.id, send_at: later(2) }));
        assert.deepEqual([moved._id, moved.send_at], [s.id, later(2)]);
      },
      cancel: async () => assert.equal((await one(mandrill.messages.cancelScheduled({ id: s.id })))._id, s.id),
      'none is planned': async () =>
        assert.deepEqual(await many(mandrill.messages.listScheduled({ to: 'future@example.com' })), []),
      'it is not there to be cancelled': () => wrong(mandrill.messages.cancelScheduled({ id: s.id })),
    }),
    'letters that are planned, of one address': (mandrill, s) => ({
      plan: async () => {
        await planned(mandrill, s, 'ann@example.com');
        s.ann = s.id;
        await planned(mandrill, s, 'ben@example.com');
      },
      'those for her': async () =>
        assert.deepEqual(of(await many(mandrill.messages.listScheduled({ to: 'ann@example.com' })), '_id'), [s.ann]),
      'all of them': async () => once(of(await many(mandrill.messages.listScheduled({})), '_id'), [s.ann, s.id], 'letters'),
    }),
    'an address that gets no letters': (mandrill) => ({
      add: async () => {
        const body = { email: 'no@example.com', comment: 'asked on the phone' };
        assert.deepEqual(await sent(mandrill.rejects.add(body)), { email: 'no@example.com', added: true });
      },
      'it is listed': async () => {
        const [found] = await many(mandrill.rejects.list({ email: 'no@example.com' }));
        assert.deepEqual([found.email, found.reason, found.detail], ['no@example.com', 'custom', 'asked on the phone']);
      },
      'a letter to it is rejected': async () => {
        const [result] = await many(mandrill.messages.send({ message: letter(['no@example.com']) }));
        assert.deepEqual([result.email, result.status, result.reject_reason], ['no@example.com', 'rejected', 'custom']);
      },
      remove: async () => {
        const removed = await one(mandrill.rejects.delete({ email: 'no@example.com' }));
        assert.deepEqual([removed.email, removed.deleted], ['no@example.com', true]);
      },
      'it is not listed': async () => assert.deepEqual(await many(mandrill.rejects.list({ email: 'no@example.com' })), []),
    }),
    'a subaccount is paused and resumed': (mandrill) => ({
      add: async () => {
        const body = { id: 'cust-123', name: 'ABC Widgets, Inc.', notes: 'Free plan user', custom_quota: 42 };
        const made = await one(mandrill.subaccounts.add(body));
        assert.deepEqual(
          [made.id, made.name, made.custom_quota, made.status, made.sent_total],
          ['cust-123', 'ABC Widgets, Inc.', 42, 'active', 0],
        );
      },
      read: async () => {
        const read = await one(mandrill.subaccounts.info({ id: 'cust-123' }));
        assert.deepEqual([read.id, read.notes], ['cust-123', 'Free plan user']);
      },
      rename: async () => {
        const changed = await one(mandrill.subaccounts.update({ id: 'cust-123', name: 'ABC Gadgets, Inc.' }));
        assert.deepEqual([changed.name, changed.custom_quota], ['ABC Gadgets, Inc.', 42]);
      },
      pause: async () => {
        assert.equal((await one(mandrill.subaccounts.pause({ id: 'cust-123' }))).status, 'paused');
        assert.equal((await one(mandrill.subaccounts.info({ id: 'cust-123' }))).status, 'paused');
      },
      resume: async () => assert.equal((await one(mandrill.subaccounts.resume({ id: 'cust-123' }))).status, 'active'),
      delete: async () => assert.equal((await one(mandrill.subaccounts.delete({ id: 'cust-123' }))).id, 'cust-123'),
      'it is gone': () => wrong(mandrill.subaccounts.info({ id: 'cust-123' })),
    }),
    'subaccounts are looked for': (mandrill) => ({
      'add three': async () => {
        for (const id of ['cust-1', 'cust-2', 'shop-1']) await account(mandrill, id);
      },
      'by how they begin': async () => {
        const found = of(await many(mandrill.subaccounts.list({ q: 'cust-' })), 'id');
        assert.deepEqual(found.toSorted(), ['cust-1', 'cust-2']);
      },
      'all of them': async () =>
        once(of(await many(mandrill.subaccounts.list({})), 'id'), ['cust-1', 'cust-2', 'shop-1'], 'subaccounts'),
      'no two of one name': () => wrong(account(mandrill, 'cust-1')),
    }),
    'a webhook': (mandrill, s) => ({
      add: async () => {
        const body = { url: 'https://example.com/hook', description: 'My Example Webhook', events: ['send', 'open', 'click'] };
        const made = await one(mandrill.webhooks.add(body));
        s.id = String(made.id);
        assert.deepEqual([made.url, made.description, made.events], [body.url, body.description, body.events]);
        assert.ok(made.auth_key);
      },
      change: async () => {
        const body = { id: Number(s.id), url: 'https://example.com/hook', events: ['reject'] };
        assert.deepEqual((await one(mandrill.webhooks.update(body))).events, ['reject']);
      },
      read: async () => {
        const read = await one(mandrill.webhooks.info({ id: Number(s.id) }));
        assert.deepEqual([String(read.id), read.events], [s.id, ['reject']]);
      },
      'it is listed': async () => once(of(await many(mandrill.webhooks.list({})), 'id'), [s.id], 'webhooks'),
      delete: async () => assert.equal(String((await one(mandrill.webhooks.delete({ id: Number(s.id) }))).id), s.id),
      'it is gone': () => wrong(mandrill.webhooks.info({ id: Number(s.id) })),
    }),
    'letters that come in': (mandrill, s) => ({
      'add a domain': async () => {
        const made = await one(mandrill.inbound.addDomain({ domain: 'inbound.example.com' }));
        assert.deepEqual([made.domain, typeof made.valid_mx], ['inbound.example.com', 'boolean']);
      },
      'add a route': async () => {
        const body = { domain: 'inbound.example.com', pattern: 'mailbox-*', url: 'https://example.com/in' };
        const made = await one(mandrill.inbound.addRoute(body));
        s.id = String(made.id);
        assert.deepEqual([made.pattern, made.url], ['mailbox-*', 'https://example.com/in']);
      },
      'send them elsewhere': async () => {
        const changed = await one(mandrill.inbound.updateRoute({ id: s.id, url: 'https://example.org/in' }));
        assert.deepEqual([changed.pattern, changed.url], ['mailbox-*', 'https://example.org/in']);
      },
      'the routes of the domain': async () =>
        assert.deepEqual(of(await many(mandrill.inbound.routes({ domain: 'inbound.example.com' })), 'id'), [s.id]),
      'delete the route': async () => assert.equal((await one(mandrill.inbound.deleteRoute({ id: s.id }))).id, s.id),
      'it has none': async () => assert.deepEqual(await many(mandrill.inbound.routes({ domain: 'inbound.example.com' })), []),
      'delete the domain': async () => {
        await one(mandrill.inbound.deleteDomain({ domain: 'inbound.example.com' }));
        assert.deepEqual(await many(mandrill.inbound.domains({})), []);
      },
    }),
    'a field of metadata': (mandrill) => ({
      add: async () => {
        const made = await one(mandrill.metadata.add({ name: 'group_id', view_template: '<a>{{value}}</a>' }));
        assert.deepEqual([made.name, made.view_template], ['group_id', '<a>{{value}}</a>']);
      },
      'show it otherwise': async () => {
        const changed = await one(mandrill.metadata.update({ name: 'group_id', view_template: '<b>{{value}}</b>' }));
        assert.equal(changed.view_template, '<b>{{value}}</b>');
      },
      'it is listed': async () => once(of(await many(mandrill.metadata.list({})), 'name'), ['group_id'], 'fields'),
      delete: async () => assert.equal((await one(mandrill.metadata.delete({ name: 'group_id' }))).name, 'group_id'),
      'no other is to be deleted': () => wrong(mandrill.metadata.delete({ name: 'never_was' })),
    }),
    'domains to send from': (mandrill) => ({
      'add one to send from': async () => {
        const made = await one(mandrill.senders.addDomain({ domain: 'example.com' }));
        assert.equal(made.domain, 'example.com');
        assert.equal(typeof (made.spf as Row).valid, 'boolean');
      },
      'it is listed': async () => once(of(await many(mandrill.senders.domains({})), 'domain'), ['example.com'], 'domains'),
      'add one to follow clicks': async () => {
        const made = await one(mandrill.urls.addTrackingDomain({ domain: 'track.example.com' }));
        assert.deepEqual([made.domain, typeof made.valid_tracking], ['track.example.com', 'boolean']);
      },
      'that is listed too': async () =>
        once(of(await many(mandrill.urls.trackingDomains({})), 'domain'), ['track.example.com'], 'domains'),
    }),
    'a key that is refused': (mandrill, _s, another) => ({
      'the right one is taken': async () => assert.deepEqual(await sent(mandrill.users.ping2({})), { PING: 'PONG!' }),
      'another is not': () => wrong(another('not-a-key').users.ping2({})),
    }),
    'requests that are wrong': (mandrill) => ({
      'a letter that is none': () => wrong(mandrill.messages.send({})),
      'a template without a name': () => wrong(mandrill.templates.add({ code: '<p>Hello</p>' })),
      'a webhook that never was': () => wrong(mandrill.webhooks.info({ id: 99_999_999 })),
      'a webhook with no address': () => wrong(mandrill.webhooks.add({ events: ['send'] })),
    }),
  },
};
