/** What becomes of real interface descriptions: facts, time and memory of taking each of them over. */

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { asMarkdown, asText, figure, median, type Table } from './table.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

const step = join(import.meta.dirname, 'corpus-process.ts');

/** Runs it and prints the table; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      corpus: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      markdown: { type: 'boolean', default: false },
    },
  });
  const { corpus } = values;
  if (corpus === undefined) {
    console.log('Say where the documents are: npm run bench corpus -- --corpus DIR');
    return 2;
  }
  const files = globSync('**/*.{json,yaml,yml,json.gz,yaml.gz}', { cwd: corpus }).sort();
  const table = await inTemporaryFolder(async (folder): Promise<Table> => {
    const rows = files.flatMap((file) => rowOf(join(corpus, file), file, join(folder, 'out.md'), Number(values.rounds)));
    return [['file', 'stated', 'inferred', 'open', 'not carried', 'findings', 'ms', 'CPU ms', 'MiB'], ...rows];
  });
  console.log(values.markdown ? asMarkdown(table) : asText(table));
  return 0;
}

/** What one file comes to; nothing for one that is no whole document of another language. */
function rowOf(path: string, name: string, output: string, rounds: number): string[][] {
  const report = inProcess<{ stated: number; inferred: number; open: number; notCarried: number; findings: number }>([
    'report',
    path,
  ]);
  if (report === undefined) return [];
  const runs = Array.from({ length: rounds }, () => {
    const from = performance.now();
    const used = inProcess<{ mebibytes: number; cpuMs: number }>(['import', path, output]);
    return { ms: performance.now() - from, mebibytes: used?.mebibytes ?? Number.NaN, cpuMs: used?.cpuMs ?? Number.NaN };
  });
  const { stated, inferred, open, notCarried, findings } = report;
  const counts = [stated, inferred, open, notCarried, findings].map((count) => count.toLocaleString('en'));
  const times = [median(runs.map(({ ms }) => ms)), median(runs.map(({ cpuMs }) => cpuMs))];
  return [[name, ...counts, ...times.map(figure), figure(Math.max(...runs.map(({ mebibytes }) => mebibytes)))]];
}

/** Runs one step in a process of its own, so that its time and memory are its own too. */
function inProcess<T>(words: readonly string[]): T | undefined {
  const { stdout, status } = spawnSync(process.execPath, [step, ...words], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? (JSON.parse(stdout) as T) : undefined;
}
