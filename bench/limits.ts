/** What rates cost: bytes for each of a million addresses, decisions a second, and what a request with two rates takes longer. */
import { parseArgs } from 'node:util';
import { rateKinds } from '../src/kinds/limits/all.ts';
import type { RateKind } from '../src/kinds/limits/kind.ts';
import type { Rate } from '../src/parts/limits.ts';
import type { Call } from '../src/serve/http/call.ts';
import { rateHeaders } from '../src/serve/limits/limits.ts';
import { AddressIndex, RateCounters } from '../src/serve/limits/rate-counters.ts';
import { type Counting, compileOwnCount, compileRates } from '../src/serve/limits/rates.ts';
import { addressRoom, RateCounter } from '../src/serve/limits/usage.ts';
import { compileAddressOf } from '../src/serve/limits/whom.ts';
import { asMarkdown, asText, figure, median } from './table.ts';
import { exitCode, type Target, targetReport } from './targets.ts';

const addresses = 1_000_000;
const facts = { limit: 600, windowMs: 60_000, capacity: 600 };

/** Runs it and prints the report; gives the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      markdown: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds);
  const memory = rateKinds.map((kind) => ({ kind, ...crowd(kind) }));
  const bare = Array.from({ length: rounds }, () => perCall(undefined));
  const calls = rateKinds.map((kind) => ({ kind, us: Array.from({ length: rounds }, () => perCall(kind)) }));
  const more = calls.map(({ kind, us }) => ({ kind, us: us.map((one, round) => one - bare[round]!) }));

  const table = [
    [
      'kind',
      'bytes an address',
      `MiB for ${addresses.toLocaleString('en')}`,
      'decisions/s',
      'CPU µs for two rates and their fields',
    ],
    ...memory.map(({ kind, bytes, perSecond }, at) => [
      kind.word,
      figure(bytes / addresses),
      figure(bytes / 2 ** 20),
      Math.round(perSecond).toLocaleString('en'),
      figure(median(more[at]!.us)),
    ]),
  ];
  const targets: Target[] = [
    ...memory.map(({ kind, bytes }) => ({
      what: `MiB for 1,000,000 addresses, ${kind.word}`,
      bound: 'at most' as const,
      value: 64,
      measured: [bytes / 2 ** 20],
    })),
    ...more
      .filter(({ kind }) => kind.word !== 'sliding')
      .map(({ kind, us }) => ({
        what: `CPU µs for two rates, ${kind.word}`,
        bound: 'at most' as const,
        value: 0.5,
        measured: us,
      })),
  ];
  console.log(`Rates in one process; each address asks three times; Node ${process.versions.node}.\n`);
  console.log(`${(values.markdown ? asMarkdown : asText)(table)}\n\n${targetReport(targets, values.markdown)}`);
  return exitCode(targets, values.strict);
}

/** A million addresses that ask three times each, in no order. */
function crowd(kind: RateKind): { readonly bytes: number; readonly perSecond: number } {
  const counters = new RateCounter(kind, facts, new AddressIndex([1, 2]), addressRoom);
  const use = { numbers: new Float64Array(kind.numbersMax), length: 0 };
  const startMs = performance.now();
  for (let n = 0; n < 3 * addresses; n++) {
    const address = { high: 0xffffffff, low: Math.imul(n % addresses, 0x9e3779b1) >>> 0 };
    const nowMs = kind.word === 'sliding' ? Math.floor(n / 200) : 0;
    const own = counters.look(address, use);
    if (kind.decide(facts, use, nowMs, 1).isAllowed) counters.keep(address, own, use, nowMs);
  }
  return { bytes: counters.bytes, perSecond: (3 * addresses) / ((performance.now() - startMs) / 1000) };
}

/** Microseconds of the processor for one call with a rate per address and one per caller, from 1,000 addresses and callers. */
function perCall(kind: RateKind | undefined): number {
  const rates: Rate[] =
    kind === undefined
      ? []
      : (['address', 'caller'] as const).map((per) => ({
          at: '',
          kind: kind.word as Rate['kind'],
          per,
          limit: 10_000,
          windowMs: 60_000,
          own: {},
          cost: {},
        }));
  const counters = new RateCounters({ bytes: (length) => new Uint8Array(length) });
  const { first, second } = compileRates(
    rates,
    counters,
    compileOwnCount(compileAddressOf([])),
    () => () => null,
  )({ name: 'read book' });
  const count = 500_000;
  let letters = 0;
  let start = process.cpuUsage();
  for (let n = -100_000; n < count; n++) {
    if (n === 0) start = process.cpuUsage();
    const who = Math.abs(n) % 1000;
    // What a door and the look at a credential make for each request.
    const caller = { id: `c${who}`, user: 'reader', scopes: [] };
    const call = { address: `10.0.${who >> 8}.${who & 255}`, headers: {} } as Call;
    const counting: Counting & { caller: typeof caller } = { call, caller, counted: undefined };
    const nowMs = 1_780_000_000_000 + Math.floor(n / 100);
    first(counting, nowMs);
    second(counting, nowMs);
    if (counting.counted) letters += rateHeaders(counting.counted).ratelimit?.length ?? 0;
  }
  const { user, system } = process.cpuUsage(start);
  if (kind !== undefined && letters === 0) throw new Error('nothing was counted');
  return (user + system) / count;
}
