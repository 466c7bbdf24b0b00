import { spawnSync } from 'node:child_process';

/** A commit with this line in its message changes nothing that somebody would want to read of: `Changelog: none, because …`. */
const trailer = /^Changelog: none, because \S/m;

/**
 * What to write where the sources were changed and `CHANGELOG.md` was not; nothing where all is well, or where there is no history
 * to tell. Looked at is what lies between the base and the working tree: the base is where this branch left the one it follows, else
 * the last tag, else the beginning of what was cloned.
 */
export function changelogGap(root: string): string | undefined {
  const git = (...words: readonly string[]): string | undefined => {
    const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8', env: ownEnvironment() });
    return status === 0 ? stdout.trim() : undefined;
  };
  // Not empty below the top of a repository: an archive that was unpacked there has no history of its own.
  if (git('rev-parse', '--show-cdup') !== '') return undefined;
  const head = git('rev-parse', '--verify', 'HEAD');
  if (head === undefined) return undefined;

  const base = baseOf(git, head);
  const range = base === undefined ? head : `${base}..${head}`;
  const isTold =
    linesOf(git('rev-list', '--max-count=1', range, '--', 'CHANGELOG.md')).length > 0 ||
    linesOf(git('status', '--porcelain', '--', 'CHANGELOG.md')).length > 0;
  if (isTold) return undefined;
  const isUnsaid = (commit: string): boolean => !trailer.test(git('log', '-1', '--format=%B', commit) ?? '');
  const commits = linesOf(git('rev-list', '--no-merges', range, '--', 'src')).filter(isUnsaid);
  const edited = linesOf(git('status', '--porcelain', '--untracked-files=all', '--', 'src'));
  if (commits.length === 0 && edited.length === 0) return undefined;

  const shown = commits.slice(0, 5).map((commit) => `  ${git('log', '-1', '--format=%h %s', commit)}`);
  const more = commits.length > shown.length ? [`  and ${commits.length - shown.length} more`] : [];
  return [
    'src was changed and CHANGELOG.md was not:',
    ...shown,
    ...more,
    ...edited.slice(0, 5).map((line) => `  not committed: ${line.slice(line.lastIndexOf(' ') + 1)}`),
    'Write a line under "## Unreleased" for those who use it, or, where nobody would want to read of it, end the message of the',
    'commit with the line "Changelog: none, because …".',
  ].join('\n');
}

type Git = (...words: readonly string[]) => string | undefined;

/** Where this branch left the one it follows, if it has gone on since; else the last tag. */
function baseOf(git: Git, head: string): string | undefined {
  for (const followed of ['@{upstream}', 'origin/HEAD', 'origin/main']) {
    const fork = git('merge-base', 'HEAD', followed);
    if (fork !== undefined && (fork !== head || git('status', '--porcelain', '--', 'src') !== '')) return fork;
  }
  return git('describe', '--tags', '--abbrev=0');
}

function linesOf(text: string | undefined): string[] {
  return (text ?? '').split('\n').filter((line) => line !== '');
}

/** The environment without what git says to its own hooks, which would lead to another repository. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
}
