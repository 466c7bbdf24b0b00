import { timingSafeEqual } from 'node:crypto';
import type { Comparison } from '../comparison.ts';
import type { Members, Problem } from '../member.ts';

/** What a document states of a signature beside its word: the members of its form. */
export type SignatureFacts = Readonly<Record<string, string>>;

/** What is signed of a delivery, each time that it is tried. */
export interface Signed {
  readonly id: string;
  /** Whole seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** Signs deliveries as one document states it. */
export interface Signature {
  /** The header fields for these secrets, the newest first; or what is wrong with the secrets. */
  sign(signed: Signed, secrets: readonly string[]): Readonly<Record<string, string>> | { readonly wrong: string };
}

/** What came, as a receiver has it. */
export interface Received {
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The event's id, where the envelope shows it. */
  readonly id: string | undefined;
}

/** A header field that a signature is carried in. */
export interface SignatureHeader {
  readonly name: string;
  readonly description: string;
  /** What its values look like, as a regular expression. */
  readonly pattern?: string;
}

/** A way in which a delivery shows that it comes from the service: a word, or the members, that may stand as a webhook's `signature`. */
export interface SignatureKind {
  readonly word: string;
  readonly meaning: string;
  /** The members by which it is stated; with none, it is stated by its word. */
  readonly members: Members;
  /** What is wrong with what its members say. */
  problems(facts: SignatureFacts): readonly Problem[];
  /** Whether it is made with the subscriber's secret. */
  usesSecret(facts: SignatureFacts): boolean;
  /** How a delivery is signed; whatever depends on the facts alone is worked out here, once. */
  compile(facts: SignatureFacts): Signature;
  /**
   * What is wrong with the signature of what came; nothing where it is good. `nowSeconds` is nothing where the clock of the
   * sender is not known, and its time then not looked at. It shares no code with `compile`: one does not judge oneself.
   */
  flaw(facts: SignatureFacts, received: Received, secret: string, nowSeconds: number | undefined): string | undefined;
  /** What nearly is a good delivery: made of one that was signed now, and wrong by one thing. */
  nearMisses(facts: SignatureFacts, good: Received): readonly SignatureNearMiss[];
  /** The header fields that carry it. */
  headers(facts: SignatureFacts): readonly SignatureHeader[];
  /** The header field of them that holds the event's id. */
  readonly idHeader?: string;
  /** How one statement of it stands to another, for those who receive. */
  compare(one: SignatureFacts, other: SignatureFacts): Comparison;
}

/** A delivery that no receiver may take. */
export interface SignatureNearMiss {
  /** What is wrong with it: `its body is another`. */
  readonly how: string;
  readonly received: Received;
}

/** The near misses that any signature has, which stands in these header fields and is over the body. */
export function usualMisses(good: Received, names: readonly string[]): SignatureNearMiss[] {
  const without = (name: string) => Object.fromEntries(Object.entries(good.headers).filter(([other]) => other !== name));
  return [
    { how: 'its body is another', received: { ...good, text: `${good.text} ` } },
    ...names.map((name) => ({ how: `there is no ${name}`, received: { ...good, headers: without(name) } })),
  ];
}

/** How far the time of a signature may be from now; what Standard Webhooks advises receivers to allow. */
const toleranceSeconds = 300;

/** What is wrong with the time that a delivery says it was signed at. */
export function timeFlaw(name: string, text: string, nowSeconds: number | undefined): string | undefined {
  if (!/^\d+$/.test(text)) return `${name} is ${text}, which is no whole number of seconds`;
  if (nowSeconds === undefined || Math.abs(Number(text) - nowSeconds) <= toleranceSeconds) return undefined;
  return `${name} is ${text}, which is more than ${toleranceSeconds} s from ${Math.round(nowSeconds)}`;
}

/** Whether two signatures are the same, in a time that tells nothing of where they differ. */
export function isSameSignature(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
