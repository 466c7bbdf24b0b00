import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * `npm run release:try`: packs the last commit from a clean clone, installs the package in empty folders under Node 20, 22 and 24, and
 * uses it there: what it is for where it runs, and what it says where it cannot. `npm run release:try -- 22` tries one of them;
 * `--keep DIR` leaves the package there. The Nodes come from npm's package `node`.
 */
const root = join(import.meta.dirname, '..');
const words = process.argv.slice(2);
const keepAt = words.indexOf('--keep');
const [, kept] = keepAt < 0 ? [] : words.splice(keepAt, 2);
const majors = words.length > 0 ? words.map(Number) : [20, 22, 24];
const enough = 24;
const temporary = mkdtempSync(join(tmpdir(), 'ninefold-release-'));
const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
let tried = 0;

try {
  const tarball = pack();
  for (const major of majors) await tryOn(major, tarball);
  console.log(`${tried} things were tried under Node ${majors.join(', ')}, and all were as they should be.`);
} catch (failure) {
  console.error((failure as Error).message);
  process.exitCode = 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

/** The package, made in a clone that has nothing but what is committed. */
function pack(): string {
  const clone = join(temporary, 'clone');
  const place = kept ?? join(temporary, 'package');
  mkdirSync(place, { recursive: true });
  run('git', ['clone', '--quiet', '--depth', '1', pathToFileURL(root).href, clone], temporary);
  run('npm', ['ci', ...quiet], clone);
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--silent', '--pack-destination', place], clone).stdout);
  console.log(`Packed ${filename} from a clean clone.`);
  return join(place, filename);
}

async function tryOn(major: number, tarball: string): Promise<void> {
  const home = join(temporary, `node-${major}`);
  const project = join(temporary, `project-${major}`);
  for (const folder of [home, project]) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  }
  run('npm', ['install', `node@${major}`, '--ignore-scripts=false', ...quiet], home);
  const own = process.platform === 'win32' ? 'node.exe' : 'node';
  const [bin = ''] = readdirSync(join(home, 'node_modules'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(join('bin', own)) && !path.startsWith('.bin'))
    .map((path) => dirname(join(home, 'node_modules', path)));
  const path = `${bin}${delimiter}${process.env.PATH}`;
  const version = run('node', ['--version'], project, path).stdout.trim();
  demand(version.startsWith(`v${major}.`), `Node ${major} is not there: ${version}`);
  run('npm', ['install', tarball, ...quiet], project, path);
  const ninefold = (...more: readonly string[]) =>
    attempt('node', [join('node_modules', 'ninefold', 'bin', 'ninefold.js'), ...more], project, path);

  if (major < enough) {
    const { status, stdout, stderr } = ninefold('--version');
    demand(status === 2 && stdout === '', `under ${version} the command ends with ${status}: ${stdout}${stderr}`);
    const [first = ''] = stderr.split('\n');
    demand(first === `ninefold needs Node ${enough} or later; this is Node ${version.slice(1)}.`, `it says: ${stderr}`);
    console.log(`${version}: it says "${first}"`);
    // What it says to do helps.
    run('npm', ['install', '--save-dev', `node@${enough}`, '--ignore-scripts=false', ...quiet], project, path);
  }
  const { name, version: packed } = JSON.parse(
    run('npm', ['pkg', 'get', 'name', 'version'], join(project, 'node_modules', 'ninefold')).stdout,
  );
  demand(ninefold('--version').stdout.trim() === packed, `${name} --version does not say ${packed}`);
  const parcels = join('node_modules', 'ninefold', 'examples', 'parcels.md');
  const checked = ninefold('check', parcels);
  demand(checked.status === 0 && /sound/.test(checked.stdout), `check: ${checked.stdout}${checked.stderr}`);
  await serves(project, parcels, path);
  console.log(`${version}: ${name} ${packed} checks and serves an example`);
}

/** Serves an example and asks for its description where it says that this is. */
async function serves(project: string, document: string, path: string): Promise<void> {
  const command = [join('node_modules', 'ninefold', 'bin', 'ninefold.js'), 'serve', document, '--port', '0'];
  const child = spawn('node', command, { cwd: project, env: environment(path), stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  let said = '';
  try {
    const address = await new Promise<string>((resolve, reject) => {
      const hear = (text: Buffer) => {
        said += text;
        const [, url] = /^ *openapi +(http\S+)\n/m.exec(said) ?? [];
        if (url !== undefined) resolve(url);
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.on('close', () => reject(new Error(`serve ended: ${said}`)));
    });
    const answer = await fetch(address);
    demand(answer.status === 200 && JSON.stringify(await answer.json()).includes('"openapi"'), `serve answers ${answer.status}`);
  } finally {
    child.kill();
    await closed;
  }
}

function demand(holds: boolean, otherwise: string): void {
  tried++;
  if (!holds) throw new Error(otherwise);
}

function run(command: string, args: readonly string[], cwd: string, path?: string): SpawnSyncReturns<string> {
  const done = attempt(command, args, cwd, path);
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${done.status}:\n${done.stdout}${done.stderr}`);
  return done;
}

function attempt(command: string, args: readonly string[], cwd: string, path?: string): SpawnSyncReturns<string> {
  const shell = process.platform === 'win32';
  return spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: environment(path), shell });
}

/** The environment without what npm tells the scripts of this project. */
function environment(path = process.env.PATH): NodeJS.ProcessEnv {
  const own = /^(?:npm_|INIT_CWD$|NODE_ENV$|NODE_OPTIONS$|PATH$)/i;
  const others = Object.entries(process.env).filter(
    ([name]) => !own.test(name) || /^npm_config_(?:registry|cache|userconfig|globalconfig)$/i.test(name),
  );
  return { ...Object.fromEntries(others), PATH: path };
}
