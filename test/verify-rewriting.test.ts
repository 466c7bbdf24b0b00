import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonMap } from '../src/document/document.ts';
import { check, parseDocument } from '../src/index.ts';
import { isLong } from './long.ts';
import { textOf } from './strange/hold.ts';
import { plainTree, rewritings } from './strange/rewriting.ts';
import { notes } from './verify/notes.ts';
import { openStand } from './verify/stand.ts';

const own = [{ name: 'notes', document: plainTree(parseDocument(notes, 'notes.yaml')) }];
/** What is taken at once; the long run takes every way. */
const atOnce: readonly string[] = ['with requests stated', 'with responses stated'];
const known = new Map<JsonMap, Promise<Map<string, string>>>();

for (const { name, document } of own)
  for (const rewriting of rewritings.filter((one) => isLong || atOnce.includes(one.name))) {
    const rewritten = rewriting.rewrite(document);
    if (rewriting.name !== 'as JSON' && textOf(rewritten) === textOf(document)) continue;
    test(`${name}, written ${rewriting.name}, has the verdicts that it has otherwise`, async () => {
      assertSound(rewritten);
      const before = known.get(document) ?? verdictsOf(document);
      known.set(document, before);
      const [one, other] = [await before, await verdictsOf(rewritten)];
      // What is stated otherwise may be said to be so by other facts, but none of those that both have may change.
      for (const [fact, verdict] of one) if (other.has(fact)) assert.equal(`${fact}: ${other.get(fact)}`, `${fact}: ${verdict}`);
    });
  }

function assertSound(document: JsonMap): void {
  const { findings } = check(parseDocument(textOf(document), 'rewritten.json'));
  assert.deepEqual(
    findings.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  );
}

/** The verdict of each fact of our own service, under one seed. */
async function verdictsOf(document: JsonMap): Promise<Map<string, string>> {
  const stand = await openStand(textOf(document));
  try {
    const report = await stand.verify({ seed: 3, timeMs: 300_000 });
    return new Map(report.facts.map(({ kind, subject, verdict }) => [`${kind}: ${subject}`, verdict]));
  } finally {
    await stand.close();
  }
}
