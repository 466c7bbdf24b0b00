/** Where the way to the next page is told: the words of pagination's `told`; the first is meant where none is stated. */
export const tellings = [
  { word: 'body', meaning: 'in the envelope around the rows', isInBody: true, isInLink: false },
  { word: 'link', meaning: 'in the header `Link` (RFC 8288)', isInBody: false, isInLink: true },
  { word: 'both', meaning: 'in the envelope and in the header', isInBody: true, isInLink: true },
] as const satisfies readonly Telling[];

export interface Telling {
  readonly word: string;
  readonly meaning: string;
  readonly isInBody: boolean;
  readonly isInLink: boolean;
}

/** The telling of this name; the usual one where none is stated. */
export function tellingOf(word: string = tellings[0].word): Telling | undefined {
  return tellings.find((telling) => telling.word === word);
}
