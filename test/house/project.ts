import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { readSource, type SourceFile } from './source.ts';

/** The project's own folder. */
export const root = join(import.meta.dirname, '..', '..');

/** What git tracks or would track, so that a file is read before it is added; in an unpacked archive, every file. */
export function projectFiles(): string[] {
  const isFile = (path: string) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true;
  if (existsSync(join(root, '.git'))) {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
    });
    return listed.split('\0').filter((path) => path !== '' && isFile(path));
  }
  const exclude = (name: string) => /^(?:node_modules|dist|results)$/.test(name);
  return globSync('**/*', { cwd: root, exclude })
    .map((path) => path.replaceAll(sep, '/'))
    .filter(isFile);
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The project's TypeScript: what is shipped, and what stands beside it. */
export function readProject(paths: readonly string[] = projectFiles()): {
  readonly sources: readonly SourceFile[];
  readonly beside: readonly SourceFile[];
} {
  const read = (pattern: RegExp) => paths.filter((path) => pattern.test(path)).map((path) => readSource(path, readText(path)));
  // The documents and programs of others, and programs that tests only hand to others, are not the project's own.
  return { sources: read(/^src\/.*\.ts$/), beside: read(/^(?:test\/(?!fixtures\/)|bench\/|scripts\/|examples\/).*\.ts$/) };
}
