import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Group } from './served-verdicts.ts';

/** One file of the JSON-Schema-Test-Suite. */
export interface SuiteFile {
  readonly name: string;
  readonly groups: readonly Group[];
}

/** What the suite requires of draft 2020-12, as it was in November 2026; the optional files and those of other drafts are left out. */
export function keptSuite(): SuiteFile[] {
  const kept = gunzipSync(readFileSync(join(import.meta.dirname, '../fixtures/json-schema-suite/draft2020-12.json.gz')));
  // The file is this project's own: by name, the text of each file of the suite.
  const texts = JSON.parse(kept.toString('utf8')) as Readonly<Record<string, string>>;
  return Object.entries(texts).map(([name, text]) => ({ name, groups: groupsIn(text) }));
}

/** Reads `tests/draft2020-12` of the suite, in the folder of its repository; what is optional is among it. */
export function officialSuite(folder: string): SuiteFile[] {
  const tests = join(folder, 'tests', 'draft2020-12');
  return globSync('**/*.json', { cwd: tests })
    .toSorted()
    .map((name) => ({ name, groups: groupsIn(readFileSync(join(tests, name), 'utf8')) }));
}

/** The suite's own schema says that a file is a list of groups. Integers of any size are what they are. */
function groupsIn(text: string): readonly Group[] {
  const exact = (_: string, value: unknown, { source }: { readonly source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '') ? BigInt(source ?? 0) : value;
  // The type of a reviver does not know yet that it is told the source (ECMA-262, JSON.parse source text access).
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown) as readonly Group[];
}
