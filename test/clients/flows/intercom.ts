import assert from 'node:assert/strict';
import { type Intercom, IntercomClient } from 'intercom-client';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): IntercomClient =>
  new IntercomClient({ token, environment: place.url, maxRetries: 0 });

const contact = async (intercom: IntercomClient, name: string): Promise<string> =>
  given((await intercom.contacts.create({ email: `${name}@example.com`, name })).id, 'id');

const ids = (rows: readonly ({ id?: string | number } | undefined)[] | undefined): string[] =>
  given(rows, 'rows').map((row) => String(row?.id));

/** Every row of a list; the client asks for page after page by itself. */
const walk = async <Row>(rows: Promise<AsyncIterable<Row>>): Promise<Row[]> => gather(await rows, (row) => [row], 60);

/** Guide: developers.intercom.com, "Contacts", "Pagination", "Tags", "Companies", "Articles" and the reference of 2.14. */
export const vendor: Vendor<IntercomClient> = {
  document: 'intercom/api.intercom.io-2.14.yaml',
  header: 'Authorization',
  word: 'Bearer',
  made: 'dG9rOm1hZGV1cA==',
  client: connect,
  flows: {
    'a contact from the making to the end': (intercom, s) => ({
      create: async () => {
        const made = await intercom.contacts.create({ email: 'joe@example.com', name: 'Joe Example', phone: '+353871234567' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.type, made.email, made.name], ['contact', 'joe@example.com', 'Joe Example']);
      },
      read: async () => {
        const read = await intercom.contacts.find({ contact_id: s.id });
        assert.deepEqual([read.id, read.email, read.phone], [s.id, 'joe@example.com', '+353871234567']);
      },
      change: async () => assert.equal((await intercom.contacts.update({ contact_id: s.id, name: 'Joseph' })).name, 'Joseph'),
      'read the new name and the old address': async () => {
        const read = await intercom.contacts.find({ contact_id: s.id });
        assert.deepEqual([read.name, read.email], ['Joseph', 'joe@example.com']);
      },
      delete: async () => {
        const end = await intercom.contacts.delete({ contact_id: s.id });
        assert.deepEqual([end.id, end.deleted], [s.id, true]);
      },
      gone: async () => refused(intercom.contacts.find({ contact_id: s.id }), 404),
    }),
    'contacts through all pages': (intercom, s) => ({
      create: async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await contact(intercom, `person${n}`);
      },
      'walk pages of two': async () =>
        once(ids(await walk(intercom.contacts.list({ per_page: 2 }))), [s.id1, s.id2, s.id3, s.id4, s.id5]),
      'a page holds what was asked for': async () => assert.equal((await intercom.contacts.list({ per_page: 2 })).data.length, 2),
    }),
    'a contact is searched': (intercom, s) => ({
      create: async () => {
        for (const n of [1, 2, 3]) s[`id${n}`] = await contact(intercom, `find${n}`);
      },
      'search by the address': async () => {
        const query = { field: 'email', operator: '=' as const, value: 'find2@example.com' };
        assert.deepEqual(ids(await walk(intercom.contacts.search({ query }))), [s.id2]);
      },
      'search through pages of one': async () => {
        const query = { field: 'email', operator: '~' as const, value: 'find' };
        const rows = await walk(intercom.contacts.search({ query, pagination: { per_page: 1 } }));
        once(ids(rows), [s.id1, s.id2, s.id3]);
      },
    }),
    'a contact is archived and taken back': (intercom, s) => ({
      create: async () => {
        s.id = await contact(intercom, 'old');
      },
      archive: async () => {
        const end = await intercom.contacts.archive({ contact_id: s.id });
        assert.deepEqual([end.id, end.archived], [s.id, true]);
      },
      'take it back': async () => {
        const end = await intercom.contacts.unarchive({ contact_id: s.id });
        assert.deepEqual([end.id, end.archived], [s.id, false]);
      },
    }),
    'tags on a contact': (intercom, s) => ({
      'create a contact': async () => {
        s.contact = await contact(intercom, 'tagged');
      },
      'create a tag': async () => {
        const made = await intercom.tags.create({ name: 'Independent' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.type, made.name], ['tag', 'Independent']);
      },
      'read the tag': async () => assert.equal((await intercom.tags.find({ tag_id: s.id })).name, 'Independent'),
      'list the tags': async () => once(ids((await intercom.tags.list()).data), [s.id]),
      'put it on': async () => assert.equal((await intercom.tags.tagContact({ contact_id: s.contact, id: s.id })).id, s.id),
      'the contact has it': async () =>
        assert.deepEqual(ids((await intercom.contacts.listAttachedTags({ contact_id: s.contact })).data), [s.id]),
      'take it off': async () =>
        assert.equal((await intercom.tags.untagContact({ contact_id: s.contact, tag_id: s.id })).id, s.id),
      'the contact has it no more': async () =>
        assert.deepEqual(ids((await intercom.contacts.listAttachedTags({ contact_id: s.contact })).data), []),
      'delete the tag': async () => intercom.tags.delete({ tag_id: s.id }),
      'the tag is gone': async () => refused(intercom.tags.find({ tag_id: s.id }), 404),
    }),
    'notes on a contact': (intercom, s) => ({
      'create a contact': async () => {
        s.contact = await contact(intercom, 'noted');
      },
      create: async () => {
        const made = await intercom.notes.create({ contact_id: s.contact, body: 'Hello' });
        s.id = String(given(made.id, 'id'));
        assert.match(made.body, /Hello/);
      },
      read: async () => assert.match((await intercom.notes.find({ note_id: Number(s.id) })).body, /Hello/),
      list: async () => assert.deepEqual(ids(await walk(intercom.notes.list({ contact_id: s.contact }))), [s.id]),
    }),
    'a company and its people': (intercom, s) => ({
      create: async () => {
        const made = await intercom.companies.createOrUpdate({ company_id: 'company_remote_id', name: 'my company' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.company_id, made.name], ['company_remote_id', 'my company']);
      },
      'the same once more changes it': async () => {
        const made = await intercom.companies.createOrUpdate({ company_id: 'company_remote_id', name: 'our company' });
        assert.deepEqual([made.id, made.name], [s.id, 'our company']);
      },
      read: async () => assert.equal((await intercom.companies.find({ company_id: s.id })).name, 'our company'),
      'a contact joins': async () => {
        s.contact = await contact(intercom, 'employee');
        assert.equal((await intercom.companies.attachContact({ contact_id: s.contact, id: s.id })).id, s.id);
      },
      'the company has the contact': async () =>
        assert.deepEqual(ids((await intercom.companies.listAttachedContacts({ company_id: s.id })).data), [s.contact]),
      'the contact leaves': async () => intercom.companies.detachContact({ contact_id: s.contact, company_id: s.id }),
      'the company has nobody': async () =>
        assert.deepEqual(ids((await intercom.companies.listAttachedContacts({ company_id: s.id })).data), []),
      delete: async () => assert.equal((await intercom.companies.delete({ company_id: s.id })).deleted, true),
      gone: async () => refused(intercom.companies.find({ company_id: s.id }), 404),
    }),
    'an article is drafted, published and deleted': (intercom, s) => ({
      create: async () => {
        const made = await intercom.articles.create({ title: 'Thanks', body: '<p>body</p>', author_id: 1295, state: 'draft' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.title, made.state], ['Thanks', 'draft']);
      },
      list: async () => once(ids(await walk(intercom.articles.list({ per_page: 1 }))), [s.id]),
      publish: async () =>
        assert.equal((await intercom.articles.update({ article_id: Number(s.id), state: 'published' })).state, 'published'),
      'read the state and the title': async () => {
        const read = await intercom.articles.find({ article_id: Number(s.id) });
        assert.deepEqual([read.state, read.title], ['published', 'Thanks']);
      },
      delete: async () => assert.equal((await intercom.articles.delete({ article_id: Number(s.id) })).deleted, true),
      gone: async () => refused(intercom.articles.find({ article_id: Number(s.id) }), 404),
    }),
    'a collection of the help centre': ({ helpCenters: { collections } }, s) => ({
      create: async () => {
        const made = await collections.create({ name: 'Billing', description: 'Bills' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.description], ['Billing', 'Bills']);
      },
      change: async () => assert.equal((await collections.update({ collection_id: Number(s.id), name: 'Money' })).name, 'Money'),
      read: async () => assert.equal((await collections.find({ collection_id: Number(s.id) })).name, 'Money'),
      list: async () => once(ids(await walk(collections.list({ per_page: 1 }))), [s.id]),
      delete: async () => assert.equal((await collections.delete({ collection_id: Number(s.id) })).deleted, true),
      gone: async () => refused(collections.find({ collection_id: Number(s.id) }), 404),
    }),
    'a conversation is begun, answered and closed': (intercom, s) => ({
      'create a contact': async () => {
        s.contact = await contact(intercom, 'talker');
      },
      begin: async () => {
        const made = await intercom.conversations.create({ from: { type: 'user', id: s.contact }, body: 'Hello there' });
        s.id = given(made.conversation_id, 'conversation_id');
      },
      read: async () => assert.equal((await intercom.conversations.find({ conversation_id: s.id })).id, s.id),
      list: async () => once(ids(await walk(intercom.conversations.list({ per_page: 1 }))), [s.id]),
      answer: async () => {
        const body = { message_type: 'comment' as const, type: 'admin' as const, admin_id: '991267', body: 'Good day' };
        assert.equal((await intercom.conversations.reply({ conversation_id: s.id, body })).id, s.id);
      },
      close: async () => {
        const body: Intercom.ManageConversationPartsRequest['body'] = {
          message_type: 'close',
          type: 'admin',
          admin_id: '991267',
        };
        assert.equal((await intercom.conversations.manage({ conversation_id: s.id, body })).state, 'closed');
      },
      'read that it is closed': async () =>
        assert.equal((await intercom.conversations.find({ conversation_id: s.id })).state, 'closed'),
    }),
    'a credential that is refused': (intercom, _s, another) => ({
      'the right one is taken': async () => {
        await intercom.contacts.list();
      },
      'another is refused': async () => refused(another('not-of-this-service').contacts.list(), 401),
      'another may not write': async () => refused(contact(another('not-of-this-service'), 'eve'), 401),
    }),
    'requests that are wrong': (intercom) => ({
      'a company that nobody made': async () =>
        refused(intercom.companies.find({ company_id: '5f4d3c1c-7b1b-4d7d-a97e-6095715c6632' }), 404),
      'an article without a title': async () =>
        refused(intercom.articles.create({ body: 'x', author_id: 1 } as Intercom.CreateArticleRequest), 400, 422),
      'a tag without a name': async () => refused(intercom.tags.create({} as { name: string }), 400, 422),
      'an article in a state that there is not': async () =>
        refused(intercom.articles.create({ title: 'T', author_id: 1, state: 'imagined' as 'draft' }), 400, 422),
    }),
  },
};
