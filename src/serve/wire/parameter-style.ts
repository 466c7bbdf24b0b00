/** Whether a parameter's shape wants one scalar, a list or an object. */
export type Kind = 'scalar' | 'array' | 'object';

/** A parameter taken apart, still encoded: a list's items or a scalar's one text, or an object's pairs. */
export interface Pieces {
  readonly items?: readonly string[];
  readonly pairs?: readonly (readonly [string, string])[];
}

/** What did not follow the style. */
export interface BadStyle {
  readonly found: string;
  readonly expected: string;
}

export interface StyleOptions {
  readonly name: string;
  readonly style: string;
  readonly explode: boolean;
  readonly kind: Kind;
  /** Whether an encoded delimiter is one too, because no item can hold it. */
  readonly loose: boolean;
}

/**
 * Compiles the taking apart of one parameter's texts by its style (OpenAPI 3.1 section 4.8.12.2, RFC 6570 section 3.2).
 * Several texts come only from a query or cookies that say one name several times.
 */
export function compileStyle(options: StyleOptions): (texts: readonly string[]) => Pieces | BadStyle {
  const { style, kind, explode } = options;
  if (style === 'label') return one((text) => (text.startsWith('.') ? takeLabel(text.slice(1), kind, explode) : labelExpected));
  if (style === 'matrix') return one((text) => takeMatrix(text, options));
  if (style === 'simple') return one((text) => take(text, ',', kind, explode));
  if (explode && kind === 'array') return (texts) => ({ items: texts });
  return one((text) => take(text, delimiterOf(options), kind, false));
}

function one(takeText: (text: string) => Pieces | BadStyle): (texts: readonly string[]) => Pieces | BadStyle {
  return (texts) => (texts.length === 1 ? takeText(texts[0] ?? '') : { found: `${texts.length} values`, expected: 'one value' });
}

function delimiterOf({ style, loose }: StyleOptions): string | RegExp {
  if (style === 'spaceDelimited') return /%20|\+| /;
  if (style === 'pipeDelimited') return /\||%7C/i;
  return loose ? /,|%2C/i : ',';
}

function take(text: string, delimiter: string | RegExp, kind: Kind, named: boolean): Pieces | BadStyle {
  if (kind === 'scalar') return { items: [text] };
  const pieces = text.split(delimiter);
  if (kind === 'array') return { items: pieces };
  if (text === '') return { pairs: [] };
  return named ? namedPairs(pieces) : alternatingPairs(pieces);
}

function namedPairs(pieces: readonly string[]): Pieces | BadStyle {
  const pairs: [string, string][] = [];
  for (const piece of pieces) {
    const equals = piece.indexOf('=');
    if (equals === -1) return { found: 'a name without a value', expected: 'name=value pairs' };
    pairs.push([piece.slice(0, equals), piece.slice(equals + 1)]);
  }
  return { pairs };
}

function alternatingPairs(pieces: readonly string[]): Pieces | BadStyle {
  if (pieces.length % 2 !== 0) return { found: 'a name without a value', expected: 'names and values in turn' };
  const pairs: [string, string][] = [];
  for (let i = 0; i < pieces.length; i += 2) pairs.push([pieces[i] ?? '', pieces[i + 1] ?? '']);
  return { pairs };
}

const labelExpected: BadStyle = { found: 'a text without its dot', expected: 'a dot before the value' };

function takeLabel(text: string, kind: Kind, explode: boolean): Pieces | BadStyle {
  return take(text, explode ? '.' : ',', kind, explode);
}

function takeMatrix(text: string, { name, kind, explode }: StyleOptions): Pieces | BadStyle {
  const expected = { found: 'a text of another form', expected: `;${name}=value` };
  if (!text.startsWith(';')) return expected;
  if (kind === 'object' && explode) return namedPairs(text.slice(1).split(';'));
  const pieces = kind === 'array' && explode ? text.slice(1).split(';') : [text.slice(1)];
  const values: string[] = [];
  for (const piece of pieces) {
    if (piece === name) values.push('');
    else if (piece.startsWith(`${name}=`)) values.push(piece.slice(name.length + 1));
    else return expected;
  }
  return kind === 'array' && explode ? { items: values } : take(values[0] ?? '', ',', kind, false);
}
