import type { PartName, Place } from '../../document/document.ts';
import { factsOf, type LedgerFact } from '../../parts/facts/ledger.ts';
import type { Spec } from '../../parts/spec.ts';

/** An open fact, as an answer names it. */
export interface OpenFact {
  readonly part: string;
  readonly kind: string;
  readonly subject: string;
  readonly at: string;
  readonly place: { readonly file: string; readonly line: number; readonly column: number };
  readonly question?: string;
  readonly prose?: string;
}

/** The open facts of a document, to be looked up when plans are made. */
export interface OpenFacts {
  /** Those of a kind about a subject; where the list above is open, the one of the service. */
  about(kind: string, subject: string): OpenFact[];
  /** All of a part. */
  ofPart(part: PartName): OpenFact[];
  /** What a part says of whatever it does not list, open or left to the implementation. */
  others(part: PartName): OpenFact[];
}

/** Facts are looked for kind by kind, when one of the kind is first asked for: a large document has tens of thousands. */
export function openFacts(spec: Spec): OpenFacts {
  const byKind = new Map<string, Map<string, OpenFact[]>>();
  const subjectsOf = (kind: string): Map<string, OpenFact[]> => {
    const known = byKind.get(kind);
    if (known) return known;
    const subjects = new Map<string, OpenFact[]>();
    for (const fact of factsOf(spec, { kind })) if (fact.standing === 'open') push(subjects, fact.subject, toOpenFact(fact));
    byKind.set(kind, subjects);
    return subjects;
  };
  return {
    about(kind, subject) {
      const subjects = subjectsOf(kind);
      return subjects.get(subject) ?? subjects.get('service') ?? [];
    },
    ofPart: (part) => factsOf(spec, { part }).flatMap((fact) => (fact.standing === 'open' ? [toOpenFact(fact)] : [])),
    others: (part) => factsOf(spec, { part }).flatMap((fact) => (fact.subject === 'others' ? [toOpenFact(fact)] : [])),
  };
}

/** Open facts as a header names them. */
export function nameFacts(facts: readonly OpenFact[]): string {
  return [...new Set(facts.map(({ kind, subject }) => `${kind} (${subject})`))].join(', ');
}

function push(map: Map<string, OpenFact[]>, key: string, fact: OpenFact): void {
  const list = map.get(key);
  if (list) list.push(fact);
  else map.set(key, [fact]);
}

function toOpenFact(fact: LedgerFact): OpenFact {
  const { part, kind, subject, at, question, prose } = fact;
  return {
    part,
    kind,
    subject,
    at,
    get place() {
      return shortPlace(fact.place);
    },
    ...(question !== undefined && { question }),
    ...(prose !== undefined && { prose }),
  };
}

function shortPlace({ file, line, column }: Place): OpenFact['place'] {
  return { file, line, column };
}
