import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { isLong } from './long.ts';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const temporary = mkdtempSync(join(tmpdir(), 'ninefold-package-'));
const project = join(temporary, 'project');
const installed = join(project, 'node_modules', 'ninefold');

after(() => rmSync(temporary, { recursive: true, force: true }));

test('what the package would hold is what its user needs and nothing else', () => {
  const [{ files }] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], root));
  const paths = (files as readonly { readonly path: string }[]).map(({ path }) => path);
  const needed = ['bin/ninefold.js', 'schema/ninefold.schema.json', 'LICENSE', 'README.md', 'package.json'];
  assert.deepEqual(
    needed.filter((path) => !paths.includes(path)),
    [],
  );
  const expected = ['package.json', 'README.md', 'LICENSE', ...manifest.files];
  assert.deepEqual(
    paths.filter((path) => !expected.includes(path.split('/')[0])),
    [],
  );
});

// Made, installed and used.
if (isLong) {
  before(
    () => {
      // Packing builds, and the checkout's own `dist` may be in use: a copy is packed instead.
      const copy = join(temporary, 'copy');
      const apart = new Set(['node_modules', 'dist', '.git', 'bench', 'test']);
      cpSync(root, copy, { recursive: true, filter: (source) => dirname(source) !== root || !apart.has(basename(source)) });
      symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
      run('npm', ['pack', '--pack-destination', temporary], copy);

      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
      const tarball = join(temporary, readdirSync(temporary).find((name) => name.endsWith('.tgz')) ?? '');
      run(
        'npm',
        ['install', tarball, '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
        project,
      );
    },
    { timeout: 120_000 },
  );

  test('the command runs in an empty project that installed the package', () => {
    assert.equal(run('npx', ['--no-install', 'ninefold', '--version'], project).trim(), manifest.version);
  });

  test('the installed command finds a description that it took over before', async () => {
    const description = {
      openapi: '3.1.0',
      info: { title: 'Jars', version: '1' },
      paths: { '/jars': { get: { responses: { 204: { description: 'None.' } } } } },
    };
    writeFileSync(join(project, 'jars.json'), JSON.stringify(description));
    const cache = join(temporary, 'cache');
    const bin = join(installed, 'bin/ninefold.js');
    for (const title of ['Jars', 'Kept']) {
      const child = spawn(process.execPath, [bin, 'serve', 'jars.json', '--sample', '--port', '0'], {
        cwd: project,
        env: { ...process.env, NO_COLOR: '1', XDG_CACHE_HOME: cache },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [told] = (await once(child.stdout, 'data')) as [Buffer];
      child.kill();
      await once(child, 'close');
      assert.match(told.toString(), new RegExp(`^${title}\n`));
      const kept = readdirSync(join(cache, 'ninefold/imports')).map((name) => join(cache, 'ninefold/imports', name));
      assert.equal(kept.length, 1);
      for (const file of kept) writeFileSync(file, readFileSync(file, 'utf8').replace('"title":"Jars"', '"title":"Kept"'));
      // What lies in folders beside the command is none of it, however new it is.
      const beside = join(installed, 'dist', `beside ${title}`);
      mkdirSync(beside);
      writeFileSync(join(beside, 'new.js'), '');
      utimesSync(beside, 1, 1);
    }
  });

  test('the package holds what its user needs and nothing else', () => {
    for (const path of [
      'bin/ninefold.js',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/cli.js',
      'schema/ninefold.schema.json',
      'LICENSE',
      'README.md',
    ]) {
      assert.ok(existsSync(join(installed, path)), `${path} is missing`);
    }
    assert.ok(readdirSync(join(installed, 'docs')).length > 0, 'docs is empty');
    const expected = ['package.json', 'README.md', 'LICENSE', ...manifest.files];
    assert.deepEqual(
      readdirSync(installed).filter((name) => !expected.includes(name)),
      [],
    );
    const files = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      files.filter((name) => /\.test\.|(?<!\.d)\.ts$/.test(name)),
      [],
    );
  });

  test('the library and the schema can be imported, and its types stand on what was installed with it', () => {
    const script = [
      "import * as library from 'ninefold';",
      "import schema from 'ninefold/schema.json' with { type: 'json' };",
      'console.log(Object.keys(library).length > 0, typeof schema.$schema);',
    ].join('\n');
    writeFileSync(join(project, 'use.js'), script);
    assert.equal(run(process.execPath, ['use.js'], project).trim(), 'true string');

    writeFileSync(
      join(project, 'use.ts'),
      "import * as library from 'ninefold';\nexport const names: string[] = Object.keys(library);\n",
    );
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')];
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', ...types];
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...options, 'use.ts'], project);
  });
}

/** Runs a command on this Node and gives its output; npm's words about the project that runs these tests are kept from it. */
function run(command: string, args: readonly string[], cwd: string): string {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_(?:package|lifecycle)_|npm_config_local_prefix$|npm_command$|INIT_CWD$|NODE_TEST_CONTEXT$)/.test(name),
  );
  const env = { ...Object.fromEntries(kept), PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
  try {
    return execFileSync(command, args, {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout ?? ''}\n${stderr ?? ''}`, { cause: error });
  }
}
