import { type PartName, type Place, type Pointer, type Prose, partNames } from '../../document/document.ts';
import { placeOf } from '../../document/source.ts';
import type { Standing } from '../fact.ts';
import type { Spec } from '../spec.ts';
import { authenticationFacts, errorFacts, eventFacts, limitFacts, versioningFacts } from './conduct.ts';
import type { FactKind } from './kind.ts';
import { endpointFacts, purposeFacts, resourceFacts, stateFacts } from './service.ts';

/** One fact of the ledger. */
export interface LedgerFact {
  readonly part: PartName;
  readonly kind: string;
  readonly subject: string;
  readonly at: Pointer;
  readonly place: Place;
  readonly standing: Standing;
  readonly question?: string;
  /** What the document says in prose where the fact would stand. */
  readonly prose?: string;
}

export type StandingCounts = Readonly<Record<Standing, number>>;

/** The truth about a document: every fact that arises in it and how it stands. */
export interface Ledger {
  readonly facts: readonly LedgerFact[];
  readonly parts: Readonly<Record<PartName, StandingCounts>>;
  readonly total: StandingCounts;
}

/** Draws up the ledger of a document. Prose stands beside open facts alone. */
export function ledgerOf(spec: Spec): Ledger {
  const known = drawn.get(spec) ?? draw(spec);
  drawn.set(spec, known);
  return known;
}

/** Checking and serving ask for the same one. */
const drawn = new WeakMap<Spec, Ledger>();

function draw(spec: Spec): Ledger {
  const facts = factsOf(spec);
  const parts = Object.fromEntries(partNames.map((part) => [part, count(facts.filter((fact) => fact.part === part))]));
  // fromEntries forgets the keys it was given: they are the nine part names.
  return { facts, parts: parts as Record<PartName, StandingCounts>, total: count(facts) };
}

/** How many facts of a document stand how; without what each of them is, which takes longer to draw up. */
export function countsOf(spec: Spec): StandingCounts {
  const counts: Record<Standing, number> = { stated: 0, none: 0, any: 0, inferred: 0, open: 0 };
  for (const { arises } of factKinds) for (const { standing } of arises(spec)) counts[standing] += 1;
  return counts;
}

/** The facts of a document: those of one kind, or of one part, or all. */
export function factsOf(spec: Spec, wanted: { readonly kind?: string; readonly part?: PartName } = {}): LedgerFact[] {
  const { document } = spec;
  const prose = byPointer(spec.prose);
  const kinds = factKinds.filter(({ kind, part }) => kind === (wanted.kind ?? kind) && part === (wanted.part ?? part));
  return kinds.flatMap(({ part, kind, arises }) =>
    arises(spec).map(({ subject, at, standing, question }): LedgerFact => {
      const told = standing === 'open' ? proseAt(prose, at) : undefined;
      return {
        part,
        kind,
        subject,
        at,
        standing,
        // Finding a place in megabytes of text takes longer than drawing up the ledger; few are ever shown.
        get place() {
          return placeOf(document, at);
        },
        ...(question !== undefined && { question }),
        ...(told !== undefined && { prose: told }),
      };
    }),
  );
}

function count(facts: readonly LedgerFact[]): StandingCounts {
  const counts: Record<Standing, number> = { stated: 0, none: 0, any: 0, inferred: 0, open: 0 };
  for (const { standing } of facts) counts[standing] += 1;
  return counts;
}

/** The prose under the innermost heading that the pointer stands under, but never that of the whole document. */
function proseAt(prose: ReadonlyMap<Pointer, readonly string[]>, at: Pointer): string | undefined {
  for (let pointer = at; pointer !== ''; pointer = pointer.slice(0, pointer.lastIndexOf('/'))) {
    const texts = prose.get(pointer);
    if (texts) return texts.join('\n\n');
  }
  return undefined;
}

function byPointer(prose: readonly Prose[]): ReadonlyMap<Pointer, readonly string[]> {
  const texts = new Map<Pointer, string[]>();
  for (const { at, text } of prose) {
    const known = texts.get(at);
    if (known) known.push(text);
    else texts.set(at, [text]);
  }
  return texts;
}

/** The forty kinds of fact that an interface consists of, in the order of the nine parts. */
const factKinds: readonly FactKind[] = [
  ...purposeFacts,
  ...resourceFacts,
  ...stateFacts,
  ...endpointFacts,
  ...authenticationFacts,
  ...eventFacts,
  ...errorFacts,
  ...limitFacts,
  ...versioningFacts,
];
