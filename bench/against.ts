/** What this tree costs against another one of the same program: each serves its own documents of `bench serve`, by turns in one run. */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Contestant, startContestant } from './contestants.ts';
import { type Generator, startGenerator } from './generator.ts';
import { type Act, connectionCounts, type Setting, settings, uniqueText } from './settings.ts';
import { asMarkdown, asText, figure, median, type Table } from './table.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** What another tree's own benchmark has: it starts its service with its documents. */
interface Bench {
  readonly settings: readonly Setting[];
  readonly startContestant: typeof startContestant;
}

const rows = 5_000;
const [connections] = connectionCounts;

/** Runs it and prints the ratios; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      tree: { type: 'string' },
      only: { type: 'string' },
      rounds: { type: 'string', default: '9' },
      seconds: { type: 'string', default: '1' },
      markdown: { type: 'boolean', default: false },
    },
  });
  if (values.tree === undefined) {
    console.log('Name the other tree, with its packages installed: --tree ../before');
    return 2;
  }
  const before = await benchOf(resolve(values.tree));
  const table: Table[number][] = [
    ['setting', 'act', 'before, µs', 'now, µs', 'processor time, now ÷ before', 'requests/s, now ÷ before'],
  ];
  for (const setting of settings) {
    const older = before.settings.find(({ name }) => name === setting.name);
    if (!older || (values.only !== undefined && values.only !== setting.name)) continue;
    const times = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
    table.push(...(await inTemporaryFolder((folder) => compare(folder, before, older, setting, times))));
  }
  console.log(values.markdown ? asMarkdown(table) : asText(table));
  return 0;
}

/** The other tree's own modules: they know where its command and its documents are. */
async function benchOf(tree: string): Promise<Bench> {
  const from = (name: string) => import(pathToFileURL(join(tree, 'bench', name)).href);
  const [{ settings: theirs }, { startContestant: start }] = await Promise.all([from('settings.ts'), from('contestants.ts')]);
  return { settings: theirs, startContestant: start };
}

interface Times {
  readonly rounds: number;
  readonly seconds: number;
}

async function compare(folder: string, before: Bench, older: Setting, setting: Setting, times: Times): Promise<Table[number][]> {
  const generator = startGenerator();
  const sides: Contestant[] = [];
  try {
    sides.push(await before.startContestant({ ...older, name: `before ${older.name}` }, 'Ninefold', folder, rows, generator));
    sides.push(await startContestant(setting, 'Ninefold', folder, rows, generator));
    const lines: Table[number][] = [];
    for (const act of [...older.acts.keys()].filter((one) => setting.acts.has(one)))
      lines.push([setting.name, act, ...(await compareAct(generator, sides, act, times))]);
    return lines;
  } finally {
    generator.stop();
    await Promise.all(sides.flatMap(({ reads, writes }) => [reads.stop(), writes.stop()]));
  }
}

interface Reading {
  readonly micros: number;
  readonly perSecond: number;
}

/** One act of both, by turns; the first round of each is warm-up. */
async function compareAct(
  generator: Generator,
  sides: readonly Contestant[],
  act: Act,
  { rounds, seconds }: Times,
): Promise<string[]> {
  const read: Reading[][] = [[], []];
  for (let round = -1; round < rounds; round++)
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const reading = await readOnce(generator, sides[at]!, act, seconds);
      if (round >= 0) read[at]!.push(reading);
    }
  const [older, newer] = read as [Reading[], Reading[]];
  const ratios = (of: (one: Reading) => number) => older.map((one, at) => of(newer[at]!) / of(one)).sort((a, b) => a - b);
  const spread = (list: readonly number[]) => `${figure(median(list))} (${figure(list[0])}–${figure(list.at(-1))})`;
  return [
    figure(median(older.map(({ micros }) => micros))),
    figure(median(newer.map(({ micros }) => micros))),
    spread(ratios(({ micros }) => micros)),
    spread(ratios(({ perSecond }) => perSecond)),
  ];
}

async function readOnce(generator: Generator, side: Contestant, act: Act, seconds: number): Promise<Reading> {
  const creates = act === 'durable create';
  const server = creates ? side.writes : side.reads;
  const before = server.cpuSeconds() ?? 0;
  const { answers, errors, firstError } = await generator.run({
    port: server.port,
    connections,
    status: creates ? 201 : 200,
    seconds,
    warmSeconds: 0,
    requests: side.requests[act],
    ...(creates && { unique: uniqueText }),
  });
  if (errors > 0) throw new Error(`${act}: ${errors} answers were wrong; ${firstError}`);
  return { micros: (((server.cpuSeconds() ?? 0) - before) * 1e6) / answers, perSecond: answers / seconds };
}
