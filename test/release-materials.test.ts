import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditVerdict } from '../scripts/audit-verdict.ts';
import { billOfMaterials } from '../scripts/bill-of-materials.ts';
import { gapsIn, type LockFile, runtimePlaces } from '../scripts/lock-file.ts';
import { releaseProblems } from '../scripts/release-problems.ts';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lock: LockFile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

const integrity = 'sha512-AAEC';
const small: LockFile = {
  packages: {
    '': { dependencies: { a: '^1.0.0' } },
    'node_modules/a': {
      version: '1.0.0',
      integrity,
      dependencies: { b: '^2.0.0' },
      optionalDependencies: { 'a-linux': '1.0.0' },
    },
    'node_modules/a-linux': { version: '1.0.0', integrity },
    'node_modules/a/node_modules/b': { version: '2.0.0', integrity },
    'node_modules/b': { version: '1.0.0', integrity, dev: true },
  },
};

test('the lock file is whole on every platform', () => {
  assert.deepEqual(gapsIn(lock), []);
});

test('what is missing from a lock file is named', () => {
  assert.deepEqual(gapsIn(small), []);
  const { 'node_modules/a-linux': _platform, ...others } = small.packages;
  assert.deepEqual(gapsIn({ packages: others }), ['node_modules/a needs a-linux, which is nowhere']);
  const bare = { packages: { ...small.packages, 'node_modules/b': { version: '1.0.0' } } };
  assert.deepEqual(gapsIn(bare), ['node_modules/b has not an integrity']);
});

test('the bill of materials lists what is installed with the package, and nothing that only developers use', () => {
  const { components, dependencies } = billOfMaterials(
    { name: 'own', version: '3.0.0', description: 'Own.', license: 'MIT' },
    small,
  );
  assert.deepEqual(
    components.map(({ purl, hashes }) => [purl, hashes]),
    ['pkg:npm/a@1.0.0', 'pkg:npm/a-linux@1.0.0', 'pkg:npm/b@2.0.0'].map((url) => [url, [{ alg: 'SHA-512', content: '000102' }]]),
  );
  assert.deepEqual(dependencies[1], { ref: 'pkg:npm/a@1.0.0', dependsOn: ['pkg:npm/a-linux@1.0.0', 'pkg:npm/b@2.0.0'] });
});

test('each dependency of this package is in its bill, with a version, a hash and a licence', () => {
  const { components, metadata } = billOfMaterials(manifest, lock);
  assert.equal(metadata.component.version, manifest.version);
  const listed = new Map(components.map((component) => [component.name, component]));
  for (const name of Object.keys(manifest.dependencies)) {
    const component = listed.get(name);
    assert.ok(component?.version && component.hashes?.length && component.licenses?.length, name);
  }
  for (const name of ['@biomejs/biome', 'typescript', 'stripe']) assert.equal(listed.has(name), false, name);
  assert.equal(components.length, runtimePlaces(lock).length);
});

test('an audit tells of vulnerabilities, of none, and of a registry that does not say', () => {
  const metadata = { dependencies: { prod: 16 } };
  const none = auditVerdict(JSON.stringify({ vulnerabilities: {}, metadata }));
  assert.deepEqual(none, { said: 'No known vulnerability in 16 packages that are installed with this one.', exitCode: 0 });
  const bad = { name: 'a', severity: 'high', range: '<2' };
  const some = auditVerdict(JSON.stringify({ vulnerabilities: { a: bad }, metadata }));
  assert.equal(some.exitCode, 1);
  assert.match(some.said, /^Known vulnerabilities in 1 of 16 packages .*:\n {2}high: a <2$/);
  for (const output of ['', 'null', '<html>', JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405 })]) {
    const { said, exitCode } = auditVerdict(output);
    assert.match(said, /^Nothing is known: /);
    assert.equal(exitCode, 0);
  }
});

test('a release has a version that is new, a heading in the changelog and nothing left to commit', () => {
  const ready = {
    version: '1.2.0',
    lockedVersion: '1.2.0',
    changelog: '# Changelog\n\n## Unreleased\n\n## 1.2.0 (2026-01-02)\n\n### Added\n\n- A.\n\n## 1.1.0 (2026-01-01)\n',
    tags: ['v1.1.0'],
    status: '',
  };
  assert.deepEqual(releaseProblems(ready), []);
  const wrongs = [
    [{ version: '1.2' }, 'is no version'],
    [{ lockedVersion: '1.1.0' }, 'package-lock.json'],
    [{ tags: ['v1.2.0'] }, 'was released'],
    [{ changelog: ready.changelog.replace('1.2.0', '1.3.0') }, 'no heading'],
    [{ changelog: ready.changelog.replace('Unreleased\n', 'Unreleased\n\n- B.\n') }, 'Unreleased'],
    [{ changelog: '## 1.2.0 (2026-01-02)\n\n## Unreleased\n\n- B.\n' }, 'Unreleased'],
    [{ status: ' M src/a.ts' }, 'not committed'],
  ] as const;
  for (const [wrong, told] of wrongs) {
    const problems = releaseProblems({ ...ready, ...wrong });
    assert.ok(
      problems.some((problem) => problem.includes(told)),
      `${told}: ${problems.join('; ')}`,
    );
  }
});
