import type { SignatureKind } from './kind.ts';
import { standardWebhooks } from './standard-webhooks.ts';
import { template } from './template.ts';
import { unsigned } from './unsigned.ts';

/** Every signature that a webhook may have; the first is what is sent where none is stated. */
export const signatureKinds = [standardWebhooks, template, unsigned] as const satisfies readonly SignatureKind[];

export type SignatureWord = (typeof signatureKinds)[number]['word'];

/** The kind of a word; nothing for a word that is none. */
export function signatureKind(word: string | undefined): SignatureKind<SignatureWord> | undefined {
  return signatureKinds.find((kind) => kind.word === word);
}

/** The kind that is stated by a map of these members. */
export function signatureKindOf(members: readonly string[]): SignatureKind<SignatureWord> | undefined {
  const kinds: readonly SignatureKind<SignatureWord>[] = signatureKinds;
  return kinds.find((kind) => kind.members && members.every((member) => Object.hasOwn(kind.members ?? {}, member)));
}
