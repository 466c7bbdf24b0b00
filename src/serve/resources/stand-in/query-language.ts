/** One comparison of a query: a field by its name, a word for how, and what it is compared with. */
export interface QueryTerm {
  readonly field: string;
  readonly op: string;
  readonly value: string;
}

/** A query in one parameter: its comparisons, and whether one of them is enough. */
export interface FieldQuery {
  readonly terms: readonly QueryTerm[];
  readonly isAny: boolean;
}

/** How long a query may be, and how many comparisons it may have. */
const lengthMost = 2000;
const termsMost = 50;

/**
 * Reads the comparisons that the queries of most services are made of, whatever their language is called: `status eq "ACTIVE" and age ge 3` (SCIM, OData),
 * `Name=="Acme" AND Total>=5`, `equals(email,"a@b.c")`, joined by `and`, `&&` or commas, or all by `or`. Nothing where there is more in it.
 */
export function readQuery(text: string): FieldQuery | undefined {
  if (text.length > lengthMost) return undefined;
  const inner = /^\s{0,9}(and|or)\((.{1,2000})\)\s{0,9}$/is.exec(text);
  const body = inner?.[2] ?? text;
  const terms: QueryTerm[] = [];
  const joints = new Set<string>(inner ? [jointOf(inner[1])] : []);
  let at = 0;
  while (terms.length < termsMost) {
    const term = termAt(body, at);
    if (term === undefined) return undefined;
    terms.push(term.term);
    at = term.end;
    if (body.slice(at).trim() === '') return joints.size > 1 ? undefined : { terms, isAny: joints.has('or') };
    joint.lastIndex = at;
    const between = joint.exec(body);
    if (!between) return undefined;
    joints.add(between[1] === ',' && inner ? jointOf(inner[1]) : jointOf(between[1]));
    at = joint.lastIndex;
  }
  return undefined;
}

const joint = /\s{0,9}(,|&&|\|\||\band\b|\bor\b)\s{0,9}/iy;

function jointOf(word: string | undefined): 'and' | 'or' {
  return word === '||' || word?.toLowerCase() === 'or' ? 'or' : 'and';
}

const name = '[A-Za-z_$@][\\w.$/-]{0,99}';
// A quote in a text is written twice, or after a backslash.
const literal = `(?:[A-Za-z]{1,20}\\(?)?"((?:[^"\\\\]|\\\\.|""){0,1000})"\\)?|(?:[A-Za-z]{1,20}\\(?)?'((?:[^'\\\\]|\\\\.|''){0,1000})'\\)?|([\\w.:+-]{1,100})`;
const sign = '==|=|!=|<>|>=|<=|>|<';
const word = 'eq|ne|gt|ge|lt|le|co|sw|ew|gte|lte|contains|startswith|endswith|like|in';
const compared = new RegExp(`\\s{0,9}\\(?(${name})\\s{0,9}(?:(${sign})|\\s(${word})\\s)\\s{0,9}(?:${literal})\\)?`, 'iy');
const called = new RegExp(`\\s{0,9}(${name})\\(\\s{0,9}(${name})\\s{0,9},\\s{0,9}(?:${literal})\\s{0,9}\\)`, 'iy');

function termAt(text: string, at: number): { readonly term: QueryTerm; readonly end: number } | undefined {
  called.lastIndex = at;
  const call = called.exec(text);
  if (call) {
    const [, op = '', field = '', double, single, bare] = call;
    return { term: { field, op: plainOp(op), value: unquoted(double, single, bare) }, end: called.lastIndex };
  }
  compared.lastIndex = at;
  const found = compared.exec(text);
  if (!found) return undefined;
  const [, field = '', by, how, double, single, bare] = found;
  return { term: { field, op: plainOp(by ?? how ?? ''), value: unquoted(double, single, bare) }, end: compared.lastIndex };
}

function unquoted(double: string | undefined, single: string | undefined, bare: string | undefined): string {
  if (bare !== undefined) return bare;
  return (double ?? single ?? '')
    .replaceAll(/\\(.)/gs, '$1')
    .replaceAll(double === undefined ? "''" : '""', double === undefined ? "'" : '"');
}

const words: ReadonlyMap<string, string> = new Map([
  ['==', 'eq'],
  ['=', 'eq'],
  ['!=', 'ne'],
  ['<>', 'ne'],
  ['>=', 'gte'],
  ['<=', 'lte'],
  ['>', 'gt'],
  ['<', 'lt'],
  ['co', 'contains'],
  ['sw', 'startswith'],
  ['ew', 'endswith'],
  ['greaterthan', 'gt'],
  ['greaterorequal', 'gte'],
  ['lessthan', 'lt'],
  ['lessorequal', 'lte'],
]);

function plainOp(op: string): string {
  const own = op.toLowerCase().replaceAll(/[-_]/g, '');
  return words.get(own) ?? own;
}
