/** What a service that runs shows of itself, and the form of its figures (Prometheus text format 0.0.4). */

import { type Ledger, ledgerOf } from '../../parts/facts/ledger.ts';
import type { OutboxReader } from '../../store/outbox.ts';
import type { Exchange, Refusal } from '../exchange/exchange.ts';
import type { Call, Reply } from '../http/call.ts';
import { measureDelay } from '../http/clock.ts';
import type { Engine } from '../operations/engine.ts';
import type { Note } from '../steps.ts';
import type { Timers } from './timers.ts';

/** What only the process itself knows. */
export interface ProcessFigures {
  readonly memoryBytes: number;
  /** How long it runs. */
  readonly uptimeSeconds: number;
}

/** What an operator watches. */
export interface Watched {
  /** Figures in the text format of Prometheus, with those of the process where they are given. */
  metrics(process?: ProcessFigures): Promise<string>;
  /** What each part that requests depend on says of itself: `ok`, or what is wrong. */
  checks(): Promise<{ readonly store: string; readonly timers: string }>;
  /** How many facts of the document that is served stand how, in all and by part. */
  ledger(): Pick<Ledger, 'total' | 'parts'>;
}

/** The same, with what counts for it. */
export interface OperatorWatch extends Watched {
  readonly note: Note;
  /** Ends what is measured meanwhile. */
  close(): void;
}

/** Looks are cut off at so many rows: whoever asks every second must not be a load of its own. */
const most = 500;

export function startOperatorWatch(engine: () => Engine, timers: Timers): OperatorWatch {
  const count = new RequestCount(() => engine().clock.now());
  const delay = measureDelay();
  return {
    note: (call, exchange, reply, refusal) => count.note(call, exchange, reply, refusal),
    async metrics(process) {
      const own = gauges([
        ...(process ? processFigures(process) : []),
        [
          'ninefold_event_loop_delay_seconds',
          'How long the process let others wait since it was last asked: 99 % waited less.',
          delay.takeSeconds(),
        ],
        [
          'ninefold_timers_failing',
          `Transitions of the clock that failed and are tried again (at most ${most} are told).`,
          timers.failing().length,
        ],
      ]);
      return metricsText([...count.metrics(), ...factsOf(engine()), ...own, ...gauges(await storedFigures(engine()))]);
    },
    async checks() {
      const failing = timers.failing().length;
      return {
        store: await storeCheck(engine()),
        timers: failing === 0 ? 'ok' : `${failing} failed and are tried again: ninefold timers list --failing`,
      };
    },
    ledger() {
      const { total, parts } = ledgerOf(engine().compilation.spec);
      return { total, parts };
    },
    close: () => delay.stop(),
  };
}

function processFigures({ memoryBytes, uptimeSeconds }: ProcessFigures): Figure[] {
  return [
    ['process_resident_memory_bytes', 'Memory of the process.', memoryBytes],
    ['ninefold_uptime_seconds', 'How long the process runs.', uptimeSeconds],
  ];
}

type Figure = readonly [name: string, help: string, value: number];

function gauges(figures: readonly Figure[]): Metric[] {
  return figures.map(([name, help, value]) => ({ name, help, type: 'gauge', values: [{ labels: {}, value }] }));
}

function factsOf({ compilation }: Engine): Metric[] {
  const values = Object.entries(compilation.ledger().total).map(([standing, value]) => ({ labels: { standing }, value }));
  return [{ name: 'ninefold_facts', help: 'Facts of the document, by their standing.', type: 'gauge', values }];
}

/** What waits in the store; nothing where it cannot say so now. */
async function storedFigures({ store, clock }: Engine): Promise<Figure[]> {
  const late = (dueMs: number | undefined) => (dueMs === undefined ? 0 : Math.max(0, clock.now() - dueMs) / 1000);
  try {
    const due = await store.nextDue();
    const { events, waits, givenUp } = await store.read(({ outbox }) => ({
      events: outbox.lastEvent(),
      waits: firstWaiting(outbox),
      givenUp: outbox.deliveries({ outcome: 'given up' }, most).length,
    }));
    return [
      ['ninefold_timer_lag_seconds', 'How late the transition of the clock is that was due first.', late(due)],
      ['ninefold_events_recorded', 'The number of the last recorded event.', events],
      [
        'ninefold_delivery_lag_seconds',
        `How late the delivery is that was due first (of the first ${most} subscribers).`,
        late(waits),
      ],
      ['ninefold_deliveries_given_up', `Deliveries that were given up in the last week (at most ${most} are told).`, givenUp],
    ];
  } catch {
    return [];
  }
}

/** When the delivery was due that waits longest. */
function firstWaiting(outbox: OutboxReader): number | undefined {
  let first: number | undefined;
  let subscriber = '';
  for (let count = 0; count < most; count++) {
    const next = outbox.awaited(subscriber);
    if (!next) break;
    first = Math.min(first ?? next.dueMs, next.dueMs);
    subscriber = next.subscriber;
  }
  return first;
}

/** A store that answers late is as good as none: whoever asks wants to know where to send requests now. */
const storeAnswersMs = 1000;

async function storeCheck({ store }: Engine): Promise<string> {
  let late: NodeJS.Timeout | undefined;
  const tooLate = new Promise<string>((resolve) => {
    late = setTimeout(() => resolve(`it has not answered in ${storeAnswersMs} ms`), storeAnswersMs);
  });
  const asked = async () => store.read(({ outbox }) => outbox.lastEvent());
  const answered = asked().then(
    () => 'ok',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  try {
    return await Promise.race([answered, tooLate]);
  } finally {
    clearTimeout(late);
  }
}

/** A figure of the Prometheus text format 0.0.4: its name, what it is, its kind, and a line for each set of labels. */
interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly MetricValue[];
}

interface MetricValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Behind the name, of a part of a histogram. */
  readonly part?: '_bucket' | '_sum' | '_count';
}

/** Counts answered requests, by words of the document alone: no client can make the figures grow in number. */
class RequestCount {
  readonly #operations = new Map<string, Counted>();
  readonly #refusals = new Map<string, number>();
  #openMet = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(_call: Call, exchange: Exchange | undefined, reply: Reply, refusal: Refusal | undefined): void {
    // What reaches no endpoint has no operation.
    const name = exchange?.plan.operation.name ?? '';
    let counted = this.#operations.get(name);
    if (!counted) {
      counted = { statuses: new Map(), buckets: boundsMs.map(() => 0), sumMs: 0, count: 0 };
      this.#operations.set(name, counted);
    }
    counted.statuses.set(reply.status, (counted.statuses.get(reply.status) ?? 0) + 1);
    const ms = exchange ? Math.max(0, this.#now() - exchange.nowMs) : 0;
    const bucket = boundsMs.findIndex((bound) => ms <= bound);
    if (bucket >= 0) counted.buckets[bucket] = (counted.buckets[bucket] ?? 0) + 1;
    counted.sumMs += ms;
    counted.count += 1;
    if (refusal?.open ?? exchange?.accepted) this.#openMet += 1;
    if (!refusal) return;
    const code = refusal.code ?? refusal.when ?? (refusal.open ? 'open' : 'unsupported');
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1);
  }

  metrics(): Metric[] {
    const all = [...this.#operations];
    return [
      {
        name: 'ninefold_requests_total',
        help: 'Answered requests, by operation (none for what reaches no endpoint) and status.',
        type: 'counter',
        values: all.flatMap(([operation, { statuses }]) =>
          [...statuses].map(([status, value]) => ({ labels: { operation, status: String(status) }, value })),
        ),
      },
      {
        name: 'ninefold_refusals_total',
        help: 'Refused requests, by the stated code or the condition.',
        type: 'counter',
        values: [...this.#refusals].map(([code, value]) => ({ labels: { code }, value })),
      },
      {
        name: 'ninefold_open_requests_total',
        help: 'Requests that met an open fact.',
        type: 'counter',
        values: [{ labels: {}, value: this.#openMet }],
      },
      {
        name: 'ninefold_request_duration_seconds',
        help: 'Time from the head of a request to its answer, in whole milliseconds of the clock of the service.',
        type: 'histogram',
        values: all.flatMap(([operation, counted]) => histogramOf(operation, counted)),
      },
    ];
  }
}

interface Counted {
  readonly statuses: Map<number, number>;
  /** How many took at most so long, and longer than the bound before. */
  readonly buckets: number[];
  sumMs: number;
  count: number;
}

const boundsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

function histogramOf(operation: string, { buckets, sumMs, count }: Counted): MetricValue[] {
  let within = 0;
  const parts = boundsMs.map((bound, index): MetricValue => {
    within += buckets[index] ?? 0;
    return { part: '_bucket', labels: { operation, le: String(bound / 1000) }, value: within };
  });
  return [
    ...parts,
    { part: '_bucket', labels: { operation, le: '+Inf' }, value: count },
    { part: '_sum', labels: { operation }, value: sumMs / 1000 },
    { part: '_count', labels: { operation }, value: count },
  ];
}

/** Figures as Prometheus reads them. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ values }) => values.length > 0)
    .map(({ name, help, type, values }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...values.map(({ labels, value, part = '' }) => `${name}${part}${labelText(labels)} ${value}`),
        '',
      ].join('\n'),
    )
    .join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
