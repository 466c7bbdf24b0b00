import type { ValueForm } from '../member.ts';

/** What stands around a payload: each member with the expression over the event that makes it. */
export type EnvelopeMembers = Readonly<Record<string, string>>;

/** A way in which events are wrapped: a word, or a map of members, that may stand as `envelope`. */
export interface EnvelopeKind {
  readonly word: string;
  readonly meaning: string;
  /**
   * How it is stated: where nothing is written, by `none`, by its word, or by a map of the author's own, of this form. What
   * follows from it, in serving, verifying and other formats, follows from its members.
   */
  readonly stated: 'unwritten' | 'by none' | 'by word' | { readonly form: ValueForm };
  /** Its members, of which `own` are those that the document writes; nothing where the payload is sent as it is. */
  members(own: EnvelopeMembers): EnvelopeMembers | undefined;
}
