import { afterRow } from './after.ts';
import { cursor } from './cursor.ts';
import { firstRow } from './first-row.ts';
import type { PageStyle } from './kind.ts';
import { none } from './none.ts';
import { offset } from './offset.ts';
import { page } from './page.ts';
import { pageFromZero } from './page-from-zero.ts';
import { startingAt } from './starting-at.ts';

/** Every word that pagination's `style` may be, in the order in which they are looked for in the documents of others. */
export const pageStyles = [
  cursor,
  afterRow,
  startingAt,
  firstRow,
  offset,
  page,
  pageFromZero,
  none,
] as const satisfies readonly PageStyle[];

export type PageWord = (typeof pageStyles)[number]['word'];

/** The style of a list in one piece, which is what a list has that nothing is said of. */
export const inOnePiece: PageStyle & { readonly word: PageWord } = none;

/** Whether there is a style of pages of this name. */
export function isPageWord(word: string): word is PageWord {
  return pageStyles.some((style) => style.word === word);
}

/** The style of pages of this name. */
export function pageStyle(word: PageWord): PageStyle {
  const found = pageStyles.find((style) => style.word === word);
  if (!found) throw new Error(`${word} is no style of pages`);
  return found;
}
