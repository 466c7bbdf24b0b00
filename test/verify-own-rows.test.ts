import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ServeOptions } from '../src/index.ts';
import { command } from './verify/command.ts';
import { notes } from './verify/notes.ts';
import { openStand, type Stand } from './verify/stand.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-own-rows-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Notes of a service that has no operation which makes a book or a note. */
const without = notes
  .replace('  POST /books: { does: create book }\n', '')
  .replace('  DELETE /books/{id}: { does: delete book }\n', '')
  .replace(/ {2}POST \/notes: .*\n/, '');

type Row = Readonly<Record<string, unknown>> & { readonly id: string };

async function post(stand: Stand, path: string, body: object): Promise<Row> {
  const headers = { 'Content-Type': 'application/json' };
  const made = await fetch(`${stand.url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  // The cast holds: what is created is answered with its identifier.
  return (await made.json()) as Row;
}

async function read(stand: Stand, { id }: Row): Promise<Row> {
  // The cast holds: it is the row that was made.
  return (await (await fetch(`${stand.url}/v1/notes/${id}`)).json()) as Row;
}

/** A book and a note, as the service itself would have made them. */
async function madeBefore(): Promise<{ readonly book: Row; readonly note: Row }> {
  const stand = await openStand(notes);
  try {
    const book = await post(stand, '/books', { name: 'Given' });
    const note = await post(stand, '/notes', { book: book.id, text: 'mine', kind: 'task', stars: 3 });
    return { book, note };
  } finally {
    await stand.close();
  }
}

async function withRows(use: (stand: Stand, given: Row, words: readonly string[]) => Promise<void>): Promise<void> {
  const { book, note } = await madeBefore();
  const stand = await openStand(without, { serve: { rows: { book: [book], note: [note] } as ServeOptions['rows'] & object } });
  try {
    const [document, rows] = [join(folder, 'notes.yaml'), join(folder, 'rows.json')];
    writeFileSync(document, without);
    const given = await read(stand, note);
    writeFileSync(rows, JSON.stringify({ book: [book], note: [given] }));
    await use(stand, given, ['verify', document, '--url', stand.url, '--seed', '1', '--seed-data', rows, '--json']);
  } finally {
    await stand.close();
  }
}

const told = ({
  breaches,
}: {
  readonly breaches: readonly { kind: string; subject: string; promised: string; seen: string }[];
}) => breaches.map(({ kind, subject, promised, seen }) => `${kind}:${subject}: ${promised}, ${seen}`);

test('rows that somebody gave stay as they are, to the last field, and nothing of that is a breach', () =>
  withRows(async (stand, given, words) => {
    const { code, out } = await command(words);
    const report = JSON.parse(out);
    assert.deepEqual(told(report), []);
    assert.equal(code, 0);
    assert.deepEqual(await read(stand, given), given);
    const whys: string[] = report.facts.map(({ why }: { why?: string }) => why ?? '');
    assert.ok(whys.some((why) => why.includes('only changed with --may-change note')));
    assert.ok(
      report.facts.some(({ kind, verdict }: { kind: string; verdict: string }) => kind === 'types' && verdict === 'held'),
    );
  }));

test('with --may-change they are changed and put back, and what the run did itself is no breach', () =>
  withRows(async (stand, given, words) => {
    const { out } = await command([...words, '--may-change', 'note']);
    const report = JSON.parse(out);
    assert.deepEqual(told(report), []);
    const now = await read(stand, given);
    for (const name of ['book', 'text', 'stars', 'kind', 'until']) assert.deepEqual(now[name], given[name], name);
    const { status } = now;
    if (status !== given.status)
      assert.ok(
        report.leftovers.some(
          ({ resource, why }: { resource: string; why: string }) => resource === 'note' && /not as it was/.test(why),
        ),
      );
    const whys: string[] = report.facts.map(({ why }: { why?: string }) => why ?? '');
    assert.ok(!whys.some((why) => why.includes('--may-change note')));
  }));

test('a resource that there is not cannot be allowed to change, nor anything where nothing is sent that changes', () =>
  withRows(async (_stand, _given, words) => {
    const strange = await command([...words, '--may-change', 'letter']);
    assert.equal(strange.code, 2);
    assert.match(strange.err, /--may-change letter: the document has no such resource/);
    const strict = await command([...words, '--may-change', 'note', '--read-only']);
    assert.equal(strict.code, 2);
  }));
