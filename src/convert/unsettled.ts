import type { Unstated } from '../parts/fact.ts';

/** A line of its own that names a fact which the document does not settle, with its question. */
export function unsettledLine(what: string, fact: Unstated): string {
  if (fact.standing === 'none') return `None: ${what}.`;
  if (fact.standing === 'any') return `Left to the implementation: ${what}.`;
  return fact.question === undefined ? `Open: ${what}.` : `Open: ${what}: ${fact.question}`;
}
