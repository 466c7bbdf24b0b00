/** From the command to the first answer, and memory at rest, of the package as it would be published. */
import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startServer } from './server-process.ts';
import { exitCode, type Target, targetReport } from './targets.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

interface StartRun {
  /** With the compiled code of an earlier start at hand, and without. */
  readonly warmMs: readonly number[];
  readonly coldMs: readonly number[];
  readonly idleMib: readonly number[];
}

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      starts: { type: 'string', default: '11' },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  let result: StartRun;
  try {
    result = await inTemporaryFolder((folder) => measure(folder, Number(values.starts)));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    console.log(`The built package could not be started: ${error.message}`);
    return 1;
  }
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
  const first = 'command to first answer, parcels.md';
  const targets: Target[] = [
    { what: `${first}, compile cache warm`, bound: 'at most', value: 300, unit: 'ms', measured: result.warmMs },
    { what: `${first}, no compile cache`, bound: 'at most', value: 300, unit: 'ms', measured: result.coldMs },
    { what: 'memory (RSS) after 2 s at rest', bound: 'at most', value: 100, unit: 'MiB', measured: result.idleMib },
  ];
  console.log(`${values.starts} starts of each kind, in turn; Node ${process.versions.node}; any core.\n`);
  console.log(targetReport(targets, values.markdown));
  return exitCode(targets, values.strict);
}

async function measure(folder: string, starts: number): Promise<StartRun> {
  const installed = await unpack(folder);
  const start = (name: string, env: Readonly<Record<string, string>>) =>
    startServer({
      name,
      folder,
      env,
      cwd: installed,
      pinned: false,
      args: ['bin/ninefold.js', 'serve', 'examples/parcels.md', '--store', join(folder, 'parcels.sqlite')],
    });
  const warm = { NODE_COMPILE_CACHE: join(folder, 'compile-cache') };
  const cold = { NODE_DISABLE_COMPILE_CACHE: '1' };
  // The first start makes the store and the compile cache, and is not counted.
  await (await start('first', warm)).stop();
  const warmMs: number[] = [];
  const coldMs: number[] = [];
  const idleMib: number[] = [];
  for (let i = 0; i < starts; i++) {
    const one = await start('warm', warm);
    warmMs.push(one.firstAnswerMs);
    if (i < 3) {
      await delay(2_000);
      const mib = one.memoryMib();
      if (mib !== undefined) idleMib.push(mib);
    }
    await one.stop();
    const other = await start('cold', cold);
    coldMs.push(other.firstAnswerMs);
    await other.stop();
  }
  return { warmMs, coldMs, idleMib };
}

/** Builds and packs the project, and lays the package out as an install would, with the dependencies of this checkout. */
export async function unpack(folder: string): Promise<string> {
  const project = fileURLToPath(new URL('../', import.meta.url));
  const run = (command: string, ...args: string[]): void => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: project, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${args[0]} failed:\n${stdout}${stderr}`);
  };
  run('npm', 'pack', '--loglevel', 'error', '--pack-destination', folder);
  const packed = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  if (packed === undefined) throw new Error('npm pack made no package');
  await mkdir(join(folder, 'app'));
  run('tar', '-xzf', join(folder, packed), '-C', join(folder, 'app'));
  symlinkSync(join(project, 'node_modules'), join(folder, 'app', 'node_modules'));
  return join(folder, 'app', 'package');
}
