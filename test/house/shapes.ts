import { lineAt } from './source.ts';
import type { Rule } from './walls.ts';

/** Words of which the meaning is written down once: outside the files of a table, each with its reason, nobody writes them. */
export const writtenOnlyIn =
  (words: RegExp, places: Readonly<Record<string, string>>, remedy: string): Rule =>
  (files) => {
    const found = files.flatMap(({ path, text }) => {
      const at = text.search(words);
      return at < 0 ? [] : [{ path, line: lineAt(text, at) }];
    });
    const needless = Object.keys(places).filter((path) => !found.some((one) => one.path === path));
    return [
      ...found.filter(({ path }) => places[path] === undefined).map(({ path, line }) => `${path}:${line} ${remedy}`),
      ...needless.map((path) => `${path}:1 needs no entry in test/house.test.ts any more: take it out`),
    ];
  };

/** What stands for `/` and `~` in a step of a JSON Pointer (RFC 6901 section 3), as a text or an expression of its own. */
export const pointerEscapes = /(['"`/])~[01]\1/;

/** The characters of a token of HTTP (RFC 9110 section 5.6.2), as a class of a regular expression. */
export const tokenCharacters = /!#\$%&'\*/;

/** The words by which schemas are put together (JSON Schema 2020-12, Core section 10.2.1). */
export const composingWords = /\b(?:allOf|anyOf|oneOf)\b/;

/** Where ajv is set up. */
export const ajvSetUp = /\bnew Ajv/;
