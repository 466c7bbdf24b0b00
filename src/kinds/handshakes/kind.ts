import type { Json, JsonMap } from '../../document/document.ts';
import type { Members, Problem } from '../member.ts';

/** What a document states of a handshake beside its word: the members of its form. */
export type HandshakeFacts = Readonly<Record<string, Json>>;

/** A request that asks whoever is at an address whether it wants to be told of anything, with `{challenge}` and `{id}` in its texts. */
export interface Handshake {
  readonly method: 'GET' | 'POST';
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON that it carries; nothing where it carries none. */
  readonly body?: JsonMap;
  /** What an answer of success has to be, one of these: the text of it, or members of its JSON. With none, any will do. */
  readonly answers: readonly (string | Readonly<Record<string, string>>)[];
}

/** What is put in the place of `{challenge}` and `{id}`. */
export interface HandshakeWords {
  readonly challenge: string;
  /** The identifier of the subscriber. */
  readonly id: string;
}

/** A way in which an address is asked before anything is delivered to it: a word, or the members, that may stand as a webhook's `confirm`. */
export interface HandshakeKind {
  readonly word: string;
  readonly meaning: string;
  /** The members by which it is stated; with none, it is stated by its word. */
  readonly members: Members;
  /** What is wrong with what its members say. */
  problems(facts: HandshakeFacts): readonly Problem[];
  /** What is asked. */
  made(facts: HandshakeFacts): Handshake;
}
