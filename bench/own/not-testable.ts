/** The list of facts of the examples that nothing can show, with their reasons: docs/verify-examples.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../../docs/verify-examples.md');

/** What is listed of one document. */
export interface Listed {
  /** Why, by `kind: subject`; these are never shown. */
  readonly never: ReadonlyMap<string, string>;
  /** These are shown by some seeds and not by others. */
  readonly notAlways: ReadonlyMap<string, string>;
}

const head = `# What of the examples cannot be shown

\`ninefold verify\` at our own \`serve\` of each example, with \`--clock\` and two callers of each user where keys are given out, finds nothing
broken, and everything held but these facts, of which those with looks that are missing are shown in part. \`npm run bench own -- --seeds 50\` holds to it, and \`npm run bench own -- --write\` writes this page anew.
`;

/** Reads the list: the facts of each document. */
export async function readListed(): Promise<Map<string, Listed>> {
  const listed = new Map<string, { never: Map<string, string>; notAlways: Map<string, string> }>();
  let now = { never: new Map<string, string>(), notAlways: new Map<string, string>() };
  let kind: 'never' | 'notAlways' = 'never';
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    if (line.startsWith('## ')) {
      now = { never: new Map(), notAlways: new Map() };
      listed.set(line.slice(3), now);
      kind = 'never';
    }
    if (line.startsWith('Under some seeds')) kind = 'notAlways';
    const [, fact, why] = /^- (.+?) – (.*)$/.exec(line) ?? [];
    if (fact !== undefined && why !== undefined) now[kind].set(fact, why);
  }
  return listed;
}

/** Writes the list. */
export async function writeListed(listed: ReadonlyMap<string, Listed>): Promise<void> {
  const linesOf = (facts: ReadonlyMap<string, string>) => [...facts].sort().map(([fact, why]) => `- ${fact} – ${why}`);
  const sections = [...listed].map(([document, { never, notAlways }]) =>
    [
      `## ${document}\n`,
      ...(never.size + notAlways.size === 0 ? ['Everything that it states is shown.'] : linesOf(never)),
      ...(notAlways.size === 0 ? [] : ['\nUnder some seeds these are not shown either:\n', ...linesOf(notAlways)]),
      '',
    ].join('\n'),
  );
  await writeFile(path, [head, ...sections].join('\n'));
}

/** What was not shown under every seed, and what was not under some. */
export function listedOf(runs: readonly ReadonlyMap<string, string>[]): Listed {
  const all = new Map(runs.flatMap((run) => [...run]));
  const isInAll = ([fact]: readonly [string, string]) => runs.every((run) => run.has(fact));
  return { never: new Map([...all].filter(isInAll)), notAlways: new Map([...all].filter((one) => !isInAll(one))) };
}

/** How a run differs from what is listed: facts that it did not show though they are not listed, and the other way round. */
export function differences(run: ReadonlyMap<string, string>, { never, notAlways }: Listed): string[] {
  return [
    ...[...run]
      .filter(([fact]) => !never.has(fact) && !notAlways.has(fact))
      .map(([fact, why]) => `not shown, and not listed: ${fact} – ${why}`),
    ...[...never.keys()].filter((fact) => !run.has(fact)).map((fact) => `listed, and shown: ${fact}`),
  ];
}
