/** Our own service over every example, held to its document in all nine parts: nothing broken, and all held but what is listed. */

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { alarmsOf, examples, holdOwn, type OwnHeld, untestableIn } from './own/hold.ts';
import { differences, type Listed, listedOf, readListed, writeListed } from './own/not-testable.ts';
import { holdStandIn } from './own/stand-in.ts';
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
      corpus: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const { only, corpus } = values;
  const known = corpus === undefined ? ofExamples : ofCorpus(corpus);
  const asked = known.filter(({ document }) => only.length === 0 || only.some((word) => document.includes(word)));
  const all: Held[] = [];
  for (const subject of asked) {
    const held = await heldOver(subject, Number(values.seed), Number(values.seeds));
    if (held) all.push(held);
  }
  if (corpus !== undefined) return report(all, undefined, values.markdown, values.strict);
  const listed = new Map(await readListed().catch(() => new Map<string, Listed>()));
  if (values.write) {
    for (const { document, untestable } of all) listed.set(document, listedOf(untestable));
    await writeListed(listed);
  }
  return report(all, listed, values.markdown, values.strict);
}

/** Something that is held to its document. */
interface Subject {
  readonly document: string;
  hold(seed: number): Promise<OwnHeld>;
}

const ofExamples: readonly Subject[] = examples.map((example) => ({
  document: example.document,
  hold: (seed) => holdOwn(example, seed),
}));

/** Stand-ins of the descriptions in a folder. */
function ofCorpus(folder: string): Subject[] {
  const files = globSync('**/*.{json,yaml,yml,json.gz,yaml.gz}', { cwd: folder }).sort();
  return files.map((file) => ({ document: file, hold: (seed) => holdStandIn(join(folder, file), seed) }));
}

/** Nothing for what cannot be served, such as a piece of a description. */
async function heldOver({ document, hold }: Subject, from: number, count: number): Promise<Held | undefined> {
  const all = { alarms: [] as string[], untestable: [] as ReadonlyMap<string, string>[] };
  const counts = { held: [] as number[], requests: [] as number[], seconds: [] as number[] };
  for (let seed = from; seed < from + count; seed++) {
    const own = await hold(seed).catch((error: unknown) => {
      process.stderr.write(`${document} is not served: ${error instanceof Error ? error.message : String(error)}\n`);
      return undefined;
    });
    if (!own) return undefined;
    const alarms = alarmsOf(own);
    all.alarms.push(...alarms.map((alarm) => `${document}, seed ${seed}: ${alarm}`));
    all.untestable.push(untestableIn(own.report.facts));
    counts.held.push(own.report.total.held);
    counts.requests.push(own.report.requests);
    counts.seconds.push(own.report.ms / 1000);
    process.stderr.write(`${document}, seed ${seed}: ${alarms.length === 0 ? 'calm' : `${alarms.length} alarms`}\n`);
  }
  return { document, ...all, ...counts };
}

/** What is listed only counts for the examples. */
function report(
  all: readonly Held[],
  listed: ReadonlyMap<string, Listed> | undefined,
  markdown: boolean,
  strict: boolean,
): number {
  const nothing: Listed = { never: new Map(), notAlways: new Map() };
  const range = (values: readonly number[]): string => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return least === most ? figure(least) : `${figure(least)}–${figure(most)}`;
  };
  const offList = all.map(({ document, untestable }) => {
    const facts = untestable.flatMap((one) => (listed ? differences(one, listed.get(document) ?? nothing) : []));
    return [...new Set(facts)].filter((text) => text.startsWith('not shown')).map((text) => `${document}: ${text}`);
  });
  const table: Table = [
    ['example', 'seeds', 'held', 'partly or not testable', 'off the list', 'alarms', 'requests', 'seconds'],
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
    ...(listed
      ? [
          {
            what: 'partly or not testable, and not listed',
            bound: 'at most' as const,
            value: 0,
            measured: [offList.flat().length],
          },
        ]
      : []),
  ];
  console.log(targetReport(goals, markdown));
  return exitCode(goals, strict);
}
