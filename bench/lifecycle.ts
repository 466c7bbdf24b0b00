/** Lives of things in stand-ins of descriptions that are drawn by lot: which laws they keep that any service of that shape keeps. */
import { fork } from 'node:child_process';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { drawnFiles } from './lifecycle/draw.ts';
import { type Kept, laws, pagedLaws } from './lifecycle/law.ts';
import type { LifecycleDone, LifecycleWork, Lived } from './lifecycle/worker.ts';
import { asMarkdown, asText, type Table } from './table.ts';

interface Drawn {
  readonly file: string;
  readonly done: LifecycleDone;
}

const secondsMax = 90;

/** Runs it and prints the table; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      directory: { type: 'string' },
      sample: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
      families: { type: 'string', default: '6' },
      workers: { type: 'string', default: '2' },
      only: { type: 'string' },
      paged: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
    },
  });
  const { directory } = values;
  if (directory === undefined) {
    console.log('Say where the descriptions are: npm run bench lifecycle -- --directory DIR');
    return 2;
  }
  const waiting = drawnFiles(directory, Number(values.sample), Number(values.seed), values.only, values.paged);
  const all: Drawn[] = [];
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const bounds = { seed: Number(values.seed), familiesMax: Number(values.families), requestsMax: 120, isPaged: values.paged };
      const done = await doneBeside({ file, ...bounds });
      all.push({ file: relative(directory, file), done });
      if ('failed' in done) process.stderr.write(`${relative(directory, file)}: ${done.failed}\n`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, work));
  all.sort((one, other) => one.file.localeCompare(other.file));
  if (values.json) console.log(JSON.stringify(all, undefined, 2));
  else report(all, values);
  return 0;
}

/** What a process of its own makes of it, within a bounded time. */
function doneBeside(work: LifecycleWork): Promise<LifecycleDone> {
  const child = fork(join(import.meta.dirname, 'lifecycle/worker.ts'), { execArgv: ['--disable-warning=ExperimentalWarning'] });
  return new Promise((resolve) => {
    const end = (done: LifecycleDone): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      child.kill('SIGKILL');
      resolve(done);
    };
    const timer = setTimeout(() => end({ failed: `not done in ${secondsMax} seconds` }), secondsMax * 1000);
    child.once('exit', (code) => end({ failed: `its process ended with ${code}` }));
    // The worker answers with what came of its work.
    child.once('message', (told) => end(told as LifecycleDone));
    child.send(work);
  });
}

function report(
  all: readonly Drawn[],
  { list, markdown, paged }: Readonly<Record<'list' | 'markdown' | 'paged', boolean>>,
): void {
  const print = (table: Table): void => console.log(`${markdown ? asMarkdown(table) : asText(table)}\n`);
  const lives = all.flatMap(({ file, done }) => ('lived' in done ? done.lived.map((lived) => ({ file, lived })) : []));
  const asked = lives.filter(({ lived }) => lived.kept.length > 0);
  const kept = asked.flatMap(({ lived }) => lived.kept);
  const rows = (paged ? pagedLaws : laws).map((law) => {
    const some = kept.filter((one) => one.law === law);
    return [law, ...shareOf(some.filter(({ isHeld }) => isHeld).length, some.length)];
  });
  const whole = asked.filter(({ lived }) => lived.kept.every(({ isHeld }) => isHeld));
  print([
    ['law', 'held', 'asked', '%'],
    ...rows,
    ['all', ...shareOf(kept.filter(({ isHeld }) => isHeld).length, kept.length)],
    ['whole families', ...shareOf(whole.length, asked.length)],
  ]);
  const failed = all.filter(({ done }) => 'failed' in done).length;
  console.log(`${all.length} documents, ${failed} not served; ${lives.length - asked.length} families could not be asked\n`);
  if (!list) return;
  for (const { file, lived } of lives) for (const line of linesOf(file, lived)) console.log(line);
  console.log();
  print([['cause', 'failures', 'documents'], ...causesOf(asked)]);
}

function shareOf(held: number, asked: number): string[] {
  return [String(held), String(asked), asked === 0 ? '-' : ((100 * held) / asked).toFixed(1)];
}

function linesOf(file: string, { family, kept, left }: Lived): string[] {
  const broken = kept
    .filter(({ isHeld }) => !isHeld)
    .map((one) => `${file}  ${family}  ${one.law}: ${one.reason}  ${causeText(one)}  ${one.operation}`);
  return left === undefined ? broken : [...broken, `${file}  ${family}  left: ${left}`];
}

function causesOf(asked: readonly { readonly file: string; readonly lived: Lived }[]): string[][] {
  const broken = asked.flatMap(({ file, lived }) => lived.kept.filter(({ isHeld }) => !isHeld).map((one) => ({ file, one })));
  return [...Map.groupBy(broken, ({ one }) => `${one.law}  ${one.status}  ${causeText(one)}`)]
    .map(([cause, some]) => [cause, some.length, new Set(some.map(({ file }) => file)).size] as const)
    .sort(([, , one], [, , other]) => other - one)
    .map(([cause, failures, documents]) => [cause, String(failures), String(documents)]);
}

/** What an answer says, without what is particular to it. */
function causeText({ message, reason }: Kept): string {
  const text = message === '' || !/^answered/.test(reason) ? reason : message;
  return text
    .replaceAll(/(["'`])[^"'`]*\1/g, '…')
    .replaceAll(/\/[\w.{}-]+(?:\/[\w.{}-]+)*/g, '/…')
    .replaceAll(/\d+/g, '0')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 110);
}
