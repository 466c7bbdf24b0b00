import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Skip } from '../../verify/options.ts';
import { Misuse } from '../verb.ts';

/**
 * Reads what is to be left out for a time: a list of `{ fact: types:note.text, reason: …, until: 2026-12-31 }`, or with `trial` for `fact`,
 * in YAML or JSON. Whether the document has such a fact is for verifying to say.
 * @throws {Misuse} where the file is no such list
 */
export async function readSkips(path: string): Promise<Skip[]> {
  let content: unknown;
  try {
    content = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Misuse(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (!Array.isArray(content)) throw wrong(path, 'it is no list');
  return content.map((entry: unknown, at) => skipOf(path, entry, at + 1));
}

function skipOf(path: string, entry: unknown, number: number): Skip {
  const given: Readonly<Record<string, unknown>> = typeof entry === 'object' && entry !== null ? { ...entry } : {};
  const text = (name: string) => (typeof given[name] === 'string' && given[name] !== '' ? String(given[name]) : undefined);
  const [fact, trial, reason, until] = [text('fact'), text('trial'), text('reason'), text('until')];
  const strange = Object.keys(given).find((name) => !['fact', 'trial', 'reason', 'until'].includes(name));
  if (strange !== undefined) throw wrong(path, `entry ${number} has \`${strange}\``);
  if ((fact === undefined) === (trial === undefined)) throw wrong(path, `entry ${number} names no fact, and no trial, or both`);
  if (reason === undefined) throw wrong(path, `entry ${number} has no reason`);
  if (until === undefined || !/^\d{4}-\d\d-\d\d$/.test(until) || Number.isNaN(Date.parse(until)))
    throw wrong(path, `entry ${number} does not say until which day`);
  return { ...(fact !== undefined && { fact }), ...(trial !== undefined && { trial }), reason, until };
}

function wrong(path: string, why: string): Misuse {
  return new Misuse(
    `${path}: ${why}; write a list of \`{ fact: "types:note.text", reason: known, until: 2026-12-31 }\`, or with \`trial\`.`,
  );
}
