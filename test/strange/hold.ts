/** Our own service over a strange document, held to it. */
import type { JsonMap } from '../../src/document/document.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { openStand, type StandOptions } from '../verify/stand.ts';

/** Enough to come to every trial of a document of this size; the time is for machines that do much else, and bounds nothing on others. */
const requests = 6_000;
const timeMs = 120_000;

export interface Holding {
  readonly seed?: number;
  readonly requests?: number;
  readonly timeMs?: number;
  /** What is served in its place, where that is a fault. */
  readonly served?: JsonMap;
  readonly stand?: Pick<StandOptions, 'bend' | 'spoil'>;
  readonly only?: readonly string[];
  /** Ends with the first breach. */
  readonly untilBroken?: boolean;
}

export interface StrangeHeld {
  readonly report: VerifyReport;
  readonly failures: readonly string[];
}

/** Serves a document, with a clock that can be moved, and holds the service to it. */
export async function holdStrange(document: JsonMap, holding: Holding = {}): Promise<StrangeHeld> {
  const { served, stand: bending, seed = 1, untilBroken } = holding;
  const stand = await openStand(textOf(document), {
    ...bending,
    ...(served && { served: textOf(served) }),
    inPairs: true,
    serve: {
      allowPrivateWebhooks: true,
      environment: { STRANGE_SECRET: 'x'.repeat(64) },
      handlers: { twice },
    },
  });
  try {
    const report = await stand.verify({
      seed,
      timeMs,
      requests: holding.requests ?? requests,
      ...(holding.timeMs !== undefined && { timeMs: holding.timeMs }),
      ...(holding.only && { only: holding.only }),
      ...(untilBroken && { until: () => true }),
    });
    return {
      report,
      failures: stand.failures.map((failure) => (failure instanceof Error ? `${failure.stack}` : String(failure))),
    };
  } finally {
    await stand.close();
  }
}

/** A document as it is written to a file. */
export function textOf(document: JsonMap): string {
  return JSON.stringify(document, undefined, 2);
}

/** What is said to be wrong with a service that is right: each alarm as what it is about, and in full. */
export function alarmsOf({ report, failures }: StrangeHeld): { readonly cause: string; readonly told: string }[] {
  const { breaches, unsteady, notes, stopped } = report;
  const own = notes.filter((note) => note.includes('fault'));
  return [
    ...breaches.map((breach) => ({
      cause: `${breach.kind}, ${breach.reason}`,
      told: JSON.stringify(told(breach), undefined, 1),
    })),
    ...unsteady.map((one) => ({ cause: `unsteady: ${one.kind}, ${one.reason}`, told: JSON.stringify(told(one), undefined, 1) })),
    ...own.map((note) => ({ cause: `a fault of its own: ${note.replace(/^.*own: /, '')}`, told: note })),
    ...failures.map((failure) => ({ cause: `the service failed: ${failure.split('\n')[0]}`, told: failure })),
    ...(stopped === undefined || !stopped.includes('no longer answers')
      ? []
      : [{ cause: `it ended: ${stopped}`, told: stopped }]),
  ];
}

function told({ id, promised, seen, steps }: VerifyReport['breaches'][number]) {
  return { id, promised, seen, steps };
}

/** The handler of drawn documents. */
async function twice({ params }: { readonly params: Readonly<Record<string, unknown>> }) {
  return { twice: 2 * Number(params.n), tone: String(params.tone ?? 'low') };
}
