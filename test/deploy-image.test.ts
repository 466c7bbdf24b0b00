import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, test } from 'node:test';

/** What the Dockerfile says is carried out without a builder: the same files, the same commands, the same program. */
const root = join(import.meta.dirname, '..');
const dockerfile = readFileSync(join(root, 'deploy', 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ');
const [, build = '', image = ''] = dockerfile.split(/^FROM /m);
const folder = mkdtempSync(join(tmpdir(), 'ninefold-image-'));
const inside = (path: string) => join(folder, path);
after(() => rmSync(folder, { recursive: true, force: true }));

/** The packages that `npm ci --omit=dev` would install, as their folders. */
function forProduction(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
  };
  return Object.entries(packages).flatMap(([path, { dev, devOptional }]) =>
    /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) && !dev && !devOptional && existsSync(join(root, path)) ? [path] : [],
  );
}

/** Carries out a command of the build, with what npm would install linked from where it is installed. */
function carryOut(command: string, cwd: string): void {
  const install = /^npm ci( --omit=dev)? --ignore-scripts$/.exec(command);
  if (install) {
    for (const path of install[1] === undefined ? ['node_modules'] : forProduction()) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      symlinkSync(join(root, path), join(cwd, path));
    }
    return;
  }
  const here = command.replaceAll(/(?<=^|\s)\/(?=(?:app|data)\b)/g, `${folder}/`);
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  execFileSync('sh', ['-c', here], { cwd, env: { ...process.env, PATH }, stdio: ['ignore', 'ignore', 'inherit'] });
}

test('the steps of the image lead to a program that serves, with nothing of developers beside it', {
  timeout: 300_000,
}, async () => {
  const allowed: readonly string[] = readFileSync(join(root, '.dockerignore'), 'utf8').match(/(?<=^!).+$/gm) ?? [];
  mkdirSync(inside('build'));
  for (const [, kind = '', words = ''] of build.matchAll(/^(COPY|RUN) (.+)$/gm)) {
    if (kind === 'COPY') {
      const names = words.trim().split(/\s+/);
      for (const name of names.slice(0, -1)) {
        assert.ok(allowed.includes(name), `${name} is left out by .dockerignore`);
        cpSync(join(root, name), join(inside('build'), name), { recursive: true });
      }
    } else {
      let cwd = inside('build');
      for (const command of words.split(/\s+&&\s+/)) {
        if (command === 'cd /app') cwd = inside('app');
        else carryOut(command.trim(), cwd);
      }
    }
  }
  assert.deepEqual(readdirSync(inside('app')).sort(), ['bin', 'dist', 'node_modules', 'package.json', 'sbom.cdx.json', 'schema']);
  const { components } = JSON.parse(readFileSync(inside('app/sbom.cdx.json'), 'utf8')) as {
    readonly components: readonly { readonly name: string }[];
  };
  const names = new Set(components.map(({ name }) => name));
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly dependencies: object };
  for (const name of Object.keys(dependencies)) assert.ok(names.has(name), `${name} is missing in the bill`);
  for (const name of ['node', 'typescript', 'esbuild']) {
    assert.ok(!names.has(name), `${name} is in the bill`);
    assert.ok(!existsSync(inside(`app/node_modules/${name}`)), `${name} is in the image`);
  }
  const [, ...words] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(image)?.[1] ?? '[]') as string[];
  const service = join(root, 'deploy', 'service.yaml');
  const program = spawn(
    process.execPath,
    [...words.map((word) => word.replace(/^\/app\//, `${inside('app')}/`)), 'serve', service, '--port', '0', '--log', 'json'],
    { env: { PATH: process.env.PATH, NINEFOLD_PRODUCTION: 'true', NINEFOLD_STORE: inside('data/notes.sqlite') } },
  );
  let said = '';
  for (const pipe of [program.stdout, program.stderr]) pipe.on('data', (piece) => (said += piece));
  const ended = once(program, 'exit');
  while (!said.includes('"event":"listening"') && program.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 20));
  program.kill('SIGTERM');
  assert.equal((await ended)[0], 0, said);
  assert.match(said, /"event":"listening"/);
  assert.equal(statSync(inside('data/notes.sqlite')).mode & 0o777, 0o600);
});

const builder = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0;

test('the image itself has no shell, is nobody in particular, and writes nothing of its own', {
  skip: !builder && 'there is no builder: nobody has built the image here',
  timeout: 900_000,
}, () => {
  const docker = (...words: readonly string[]) => execFileSync('docker', words, { cwd: root, encoding: 'utf8' });
  const id = docker('build', '--quiet', '--file', 'deploy/Dockerfile', '.').trim();
  const { Config } = JSON.parse(docker('inspect', id))[0];
  assert.equal(Config.User, '65532');
  assert.match(docker('run', '--rm', '--read-only', '--cap-drop', 'ALL', id, '--version'), /^\d+\.\d+\.\d+/);
  const shell = spawnSync('docker', ['run', '--rm', '--entrypoint', '/bin/sh', id, '-c', 'true'], { stdio: 'ignore' });
  assert.notEqual(shell.status, 0);
});
