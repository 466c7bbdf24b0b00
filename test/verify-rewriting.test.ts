import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import type { JsonMap } from '../src/document/document.ts';
import { check, type Document, parseDocument, readDocument } from '../src/index.ts';
import { isLong } from './long.ts';
import { textOf } from './strange/hold.ts';
import { plainTree, rewritings } from './strange/rewriting.ts';
import { notes } from './verify/notes.ts';
import { openStand } from './verify/stand.ts';
import { workshop } from './verify/workshop.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-rewriting-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const own = { notes, workshop };
const known = new Map<string, Promise<Verdicts>>();

for (const [name, text] of Object.entries(own)) {
  const document = plainTree(parseDocument(text, `${name}.yaml`));
  const whole = textOf(document);
  const ways: { readonly way: string; readonly given: string }[] = [
    ...rewritings.map((one) => ({ way: one.name, given: textOf(one.rewrite(document)) })),
    { way: 'with requests and responses stated', given: textOf(rewrittenBy(document, ['requests', 'responses'])) },
    { way: 'in a file for each part', given: splitOverFiles(name, document) },
  ];
  for (const { way, given } of ways) {
    // One way is taken at once, which says the most otherwise; the long run takes all of them.
    if (!isLong && (name !== 'notes' || way !== 'with requests and responses stated')) continue;
    if (way !== 'as JSON' && given === whole) continue;
    test(`${name}, written ${way}, has the verdicts that it has otherwise`, async () => {
      assertSound(given.includes('\n') ? parseDocument(given, 'rewritten.json') : await readDocument(given));
      const before = known.get(name) ?? verdictsOf(whole, 3);
      known.set(name, before);
      const [one, other] = await alikeSeen([whole, await before], [given, await verdictsOf(given, 3)]);
      // What is stated otherwise may be said to be so by other facts, but none of those that both have may change.
      for (const [fact, verdict] of one) if (other.has(fact)) assert.equal(`${fact}: ${other.get(fact)}`, `${fact}: ${verdict}`);
    });
  }
}

function rewrittenBy(document: JsonMap, words: readonly string[]): JsonMap {
  const meant = rewritings.filter(({ name }) => words.some((word) => name.includes(word)));
  assert.equal(meant.length, words.length);
  return meant.reduce((rewritten, { rewrite }) => rewrite(rewritten), document);
}

/** Writes each part into a file of its own; gives the path of the one that names them. */
function splitOverFiles(name: string, { title = '', ...parts }: JsonMap): string {
  for (const [part, stated] of Object.entries(parts))
    writeFileSync(join(folder, `${name}-${part}.json`), textOf({ [part]: stated }));
  const path = join(folder, `${name}.json`);
  writeFileSync(path, textOf({ title, include: Object.keys(parts).map((part) => `${name}-${part}.json`) }));
  return path;
}

function assertSound(document: Document): void {
  const errors = check(document).findings.filter(({ severity }) => severity === 'error');
  assert.deepEqual(
    errors.map(({ message }) => message),
    [],
  );
}

type Verdicts = ReadonlyMap<string, string>;
type Tried = readonly [given: string, verdicts: Verdicts];

/** What was seen of a fact that is kept, from nothing on; what is broken or open is so, however much was seen. */
const seen: readonly string[] = ['not testable', 'partly', 'held'];

/**
 * The verdicts of two documents, where a fact of which one run saw less than the other is asked for again under further seeds: what rows a run
 * comes upon is left to chance, but whether any run comes upon what a fact needs is not.
 */
async function alikeSeen([given, first]: Tried, [otherwise, second]: Tried): Promise<readonly [Verdicts, Verdicts]> {
  let [one, other]: readonly [Verdicts, Verdicts] = [first, second];
  for (const seed of [4, 5, 6, 7]) {
    const [ofOne, ofOther] = [lessSeen(one, other), lessSeen(other, one)];
    if (ofOne.length === 0 && ofOther.length === 0) break;
    if (ofOne.length > 0) one = withMore(one, ofOne, await verdictsOf(given, seed));
    if (ofOther.length > 0) other = withMore(other, ofOther, await verdictsOf(otherwise, seed));
  }
  return [one, other];
}

/** The facts that are kept here and there, but of which less was seen here. */
function lessSeen(here: Verdicts, there: Verdicts): string[] {
  return [...here].filter(([fact, verdict]) => isMore(there.get(fact), verdict)).map(([fact]) => fact);
}

function isMore(verdict: string | undefined, than: string): boolean {
  return verdict !== undefined && seen.includes(than) && seen.indexOf(verdict) > seen.indexOf(than);
}

function withMore(verdicts: Verdicts, facts: readonly string[], again: Verdicts): Verdicts {
  const more = facts.flatMap((fact): [string, string][] => {
    const [before, now] = [verdicts.get(fact), again.get(fact)];
    // What is broken under any seed is broken.
    return before !== undefined && now !== undefined && (!seen.includes(now) || isMore(now, before)) ? [[fact, now]] : [];
  });
  return new Map([...verdicts, ...more]);
}

/** The verdict of each fact of our own service, under one seed. */
async function verdictsOf(given: string, seed: number): Promise<Verdicts> {
  const stand = await openStand(given.includes('\n') ? given : relative(join(import.meta.dirname, '..'), given));
  try {
    const report = await stand.verify({ seed, timeMs: 300_000 });
    return new Map(report.facts.map(({ kind, subject, verdict }) => [`${kind}: ${subject}`, verdict]));
  } finally {
    await stand.close();
  }
}
