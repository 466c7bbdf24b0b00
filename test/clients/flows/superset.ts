import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Request = { readonly endpoint: string; readonly jsonPayload?: object };
type Verb = 'get' | 'post' | 'put' | 'delete';
type Client = Readonly<Record<Verb, (request: Request) => Promise<{ readonly json: unknown }>>>;
type Ask = <T = unknown>(verb: Verb, path: string, body?: object) => Promise<T>;

type Made = { readonly id: number };
type One<T> = { readonly id: number; readonly result: T };
type Many<T> = { readonly count: number; readonly ids: readonly number[]; readonly result: readonly T[] };
type Template = { readonly id: number; readonly template_name: string; readonly css: string };
type Layer = { readonly id: number; readonly name: string; readonly descr: string };
type Annotation = {
  readonly id: number;
  readonly short_descr: string;
  readonly long_descr: string;
  readonly start_dttm: string;
  readonly end_dttm: string;
};
type Query = { readonly id: number; readonly label: string; readonly sql: string; readonly description: string };
type Dashboard = {
  readonly id: number;
  readonly dashboard_title: string;
  readonly slug: string;
  readonly published: boolean;
  readonly css: string;
};
type Chart = { readonly id: number; readonly slice_name: string; readonly description: string; readonly viz_type: string };
type Report = {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly crontab: string;
  readonly active: boolean;
};

/** The client was made for a browser: it looks for one when it is loaded and when it is made, and nowhere else. */
const within = <T>(parts: Record<string, object>, make: () => T): T => {
  Object.assign(globalThis, parts);
  try {
    return make();
  } finally {
    for (const part of Object.keys(parts)) Reflect.deleteProperty(globalThis, part);
  }
};
const { SupersetClientClass } = within(
  { self: {} },
  () => createRequire(import.meta.url)('@superset-ui/connection') as { SupersetClientClass: new (options: object) => Client },
);

/** The paths begin as those of Superset itself, and of the description's second server, do. */
const connect = (place: Place, token: string): Ask => {
  const options = {
    protocol: 'http:',
    host: `127.0.0.1:${place.port}`,
    headers: { Authorization: `Bearer ${token}` },
    csrfToken: 'IjFhMmIzYzRkNWU2ZjcwODkxYTJiM2M0ZDVlNmY3MDgi',
    mode: 'cors',
  };
  const client = within({ window: { location: { href: place.url } } }, () => new SupersetClientClass(options));
  return async <T>(verb: Verb, path: string, body?: object) => {
    const endpoint = `/api/v1${path}`;
    try {
      return (await client[verb](body === undefined ? { endpoint } : { endpoint, jsonPayload: body })).json as T;
    } catch (thrown) {
      if (!(thrown instanceof Response)) throw thrown;
      throw Object.assign(new Error(await thrown.text()), { status: thrown.status });
    }
  };
};

/** What is asked of a list, in JSON, as the description has it and Superset takes it besides its own notation. */
const q = (asked: object): string => `?q=${encodeURIComponent(JSON.stringify(asked))}`;
const make = async (ask: Ask, path: string, body: object): Promise<string> =>
  String(given((await ask<Made>('post', path, body)).id, 'id'));
const read = async <T>(ask: Ask, path: string): Promise<T> => (await ask<One<T>>('get', path)).result;
const list = async <T>(ask: Ask, path: string, asked: object = {}): Promise<readonly T[]> =>
  (await ask<Many<T>>('get', `${path}${q({ page: 0, page_size: 100, ...asked })}`)).result;
const ids = (rows: readonly Made[]): string[] => rows.map(({ id }) => String(id));

const template = (ask: Ask, name: string, css = `.${name} { color: red; }`): Promise<string> =>
  make(ask, '/css_template/', { template_name: name, css });
const templateNames = async (ask: Ask, asked: object): Promise<string[]> =>
  (await list<Template>(ask, '/css_template/', asked)).map(({ template_name }) => template_name);
const layer = (ask: Ask, name: string): Promise<string> => make(ask, '/annotation_layer/', { name, descr: `About ${name}` });
const annotation = (ask: Ask, of: string, short_descr: string, day = '01'): Promise<string> =>
  make(ask, `/annotation_layer/${of}/annotation/`, {
    short_descr,
    long_descr: `${short_descr} at length`,
    start_dttm: `2024-03-${day}T00:00:00`,
    end_dttm: `2024-03-${day}T12:00:00`,
  });
const annotations = async (ask: Ask, of: string): Promise<string[]> =>
  (await list<Annotation>(ask, `/annotation_layer/${of}/annotation/`)).map(({ short_descr }) => short_descr).sort();
const dashboard = (ask: Ask, dashboard_title: string, slug: string): Promise<string> =>
  make(ask, '/dashboard/', { dashboard_title, slug, css: '.a { color: red; }', published: false });
/** Charts are drawn from a dataset, of which Superset's examples bring some: it is the first of them. */
const chart = async (ask: Ask, s: State, slice_name: string, more: object = {}): Promise<string> => {
  s.dataset = String(given((await list<Made>(ask, '/dataset/'))[0]?.id, 'dataset'));
  const source = { datasource_id: Number(s.dataset), datasource_type: 'table', viz_type: 'table' };
  return make(ask, '/chart/', { slice_name, description: `About ${slice_name}`, params: '{}', ...source, ...more });
};
const nobody = '999999999';

/** Guide: superset.apache.org/docs, "API", "Alerts and reports", "Annotations and layers"; flask-appbuilder.readthedocs.io, "REST API". */
export const vendor: Vendor<Ask> = {
  document: 'superset/superset.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOjF9.c2VjcmV0',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a CSS template from its making to its end': (ask, s) => ({
      create: async () => {
        const made = await ask<One<Template>>('post', '/css_template/', { template_name: 'Dark', css: 'body { color: white; }' });
        s.id = String(given(made.id, 'id'));
        assert.equal(made.result.template_name, 'Dark');
      },
      read: async () => {
        const { id, template_name, css } = await read<Template>(ask, `/css_template/${s.id}`);
        assert.deepEqual([String(id), template_name, css], [s.id, 'Dark', 'body { color: white; }']);
      },
      'it is listed': async () => once(ids(await list<Template>(ask, '/css_template/')), [s.id], 'templates'),
      change: async () => ask('put', `/css_template/${s.id}`, { css: 'body { color: grey; }' }),
      'it is changed': async () => {
        const { template_name, css } = await read<Template>(ask, `/css_template/${s.id}`);
        assert.deepEqual([template_name, css], ['Dark', 'body { color: grey; }']);
      },
      delete: async () => ask('delete', `/css_template/${s.id}`),
      'it is gone': async () => refused(ask('get', `/css_template/${s.id}`), 404),
    }),
    'CSS templates through all pages': (ask, s) => ({
      'make five': async () => {
        for (const name of ['a', 'b', 'c', 'd', 'e']) s[name] = await template(ask, `page-${name}`);
      },
      'two at a time': async () => {
        const all = await numbered(async (page) => {
          const rows = await list<Template>(ask, '/css_template/', { page, page_size: 2 });
          assert.ok(rows.length <= 2, `a page of ${rows.length}`);
          return rows;
        }, 0);
        once(ids(all), [s.a, s.b, s.c, s.d, s.e], 'templates');
      },
      'they are counted': async () => {
        const { count } = await ask<Many<Template>>('get', `/css_template/${q({ page: 0, page_size: 1 })}`);
        assert.equal(count, (await list<Template>(ask, '/css_template/')).length);
      },
      'in the order of their names': async () => {
        const asked = { order_column: 'template_name', order_direction: 'desc' };
        const names = (await templateNames(ask, asked)).filter((name) => name.startsWith('page-'));
        assert.deepEqual(names, ['page-e', 'page-d', 'page-c', 'page-b', 'page-a']);
      },
    }),
    'CSS templates by a filter': (ask) => ({
      'make three': async () => {
        for (const name of ['harbour-1', 'harbour-2', 'castle-1']) await template(ask, name);
      },
      'by the whole name': async () => {
        const filters = [{ col: 'template_name', opr: 'eq', value: 'castle-1' }];
        assert.deepEqual(await templateNames(ask, { filters }), ['castle-1']);
      },
      'by its beginning': async () => {
        const filters = [{ col: 'template_name', opr: 'sw', value: 'harbour' }];
        assert.deepEqual((await templateNames(ask, { filters })).sort(), ['harbour-1', 'harbour-2']);
      },
      'none by what is not there': async () => {
        const filters = [{ col: 'template_name', opr: 'eq', value: 'volcano' }];
        assert.deepEqual(await templateNames(ask, { filters }), []);
      },
    }),
    'several CSS templates deleted at once': (ask, s) => ({
      'make three': async () => {
        for (const name of ['one', 'two', 'three']) s[name] = await template(ask, `bulk-${name}`);
      },
      'delete two': async () => ask('delete', `/css_template/${q([Number(s.one), Number(s.three)])}`),
      'both are gone': async () => {
        await refused(ask('get', `/css_template/${s.one}`), 404);
        await refused(ask('get', `/css_template/${s.three}`), 404);
      },
      'the other stays': async () =>
        assert.equal((await read<Template>(ask, `/css_template/${s.two}`)).template_name, 'bulk-two'),
      'not what is not there': async () => refused(ask('delete', `/css_template/${q([Number(nobody)])}`), 404),
    }),
    'an annotation layer from its making to its end': (ask, s) => ({
      create: async () => {
        s.id = await layer(ask, 'Releases');
      },
      read: async () => {
        const { name, descr } = await read<Layer>(ask, `/annotation_layer/${s.id}`);
        assert.deepEqual([name, descr], ['Releases', 'About Releases']);
      },
      'it is listed': async () => once(ids(await list<Layer>(ask, '/annotation_layer/')), [s.id], 'layers'),
      'not another of its name': async () => refused(layer(ask, 'Releases'), 422),
      change: async () => ask('put', `/annotation_layer/${s.id}`, { name: 'Holidays', descr: 'Days off' }),
      'it is changed': async () => {
        const { name, descr } = await read<Layer>(ask, `/annotation_layer/${s.id}`);
        assert.deepEqual([name, descr], ['Holidays', 'Days off']);
      },
      delete: async () => ask('delete', `/annotation_layer/${s.id}`),
      'it is gone': async () => refused(ask('get', `/annotation_layer/${s.id}`), 404),
    }),
    'an annotation from its making to its end': (ask, s) => ({
      'make a layer': async () => {
        s.layer = await layer(ask, 'Events');
      },
      create: async () => {
        s.id = await annotation(ask, s.layer, 'Launch', '04');
      },
      read: async () => {
        const found = await read<Annotation>(ask, `/annotation_layer/${s.layer}/annotation/${s.id}`);
        assert.deepEqual([found.short_descr, found.long_descr], ['Launch', 'Launch at length']);
        assert.match(found.start_dttm, /^2024-03-04T00:00:00/);
      },
      'not one that ends before it begins': async () => {
        const body = { short_descr: 'Odd', start_dttm: '2024-03-04T00:00:00', end_dttm: '2024-03-03T00:00:00' };
        await refused(ask('post', `/annotation_layer/${s.layer}/annotation/`, body), 422);
      },
      change: async () => ask('put', `/annotation_layer/${s.layer}/annotation/${s.id}`, { short_descr: 'Relaunch' }),
      'it is changed': async () => {
        const found = await read<Annotation>(ask, `/annotation_layer/${s.layer}/annotation/${s.id}`);
        assert.deepEqual([found.short_descr, found.long_descr], ['Relaunch', 'Launch at length']);
      },
      delete: async () => ask('delete', `/annotation_layer/${s.layer}/annotation/${s.id}`),
      'it is gone': async () => refused(ask('get', `/annotation_layer/${s.layer}/annotation/${s.id}`), 404),
    }),
    'annotations of two layers': (ask, s) => ({
      'make two layers': async () => {
        s.left = await layer(ask, 'Left');
        s.right = await layer(ask, 'Right');
      },
      'two here, one there': async () => {
        s.first = await annotation(ask, s.left, 'First');
        await annotation(ask, s.left, 'Second');
        await annotation(ask, s.right, 'Third');
      },
      'each is in its own': async () => {
        assert.deepEqual(await annotations(ask, s.left), ['First', 'Second']);
        assert.deepEqual(await annotations(ask, s.right), ['Third']);
      },
      'a layer with some stays': async () => refused(ask('delete', `/annotation_layer/${s.left}`), 422),
      'delete one': async () => ask('delete', `/annotation_layer/${s.left}/annotation/${s.first}`),
      'the others stay': async () =>
        assert.deepEqual([await annotations(ask, s.left), await annotations(ask, s.right)], [['Second'], ['Third']]),
    }),
    'a saved query from its making to its end': (ask, s) => ({
      create: async () => {
        s.id = await make(ask, '/saved_query/', { label: 'Ports', sql: 'SELECT * FROM ports', description: 'All ports' });
      },
      read: async () => {
        const { label, sql, description } = await read<Query>(ask, `/saved_query/${s.id}`);
        assert.deepEqual([label, sql, description], ['Ports', 'SELECT * FROM ports', 'All ports']);
      },
      'it is found by its label': async () => {
        const filters = [{ col: 'label', opr: 'eq', value: 'Ports' }];
        assert.deepEqual(ids(await list<Query>(ask, '/saved_query/', { filters })), [s.id]);
      },
      change: async () => ask('put', `/saved_query/${s.id}`, { sql: 'SELECT name FROM ports' }),
      'it is changed': async () => {
        const { label, sql } = await read<Query>(ask, `/saved_query/${s.id}`);
        assert.deepEqual([label, sql], ['Ports', 'SELECT name FROM ports']);
      },
      delete: async () => ask('delete', `/saved_query/${s.id}`),
      'it is gone': async () => refused(ask('get', `/saved_query/${s.id}`), 404),
    }),
    'a dashboard from its making to its end': (ask, s) => ({
      create: async () => {
        s.id = await dashboard(ask, 'Sales', 'sales');
      },
      read: async () => {
        const { dashboard_title, slug, published } = await read<Dashboard>(ask, `/dashboard/${s.id}`);
        assert.deepEqual([dashboard_title, slug, published], ['Sales', 'sales', false]);
      },
      'by its slug too': async () => assert.equal(String((await read<Dashboard>(ask, '/dashboard/sales')).id), s.id),
      'it is listed': async () => once(ids(await list<Dashboard>(ask, '/dashboard/')), [s.id], 'dashboards'),
      publish: async () => ask('put', `/dashboard/${s.id}`, { published: true, dashboard_title: 'All sales' }),
      'it is published': async () => {
        const { dashboard_title, slug, published } = await read<Dashboard>(ask, `/dashboard/${s.id}`);
        assert.deepEqual([dashboard_title, slug, published], ['All sales', 'sales', true]);
      },
      delete: async () => ask('delete', `/dashboard/${s.id}`),
      'it is gone': async () => refused(ask('get', `/dashboard/${s.id}`), 404),
    }),
    'dashboards of one slug': (ask, s) => ({
      'make one': async () => {
        s.id = await dashboard(ask, 'First', 'taken');
      },
      'not another': async () => refused(dashboard(ask, 'Second', 'taken'), 422),
      'it is the first still': async () =>
        assert.equal((await read<Dashboard>(ask, '/dashboard/taken')).dashboard_title, 'First'),
      'none has a title that is a number': async () => refused(ask('post', '/dashboard/', { dashboard_title: 7 }), 400),
    }),
    'a chart from its making to its end': (ask, s) => ({
      create: async () => {
        s.id = await chart(ask, s, 'Arrivals');
      },
      read: async () => {
        const { slice_name, description, viz_type } = await read<Chart>(ask, `/chart/${s.id}`);
        assert.deepEqual([slice_name, description, viz_type], ['Arrivals', 'About Arrivals', 'table']);
      },
      'it is listed': async () => once(ids(await list<Chart>(ask, '/chart/')), [s.id], 'charts'),
      'not one without a source': async () => refused(ask('post', '/chart/', { slice_name: 'Odd' }), 400),
      change: async () => ask('put', `/chart/${s.id}`, { slice_name: 'Departures' }),
      'it is changed': async () => {
        const { slice_name, description } = await read<Chart>(ask, `/chart/${s.id}`);
        assert.deepEqual([slice_name, description], ['Departures', 'About Arrivals']);
      },
      delete: async () => ask('delete', `/chart/${s.id}`),
      'it is gone': async () => refused(ask('get', `/chart/${s.id}`), 404),
    }),
    'charts of two dashboards': (ask, s) => ({
      'make two dashboards': async () => {
        s.left = await dashboard(ask, 'Left', 'left-board');
        s.right = await dashboard(ask, 'Right', 'right-board');
      },
      'a chart of one': async () => {
        s.id = await chart(ask, s, 'On the left', { dashboards: [Number(s.left)] });
      },
      'it is on that one': async () => {
        const held = await read<readonly Chart[]>(ask, `/dashboard/${s.left}/charts`);
        assert.deepEqual(
          held.map(({ slice_name }) => slice_name),
          ['On the left'],
        );
      },
      'not on the other': async () => assert.deepEqual(await read<readonly Chart[]>(ask, `/dashboard/${s.right}/charts`), []),
    }),
    'a report from its making to its end': (ask, s) => ({
      create: async () => {
        s.dashboard = await dashboard(ask, 'Reported', 'reported');
        const recipients = [{ type: 'Email', recipient_config_json: { target: 'ada@example.com' } }];
        const body = { type: 'Report', name: 'Weekly', crontab: '0 9 * * 1', dashboard: Number(s.dashboard), recipients };
        s.id = await make(ask, '/report/', { ...body, active: true });
      },
      read: async () => {
        const { name, type, crontab, active } = await read<Report>(ask, `/report/${s.id}`);
        assert.deepEqual([name, type, crontab, active], ['Weekly', 'Report', '0 9 * * 1', true]);
      },
      'not at a time that is none': async () => refused(ask('put', `/report/${s.id}`, { crontab: 'when it rains' }), 400),
      rest: async () => ask('put', `/report/${s.id}`, { active: false }),
      'it rests': async () => {
        const { name, active } = await read<Report>(ask, `/report/${s.id}`);
        assert.deepEqual([name, active], ['Weekly', false]);
      },
      delete: async () => ask('delete', `/report/${s.id}`),
      'it is gone': async () => refused(ask('get', `/report/${s.id}`), 404),
    }),
    'what is not there': (ask) => ({
      'a chart': async () => refused(ask('get', `/chart/${nobody}`), 404),
      'a dashboard': async () => refused(ask('get', '/dashboard/no-such-slug'), 404),
      'an annotation of no layer': async () => refused(ask('get', `/annotation_layer/${nobody}/annotation/1`), 404),
      'a saved query is not changed': async () => refused(ask('put', `/saved_query/${nobody}`, { label: 'Nobody' }), 404),
      'nor is a report deleted': async () => refused(ask('delete', `/report/${nobody}`), 404),
    }),
    'a token that is refused': (ask, s, another) => ({
      'the right one': async () => {
        s.id = await template(ask, 'guarded');
      },
      'a wrong one lists nothing': async () => refused(another('wrong')('get', '/css_template/'), 401, 422),
      'nor reads anything': async () => refused(another('wrong')('get', `/css_template/${s.id}`), 401, 422),
      'nor deletes anything': async () => refused(another('wrong')('delete', `/css_template/${s.id}`), 401, 422),
      'all is as it was': async () => assert.equal((await read<Template>(ask, `/css_template/${s.id}`)).template_name, 'guarded'),
    }),
  },
};
