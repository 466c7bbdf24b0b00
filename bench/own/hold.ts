/** Our own service over one of the examples, held to its document in all nine parts. */
import type { FactVerdict, VerifyReport } from '../../src/verify/report.ts';
import { openStand } from '../../test/verify/stand.ts';

export interface Example {
  readonly document: string;
  readonly handlers?: string;
  /** The scheme of the second callers, where it is another one. */
  readonly secondScheme?: string;
}

export const examples: readonly Example[] = [
  { document: 'examples/parcels.md', handlers: 'examples/parcels.handlers.ts' },
  { document: 'examples/library.md', handlers: 'examples/library.handlers.ts' },
  { document: 'examples/clinic.yaml', handlers: 'examples/clinic.handlers.ts' },
  { document: 'examples/wholesale.md', secondScheme: 'system' },
  { document: 'examples/unspecified.md' },
];

/** What came of it, with what went wrong in the service meanwhile. */
export interface OwnHeld {
  readonly report: VerifyReport;
  readonly failures: readonly string[];
}

/** Long enough for a machine that has much else to do: what is asked here is whether everything holds, and not how fast. */
const timeMs = 1_200_000;

/** Serves an example, with a clock that can be moved and two callers of each user where keys are given out, and holds it. */
export async function holdOwn({ document, handlers, secondScheme }: Example, seed: number): Promise<OwnHeld> {
  const stand = await openStand(document, {
    inPairs: true,
    serve: { allowPrivateWebhooks: true },
    ...(handlers !== undefined && { handlers }),
    ...(secondScheme !== undefined && { secondScheme }),
  });
  try {
    const report = await stand.verify({ seed, timeMs });
    return { report, failures: stand.failures.map(String) };
  } finally {
    await stand.close();
  }
}

/** What is said to be broken, or unsteady, in a service that is right, and what went wrong in `verify` itself. */
export function alarmsOf({ report, failures }: OwnHeld): string[] {
  const { breaches, unsteady, notes, stopped } = report;
  return [
    ...[...breaches, ...unsteady].map(
      ({ id, promised, seen, steps }) => `${id}\n  promised ${promised}\n  seen ${seen}\n  ${JSON.stringify(steps)}`,
    ),
    ...notes.filter((note) => note.includes('fault') || note.startsWith('No time was left')),
    ...(stopped === undefined ? [] : [`it ended early: ${stopped}`]),
    ...failures.map((failure) => `the service failed: ${failure}`),
  ];
}

/** The facts that nothing could show, or not all of which was shown, with the reason. */
export function untestableIn(facts: readonly FactVerdict[]): Map<string, string> {
  const some = facts.filter(({ verdict }) => verdict === 'not testable' || verdict === 'partly');
  return new Map(some.map(({ kind, subject, why = '' }) => [`${kind}: ${subject}`, steady(why)]));
}

/** Without what is another one in every run, which answers that are quoted are full of. */
function steady(why: string): string {
  return why.replaceAll(/(was answered \d{3}): \{.*?\}(?=[),]|$)|(was answered \d{3}): .*$/gs, '$1$2');
}
