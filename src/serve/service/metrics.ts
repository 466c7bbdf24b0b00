import type { Exchange, Refusal } from '../exchange/exchange.ts';
import type { Call, Reply } from '../http/call.ts';

/** A figure of the Prometheus text format 0.0.4: its name, what it is, its kind, and a line for each set of labels. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly MetricValue[];
}

export interface MetricValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Behind the name, of a part of a histogram. */
  readonly part?: '_bucket' | '_sum' | '_count';
}

/** Counts answered requests, by words of the document alone: no client can make the figures grow in number. */
export class RequestCount {
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
