import { dirname } from 'node:path/posix';
import { type Reach, reachedCharacters, reaches } from './coverage.ts';
import type { PlacedMutant } from './mutant.ts';

/**
 * Which test files are asked about a mutant, and in which order. Of those that reach its place, the ones that run most of its
 * file and of the files beside it in the least time go first, until they would take longer together than is allowed; among
 * these, one that killed a mutant of the same file goes ahead.
 */
export class Selection {
  readonly #tests: readonly Reach[];
  readonly #secondsAtMost: number;
  readonly #kills = new Map<string, Map<Reach, number>>();

  constructor(all: readonly Reach[], secondsAtMost: number) {
    this.#tests = all.filter(({ ending }) => ending === 'passed');
    this.#secondsAtMost = secondsAtMost;
  }

  testsFor({ path, start }: PlacedMutant): Reach[] {
    const kills = this.#kills.get(path);
    const rate = (reach: Reach) => (kills?.get(reach) ?? 0) / reach.seconds;
    let seconds = 0;
    const within = this.#tests
      .filter((reach) => reaches(reach, path, start))
      .map((reach) => ({ reach, worth: worthOf(reach, path) }))
      .sort((a, b) => b.worth - a.worth)
      .filter(({ reach }, at) => {
        // The best of them is asked in any case.
        if (at > 0 && seconds + reach.seconds > this.#secondsAtMost) return false;
        seconds += reach.seconds;
        return true;
      });
    return within.map(({ reach }) => reach).sort((a, b) => rate(b) - rate(a));
  }

  /** Remembers that a test file killed a mutant. */
  killed({ path }: PlacedMutant, by: Reach): void {
    const kills = this.#kills.get(path) ?? new Map<Reach, number>();
    this.#kills.set(path, kills.set(by, (kills.get(by) ?? 0) + 1));
  }
}

/** What a file runs merely because something imports it is little; a test that is about it runs far more, and may take its time. */
function worthOf(reach: Reach, path: string): number {
  const folder = `${dirname(path)}/`;
  const own = reachedCharacters(reach, (other) => other === path);
  const beside = reachedCharacters(reach, (other) => other.startsWith(folder) && !other.slice(folder.length).includes('/'));
  return (own * own * beside) / reach.seconds;
}
