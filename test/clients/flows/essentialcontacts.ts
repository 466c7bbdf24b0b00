import assert from 'node:assert/strict';
import { auth, essentialcontacts, type essentialcontacts_v1 } from 'googleapis/build/src/apis/essentialcontacts/index.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Client = essentialcontacts_v1.Essentialcontacts;
type Contact = essentialcontacts_v1.Schema$GoogleCloudEssentialcontactsV1Contact;
/** Contacts of projects, of folders and of organizations are called in one way. */
type Contacts = Pick<
  essentialcontacts_v1.Resource$Projects$Contacts,
  'compute' | 'create' | 'delete' | 'get' | 'list' | 'patch' | 'sendTestMessage'
>;

/** `rootUrl` is the client's own option; it would ask again where it finds the server broken. */
const connect = (place: Place, token: string): Client => {
  const credential = new auth.OAuth2();
  credential.setCredentials({ access_token: token });
  return essentialcontacts({ version: 'v1', auth: credential, rootUrl: `${place.url}/`, retry: false });
};

/** Projects, folders and organizations are made by another service, and are there: each flow has its own, by its number. */
const project = (number: number): string => `projects/${480_000_000_000 + number}`;
const folder = 'folders/720000000001';
const organization = 'organizations/960000000001';
const nobody = `${project(1)}/contacts/999999999999`;

const english = { languageTag: 'en' };
const add = async (c: Contacts, parent: string, email: string, to: readonly string[], more: Contact = english) =>
  (await c.create({ parent, requestBody: { email, notificationCategorySubscriptions: [...to], ...more } })).data;
/** The name of a new contact. */
const named = async (c: Contacts, parent: string, email: string, to: readonly string[]): Promise<string> =>
  given((await add(c, parent, email, to)).name, 'name');
const read = async (c: Contacts, name: string): Promise<Contact> => (await c.get({ name })).data;
const sorted = (rows: readonly string[] | null | undefined): string[] => (rows ?? []).toSorted();
const emails = (rows: readonly Contact[]): string[] => sorted(rows.map(({ email }) => given(email, 'email')));
const names = (rows: readonly Contact[]): string[] => rows.map(({ name }) => given(name, 'name'));
const from = (pageToken: string | undefined): { pageToken?: string } => (pageToken === undefined ? {} : { pageToken });
const list = (c: Contacts, parent: string, pageSize?: number): Promise<Contact[]> =>
  pages(
    async (token) => (await c.list({ parent, ...(pageSize && { pageSize }), ...from(token) })).data,
    ({ contacts }) => contacts ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
/** The addresses that hear of these categories. */
const compute = async (c: Contacts, parent: string, categories: readonly string[], pageSize?: number): Promise<string[]> =>
  emails(
    await pages(
      async (token) => {
        const asked = { parent, notificationCategories: [...categories], ...(pageSize && { pageSize }), ...from(token) };
        return (await c.compute(asked)).data;
      },
      ({ contacts }) => contacts ?? [],
      ({ nextPageToken }) => nextPageToken || undefined,
    ),
  );
const send = (c: Contacts, resource: string, contacts: string[] | undefined, notificationCategory: string | undefined) =>
  c.sendTestMessage({ resource, requestBody: { contacts, notificationCategory } });
const categories = ['SUSPENSION', 'SECURITY', 'TECHNICAL', 'BILLING', 'LEGAL', 'PRODUCT_UPDATES', 'TECHNICAL_INCIDENTS'];

/** Guide: cloud.google.com/resource-manager/docs/managing-notification-contacts, and the REST reference of Essential Contacts, v1. */
export const vendor: Vendor<Client> = {
  document: 'essentialcontacts/essentialcontacts.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a contact, from the first to the last day': ({ projects: { contacts: c } }, s) => ({
      made: async () => {
        const made = await add(c, project(1), 'ops@example.com', ['TECHNICAL', 'SECURITY']);
        s.name = given(made.name, 'name');
        assert.match(s.name, /^projects\/480000000001\/contacts\/[^/]+$/);
        assert.deepEqual([made.email, made.languageTag], ['ops@example.com', 'en']);
        assert.deepEqual(sorted(made.notificationCategorySubscriptions), ['SECURITY', 'TECHNICAL']);
      },
      read: async () => {
        const data = await read(c, s.name);
        assert.partialDeepStrictEqual(data, { name: s.name, email: 'ops@example.com', languageTag: 'en' });
        assert.deepEqual(sorted(data.notificationCategorySubscriptions), ['SECURITY', 'TECHNICAL']);
      },
      'all begin as valid ones': async () => assert.equal((await read(c, s.name)).validationState, 'VALID'),
      'is in the list': async () => once(names(await list(c, project(1))), [s.name], 'contacts'),
      'hears of bills instead, in German': async () => {
        const requestBody: Contact = { notificationCategorySubscriptions: ['BILLING'], languageTag: 'de' };
        const updateMask = 'notificationCategorySubscriptions,languageTag';
        const { data } = await c.patch({ name: s.name, updateMask, requestBody });
        assert.deepEqual([data.name, data.languageTag], [s.name, 'de']);
        assert.deepEqual(data.notificationCategorySubscriptions, ['BILLING']);
      },
      'and so it stays': async () => {
        const wanted = { email: 'ops@example.com', languageTag: 'de', notificationCategorySubscriptions: ['BILLING'] };
        assert.partialDeepStrictEqual(await read(c, s.name), wanted);
      },
      deleted: async () => assert.deepEqual((await c.delete({ name: s.name })).data, {}),
      gone: () => refused(c.get({ name: s.name }), 404),
      'no longer in the list': async () => assert.ok(!names(await list(c, project(1))).includes(s.name), 'it is'),
    }),

    'contacts through all pages': ({ projects: { contacts: c } }) => {
      const parent = project(2);
      const wanted = ['a', 'b', 'c', 'd', 'e'].map((one) => `page-${one}@example.com`);
      return {
        'none yet': async () => assert.deepEqual(await list(c, parent), []),
        'five are made, in no order': async () => {
          for (const one of [2, 0, 4, 1, 3]) await add(c, parent, wanted[one] as string, ['ALL']);
        },
        'no more on a page than asked for': async () => {
          const { data } = await c.list({ parent, pageSize: 2 });
          const rows = given(data.contacts, 'contacts');
          assert.ok(rows.length > 0 && rows.length <= 2, `${rows.length} rows`);
          given(data.nextPageToken || undefined, 'next page token');
        },
        'all of them, each once': async () => assert.deepEqual(emails(await list(c, parent, 2)), wanted),
        'a hundred are asked for where nothing is said': async () => {
          const { data } = await c.list({ parent });
          assert.deepEqual([emails(data.contacts ?? []), data.nextPageToken || undefined], [wanted, undefined]);
        },
        'sizes that are not positive are ignored': async () => {
          for (const pageSize of [0, -1]) {
            const { data } = await c.list({ parent, pageSize });
            assert.deepEqual(emails(data.contacts ?? []), wanted);
          }
        },
        'one fewer when one is deleted': async () => {
          const row = given(
            (await list(c, parent)).find(({ email }) => email === wanted[2]),
            'row',
          );
          await c.delete({ name: given(row.name, 'name') });
          assert.deepEqual(emails(await list(c, parent, 3)), wanted.toSpliced(2, 1));
        },
        'no page that none led to': () => refused(c.list({ parent, pageToken: 'made up' }), 400),
      };
    },

    'a contact of an organization': ({ organizations: { contacts: c } }, s) => ({
      made: async () => {
        s.name = await named(c, organization, 'legal@example.com', ['LEGAL']);
        assert.match(s.name, /^organizations\/960000000001\/contacts\/[^/]+$/);
      },
      'read and listed': async () => {
        assert.partialDeepStrictEqual(await read(c, s.name), { name: s.name, email: 'legal@example.com' });
        once(names(await list(c, organization)), [s.name], 'contacts');
      },
      'hears of laws': async () => once(await compute(c, organization, ['LEGAL']), ['legal@example.com'], 'contacts'),
      changed: async () => {
        const { data } = await c.patch({ name: s.name, updateMask: 'languageTag', requestBody: { languageTag: 'fr' } });
        assert.deepEqual([data.languageTag, data.notificationCategorySubscriptions], ['fr', ['LEGAL']]);
      },
      'deleted, and gone': async () => {
        await c.delete({ name: s.name });
        await refused(c.get({ name: s.name }), 404);
      },
    }),

    'a contact of a folder': ({ folders: { contacts: c } }, s) => ({
      made: async () => {
        s.name = await named(c, folder, 'team@example.com', ['PRODUCT_UPDATES', 'BILLING']);
        assert.match(s.name, /^folders\/720000000001\/contacts\/[^/]+$/);
      },
      'read and listed': async () => {
        assert.partialDeepStrictEqual(await read(c, s.name), { name: s.name, email: 'team@example.com' });
        once(names(await list(c, folder)), [s.name], 'contacts');
      },
      'hears of bills': async () => once(await compute(c, folder, ['BILLING']), ['team@example.com'], 'contacts'),
      'gets a test message': async () => assert.deepEqual((await send(c, folder, [s.name], 'BILLING')).data, {}),
      'deleted, and gone': async () => {
        await c.delete({ name: s.name });
        await refused(c.get({ name: s.name }), 404);
      },
    }),

    'the same address in several places': ({ projects, folders, organizations }, s) => {
      const email = 'same@example.com';
      return {
        'of two projects, a folder and an organization': async () => {
          s.left = await named(projects.contacts, project(3), email, ['ALL']);
          s.right = await named(projects.contacts, project(4), email, ['BILLING']);
          s.folder = await named(folders.contacts, folder, email, ['LEGAL']);
          s.organization = await named(organizations.contacts, organization, email, ['SECURITY']);
          assert.equal(new Set([s.left, s.right, s.folder, s.organization]).size, 4);
        },
        'each place lists its own': async () => {
          assert.deepEqual(names(await list(projects.contacts, project(3))), [s.left]);
          assert.deepEqual(names(await list(projects.contacts, project(4))), [s.right]);
          const rows = [...(await list(folders.contacts, folder)), ...(await list(organizations.contacts, organization))];
          once(names(rows), [s.folder, s.organization], 'contacts');
          assert.ok(!names(rows).some((name) => name.startsWith('projects/')), 'projects’ too');
        },
        'one changes, and no other': async () => {
          const requestBody: Contact = { languageTag: 'ja' };
          await projects.contacts.patch({ name: s.left, updateMask: 'languageTag', requestBody });
          assert.equal((await read(projects.contacts, s.left)).languageTag, 'ja');
          assert.equal((await read(projects.contacts, s.right)).languageTag, 'en');
          assert.equal((await read(folders.contacts, s.folder)).languageTag, 'en');
        },
        'one is deleted, and no other': async () => {
          await projects.contacts.delete({ name: s.left });
          await refused(projects.contacts.get({ name: s.left }), 404);
          assert.equal((await read(projects.contacts, s.right)).email, email);
          assert.equal((await read(organizations.contacts, s.organization)).email, email);
        },
      };
    },

    'what a change names, and what it does not': ({ projects: { contacts: c } }, s) => ({
      'a contact': async () => {
        s.name = await named(c, project(5), 'mask@example.com', ['SECURITY']);
      },
      'only what the mask names changes': async () => {
        const requestBody: Contact = { languageTag: 'es', notificationCategorySubscriptions: ['LEGAL'] };
        const { data } = await c.patch({ name: s.name, updateMask: 'languageTag', requestBody });
        assert.deepEqual([data.languageTag, data.notificationCategorySubscriptions], ['es', ['SECURITY']]);
      },
      'the other half': async () => {
        const requestBody: Contact = { languageTag: 'it', notificationCategorySubscriptions: ['LEGAL', 'BILLING'] };
        await c.patch({ name: s.name, updateMask: 'notificationCategorySubscriptions', requestBody });
        const data = await read(c, s.name);
        assert.deepEqual([data.languageTag, sorted(data.notificationCategorySubscriptions)], ['es', ['BILLING', 'LEGAL']]);
      },
      'all that is sent, where there is no mask': async () => {
        const requestBody: Contact = {
          email: 'mask@example.com',
          languageTag: 'nl',
          notificationCategorySubscriptions: ['TECHNICAL'],
        };
        await c.patch({ name: s.name, requestBody });
        const { email, languageTag, notificationCategorySubscriptions: to } = await read(c, s.name);
        assert.deepEqual([email, languageTag, to], ['mask@example.com', 'nl', ['TECHNICAL']]);
      },
      'no field that there is not': () =>
        refused(c.patch({ name: s.name, updateMask: 'phone', requestBody: { languageTag: 'en' } }), 400),
      'it is one contact still': async () => assert.deepEqual(names(await list(c, project(5))), [s.name]),
    }),

    /** The guide says no more than that an address cannot be changed: whether such a request is refused is left open. */
    'an address is for ever': ({ projects: { contacts: c } }, s) => {
      const change = async (updateMask: string): Promise<void> => {
        try {
          const requestBody: Contact = { email: 'new@example.com', languageTag: 'en' };
          await c.patch({ name: s.name, updateMask, requestBody });
        } catch (thrown) {
          await refused(Promise.reject(thrown), 400);
        }
      };
      return {
        'a contact': async () => {
          s.name = await named(c, project(6), 'old@example.com', ['ALL']);
        },
        'it is not changed by itself': async () => {
          await change('email');
          assert.equal((await read(c, s.name)).email, 'old@example.com');
        },
        'nor with others': async () => {
          await change('email,languageTag');
          assert.equal((await read(c, s.name)).email, 'old@example.com');
        },
        'the list has the old one': async () => assert.deepEqual(emails(await list(c, project(6))), ['old@example.com']),
        'a new contact has the new one': async () => {
          await c.delete({ name: s.name });
          const made = await add(c, project(6), 'new@example.com', ['ALL']);
          assert.deepEqual(emails(await list(c, project(6))), ['new@example.com']);
          assert.notEqual(made.name, s.name);
        },
      };
    },

    'what the service says by itself': ({ projects: { contacts: c } }, s) => ({
      'a name that is sent is not taken': async () => {
        const sent = `${project(7)}/contacts/my-own-choice`;
        const made = await add(c, project(7), 'own@example.com', ['ALL'], { ...english, name: sent });
        s.name = given(made.name, 'name');
        assert.notEqual(s.name, sent);
      },
      'it is valid since it was made': async () => {
        const { validationState, validateTime } = await read(c, s.name);
        assert.equal(validationState, 'VALID');
        const age = Date.now() - Date.parse(given(validateTime, 'validateTime'));
        assert.ok(Math.abs(age) < 60_000, `validated ${age} ms ago`);
      },
      'two have two names': async () => assert.notEqual(await named(c, project(7), 'two@example.com', ['ALL']), s.name),
      'no more than is asked for': async () => {
        const { data } = await c.get({ name: s.name, fields: 'email,languageTag' });
        assert.deepEqual(data, { email: 'own@example.com', languageTag: 'en' });
      },
      'of a list neither': async () => {
        const { data } = await c.list({ parent: project(7), fields: 'contacts/email' });
        for (const row of given(data.contacts, 'contacts')) assert.deepEqual(Object.keys(row), ['email']);
        assert.deepEqual(emails(data.contacts ?? []), ['own@example.com', 'two@example.com']);
      },
    }),

    'categories and languages': ({ projects: { contacts: c } }) => ({
      'one of each category': async () => {
        for (const one of categories) {
          const made = await add(c, project(8), `${one.toLowerCase()}@example.com`, [one]);
          assert.deepEqual(made.notificationCategorySubscriptions, [one]);
        }
      },
      'one of all by their names': async () => {
        const made = await add(c, project(8), 'many@example.com', categories);
        assert.deepEqual(sorted(made.notificationCategorySubscriptions), sorted(categories));
      },
      'one of all there ever are': async () => {
        const made = await add(c, project(8), 'all@example.com', ['ALL']);
        assert.deepEqual(made.notificationCategorySubscriptions, ['ALL']);
      },
      'languages by their codes': async () => {
        for (const languageTag of ['de', 'fr', 'ja', 'ko', 'es', 'it']) {
          const email = `${languageTag}@example.com`;
          assert.equal((await add(c, project(9), email, ['ALL'], { languageTag })).languageTag, languageTag);
        }
      },
      'they are listed so': async () => {
        const rows = await list(c, project(9), 4);
        for (const { email, languageTag } of rows) assert.equal(email, `${languageTag}@example.com`);
        assert.equal(rows.length, 6);
      },
    }),

    'who hears of what': ({ projects: { contacts: c } }, s) => {
      const parent = project(10);
      return {
        'four contacts': async () => {
          s.secure = await named(c, parent, 'secure@example.com', ['SECURITY']);
          await add(c, parent, 'money@example.com', ['BILLING', 'LEGAL']);
          await add(c, parent, 'both@example.com', ['SECURITY', 'BILLING']);
          await add(c, parent, 'news@example.com', ['PRODUCT_UPDATES']);
        },
        'of security': async () =>
          assert.deepEqual(await compute(c, parent, ['SECURITY']), ['both@example.com', 'secure@example.com']),
        'of laws': async () => assert.deepEqual(await compute(c, parent, ['LEGAL']), ['money@example.com']),
        'of nothing that any asked for': async () => assert.deepEqual(await compute(c, parent, ['SUSPENSION']), []),
        'of either, each once': async () => {
          const wanted = ['both@example.com', 'money@example.com', 'secure@example.com'];
          assert.deepEqual(await compute(c, parent, ['SECURITY', 'BILLING']), wanted);
        },
        'of anything': async () => {
          const wanted = ['both@example.com', 'money@example.com', 'news@example.com', 'secure@example.com'];
          assert.deepEqual(await compute(c, parent, ['ALL']), wanted);
        },
        'of laws, since a change': async () => {
          const requestBody: Contact = { notificationCategorySubscriptions: ['LEGAL'] };
          await c.patch({ name: s.secure, updateMask: 'notificationCategorySubscriptions', requestBody });
          assert.deepEqual(await compute(c, parent, ['LEGAL']), ['money@example.com', 'secure@example.com']);
          assert.deepEqual(await compute(c, parent, ['SECURITY']), ['both@example.com']);
        },
        'no longer, since it was deleted': async () => {
          await c.delete({ name: s.secure });
          assert.deepEqual(await compute(c, parent, ['LEGAL']), ['money@example.com']);
        },
        'no category that there is not': () => refused(compute(c, parent, ['GOSSIP']), 400),
      };
    },

    'who hears of all': ({ projects: { contacts: c } }) => ({
      'one of all, and one of bills': async () => {
        await add(c, project(11), 'all@example.com', ['ALL']);
        await add(c, project(11), 'bills@example.com', ['BILLING']);
      },
      'both, of bills': async () =>
        assert.deepEqual(await compute(c, project(11), ['BILLING']), ['all@example.com', 'bills@example.com']),
      'the one, of laws': async () => assert.deepEqual(await compute(c, project(11), ['LEGAL']), ['all@example.com']),
      'of what else there is': async () => {
        for (const one of ['SECURITY', 'SUSPENSION', 'PRODUCT_UPDATES'])
          once(await compute(c, project(11), [one]), ['all@example.com'], one);
      },
      'both, of anything': async () =>
        assert.deepEqual(await compute(c, project(11), ['ALL']), ['all@example.com', 'bills@example.com']),
      'another project has neither': async () => {
        const rows = await compute(c, project(12), ['ALL']);
        assert.ok(!rows.includes('all@example.com') && !rows.includes('bills@example.com'), 'it has');
      },
    }),

    'who hears of it, through all pages': ({ projects: { contacts: c } }) => {
      const parent = project(13);
      const wanted = ['v', 'w', 'x', 'y', 'z'].map((one) => `${one}@example.com`);
      const asked = { parent, notificationCategories: ['SECURITY'] };
      return {
        'five who do, and two who do not': async () => {
          for (const email of wanted.toReversed()) await add(c, parent, email, ['SECURITY']);
          for (const email of ['m@example.com', 'zz@example.com']) await add(c, parent, email, ['LEGAL']);
        },
        'no more on a page than asked for': async () => {
          const { data } = await c.compute({ ...asked, pageSize: 2 });
          assert.ok((data.contacts ?? []).length <= 2, 'more than two');
          given(data.nextPageToken || undefined, 'next page token');
        },
        'all of them, each once': async () => assert.deepEqual(await compute(c, parent, ['SECURITY'], 2), wanted),
        'on one page, where nothing is said': async () => {
          const { data } = await c.compute(asked);
          assert.deepEqual([emails(data.contacts ?? []), data.nextPageToken || undefined], [wanted, undefined]);
        },
        'sizes that are not positive are ignored': async () => {
          const { data } = await c.compute({ ...asked, pageSize: -1 });
          assert.deepEqual(emails(data.contacts ?? []), wanted);
        },
      };
    },

    'a test message': ({ projects: { contacts: c } }, s) => ({
      'three contacts': async () => {
        s.one = await named(c, project(14), 'one@example.com', ['BILLING']);
        s.two = await named(c, project(14), 'two@example.com', ['BILLING', 'LEGAL']);
        s.far = await named(c, project(15), 'far@example.com', ['BILLING', 'LEGAL']);
      },
      'to two of them': async () => assert.deepEqual((await send(c, project(14), [s.one, s.two], 'BILLING')).data, {}),
      'to one': async () => assert.deepEqual((await send(c, project(14), [s.two], 'LEGAL')).data, {}),
      'not where one of them does not hear of it': () => refused(send(c, project(14), [s.one, s.two], 'LEGAL'), 400),
      'not to one of another project': () => refused(send(c, project(14), [s.far], 'BILLING'), 400, 404),
      'not to nobody': () => refused(send(c, project(14), [], 'BILLING'), 400),
      'not of nothing': () => refused(send(c, project(14), [s.one], undefined), 400),
      'not to one who is gone': async () => {
        await c.delete({ name: s.one });
        await refused(send(c, project(14), [s.one], 'BILLING'), 400, 404);
      },
      'it changes no contact': async () => assert.deepEqual(names(await list(c, project(14))), [s.two]),
    }),

    'wrong contacts': ({ projects: { contacts: c } }) => {
      const parent = project(16);
      const whole = { email: 'wrong@example.com', languageTag: 'en', notificationCategorySubscriptions: ['ALL'] };
      const wrong = (more: Contact) => refused(c.create({ parent, requestBody: { ...whole, ...more } }), 400);
      return {
        'without an address': () => wrong({ email: undefined }),
        'without a language': () => wrong({ languageTag: undefined }),
        'without a category': () => wrong({ notificationCategorySubscriptions: undefined }),
        'of a category that there is not': () => wrong({ notificationCategorySubscriptions: ['GOSSIP'] }),
        'with what is no address': () => wrong({ email: 'not an address' }),
        'the refusal says what it is': async () => {
          const thrown = await wrong({ email: undefined });
          const { error } = given((thrown as { response?: { data?: { error?: object } } }).response?.data, 'body');
          assert.partialDeepStrictEqual(error, { code: 400, status: 'INVALID_ARGUMENT' });
        },
        'none of them was made': async () => assert.deepEqual(await list(c, parent), []),
        'the whole one is': async () => {
          const { data } = await c.create({ parent, requestBody: whole });
          assert.deepEqual(names(await list(c, parent)), [data.name]);
        },
      };
    },

    'what is not there': ({ projects: { contacts: c } }) => ({
      'a contact': () => refused(c.get({ name: nobody }), 404),
      'changing it': () => refused(c.patch({ name: nobody, updateMask: 'languageTag', requestBody: { languageTag: 'de' } }), 404),
      'deleting it': () => refused(c.delete({ name: nobody }), 404),
      'the refusal says what it is': async () => {
        const thrown = await refused(c.get({ name: nobody }), 404);
        const { error } = given((thrown as { response?: { data?: { error?: object } } }).response?.data, 'body');
        assert.partialDeepStrictEqual(error, { code: 404, status: 'NOT_FOUND' });
      },
      'a contact of one project, below another': async () => {
        const name = await named(c, project(17), 'here@example.com', ['ALL']);
        await refused(c.get({ name: name.replace(project(17), project(18)) }), 404);
      },
    }),

    'a credential that is refused': ({ projects: { contacts: c } }, s, another) => {
      const stranger = another('ya29.no-one').projects.contacts;
      return {
        'a contact': async () => {
          s.name = await named(c, project(19), 'guarded@example.com', ['ALL']);
        },
        'not read by another': () => refused(stranger.get({ name: s.name }), 401),
        'not listed by another': () => refused(stranger.list({ parent: project(19) }), 401),
        'none made by another': () => refused(add(stranger, project(19), 'sneaked@example.com', ['ALL']), 401),
        'no message by another': () => refused(send(stranger, project(19), [s.name], 'BILLING'), 401),
        'not deleted by another': () => refused(stranger.delete({ name: s.name }), 401),
        'it is still there, and alone': async () => assert.deepEqual(emails(await list(c, project(19))), ['guarded@example.com']),
      };
    },
  },
};
