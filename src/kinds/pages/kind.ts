import type { Member, Members } from '../member.ts';

/**
 * How a list is cut into pages: a word that may stand as pagination's `style`. It says by which parameters a page is asked for,
 * and what the place between two pages is told by; who serves and who asks reckon with that alone.
 */
export interface PageStyle {
  readonly word: string;
  readonly meaning: string;
  /**
   * What tells where a page ends: an opaque `token` that the service gives, the `identifier` of a row, the `count` of the rows
   * before it; `nothing` where a list is shown in one piece.
   */
  readonly tells: 'token' | 'identifier' | 'count' | 'nothing';
  /** Whether the row whose identifier is told is the first of its page; else it is the last of the page before. */
  readonly isFirst?: boolean;
  /** The query parameters by which a page is asked for; the first one leads forward. */
  readonly parameters: readonly PageParameter[];
  /** How a place is reckoned with, where it is told by a count. */
  readonly count?: CountedPlace;
  /** Whether every row is shown once while others are added before it. */
  readonly isSteady: boolean;
  /** The names of its parameters where those of a list of another's document speak of this style; nothing where they do not. */
  recognise(asked: AskedFor): Readonly<Record<string, string>> | undefined;
}

/** A parameter by which a page is asked for; its word in a document names it. */
export interface PageParameter {
  readonly word: string;
  /** What stands under its word in a document. */
  readonly stated: string;
  /** Whether it has to be named; then its word is its name where nothing else is. */
  readonly isRequired: boolean;
  readonly leads: 'forward' | 'back' | 'both ways';
  /** What may be sent for it, in JSON Schema. */
  readonly schema: { readonly type: 'string' } | { readonly type: 'integer'; readonly minimum: number; readonly default: number };
  /** What it says to those who send it. */
  readonly description: string;
  /** Values beside what may be sent, which a service refuses. */
  readonly nearMisses: readonly (string | number)[];
  /** The names that it has in the documents of others: letters and digits alone, in lower case. */
  readonly usualNames: readonly string[];
}

export interface CountedPlace {
  /** The value of the first page. */
  readonly least: number;
  /** How many rows stand before the page of this value. */
  skip(value: number, size: number): number;
  /** The value of the page before which so many rows stand. */
  valueAt(skip: number, size: number): number;
  /** The value of the page after one that showed so many rows. */
  following(value: number, shown: number): number;
}

/** What the parameters of a list are asked about, to tell its style. */
export interface AskedFor {
  /** The name of a parameter that has one of the usual names of this word. */
  named(word: string): string | undefined;
  /** Whether an answer has a field for what the next page is asked for with. */
  readonly hasNext: boolean;
  /** Whether it takes what nobody but the service can read. */
  takesOpaque(name: string): boolean;
  takesText(name: string): boolean;
  /** Whether its first value is nought. */
  startsAtNought(name: string): boolean;
  /** Whether its first value is one. */
  startsAtOne(name: string): boolean;
  /** The parameter with one of these names that takes a whole number, beside another that says how many rows a page has. */
  counts(names: readonly string[]): string | undefined;
  /** The parameter with one of these names that takes a text and need not be sent, beside another that says how many rows a page has. */
  leads(names: readonly string[]): string | undefined;
}

/** What a document states of pages, as far as styles reckon with it. */
export interface StatedPages {
  /** The names of the parameters that belong to styles, by their words. */
  readonly names: Readonly<Record<string, string>>;
  readonly size?: string;
  readonly default?: number;
  readonly max?: number;
  readonly overMax?: 'clamp' | 'refuse';
}

/** A parameter of a style beside the name that it has. */
export interface NamedParameter {
  readonly name: string;
  readonly parameter: PageParameter;
}

/** The parameters of a style by which pages are asked for here; one that is not stated and need not be is left out. */
export function parametersOf({ parameters }: PageStyle, { names }: Pick<StatedPages, 'names'>): NamedParameter[] {
  return parameters.flatMap((parameter) => {
    const name = names[parameter.word] ?? (parameter.isRequired ? parameter.word : undefined);
    return name === undefined ? [] : [{ name, parameter }];
  });
}

/** The words that belong to a style, for the form of pagination. */
export function pageMembers({ parameters }: PageStyle): Members {
  return Object.fromEntries(
    parameters.map(({ word, stated, isRequired }): [string, Member] => [
      word,
      { form: { type: 'string', description: stated }, isRequired },
    ]),
  );
}
