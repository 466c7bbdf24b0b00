import type { Pointer } from '../../document/document.ts';
import type { Unstated } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';

/** What a document says in prose under a place, paragraph by paragraph. */
export type ProseAt = (at: Pointer) => readonly string[];

/** Finds the prose that stands right under a heading. */
export function proseOf(spec: Spec): ProseAt {
  const byPointer = Map.groupBy(spec.prose, (entry) => entry.at);
  return (at) => (byPointer.get(at) ?? []).map((entry) => entry.text);
}

/** A line of its own that names a fact which the document does not settle, with its question. */
export function unsettledLine(what: string, fact: Unstated): string {
  if (fact.standing === 'none') return `None: ${what}.`;
  if (fact.standing === 'any') return `Left to the implementation: ${what}.`;
  return fact.question === undefined ? `Open: ${what}.` : `Open: ${what}: ${fact.question}`;
}
