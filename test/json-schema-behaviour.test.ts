import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { officialSuite } from './json-schema/official-suite.ts';
import { ownCases } from './json-schema/own-cases.ts';
import { type Group, type Verdict, verdictsOf } from './json-schema/served-verdicts.ts';
import { type Unmet, unmet } from './json-schema/unmet.ts';

/**
 * What requests are held to is JSON Schema 2020-12: values are sent to a service whose endpoint takes a schema as its body. The
 * cases of our own are written from the specification; `NINEFOLD_JSON_SCHEMA_SUITE` names the folder of the official ones.
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

suite('requests are held to the official suite', {
  skip: folder === undefined && 'NINEFOLD_JSON_SCHEMA_SUITE names no folder',
}, () => {
  for (const { name, groups } of folder === undefined ? [] : officialSuite(folder)) {
    test(name, { todo: name.startsWith('optional/') }, async (context) => {
      let met = 0;
      const others = new Map<string, number>();
      for (const group of groups) {
        const strange = await strangeIn(group);
        met += group.tests.length - strange.length;
        for (const { reason } of strange) others.set(reason, (others.get(reason) ?? 0) + 1);
      }
      const told = [...others].map(([reason, count]) => `, ${count}: ${reason}`).join('');
      context.diagnostic(`${met} met${told}`);
    });
  }
});

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
