import { readPattern } from './read-pattern.ts';
import { beyondAscii, type Tree } from './steps.ts';

/** How many texts a pattern is found in, as far as that is plain; without end where it does not say how they begin and end. */
export function textsOf(pattern: string): number {
  const tree = readPattern(pattern, 'points');
  if (typeof tree === 'string' || tree.op !== 'row') return Number.POSITIVE_INFINITY;
  const [first, last] = [tree.of[0], tree.of.at(-1)];
  const isWhole = first?.op === 'where' && first.where === 'start' && last?.op === 'where' && last.where === 'end';
  return isWhole ? countOf(tree) : Number.POSITIVE_INFINITY;
}

function countOf(tree: Tree): number {
  switch (tree.op) {
    case 'point':
      return (tree.set & beyondAscii) === 0n ? charactersIn(tree.set) : Number.POSITIVE_INFINITY;
    case 'where':
      return 1;
    case 'row':
      return tree.of.reduce((product, one) => product * countOf(one), 1);
    case 'either':
      return tree.ways.reduce((sum, one) => sum + countOf(one), 0);
    case 'repeat':
      return repeated(countOf(tree.of), tree.least, tree.most);
    default:
      return Number.POSITIVE_INFINITY;
  }
}

/** More than so many are as good as without end. */
const longMost = 64;

function repeated(each: number, least: number, most: number): number {
  if (most > longMost) return Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let times = least; times <= most; times++) sum += each ** times;
  return sum;
}

function charactersIn(set: bigint): number {
  let count = 0;
  for (let rest = set; rest > 0n; rest &= rest - 1n) count += 1;
  return count;
}
