/** Texts of simple patterns: letters, classes, groups, alternatives and counts. */

/** A text of a pattern, another one for another number; nothing where the pattern is beyond this. */
export function textOfPattern(pattern: string, n: number): string | undefined {
  try {
    const reader = { text: pattern.replaceAll(/\(\?[:=]?(?:<\w+>)?/g, '('), at: 0, n };
    const text = alternatives(reader);
    return reader.at === reader.text.length && new RegExp(pattern).test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

interface Reader {
  readonly text: string;
  readonly n: number;
  at: number;
}

function alternatives(reader: Reader): string {
  const all = [sequence(reader)];
  while (reader.text[reader.at] === '|') {
    reader.at++;
    all.push(sequence(reader));
  }
  return all.find((one) => one !== '') ?? '';
}

function sequence(reader: Reader): string {
  let made = '';
  while (reader.at < reader.text.length && !'|)'.includes(reader.text[reader.at]!)) {
    const from = reader.at;
    const one = atom(reader);
    const to = reader.at;
    const count = countOf(reader);
    const after = reader.at;
    for (let n = 0; n < count; n++) made += n === 0 ? one : atom({ text: reader.text.slice(0, to), at: from, n: reader.n + n });
    reader.at = after;
  }
  return made;
}

function countOf(reader: Reader): number {
  const found = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(reader.text.slice(reader.at));
  if (!found) return 1;
  reader.at += found[0].length;
  const [whole, least] = found;
  if (least === undefined) return whole.startsWith('+') ? 4 : whole.startsWith('*') ? 3 : 1;
  const most = found[2] === undefined ? Number(least) : found[2] === '' ? Number.POSITIVE_INFINITY : Number(found[2]);
  return Math.min(most, Math.max(Number(least), 4));
}

function atom(reader: Reader): string {
  const sign = reader.text[reader.at++]!;
  if (sign === '^' || sign === '$') return '';
  if (sign === '.') return letters[reader.n % letters.length]!;
  if (sign === '(') {
    const inner = alternatives(reader);
    if (reader.text[reader.at++] !== ')') throw new Error('no end');
    return inner;
  }
  if (sign === '[') return classed(reader);
  return sign === '\\' ? escaped(reader) : sign;
}

const letters = 'abcdefghij';
const fromDigits = '1234567890';

function escaped(reader: Reader): string {
  const sign = reader.text[reader.at++]!;
  if (sign === 'd') return fromDigits[reader.n % 10]!;
  if (sign === 'w') return letters[reader.n % 10]!;
  if (sign === 's') return ' ';
  if (/[A-Zbtnu]/.test(sign)) throw new Error('beyond this');
  return sign;
}

function classed(reader: Reader): string {
  const end = /^(?:\\.|[^\]\\])*\]/.exec(reader.text.slice(reader.at));
  if (!end) throw new Error('no end');
  const whole = new RegExp(`[${end[0]}`);
  reader.at += end[0].length;
  const likely = [...letters, ...fromDigits, ...'ABCDEFGHIJ_-.:/+ '].filter((one) => whole.test(one));
  if (likely.length === 0) throw new Error('nothing of it');
  return likely[reader.n % Math.min(likely.length, 8)]!;
}
