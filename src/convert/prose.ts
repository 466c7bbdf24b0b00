import type { Pointer } from '../document/document.ts';
import type { Spec } from '../parts/spec.ts';

/** What a document says in prose under a place, paragraph by paragraph. */
export type Prose = (at: Pointer) => readonly string[];

/** Finds the prose that stands right under a heading. */
export function proseOf(spec: Spec): Prose {
  const byPointer = Map.groupBy(spec.prose, (entry) => entry.at);
  return (at) => (byPointer.get(at) ?? []).map((entry) => entry.text);
}
