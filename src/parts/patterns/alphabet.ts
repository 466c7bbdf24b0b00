import type { Instruction } from './steps.ts';
import type { Point } from './tree.ts';

/** Characters that a pattern does not tell apart are one letter to it: a number, from 0. */
export class Alphabet {
  /** For each step of the program that takes a character, which of the points it is; -1 for all others. */
  private readonly pointOf: Int32Array;
  private readonly points: readonly Point[];
  private readonly letters = new Map<string, number>();
  /** For each letter what the points say to it, and last whether it is of a word. */
  private readonly said: Uint8Array[] = [];
  private readonly ascii = new Int32Array(128).fill(-1);
  private readonly beyond = new Map<number, number>();

  constructor(steps: readonly Instruction[]) {
    const points: Point[] = [];
    const known = new Map<Point, number>();
    this.pointOf = Int32Array.from(steps, (step) => {
      if (step.op !== 'point') return -1;
      const at = known.get(step) ?? points.push(step) - 1;
      known.set(step, at);
      return at;
    });
    this.points = points;
  }

  /** What it costs to look at a character that was not seen before, in steps. */
  get cost(): number {
    return this.points.length;
  }

  /** The letter of a character; undefined where that has to be found out first. */
  known(point: number): number | undefined {
    if (point >= 128) return this.beyond.get(point);
    const letter = this.ascii[point] as number;
    return letter < 0 ? undefined : letter;
  }

  find(point: number): number {
    const said = Uint8Array.from([...this.points.map(({ takes }) => takes(point)), isWord(point)], Number);
    const key = said.join('');
    const letter = this.letters.get(key) ?? this.said.push(said) - 1;
    this.letters.set(key, letter);
    if (point < 128) this.ascii[point] = letter;
    else if (this.beyond.size < pointsKept) this.beyond.set(point, letter);
    return letter;
  }

  takes(step: number, letter: number): boolean {
    return this.said[letter]?.[this.pointOf[step] as number] === 1;
  }

  isWord(letter: number): boolean {
    return this.said[letter]?.[this.points.length] === 1;
  }
}

const pointsKept = 20_000;

/** A letter, digit or underscore of ASCII. */
function isWord(point: number): boolean {
  return (point > 96 && point < 123) || (point > 64 && point < 91) || (point > 47 && point < 58) || point === 95;
}
