import type { Pointer } from '../document/document.ts';
import { below } from '../document/pointer.ts';
import { type EnvelopeWord, envelopeMembers, envelopeWord } from '../kinds/envelopes/all.ts';
import type { EnvelopeMembers } from '../kinds/envelopes/kind.ts';
import type { Expression, Named } from './fact.ts';
import { named, type Source } from './source.ts';

/** What stands around a payload. */
export interface Envelope {
  readonly at: Pointer;
  /** Its kind; nothing where it is a word that is none. */
  readonly word: EnvelopeWord | undefined;
  /** The expressions that it is made with, where anything is written: the document's own, or those of its kind. */
  readonly expressions: Named<Expression>;
  /** Each member with its expression; absent = the payload is sent as it is. */
  readonly members?: EnvelopeMembers;
}

/** Reads what a document writes under `envelope`. */
export function readEnvelope(source: Source): Envelope {
  const standing = source.unstated()?.standing;
  if (standing) return envelopeBy(source.at, standing === 'none' ? standing : undefined);
  if (source.isMap) return envelopeBy(source.at, 'a map', source.expressions());
  return envelopeBy(source.at, { word: source.text() ?? '' });
}

/** The envelope that a document means by what it writes. */
export function envelopeBy(
  at: Pointer,
  written: Parameters<typeof envelopeWord>[0],
  own: Named<Expression> = named([]),
): Envelope {
  const word = envelopeWord(written);
  const sources = named(Object.entries(own).map(([name, { source }]) => [name, source.trim()] as const));
  const members = word && envelopeMembers(word, sources);
  const made = Object.entries(written === undefined ? {} : (members ?? {}));
  const expressions = named(made.map(([name, source]) => [name, own[name] ?? { source, at: below(at, name) }] as const));
  return { at, word, expressions, ...(members && { members }) };
}
