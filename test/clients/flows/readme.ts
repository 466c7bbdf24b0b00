import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

interface Answer<T> {
  readonly data: T;
  readonly status: number;
}
type Page = { readonly perPage?: number; readonly page?: number };
type Entry = { readonly title?: string; readonly body?: string; readonly hidden?: boolean; readonly type?: string };
type Changelog = Required<Entry> & { readonly slug: string };
type Custom = {
  readonly title?: string;
  readonly body?: string;
  readonly html?: string;
  readonly htmlmode?: boolean;
  readonly hidden?: boolean;
};
type CustomPage = Required<Custom> & { readonly slug: string };
type Draft = {
  readonly title?: string;
  readonly body?: string;
  readonly category?: string;
  readonly hidden?: boolean;
  readonly type?: string;
};
type Doc = Required<Draft> & { readonly slug: string };
type Fork = {
  readonly version?: string;
  readonly from?: string;
  readonly codename?: string;
  readonly is_beta?: boolean;
  readonly is_hidden?: boolean;
  readonly is_stable?: boolean;
};
type Version = { readonly version: string; readonly codename?: string; readonly is_stable?: boolean };
type In = { readonly 'x-readme-version': string };
type Slug = { readonly slug: string };

/** The calls of the generated client that are used here. */
interface ReadMe {
  auth(name: string, password: string): void;
  getProject(): Promise<Answer<{ readonly name: string; readonly subdomain: string }>>;
  getErrors(): Promise<Answer<readonly object[]>>;
  getChangelogs(page: Page): Promise<Answer<readonly Changelog[]>>;
  createChangelog(entry: Entry): Promise<Answer<Changelog>>;
  getChangelog(of: Slug): Promise<Answer<Changelog>>;
  updateChangelog(entry: Entry, of: Slug): Promise<Answer<Changelog>>;
  deleteChangelog(of: Slug): Promise<Answer<unknown>>;
  getCustomPages(page: Page): Promise<Answer<readonly CustomPage[]>>;
  createCustomPage(page: Custom): Promise<Answer<CustomPage>>;
  getCustomPage(of: Slug): Promise<Answer<CustomPage>>;
  updateCustomPage(page: Custom, of: Slug): Promise<Answer<CustomPage>>;
  deleteCustomPage(of: Slug): Promise<Answer<unknown>>;
  getVersions(): Promise<Answer<readonly Version[]>>;
  createVersion(fork: Fork): Promise<Answer<Version>>;
  getVersion(of: { readonly versionId: string }): Promise<Answer<Version>>;
  updateVersion(fork: Fork, of: { readonly versionId: string }): Promise<Answer<Version>>;
  deleteVersion(of: { readonly versionId: string }): Promise<Answer<unknown>>;
  getCategory(of: Slug & In): Promise<Answer<{ readonly _id: string; readonly slug: string; readonly title: string }>>;
  getCategoryDocs(of: Slug & In): Promise<Answer<readonly { readonly slug: string }[]>>;
  createDoc(doc: Draft, at: In): Promise<Answer<Doc>>;
  getDoc(of: Slug & In): Promise<Answer<Doc>>;
  updateDoc(doc: Draft, of: Slug & In): Promise<Answer<Doc>>;
  deleteDoc(of: Slug & In): Promise<Answer<unknown>>;
  getAPISpecification(of: Page & In): Promise<Answer<readonly { readonly _id: string; readonly title: string }[]>>;
  uploadAPISpecification(
    file: { readonly spec: string },
    at: In,
  ): Promise<Answer<{ readonly _id: string; readonly title: string }>>;
  updateAPISpecification(
    file: { readonly spec: string },
    of: { readonly id: string },
  ): Promise<Answer<{ readonly _id: string; readonly title: string }>>;
  deleteAPISpecification(of: { readonly id: string }): Promise<Answer<unknown>>;
}

const found = createRequire(import.meta.url);
const generate = found('api') as (definition: object) => ReadMe;
const definition = found('@readme/oas-examples/3.0/json/readme.json') as object;

/** The key is the name of a user without a password. The client goes to a server of its definition only. */
const connect = (place: Place, token: string): ReadMe => {
  const client = generate({ ...structuredClone(definition), servers: [{ url: place.base }] });
  const [name = '', password = ''] = Buffer.from(token, 'base64').toString().split(':');
  client.auth(name, password);
  return client;
};

const basic = (key: string): string => Buffer.from(`${key}:`).toString('base64');
const nothing = 'no-such-thing-at-all';
const slugs = (rows: readonly Slug[]): string[] => rows.map(({ slug }) => slug);
const changelogs = async (r: ReadMe, perPage = 100): Promise<string[]> =>
  slugs(await numbered(async (page) => (await r.getChangelogs({ perPage, page })).data));
const custom = async (r: ReadMe, perPage = 100): Promise<string[]> =>
  slugs(await numbered(async (page) => (await r.getCustomPages({ perPage, page })).data));
const versions = async (r: ReadMe): Promise<string[]> => (await r.getVersions()).data.map(({ version }) => version);
/** A project has a version from its first day. */
const first = async (r: ReadMe): Promise<string> => given((await r.getVersions()).data[0], 'version').version;

/** A file with a small description of a service. */
const file = (title: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'readme-')), 'openapi.json');
  const answer = { 200: { description: 'OK' } };
  writeFileSync(
    path,
    JSON.stringify({
      openapi: '3.0.0',
      info: { title, version: '1.0.0' },
      servers: [{ url: 'https://petstore.example.com' }],
      paths: { '/pets': { get: { operationId: 'pets', responses: answer } } },
    }),
  );
  return path;
};

/** Guide: docs.readme.com/main/reference, "Authentication", "Limiting API results", and those of each resource. */
export const vendor: Vendor<ReadMe> = {
  document: 'readme/readme.io.json',
  header: 'Authorization',
  word: 'Basic',
  made: basic('rdme_xn8s9h1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f'),
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a changelog from its making to its end': (r, s) => ({
      create: async () => {
        const { data, status } = await r.createChangelog({
          title: 'Dark mode',
          body: 'It is dark.',
          type: 'added',
          hidden: false,
        });
        s.slug = data.slug;
        assert.deepEqual(
          [status, data.title, data.body, data.type, data.hidden],
          [201, 'Dark mode', 'It is dark.', 'added', false],
        );
      },
      read: async () => {
        const { data } = await r.getChangelog({ slug: s.slug });
        assert.deepEqual([data.slug, data.title, data.body, data.type], [s.slug, 'Dark mode', 'It is dark.', 'added']);
      },
      'it is listed': async () => once(await changelogs(r), [s.slug], 'changelogs'),
      change: async () => {
        const { data } = await r.updateChangelog(
          { title: 'Dark mode', body: 'It is darker.', type: 'improved' },
          { slug: s.slug },
        );
        assert.deepEqual([data.body, data.type], ['It is darker.', 'improved']);
      },
      'it stays changed': async () => {
        const { data } = await r.getChangelog({ slug: s.slug });
        assert.deepEqual([data.title, data.body, data.type], ['Dark mode', 'It is darker.', 'improved']);
      },
      delete: async () => assert.equal((await r.deleteChangelog({ slug: s.slug })).status, 204),
      'it is gone': async () => refused(r.getChangelog({ slug: s.slug }), 404),
      'it is not listed': async () => assert.ok(!(await changelogs(r)).includes(s.slug), 'it is'),
    }),

    'changelogs page by page': (r, s) => ({
      'make five': async () => {
        const made = [];
        for (const title of ['First news', 'Second news', 'Third news', 'Fourth news', 'Fifth news'])
          made.push((await r.createChangelog({ title, body: title })).data.slug);
        s.all = made.join(' ');
        once(made, made, 'made slugs');
      },
      'two on a page': async () => assert.equal((await r.getChangelogs({ perPage: 2, page: 1 })).data.length, 2),
      'another page has others': async () => {
        const one = slugs((await r.getChangelogs({ perPage: 2, page: 1 })).data);
        const two = slugs((await r.getChangelogs({ perPage: 2, page: 2 })).data);
        assert.ok(two.length > 0 && two.every((slug) => !one.includes(slug)), 'it has the same');
      },
      'all pages': async () => once(await changelogs(r, 2), s.all.split(' '), 'changelogs'),
      'a page far behind has none': async () => assert.deepEqual((await r.getChangelogs({ perPage: 100, page: 90 })).data, []),
    }),

    'what a changelog is without a word': (r, s) => ({
      create: async () => {
        s.slug = (await r.createChangelog({ title: 'Quiet', body: 'Nothing said.' })).data.slug;
      },
      'it is hidden': async () => assert.equal((await r.getChangelog({ slug: s.slug })).data.hidden, true),
      'of no type': async () => assert.equal((await r.getChangelog({ slug: s.slug })).data.type, ''),
      show: () => r.updateChangelog({ title: 'Quiet', body: 'Nothing said.', hidden: false }, { slug: s.slug }),
      'it is shown': async () => assert.equal((await r.getChangelog({ slug: s.slug })).data.hidden, false),
      'a type that is none': async () =>
        refused(r.createChangelog({ title: 'Odd', body: 'Of an odd type.', type: 'rumoured' }), 400),
      'it was not made': async () => assert.ok(!(await changelogs(r)).includes('odd'), 'it was'),
    }),

    'a custom page from its making to its end': (r, s) => ({
      create: async () => {
        const { data, status } = await r.createCustomPage({ title: 'Support', body: 'Write to **us**.', hidden: false });
        s.slug = data.slug;
        assert.deepEqual([status, data.title, data.body, data.hidden], [201, 'Support', 'Write to **us**.', false]);
      },
      read: async () => {
        const { data } = await r.getCustomPage({ slug: s.slug });
        assert.deepEqual([data.slug, data.title, data.body], [s.slug, 'Support', 'Write to **us**.']);
      },
      'it is listed': async () => once(await custom(r), [s.slug], 'pages'),
      change: () => r.updateCustomPage({ title: 'Support', body: 'Call us.' }, { slug: s.slug }),
      'it stays changed': async () => {
        const { data } = await r.getCustomPage({ slug: s.slug });
        assert.deepEqual([data.title, data.body], ['Support', 'Call us.']);
      },
      delete: async () => assert.equal((await r.deleteCustomPage({ slug: s.slug })).status, 204),
      'it is gone': async () => refused(r.getCustomPage({ slug: s.slug }), 404),
      'it is not listed': async () => assert.ok(!(await custom(r)).includes(s.slug), 'it is'),
    }),

    'a custom page of HTML': (r, s) => ({
      create: async () => {
        const { data } = await r.createCustomPage({ title: 'Landing', html: '<p>Welcome</p>', htmlmode: true });
        s.slug = data.slug;
        assert.deepEqual([data.html, data.htmlmode], ['<p>Welcome</p>', true]);
      },
      'without a word it is hidden': async () => assert.equal((await r.getCustomPage({ slug: s.slug })).data.hidden, true),
      'one of Markdown is not of HTML': async () => {
        const { data } = await r.createCustomPage({ title: 'Plain', body: 'Hello' });
        assert.equal((await r.getCustomPage({ slug: data.slug })).data.htmlmode, false);
      },
      'from HTML to Markdown': async () => {
        await r.updateCustomPage({ title: 'Landing', body: 'Welcome', htmlmode: false }, { slug: s.slug });
        const { data } = await r.getCustomPage({ slug: s.slug });
        assert.deepEqual([data.body, data.htmlmode], ['Welcome', false]);
      },
    }),

    'custom pages page by page': (r, s) => ({
      'make four': async () => {
        const made = [];
        for (const title of ['Terms', 'Imprint', 'Careers', 'Status page'])
          made.push((await r.createCustomPage({ title, body: title })).data.slug);
        s.all = made.join(' ');
        once(made, made, 'made slugs');
      },
      'three on a page': async () => assert.equal((await r.getCustomPages({ perPage: 3, page: 1 })).data.length, 3),
      'all pages': async () => once(await custom(r, 3), s.all.split(' '), 'pages'),
      'one fewer': async () => {
        const [one = '', ...rest] = s.all.split(' ');
        await r.deleteCustomPage({ slug: one });
        const left = await custom(r, 3);
        once(left, rest, 'pages');
        assert.ok(!left.includes(one), 'the deleted one is listed');
      },
    }),

    'a version from its making to its end': (r, s) => ({
      'what there is': async () => {
        s.from = await first(r);
      },
      fork: async () => {
        const { data } = await r.createVersion({ version: '7.4.0', from: s.from, codename: 'Koala', is_beta: true });
        assert.deepEqual([data.version, data.codename], ['7.4.0', 'Koala']);
      },
      read: async () => {
        const { data } = await r.getVersion({ versionId: '7.4.0' });
        assert.deepEqual([data.version, data.codename], ['7.4.0', 'Koala']);
      },
      'it is listed': async () => once(await versions(r), ['7.4.0'], 'versions'),
      rename: () => r.updateVersion({ version: '7.4.0', from: s.from, codename: 'Wombat' }, { versionId: '7.4.0' }),
      'it stays renamed': async () => assert.equal((await r.getVersion({ versionId: '7.4.0' })).data.codename, 'Wombat'),
      delete: async () => assert.equal((await r.deleteVersion({ versionId: '7.4.0' })).status, 200),
      'it is gone': async () => refused(r.getVersion({ versionId: '7.4.0' }), 404),
      'it is not listed': async () => assert.ok(!(await versions(r)).includes('7.4.0'), 'it is'),
    }),

    'versions that cannot be': (r, s) => ({
      'what there is': async () => {
        s.from = await first(r);
        await r.createVersion({ version: '8.1.0', from: s.from });
      },
      'one that is there': async () => refused(r.createVersion({ version: '8.1.0', from: s.from }), 400),
      'it is listed once': async () => once(await versions(r), ['8.1.0'], 'versions'),
      'a fork of none': async () => refused(r.createVersion({ version: '8.2.0', from: '99.98.97' }), 404),
      'without a fork': async () => refused(r.createVersion({ version: '8.3.0' }), 400),
      'one that is not there': async () => refused(r.getVersion({ versionId: '99.98.97' }), 404),
      'nothing was made': async () => {
        const rows = await versions(r);
        assert.ok(!rows.includes('8.2.0') && !rows.includes('8.3.0'), 'it was');
      },
    }),

    'a description of a service': (r, s) => ({
      'the version': async () => {
        s.version = await first(r);
      },
      upload: async () => {
        const { data, status } = await r.uploadAPISpecification({ spec: file('Pets') }, { 'x-readme-version': s.version });
        s.id = given(data._id, '_id');
        assert.equal(status, 201);
      },
      'it is listed': async () => {
        const rows = await numbered(
          async (page) => (await r.getAPISpecification({ perPage: 100, page, 'x-readme-version': s.version })).data,
        );
        once(
          rows.map(({ _id }) => _id),
          [s.id],
          'descriptions',
        );
      },
      'another in its place': async () =>
        assert.equal((await r.updateAPISpecification({ spec: file('More pets') }, { id: s.id })).status, 200),
      delete: async () => assert.equal((await r.deleteAPISpecification({ id: s.id })).status, 204),
      'it is gone': async () => refused(r.deleteAPISpecification({ id: s.id }), 404),
    }),

    'the project': (r, s) => ({
      'its name': async () => {
        const { data } = await r.getProject();
        [s.name, s.subdomain] = [given(data.name, 'name'), given(data.subdomain, 'subdomain')];
      },
      'it stays so': async () => {
        const { data } = await r.getProject();
        assert.deepEqual([data.name, data.subdomain], [s.name, s.subdomain]);
      },
      'its errors are a list': async () => assert.ok(Array.isArray((await r.getErrors()).data), 'they are not'),
      'each version once': async () => {
        const rows = await versions(r);
        assert.ok(rows.length > 0, 'there is none');
        once(rows, rows, 'versions');
      },
      'a version of the list': async () => {
        const version = await first(r);
        assert.equal((await r.getVersion({ versionId: version })).data.version, version);
      },
    }),

    'a doc in the category of a new project': (r, s) => ({
      'the category': async () => {
        s.version = await first(r);
        const { data } = await r.getCategory({ slug: 'documentation', 'x-readme-version': s.version });
        s.category = given(data._id, '_id');
      },
      create: async () => {
        const { data, status } = await r.createDoc(
          { title: 'New features', body: 'All of them.', category: s.category, type: 'basic', hidden: false },
          { 'x-readme-version': s.version },
        );
        s.slug = data.slug;
        assert.deepEqual([status, data.slug, data.title, data.category], [201, 'new-features', 'New features', s.category]);
      },
      read: async () => {
        const { data } = await r.getDoc({ slug: s.slug, 'x-readme-version': s.version });
        assert.deepEqual([data.title, data.body, data.hidden], ['New features', 'All of them.', false]);
      },
      'it is in the category': async () => {
        const { data } = await r.getCategoryDocs({ slug: 'documentation', 'x-readme-version': s.version });
        once(slugs(data), [s.slug], 'docs');
      },
      change: async () => {
        const what = { title: 'New features', body: 'Some of them.', category: s.category };
        await r.updateDoc(what, { slug: s.slug, 'x-readme-version': s.version });
        assert.equal((await r.getDoc({ slug: s.slug, 'x-readme-version': s.version })).data.body, 'Some of them.');
      },
      delete: async () => assert.equal((await r.deleteDoc({ slug: s.slug, 'x-readme-version': s.version })).status, 204),
      'it is gone': async () => refused(r.getDoc({ slug: s.slug, 'x-readme-version': s.version }), 404),
    }),

    'what is wrong': (r, s) => ({
      'a changelog without a title': async () => refused(r.createChangelog({ body: 'No title.' }), 400),
      'a changelog without a body': async () => refused(r.createChangelog({ title: 'Nothing to say' }), 400),
      'a custom page without a title': async () => refused(r.createCustomPage({ body: 'No title.' }), 400),
      'a changelog that is not there': async () => refused(r.getChangelog({ slug: nothing }), 404),
      'its change': async () => refused(r.updateChangelog({ title: 'Never', body: 'Never.' }, { slug: nothing }), 404),
      'the end of a page that is not there': async () => refused(r.deleteCustomPage({ slug: nothing }), 404),
      'a doc without a category': async () => {
        s.version = await first(r);
        await refused(r.createDoc({ title: 'Homeless', body: 'No category.' }, { 'x-readme-version': s.version }), 400);
      },
      'a doc that is not there': async () => refused(r.getDoc({ slug: nothing, 'x-readme-version': s.version }), 404),
      'nothing was made': async () => assert.ok(!(await changelogs(r)).includes('nothing-to-say'), 'it was'),
    }),

    'a key that is refused': (r, s, another) => ({
      'the right one': async () => {
        s.slug = (await r.createChangelog({ title: 'Mine', body: 'All mine.' })).data.slug;
      },
      'a wrong one sees no project': async () => refused(another(basic('rdme_nobody')).getProject(), 401),
      'it has no changelogs': async () => refused(another(basic('rdme_nobody')).getChangelogs({ page: 1 }), 401),
      'it makes nothing': async () =>
        refused(another(basic('rdme_nobody')).createChangelog({ title: 'Intruder', body: 'Hello' }), 401),
      'it ends nothing': async () => refused(another(basic('rdme_nobody')).deleteChangelog({ slug: s.slug }), 401),
      'the changelog is still there': async () => assert.equal((await r.getChangelog({ slug: s.slug })).data.title, 'Mine'),
    }),
  },
};
