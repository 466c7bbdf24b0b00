import { readFile } from 'node:fs/promises';
import { Misuse } from './verb.ts';

/**
 * The breaches that an earlier report has, by what is broken.
 * @throws {Misuse} where the file is no such report.
 */
export async function readBaseline(path: string): Promise<string[]> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Misuse(`${path} cannot be used as a baseline: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const breaches = typeof content === 'object' && content !== null && 'breaches' in content ? content.breaches : undefined;
  if (!Array.isArray(breaches)) throw new Misuse(`${path} is no report of verify: write one with --json.`);
  return breaches.map((breach: { kind?: unknown; subject?: unknown; reason?: unknown }) =>
    [breach.kind, breach.subject, breach.reason].map(String).join(':'),
  );
}
