import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { VerifyReport } from '../src/index.ts';
import { command } from './verify/command.ts';
import { notes } from './verify/notes.ts';
import { openStand } from './verify/stand.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-skips-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** What is said of a service that fills in another default, where these are skipped. */
async function skipping(text: string): Promise<{ code: number; err: string; out: string; report: () => VerifyReport }> {
  const stand = await openStand(notes, { served: notes.replace('default: idea', 'default: task') });
  const [document, skips] = [join(folder, 'notes.yaml'), join(folder, 'skips.yaml')];
  writeFileSync(document, notes);
  writeFileSync(skips, text);
  try {
    const words = ['verify', document, '--url', stand.url, '--seed', '1', '--only', 'allowed values:note.kind', '--skip', skips];
    const plain = await command([...words, '--json']);
    return { ...plain, report: () => JSON.parse(plain.out) };
  } finally {
    await stand.close();
  }
}

const kind = ({ facts }: VerifyReport) => facts.find((fact) => fact.kind === 'allowed values' && fact.subject === 'note.kind');

test('a fact that is skipped is neither broken nor held, and the report says why and until when', async () => {
  const { code, report } = await skipping('- { fact: "allowed values:note.kind", reason: ticket 12, until: 2999-12-31 }');
  assert.equal(code, 0);
  assert.equal(kind(report())?.verdict, 'not testable');
  assert.equal(kind(report())?.why, 'skipped until 2999-12-31: ticket 12');
  assert.deepEqual(report().skips, [{ name: 'allowed values:note.kind', reason: 'ticket 12', until: '2999-12-31' }]);
});

test('a trial that is skipped shows nothing of the facts that it is about', async () => {
  const { report } = await skipping('- { trial: resources/stored, reason: slow, until: 2999-12-31 }');
  assert.ok(kind(report())?.verdict !== 'held');
  const whys = report().facts.flatMap(({ why }) => why ?? []);
  assert.match(whys.join('\n'), /skipped until 2999-12-31: slow/);
});

test('a skip that is over is told, and what it named is looked at again', async () => {
  const { code, report } = await skipping('- { fact: "allowed values:note.kind", reason: ticket 12, until: 2020-01-31 }');
  assert.equal(code, 1);
  assert.equal(kind(report())?.verdict, 'broken');
  assert.ok(report().notes.some((note) => /note.kind was skipped until 2020-01-31 \(ticket 12\)/.test(note)));
  assert.deepEqual(report().skips, []);
});

test('a skip that names nothing, or lacks its reason or its end, is refused before anything is sent', async () => {
  const nameless = await skipping('- { fact: "allowed values:note.kinds", reason: x, until: 2999-12-31 }');
  assert.equal(nameless.code, 2);
  assert.match(nameless.err, /no fact allowed values:note\.kinds\. Did you mean allowed values:note\.kind\?/);
  for (const entry of ['{ fact: x, until: 2999-12-31 }', '{ trial: x, reason: y }', '{ reason: y, until: 2999-12-31 }', 'x']) {
    const refused = await skipping(`- ${entry}`);
    assert.equal(refused.code, 2);
    assert.match(refused.err, /skips\.yaml: entry 1/);
  }
});
