import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { keptSuite, officialSuite } from './json-schema/official-suite.ts';
import { ownCases } from './json-schema/own-cases.ts';
import { type Group, type Verdict, verdictsOf } from './json-schema/served-verdicts.ts';
import { type Unmet, unmet } from './json-schema/unmet.ts';
import { isLong } from './long.ts';

/**
 * What requests are held to is JSON Schema 2020-12: values are sent to a service whose endpoint takes a schema as its body. The
 * cases of our own are written from the specification, and the official ones are kept beside them;
 * `NINEFOLD_JSON_SCHEMA_SUITE` names a folder with others.
 */
const page = readFileSync(join(import.meta.dirname, '../docs/json-schema.md'), 'utf8');
const found: { readonly says: string; readonly reason: string }[] = [];

suite('requests are held to JSON Schema as its specification says', () => {
  for (const { keyword, section, groups } of ownCases()) {
    test(`${keyword} (${section})`, async () => {
      for (const group of groups) {
        for (const { reason } of await strangeIn(group)) found.push({ says: `${keyword}: ${group.description}`, reason });
      }
    });
  }

  test('what fares otherwise is listed in docs/json-schema.md, each with its reason', () => {
    const listed = [...page.matchAll(/^\| \*(.+)\* \| (.+) \|$/gm)].map(([, name, cases = '']) => ({
      name,
      cases: [...cases.matchAll(/“([^”]+)”/g)].map(([, says]) => says),
    }));
    const expected = unmet.map(({ name }) => ({
      name,
      cases: [...new Set(found.filter(({ reason }) => reason === name).map(({ says }) => says))],
    }));
    assert.deepEqual(listed, expected);
    assert.deepEqual(
      expected.filter(({ cases }) => cases.length === 0),
      [],
      'a reason is shown by no case',
    );
  });
});

const folder = process.env.NINEFOLD_JSON_SCHEMA_SUITE;
const official = folder === undefined ? keptSuite() : officialSuite(folder);
/** What is put together by addresses, and what is counted as evaluated; the rest takes half a minute. */
const soon = /^(?:anchor|default|defs|dynamicRef|id|ref|refRemote|unevaluatedItems|vocabulary)\.json$/;

suite('requests are held to the official suite', () => {
  const isWhole = folder !== undefined || isLong;
  const sum = { met: 0, others: new Map<string, number>() };
  for (const { name, groups } of official.filter((file) => isWhole || soon.test(file.name))) {
    const isOptional = name.startsWith('optional/');
    test(name, { todo: isOptional }, async (context) => {
      let met = 0;
      const others = new Map<string, number>();
      const count = (reason: string, to: Map<string, number>) => to.set(reason, (to.get(reason) ?? 0) + 1);
      for (const group of groups) {
        const strange = await strangeIn(group);
        met += group.tests.length - strange.length;
        for (const { reason } of strange) count(reason, others);
        if (!isOptional) for (const { reason } of strange) count(reason, sum.others);
      }
      if (!isOptional) sum.met += met;
      context.diagnostic(`${met} met${told(others)}`);
    });
  }

  test('is met but where a reason says why not', (context) => {
    const differing = [...sum.others.values()].reduce((whole, one) => whole + one, 0);
    context.diagnostic(`${sum.met} of ${sum.met + differing} required values${told(sum.others)}`);
    const known = [...remaining].filter(([reason, most]) => (sum.others.get(reason) ?? 0) <= most).map(([reason]) => reason);
    if (folder === undefined)
      assert.deepEqual(
        [...sum.others.keys()].filter((reason) => !known.includes(reason)),
        [],
      );
  });
});

/** How many of the values that are kept here fare otherwise, by reason; it only becomes less. */
const remaining: ReadonlyMap<string, number> = new Map([
  ['no other document is fetched', 48],
  ['there is one dialect', 5],
  ['formats are asserted', 19],
  ['a default fits its schema', 7],
  ['bounds leave something between them', 10],
  ['contains evaluates every item', 2],
]);

function told(others: ReadonlyMap<string, number>): string {
  return [...others].map(([reason, count]) => `, ${count}: ${reason}`).join('');
}

/** The values of a group that fare otherwise than it says, each with the reason; one that there is no reason for is a fault. */
async function strangeIn(group: Group): Promise<{ readonly reason: string }[]> {
  const verdicts = await verdictsOf(group);
  return group.tests.flatMap(({ description, data, valid }, index) => {
    // As many verdicts come back as there were values.
    const verdict = verdicts[index] as Verdict;
    if (verdict === (valid ? 'taken' : 'refused')) return [];
    const reason = unmet.find((one: Unmet) => one.explains(verdict, group.schema, valid));
    assert.ok(reason, `${group.description}: ${description}: ${show(data)} is ${verdict}`);
    return [{ reason: reason.name }];
  });
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner)) ?? '';
}
