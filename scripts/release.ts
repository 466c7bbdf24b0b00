import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { releaseProblems } from './release-problems.ts';

/**
 * `npm run release`: tags what is here as the version of `package.json`, once nothing stands against it. It neither pushes nor
 * publishes; CONTRIBUTING.md says what comes before it and after.
 */
const root = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' });
const { version } = JSON.parse(read('package.json'));

const problems = releaseProblems({
  version,
  lockedVersion: JSON.parse(read('package-lock.json')).version,
  changelog: read('CHANGELOG.md'),
  tags: git('tag', '--list').split('\n'),
  status: git('status', '--porcelain'),
});
if (problems.length === 0) {
  git('tag', '--annotate', `v${version}`, '--message', `Ninefold ${version}`);
  console.log(
    `Tagged as v${version}. To publish it: git push origin v${version}, then npm publish of the package that was tried.`,
  );
} else {
  for (const problem of problems) console.error(problem);
  process.exitCode = 1;
}
