import { Alphabet, type Instruction, type LookAround, type Program } from './steps.ts';

/** So many steps are taken at most before a text is given up: about a tenth of a second. */
export const stepsMax = 2 ** 22;

/**
 * Makes a function that tells whether a pattern is found in a text, by code points or by code units. All the ways through the pattern
 * are gone at once, so that no text makes it slow; JavaScript's own engine goes back and tries again. Where they have led is
 * remembered, so that each character costs a step once that was met before. What has to stand around a place is found out first for all
 * places, in one pass each. Undefined where that would be more than `stepsMax` steps.
 */
export function runnerOf({ steps, looks }: Program, byPoints: boolean): (text: string) => boolean | undefined {
  const main = new Passes(steps, { byPoints, isBackwards: false });
  const around = looks.map((look) => ({ look, passes: new Passes(look.steps, { byPoints, isBackwards: look.isAhead }) }));
  return (text) => {
    const work = { left: stepsMax };
    const held: Uint8Array[] = [];
    for (const { look, passes } of around) {
      const places = placesOf(look, passes, text, held, work);
      if (!places) return undefined;
      held.push(places);
    }
    return main.pass(text, held, work, undefined);
  };
}

interface Work {
  left: number;
}

/** A one for each place of a text where a look holds. */
function placesOf(
  look: LookAround,
  passes: Passes,
  text: string,
  held: readonly Uint8Array[],
  work: Work,
): Uint8Array | undefined {
  const places = new Uint8Array(text.length + 1);
  if (passes.pass(text, held, work, places) === undefined) return undefined;
  if (!look.isWanted) for (let at = 0; at < places.length; at++) places[at] = places[at] === 1 ? 0 : 1;
  return places;
}

/** The steps that what was read so far can have led to, and where each next letter leads. */
interface State {
  readonly steps: readonly number[];
  readonly isFirst: boolean;
  /** Whether a letter of a word was the last. */
  readonly isWord: boolean;
  readonly edges: (Edge | undefined)[];
}

interface Edge {
  /** Whether the pattern ends before the letter. */
  readonly isEnd: boolean;
  readonly to: State;
}

/** So many steps are remembered in all states together, before all are found anew. */
const rememberedMax = 50_000;
/** The letter behind the last. */
const none = -1;

/** One pass over a text, from its start, or from its end with steps that are laid so. */
class Passes {
  private readonly steps: readonly Instruction[];
  private readonly byPoints: boolean;
  private readonly isBackwards: boolean;
  private readonly alphabet: Alphabet;
  /** The looks that its own steps ask for. */
  private readonly looks: readonly number[];
  private states = new Map<string, State>();
  private remembered = 0;
  private first: State;

  constructor(steps: readonly Instruction[], { byPoints, isBackwards }: { byPoints: boolean; isBackwards: boolean }) {
    this.steps = steps;
    this.byPoints = byPoints;
    this.isBackwards = isBackwards;
    this.alphabet = new Alphabet(steps);
    this.looks = [...new Set(steps.flatMap((step) => (step.op === 'look' ? [step.look] : [])))];
    this.first = this.state([], true, false);
  }

  /** Whether the pattern is found; with `marks`, each place where it ends is marked instead. */
  pass(text: string, held: readonly Uint8Array[], work: Work, marks: Uint8Array | undefined): boolean | undefined {
    const end = this.isBackwards ? 0 : text.length;
    let state = this.first;
    for (let at = this.isBackwards ? text.length : 0; ; ) {
      work.left -= 1;
      if (work.left < 0) return undefined;
      const point = at === end ? none : this.pointAt(text, at);
      const letter = point === none ? none : this.letterOf(point, work);
      const symbol = this.symbolOf(letter, at, held);
      let edge = state.edges[symbol];
      if (!edge) {
        work.left -= this.steps.length;
        edge = this.follow(state, letter, at, held);
        state.edges[symbol] = edge;
      }
      if (edge.isEnd) {
        if (!marks) return true;
        marks[at] = 1;
      }
      if (point === none) return false;
      at += this.isBackwards ? -unitsOf(point) : unitsOf(point);
      state = edge.to;
    }
  }

  private pointAt(text: string, at: number): number {
    if (!this.isBackwards) return this.byPoints ? (text.codePointAt(at) as number) : text.charCodeAt(at);
    const low = text.charCodeAt(at - 1);
    if (!this.byPoints || at < 2 || (low & 0xfc00) !== 0xdc00) return low;
    const pair = text.codePointAt(at - 2) as number;
    return pair > 0xffff ? pair : low;
  }

  private letterOf(point: number, work: Work): number {
    const known = this.alphabet.known(point);
    if (known !== undefined) return known;
    work.left -= this.alphabet.cost;
    return this.alphabet.find(point);
  }

  /** A letter, and which of the looks hold in front of it, as one number. */
  private symbolOf(letter: number, at: number, held: readonly Uint8Array[]): number {
    let symbol = letter + 1;
    for (const look of this.looks) symbol = symbol * 2 + (held[look]?.[at] as number);
    return symbol;
  }

  /** Goes from a state over a letter: first all that costs no character, then the character. */
  private follow(state: State, letter: number, at: number, held: readonly Uint8Array[]): Edge {
    const isWord = letter !== none && this.alphabet.isWord(letter);
    const isStart = this.isBackwards ? letter === none : state.isFirst;
    const isEndOfText = this.isBackwards ? state.isFirst : letter === none;
    // A match may begin anywhere, so the pattern's start joins at every place.
    const reached = new Set<number>([...state.steps, 0]);
    const next: number[] = [];
    let isEnd = false;
    // What is added while the set is gone through is gone through as well.
    for (const index of reached) {
      const step = this.steps[index] as Instruction;
      if (step.op === 'end') isEnd = true;
      else if (step.op === 'point') {
        if (letter !== none && this.alphabet.takes(index, letter)) next.push(index + 1);
      } else if (step.op === 'fork') for (const to of step.to) reached.add(to);
      else if (
        step.op === 'look' ? held[step.look]?.[at] === 1 : holds(step.where, isStart, isEndOfText, isWord !== state.isWord)
      )
        reached.add(index + 1);
    }
    return { isEnd, to: this.state(next, false, isWord) };
  }

  private state(steps: readonly number[], isFirst: boolean, isWord: boolean): State {
    const sorted = steps.toSorted((a, b) => a - b);
    const key = `${isFirst} ${isWord} ${sorted}`;
    const known = this.states.get(key);
    if (known) return known;
    this.remembered += sorted.length + 1;
    if (this.remembered > rememberedMax) this.forget();
    const made: State = { steps: sorted, isFirst, isWord, edges: [] };
    this.states.set(key, made);
    return made;
  }

  /** Whoever is at a state goes on with it; all others are found anew. */
  private forget(): void {
    this.states = new Map();
    this.remembered = 0;
    this.first = { ...this.first, edges: [] };
  }
}

function holds(where: 'start' | 'end' | 'edge' | 'inside', isStart: boolean, isEnd: boolean, isEdge: boolean): boolean {
  if (where === 'start') return isStart;
  if (where === 'end') return isEnd;
  return where === 'edge' ? isEdge : !isEdge;
}

function unitsOf(point: number): number {
  return point > 0xffff ? 2 : 1;
}
