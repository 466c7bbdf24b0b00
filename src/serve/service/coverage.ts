import { entriesOf } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Exchange, Refusal } from '../exchange/exchange.ts';
import type { OpenFact } from '../exchange/open.ts';
import type { Call, Reply } from '../http/call.ts';

/** What clients have touched of a document while it was served. */
export interface Coverage {
  readonly title: string;
  /** Every endpoint of the document, in its order, whether it was called or not. */
  readonly endpoints: readonly EndpointCoverage[];
  /** The open facts that requests met, most often first. */
  readonly open: readonly OpenCoverage[];
  /** How many facts of the document are open. */
  readonly openTotal: number;
  /** Requests that reached no endpoint, as `GET /x 404`, with how many there were. */
  readonly unrouted: Readonly<Record<string, number>>;
}

export interface EndpointCoverage {
  /** `GET /parcels/{id}`. */
  readonly key: string;
  readonly operation: string;
  readonly calls: number;
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** What was made up in its answers. */
  readonly sampled: readonly string[];
  /** What was let pass although the document says otherwise. */
  readonly warnings: readonly string[];
}

export interface OpenCoverage extends OpenFact {
  readonly times: number;
  /** The endpoints whose requests met it. */
  readonly endpoints: readonly string[];
}

/** Counts what clients touch. */
export class CoverageCount {
  readonly #calls = new Map<string, Counted>();
  readonly #open = new Map<string, { fact: OpenFact; times: number; endpoints: Set<string> }>();
  readonly #unrouted = new Map<string, number>();

  note(call: Call, exchange: Exchange | undefined, reply: Reply, refusal: Refusal | undefined): void {
    const key = exchange?.plan.endpoint.key;
    if (exchange === undefined || key === undefined) {
      const line = `${call.method} ${call.path} ${reply.status}`;
      // Whoever asks for ever new paths must not fill the memory with them.
      if (this.#unrouted.size < unroutedMost || this.#unrouted.has(line)) add(this.#unrouted, line);
      return;
    }
    const counted = this.#calls.get(key) ?? { calls: 0, statuses: new Map(), sampled: new Set(), warnings: new Set() };
    this.#calls.set(key, counted);
    counted.calls += 1;
    add(counted.statuses, String(reply.status));
    for (const name of exchange.sampled ?? []) counted.sampled.add(name);
    for (const warning of exchange.warnings ?? []) if (counted.warnings.size < warningsMost) counted.warnings.add(warning);
    for (const fact of [...(exchange.accepted ?? []), ...(refusal?.open ?? [])]) this.#meet(fact, key);
  }

  /** What has been touched of a document by now. */
  of(spec: Spec, openTotal: number): Coverage {
    const open = [...this.#open.values()].toSorted((a, b) => b.times - a.times);
    return {
      title: spec.title,
      endpoints: entriesOf(spec.endpoints.all).map(([key, { operation }]): EndpointCoverage => {
        const { calls, statuses, sampled, warnings } = this.#calls.get(key) ?? untouched;
        return {
          key,
          operation,
          calls,
          statuses: Object.fromEntries(statuses),
          sampled: [...sampled],
          warnings: [...warnings],
        };
      }),
      open: open.map(({ fact, times, endpoints }) => ({ ...fact, times, endpoints: [...endpoints] })),
      openTotal,
      unrouted: Object.fromEntries(this.#unrouted),
    };
  }

  #meet(fact: OpenFact, endpoint: string): void {
    const name = `${fact.kind}\n${fact.subject}`;
    const met = this.#open.get(name) ?? { fact, times: 0, endpoints: new Set<string>() };
    this.#open.set(name, met);
    met.times += 1;
    met.endpoints.add(endpoint);
  }
}

interface Counted {
  calls: number;
  readonly statuses: Map<string, number>;
  readonly sampled: Set<string>;
  readonly warnings: Set<string>;
}

const untouched: Readonly<Counted> = { calls: 0, statuses: new Map(), sampled: new Set(), warnings: new Set() };
const unroutedMost = 1_000;
/** Warnings bear names that clients choose. */
const warningsMost = 200;

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
