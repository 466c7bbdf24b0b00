import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

/** Into so many parts the long run is cut where somebody waits for it. */
export const partsMost = 4;

/** The part that a text falls into, whatever else there is. */
export function partOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() % partsMost;
}

/**
 * Whether a test file is of the part that a commit is tried with: each commit draws one, so that in a few of them all have their turn; test files
 * that it changes are tried with it whatever part they are of.
 */
export function partAt(commit: string, changed: ReadonlySet<string>): (file: string) => boolean {
  const part = partOf(commit);
  return (file) => changed.has(file) || partOf(file) === part;
}

/** The part for what is checked out. A checkout without its history, or none of git's, is tried by its date. */
export function partOfCheckout(): (file: string) => boolean {
  const git = (...words: string[]): string | undefined => {
    try {
      return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      return undefined;
    }
  };
  const changed = git('diff', '--name-only', 'HEAD~1', 'HEAD')?.split('\n') ?? [];
  return partAt(git('rev-parse', 'HEAD') ?? new Date().toISOString().slice(0, 10), new Set(changed));
}
