/** Services that somebody else wrote, who had seen nothing of `verify`: what is found in them at first contact, and after. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { verify } from '../src/index.ts';
import type { Breach, VerifyReport } from '../src/verify/report.ts';
import { chanceOf } from './drawn/chance.ts';
import { readStranger, type StrangeFault, type Stranger, startStranger } from './strangers/stranger.ts';
import { asMarkdown, asText, figure, type Table } from './table.ts';

const folder = join(import.meta.dirname, 'strangers');

interface Met {
  readonly fault: StrangeFault;
  /** `found` by its own fact, `elsewhere` by another fact than the writer named, `held` wrongly, or what its fact was said to be. */
  readonly outcome: string;
  readonly seconds: number;
  readonly by: string;
}

/** Runs it and prints the report; gives the exit code. `--fault ID` meets these alone, `--trials NAME` with these trials or about these facts. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '3' },
      faults: { type: 'string' },
      fault: { type: 'string', multiple: true, default: [] },
      trials: { type: 'string', multiple: true },
      markdown: { type: 'boolean', default: false },
    },
  });
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'stranger.json')));
  const chosen = names.filter((name) => values.only.length === 0 || values.only.includes(name));
  if (chosen.length === 0) {
    console.log(`There is no such service: there are ${names.join(', ') || 'none'}.`);
    return 2;
  }
  for (const name of chosen) {
    const stranger = chosenOf(readStranger(join(folder, name)), values);
    report(stranger, await meet(stranger, Number(values.seed), Number(values.seeds), values.trials), values.markdown);
  }
  return 0;
}

/** The service with the faults that are named, else so many drawn by the seed; all of them in a drawn order where nobody says how many. */
function chosenOf(
  stranger: Stranger,
  {
    fault,
    faults: most,
    seed,
  }: { readonly fault: readonly string[]; readonly faults?: string | undefined; readonly seed: string },
): Stranger {
  if (fault.length > 0) return { ...stranger, faults: stranger.faults.filter(({ id }) => fault.includes(id)) };
  const faults = chanceOf(Number(seed)).shuffled(stranger.faults);
  return { ...stranger, faults: most === undefined ? faults : faults.slice(0, Number(most)) };
}

interface Meeting {
  readonly met: readonly Met[];
  /** What is said to be broken although the service is right, by seed. */
  readonly alarms: ReadonlyMap<number, readonly string[]>;
  /** How many facts the correct service was said to hold, and so on. */
  readonly calm: VerifyReport;
}

async function meet(stranger: Stranger, seed: number, seeds: number, only: readonly string[] | undefined): Promise<Meeting> {
  const alarms = new Map<number, readonly string[]>();
  let calm: VerifyReport | undefined;
  for (let at = seed; at < seed + seeds; at++) {
    const told = await held(stranger, undefined, at, only);
    calm ??= told;
    alarms.set(
      at,
      toldBy(told).map(({ kind, subject, reason, seen }) => `${kind} (${subject}), ${reason}: ${seen}`),
    );
    note(`${stranger.name}, as it should be, seed ${at}: ${toldBy(told).length} false alarms in ${figure(told.ms / 1000)} s`);
  }
  const known = new Set(calm && toldBy(calm).map(factOf));
  const met: Met[] = [];
  for (const fault of stranger.faults) {
    const told = await held(stranger, fault.id, seed, only, (breach) => !known.has(factOf(breach)));
    const fresh = toldBy(told).filter((breach) => !known.has(factOf(breach)));
    const outcome = outcomeOf(fault, fresh, told);
    met.push({ fault, outcome, seconds: told.ms / 1000, by: fresh.map(factOf).slice(0, 2).join(', ') });
    note(
      `${stranger.name}, ${fault.id}: ${outcome} in ${figure(told.ms / 1000)} s, ${told.requests} requests${missing(fault, told)}`,
    );
  }
  // At least one seed was asked for, else nothing was met.
  return { met, alarms, calm: calm! };
}

/** All that is told against a service: what it broke, and where it failed. */
const toldBy = ({ breaches, crashes }: VerifyReport): readonly Breach[] => [...breaches, ...crashes];

function outcomeOf({ fact }: StrangeFault, fresh: readonly Breach[], { facts }: VerifyReport): string {
  if (!fact) return fresh.length > 0 ? 'found' : 'not found';
  if (fresh.some((breach) => factOf(breach) === factOf(fact))) return 'found';
  if (fresh.length > 0) return 'elsewhere';
  return facts.find((one) => factOf(one) === factOf(fact))?.verdict ?? 'no such fact';
}

/** What kept the fact of a fault from being held, and the looks that it lacks. */
function missing({ fact }: StrangeFault, { facts }: VerifyReport): string {
  const one = fact && facts.find((each) => factOf(each) === factOf(fact));
  if (!one || one.verdict === 'broken') return '';
  const looks = (one.evidence?.looks ?? [])
    .filter(({ isMet }) => !isMet)
    .map(({ name, why }) => (why ? `${name} (${why})` : name));
  return `; ${factOf(one)}: ${one.why ?? one.verdict}${looks.length > 0 ? `; missing: ${looks.slice(0, 6).join(', ')}` : ''}`;
}

async function held(
  stranger: Stranger,
  fault: string | undefined,
  seed: number,
  only: readonly string[] | undefined,
  until?: (breach: Breach) => boolean,
): Promise<VerifyReport> {
  const running = await startStranger(stranger, fault);
  try {
    const { url, clockUrl } = running;
    return await verify(stranger.document, {
      url,
      ...(clockUrl !== undefined && { clockUrl }),
      callers: stranger.callers,
      seed,
      ...(only && { only }),
      ...(until && { until }),
    });
  } finally {
    await running.stop();
  }
}

const factOf = ({ kind, subject }: { readonly kind: string; readonly subject: string }): string => `${kind} (${subject})`;

/** What a fault breaks, in the words of its writer. */
const breaksOf = ({ fact, sort, operation }: StrangeFault): string => (fact ? factOf(fact) : `${sort}: ${operation}`);

function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

function report({ name, faults }: Stranger, { met, alarms, calm }: Meeting, markdown: boolean): void {
  const print = (table: Table): void => console.log(`${markdown ? asMarkdown(table) : asText(table)}\n`);
  const count = (outcome: string): number => met.filter((one) => one.outcome === outcome).length;
  const found = count('found') + count('elsewhere');
  console.log(`${name}\n`);
  print([
    ['fault', 'fact', 'outcome', 's', 'broken'],
    ...met.map(({ fault, outcome, seconds, by }) => [fault.id, breaksOf(fault), outcome, figure(seconds), by]),
  ]);
  const { held, broken, open } = calm.total;
  print([
    ['', ''],
    ['found', `${found} of ${faults.length} (${Math.round((100 * found) / faults.length)} %)`],
    ['of these by another fact than the writer named', String(count('elsewhere'))],
    ['falsely held', String(count('held'))],
    ['false alarms on the correct service, by seed', [...alarms.values()].map(({ length }) => length).join(', ')],
    [
      'facts of the correct service',
      `${held} held, ${calm.total.partly} partly, ${broken} broken, ${calm.total['not testable']} not testable, ${open} open`,
    ],
    ['a whole run', `${figure(calm.ms / 1000)} s, ${calm.requests} requests${calm.stopped ? ` (${calm.stopped})` : ''}`],
  ]);
  for (const [seed, list] of alarms) for (const alarm of list) console.log(`false alarm, seed ${seed}: ${alarm}`);
}
