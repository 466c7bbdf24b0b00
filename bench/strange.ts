/** Our own service over documents drawn from the whole grammar: false alarms where it is right, and the faults found where it is not. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { workThrough } from './faults/workers.ts';
import { sortOf } from './strange/faults.ts';
import type { Done, Work } from './strange/worker.ts';
import { asMarkdown, asText, figure, median, type Table } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      documents: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      faults: { type: 'string', default: '0' },
      part: { type: 'string' },
      workers: { type: 'string', default: '2' },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const from = Number(values.from);
  const queue = Array.from({ length: Number(values.documents) }, (_, at): Work => {
    return {
      seed: Number(values.seed),
      number: from + at,
      faults: Number(values.faults),
      ...(values.part && { part: values.part }),
    };
  });
  const all: Done[] = [];
  await workThrough<Work, Done>(join(import.meta.dirname, 'strange/worker.ts'), queue, Number(values.workers), (done) => {
    all.push(done);
    if (values.json !== undefined) appendFileSync(values.json, `${JSON.stringify(done)}\n`);
    const causes = [...new Set(done.alarms.map(({ cause }) => cause))];
    process.stderr.write(
      `document ${done.number}, ${figure(done.seconds)} s, ${done.requests} requests: ${causes.join(' + ') || 'calm'}\n`,
    );
    if (done.unsound !== undefined) process.stderr.write(`document ${done.number} is not sound: ${done.unsound}\n`);
  });
  return report(all, values.markdown, values.strict);
}

function report(all: readonly Done[], markdown: boolean, strict: boolean): number {
  const print = (table: Table): void => console.log(`${markdown ? asMarkdown(table) : asText(table)}\n`);
  const alarmed = all.filter(({ alarms }) => alarms.length > 0);
  const unsound = all.filter((one) => one.unsound !== undefined);
  const sum = (verdict: string): string => figure(all.reduce((total, { counts }) => total + (counts?.[verdict] ?? 0), 0));
  print([
    ['', ''],
    ['documents', String(all.length)],
    ['not sound', String(unsound.length)],
    ['with a false alarm', String(alarmed.length)],
    ...['held', 'partly', 'not testable', 'open', 'broken'].map((verdict) => [`facts ${verdict}`, sum(verdict)]),
    ['seconds of one, median', figure(median(all.map(({ seconds }) => seconds)))],
    ['requests of one, median', figure(median(all.map(({ requests }) => requests)))],
  ]);
  if (alarmed.length > 0) print([['false alarm', 'documents', 'first'], ...causesOf(alarmed)]);
  const faults = all.flatMap((one) => one.faults.map((fault) => ({ ...fault, number: one.number })));
  const missed = faults.filter(({ isFound }) => !isFound);
  if (faults.length > 0) print([['fault', 'tried', 'found'], ...sortsOf(faults)]);
  for (const { id, number } of missed) console.log(`not found, document ${number}: ${id}`);
  const share = (100 * (faults.length - missed.length)) / faults.length;
  const goals: Target[] = [
    { what: 'documents with a false alarm', bound: 'at most', value: 0, measured: [alarmed.length] },
    { what: 'documents that are not sound', bound: 'at most', value: 0, measured: [unsound.length] },
    ...(faults.length > 0 ? [{ what: 'faults found', bound: 'at least' as const, value: 95, unit: '%', measured: [share] }] : []),
  ];
  console.log(targetReport(goals, markdown));
  return exitCode(goals, strict);
}

function causesOf(alarmed: readonly Done[]): string[][] {
  const byCause = new Map<string, number[]>();
  for (const { number, alarms } of alarmed)
    for (const cause of new Set(alarms.map((alarm) => alarm.cause))) byCause.set(cause, [...(byCause.get(cause) ?? []), number]);
  return [...byCause]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([cause, numbers]) => [cause, String(numbers.length), String(numbers[0])]);
}

/** Faults by what goes wrong, wherever it does. */
function sortsOf(faults: readonly { readonly id: string; readonly part: string; readonly isFound: boolean }[]): string[][] {
  const sorts = Map.groupBy(faults, sortOf);
  return [...sorts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([sort, some]) => [sort, String(some.length), String(some.filter(({ isFound }) => isFound).length)]);
}
