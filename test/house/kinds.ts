import { lineAt, type SourceFile } from './source.ts';
import type { Rule, Violation } from './walls.ts';

/** The words of one sort of kinds, as its list has them when the test runs. */
export interface Sort {
  /** Its folder under `src/kinds/`. */
  readonly name: string;
  readonly words: readonly string[];
}

/** A sort as its list is now. */
export async function sortOf(name: string): Promise<Sort> {
  const list: Record<string, unknown> = await import(`../../src/kinds/${name}/all.ts`);
  const kinds = Object.values(list).filter(Array.isArray).flat() as { readonly word: string }[];
  return { name, words: kinds.map(({ word }) => word) };
}

/** A kind's word that is another word too in some files, with what it is there. */
export interface OtherMeaning {
  readonly word: string;
  /** The file or the folder, with a slash at its end. */
  readonly where: string;
  /** The key under which it is the kind's word all the same: beside that, it is told apart from what it else is. */
  readonly unlessBeside?: string;
  readonly reason: string;
}

/**
 * Nobody but `kinds/` knows a kind by its word: outside it is no text, no part of an expression and no key of a table. What is an
 * ordinary word somewhere has a row that says so, and a row that nothing needs is named too.
 */
export const onlyKindsKnowTheirWords =
  (sorts: readonly Sort[], others: readonly OtherMeaning[]): Rule =>
  (files) => {
    const used = new Set<OtherMeaning>();
    const isOther = ({ path, word, around }: Mention) => {
      const rows = others.filter((row) => row.word === word && isAt(path, row.where) && !isBeside(around, row.unlessBeside));
      for (const row of rows) used.add(row);
      return rows.length > 0;
    };
    const found = files
      .filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/kinds/'))
      .flatMap((file) => apart(sorts).flatMap((sort) => mentions(file, sort, isOther)))
      .map(
        ({ path, line, word, sort }): Violation =>
          `${path}:${line} knows \`${word}\` of kinds/${sort}: ask the kind, by a member of its contract, or say in test/house/kind-words.ts what else the word is here`,
      );
    const idle = others.filter((row) => !used.has(row) && files.some(({ path }) => isAt(path, row.where)));
    return [
      ...new Set([...found, ...idle.map(({ word, where }) => `${where}:1 needs no row for \`${word}\` any more: take it out`)]),
    ];
  };

/** Sorts of which each has the words that none before it has: a word of several is named once. */
function apart(sorts: readonly Sort[]): Sort[] {
  return sorts.map(({ name, words }, at) => ({
    name,
    words: words.filter((word) => !sorts.slice(0, at).some((before) => before.words.includes(word))),
  }));
}

function isAt(path: string, where: string): boolean {
  return where.endsWith('/') ? path.startsWith(where) : path === where;
}

/** Whether a key stands in the line, as a variable, a member or a key. */
function isBeside(line: string, key: string | undefined): boolean {
  return key !== undefined && new RegExp(`\\b${key}\\b`).test(line);
}

interface Mention {
  readonly path: string;
  readonly line: number;
  readonly word: string;
  readonly sort: string;
  /** The line of code up to where it stands. */
  readonly around: string;
}

function mentions(file: SourceFile, sort: Sort, isOther: (mention: Mention) => boolean): Mention[] {
  const { path, text, code } = file;
  const mention = ({ value: word, offset }: Found): Mention => {
    const around = code.slice(code.lastIndexOf('\n', offset) + 1, offset);
    return { path, line: lineAt(text, offset), word, sort: sort.name, around };
  };
  const own = (found: readonly Found[]) =>
    found
      .filter(({ value }) => sort.words.includes(value))
      .map(mention)
      .filter((one) => !isOther(one));
  const texts = literalsOf(file).flatMap(({ value, offset }) => [
    { value, offset },
    { value: /^\S*\{(\w+)(?::\d+)?\}\S*$/.exec(value)?.[1] ?? '', offset },
  ]);
  const alternatives = regularExpressionsOf(file).flatMap(({ value, offset }) =>
    [...alternativesOf(value)].map((word) => ({ value: word, offset })),
  );
  const keys = own(keysOf(file));
  // One bare key is a member of that name; a table of a sort has several.
  const isTable = new Set(keys.map(({ word }) => word)).size > 1;
  return [...own(texts), ...own(alternatives), ...(isTable ? keys : [])];
}

interface Found {
  readonly value: string;
  readonly offset: number;
}

/** The texts that stand in quotes, and templates without holes. */
function literalsOf({ text, code }: SourceFile): Found[] {
  return [...code.matchAll(/(['"`])([ \n]*)\1/g)].map(({ index, 0: { length } }) => ({
    value: text.slice(index + 1, index + length - 1),
    offset: index,
  }));
}

/** Regular expressions: what is blank in the code and begins with a slash that opens no comment. */
function regularExpressionsOf({ text, code }: SourceFile): Found[] {
  return [...text.matchAll(/\/(?![/*])/g)]
    .filter(({ index }) => code[index] === ' ' && (index === 0 || code[index - 1] !== ' ' || text[index - 1] === ' '))
    .map(({ index }) => ({
      value: text.slice(index, index + (/^[^\n]*?[^\\\n]\/[a-z]*(?=[^\w/]|$)/.exec(text.slice(index))?.[0].length ?? 0)),
      offset: index,
    }));
}

/** The words that an expression chooses between. */
function alternativesOf(expression: string): Set<string> {
  return expression.includes('|') ? new Set(expression.split(/[^\w-]+/)) : new Set();
}

/** The keys of object literals that stand without quotes. */
function keysOf({ code }: SourceFile): Found[] {
  return [...code.matchAll(/(?<=[{,]\s*)([A-Za-z_]\w*)(?=\s*:(?!:))/g)].map(({ index, 0: value }) => ({ value, offset: index }));
}
