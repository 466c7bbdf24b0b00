import { type Reach, rarities, reaches } from './coverage.ts';
import type { PlacedMutant } from './mutant.ts';

/**
 * Which test files are asked about a mutant, and in which order. Of those that reach its place, the ones that are most about
 * its file for the time they take go first, until they would take longer together than is allowed; the one that is most about
 * it is asked whatever it takes. Among these, one that killed a mutant of the same file goes ahead.
 */
export class Selection {
  readonly #tests: readonly Reach[];
  readonly #secondsAtMost: number;
  readonly #worths = new Map<string, ReadonlyMap<Reach, number>>();
  readonly #kills = new Map<string, Map<Reach, number>>();

  constructor(all: readonly Reach[], secondsAtMost: number) {
    this.#tests = all.filter(({ ending }) => ending === 'passed');
    this.#secondsAtMost = secondsAtMost;
  }

  testsFor({ path, start }: PlacedMutant): Reach[] {
    const kills = this.#kills.get(path);
    const rate = (reach: Reach) => (kills?.get(reach) ?? 0) / reach.seconds;
    const worths = this.#worthsFor(path);
    const worth = (reach: Reach) => worths.get(reach) ?? 0;
    const reaching = this.#tests.filter((reach) => reaches(reach, path, start));
    const [most, ...others] = reaching.sort((a, b) => worth(b) - worth(a));
    if (most === undefined) return [];
    let { seconds } = most;
    const within = others
      .sort((a, b) => worth(b) / b.seconds - worth(a) / a.seconds)
      .filter((reach) => {
        if (seconds + reach.seconds > this.#secondsAtMost) return false;
        seconds += reach.seconds;
        return true;
      });
    return [most, ...within].sort((a, b) => rate(b) - rate(a));
  }

  /** Remembers that a test file killed a mutant. */
  killed({ path }: PlacedMutant, by: Reach): void {
    const kills = this.#kills.get(path) ?? new Map<Reach, number>();
    this.#kills.set(path, kills.set(by, (kills.get(by) ?? 0) + 1));
  }

  #worthsFor(path: string): ReadonlyMap<Reach, number> {
    const worths = this.#worths.get(path) ?? rarities(this.#tests, path);
    this.#worths.set(path, worths);
    return worths;
  }
}
