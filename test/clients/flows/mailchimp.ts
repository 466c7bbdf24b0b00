import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { once, type Place, refused, type State, type Vendor } from '../kit.ts';

interface Row {
  readonly id: string & number;
  readonly [member: string]: unknown;
}
type Call = (...given: readonly (string | number | object)[]) => Promise<Row>;
type Calls = Readonly<Record<string, Call>>;

/** The parts of the client that are used here: it has no types of its own. */
interface Mailchimp {
  basePath: string;
  defaultHeaders: Record<string, string>;
  setConfig(config: { apiKey?: string }): void;
  readonly lists: Calls;
  readonly campaigns: Calls;
  readonly campaignFolders: Calls;
  readonly templates: Calls;
  readonly ecommerce: Calls;
  readonly fileManager: Calls;
}
const Made = createRequire(import.meta.url)('@mailchimp/mailchimp_marketing/src/ApiClient.js') as new () => Mailchimp;

/** The client sends its key as a password, under a name that says nothing; another pair goes as it is. */
const connect = (place: Place, token: string): Mailchimp => {
  const client = new Made();
  client.basePath = place.base;
  const [name, key] = Buffer.from(token, 'base64').toString().split(/:(.*)/s);
  if (name === 'user') client.setConfig({ apiKey: key });
  else {
    client.setConfig({});
    client.defaultHeaders = { Authorization: `Basic ${token}` };
  }
  return client;
};

const pair = (key: string): string => Buffer.from(`user:${key}`).toString('base64');

const audience = (name: string): object => ({
  name,
  permission_reminder: 'You signed up at our shop',
  email_type_option: true,
  contact: { company: 'Mailchimp', address1: '405 N Angier Ave', city: 'Atlanta', state: 'GA', zip: '30308', country: 'US' },
  campaign_defaults: { from_name: 'Gettin’ Together', from_email: 'gettogether@example.com', subject: 'Hello', language: 'en' },
});

const list = async (mailchimp: Mailchimp, s: State): Promise<void> => {
  s.list = (await mailchimp.lists.createList(audience('Event attendees'))).id;
};

/** Members are known by the MD5 hash of their address in lower case. */
const hash = (address: string): string => createHash('md5').update(address.toLowerCase()).digest('hex');

const rows = (answer: Row, name: string): readonly Row[] => answer[name] as readonly Row[];
const ids = (answer: Row, name: string, id = 'id'): string[] => rows(answer, name).map((row) => String(row[id]));

const member = (mailchimp: Mailchimp, s: State, address: string): Promise<Row> =>
  mailchimp.lists.addListMember(s.list, { email_address: address, status: 'subscribed' });

/** What Mailchimp says of an error, which the client keeps with the answer. */
const told = (thrown: unknown): { title?: unknown; status?: unknown; type?: unknown } => {
  const { text } = (thrown as { response: { text: string } }).response;
  return JSON.parse(text) as { title?: unknown; status?: unknown; type?: unknown };
};

/** Guide: mailchimp.com/developer/marketing, "Fundamentals" (pagination, errors), "Create your first audience", "Organize contacts", "Campaigns". */
export const vendor: Vendor<Mailchimp> = {
  document: 'mailchimp/mailchimp.com.json',
  header: 'Authorization',
  word: 'Basic',
  made: pair('0123456789abcdef0123456789abcdef-us6'),
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'an audience is created, read, renamed and deleted': (mailchimp, s) => ({
      create: async () => {
        const made = await mailchimp.lists.createList(audience('Event attendees'));
        s.list = made.id;
        assert.deepEqual([made.name, made.permission_reminder], ['Event attendees', 'You signed up at our shop']);
      },
      read: async () => {
        const read = await mailchimp.lists.getList(s.list);
        assert.deepEqual([read.id, read.name, read.email_type_option], [s.list, 'Event attendees', true]);
      },
      rename: async () => assert.equal((await mailchimp.lists.updateList(s.list, audience('Event guests'))).name, 'Event guests'),
      'in the list of lists': async () => {
        const all = await mailchimp.lists.getAllLists();
        once(ids(all, 'lists'), [s.list], 'lists');
        assert.equal(all.total_items, 1);
      },
      delete: () => mailchimp.lists.deleteList(s.list),
      'it is gone': () => refused(mailchimp.lists.getList(s.list), 404),
    }),
    'a member is added, read, changed and archived': (mailchimp, s) => ({
      'create the audience': () => list(mailchimp, s),
      add: async () => {
        const body = { email_address: 'Prudence@example.com', status: 'subscribed', merge_fields: { FNAME: 'Prudence' } };
        const made = await mailchimp.lists.addListMember(s.list, body);
        assert.deepEqual([made.email_address, made.status, made.list_id], ['Prudence@example.com', 'subscribed', s.list]);
        assert.equal(made.id, hash('prudence@example.com'));
      },
      'read by the hash of the address': async () => {
        const read = await mailchimp.lists.getListMember(s.list, hash('Prudence@example.com'));
        assert.deepEqual([read.email_address, read.status], ['Prudence@example.com', 'subscribed']);
      },
      unsubscribe: async () => {
        const body = { status: 'unsubscribed' };
        assert.equal((await mailchimp.lists.updateListMember(s.list, hash('prudence@example.com'), body)).status, 'unsubscribed');
      },
      'it stays so': async () =>
        assert.equal((await mailchimp.lists.getListMember(s.list, hash('prudence@example.com'))).status, 'unsubscribed'),
      archive: () => mailchimp.lists.deleteListMember(s.list, hash('prudence@example.com')),
    }),
    'a member, there or not': (mailchimp, s) => ({
      'create the audience': () => list(mailchimp, s),
      'not there: it is added': async () => {
        const body = { email_address: 'freddie@example.com', status_if_new: 'subscribed' };
        const made = await mailchimp.lists.setListMember(s.list, hash('freddie@example.com'), body);
        assert.deepEqual([made.email_address, made.status], ['freddie@example.com', 'subscribed']);
      },
      'there: it is changed': async () => {
        const body = { email_address: 'freddie@example.com', status_if_new: 'pending', vip: true };
        const changed = await mailchimp.lists.setListMember(s.list, hash('freddie@example.com'), body);
        assert.deepEqual([changed.status, changed.vip], ['subscribed', true]);
      },
      'there is one': async () => assert.equal((await mailchimp.lists.getListMembersInfo(s.list)).total_items, 1),
    }),
    'members page by page': (mailchimp, s) => ({
      'add five': async () => {
        await list(mailchimp, s);
        const made: string[] = [];
        for (const name of ['ann', 'ben', 'cat', 'dan', 'eve']) made.push((await member(mailchimp, s, `${name}@example.com`)).id);
        s.ids = made.join(',');
      },
      'a page is no longer than asked for': async () => {
        const page = await mailchimp.lists.getListMembersInfo(s.list, { count: 2 });
        assert.equal(rows(page, 'members').length, 2);
        assert.equal(page.total_items, 5);
      },
      'all pages together hold each once': async () => {
        const found: string[] = [];
        for (let offset = 0; offset < 40; offset += 2) {
          const page = ids(await mailchimp.lists.getListMembersInfo(s.list, { count: 2, offset }), 'members');
          if (page.length === 0) break;
          found.push(...page);
        }
        once(found, s.ids.split(','), 'members');
      },
      'those of a status': async () => {
        await mailchimp.lists.updateListMember(s.list, hash('cat@example.com'), { status: 'unsubscribed' });
        const page = await mailchimp.lists.getListMembersInfo(s.list, { status: 'unsubscribed' });
        assert.deepEqual(ids(page, 'members'), [hash('cat@example.com')]);
      },
    }),
    'a member is tagged': (mailchimp, s) => ({
      'a member': async () => {
        await list(mailchimp, s);
        s.id = (await member(mailchimp, s, 'tagged@example.com')).id;
      },
      tag: () =>
        mailchimp.lists.updateListMemberTags(s.list, s.id, {
          tags: [
            { name: 'Influencer', status: 'active' },
            { name: 'Speaker', status: 'active' },
          ],
        }),
      'it has both': async () =>
        once(ids(await mailchimp.lists.getListMemberTags(s.list, s.id), 'tags', 'name'), ['Influencer', 'Speaker'], 'tags'),
      'take one away': () =>
        mailchimp.lists.updateListMemberTags(s.list, s.id, { tags: [{ name: 'Speaker', status: 'inactive' }] }),
      'it has the other': async () =>
        assert.deepEqual(ids(await mailchimp.lists.getListMemberTags(s.list, s.id), 'tags', 'name'), ['Influencer']),
    }),
    'notes on a member': (mailchimp, s) => ({
      'a member': async () => {
        await list(mailchimp, s);
        s.id = (await member(mailchimp, s, 'noted@example.com')).id;
      },
      'write one': async () => {
        const made = await mailchimp.lists.createListMemberNote(s.list, s.id, { note: 'Called on Monday' });
        s.note = String(made.id);
        assert.deepEqual([made.note, made.list_id], ['Called on Monday', s.list]);
      },
      'change it': async () =>
        assert.equal(
          (await mailchimp.lists.updateListMemberNote(s.list, s.id, s.note, { note: 'Called on Tuesday' })).note,
          'Called on Tuesday',
        ),
      'it is listed': async () => {
        const all = await mailchimp.lists.getListMemberNotes(s.list, s.id);
        assert.deepEqual(ids(all, 'notes', 'note'), ['Called on Tuesday']);
      },
      delete: () => mailchimp.lists.deleteListMemberNote(s.list, s.id, s.note),
      'it is gone': () => refused(mailchimp.lists.getListMemberNote(s.list, s.id, s.note), 404),
    }),
    'a merge field of an audience': (mailchimp, s) => ({
      'create the audience': () => list(mailchimp, s),
      add: async () => {
        const made = await mailchimp.lists.addListMergeField(s.list, { name: 'Favourite animal', type: 'text', tag: 'ANIMAL' });
        s.id = String(made.merge_id);
        assert.deepEqual([made.name, made.type, made.tag], ['Favourite animal', 'text', 'ANIMAL']);
      },
      rename: async () =>
        assert.equal((await mailchimp.lists.updateListMergeField(s.list, s.id, { name: 'Animal' })).name, 'Animal'),
      'its type is as before': async () => {
        const read = await mailchimp.lists.getListMergeField(s.list, s.id);
        assert.deepEqual([read.name, read.type], ['Animal', 'text']);
      },
      delete: () => mailchimp.lists.deleteListMergeField(s.list, s.id),
      'it is gone': () => refused(mailchimp.lists.getListMergeField(s.list, s.id), 404),
    }),
    'a segment and its members': (mailchimp, s) => ({
      'two members': async () => {
        await list(mailchimp, s);
        s.one = (await member(mailchimp, s, 'one@example.com')).id;
        s.two = (await member(mailchimp, s, 'two@example.com')).id;
      },
      'a segment with one': async () => {
        const made = await mailchimp.lists.createSegment(s.list, { name: 'VIPs', static_segment: ['one@example.com'] });
        s.id = String(made.id);
        assert.deepEqual([made.name, made.type, made.member_count], ['VIPs', 'static', 1]);
      },
      'add the other': async () => {
        const made = await mailchimp.lists.createSegmentMember(s.list, s.id, { email_address: 'two@example.com' });
        assert.equal(made.email_address, 'two@example.com');
      },
      'both are in it': async () =>
        once(ids(await mailchimp.lists.getSegmentMembersList(s.list, s.id), 'members'), [s.one, s.two], 'members'),
      'take the first away': () => mailchimp.lists.removeSegmentMember(s.list, s.id, s.one),
      'the other is left': async () =>
        assert.deepEqual(ids(await mailchimp.lists.getSegmentMembersList(s.list, s.id), 'members'), [s.two]),
    }),
    'groups of interests': (mailchimp, s) => ({
      'create the audience': () => list(mailchimp, s),
      'a category': async () => {
        const made = await mailchimp.lists.createListInterestCategory(s.list, { title: 'Sports', type: 'checkboxes' });
        s.id = made.id;
        assert.deepEqual([made.title, made.type, made.list_id], ['Sports', 'checkboxes', s.list]);
      },
      'an interest in it': async () => {
        const made = await mailchimp.lists.createInterestCategoryInterest(s.list, s.id, { name: 'Rowing' });
        s.interest = made.id;
        assert.deepEqual([made.name, made.category_id], ['Rowing', s.id]);
      },
      'it is listed': async () => {
        const all = await mailchimp.lists.listInterestCategoryInterests(s.list, s.id);
        assert.deepEqual(ids(all, 'interests'), [s.interest]);
        assert.equal(all.total_items, 1);
      },
      'delete the category': () => mailchimp.lists.deleteInterestCategory(s.list, s.id),
      'it is gone': () => refused(mailchimp.lists.getInterestCategory(s.list, s.id), 404),
    }),
    'a webhook of an audience': (mailchimp, s) => ({
      'create the audience': () => list(mailchimp, s),
      add: async () => {
        const body = { url: 'https://example.com/hook', events: { subscribe: true, unsubscribe: false }, sources: { api: true } };
        const made = await mailchimp.lists.createListWebhook(s.list, body);
        s.id = made.id;
        assert.equal(made.url, 'https://example.com/hook');
        assert.partialDeepStrictEqual(made.events, { subscribe: true, unsubscribe: false });
      },
      'hear of unsubscribing too': async () => {
        await mailchimp.lists.updateListWebhook(s.list, s.id, { events: { subscribe: true, unsubscribe: true } });
        const read = await mailchimp.lists.getListWebhook(s.list, s.id);
        assert.partialDeepStrictEqual(read.events, { unsubscribe: true });
      },
      delete: () => mailchimp.lists.deleteListWebhook(s.list, s.id),
      'it is gone': () => refused(mailchimp.lists.getListWebhook(s.list, s.id), 404),
    }),
    'folders for campaigns': (mailchimp, s) => ({
      create: async () => {
        const made = await mailchimp.campaignFolders.create({ name: 'Newsletters' });
        s.id = made.id;
        assert.deepEqual([made.name, made.count], ['Newsletters', 0]);
      },
      rename: async () => assert.equal((await mailchimp.campaignFolders.update(s.id, { name: 'Letters' })).name, 'Letters'),
      'in the list': async () => once(ids(await mailchimp.campaignFolders.list(), 'folders'), [s.id], 'folders'),
      delete: () => mailchimp.campaignFolders.remove(s.id),
      'it is gone': () => refused(mailchimp.campaignFolders.get(s.id), 404),
    }),
    'a campaign is written and planned': (mailchimp, s) => ({
      create: async () => {
        await list(mailchimp, s);
        const body = {
          type: 'regular',
          recipients: { list_id: s.list },
          settings: { subject_line: 'Our summer', title: 'Summer', from_name: 'Freddie', reply_to: 'freddie@example.com' },
        };
        const made = await mailchimp.campaigns.create(body);
        s.id = made.id;
        assert.deepEqual([made.type, made.status], ['regular', 'save']);
        assert.partialDeepStrictEqual(made.settings, { subject_line: 'Our summer', title: 'Summer' });
      },
      'say something': async () => {
        assert.equal((await mailchimp.campaigns.setContent(s.id, { html: '<p>Hello</p>' })).html, '<p>Hello</p>');
        assert.equal((await mailchimp.campaigns.getContent(s.id)).html, '<p>Hello</p>');
      },
      'another subject': async () => {
        const changed = await mailchimp.campaigns.update(s.id, { settings: { subject_line: 'Our autumn' } });
        assert.partialDeepStrictEqual(changed.settings, { subject_line: 'Our autumn' });
      },
      plan: () => mailchimp.campaigns.schedule(s.id, { schedule_time: '2030-02-04T19:15:00+00:00' }),
      'it is planned': async () => assert.equal((await mailchimp.campaigns.get(s.id)).status, 'schedule'),
      'not planned after all': async () => {
        await mailchimp.campaigns.unschedule(s.id);
        assert.equal((await mailchimp.campaigns.get(s.id)).status, 'save');
      },
    }),
    'a campaign is copied and talked about': (mailchimp, s) => ({
      create: async () => {
        s.id = (await mailchimp.campaigns.create({ type: 'plaintext', settings: { title: 'Winter' } })).id;
      },
      copy: async () => {
        const made = await mailchimp.campaigns.replicate(s.id);
        s.copy = made.id;
        assert.notEqual(made.id, s.id);
        assert.equal(made.type, 'plaintext');
      },
      'both are listed': async () => once(ids(await mailchimp.campaigns.list(), 'campaigns'), [s.id, s.copy], 'campaigns'),
      'somebody has something to say': async () => {
        const made = await mailchimp.campaigns.addFeedback(s.id, { message: 'Too cold', is_complete: false });
        assert.deepEqual([made.message, made.campaign_id], ['Too cold', s.id]);
        assert.deepEqual(ids(await mailchimp.campaigns.getFeedback(s.id), 'feedback', 'message'), ['Too cold']);
      },
      'delete the copy': () => mailchimp.campaigns.remove(s.copy),
      'only the first is left': async () => assert.deepEqual(ids(await mailchimp.campaigns.list(), 'campaigns'), [s.id]),
    }),
    'a store and what it sells': (mailchimp, s) => ({
      create: async () => {
        await list(mailchimp, s);
        const body = { id: 'store_001', list_id: s.list, name: 'Freddie’s Cat Hats', currency_code: 'USD' };
        assert.partialDeepStrictEqual({ ...(await mailchimp.ecommerce.addStore(body)) }, body);
      },
      'a product': async () => {
        const body = { id: 'hat', title: 'Cat hat', variants: [{ id: 'hat-red', title: 'Red cat hat', price: 12.5 }] };
        const made = await mailchimp.ecommerce.addStoreProduct('store_001', body);
        assert.deepEqual([made.id, made.title], ['hat', 'Cat hat']);
      },
      'another title': async () =>
        assert.equal(
          (await mailchimp.ecommerce.updateStoreProduct('store_001', 'hat', { title: 'Hat for a cat' })).title,
          'Hat for a cat',
        ),
      'in the list': async () => {
        const all = await mailchimp.ecommerce.getAllStoreProducts('store_001');
        assert.deepEqual([ids(all, 'products'), all.store_id], [['hat'], 'store_001']);
      },
      'no more sold': () => mailchimp.ecommerce.deleteStoreProduct('store_001', 'hat'),
      'it is gone': () => refused(mailchimp.ecommerce.getStoreProduct('store_001', 'hat'), 404),
    }),
    'requests that are wrong': (mailchimp, s) => ({
      'an audience that nobody made': async () => {
        const { title, status, type } = told(await refused(mailchimp.lists.getList('0000000000'), 404));
        assert.deepEqual([typeof title, typeof type, status], ['string', 'string', 404]);
      },
      'an audience without a name': async () => {
        const { status } = told(await refused(mailchimp.lists.createList({ email_type_option: true }), 400));
        assert.equal(status, 400);
      },
      'a member twice': async () => {
        await list(mailchimp, s);
        await member(mailchimp, s, 'twice@example.com');
        const { title } = told(await refused(member(mailchimp, s, 'twice@example.com'), 400));
        assert.equal(title, 'Member Exists');
      },
      'a member who was never added': () => refused(mailchimp.lists.getListMember(s.list, hash('nobody@example.com')), 404),
      'a status there is not': () =>
        refused(mailchimp.lists.addListMember(s.list, { email_address: 'odd@example.com', status: 'asleep' }), 400),
    }),
    'a key that is refused': (mailchimp, _s, another) => ({
      'the right one is taken': () => mailchimp.lists.getAllLists(),
      'a wrong one is not': async () => {
        const { status } = told(await refused(another(pair('wrong-us6')).lists.getAllLists(), 401));
        assert.equal(status, 401);
      },
      'nor does it create': () => refused(another(pair('wrong-us6')).lists.createList(audience('Nobody’s')), 401),
    }),
  },
};
