import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
// @ts-expect-error the client has no types
import untyped from 'pdf-generator-api-client';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

/** These are the client's types, which it does not bring itself: those of its readme and models, as far as they are used here. */
interface Component {
  cls?: string;
  id?: string;
  left?: number;
  top?: number;
  width?: number;
  height?: number;
  zindex?: number;
  value?: string;
  dataIndex?: string;
}
interface Page {
  width?: number;
  height?: number;
  margins?: { right?: number; bottom?: number };
  components?: Component[];
}
interface Layout {
  format?: string;
  width?: number;
  height?: number;
  unit?: string;
  orientation?: string;
  rotation?: number;
  margins?: { top?: number; right?: number; bottom?: number; left?: number };
  emptyLabels?: number;
}
interface Definition {
  name: string;
  tags?: string[];
  isDraft?: boolean;
  layout?: Layout;
  pages?: Page[];
}
interface Template {
  id?: number;
  name?: string;
  owner?: boolean;
  tags?: string[];
}
interface Workspace {
  id?: number;
  identifier?: string;
  is_master_workspace?: boolean;
  created_at?: string;
}
interface Listed {
  response?: Template[];
  meta?: { current_page?: number; last_page?: number; per_page?: number };
}
interface Made {
  response?: Definition & { id?: number };
}
interface Output {
  response?: string;
  meta?: { name?: string; display_name?: string; encoding?: string; 'content-type'?: string };
}
type Back<Data> = (error: unknown, data: Data) => void;
type Names = Record<string, unknown>;
interface ApiClient {
  timeout: number;
  readonly authentications: { readonly JSONWebTokenAuth: { accessToken?: string } };
  callApi(
    path: string,
    method: string,
    inPath: Names,
    inQuery: Names,
    inHeader: Names,
    inForm: Names,
    body: unknown,
    auth: readonly string[],
    sent: readonly string[],
    accepted: readonly string[],
    type: unknown,
    base: null,
    back: Back<unknown>,
  ): unknown;
}
interface TemplatesApi {
  getTemplates(how: { page?: number; per_page?: number }, back: Back<Listed>): void;
  createTemplate(definition: unknown, back: Back<Made>): void;
  getTemplate(id: number | string, back: Back<Made>): void;
  updateTemplate(id: number | string, definition: unknown, back: Back<Made>): void;
  deleteTemplate(id: number | string, back: Back<{ response?: { success?: boolean } } | null>): void;
  copyTemplate(id: number | string, how: { copy_template_request?: { name: string } }, back: Back<Made>): void;
  openEditor(id: number | string, asked: { data: unknown; language?: string }, back: Back<{ response?: string }>): void;
}
interface WorkspacesApi {
  getWorkspace(identifier: string, back: Back<{ response?: Workspace }>): void;
  deleteWorkspace(identifier: string, back: Back<{ response?: { success?: boolean } } | null>): void;
}
interface Sdk {
  readonly ApiClient: new (base: string) => ApiClient;
  readonly TemplatesApi: new (api: ApiClient) => TemplatesApi;
  readonly WorkspacesApi: new (api: ApiClient) => WorkspacesApi;
}
const sdk = untyped as Sdk;

interface Client {
  readonly api: ApiClient;
  readonly templates: TemplatesApi;
  readonly workspaces: WorkspacesApi;
}
const connect = (place: Place, token: string): Client => {
  const api = new sdk.ApiClient(place.base);
  api.timeout = 10_000;
  api.authentications.JSONWebTokenAuth.accessToken = token;
  return { api, templates: new sdk.TemplatesApi(api), workspaces: new sdk.WorkspacesApi(api) };
};

/** The client calls back; a flow waits. */
const asked = <Data>(run: (back: Back<Data>) => unknown): Promise<Data> =>
  new Promise((done, failed) => {
    run((error, data) => (error ? failed(error) : done(data)));
  });
const create = (c: Client, definition: unknown): Promise<Made> =>
  asked<Made>((back) => c.templates.createTemplate(definition, back));
const read = (c: Client, id: string): Promise<Made> => asked<Made>((back) => c.templates.getTemplate(id, back));
const change = (c: Client, id: string, definition: unknown): Promise<Made> =>
  asked<Made>((back) => c.templates.updateTemplate(id, definition, back));
const copy = (c: Client, id: string): Promise<Made> => asked<Made>((back) => c.templates.copyTemplate(id, {}, back));
const remove = async (c: Client, id: string): Promise<void> => {
  const gone = await asked<{ response?: { success?: boolean } } | null>((back) => c.templates.deleteTemplate(id, back));
  if (gone !== null) assert.equal(gone.response?.success, true);
};
const editor = (c: Client, id: string, data: unknown = {}): Promise<{ response?: string }> =>
  asked<{ response?: string }>((back) => c.templates.openEditor(id, { data, language: 'en' }, back));
/** Version 3 makes documents of a template below `/templates`; the client's own calls for it are version 4's: this is its general one. */
const post = (c: Client, path: string, inPath: Names, inQuery: Names, body: unknown): Promise<unknown> =>
  asked<unknown>((back) =>
    c.api.callApi(
      path,
      'POST',
      inPath,
      inQuery,
      {},
      {},
      body,
      ['JSONWebTokenAuth'],
      ['application/json'],
      ['application/json'],
      Object,
      null,
      back,
    ),
  );
const output = async (c: Client, templateId: string, data: unknown, how: Names = {}): Promise<Output> =>
  (await post(c, '/templates/{templateId}/output', { templateId }, how, data)) as Output;
const merged = async (c: Client, parts: unknown, how: Names = {}): Promise<Output> =>
  (await post(c, '/templates/output', {}, how, parts)) as Output;

const template = async (c: Client, definition: Definition): Promise<string> => {
  const { response } = await create(c, definition);
  return String(given(response?.id, 'id'));
};
/** Where it says how many pages there are, all of them. */
const templates = (c: Client): Promise<Template[]> =>
  pages(
    (from) => asked<Listed>((back) => c.templates.getTemplates(from === undefined ? {} : { page: Number(from) }, back)),
    (page) => given(page.response, 'response'),
    ({ meta }) =>
      meta?.current_page !== undefined && meta.last_page !== undefined && meta.current_page < meta.last_page
        ? String(meta.current_page + 1)
        : undefined,
  );
const ids = async (c: Client): Promise<string[]> => (await templates(c)).map(({ id }) => String(given(id, 'id')));
const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);

const label = (value: string, top = 1): Component => ({
  cls: 'labelComponent',
  id: `label-${top}`,
  left: 1,
  top,
  width: 8,
  height: 1,
  zindex: 100,
  value,
});
const A4: Layout = {
  format: 'A4',
  width: 21,
  height: 29.7,
  unit: 'cm',
  orientation: 'portrait',
  margins: { top: 0.5, right: 0.5, bottom: 0.5, left: 0.5 },
  emptyLabels: 0,
};
const invoice = (name: string, ...components: Component[]): Definition => ({
  name,
  tags: ['invoice'],
  isDraft: false,
  layout: A4,
  pages: [{ width: 21, height: 29.7, margins: { right: 0.5, bottom: 0.5 }, components }],
});
const order = { number: 'SO-1', items: [{ name: 'Chair', price: 40 }] };
const nowhere = '987654321';
const workspace = 'demo.example@actualreports.com';

/** A JSON Web Token as the guide makes it: the key as issuer, the workspace as subject, until the year 2100. */
const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (): string => {
  const iss = 'ad54aaff89ffdfeff178bb8a8f359b29fcb20edb56250b9f584aa2cb0162ed4a';
  const unsigned = `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url({ iss, sub: workspace, exp: 4_102_444_800 })}`;
  return `${unsigned}.${createHmac('sha256', 'the-secret').update(unsigned).digest('base64url')}`;
};

/** Guide: docs.pdfgeneratorapi.com/v3 (authentication, templates, documents, workspaces, error codes). */
export const vendor: Vendor<Client> = {
  document: 'pdfgeneratorapi/pdfgeneratorapi.json',
  header: 'Authorization',
  word: 'Bearer',
  made: jwt(),
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a template, from the first to the last day': (c, s) => ({
      made: async () => {
        const { response } = await create(c, invoice('Invoice', label('Invoice {number}')));
        assert.equal(response?.name, 'Invoice');
        assert.equal(typeof response.id, 'number');
        s.id = String(response.id);
      },
      read: async () => {
        const { response } = await read(c, s.id);
        assert.deepEqual([String(response?.id), response?.name, response?.tags], [s.id, 'Invoice', ['invoice']]);
      },
      'is in the list': async () => once(await ids(c), [s.id], 'templates'),
      changed: async () => {
        const { response } = await change(c, s.id, invoice('Invoice, new', label('No. {number}')));
        assert.deepEqual([String(response?.id), response?.name], [s.id, 'Invoice, new']);
      },
      'read as it is now': async () => {
        const { response } = await read(c, s.id);
        assert.equal(response?.name, 'Invoice, new');
        assert.equal(response.pages?.[0]?.components?.[0]?.value, 'No. {number}');
      },
      deleted: () => remove(c, s.id),
      gone: () => refused(read(c, s.id), 404),
      'no longer in the list': async () => without(await ids(c), s.id),
    }),

    'the layout and the pages of a template': (c, s) => ({
      'two pages, lying': async () => {
        s.id = await template(c, {
          ...invoice('Delivery note'),
          layout: { ...A4, width: 29.7, height: 21, orientation: 'landscape', margins: { top: 1, right: 2, bottom: 1, left: 2 } },
          pages: [
            { width: 29.7, height: 21, margins: { right: 2, bottom: 1 }, components: [label('Note'), label('{number}', 3)] },
            { width: 29.7, height: 21, margins: { right: 2, bottom: 1 }, components: [label('Terms')] },
          ],
        });
      },
      'the layout is as it was sent': async () => {
        const { response } = await read(c, s.id);
        assert.partialDeepStrictEqual(
          { ...response?.layout, margins: { ...response?.layout?.margins } },
          {
            format: 'A4',
            width: 29.7,
            height: 21,
            unit: 'cm',
            orientation: 'landscape',
            margins: { top: 1, right: 2, bottom: 1, left: 2 },
          },
        );
      },
      'so are the pages, in their order': async () => {
        const { response } = await read(c, s.id);
        const texts = given(response?.pages, 'pages').map(({ components }) => components?.map(({ value }) => value));
        assert.deepEqual(texts, [['Note', '{number}'], ['Terms']]);
      },
      'and what is on them': async () => {
        const { response } = await read(c, s.id);
        assert.partialDeepStrictEqual({ ...response?.pages?.[0]?.components?.[1] }, { ...label('{number}', 3) });
      },
      'a letter in inches in its place': async () => {
        const layout = { format: 'letter', width: 8.5, height: 11, unit: 'in', orientation: 'portrait', emptyLabels: 0 };
        await change(c, s.id, { ...invoice('Delivery note'), layout, pages: [{ width: 8.5, height: 11, components: [] }] });
        const { response } = await read(c, s.id);
        assert.deepEqual(
          [response?.layout?.format, response?.layout?.unit, response?.layout?.width, response?.layout?.orientation],
          ['letter', 'in', 8.5, 'portrait'],
        );
        assert.equal(response?.pages?.length, 1);
      },
    }),

    'a change replaces pages, and does not merge them': (c, s) => ({
      'a template of two labels and a table': async () => {
        const table: Component = {
          cls: 'tableComponent',
          id: 'table-1',
          left: 1,
          top: 6,
          width: 10,
          height: 3,
          dataIndex: 'items',
        };
        s.id = await template(c, invoice('Order', label('one', 1), label('two', 2), table));
        const { response } = await read(c, s.id);
        assert.deepEqual(
          response?.pages?.[0]?.components?.map(({ cls }) => cls),
          ['labelComponent', 'labelComponent', 'tableComponent'],
        );
      },
      'the table knows its field': async () => {
        const { response } = await read(c, s.id);
        assert.equal(response?.pages?.[0]?.components?.[2]?.dataIndex, 'items');
      },
      'one label instead': async () => {
        const { response } = await change(c, s.id, invoice('Order', label('three', 3)));
        assert.deepEqual(
          response?.pages?.[0]?.components?.map(({ value }) => value),
          ['three'],
        );
      },
      'that is all there is': async () => {
        const { response } = await read(c, s.id);
        assert.equal(response?.pages?.length, 1);
        assert.deepEqual(
          response.pages[0]?.components?.map(({ value }) => value),
          ['three'],
        );
      },
      'the same again changes nothing': async () => {
        const before = await read(c, s.id);
        await change(c, s.id, invoice('Order', label('three', 3)));
        const after = await read(c, s.id);
        assert.deepEqual([after.response?.id, after.response?.pages], [before.response?.id, before.response?.pages]);
      },
    }),

    'templates in a list': (c, s) => ({
      'five are made': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) s[letter] = await template(c, invoice(`List ${letter}`));
      },
      'each has an id of its own': async () =>
        assert.equal(new Set([s.a, s.b, s.c, s.d, s.e]).size, 5, `not five: ${s.a} ${s.b} ${s.c} ${s.d} ${s.e}`),
      'all of them, each once': async () => {
        const rows = await ids(c);
        once(rows, [...new Set(rows), s.a, s.b, s.c, s.d, s.e], 'templates');
      },
      'each with its name': async () => {
        const rows = (await templates(c)).map(({ id, name }) => `${id} ${name}`);
        once(rows, [`${s.a} List a`, `${s.c} List c`, `${s.e} List e`], 'templates');
      },
      'two less': async () => {
        await remove(c, s.b);
        await remove(c, s.d);
        const rows = await ids(c);
        once(rows, [s.a, s.c, s.e], 'templates');
        without(rows, s.b);
        without(rows, s.d);
      },
    }),

    'tags of a template': (c, s) => ({
      'one with two, one with none': async () => {
        s.two = await template(c, { ...invoice('Two tags'), tags: ['invoice', 'orders'] });
        s.none = await template(c, { name: 'No tags', tags: [] });
      },
      'read with it': async () => {
        assert.deepEqual((await read(c, s.two)).response?.tags, ['invoice', 'orders']);
        assert.deepEqual((await read(c, s.none)).response?.tags ?? [], []);
      },
      'listed with it': async () => {
        const rows = await templates(c);
        assert.deepEqual(rows.find(({ id }) => String(id) === s.two)?.tags, ['invoice', 'orders']);
        assert.deepEqual(rows.find(({ id }) => String(id) === s.none)?.tags ?? [], []);
      },
      'others in their place': async () => {
        await change(c, s.two, { ...invoice('Two tags'), tags: ['paid'] });
        assert.deepEqual((await read(c, s.two)).response?.tags, ['paid']);
      },
      'the list says so': async () =>
        assert.deepEqual((await templates(c)).find(({ id }) => String(id) === s.two)?.tags, ['paid']),
      'none at last': async () => {
        await change(c, s.two, { ...invoice('Two tags'), tags: [] });
        assert.deepEqual((await read(c, s.two)).response?.tags ?? [], []);
      },
    }),

    'a template is copied': (c, s) => ({
      'an original': async () => {
        s.id = await template(c, invoice('Original', label('first')));
      },
      'its copy has its name, and another id': async () => {
        const { response } = await copy(c, s.id);
        assert.equal(response?.name, 'Original');
        s.copy = String(given(response.id, 'id'));
        assert.notEqual(s.copy, s.id);
      },
      'and what is on its pages': async () => {
        const { response } = await read(c, s.copy);
        assert.equal(response?.pages?.[0]?.components?.[0]?.value, 'first');
        assert.deepEqual(response.tags, ['invoice']);
      },
      'both are listed': async () => once(await ids(c), [s.id, s.copy], 'templates'),
      'the copy is changed, the original is not': async () => {
        await change(c, s.copy, invoice('Changed', label('second')));
        const { response } = await read(c, s.id);
        assert.deepEqual([response?.name, response?.pages?.[0]?.components?.[0]?.value], ['Original', 'first']);
      },
      'the original is deleted, the copy is not': async () => {
        await remove(c, s.id);
        await refused(read(c, s.id), 404);
        assert.equal((await read(c, s.copy)).response?.name, 'Changed');
      },
      'what is gone is not copied': () => refused(copy(c, s.id), 404),
    }),

    'a copy with a name of its own': (c, s) => ({
      'an original': async () => {
        s.id = await template(c, invoice('Letter', label('Dear {name}')));
      },
      'a copy is named': async () => {
        const made = (await post(
          c,
          '/templates/{templateId}/copy',
          { templateId: s.id },
          { name: 'My copied template' },
          null,
        )) as Made;
        assert.equal(made.response?.name, 'My copied template');
        s.copy = String(given(made.response.id, 'id'));
        assert.notEqual(s.copy, s.id);
      },
      'it is read by that name': async () => {
        const { response } = await read(c, s.copy);
        assert.deepEqual([response?.name, response?.pages?.[0]?.components?.[0]?.value], ['My copied template', 'Dear {name}']);
      },
      'it is listed by that name': async () => {
        const rows = (await templates(c)).map(({ id, name }) => `${id} ${name}`);
        once(rows, [`${s.copy} My copied template`, `${s.id} Letter`], 'templates');
      },
      'a copy of the copy': async () => {
        const { response } = await copy(c, s.copy);
        assert.equal(response?.name, 'My copied template');
        once(await ids(c), [s.id, s.copy, String(response.id)], 'templates');
      },
    }),

    'drafts and what is published': (c, s) => ({
      'a draft': async () => {
        const { response } = await create(c, { ...invoice('Draft'), isDraft: true });
        assert.equal(response?.isDraft, true);
        s.id = String(given(response.id, 'id'));
      },
      'it is read as one': async () => assert.equal((await read(c, s.id)).response?.isDraft, true),
      published: async () => {
        const { response } = await change(c, s.id, { ...invoice('Draft'), isDraft: false });
        assert.equal(response?.isDraft, false);
      },
      'it is read as such': async () => assert.equal((await read(c, s.id)).response?.isDraft, false),
      'it is in the list, once': async () => once(await ids(c), [s.id], 'templates'),
    }),

    'a template of nothing but a name': (c, s) => ({
      'two are made, of one name': async () => {
        s.one = await template(c, { name: 'Empty' });
        s.two = await template(c, { name: 'Empty' });
        assert.notEqual(s.one, s.two);
      },
      'one is read': async () => {
        const { response } = await read(c, s.one);
        assert.deepEqual([String(response?.id), response?.name], [s.one, 'Empty']);
      },
      'there is nothing on it': async () => {
        const { response } = await read(c, s.one);
        for (const page of response?.pages ?? []) assert.deepEqual(page.components ?? [], []);
      },
      'it is filled': async () => {
        await change(c, s.one, invoice('Filled', label('Something')));
        const { response } = await read(c, s.one);
        assert.deepEqual([response?.name, response?.pages?.[0]?.components?.[0]?.value], ['Filled', 'Something']);
      },
      'the other is still empty': async () => assert.equal((await read(c, s.two)).response?.name, 'Empty'),
      'letters of any language': async () => {
        s.three = await template(c, { name: 'Arve nr 5 – „Õun“ 発票' });
        assert.equal((await read(c, s.three)).response?.name, 'Arve nr 5 – „Õun“ 発票');
      },
    }),

    'the editor is opened': (c, s) => ({
      'a template': async () => {
        s.id = await template(c, invoice('Edited', label('{number}')));
      },
      'it has an address': async () => {
        const { response } = await editor(c, s.id, order);
        const url = new URL(given(response, 'response'));
        assert.match(url.protocol, /^https?:$/);
        s.url = url.href;
      },
      'one for each time': async () => {
        const { response } = await editor(c, s.id, order);
        assert.notEqual(new URL(given(response, 'response')).href, s.url);
      },
      'with several rows of data': async () => {
        const { response } = await editor(c, s.id, [order, { ...order, number: 'SO-2' }]);
        given(response, 'response');
      },
      'the template is as it was': async () => assert.equal((await read(c, s.id)).response?.name, 'Edited'),
      'not for a template that is not there': () => refused(editor(c, nowhere, order), 404),
    }),

    'a document of a template': (c, s) => ({
      'a template': async () => {
        s.id = await template(c, invoice('Printed', label('Order {number}')));
      },
      'in base64, when nothing else is asked for': async () => {
        const { response, meta } = await output(c, s.id, order);
        assert.match(given(response, 'response'), /^[A-Za-z0-9+/]+={0,2}$/);
        assert.deepEqual([meta?.encoding, meta?.['content-type']], ['base64', 'application/pdf']);
      },
      'it is a PDF': async () => {
        const { response } = await output(c, s.id, order, { format: 'pdf', output: 'base64' });
        assert.equal(Buffer.from(given(response, 'response'), 'base64').subarray(0, 5).toString('latin1'), '%PDF-');
      },
      'it has the name it is given': async () => {
        const { meta } = await output(c, s.id, order, { name: 'My document' });
        assert.deepEqual([meta?.display_name, meta?.name], ['My document', 'My document.pdf']);
      },
      'otherwise a name of its own': async () => {
        const { meta } = await output(c, s.id, order);
        assert.match(given(meta?.name, 'name'), /\.pdf$/);
        assert.equal(meta?.name, `${meta?.display_name}.pdf`);
      },
      'the template is as it was': async () => assert.equal((await read(c, s.id)).response?.name, 'Printed'),
      'none of a template that is not there': () => refused(output(c, nowhere, order), 404),
    }),

    'documents of other kinds': (c, s) => ({
      'a template': async () => {
        s.id = await template(c, invoice('Kinds', label('Order {number}')));
      },
      'kept, under an address': async () => {
        const { response } = await output(c, s.id, order, { output: 'url' });
        assert.match(new URL(given(response, 'response')).protocol, /^https?:$/);
      },
      'as a page of HTML': async () => {
        const { response, meta } = await output(c, s.id, order, { format: 'html', output: 'base64' });
        given(response, 'response');
        assert.match(given(meta?.['content-type'], 'content-type'), /^text\/html/);
      },
      'as a spreadsheet': async () => {
        const { response, meta } = await output(c, s.id, order, { format: 'xlsx', output: 'base64', name: 'Sheet' });
        given(response, 'response');
        assert.equal(meta?.name, 'Sheet.xlsx');
      },
      'not as a painting': () => refused(output(c, s.id, order, { format: 'oil' }), 422),
      'not by pigeon': () => refused(output(c, s.id, order, { output: 'pigeon' }), 422),
    }),

    'several templates in one document': (c, s) => ({
      'two templates': async () => {
        s.one = await template(c, invoice('Part one', label('One {number}')));
        s.two = await template(c, invoice('Part two', label('Two {number}')));
      },
      'put together': async () => {
        const parts = [
          { template: Number(s.one), data: order },
          { template: Number(s.two), data: { ...order, number: 'SO-2' } },
        ];
        const { response, meta } = await merged(c, parts, { name: 'Both' });
        given(response, 'response');
        assert.deepEqual([meta?.display_name, meta?.['content-type']], ['Both', 'application/pdf']);
      },
      'one of them twice': async () => {
        const parts = ['SO-1', 'SO-2'].map((number) => ({ template: Number(s.one), data: { ...order, number } }));
        given((await merged(c, parts)).response, 'response');
      },
      'in an archive': async () => {
        const { meta } = await merged(c, [{ template: Number(s.one), data: order }], { format: 'zip', name: 'Packed' });
        assert.equal(meta?.name, 'Packed.zip');
      },
      'not of templates that are not there': () => refused(merged(c, [{ template: Number(nowhere), data: order }]), 404),
      'both are still there': async () => once(await ids(c), [s.one, s.two], 'templates'),
    }),

    'the workspace': (c) => ({
      read: async () => {
        const { response } = await asked<{ response?: Workspace }>((back) => c.workspaces.getWorkspace(workspace, back));
        assert.equal(response?.identifier, workspace);
        assert.equal(typeof response.id, 'number');
        assert.equal(typeof response.is_master_workspace, 'boolean');
      },
      'it was made at some time': async () => {
        const { response } = await asked<{ response?: Workspace }>((back) => c.workspaces.getWorkspace(workspace, back));
        assert.ok(
          Date.parse(given(response?.created_at, 'created_at')) <= Date.now() + 60_000,
          `made at ${response?.created_at}`,
        );
      },
      'another that is not there': () =>
        refused(
          asked((back: Back<unknown>) => c.workspaces.getWorkspace('nobody@example.org', back)),
          404,
        ),
      'which is not deleted either': () =>
        refused(
          asked((back: Back<unknown>) => c.workspaces.deleteWorkspace('nobody@example.org', back)),
          404,
        ),
      'the first is still there': async () => {
        const { response } = await asked<{ response?: Workspace }>((back) => c.workspaces.getWorkspace(workspace, back));
        assert.equal(response?.identifier, workspace);
      },
    }),

    'a credential that is refused': (c, s, another) => ({
      'a template': async () => {
        s.id = await template(c, invoice('Guarded'));
      },
      'not read by another': () => refused(read(another('a-wrong-token'), s.id), 401),
      'not listed by another': () => refused(templates(another('a-wrong-token')), 401),
      'nothing made by another': () => refused(create(another('a-wrong-token'), invoice('Intruder')), 401),
      'no document for another': () => refused(output(another('a-wrong-token'), s.id, order), 401),
      'not changed, and not deleted': async () => {
        await refused(change(another('a-wrong-token'), s.id, invoice('Taken')), 401);
        await refused(remove(another('a-wrong-token'), s.id), 401);
      },
      'no workspace for another': () =>
        refused(
          asked((back: Back<unknown>) => another('a-wrong-token').workspaces.getWorkspace(workspace, back)),
          401,
        ),
      'it is still there, and alone': async () => {
        assert.equal((await read(c, s.id)).response?.name, 'Guarded');
        without(
          (await templates(c)).map(({ name }) => name ?? ''),
          'Intruder',
        );
      },
    }),

    'wrong requests, and what is not there': (c, s) => ({
      'a template without a name': async () => {
        const { name: _, ...nameless } = { ...invoice('nameless'), tags: ['nameless'] };
        await refused(create(c, nameless), 422);
        assert.ok(!(await templates(c)).some(({ tags }) => tags?.includes('nameless')), 'it was made');
      },
      'what is not JSON': () => refused(create(c, '{ "name": '), 422),
      'tags that are no list': () => refused(create(c, { ...invoice('wrong tags'), tags: 'invoice' }), 422),
      'a change without a name changes nothing': async () => {
        s.id = await template(c, invoice('Right', label('kept')));
        await refused(change(c, s.id, { layout: A4, pages: [] }), 422);
        const { response } = await read(c, s.id);
        assert.deepEqual([response?.name, response?.pages?.[0]?.components?.[0]?.value], ['Right', 'kept']);
      },
      'what is not there is not read': async () => {
        const thrown = (await refused(read(c, nowhere), 404)) as { response?: { body?: { error?: string; status?: number } } };
        const body = given(thrown.response?.body, 'body');
        assert.equal(typeof body.error, 'string');
        assert.equal(body.status, 404);
      },
      'nor changed': () => refused(change(c, nowhere, invoice('Late')), 404),
      'nor deleted, nor copied': async () => {
        await refused(remove(c, nowhere), 404);
        await refused(copy(c, nowhere), 404);
      },
      'nor deleted twice': async () => {
        await remove(c, s.id);
        await refused(remove(c, s.id), 404);
      },
    }),
  },
};
