import { challenge } from './challenge.ts';
import type { Handshake, HandshakeFacts, HandshakeKind } from './kind.ts';
import { ownHandshake } from './own-handshake.ts';
import { ping } from './ping.ts';

/** Every way in which an address may be asked before anything is delivered to it. */
export const handshakeKinds = [challenge, ping, ownHandshake] as const satisfies readonly HandshakeKind[];

export type HandshakeWord = (typeof handshakeKinds)[number]['word'];

/** A handshake as a document states it. */
export interface StatedHandshake {
  /** Its kind; nothing where it is stated in a way that is none of them. */
  readonly word: HandshakeWord | undefined;
  readonly facts: HandshakeFacts;
}

/** The kind of a word by which a handshake may be stated, or of a map of these members. */
export function handshakeWord(text: string | undefined, names: readonly string[]): HandshakeWord | undefined {
  const kinds: readonly (HandshakeKind & { readonly word: HandshakeWord })[] = handshakeKinds;
  if (text !== undefined) return kinds.find(({ word, members }) => word === text && Object.keys(members).length === 0)?.word;
  return kinds.find(({ members }) => Object.keys(members).length > 0 && names.every((name) => Object.hasOwn(members, name)))
    ?.word;
}

/** The kind of a handshake; nothing where it is none that there are means for. */
export function handshakeKind({ word }: Pick<StatedHandshake, 'word'>): HandshakeKind | undefined {
  return handshakeKinds.find((kind) => kind.word === word);
}

/** What is asked by a stated handshake; nothing where it is none that there are means for. */
export function handshakeOf(stated: StatedHandshake): Handshake | undefined {
  return handshakeKind(stated)?.made(stated.facts);
}
