/** The matrix of faults: which of those in the reference services `verify` finds, and that it finds none where there is none. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { partNames } from '../src/document/document.ts';
import type { Hunted } from './faults/hold.ts';
import { services } from './faults/services.ts';
import type { Alarm, Done, Work } from './faults/worker.ts';
import { workThrough } from './faults/workers.ts';
import { asMarkdown, asText, figure, median, type Table } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';

interface FaultsRun {
  readonly hunted: readonly Hunted[];
  readonly calm: readonly Alarm[];
  readonly failures: readonly string[];
}

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '10' },
      requests: { type: 'string' },
      workers: { type: 'string', default: '2' },
      narrow: { type: 'boolean', default: false },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const requests = values.requests === undefined ? undefined : Number(values.requests);
  const queue = [
    ...correct(Number(values.seed), Number(values.seeds), requests),
    ...faulty(values.only, Number(values.seed), requests).map((work) => ({ ...work, isNarrow: values.narrow })),
  ];
  const result = await collected(queue, Number(values.workers));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
  return report(result, values.markdown, values.strict);
}

/** Each service as it should be, under so many seeds. */
function correct(from: number, count: number, requests: number | undefined): Work[] {
  return Array.from({ length: count }, (_, at) =>
    services.map(({ name }) => ({ service: name, seed: from + at, requests })),
  ).flat();
}

/** Each fault whose name, service, part or kind is asked for. */
function faulty(only: readonly string[], seed: number, requests: number | undefined): Work[] {
  return services.flatMap(({ name, faults }) =>
    faults
      .filter(({ id, part, kind }) => only.length === 0 || [id, name, part, kind].some((word) => only.includes(word)))
      .map(({ id }) => ({ service: name, fault: id, seed, requests })),
  );
}

async function collected(queue: readonly Work[], beside: number): Promise<FaultsRun> {
  const told: Done[] = [];
  await workThrough<Work, Done>(join(import.meta.dirname, 'faults/worker.ts'), queue, beside, (done) => {
    told.push(done);
    const last =
      'hunted' in done ? done.hunted.fault.id : 'calm' in done ? `${done.calm.service}, seed ${done.calm.seed}` : done.failed;
    process.stderr.write(
      process.stderr.isTTY ? `\r\u001b[K${told.length} of ${queue.length}: ${last}` : `${last}${outcome(done)}\n`,
    );
  });
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  return {
    hunted: told.flatMap((done) => ('hunted' in done ? [done.hunted] : [])),
    calm: told.flatMap((done) => ('calm' in done ? [done.calm] : [])),
    failures: told.flatMap((done) => ('failed' in done ? [done.failed] : [])),
  };
}

/** For a log: whether it was killed, and if not, why. */
function outcome(done: Done): string {
  if (!('hunted' in done)) return '';
  const { isKilled, remark, steps, runSeconds, others } = done.hunted;
  const also = others.length === 0 ? '' : `; also ${others.join(', ')}`;
  return isKilled ? `: killed in ${steps} steps, ${figure(runSeconds)} s${also}` : `: ${remark}${also}`;
}

function report({ hunted, calm, failures }: FaultsRun, markdown: boolean, strict: boolean): number {
  const print = (table: Table): void => console.log(`${markdown ? asMarkdown(table) : asText(table)}\n`);
  if (hunted.length > 0) {
    print(matrix(hunted));
    print(sums(hunted));
  }
  for (const { service, seed, alarms } of calm)
    for (const alarm of alarms) console.log(`false alarm: ${service}, seed ${seed}: ${alarm}`);
  for (const failure of failures) console.log(`failed: ${failure}`);
  const goals = targets(hunted, calm);
  console.log(targetReport(goals, markdown));
  return failures.length > 0 ? 1 : exitCode(goals, strict);
}

function matrix(hunted: readonly Hunted[]): Table {
  const sorted = [...hunted].sort((one, other) => place(one) - place(other));
  return [
    ['fault', 'fact', 'killed', 'requests', 'seconds', 'steps', 'else'],
    ...sorted.map(({ service, fault, isKilled, remark, requests, seconds, steps, others }) => [
      `${service}: ${fault.id}`,
      `${fault.kind} (${fault.subject})`,
      isKilled ? 'yes' : `NO, ${remark}`,
      ...(isKilled ? [String(requests), figure(seconds), String(steps)] : ['–', '–', '–']),
      others.length === 0 ? '' : `and ${others.slice(0, 2).join(', ')}${others.length > 2 ? `, ${others.length - 2} more` : ''}`,
    ]),
  ];
}

function place({ service, fault }: Hunted): number {
  return partNames.indexOf(fault.part) * services.length + services.findIndex(({ name }) => name === service);
}

function sums(hunted: readonly Hunted[]): Table {
  const row = (name: string, some: readonly Hunted[]): string[] => {
    const killed = some.filter(({ isKilled }) => isKilled);
    const middle = (values: readonly number[]): string => (values.length === 0 ? '–' : figure(median(values)));
    return [
      ...[name, String(some.length), String(killed.length), String(some.length - killed.length)],
      ...[middle(killed.map(({ requests }) => requests)), middle(killed.map(({ steps }) => steps))],
    ];
  };
  const parts = partNames.map((part) => [part, hunted.filter(({ fault }) => fault.part === part)] as const);
  return [
    ['part', 'faults', 'killed', 'survived', 'median requests', 'median steps'],
    ...parts.filter(([, some]) => some.length > 0).map(([part, some]) => row(part, some)),
    row('all', hunted),
  ];
}

function targets(hunted: readonly Hunted[], calm: readonly Alarm[]): Target[] {
  const killed = hunted.filter(({ isKilled }) => isKilled);
  const survivors = hunted.filter(({ isKilled }) => !isKilled);
  const perPart = partNames.map((part) => survivors.filter(({ fault }) => fault.part === part).length);
  const held = survivors.filter(({ remark }) => !/^(?:not testable|partly)/.test(remark));
  const seconds = [...hunted.map(({ runSeconds }) => runSeconds), ...calm.map((one) => one.seconds)];
  const some = <T>(values: readonly unknown[], measured: readonly T[]): readonly T[] => (values.length === 0 ? [] : measured);
  return [
    {
      what: 'faults killed',
      bound: 'at least',
      value: 95,
      unit: '%',
      measured: some(hunted, [(100 * killed.length) / hunted.length]),
    },
    { what: 'survivors in the worst part', bound: 'at most', value: 1, measured: some(hunted, [Math.max(...perPart)]) },
    { what: 'survivors said to be held', bound: 'at most', value: 0, measured: some(hunted, [held.length]) },
    {
      what: 'false alarms on correct services',
      bound: 'at most',
      value: 0,
      measured: some(calm, [calm.flatMap(({ alarms }) => alarms).length]),
    },
    { what: 'steps of a reproduction', bound: 'at most', value: 4, measured: killed.map(({ steps }) => steps) },
    { what: 'the longest run', bound: 'at most', value: 60, unit: 's', measured: some(seconds, [Math.max(...seconds)]) },
  ];
}
