import type { Place } from '../document/document.ts';
import type { Ledger, LedgerFact } from '../parts/ledger.ts';

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
  ofPart(part: string): OpenFact[];
  /** What a part says of whatever it does not list, open or left to the implementation. */
  others(part: string): OpenFact[];
}

export function openFacts(ledger: Ledger): OpenFacts {
  const bySubject = new Map<string, OpenFact[]>();
  const byPart = new Map<string, OpenFact[]>();
  for (const fact of ledger.facts) {
    if (fact.standing !== 'open') continue;
    const open = toOpenFact(fact);
    push(bySubject, `${fact.kind}\n${fact.subject}`, open);
    push(byPart, fact.part, open);
  }
  return {
    about: (kind, subject) => bySubject.get(`${kind}\n${subject}`) ?? bySubject.get(`${kind}\nservice`) ?? [],
    ofPart: (part) => byPart.get(part) ?? [],
    others: (part) => ledger.facts.filter((fact) => fact.part === part && fact.subject === 'others').map(toOpenFact),
  };
}

function push(map: Map<string, OpenFact[]>, key: string, fact: OpenFact): void {
  const list = map.get(key);
  if (list) list.push(fact);
  else map.set(key, [fact]);
}

function toOpenFact({ part, kind, subject, at, place, question, prose }: LedgerFact): OpenFact {
  return {
    part,
    kind,
    subject,
    at,
    place: shortPlace(place),
    ...(question !== undefined && { question }),
    ...(prose !== undefined && { prose }),
  };
}

function shortPlace({ file, line, column }: Place): OpenFact['place'] {
  return { file, line, column };
}
