import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Waiver } from '../check/waivers.ts';
import { Misuse } from './verb.ts';

/**
 * Reads what is known and meant: a list of `{ finding: security/no-rate, at: /limits, reason: …, until: 2026-12-31 }` in YAML or JSON, of
 * which `at` and `until` may be left out.
 * @throws {Misuse} where the file is no such list
 */
export async function readWaivers(path: string): Promise<Waiver[]> {
  let content: unknown;
  try {
    content = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Misuse(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (!Array.isArray(content)) throw wrong(path, 'it is no list');
  return content.map((entry: unknown, at) => waiverOf(path, entry, at + 1));
}

const words = ['finding', 'at', 'reason', 'until'];

function waiverOf(path: string, entry: unknown, number: number): Waiver {
  const given: Readonly<Record<string, unknown>> = typeof entry === 'object' && entry !== null ? { ...entry } : {};
  const text = (name: string) => (typeof given[name] === 'string' && given[name] !== '' ? String(given[name]) : undefined);
  const [finding, at, reason, until] = words.map(text);
  const strange = Object.keys(given).find((name) => !words.includes(name));
  if (strange !== undefined) throw wrong(path, `entry ${number} has \`${strange}\``);
  if (finding === undefined) throw wrong(path, `entry ${number} names no finding`);
  if (reason === undefined) throw wrong(path, `entry ${number} has no reason`);
  if (given.until !== undefined && (until === undefined || !/^\d{4}-\d\d-\d\d$/.test(until) || Number.isNaN(Date.parse(until))))
    throw wrong(path, `the \`until\` of entry ${number} is no day`);
  return { finding, reason, ...(at !== undefined && { at }), ...(until !== undefined && { until }) };
}

function wrong(path: string, why: string): Misuse {
  return new Misuse(
    `${path}: ${why}; write a list of \`{ finding: security/no-rate, reason: behind a gateway, until: 2026-12-31 }\`.`,
  );
}
