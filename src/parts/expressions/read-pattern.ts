/** One step of a pattern: takes a character, goes on at several places, asks where it is, or ends. */
export type Instruction =
  | { readonly op: 'point'; readonly takes: (point: number) => boolean }
  | { readonly op: 'fork'; readonly to: readonly number[] }
  | { readonly op: 'where'; readonly where: 'start' | 'end' | 'edge' | 'inside' }
  | { readonly op: 'end' };

/** Reads a pattern into its steps, or says what in it is not of this language. */
export function readPattern(pattern: string): readonly Instruction[] | string {
  try {
    const reader = new PatternReader(pattern);
    const tree = reader.choice();
    if (reader.rest !== '') return '`)` without its `(`';
    const steps: Instruction[] = [];
    lay(tree, steps);
    return [...steps, { op: 'end' }];
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    throw error;
  }
}

class Unreadable extends Error {}

type Tree =
  | Extract<Instruction, { op: 'point' | 'where' }>
  | { readonly op: 'row'; readonly of: readonly Tree[] }
  | { readonly op: 'either'; readonly left: Tree; readonly right: Tree }
  | { readonly op: 'repeat'; readonly of: Tree; readonly least: number; readonly most: number };

const instructionsMax = 2000;
const repeatsMax = 1000;

/** Writes a tree out as steps; where a fork leads is filled in once it is known. */
function lay(tree: Tree, steps: Instruction[]): void {
  if (steps.length > instructionsMax) throw new Unreadable('more repeats than a pattern may have');
  const fork = (...to: number[]) => {
    steps.push({ op: 'fork', to });
    return to;
  };
  if (tree.op === 'point' || tree.op === 'where') steps.push(tree);
  else if (tree.op === 'row') for (const item of tree.of) lay(item, steps);
  else if (tree.op === 'either') {
    const ways = fork(steps.length + 1);
    lay(tree.left, steps);
    const out = fork();
    ways.push(steps.length);
    lay(tree.right, steps);
    out.push(steps.length);
  } else {
    for (let count = 0; count < tree.least; count++) lay(tree.of, steps);
    const start = steps.length;
    const exits: number[][] = [];
    for (let count = tree.least; count < Math.min(tree.most, repeatsMax); count++) {
      exits.push(fork(steps.length + 1));
      lay(tree.of, steps);
      if (tree.most === Number.POSITIVE_INFINITY) {
        fork(start);
        break;
      }
    }
    for (const exit of exits) exit.push(steps.length);
  }
}

class PatternReader {
  rest: string;
  readonly folds: boolean;
  readonly dotAll: boolean;
  depth = 0;

  constructor(pattern: string) {
    const flags = /^\(\?([is]+)\)/.exec(pattern);
    this.folds = flags?.[1]?.includes('i') ?? false;
    this.dotAll = flags?.[1]?.includes('s') ?? false;
    this.rest = pattern.slice(flags?.[0].length ?? 0);
  }

  choice(): Tree {
    if (++this.depth > 200) throw new Unreadable('more choices than a pattern may have');
    const left = this.row();
    return this.take('|') ? { op: 'either', left, right: this.choice() } : left;
  }

  row(): Tree {
    const of: Tree[] = [];
    while (this.rest !== '' && this.rest[0] !== '|' && this.rest[0] !== ')') of.push(this.repeated());
    return { op: 'row', of };
  }

  repeated(): Tree {
    const of = this.atom();
    const match = /^(?:([*+?])|\{(\d{1,4})(,(\d{1,4})?)?\})\??/.exec(this.rest);
    if (!match) return of;
    this.rest = this.rest.slice(match[0].length);
    if (/^[*+?]/.test(this.rest)) throw new Unreadable('a repeat of a repeat');
    const [, word, from, more, to] = match;
    if (word !== undefined)
      return { op: 'repeat', of, least: word === '+' ? 1 : 0, most: word === '?' ? 1 : Number.POSITIVE_INFINITY };
    const least = Number(from);
    const most = more === undefined ? least : to === undefined ? Number.POSITIVE_INFINITY : Number(to);
    if (least > repeatsMax || most < least || (most > repeatsMax && most !== Number.POSITIVE_INFINITY))
      throw new Unreadable('a repeat out of bounds');
    return { op: 'repeat', of, least, most };
  }

  atom(): Tree {
    if (this.take('(')) {
      if (this.rest.startsWith('?') && !/^\?(?::|P?<\w+>)/.test(this.rest))
        throw new Unreadable('a group that looks ahead or behind');
      this.rest = this.rest.replace(/^\?(?::|P?<\w+>)/, '');
      const inner = this.choice();
      if (!this.take(')')) throw new Unreadable('`(` without its `)`');
      return inner;
    }
    if (this.take('^') || this.take('\\A')) return { op: 'where', where: 'start' };
    if (this.take('$') || this.take('\\z')) return { op: 'where', where: 'end' };
    if (this.take('\\b')) return { op: 'where', where: 'edge' };
    if (this.take('\\B')) return { op: 'where', where: 'inside' };
    return { op: 'point', takes: this.characters() };
  }

  /** One character or class. JavaScript's own engine tells what is in it; with one character at a time it cannot go back. */
  characters(): (point: number) => boolean {
    if (/^[*+?]/.test(this.rest)) throw new Unreadable('a repeat of nothing');
    const match =
      /^(?:\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\\[pP](?:\{\w+\}|\w)|\\x[\da-fA-F]{2}|\\[dDwWsStnrfv.*+?()[\]{}|^$\\/"'-]|[^\\])/su.exec(
        this.rest,
      );
    if (!match || /\[:/.test(match[0])) throw new Unreadable(`\`${this.rest.slice(0, 4)}\``);
    this.rest = this.rest.slice(match[0].length);
    const plain = [...match[0]].length === 1 && match[0] !== '.' ? (match[0].codePointAt(0) as number) : undefined;
    if (plain !== undefined && !this.folds) return (point) => point === plain;
    return tester(
      plain === undefined ? match[0] : match[0].replace(/[{}\]/^$]/, '\\$&'),
      `u${this.folds ? 'i' : ''}${this.dotAll ? 's' : ''}`,
    );
  }

  take(word: string): boolean {
    if (!this.rest.startsWith(word)) return false;
    this.rest = this.rest.slice(word.length);
    return true;
  }
}

function tester(source: string, flags: string): (point: number) => boolean {
  try {
    const expression = new RegExp(
      `^${source.replace(/\\p(\w)/gi, (all, letter) => all.replace(letter, `{${letter}}`)).replace(/\\(["'])/g, '$1')}$`,
      flags,
    );
    return (point) => expression.test(String.fromCodePoint(point));
  } catch {
    throw new Unreadable(`\`${source}\``);
  }
}
