/** Our own service over every example, held to its document in all nine parts: nothing broken, and all held but what is listed. */
import { parseArgs } from 'node:util';
import { alarmsOf, type Example, examples, holdOwn, untestableIn } from './own/hold.ts';
import { differences, type Listed, listedOf, readListed, writeListed } from './own/not-testable.ts';
import { asMarkdown, asText, figure, median, type Table } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';

/** What came of one example under all seeds. */
interface Held {
  readonly document: string;
  readonly alarms: readonly string[];
  readonly untestable: readonly ReadonlyMap<string, string>[];
  readonly held: readonly number[];
  readonly requests: readonly number[];
  readonly seconds: readonly number[];
}

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '2' },
      write: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const { only } = values;
  const asked = examples.filter(({ document }) => only.length === 0 || only.some((word) => document.includes(word)));
  const all: Held[] = [];
  for (const example of asked) all.push(await heldOver(example, Number(values.seed), Number(values.seeds)));
  const listed = new Map(await readListed().catch(() => new Map<string, Listed>()));
  if (values.write) {
    for (const { document, untestable } of all) listed.set(document, listedOf(untestable));
    await writeListed(listed);
  }
  return report(all, listed, values.markdown, values.strict);
}

async function heldOver(example: Example, from: number, count: number): Promise<Held> {
  const held: Held = { document: example.document, alarms: [], untestable: [], held: [], requests: [], seconds: [] };
  const all = { alarms: [] as string[], untestable: [] as ReadonlyMap<string, string>[] };
  const counts = { held: [] as number[], requests: [] as number[], seconds: [] as number[] };
  for (let seed = from; seed < from + count; seed++) {
    const own = await holdOwn(example, seed);
    const alarms = alarmsOf(own);
    all.alarms.push(...alarms.map((alarm) => `${example.document}, seed ${seed}: ${alarm}`));
    all.untestable.push(untestableIn(own.report.facts));
    counts.held.push(own.report.total.held);
    counts.requests.push(own.report.requests);
    counts.seconds.push(own.report.ms / 1000);
    process.stderr.write(`${example.document}, seed ${seed}: ${alarms.length === 0 ? 'calm' : `${alarms.length} alarms`}\n`);
  }
  return { ...held, ...all, ...counts };
}

function report(all: readonly Held[], listed: ReadonlyMap<string, Listed>, markdown: boolean, strict: boolean): number {
  const nothing: Listed = { never: new Map(), notAlways: new Map() };
  const range = (values: readonly number[]): string => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return least === most ? figure(least) : `${figure(least)}–${figure(most)}`;
  };
  const offList = all.map(({ document, untestable }) => {
    const facts = untestable.flatMap((one) => differences(one, listed.get(document) ?? nothing));
    return [...new Set(facts)].filter((text) => text.startsWith('not shown')).map((text) => `${document}: ${text}`);
  });
  const table: Table = [
    ['example', 'seeds', 'held', 'not testable', 'off the list', 'alarms', 'requests', 'seconds'],
    ...all.map(({ document, alarms, untestable, held, requests, seconds }, at) => [
      ...[document, String(held.length), range(held), range(untestable.map(({ size }) => size))],
      ...[String(offList[at]?.length ?? 0), String(alarms.length), figure(median(requests)), figure(median(seconds))],
    ]),
  ];
  console.log(`${markdown ? asMarkdown(table) : asText(table)}\n`);
  const alarms = all.flatMap((one) => one.alarms);
  for (const alarm of alarms) console.log(`false alarm: ${alarm}`);
  for (const fact of offList.flat()) console.log(fact);
  const goals: Target[] = [
    { what: 'broken, unsteady or cut short', bound: 'at most', value: 0, measured: [alarms.length] },
    { what: 'not testable and not listed', bound: 'at most', value: 0, measured: [offList.flat().length] },
  ];
  console.log(targetReport(goals, markdown));
  return exitCode(goals, strict);
}
