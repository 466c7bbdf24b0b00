import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command } from './verify/command.ts';
import { notes } from './verify/notes.ts';
import { openStand } from './verify/stand.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-given-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Notes of a service that has no operation which makes a book. */
const withoutBooks = notes
  .replace('  POST /books: { does: create book }\n', '')
  .replace('  DELETE /books/{id}: { does: delete book }\n', '');

async function withBook(use: (url: string, document: string, book: { readonly id: string }) => Promise<void>): Promise<void> {
  const document = join(folder, 'notes.yaml');
  writeFileSync(document, withoutBooks);
  const stand = await openStand(withoutBooks, { served: notes });
  try {
    const headers = { 'Content-Type': 'application/json' };
    const made = await fetch(`${stand.url}/v1/books`, { method: 'POST', headers, body: JSON.stringify({ name: 'Given' }) });
    // The cast holds: what is created is answered with its identifier.
    await use(stand.url, document, (await made.json()) as { readonly id: string });
  } finally {
    await stand.close();
  }
}

test('what cannot be made is taken from the rows that --seed-data gives', () =>
  withBook(async (url, document, book) => {
    const words = ['verify', document, '--url', url, '--seed', '1', '--only', 'resources', '--json'];
    const verdictOf = (out: string): { readonly verdict: string; readonly why?: string } =>
      JSON.parse(out).facts.find(
        (fact: { kind: string; subject: string }) => fact.kind === 'types' && fact.subject === 'note.text',
      );
    const without = await command(words);
    assert.equal(verdictOf(without.out).verdict, 'not testable', without.err);
    const rows = join(folder, 'rows.yaml');
    writeFileSync(rows, `book:\n  - { id: ${book.id}, name: Given }\n`);
    const given = await command([...words, '--seed-data', rows]);
    assert.equal(given.code, 0, given.out);
    assert.equal(verdictOf(given.out).verdict, 'partly', verdictOf(given.out).why);
  }));

test('a host that is not known to be this machine is asked once it is named, and only then', () =>
  withBook(async (url, document) => {
    // No name of this machine's own, though it leads here.
    const other = url.replace('127.0.0.1', '0.0.0.0');
    const words = ['verify', document, '--url', other, '--seed', '1', '--only', 'purpose'];
    const refused = await command(words);
    assert.equal(refused.code, 2);
    assert.match(refused.err, /--yes-this-host 0\.0\.0\.0/);
    const wrong = await command([...words, '--yes-this-host', 'another.example']);
    assert.equal(wrong.code, 2);
    const named = await command([...words, '--yes-this-host', '0.0.0.0']);
    assert.equal(named.code, 0, named.err);
    assert.match(named.out, /nothing broken/);
  }));
