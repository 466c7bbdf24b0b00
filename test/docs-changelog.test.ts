import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { changelogGap } from '../scripts/changelog-gap.ts';

const temporary = mkdtempSync(join(tmpdir(), 'ninefold-changelog-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

test('what was changed in src is told in CHANGELOG.md', () => {
  assert.equal(changelogGap(join(import.meta.dirname, '..')), undefined);
});

test('sources that were changed since the last tag want a line', () => {
  const project = begin();
  project.commit('src/a.ts', 'A is there');
  assert.equal(changelogGap(project.folder), undefined, 'the beginning tells of itself');
  project.git('tag', 'v1.0.0');
  project.commit('docs/a.md', 'A is explained');
  assert.equal(changelogGap(project.folder), undefined, 'docs want no line');
  project.commit('src/a.ts', 'A is quicker');
  assert.match(
    changelogGap(project.folder) ?? '',
    /^src was changed and CHANGELOG\.md was not:\n {2}\w+ A is quicker\nWrite a line under/,
  );
  project.commit('CHANGELOG.md', 'It is told');
  assert.equal(changelogGap(project.folder), undefined);
});

test('so do sources that are not committed yet, new ones too', () => {
  const project = begin();
  project.git('tag', 'v1.0.0');
  for (const path of ['src/a.ts', 'src/new/b.ts']) {
    project.write(path);
    assert.ok(changelogGap(project.folder)?.includes(`not committed: ${path}`), path);
  }
  project.write('CHANGELOG.md');
  assert.equal(changelogGap(project.folder), undefined);
});

test('a commit can say that nobody would want to read of it, with the reason', () => {
  const project = begin();
  project.git('tag', 'v1.0.0');
  project.commit('src/a.ts', 'A is cut in two\n\nChangelog: none, because it does what it did.');
  assert.equal(changelogGap(project.folder), undefined);
  project.commit('src/a.ts', 'A is cut in three\n\nChangelog: none, because');
  assert.match(changelogGap(project.folder) ?? '', /A is cut in three/);
});

test('a branch is held to what it adds to the one it follows', () => {
  const project = begin();
  const clone = project.cloned();
  clone.commit('src/a.ts', 'A is slower');
  assert.match(changelogGap(clone.folder) ?? '', /A is slower/);
  clone.commit('CHANGELOG.md', 'It is told');
  assert.equal(changelogGap(clone.folder), undefined);
});

test('a clone of any depth and a folder without a history are looked at as far as they tell', () => {
  const project = begin();
  project.commit('src/a.ts', 'A is quicker');
  const shallow = project.cloned('--depth', '1');
  assert.equal(changelogGap(shallow.folder), undefined);
  shallow.write('src/a.ts');
  assert.match(changelogGap(shallow.folder) ?? '', /not committed: src\/a\.ts/);
  shallow.commit('src/a.ts', 'A is slower');
  assert.match(changelogGap(shallow.folder) ?? '', /A is slower/);

  const unpacked = join(temporary, 'unpacked');
  cpSync(project.folder, unpacked, { recursive: true, filter: (path) => !path.endsWith('.git') });
  assert.equal(changelogGap(unpacked), undefined);
  const inside = join(project.folder, 'unpacked');
  cpSync(unpacked, inside, { recursive: true });
  assert.equal(changelogGap(inside), undefined);
});

/** A repository with a source and a changelog. */
function begin() {
  const folder = mkdtempSync(join(temporary, 'project-'));
  const project = projectIn(folder);
  project.git('init', '-q', '-b', 'main');
  project.write('src/a.ts');
  project.write('CHANGELOG.md');
  project.commit('README.md', 'It begins');
  return project;
}

function projectIn(folder: string) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];
  const git = (...words: string[]) => execFileSync('git', [...author, ...words], { cwd: folder, env, stdio: 'pipe' });
  const write = (path: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    appendFileSync(join(folder, path), 'more\n');
  };
  return {
    folder,
    git,
    write,
    commit(path: string, message: string) {
      write(path);
      git('add', '--all');
      git('commit', '-qm', message);
    },
    cloned(...how: string[]) {
      const place = mkdtempSync(join(temporary, 'clone-'));
      git('clone', '-q', ...how, pathToFileURL(folder).href, place);
      return projectIn(place);
    },
  };
}
