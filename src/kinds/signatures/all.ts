import type { Comparison } from '../comparison.ts';
import type { SignatureFacts, SignatureKind } from './kind.ts';
import { standardWebhooks } from './standard-webhooks.ts';
import { template } from './template.ts';
import { unsigned } from './unsigned.ts';

/** Every signature that a webhook may have; the first is what is sent where none is stated. */
export const signatureKinds = [standardWebhooks, template, unsigned] as const satisfies readonly [
  SignatureKind,
  ...SignatureKind[],
];

export type SignatureWord = (typeof signatureKinds)[number]['word'];

/** A signature as a document states it. */
export interface StatedSignature {
  /** Its kind; nothing where it is stated in a way that is none of them. */
  readonly word: SignatureWord | undefined;
  readonly facts: SignatureFacts;
}

/** The kind of a word by which a signature may be stated; nothing for a word that is none. */
export function signatureWord(text: string | undefined): SignatureWord | undefined {
  const kinds: readonly (SignatureKind & { readonly word: SignatureWord })[] = signatureKinds;
  return kinds.find(({ word, members }) => word === text && Object.keys(members).length === 0)?.word;
}

/** The kind that is stated by a map of these members: the one that has all of them. */
export function signatureOfMembers(names: readonly string[]): SignatureWord | undefined {
  const kinds: readonly (SignatureKind & { readonly word: SignatureWord })[] = signatureKinds;
  return kinds.find(({ members }) => Object.keys(members).length > 0 && names.every((name) => Object.hasOwn(members, name)))
    ?.word;
}

/** The kind of a signature; nothing where it is none that there are means for. */
export function signatureKind({ word }: Pick<StatedSignature, 'word'>): SignatureKind | undefined {
  return signatureKinds.find((kind) => kind.word === word);
}

/** How a later signature stands to an earlier one; what is read in another way is another thing. */
export function compareSignatures(before: StatedSignature, after: StatedSignature): Comparison {
  if (before.word !== after.word) return 'other';
  return signatureKind(before)?.compare(before.facts, after.facts) ?? 'other';
}
