import { type PartName, type Place, type Pointer, type Prose, partNames } from '../document/document.ts';
import { placeOf } from '../document/place.ts';
import type { Standing } from './fact.ts';
import { factKinds } from './facts/all.ts';
import type { Spec } from './spec.ts';

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

export type Counts = Readonly<Record<Standing, number>>;

/** The truth about a document: every fact that arises in it and how it stands. */
export interface Ledger {
  readonly facts: readonly LedgerFact[];
  readonly parts: Readonly<Record<PartName, Counts>>;
  readonly total: Counts;
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
  const facts = factKinds.flatMap(({ part, kind, arises }) =>
    arises(spec).map((fact): LedgerFact => {
      const prose = fact.standing === 'open' ? proseAt(spec.prose, fact.at) : undefined;
      return { part, kind, ...fact, place: placeOf(spec.document, fact.at), ...(prose !== undefined && { prose }) };
    }),
  );
  const parts = Object.fromEntries(partNames.map((part) => [part, count(facts.filter((fact) => fact.part === part))]));
  // fromEntries forgets the keys it was given: they are the nine part names.
  return { facts, parts: parts as Record<PartName, Counts>, total: count(facts) };
}

function count(facts: readonly LedgerFact[]): Counts {
  const counts: Record<Standing, number> = { stated: 0, none: 0, any: 0, inferred: 0, open: 0 };
  for (const { standing } of facts) counts[standing] += 1;
  return counts;
}

/** The prose under the innermost heading that the pointer stands under, but never that of the whole document. */
function proseAt(prose: readonly Prose[], at: Pointer): string | undefined {
  for (let pointer = at; pointer !== ''; pointer = pointer.slice(0, pointer.lastIndexOf('/'))) {
    const texts = prose.filter((entry) => entry.at === pointer).map((entry) => entry.text);
    if (texts.length > 0) return texts.join('\n\n');
  }
  return undefined;
}
