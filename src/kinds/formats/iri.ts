import type { Format } from './kind.ts';

/** A URI that may hold characters outside ASCII (RFC 3987 section 2.2), with its scheme. */
export const iri = {
  word: 'iri',
  type: 'string',
  meaning: 'an IRI with its scheme',
  example: 'https://müller.example/straße',
  within: ['iri-reference'],
  covers: 'uri',
  test: (value) => typeof value === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(value) && hasIriCharacters(value),
} as const satisfies Format;

/** Whether a text holds only what an IRI may: no space, control, `"<>\^`{|}` or lone `%`, one `#`, brackets in its authority alone. */
export function hasIriCharacters(text: string): boolean {
  return text.isWellFormed() && CHARACTERS.test(text);
}

const CHARACTERS =
  /^(?:[a-z][a-z0-9+.-]*:|(?![a-z][a-z0-9+.-]*:))(?:\/\/(?:(?:[^\p{Cc}\s"<>\\^`{|}%#?/[\]@]|%[\da-f]{2})*@)?(?:\[[\da-f:.v]+\]|(?:[^\p{Cc}\s"<>\\^`{|}%#?/[\]@:]|%[\da-f]{2})*)(?::\d*)?(?=[/?#]|$)|(?!\/\/))(?:[^\p{Cc}\s"<>\\^`{|}%#[\]]|%[\da-f]{2})*(?:#(?:[^\p{Cc}\s"<>\\^`{|}%#[\]]|%[\da-f]{2})*)?$/iu;
