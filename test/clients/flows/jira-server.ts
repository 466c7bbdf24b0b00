import assert from 'node:assert/strict';
import JiraApi from 'jira-client';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/** What the client asks its option `request` to send. */
interface Ask {
  readonly uri: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly qs?: Readonly<Record<string, string | undefined>> | null;
  readonly auth?: { readonly user: string; readonly pass: string };
}
/** As the client's own request, but that a refusal tells its status, which the client's own leaves out. */
const request = async ({ uri, method = 'GET', body, qs, auth }: Ask): Promise<unknown> => {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(qs ?? {})) if (value !== undefined) url.searchParams.set(name, value);
  const headers = new Headers({ accept: 'application/json' });
  if (auth) headers.set('authorization', `Basic ${btoa(`${auth.user}:${auth.pass}`)}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await answer.text();
  const told: unknown = /json/.test(answer.headers.get('content-type') ?? '') && text !== '' ? JSON.parse(text) : text;
  if (answer.status >= 400) throw Object.assign(new Error(text), { statusCode: answer.status, body: told });
  return told;
};

const connect = (place: Place, token: string): JiraApi => {
  const [, username = '', password = ''] = /^([^:]*):(.*)$/s.exec(atob(token)) ?? [];
  const { hostname, pathname } = new URL(place.base);
  const at = { protocol: 'http', host: hostname, port: String(place.port), base: pathname.replace(/\/(rest)?$/, '') };
  return new JiraApi({ ...at, apiVersion: '2', username, password, request });
};

/** The answer; the client writes what was refused into its message, as JSON, and there it is read. */
const ok = async <T>(call: Promise<unknown>): Promise<T> => {
  try {
    return (await call) as T;
  } catch (thrown) {
    const { message } = thrown as Error;
    throw Object.assign(new Error(message), message.startsWith('{') ? (JSON.parse(message) as object) : {});
  }
};
/** Refused as Jira refuses: with `errorMessages` or `errors`. */
const no = async (call: Promise<unknown>, ...statuses: readonly number[]): Promise<Record<string, string>> => {
  const { body } = (await refused(ok(call), ...statuses)) as { readonly body?: { errorMessages?: unknown; errors?: unknown } };
  assert.ok(Array.isArray(body?.errorMessages) || typeof body?.errors === 'object', 'it does not say why');
  return (body?.errors ?? {}) as Record<string, string>;
};

/** A version, a component, a comment, a project: each has some of this. */
interface Row {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly body: string;
  readonly description: string;
  readonly released: boolean;
}
interface Fields {
  readonly summary: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly project: Row;
  readonly status: Row;
  readonly assignee: Row | null;
  readonly components: readonly Row[];
  readonly fixVersions: readonly Row[];
  readonly issuelinks: readonly { readonly id: string; readonly outwardIssue?: Row }[];
}
type Issue = Row & { readonly fields: Fields };
interface Found {
  readonly startAt: number;
  readonly maxResults: number;
  readonly total: number;
  readonly issues: readonly Issue[];
}

const ids = (rows: readonly { readonly id: number | string }[]): string[] => rows.map(({ id }) => String(id));
const keys = (rows: readonly Row[]): string[] => rows.map(({ key }) => key);
const project = async (jira: JiraApi, s: State, key: string): Promise<void> => {
  const { name: lead } = await ok<Row>(jira.getCurrentUser());
  const made = await ok<Row>(jira.createProject({ key, name: `Project ${key}`, projectTypeKey: 'business', lead }));
  assert.equal(made.key, key);
  s.key = key;
};
const issue = async (jira: JiraApi, key: string, summary: string, more: object = {}): Promise<string> => {
  const made = await ok<Row>(jira.addNewIssue({ fields: { project: { key }, summary, issuetype: { name: 'Task' }, ...more } }));
  assert.match(made.key, new RegExp(`^${key}-\\d+$`));
  return made.key;
};
const fields = async (jira: JiraApi, key: string): Promise<Fields> => (await ok<Issue>(jira.findIssue(key))).fields;
const component = async (jira: JiraApi, key: string, name: string): Promise<string> =>
  (await ok<Row>(jira.addNewComponent({ name, project: key, description: `All of ${name}` }))).id;
const version = async (jira: JiraApi, key: string, name: string): Promise<string> =>
  (await ok<Row>(jira.createVersion({ name, project: key, description: `Release ${name}`, released: false }))).id;

/** Guide: developer.atlassian.com, "JIRA REST API examples" (create, edit, search, comments, links), and the reference of 7.6.1. */
export const vendor: Vendor<JiraApi> = {
  document: 'jira-server/jira.local.json',
  header: 'Authorization',
  word: 'Basic',
  made: btoa('fred:fred'),
  client: connect,
  strict: ['a password that is refused'],
  flows: {
    'an issue, from its making to its end': (jira, s) => ({
      'a project': () => project(jira, s, 'ISS'),
      'an issue in it': async () => {
        s.issue = await issue(jira, s.key, 'REST ye merry gentlemen.', { description: 'Creating of an issue', labels: ['rest'] });
      },
      read: async () => {
        const { summary, description, labels, project: of } = await fields(jira, s.issue);
        const told = [summary, description, labels, of.key];
        assert.deepEqual(told, ['REST ye merry gentlemen.', 'Creating of an issue', ['rest'], s.key]);
      },
      edit: () => ok(jira.updateIssue(s.issue, { fields: { summary: 'Set operation' } })),
      'it is edited, and keeps the rest': async () => {
        const { summary, description } = await fields(jira, s.issue);
        assert.deepEqual([summary, description], ['Set operation', 'Creating of an issue']);
      },
      delete: () => ok(jira.deleteIssue(s.issue)),
      'it is gone': () => no(jira.findIssue(s.issue), 404),
    }),
    'comments on an issue': (jira, s) => ({
      'an issue': async () => {
        await project(jira, s, 'COM');
        s.issue = await issue(jira, s.key, 'Discuss');
      },
      'two comments': async () => {
        for (const body of ['First', 'Second']) {
          const made = await ok<Row>(jira.addComment(s.issue, body));
          assert.equal(made.body, body);
          s[body] = made.id;
        }
      },
      'both are listed': async () => {
        const list = await ok<{ total: number; comments: Row[] }>(jira.getComments(s.issue));
        assert.equal(list.total, 2);
        once(ids(list.comments), [s.First, s.Second], 'comments');
      },
      'one is changed': async () => {
        const changed = await ok<Row>(jira.updateComment(s.issue, s.First, 'First, again'));
        assert.deepEqual([changed.id, changed.body], [s.First, 'First, again']);
      },
      'the other goes': () => ok(jira.deleteComment(s.issue, Number(s.Second))),
      'it is gone, and the first stays': async () => {
        await no(jira.getComment(s.issue, Number(s.Second)), 404);
        assert.equal((await ok<Row>(jira.getComment(s.issue, Number(s.First)))).body, 'First, again');
      },
    }),
    'components of a project': (jira, s) => ({
      'two are made': async () => {
        await project(jira, s, 'CMP');
        s.one = await component(jira, s.key, 'Engine');
        s.two = await component(jira, s.key, 'Wheels');
      },
      'both are of the project': async () => once(ids(await ok<Row[]>(jira.listComponents(s.key))), [s.one, s.two], 'components'),
      'an issue has one, which is counted': async () => {
        s.issue = await issue(jira, s.key, 'It does not start', { components: [{ id: s.one }] });
        assert.deepEqual(ids((await fields(jira, s.issue)).components), [s.one]);
        assert.equal((await ok<{ issueCount: number }>(jira.relatedIssueCounts(s.one))).issueCount, 1);
      },
      'the other is called something else': async () => {
        await ok(jira.updateComponent(s.two, { name: 'Tyres' }));
        const { id, name, description } = await ok<Row>(jira.genericGet(`component/${s.two}`));
        assert.deepEqual([id, name, description], [s.two, 'Tyres', 'All of Wheels']);
      },
      'and goes': () => ok(jira.deleteComponent(s.two)),
      'it is gone': () => no(jira.genericGet(`component/${s.two}`), 404),
    }),
    'versions, in an order': (jira, s) => ({
      'three are made': async () => {
        await project(jira, s, 'ORD');
        for (const name of ['a', 'b', 'c']) s[name] = await version(jira, s.key, name);
        assert.deepEqual(ids(await ok<Row[]>(jira.getVersions(s.key))), [s.a, s.b, s.c]);
      },
      'the last is moved': () => ok(jira.moveVersion(s.c, { position: 'First' } as unknown as string)),
      'to the beginning': async () => assert.deepEqual(ids(await ok<Row[]>(jira.getVersions(s.key))), [s.c, s.a, s.b]),
      'one is released': async () => {
        await ok(jira.updateVersion({ id: s.b, released: true }));
        const { released, name, description } = await ok<Row>(jira.getVersion(s.b));
        assert.deepEqual([released, name, description], [true, 'b', 'Release b']);
      },
      'an issue is fixed in it': async () => {
        const key = await issue(jira, s.key, 'Fixed', { fixVersions: [{ id: s.b }] });
        assert.deepEqual(ids((await fields(jira, key)).fixVersions), [s.b]);
      },
      'another is deleted': () => ok(jira.deleteVersion(s.a, s.b, s.b)),
      'it is gone': () => no(jira.getVersion(s.a), 404),
    }),
    'issues through all pages of a search': (jira, s) => ({
      'five are made': async () => {
        await project(jira, s, 'PAG');
        const made: string[] = [];
        for (let n = 1; n <= 5; n += 1) made.push(await issue(jira, s.key, `Issue ${n}`));
        s.keys = made.join();
        s.jql = `project = ${s.key} ORDER BY key`;
      },
      'a page says where it is': async () => {
        const page = await ok<Found>(jira.searchJira(s.jql, { startAt: 2, maxResults: 2 }));
        assert.deepEqual([page.startAt, page.maxResults, page.total, page.issues.length], [2, 2, 5, 2]);
      },
      'all pages': async () => {
        const rows = await pages(
          (from = '0') => ok<Found>(jira.searchJira(s.jql, { startAt: Number(from), maxResults: 2 })),
          ({ issues }) => issues,
          ({ startAt, issues, total }) => (startAt + issues.length < total ? String(startAt + issues.length) : undefined),
        );
        assert.deepEqual(keys(rows), s.keys.split(','));
      },
      'from the last': async () =>
        assert.equal(s.keys.split(',').pop(), (await ok<Found>(jira.searchJira(`${s.jql} DESC`))).issues[0]?.key),
      'what is no query is refused': () => no(jira.searchJira('project = = nothing'), 400),
    }),
    'issues asked for': (jira, s) => ({
      'three of two projects': async () => {
        await project(jira, s, 'FIA');
        s.red = await issue(jira, s.key, 'Paint it', { labels: ['red'] });
        s.blue = await issue(jira, s.key, 'Wash it', { labels: ['blue'] });
        await project(jira, s, 'FIB');
        s.other = await issue(jira, s.key, 'Paint that', { labels: ['red'] });
      },
      'those of a project': async () =>
        assert.deepEqual(keys((await ok<Found>(jira.searchJira('project = FIA ORDER BY key'))).issues), [s.red, s.blue]),
      'those with a label': async () => {
        const { issues } = await ok<Found>(jira.searchJira('project in (FIA, FIB) AND labels = red ORDER BY key'));
        assert.deepEqual(keys(issues), [s.red, s.other]);
      },
      'one by its key': async () => {
        const { total, issues } = await ok<Found>(jira.searchJira(`key = ${s.blue}`, { fields: ['summary'] }));
        assert.deepEqual([total, keys(issues), issues[0]?.fields], [1, [s.blue], { summary: 'Wash it' }]);
      },
      'some fields of one': async () =>
        assert.deepEqual((await ok<Issue>(jira.findIssue(s.red, '', 'summary'))).fields, { summary: 'Paint it' }),
    }),
    'issues that lead to each other': (jira, s) => ({
      'two issues': async () => {
        await project(jira, s, 'LNK');
        s.from = await issue(jira, s.key, 'Cause');
        s.to = await issue(jira, s.key, 'Effect');
      },
      'a type of links': async () => {
        const { issueLinkTypes } = await ok<{ issueLinkTypes: Row[] }>(jira.listIssueLinkTypes());
        s.type = given(issueLinkTypes[0], 'type of links').name;
      },
      'one is linked to the other': () =>
        ok(jira.issueLink({ type: { name: s.type }, inwardIssue: { key: s.from }, outwardIssue: { key: s.to } })),
      'it is a link of the first': async () => {
        const link = given((await fields(jira, s.from)).issuelinks[0], 'link');
        assert.equal(link.outwardIssue?.key, s.to);
        s.link = link.id;
      },
      'the link is undone': () => ok(jira.deleteIssueLink(s.link)),
      'it is gone': () => no(jira.genericGet(`issueLink/${s.link}`), 404),
    }),
    'who does it, and where it stands': (jira, s) => ({
      'an issue': async () => {
        await project(jira, s, 'TRN');
        s.me = (await ok<Row>(jira.getCurrentUser())).name;
        s.issue = await issue(jira, s.key, 'Somebody has to');
      },
      'it is assigned': async () => {
        await ok(jira.updateAssignee(s.issue, s.me));
        assert.equal((await fields(jira, s.issue)).assignee?.name, s.me);
      },
      'it is watched': async () => {
        await ok(jira.addWatcher(s.issue, s.me));
        const { watchers } = await ok<{ watchers: Row[] }>(jira.getIssueWatchers(s.issue));
        assert.ok(watchers.some(({ name }) => name === s.me));
      },
      'what may come next': async () => {
        const { transitions } = await ok<{ transitions: (Row & { to: Row })[] }>(jira.listTransitions(s.issue));
        const next = given(transitions[0], 'transition');
        s.next = next.id;
        s.status = next.to.id;
      },
      'it comes': () => ok(jira.transitionIssue(s.issue, { transition: { id: s.next } })),
      'it stands there': async () => assert.equal((await fields(jira, s.issue)).status.id, s.status),
    }),
    'what is refused': (jira, s) => ({
      'a project': () => project(jira, s, 'BAD'),
      'an issue without a summary': async () => {
        const asked = { fields: { project: { key: s.key }, issuetype: { name: 'Task' } } };
        assert.equal(typeof (await no(jira.addNewIssue(asked), 400)).summary, 'string');
      },
      'an issue of no project': () =>
        no(jira.addNewIssue({ fields: { project: { key: 'NONE' }, summary: 'Lost', issuetype: { name: 'Task' } } }), 400),
      'an unknown issue': () => no(jira.findIssue('BAD-4711'), 404),
      'to delete it': () => no(jira.deleteIssue('BAD-4711'), 404),
      'a project whose key is taken': () =>
        no(jira.createProject({ key: 'BAD', name: 'Again', projectTypeKey: 'business' }), 400),
    }),
    'a password that is refused': (jira, _s, another) => ({
      'the right one': async () => assert.equal(typeof (await ok<Row>(jira.getCurrentUser())).name, 'string'),
      'a wrong one is nobody': () => refused(ok(another(btoa('fred:wrong')).getCurrentUser()), 401),
      'nor does it make anything': () => refused(ok(another(btoa('fred:wrong')).addNewIssue({ fields: {} })), 401),
    }),
  },
};
