import { type Comparison, compareBy, together } from '../comparison.ts';
import type { PageWord } from './all.ts';
import { pageStyle } from './all.ts';
import { parametersOf, type StatedPages } from './kind.ts';

/**
 * How later pages stand to earlier ones: in a style with other parameters they are others, and smaller ones are tighter, be it
 * by default, at the most, or because a size above the most is refused.
 */
export function comparePages(
  before: StatedPages & { readonly style: PageWord },
  after: StatedPages & { readonly style: PageWord },
): Comparison {
  if (before.style !== after.style) return 'other';
  if (namesOf(before) !== namesOf(after)) return 'other';
  return together([
    compareBy(before.default ?? Number.POSITIVE_INFINITY, after.default ?? Number.POSITIVE_INFINITY, isAtMost),
    compareBy(before.max ?? Number.POSITIVE_INFINITY, after.max ?? Number.POSITIVE_INFINITY, isAtMost),
    compareBy(strictness(before), strictness(after), isAtMost),
  ]);
}

function namesOf(pages: StatedPages & { readonly style: PageWord }): string {
  return JSON.stringify([...parametersOf(pageStyle(pages.style), pages).map(({ name }) => name), pages.size]);
}

/** What comes of a size above the most: it is cut down, it is not said, it is refused. */
function strictness({ overMax }: StatedPages): number {
  if (overMax === 'clamp') return 2;
  return overMax === 'refuse' ? 0 : 1;
}

function isAtMost(inner: number, outer: number): boolean {
  return inner <= outer;
}
