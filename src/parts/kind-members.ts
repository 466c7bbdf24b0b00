import type { Json } from '../document/document.ts';
import type { Members } from '../kinds/member.ts';
import type { Named } from './fact.ts';
import { named, type Source } from './source.ts';

/** What is written under the words that belong to one kind or another. */
export function readMembers(source: Source, kinds: readonly { readonly members: Members }[]): Named<Json> {
  const words = new Set(kinds.flatMap(({ members }) => Object.keys(members)));
  return named(
    [...words].flatMap((word) => {
      const own = source.get(word);
      return own.value === undefined || own.unstated('tags only') ? [] : [[word, own.value] as const];
    }),
  );
}
