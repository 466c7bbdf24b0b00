import { asciiOf, beyondAscii, everything, type Point, type Tree } from './steps.ts';

/**
 * What a pattern is written in: `re2` as CEL has it (https://github.com/google/re2/wiki/Syntax), else ECMA-262 by code points
 * (the flag `u`) or by code units.
 */
export type PatternDialect = 're2' | 'points' | 'units';

/** Reads a pattern into its tree, or says what in it is not of the dialect. */
export function readPattern(pattern: string, dialect: PatternDialect): Tree | string {
  try {
    const reader = new PatternReader(pattern, dialect);
    const tree = reader.choice();
    return reader.rest === '' ? tree : '`)` without its `(`';
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    throw error;
  }
}

class Unreadable extends Error {}

const groupsWithinMax = 200;
/** RE2's own bound (https://github.com/google/re2/wiki/Syntax). */
const repeatsMax = 1000;

class PatternReader {
  rest: string;
  private readonly dialect: PatternDialect;
  private folds = false;
  private dotAll = false;
  private depth = 0;

  constructor(pattern: string, dialect: PatternDialect) {
    const flags = dialect === 're2' ? /^\(\?([is]+)\)/.exec(pattern) : null;
    this.dialect = dialect;
    this.folds = flags?.[1]?.includes('i') ?? false;
    this.dotAll = flags?.[1]?.includes('s') ?? false;
    this.rest = pattern.slice(flags?.[0].length ?? 0);
  }

  choice(): Tree {
    if (++this.depth > groupsWithinMax) throw new Unreadable('more groups within groups than a pattern may have');
    const ways = [this.row()];
    while (this.take('|')) ways.push(this.row());
    this.depth -= 1;
    return ways.length === 1 ? (ways[0] as Tree) : { op: 'either', ways };
  }

  private row(): Tree {
    const of: Tree[] = [];
    while (this.rest !== '' && this.rest[0] !== '|' && this.rest[0] !== ')') of.push(this.repeated());
    return { op: 'row', of };
  }

  private repeated(): Tree {
    const of = this.atom();
    const match = /^(?:([*+?])|\{(\d+)(,(\d+)?)?\})\??/.exec(this.rest);
    if (!match) return of;
    this.rest = this.rest.slice(match[0].length);
    if (/^[*+?]/.test(this.rest)) throw new Unreadable('a repeat of a repeat');
    const [, word, from, more, to] = match;
    if (word !== undefined)
      return { op: 'repeat', of, least: word === '+' ? 1 : 0, most: word === '?' ? 1 : Number.POSITIVE_INFINITY };
    const least = Number(from);
    const most = more === undefined ? least : to === undefined ? Number.POSITIVE_INFINITY : Number(to);
    const isTooMany = this.dialect === 're2' && (least > repeatsMax || (most > repeatsMax && most !== Number.POSITIVE_INFINITY));
    if (isTooMany || most < least) throw new Unreadable('a repeat out of bounds');
    return { op: 'repeat', of, least, most };
  }

  private atom(): Tree {
    if (this.take('(')) return this.group();
    if (this.take('^')) return { op: 'where', where: 'start' };
    if (this.take('$')) return { op: 'where', where: 'end' };
    if (this.take('\\b')) return { op: 'where', where: 'edge' };
    if (this.take('\\B')) return { op: 'where', where: 'inside' };
    if (this.dialect === 're2') {
      if (this.take('\\A')) return { op: 'where', where: 'start' };
      if (this.take('\\z')) return { op: 'where', where: 'end' };
      return this.re2Character();
    }
    const back = /^\\(?:[1-9]\d*|k<[^>]*>)/.exec(this.rest);
    if (!back) return this.ownCharacter();
    this.rest = this.rest.slice(back[0].length);
    return { op: 'back' };
  }

  private group(): Tree {
    const look = this.dialect === 're2' ? null : /^\?(<?)([=!])/.exec(this.rest);
    if (look) {
      this.rest = this.rest.slice(look[0].length);
      return { op: 'look', isAhead: look[1] === '', isWanted: look[2] === '=', of: this.closed() };
    }
    const flags = this.dialect === 're2' ? null : /^\?([is]*)(?:-([is]+))?:/.exec(this.rest);
    const named = (this.dialect === 're2' ? /^\?(?::|P?<\w+>)/ : /^\?<[^>]+>/).exec(this.rest);
    if (this.rest.startsWith('?') && !flags && !named) throw new Unreadable('a group that looks ahead or behind');
    this.rest = this.rest.slice((flags ?? named)?.[0].length ?? 0);
    const { folds, dotAll } = this;
    this.folds = (folds || (flags?.[1]?.includes('i') ?? false)) && !flags?.[2]?.includes('i');
    this.dotAll = (dotAll || (flags?.[1]?.includes('s') ?? false)) && !flags?.[2]?.includes('s');
    const inner = this.closed();
    this.folds = folds;
    this.dotAll = dotAll;
    return inner;
  }

  private closed(): Tree {
    const inner = this.choice();
    if (!this.take(')')) throw new Unreadable('`(` without its `)`');
    return inner;
  }

  /** One character or class of RE2. JavaScript's own engine tells what is in it; with one character at a time it cannot go back. */
  private re2Character(): Tree {
    if (/^[*+?]/.test(this.rest)) throw new Unreadable('a repeat of nothing');
    const match =
      /^(?:\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\\[pP](?:\{\w+\}|\w)|\\x[\da-fA-F]{2}|\\[dDwWsStnrfv.*+?()[\]{}|^$\\/"'-]|[^\\])/su.exec(
        this.rest,
      );
    if (!match || /\[:/.test(match[0])) throw new Unreadable(`\`${this.rest.slice(0, 4)}\``);
    return this.point(match[0], (text) =>
      text.replace(/\\p(\w)/gi, (all, letter) => all.replace(letter, `{${letter}}`)).replace(/\\(["'])/g, '$1'),
    );
  }

  /** One character or class of ECMA-262, whose own engine has read the whole already. */
  private ownCharacter(): Tree {
    const match = (this.dialect === 'points' ? characterOfPoints : characterOfUnits).exec(this.rest);
    if (!match) throw new Unreadable(`\`${this.rest.slice(0, 4)}\``);
    return this.point(match[0], (text) => text);
  }

  private point(source: string, written: (source: string) => string): Point {
    this.rest = this.rest.slice(source.length);
    const isPlain = source !== '.' && (this.dialect === 'units' ? source.length : [...source].length) === 1;
    const flags = `${this.dialect === 'units' ? '' : 'u'}${this.folds ? 'i' : ''}${this.dotAll ? 's' : ''}`;
    if (!isPlain) return pointOf(written(source), flags, this.dialect);
    if (this.folds) return pointOf(/[\^$\\.*+?()[\]{}|/]/.test(source) ? `\\${source}` : source, flags, this.dialect);
    const plain = source.codePointAt(0) as number;
    return { op: 'point', takes: (point) => point === plain, set: plain < 128 ? 1n << BigInt(plain) : beyondAscii };
  }

  private take(word: string): boolean {
    if (!this.rest.startsWith(word)) return false;
    this.rest = this.rest.slice(word.length);
    return true;
  }
}

const characterOfPoints =
  /^(?:\[(?:\\.|[^\]\\])*\]|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u\{[\da-fA-F]+\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\[pP]\{[^}]*\}|\\[^ucxpP1-9k]|[^\\])/su;
const characterOfUnits = /^(?:\[(?:\\.|[^\]\\])*\]|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\0(?!\d)|\\[^ucx0-9k]|[^\\])/s;

/** What one character or class takes: the engine is asked once for each of ASCII, and each time for what is beyond. */
function pointOf(source: string, flags: string, dialect: PatternDialect): Point {
  const expression = expressionOf(`^(?:${source})$`, flags);
  if (!expression) throw new Unreadable(`\`${source}\``);
  const asks = (point: number) => expression.test(dialect === 'units' ? String.fromCharCode(point) : String.fromCodePoint(point));
  const table = Uint8Array.from({ length: 128 }, (_, point) => (asks(point) ? 1 : 0));
  const isOfAscii =
    !flags.includes('i') && /^\[(?!\^)(?:[^\\\u0080-\uffff]|\\[dwtnrfv.*+?()[\]{}|^$/-])*\]$|^\\[dw]$/.test(source);
  const set = asciiOf(table) | (isOfAscii ? 0n : beyondAscii);
  return { op: 'point', takes: (point) => (point < 128 ? table[point] === 1 : asks(point)), set: set & everything };
}

function expressionOf(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}
