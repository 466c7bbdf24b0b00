import type { Waiver } from '../check/waivers.ts';
import type { Skip } from '../verify/options.ts';
import { readDataFile } from './data-files.ts';
import { Misuse } from './verb.ts';

/**
 * Reads what is to be left out for a time: a list of `{ fact: types:note.text, reason: …, until: 2026-12-31 }`, or with `trial` for `fact`,
 * in YAML or JSON. Whether the document has such a fact is for verifying to say.
 * @throws {Misuse} where the file is no such list
 */
export async function readSkips(path: string): Promise<Skip[]> {
  const example = 'write a list of `{ fact: "types:note.text", reason: known, until: 2026-12-31 }`, or with `trial`.';
  return (await readEntries(path, ['fact', 'trial', 'reason', 'until'], example)).map(({ name, text, wrong }) => {
    const [fact, trial, reason, until] = [text('fact'), text('trial'), text('reason'), text('until')];
    if ((fact === undefined) === (trial === undefined)) throw wrong(`${name} names no fact, and no trial, or both`);
    if (reason === undefined) throw wrong(`${name} has no reason`);
    if (until === undefined || !isDay(until)) throw wrong(`${name} does not say until which day`);
    return { ...(fact !== undefined && { fact }), ...(trial !== undefined && { trial }), reason, until };
  });
}

/**
 * Reads what is known and meant: a list of `{ finding: security/no-rate, at: /limits, reason: …, until: 2026-12-31 }` in YAML or JSON, of
 * which `at` and `until` may be left out.
 * @throws {Misuse} where the file is no such list
 */
export async function readWaivers(path: string): Promise<Waiver[]> {
  const example = 'write a list of `{ finding: security/no-rate, reason: behind a gateway, until: 2026-12-31 }`.';
  return (await readEntries(path, ['finding', 'at', 'reason', 'until'], example)).map(({ name, has, text, wrong }) => {
    const [finding, at, reason, until] = [text('finding'), text('at'), text('reason'), text('until')];
    if (finding === undefined) throw wrong(`${name} names no finding`);
    if (reason === undefined) throw wrong(`${name} has no reason`);
    if (has('until') && (until === undefined || !isDay(until))) throw wrong(`the \`until\` of ${name} is no day`);
    return { finding, reason, ...(at !== undefined && { at }), ...(until !== undefined && { until }) };
  });
}

/** One entry of such a list. */
interface Entry {
  /** `entry 3`. */
  readonly name: string;
  has(word: string): boolean;
  /** What stands under a word, where it is a text. */
  text(word: string): string | undefined;
  wrong(why: string): Misuse;
}

/** The entries of a list that know these words. @throws {Misuse} */
async function readEntries(path: string, words: readonly string[], example: string): Promise<Entry[]> {
  const wrong = (why: string) => new Misuse(`${path}: ${why}; ${example}`);
  const content = await readDataFile(path);
  if (!Array.isArray(content)) throw wrong('it is no list');
  return content.map((entry: unknown, at) => {
    const given: Readonly<Record<string, unknown>> = typeof entry === 'object' && entry !== null ? { ...entry } : {};
    const name = `entry ${at + 1}`;
    const strange = Object.keys(given).find((word) => !words.includes(word));
    if (strange !== undefined) throw wrong(`${name} has \`${strange}\``);
    return {
      name,
      has: (word) => given[word] !== undefined,
      text: (word) => (typeof given[word] === 'string' && given[word] !== '' ? given[word] : undefined),
      wrong,
    };
  });
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}
