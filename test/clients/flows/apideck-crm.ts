import assert from 'node:assert/strict';
import { Apideck } from '@apideck/node';
import { given, once, pages, refused, type Vendor } from '../kit.ts';

type Crm = Apideck['crm'];

const next = (page: { meta?: { cursors?: { next?: string | null } } }) => page.meta?.cursors?.next;
const ids = (rows: readonly { id?: string | null }[]): string[] => rows.map(({ id }) => String(id));
const gone = (call: Promise<unknown>) => refused(call, 404);

// https://developers.apideck.com/apis/crm/reference
export const vendor: Vendor<Crm> = {
  document: 'apideck/crm.json',
  header: 'authorization',
  word: 'Bearer',
  also: ['x-apideck-app-id', 'x-apideck-consumer-id'],
  made: 'sk_live_5a5c2b91',
  client: (place, apiKey) => {
    const printed = (name: string, made: string) => place.printed.find((header) => header.name === name)?.value ?? made;
    return new Apideck({
      apiKey,
      appId: printed('x-apideck-app-id', 'dSBdXd2H6Mqwfg0atXHXYcysLJE9qyn1VwBtXHX'),
      consumerId: printed('x-apideck-consumer-id', 'test_user_id'),
      basePath: place.url,
    }).crm;
  },
  strict: ['a wrong key is refused'],
  flows: {
    'a contact made, read, changed, deleted': (crm, s) => ({
      'made, answered with its id': async () => {
        const made = await crm.contactsAdd({
          contact: { name: 'Elon Example', first_name: 'Elon', last_name: 'Example', emails: [{ email: 'elon@example.com' }] },
        });
        assert.equal(made.status_code, 201);
        s.id = made.data.id;
      },
      'read as it was made': async () => {
        const { data, status_code } = await crm.contactsOne({ id: s.id });
        assert.equal(status_code, 200);
        assert.equal(data.id, s.id);
        assert.equal(data.name, 'Elon Example');
        assert.equal(data.emails?.[0]?.email, 'elon@example.com');
      },
      'its title changed': async () => {
        const changed = await crm.contactsUpdate({ id: s.id, contact: { name: 'Elon Example', title: 'CEO' } });
        assert.equal(changed.data.id, s.id);
      },
      'read with it, the rest kept': async () => {
        const { data } = await crm.contactsOne({ id: s.id });
        assert.equal(data.title, 'CEO');
        assert.equal(data.last_name, 'Example');
      },
      deleted: async () => {
        assert.equal((await crm.contactsDelete({ id: s.id })).data.id, s.id);
      },
      'no more there': () => gone(crm.contactsOne({ id: s.id })),
    }),

    'contacts through all pages': (crm, s) => ({
      'seven are made': async () => {
        const made: string[] = [];
        for (const name of ['Ann', 'Bob', 'Cem', 'Dag', 'Eva', 'Fay', 'Gus'])
          made.push((await crm.contactsAdd({ contact: { name } })).data.id);
        assert.equal(new Set(made).size, 7);
        s.ids = made.join(',');
      },
      'a page is no longer than asked for, and says so': async () => {
        const page = await crm.contactsAll({ limit: 3 });
        assert.equal(page.data.length, 3);
        assert.equal(given(page.meta, 'meta').items_on_page, 3);
        given(next(page), 'meta.cursors.next');
      },
      'all pages together hold each once': async () => {
        const all = await pages(
          (cursor) => crm.contactsAll(cursor === undefined ? { limit: 3 } : { limit: 3, cursor }),
          ({ data }) => data,
          next,
        );
        once(ids(all), s.ids.split(','), 'contacts');
      },
      'the first page has none before it': async () => {
        const page = await crm.contactsAll({ limit: 3 });
        assert.equal(page.meta?.cursors?.previous ?? null, null);
      },
    }),

    'contacts filtered': (crm, s) => ({
      'three, two of one family': async () => {
        const add = async (first_name: string, last_name: string) =>
          (await crm.contactsAdd({ contact: { name: `${first_name} ${last_name}`, first_name, last_name } })).data.id;
        s.one = await add('Ida', 'Lindqvist');
        s.two = await add('Nils', 'Lindqvist');
        s.other = await add('Ida', 'Moreau');
      },
      'the family': async () => {
        const { data } = await crm.contactsAll({ filter: { last_name: 'Lindqvist' } });
        assert.deepEqual(ids(data).sort(), [s.one, s.two].sort());
      },
      'one of the family': async () => {
        const { data } = await crm.contactsAll({ filter: { last_name: 'Lindqvist', first_name: 'Nils' } });
        assert.deepEqual(ids(data), [s.two]);
      },
    }),

    'contacts sorted': (crm) => ({
      'three are made': async () => {
        for (const name of ['Sorted B', 'Sorted C', 'Sorted A']) await crm.contactsAdd({ contact: { name } });
      },
      'by name, upwards': async () => {
        const { data } = await crm.contactsAll({ sort: { by: 'name' as never, direction: 'asc' as never }, limit: 200 });
        const names = data.map(({ name }) => String(name)).filter((name) => name.startsWith('Sorted'));
        assert.deepEqual(names, ['Sorted A', 'Sorted B', 'Sorted C']);
      },
      'by name, downwards': async () => {
        const { data } = await crm.contactsAll({ sort: { by: 'name' as never, direction: 'desc' as never }, limit: 200 });
        const names = data.map(({ name }) => String(name)).filter((name) => name.startsWith('Sorted'));
        assert.deepEqual(names, ['Sorted C', 'Sorted B', 'Sorted A']);
      },
    }),

    'only some fields': (crm, s) => ({
      'a contact': async () => {
        s.id = (await crm.contactsAdd({ contact: { name: 'Uma', title: 'Director', department: 'Film' } })).data.id;
      },
      'read with two fields alone': async () => {
        const { data } = await crm.contactsOne({ id: s.id, fields: 'id,title' });
        assert.equal(data.id, s.id);
        assert.equal(data.title, 'Director');
        assert.equal(data.department ?? undefined, undefined);
      },
    }),

    'a company and its contacts': (crm, s) => ({
      'the company': async () => {
        const made = await crm.companiesAdd({ company: { name: 'Tidewater', industry: 'Shipping', tags: ['key', 'north'] } });
        s.company = made.data.id;
      },
      'read with its tags': async () => {
        const { data } = await crm.companiesOne({ id: s.company });
        assert.equal(data.name, 'Tidewater');
        assert.deepEqual(data.tags, ['key', 'north']);
      },
      'somebody there': async () => {
        s.contact = (await crm.contactsAdd({ contact: { name: 'Pia', company_id: s.company } })).data.id;
      },
      'found by the company': async () => {
        const { data } = await crm.contactsAll({ filter: { company_id: s.company } });
        assert.deepEqual(ids(data), [s.contact]);
      },
    }),

    'companies found by name, and one deleted': (crm, s) => ({
      two: async () => {
        s.one = (await crm.companiesAdd({ company: { name: 'Northgate' } })).data.id;
        s.two = (await crm.companiesAdd({ company: { name: 'Southgate' } })).data.id;
      },
      'one of the name': async () => {
        const { data } = await crm.companiesAll({ filter: { name: 'Northgate' } });
        assert.deepEqual(ids(data), [s.one]);
      },
      'renamed, it is found by the new name': async () => {
        await crm.companiesUpdate({ id: s.one, company: { name: 'Eastgate' } });
        assert.deepEqual(ids((await crm.companiesAll({ filter: { name: 'Eastgate' } })).data), [s.one]);
      },
      deleted: () => crm.companiesDelete({ id: s.one }),
      'the other is left': async () => {
        await gone(crm.companiesOne({ id: s.one }));
        assert.equal((await crm.companiesOne({ id: s.two })).data.name, 'Southgate');
      },
    }),

    'a lead made, qualified, deleted': (crm, s) => ({
      made: async () => {
        const made = await crm.leadsAdd({
          lead: { name: 'Rosa Diaz', company_name: 'Ninety Nine', monetary_amount: 1200.5, currency: 'USD' as never },
        });
        s.id = made.data.id;
      },
      'read with its money': async () => {
        const { data } = await crm.leadsOne({ id: s.id });
        assert.equal(data.monetary_amount, 1200.5);
        assert.equal(data.currency, 'USD');
      },
      'its status changed': () =>
        crm.leadsUpdate({ id: s.id, lead: { name: 'Rosa Diaz', company_name: 'Ninety Nine', status: 'Qualified' } }),
      'read with it': async () => assert.equal((await crm.leadsOne({ id: s.id })).data.status, 'Qualified'),
      deleted: () => crm.leadsDelete({ id: s.id }),
      'no more there': () => gone(crm.leadsOne({ id: s.id })),
    }),

    'opportunities filtered by amount': (crm, s) => ({
      'two are made': async () => {
        s.small = (
          await crm.opportunitiesAdd({ opportunity: { title: 'Small one', primary_contact_id: null, monetary_amount: 500 } })
        ).data.id;
        s.large = (
          await crm.opportunitiesAdd({ opportunity: { title: 'Large one', primary_contact_id: null, monetary_amount: 75_000 } })
        ).data.id;
      },
      'the large one is found': async () => {
        const { data } = await crm.opportunitiesAll({ filter: { monetary_amount: 75_000 } });
        assert.ok(ids(data).includes(s.large));
        assert.ok(!ids(data).includes(s.small));
      },
      'and read': async () => {
        const { data } = await crm.opportunitiesOne({ id: s.large });
        assert.equal(data.title, 'Large one');
      },
    }),

    'a pipeline with stages': (crm, s) => ({
      made: async () => {
        const made = await crm.pipelinesAdd({
          pipeline: {
            name: 'Sales',
            stages: [
              { name: 'First talk', win_probability: 10 },
              { name: 'Offer', win_probability: 60 },
            ],
          },
        });
        s.id = made.data.id;
      },
      'read with its stages in order': async () => {
        const { data } = await crm.pipelinesOne({ id: s.id });
        assert.deepEqual(
          data.stages?.map(({ name, win_probability }) => [name, win_probability]),
          [
            ['First talk', 10],
            ['Offer', 60],
          ],
        );
      },
      'in the list': async () => once(ids((await crm.pipelinesAll({})).data), [s.id], 'pipelines'),
      archived: () => crm.pipelinesUpdate({ id: s.id, pipeline: { name: 'Sales', archived: true } }),
      'read so': async () => assert.equal((await crm.pipelinesOne({ id: s.id })).data.archived, true),
    }),

    'notes of a contact': (crm, s) => ({
      'a contact and a note': async () => {
        s.contact = (await crm.contactsAdd({ contact: { name: 'Vik' } })).data.id;
        s.note = (await crm.notesAdd({ note: { title: 'Call', content: 'Wants a demo', contact_id: s.contact } })).data.id;
      },
      'the note is read': async () => {
        const { data } = await crm.notesOne({ id: s.note });
        assert.equal(data.content, 'Wants a demo');
        assert.equal(data.contact_id, s.contact);
      },
      'its text changed': () => crm.notesUpdate({ id: s.note, note: { content: 'Had a demo' } }),
      'read with it': async () => assert.equal((await crm.notesOne({ id: s.note })).data.content, 'Had a demo'),
      deleted: () => crm.notesDelete({ id: s.note }),
      'no more there': () => gone(crm.notesOne({ id: s.note })),
    }),

    'an activity done': (crm, s) => ({
      'a meeting': async () => {
        const made = await crm.activitiesAdd({
          activity: { type: 'meeting' as never, title: 'Quarterly', duration_seconds: 1800, done: false },
        });
        s.id = made.data.id;
      },
      'is done': () => crm.activitiesUpdate({ id: s.id, activity: { type: 'meeting' as never, done: true } }),
      'read so': async () => {
        const { data } = await crm.activitiesOne({ id: s.id });
        assert.equal(data.done, true);
        assert.equal(data.title, 'Quarterly');
      },
    }),

    'a wrong key is refused': (_crm, _s, another) => ({
      'a list': () => refused(another('sk_live_wrong').contactsAll({ limit: 1 }), 401),
      'a creation': () => refused(another('sk_live_wrong').contactsAdd({ contact: { name: 'Mallory' } }), 401),
    }),

    'what is not there, and what is not right': (crm) => ({
      'no such contact': () => gone(crm.contactsOne({ id: 'nobody-of-this-id' })),
      'no such lead to change': () => gone(crm.leadsUpdate({ id: 'nobody-of-this-id', lead: { name: 'X', company_name: 'Y' } })),
      'a page of none': () => refused(crm.contactsAll({ limit: 0 }), 400, 422),
      'a page of too many': () => refused(crm.contactsAll({ limit: 500 }), 400, 422),
      'a contact without a name': () => refused(crm.contactsAdd({ contact: { title: 'Nobody' } as never }), 400, 422),
    }),
  },
};
