/**
 * The fewest characters that a text must have to match a regular expression (ECMA-262), infinity where none can match, such
 * as for `a^`. Undefined for one that is not understood. What looks around or back counts as nothing.
 */
export function shortestMatch(pattern: string): number | undefined {
  const reader: Reader = { text: pattern, at: 0 };
  const length = choice(reader);
  return reader.at === pattern.length ? length : undefined;
}

interface Reader {
  readonly text: string;
  at: number;
}

const impossible = Number.POSITIVE_INFINITY;

function choice(reader: Reader): number {
  let least = sequence(reader);
  while (reader.text[reader.at] === '|') {
    reader.at += 1;
    least = Math.min(least, sequence(reader));
  }
  return least;
}

/** Nothing can stand before `^` nor after `$`. */
function sequence(reader: Reader): number {
  let length = 0;
  let ended = false;
  for (;;) {
    const next = reader.text[reader.at];
    if (next === undefined || next === '|' || next === ')') return length;
    if (next === '^' || next === '$') {
      if (next === '^' && length > 0) length = impossible;
      if (next === '$') ended = true;
      reader.at += 1;
      continue;
    }
    const atom = atomLength(reader) * times(reader);
    // A repeat of nothing at all leaves nothing, also of what is impossible.
    const added = Number.isNaN(atom) ? 0 : atom;
    length += ended && added > 0 ? impossible : added;
  }
}

function atomLength(reader: Reader): number {
  const rest = reader.text.slice(reader.at);
  const taken = (match: RegExpExecArray | null): boolean => {
    reader.at += match?.[0].length ?? 0;
    return match !== null;
  };
  if (taken(/^\((?:\?(?:<?[=!]))/.exec(rest))) {
    group(reader);
    return 0;
  }
  if (taken(/^\((?:\?(?::|<[^>]*>))?/.exec(rest))) return group(reader);
  if (taken(/^\\[bB]/.exec(rest))) return 0;
  if (taken(/^\\(?:[1-9]\d*|k<[^>]*>)/.exec(rest))) return 0;
  if (taken(/^\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|.)/su.exec(rest))) return 1;
  if (taken(/^\[\]/.exec(rest))) return impossible;
  if (taken(/^\[(?:\\.|[^\]\\])*\]/su.exec(rest))) return 1;
  taken(/^./su.exec(rest));
  return 1;
}

function group(reader: Reader): number {
  const length = choice(reader);
  if (reader.text[reader.at] === ')') reader.at += 1;
  return length;
}

/** How often the atom before must stand there. */
function times(reader: Reader): number {
  const match = /^(?:[*?]|\+|\{(\d+)(?:,\d*)?\})\??/.exec(reader.text.slice(reader.at));
  if (!match) return 1;
  reader.at += match[0].length;
  if (match[1] !== undefined) return Number(match[1]);
  return match[0].startsWith('+') ? 1 : 0;
}
