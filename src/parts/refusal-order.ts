import type { Fact } from './fact.ts';
import type { Source } from './source.ts';

/** The steps whose order a document may state, in the order of section 6 of the language. */
export const orderWords = [
  'caller',
  'rates',
  'user',
  'accept',
  'body',
  'parameters',
  'row',
  'precondition',
  'request',
  'state',
] as const;
export type OrderWord = (typeof orderWords)[number];

/** What is asked of the row in one transaction, after all else. */
export const rowWords: ReadonlySet<OrderWord> = new Set<OrderWord>(['precondition', 'request', 'state']);

/** What can only be asked once it is known who calls. */
const callerWords: ReadonlySet<OrderWord> = new Set<OrderWord>(['rates', 'user', 'row']);

/** The stated order; words that there are not are left out, which the form of the document says. */
export function readRefusalOrder(source: Source): Fact<readonly OrderWord[]> {
  return source.fact((value) => value.words().filter(isOrderWord));
}

function isOrderWord(word: string): word is OrderWord {
  return (orderWords as readonly string[]).includes(word);
}

/**
 * The order of all steps: those that are named stand in the places that they have in section 6, in the order in which they are named; of
 * the others, what is asked of the caller comes no sooner than the caller.
 */
export function wholeOrder(named: readonly OrderWord[]): OrderWord[] {
  const left = [...new Set(named)];
  const moved = new Set(left);
  const placed = orderWords.map((word) => (moved.has(word) ? (left.shift() ?? word) : word));
  const isEarly = (word: OrderWord, at: number) => callerWords.has(word) && !moved.has(word) && at < placed.indexOf('caller');
  const early = placed.filter(isEarly);
  return placed.filter((word, at) => !isEarly(word, at)).flatMap((word) => (word === 'caller' ? [word, ...early] : [word]));
}

/** The first step that stands where it cannot be carried out, and what it would have to stand behind. */
export function impossibleStep(named: readonly OrderWord[]): readonly [word: OrderWord, behind: OrderWord] | undefined {
  const order = wholeOrder(named);
  for (const [at, word] of order.entries()) {
    const later = order.slice(at + 1);
    if (callerWords.has(word) && later.includes('caller')) return [word, 'caller'];
    const earlier = rowWords.has(word) ? later.find((one) => !rowWords.has(one)) : undefined;
    if (earlier) return [word, earlier];
  }
  return undefined;
}
