import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { given, type Place, type Vendor } from '../kit.ts';

interface Options {
  readonly carboneUrl?: string;
  readonly isReturningBuffer?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}
interface Report {
  readonly content: Buffer | string;
  readonly filename: string;
}

/** The part of the client that is used here: it has no types of its own. */
interface Sdk {
  setOptions(options: Options): void;
  setApiVersion(version: number): void;
  addTemplatePromise(template: string | Buffer, payload?: string): Promise<string>;
  getTemplatePromise(id: string): Promise<Buffer>;
  delTemplatePromise(id: string): Promise<void>;
  renderPromise(template: string | Buffer, body: object, options?: Pick<Options, 'headers'>): Promise<Report>;
  getTemplate(id: string): Readable;
  render(template: string, body: object): Readable;
  getFilename(stream: Readable): string | null;
}
const make = createRequire(import.meta.url)('carbone-sdk') as (key: string) => Sdk;

/** Its key and options are of the whole process, so that it is made anew for each use. */
type Carbone = (options?: Options) => Sdk;
const connect =
  (place: Place, token: string): Carbone =>
  (options = {}) => {
    const sdk = make(token);
    sdk.setOptions({ carboneUrl: `${place.url}/`, isReturningBuffer: true, headers: {}, ...options });
    sdk.setApiVersion(4);
    return sdk;
  };

const folder = mkdtempSync(join(tmpdir(), 'templates-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
/** Writes a template to where a path is told, as the client asks for absolute ones. */
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const letter = '<html><body><p>Hello {d.firstname} {d.lastname}!</p></body></html>';
const invoice = '<html><body><p>Invoice {d.id}: {d.total:formatC()}</p></body></html>';
const wick = { data: { firstname: 'John', lastname: 'Wick' } };
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const nowhere = hash('a template that nobody added');

/** The client tells no status, but what is wrong, or the status's own words. */
const turned = (answer: Promise<unknown>, words: RegExp): Promise<void> => assert.rejects(answer, { message: words });
const unknown = /not found/i;
const forbidden = /unauthorized|401/i;
/** All that comes of a stream, which may fail instead. */
const read = async (stream: Readable): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(Buffer.from(part as Uint8Array));
  return Buffer.concat(parts).toString();
};
const linked = (place: Place, id: string): Promise<Response> =>
  fetch(`${place.url}/render/${id}`, { headers: { 'carbone-version': '4' } });

/** Guide: carbone.io/api-reference.html, and the client's README. */
export const vendor: Vendor<Carbone> = {
  document: 'carbone/carbone.io.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJFUzUxMiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiI5NyJ9.c2lnbmF0dXJl',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a template from its making to its end': (carbone, s) => ({
      add: async () => {
        s.id = given(await carbone().addTemplatePromise(file('letter.html', letter)), 'template ID');
        assert.match(s.id, /^\w+$/);
      },
      read: async () => assert.equal((await carbone().getTemplatePromise(s.id)).toString(), letter),
      delete: async () => carbone().delTemplatePromise(s.id),
      'it is gone': async () => turned(carbone().getTemplatePromise(s.id), unknown),
      'and not deleted twice': async () => turned(carbone().delTemplatePromise(s.id), unknown),
    }),
    'the same template twice': (carbone, s) => ({
      add: async () => {
        s.id = await carbone().addTemplatePromise(file('letter.html', letter));
      },
      'it has the same ID': async () => assert.equal(await carbone().addTemplatePromise(file('again.html', letter)), s.id),
      'which is long': async () => assert.match(s.id, /^[0-9a-f]{64}$/),
      read: async () => assert.equal((await carbone().getTemplatePromise(s.id)).toString(), letter),
      'there is but one to delete': async () => {
        await carbone().delTemplatePromise(s.id);
        await turned(carbone().getTemplatePromise(s.id), unknown);
      },
    }),
    'several templates': (carbone, s) => ({
      'add two': async () => {
        s.letter = await carbone().addTemplatePromise(file('letter.html', letter));
        s.invoice = await carbone().addTemplatePromise(file('invoice.html', invoice));
        assert.notEqual(s.letter, s.invoice);
      },
      'each has its own content': async () => {
        assert.equal((await carbone().getTemplatePromise(s.letter)).toString(), letter);
        assert.equal((await carbone().getTemplatePromise(s.invoice)).toString(), invoice);
      },
      'delete one': async () => carbone().delTemplatePromise(s.letter),
      'it is gone': async () => turned(carbone().getTemplatePromise(s.letter), unknown),
      'the other stays': async () => assert.equal((await carbone().getTemplatePromise(s.invoice)).toString(), invoice),
    }),
    'a template with a payload': (carbone, s) => ({
      'add it bare': async () => {
        s.bare = await carbone().addTemplatePromise(file('letter.html', letter));
      },
      'with a payload it is another': async () => {
        s.own = await carbone().addTemplatePromise(file('letter.html', letter), 'user-7');
        assert.notEqual(s.own, s.bare);
      },
      'of the same content': async () => assert.equal((await carbone().getTemplatePromise(s.own)).toString(), letter),
      'delete the one': async () => carbone().delTemplatePromise(s.own),
      'the bare one stays': async () => assert.equal((await carbone().getTemplatePromise(s.bare)).toString(), letter),
    }),
    'a template of what is in memory': (carbone, s) => ({
      add: async () => {
        s.id = await carbone().addTemplatePromise(Buffer.from(letter));
      },
      read: async () => assert.equal((await carbone().getTemplatePromise(s.id)).toString(), letter),
      'the same as of a file': async () => assert.equal(await carbone().addTemplatePromise(file('letter.html', letter)), s.id),
      'a report of it at once': async () =>
        assert.ok((await carbone().renderPromise(Buffer.from(letter), { ...wick, convertTo: 'pdf' })).content.length > 0),
    }),
    'a report of a template': (carbone, s) => ({
      'add a template': async () => {
        s.id = await carbone().addTemplatePromise(file('letter.html', letter));
      },
      render: async () => {
        const { content, filename } = await carbone().renderPromise(s.id, { ...wick, convertTo: 'pdf' });
        assert.ok(Buffer.isBuffer(content) && content.length > 0, 'no content');
        assert.match(given(filename, 'file name'), /\.pdf$/);
      },
      'render again': async () =>
        assert.ok((await carbone().renderPromise(s.id, { data: { firstname: 'Helen', lastname: 'Wick' } })).content.length > 0),
      'the template stays': async () => assert.equal((await carbone().getTemplatePromise(s.id)).toString(), letter),
      'not of one that is not there': async () => turned(carbone().renderPromise(nowhere, wick), unknown),
      'nor of one that was deleted': async () => {
        await carbone().delTemplatePromise(s.id);
        await turned(carbone().renderPromise(s.id, wick), unknown);
      },
    }),
    'a report of a file': (carbone) => ({
      'it is not there yet': async () => turned(carbone().getTemplatePromise(hash(invoice)), unknown),
      'render the file, which is added by that': async () => {
        const body = { data: { id: 42, total: 1500 }, convertTo: 'pdf' };
        assert.ok((await carbone().renderPromise(file('invoice.html', invoice), body)).content.length > 0);
      },
      'it is there': async () => assert.equal((await carbone().getTemplatePromise(hash(invoice))).toString(), invoice),
      'render it again': async () => {
        const body = { data: { id: 43, total: 20 }, convertTo: 'pdf' };
        assert.ok((await carbone().renderPromise(file('invoice.html', invoice), body)).content.length > 0);
      },
      'delete it': async () => carbone().delTemplatePromise(hash(invoice)),
      'it is gone': async () => turned(carbone().getTemplatePromise(hash(invoice)), unknown),
    }),
    'what is in a report': (carbone) => ({
      'the data': async () => {
        const { content } = await carbone().renderPromise(file('letter.html', letter), wick);
        assert.match(content.toString(), /Hello John Wick!/);
      },
      'those of another person': async () => {
        const body = { data: { firstname: 'Helen', lastname: 'Wick' } };
        assert.match((await carbone().renderPromise(file('letter.html', letter), body)).content.toString(), /Hello Helen Wick!/);
      },
      'a PDF, if asked': async () => {
        const { content } = await carbone().renderPromise(file('letter.html', letter), { ...wick, convertTo: 'pdf' });
        assert.equal(content.slice(0, 4).toString(), '%PDF');
      },
      'nothing of the template': async () => {
        const { content } = await carbone().renderPromise(file('letter.html', letter), wick);
        assert.ok(!content.toString().includes('{d.'), 'a tag is left');
      },
    }),
    'the name of a report': (carbone) => ({
      'report, unless asked': async () => {
        const { filename } = await carbone().renderPromise(file('letter.html', letter), { ...wick, convertTo: 'pdf' });
        assert.equal(filename, 'report.pdf');
      },
      'as asked': async () => {
        const body = { ...wick, convertTo: 'pdf', reportName: 'welcome' };
        assert.equal((await carbone().renderPromise(file('letter.html', letter), body)).filename, 'welcome.pdf');
      },
      'of the data': async () => {
        const body = { ...wick, convertTo: 'pdf', reportName: 'letter-{d.lastname}' };
        assert.equal((await carbone().renderPromise(file('letter.html', letter), body)).filename, 'letter-Wick.pdf');
      },
      'of another kind': async () => {
        const body = { ...wick, convertTo: 'txt', reportName: 'welcome' };
        assert.equal((await carbone().renderPromise(file('letter.html', letter), body)).filename, 'welcome.txt');
      },
    }),
    'a link to a report': (carbone, s, _another, place) => ({
      render: async () => {
        const sdk = carbone({ isReturningBuffer: false });
        const { content, filename } = await sdk.renderPromise(file('letter.html', letter), { ...wick, convertTo: 'pdf' });
        s.id = given(filename, 'render ID');
        assert.equal(content, `https://api.carbone.io/render/${s.id}`);
      },
      'it leads to the report': async () => {
        const answer = await linked(place, s.id);
        assert.equal(answer.status, 200);
        assert.ok((await answer.arrayBuffer()).byteLength > 0, 'no content');
      },
      'but once': async () => assert.equal((await linked(place, s.id)).status, 404),
      'another report has another': async () => {
        const sdk = carbone({ isReturningBuffer: false });
        assert.notEqual((await sdk.renderPromise(file('letter.html', letter), wick)).filename, s.id);
      },
      'none that is not there': async () => assert.equal((await linked(place, 'MTAuMjAuMTEuMTEgICAgYW5vdGhlcg.pdf')).status, 404),
    }),
    'how a report is written': (carbone) => ({
      'for a language': async () => {
        const body = { data: { id: 1, total: 1500.5 }, convertTo: 'pdf', lang: 'fr-fr', timezone: 'Europe/Paris' };
        assert.ok((await carbone().renderPromise(file('invoice.html', invoice), body)).content.length > 0);
      },
      'in a currency': async () => {
        const rates = { currencySource: 'EUR', currencyTarget: 'USD', currencyRates: { EUR: 1, USD: 1.2 } };
        const body = { data: { id: 1, total: 1500 }, ...rates };
        assert.match((await carbone().renderPromise(file('invoice.html', invoice), body)).content.toString(), /1,800/);
      },
      'with more data': async () => {
        const more = file('more.html', '<html><body>{d.name} of {c.company}</body></html>');
        const body = { data: { name: 'Ada' }, complement: { company: 'Acme' } };
        assert.match((await carbone().renderPromise(more, body)).content.toString(), /Ada of Acme/);
      },
      'with words of its own': async () => {
        const words = file('words.html', '<html><body>{t(meeting)}</body></html>');
        const body = { data: {}, lang: 'fr-fr', translations: { 'fr-fr': { meeting: 'rendez-vous' } } };
        assert.match((await carbone().renderPromise(words, body)).content.toString(), /rendez-vous/);
      },
    }),
    'as streams': (carbone, s) => ({
      'add a template': async () => {
        s.id = await carbone().addTemplatePromise(file('letter.html', letter));
      },
      'read it': async () => assert.equal(await read(carbone().getTemplate(s.id)), letter),
      'with its name': async () => {
        const sdk = carbone();
        const stream = sdk.getTemplate(s.id);
        await read(stream);
        assert.equal(sdk.getFilename(stream), `${s.id}.html`);
      },
      'a report': async () => assert.ok((await read(carbone().render(s.id, { ...wick, convertTo: 'pdf' }))).length > 0),
      'not of one that is not there': async () => turned(read(carbone().getTemplate(nowhere)), unknown),
    }),
    'what is wrong': (carbone, s) => ({
      'add a template': async () => {
        s.id = await carbone().addTemplatePromise(file('letter.html', letter));
      },
      'no report without data': async () =>
        turned(carbone().renderPromise(file('letter.html', letter), {}), /data|unprocessable/i),
      'no template that is none': async () =>
        turned(carbone().addTemplatePromise(file('tool.exe', 'MZ\u0090\u0000')), /format|unsupported media type/i),
      'the template stays': async () => assert.equal((await carbone().getTemplatePromise(s.id)).toString(), letter),
      'and is rendered': async () =>
        assert.ok((await carbone().renderPromise(file('letter.html', letter), wick)).content.length > 0),
    }),
    'told when it is done': (carbone) => ({
      'render with an address': async () => {
        const headers = { 'carbone-webhook-url': 'https://hooks.example.com/carbone' };
        const { content } = await carbone().renderPromise(file('letter.html', letter), wick, { headers });
        assert.match(content.toString(), /will be sent to your webhook URL/);
      },
      'with headers of its own': async () => {
        const headers = {
          'carbone-webhook-url': 'https://hooks.example.com/carbone',
          'carbone-webhook-header-authorization': 'my-secret',
        };
        const { content } = await carbone().renderPromise(file('letter.html', letter), wick, { headers });
        assert.match(content.toString(), /will be sent to your webhook URL/);
      },
      'the template is there by now': async () =>
        assert.equal((await carbone().getTemplatePromise(hash(letter))).toString(), letter),
      'a report without it': async () =>
        assert.ok(Buffer.isBuffer((await carbone().renderPromise(file('letter.html', letter), wick)).content), 'no content'),
    }),
    'a key that is refused': (carbone, s, another) => ({
      'add a template': async () => {
        s.id = await carbone().addTemplatePromise(file('letter.html', letter));
      },
      'another key adds none': async () =>
        turned(another('not-a-key')().addTemplatePromise(file('invoice.html', invoice)), forbidden),
      'reads none': async () => turned(another('not-a-key')().getTemplatePromise(s.id), forbidden),
      'renders none': async () => turned(another('not-a-key')().renderPromise(file('letter.html', letter), wick), forbidden),
      'deletes none': async () => turned(another('not-a-key')().delTemplatePromise(s.id), forbidden),
      'it stays': async () => assert.equal((await carbone().getTemplatePromise(s.id)).toString(), letter),
    }),
  },
};
