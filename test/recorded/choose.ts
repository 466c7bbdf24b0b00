import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import type { Recorded } from './documents.ts';

/**
 * `node test/recorded/choose.ts` chooses anew which lots `chosen.txt` names, of many more: those that find something in other words, or
 * take other ways through the rules, than those before them. It takes minutes, and is done when what is drawn has changed, not the rules.
 */
const rounds = 5;
const wanted = 640;

/** What a document had that a choice may want: words of findings, and which stretches of each function ran. */
interface Seen {
  readonly lot: readonly [head: string, lot: string];
  readonly marks: readonly number[];
}

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
// Loaded when it is counted what runs.
const { caseChanges } = await import('./case-changes.ts');
const { foundIn } = await import('./check.ts');

const numbers = new Map<string, number>();
const all: Seen[] = [];
for (let round = 0; round < rounds; round++) {
  for (const way of ['edited', 'grafted', 'joined'] as const) {
    for (const one of caseChanges(way, 1, round)) {
      const marks = [...new Set(await marksOf(one))].map(numberOf);
      all.push({ lot: [`${way} ${round}`, one.name.split('.').at(-1) ?? ''], marks });
    }
  }
}
const lots = Map.groupBy(chosenOf(all), ([head]) => head);
const lines = [...lots].sort(([a], [b]) => (a < b ? -1 : 1)).map(([head, some]) => `${head}: ${inOrder(some)}`);
writeFileSync(join(import.meta.dirname, 'chosen.txt'), `${lines.join('\n')}\n`);

function inOrder(some: readonly Seen['lot'][]): string {
  return some
    .map(([, lot]) => Number(lot))
    .sort((a, b) => a - b)
    .join(' ');
}

function numberOf(mark: string): number {
  const number = numbers.get(mark) ?? numbers.size;
  numbers.set(mark, number);
  return number;
}

async function marksOf(one: Recorded): Promise<string[]> {
  const plain = (text = ''): string => text.replaceAll(/`[^`]*`/g, '`');
  const words = foundIn(one).map(({ code, message, remedy }) => `${code} ${plain(message)} ${plain(remedy)}`);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ways = result
    .filter(({ url }) => url.includes('/src/check/'))
    .flatMap(({ url, functions }) =>
      functions.flatMap(({ ranges }) => {
        if ((ranges[0]?.count ?? 0) === 0) return [];
        const ran = ranges.map(({ startOffset, count }) => `${startOffset}${count > 0 ? '+' : '-'}`);
        return [`${url} ${ran}`, ...ran.filter((each) => each.endsWith('+')).map((each) => `${url} ${each}`)];
      }),
    );
  return [...words, ...ways];
}

/** One after the other that has most of what the ones before it had least. */
function chosenOf(seen: readonly Seen[]): Seen['lot'][] {
  const worth = new Float64Array(numbers.size).fill(1);
  const gainOf = ({ marks }: Seen): number => marks.reduce((sum, mark) => sum + worth[mark]!, 0);
  const left = seen.map((one) => ({ one, gain: gainOf(one) }));
  const chosen: Seen['lot'][] = [];
  while (chosen.length < wanted && left.length > 0) {
    left.sort((a, b) => b.gain - a.gain);
    const [first, next] = left;
    first!.gain = gainOf(first!.one);
    if (next && first!.gain < next.gain) continue;
    left.shift();
    chosen.push(first!.one.lot);
    for (const mark of first!.one.marks) worth[mark]! *= 0.3;
  }
  return chosen;
}
