import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { numbered, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
type Callback = (error: Error | null, data: unknown) => void;
type Calls = Readonly<Record<string, (...given: readonly (string | object | Callback)[]) => unknown>>;

/** The parts of the client that are used here: it has no types of its own. */
interface Library {
  readonly ApiClient: new () => { basePath: string; apiTokenId: string; apiTokenSecret: string };
  readonly PDFApi: new (client: object) => object;
}
const library = createRequire(import.meta.url)('docspring') as Library;

interface DocSpring {
  /** The client takes a function to be called with the answer. */
  readonly ask: <Answer = Row>(method: string, ...asked: readonly (string | object)[]) => Promise<Answer>;
}

/** The header has the token's id and its secret, and a colon between them, in Base64. */
const connect = (place: Place, token: string): DocSpring => {
  const [id = '', ...secret] = Buffer.from(token, 'base64').toString().split(':');
  const client = new library.ApiClient();
  client.basePath = place.base;
  client.apiTokenId = id;
  client.apiTokenSecret = secret.join(':');
  const calls = new library.PDFApi(client) as Calls;
  return {
    ask: <Answer>(method: string, ...asked: readonly (string | object)[]): Promise<Answer> =>
      new Promise((resolve, reject) => {
        calls[method](...asked, (error: Error | null, data: unknown) => (error ? reject(error) : resolve(data as Answer)));
      }),
  };
};

const pair = (id: string, secret: string): string => Buffer.from(`${id}:${secret}`).toString('base64');
const gone = (call: Promise<unknown>): Promise<unknown> => refused(call, 404);
const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => String(id));

const template = async ({ ask }: DocSpring, name: string): Promise<string> =>
  String((await ask('createHTMLTemplate', { template: { name, template_type: 'html', html: '<h1>Hello</h1>' } })).id);

const folder = async ({ ask }: DocSpring, name: string, within?: string): Promise<string> =>
  String((await ask('createFolder', { folder: { name, ...(within === undefined ? {} : { parent_folder_id: within }) } })).id);

interface Made {
  readonly status: string;
  readonly submission: Row;
}
const submission = async ({ ask }: DocSpring, templateId: string, more: object = {}): Promise<Made> =>
  ask<Made>('generatePDF', templateId, { data: { first_name: 'John', last_name: 'Smith' }, ...more });

/** Guides of docspring.com: "API", "Generate PDFs", "Combine PDFs", "Folders", "Data requests", and the reference. */
export const vendor: Vendor<DocSpring> = {
  document: 'docspring/formapi.io.json',
  header: 'Authorization',
  word: 'Basic',
  made: pair('api_123456789', 'not-a-secret'),
  client: connect,
  strict: ['a wrong token is refused'],
  flows: {
    'a token is tried': ({ ask }) => ({
      'it is one': async () => assert.equal((await ask('testAuthentication')).status, 'success'),
      'templates are a list': async () => assert.ok(Array.isArray(await ask('listTemplates', {}))),
      'folders are a list': async () => assert.ok(Array.isArray(await ask('listFolders', {}))),
    }),

    'a template of HTML made, read, changed': ({ ask }, s) => ({
      made: async () => {
        const made = await ask('createHTMLTemplate', {
          template: {
            name: 'Invoice',
            description: 'What is owed',
            template_type: 'html',
            html: '<h1>Invoice</h1>',
            expire_submissions: true,
            expire_after: 3,
            expiration_interval: 'days',
          },
        });
        assert.deepEqual([made.name, made.description, made.template_type], ['Invoice', 'What is owed', 'html']);
        s.id = String(made.id);
      },
      'read as it was made': async () => {
        const read = await ask('getTemplate', s.id);
        assert.deepEqual([read.id, read.name], [s.id, 'Invoice']);
        assert.deepEqual([read.expire_after, read.expiration_interval], [3, 'days']);
      },
      'read in full': async () => {
        const read = await ask('getFullTemplate', s.id);
        assert.deepEqual([read.id, read.name, read.html], [s.id, 'Invoice', '<h1>Invoice</h1>']);
      },
      changed: async () => {
        const answer = await ask('updateTemplate', s.id, { template: { name: 'Bill', description: 'What is due' } });
        assert.equal(answer.status, 'success');
      },
      'read with its new name': async () => {
        const read = await ask('getTemplate', s.id);
        assert.deepEqual([read.name, read.description, read.template_type], ['Bill', 'What is due', 'html']);
      },
    }),

    'templates through all pages, and by a word': (spring, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (const name of ['Alpha', 'Beta', 'Gamma', 'Delta', 'Epsilon']) made.push(await template(spring, name));
        assert.equal(new Set(made).size, 5);
        s.ids = made.join(',');
      },
      'page after page': async () => {
        const rows = await numbered(async (page) => {
          const got = await spring.ask<Row[]>('listTemplates', { page, perPage: 2 });
          assert.ok(got.length <= 2, `a page of 2 has ${got.length}`);
          return got;
        });
        once(ids(rows), s.ids.split(','), 'templates');
      },
      'one is found by its name': async () => {
        const found = ids(await spring.ask<Row[]>('listTemplates', { query: 'Epsilon' }));
        assert.ok(found.includes(s.ids.split(',')[4]));
        assert.ok(!found.includes(s.ids.split(',')[0]));
      },
    }),

    'a folder made, renamed, deleted': (spring, s) => ({
      made: async () => {
        const made = await spring.ask('createFolder', { folder: { name: 'Contracts' } });
        assert.equal(made.name, 'Contracts');
        s.id = String(made.id);
      },
      'in the list': async () => once(ids(await spring.ask<Row[]>('listFolders', {})), [s.id], 'folders'),
      renamed: () => spring.ask('renameFolder', s.id, { name: 'Agreements' }),
      'in the list with its new name': async () => {
        const rows = await spring.ask<Row[]>('listFolders', {});
        assert.equal(rows.find(({ id }) => id === s.id)?.name, 'Agreements');
      },
      deleted: async () => assert.equal((await spring.ask('deleteFolder', s.id)).id, s.id),
      'no more in the list': async () => assert.ok(!ids(await spring.ask<Row[]>('listFolders', {})).includes(s.id)),
      'nor to be deleted again': () => gone(spring.ask('deleteFolder', s.id)),
    }),

    'a folder within another': (spring, s) => ({
      'two, and one in the first': async () => {
        s.one = await folder(spring, 'One');
        s.two = await folder(spring, 'Two');
        const made = await spring.ask('createFolder', { folder: { name: 'Inner', parent_folder_id: s.one } });
        assert.equal(made.parent_folder_id, s.one);
        s.inner = String(made.id);
      },
      'listed of the first': async () => {
        const rows = await spring.ask<Row[]>('listFolders', { parentFolderId: s.one });
        once(ids(rows), [s.inner], 'folders');
        assert.ok(!ids(rows).includes(s.two));
      },
      'moved into the second': async () => {
        const moved = await spring.ask('moveFolderToFolder', s.inner, { parent_folder_id: s.two });
        assert.deepEqual([moved.id, moved.parent_folder_id], [s.inner, s.two]);
      },
      'listed of the second alone': async () => {
        once(ids(await spring.ask<Row[]>('listFolders', { parentFolderId: s.two })), [s.inner], 'folders');
        assert.ok(!ids(await spring.ask<Row[]>('listFolders', { parentFolderId: s.one })).includes(s.inner));
      },
    }),

    'a template moved and copied': (spring, s) => ({
      'a template and a folder': async () => {
        s.template = await template(spring, 'Lease');
        s.folder = await folder(spring, 'Leases');
      },
      'moved into it': async () => {
        const moved = await spring.ask('moveTemplateToFolder', s.template, { parent_folder_id: s.folder });
        assert.deepEqual([moved.id, moved.parent_folder_id], [s.template, s.folder]);
      },
      'listed of it': async () => {
        once(ids(await spring.ask<Row[]>('listTemplates', { parentFolderId: s.folder })), [s.template], 'templates');
      },
      'copied beside it under another name': async () => {
        const copy = await spring.ask('copyTemplate', s.template, { parent_folder_id: s.folder, name: 'Sublease' });
        assert.deepEqual([copy.name, copy.parent_folder_id], ['Sublease', s.folder]);
        assert.notEqual(copy.id, s.template);
        s.copy = String(copy.id);
      },
      'the copy is read': async () => assert.equal((await spring.ask('getTemplate', s.copy)).name, 'Sublease'),
    }),

    'a PDF asked for, read, expired': (spring, s) => ({
      'asked for': async () => {
        s.template = await template(spring, 'Form');
        const { status, submission: made } = await submission(spring, s.template, { metadata: { user: 'u_1' } });
        assert.equal(status, 'success');
        assert.deepEqual([made.template_id, made.expired], [s.template, false]);
        assert.deepEqual(made.metadata, { user: 'u_1' });
        s.id = String(made.id);
      },
      'read, with what it was made of': async () => {
        const read = await spring.ask('getSubmission', s.id, { includeData: true });
        assert.deepEqual([read.id, read.template_id], [s.id, s.template]);
        assert.deepEqual(read.data, { first_name: 'John', last_name: 'Smith' });
      },
      expired: async () => {
        const expired = await spring.ask('expireSubmission', s.id);
        assert.deepEqual([expired.id, expired.expired], [s.id, true]);
      },
    }),

    'PDFs through all pages': (spring, s) => ({
      'five are asked for': async () => {
        s.template = await template(spring, 'Form');
        const made: string[] = [];
        for (let n = 0; n < 5; n += 1) made.push(String((await submission(spring, s.template)).submission.id));
        assert.equal(new Set(made).size, 5);
        s.ids = made.join(',');
      },
      'page after page, by the cursor': async () => {
        const rows = await pages(
          (cursor) => spring.ask<{ submissions: Row[]; next_cursor?: string }>('listSubmissions', { limit: 2, cursor }),
          (page) => page.submissions,
          (page) => (page.submissions.length === 0 ? undefined : page.next_cursor),
        );
        once(ids(rows), s.ids.split(','), 'submissions');
      },
      'a page has no more than was asked for': async () => {
        const page = await spring.ask<{ submissions: Row[]; limit: number }>('listSubmissions', { limit: 2 });
        assert.equal(page.limit, 2);
        assert.ok(page.submissions.length <= 2);
      },
    }),

    'PDFs of one template': (spring, s) => ({
      'one of each of two': async () => {
        s.one = await template(spring, 'One');
        s.two = await template(spring, 'Two');
        s['of one'] = String((await submission(spring, s.one)).submission.id);
        s['of two'] = String((await submission(spring, s.two)).submission.id);
      },
      'each lists its own': async () => {
        const of = async (id: string) => ids((await spring.ask<{ submissions: Row[] }>('listSubmissions_0', id, {})).submissions);
        assert.deepEqual(await of(s.one), [s['of one']]);
        assert.deepEqual(await of(s.two), [s['of two']]);
      },
      'a template that is not there lists none': () => gone(spring.ask('listSubmissions_0', 'tpl_missing', {})),
    }),

    'PDFs of a batch': (spring, s) => ({
      'two are asked for at once': async () => {
        s.template = await template(spring, 'Form');
        const made = await spring.ask<Row & { submission_batch: Row; submissions: Row[] }>('batchGeneratePdfs', {
          metadata: { job: 54321 },
          submissions: ['Ann', 'Bob'].map((first_name) => ({ template_id: s.template, data: { first_name } })),
        });
        assert.equal(made.status, 'success');
        assert.equal(made.submissions.length, 2);
        assert.equal(made.submission_batch.total_count, 2);
        assert.deepEqual(made.submission_batch.metadata, { job: 54321 });
        s.id = String(made.submission_batch.id);
      },
      'the batch is read': async () => {
        const read = await spring.ask('getSubmissionBatch', s.id, {});
        assert.deepEqual([read.id, read.total_count], [s.id, 2]);
      },
      'its PDFs with it': async () => {
        const read = await spring.ask<{ submissions: Row[] }>('getSubmissionBatch', s.id, { includeSubmissions: true });
        assert.equal(read.submissions.length, 2);
      },
    }),

    'PDFs put together': (spring, s) => ({
      'two of them': async () => {
        s.template = await template(spring, 'Form');
        s.one = String((await submission(spring, s.template)).submission.id);
        s.two = String((await submission(spring, s.template)).submission.id);
      },
      'in one': async () => {
        const made = await spring.ask<Row & { combined_submission: Row }>('combineSubmissions', {
          submission_ids: [s.one, s.two],
          metadata: { user: 'u_1' },
        });
        assert.equal(made.status, 'success');
        assert.deepEqual(made.combined_submission.submission_ids, [s.one, s.two]);
        s.id = String(made.combined_submission.id);
      },
      read: async () => {
        const read = await spring.ask('getCombinedSubmission', s.id);
        assert.deepEqual([read.id, read.submission_ids, read.metadata], [s.id, [s.one, s.two], { user: 'u_1' }]);
      },
      expired: async () => {
        const expired = await spring.ask('expireCombinedSubmission', s.id);
        assert.deepEqual([expired.id, expired.expired], [s.id, true]);
      },
    }),

    'PDFs and templates put together': (spring, s) => ({
      'a template and one of its PDFs': async () => {
        s.template = await template(spring, 'Cover');
        s.submission = String((await submission(spring, s.template)).submission.id);
      },
      'in one, with how long it stays': async () => {
        const made = await spring.ask<Row & { combined_submission: Row }>('combinePdfs', {
          source_pdfs: [
            { type: 'template', id: s.template },
            { type: 'submission', id: s.submission },
          ],
          expires_in: 3600,
        });
        assert.equal(made.status, 'success');
        assert.equal(made.combined_submission.expires_in, 3600);
        s.id = String(made.combined_submission.id);
      },
      'read by its own number': async () => assert.equal((await spring.ask('getCombinedSubmission', s.id)).id, s.id),
    }),

    'somebody asked for data': (spring, s) => ({
      'with the PDF that waits for it': async () => {
        s.template = await template(spring, 'Form');
        const { submission: made } = await submission(spring, s.template, {
          data_requests: [{ name: 'Jo', email: 'jo@example.com', fields: ['last_name'], order: 1, auth_type: 'none' }],
        });
        const [asked] = made.data_requests as Row[];
        assert.deepEqual([asked?.email, asked?.name], ['jo@example.com', 'Jo']);
        s.id = String(asked?.id);
        s.submission = String(made.id);
      },
      read: async () => {
        const read = await spring.ask('getDataRequest', s.id);
        assert.deepEqual([read.id, read.email, read.submission_id], [s.id, 'jo@example.com', s.submission]);
      },
      'somebody else is asked': async () => {
        const changed = await spring.ask<Row & { data_request: Row }>('updateDataRequest', s.id, {
          name: 'Kay',
          email: 'kay@example.com',
        });
        assert.equal(changed.status, 'success');
        assert.deepEqual([changed.data_request.name, changed.data_request.email], ['Kay', 'kay@example.com']);
      },
      'gets a link': async () => {
        const made = await spring.ask<Row & { token: Row }>('createDataRequestToken', s.id);
        assert.equal(made.status, 'success');
        assert.equal(typeof made.token.data_request_url, 'string');
      },
    }),

    'fields added to a template': (spring, s) => ({
      'a template': async () => {
        s.template = await template(spring, 'Form');
      },
      'two fields': async () => {
        const fields = ['First name', 'Last name'].map((name) => ({ name, type: 'string', required: true, page: 1 }));
        assert.equal((await spring.ask('addFieldsToTemplate', s.template, { fields })).status, 'success');
      },
      'what data it takes is told': async () => {
        const schema = await spring.ask('getTemplateSchema', s.template);
        assert.equal(typeof schema, 'object');
      },
    }),

    'a wrong token is refused': (_spring, _s, another) => ({
      'when it is tried': () => refused(another(pair('no', 'body')).ask('testAuthentication'), 401),
      'a list': () => refused(another(pair('no', 'body')).ask('listTemplates', {}), 401),
      'a folder': () => refused(folder(another(pair('no', 'body')), 'Stolen'), 401),
    }),

    'what is not there, and what is not right': (spring, s) => ({
      'no such template': () => gone(spring.ask('getTemplate', 'tpl_missing')),
      'no such PDF': () => gone(spring.ask('getSubmission', 'sub_missing', {})),
      'no such batch': () => gone(spring.ask('getSubmissionBatch', 'sbb_missing', {})),
      'no such folder to move into': async () => {
        s.template = await template(spring, 'Lost');
        await gone(spring.ask('moveTemplateToFolder', s.template, { parent_folder_id: 'fld_missing' }));
      },
      'a folder has a name': () => refused(spring.ask('createFolder', { folder: {} }), 400, 422),
      'a PDF has data': () => refused(spring.ask('generatePDF', s.template, {}), 400, 422),
    }),
  },
};
