import { type Comparison, together } from '../comparison.ts';
import { apiKey } from './api-key.ts';
import { basic } from './basic.ts';
import { basicKey } from './basic-key.ts';
import { hmac } from './hmac.ts';
import { httpSignature } from './http-signature.ts';
import { introspection } from './introspection.ts';
import { jwt } from './jwt.ts';
import type { PlacedScheme, SchemeKind } from './kind.ts';
import { mutualTls } from './mutual-tls.ts';
import { oauth2 } from './oauth2.ts';
import { signature } from './signature.ts';
import { unverifiable } from './unverifiable.ts';

/** Every kind of scheme that can be stated. */
export const schemeKinds = [
  apiKey,
  basic,
  basicKey,
  hmac,
  httpSignature,
  introspection,
  jwt,
  mutualTls,
  oauth2,
  signature,
  unverifiable,
] as const satisfies readonly SchemeKind[];

/** What is stated of a scheme of which nothing is known: nobody can show it. */
export const unknownScheme = { type: unverifiable.word } as const;

/** The kinds in the order in which they are asked whether a scheme of another format is theirs: the one that takes what no other knows comes last. */
export function schemeReaders(): readonly SchemeKind[] {
  const kinds: readonly SchemeKind[] = schemeKinds;
  return [...kinds.filter((kind) => kind !== unverifiable), unverifiable];
}

export type SchemeWord = (typeof schemeKinds)[number]['word'];

/** The kind of a word; nothing for a word that is none. */
export function schemeWord(text: string | undefined): SchemeWord | undefined {
  return schemeKinds.find(({ word }) => word === text)?.word;
}

/** The kind of a scheme; nothing where it is none of them. */
export function schemeKind(word: SchemeWord | undefined): SchemeKind | undefined {
  return schemeKinds.find((kind) => kind.word === word);
}

/** What stands before a credential of a scheme: what is stated, or, in `Authorization`, what is usual. */
export function prefixOf(scheme: PlacedScheme & { readonly type: SchemeWord | undefined }): string | undefined {
  const isUsual = scheme.in === 'header' && scheme.carriedIn?.toLowerCase() === 'authorization';
  return scheme.prefix ?? (isUsual ? schemeKind(scheme.type)?.prefix : undefined);
}

/** How a later scheme stands to an earlier one: a credential of another kind, or in another place, is another one. */
export function compareSchemes(
  before: PlacedScheme & { readonly type: SchemeWord | undefined },
  after: PlacedScheme & { readonly type: SchemeWord | undefined },
): Comparison {
  const placeOf = (one: typeof before) =>
    JSON.stringify([one.in, one.in === 'header' ? one.carriedIn?.toLowerCase() : one.carriedIn, prefixOf(one)?.toLowerCase()]);
  if (before.type !== after.type) return 'other';
  return together([
    placeOf(before) === placeOf(after) ? 'same' : 'other',
    schemeKind(before.type)?.compare(before, after) ?? 'other',
  ]);
}
