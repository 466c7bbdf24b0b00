import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Group } from './served-verdicts.ts';

/** The cases of one keyword, written from a section of the specification. */
export interface Keyword {
  readonly keyword: string;
  /** `Core` is JSON Schema Core 2020-12, `Validation` is JSON Schema Validation 2020-12. */
  readonly section: string;
  readonly groups: readonly Group[];
}

const folder = join(import.meta.dirname, '../fixtures/json-schema');

/** Our own cases, in the form of the official suite. Integers of any size are what they are. */
export function ownCases(): Keyword[] {
  return readdirSync(folder).flatMap((file) => {
    // The files are this project's own.
    const written = parse(readFileSync(join(folder, file), 'utf8'), { intAsBigInt: true }) as readonly Written[];
    return written.map(({ keyword, section, cases }) => ({ keyword, section, groups: cases.map(groupOf) }));
  });
}

interface Written {
  readonly keyword: string;
  readonly section: string;
  readonly cases: readonly Case[];
}

type Case = readonly [says: string, schema: unknown, takes: readonly unknown[], refuses: readonly unknown[]];

function groupOf([description, schema, takes, refuses]: Case): Group {
  const test = (data: unknown, valid: boolean) => ({ description: valid ? 'is taken' : 'is refused', data, valid });
  return { description, schema, tests: [...takes.map((data) => test(data, true)), ...refuses.map((data) => test(data, false))] };
}
