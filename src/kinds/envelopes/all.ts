import { type Comparison, compareBy } from '../comparison.ts';
import { bare } from './bare.ts';
import type { EnvelopeKind, EnvelopeMembers } from './kind.ts';
import { own } from './own.ts';
import { usual } from './usual.ts';

/** Every envelope that there is. */
export const envelopeKinds = [usual, bare, own] as const satisfies readonly EnvelopeKind[];

export type EnvelopeWord = (typeof envelopeKinds)[number]['word'];

const kinds: readonly (Omit<EnvelopeKind, 'word'> & { readonly word: EnvelopeWord })[] = envelopeKinds;

/** The kind that a document means by what it writes: nothing, `none`, a word, or a map; nothing for a word that is none. */
export function envelopeWord(written: undefined | 'none' | 'a map' | { readonly word: string }): EnvelopeWord | undefined {
  return kinds.find(({ word, stated }) => {
    if (written === undefined) return stated === 'unwritten';
    if (written === 'none') return stated === 'by none';
    return written === 'a map' ? typeof stated === 'object' : stated === 'by word' && word === written.word;
  })?.word;
}

/** The members of an envelope; nothing where the payload is sent as it is. */
export function envelopeMembers(word: EnvelopeWord, written: EnvelopeMembers): EnvelopeMembers | undefined {
  return kinds.find((kind) => kind.word === word)?.members(written);
}

/** The kind that is stated by its word and has exactly these members, literal ones with their values. */
export function envelopeLike(members: Readonly<Record<string, unknown>>): EnvelopeWord | undefined {
  return kinds.find((kind) => {
    const known = kind.stated === 'by word' ? Object.entries(kind.members({}) ?? {}) : [];
    const isEach = known.every(([name, source]) => {
      const literal = literalOf(source);
      return Object.hasOwn(members, name) && (literal === undefined || members[name] === literal);
    });
    return known.length > 0 && known.length === Object.keys(members).length && isEach;
  })?.word;
}

/** The value of an expression that is a literal. */
export function literalOf(source: string): string | number | boolean | undefined {
  const text = /^'([^'\\]*)'$|^"([^"\\]*)"$/.exec(source);
  if (text) return text[1] ?? text[2] ?? '';
  if (/^-?\d+$/.test(source)) return Number(source);
  return source === 'true' || source === 'false' ? source === 'true' : undefined;
}

/** How a later envelope stands to an earlier one, for those who read: members more give them more. */
export function compareEnvelopes(before: EnvelopeMembers | undefined, after: EnvelopeMembers | undefined): Comparison {
  if (before === undefined || after === undefined) return before === after ? 'same' : 'other';
  return compareBy(before, after, (inner, outer) => Object.entries(inner).every(([name, source]) => outer[name] === source));
}
