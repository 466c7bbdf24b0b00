import type { Finding, Place, Pointer } from './document.ts';

/** One kind of finding: its code, how bad it is, what it means, what to write instead. */
export interface FindingKind {
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly meaning: string;
  readonly remedy: string;
}

/** Every finding that reading a document can make; `docs/findings.md` is held to this list. */
export const documentFindings = [
  error('bad-utf8', 'The file is not UTF-8 text.', 'Save the file as UTF-8.'),
  error(
    'control-character',
    'A control character stands in the text.',
    'Delete it, or write it as an escape in a quoted string.',
  ),
  error('too-large', 'The file is larger than the reader accepts.', 'Split the document with `include`.'),
  error('too-deep', 'Values are nested deeper than the reader accepts.', 'Name the inner value, and refer to it.'),
  error(
    'too-many-values',
    'The document holds more values than the reader accepts.',
    'Split the interface into several documents.',
  ),
  error('too-many-copies', 'The aliases of a document stand for more values than the reader accepts.', 'Write the values out.'),
  warning('too-many-findings', 'There are more findings than are shown.', 'Mend the ones above first.'),
  error('yaml-syntax', 'The text is not YAML 1.2.', 'Quote what is meant as text; indent with spaces.'),
  error(
    'json-syntax',
    'The text is not JSON (RFC 8259).',
    'Write strict JSON, or YAML, where comments and trailing commas are allowed.',
  ),
  error('many-documents', 'One YAML text holds several documents.', 'Take out the `---` between them.'),
  error('duplicate-key', 'One map holds the same key twice.', 'Keep one of the two.'),
  error('stated-twice', 'Two pieces of a document state the same fact.', 'Keep one of the two.'),
  error('key-form', 'A key is not a piece of text.', 'Quote the key.'),
  error('merge-key', '`<<` has no meaning in YAML 1.2.', 'Write the entries out.'),
  error('unknown-tag', 'A YAML tag is none of `!open`, `!none`, `!any`.', 'Take the tag out, or write one of the three.'),
  error('tag-value', 'A standing carries a value that it cannot have.', 'Write `!open "the question"`, `!none` or `!any` alone.'),
  error('alias', 'A YAML alias names no anchor before it, or stands inside its own anchor.', 'Write the value out.'),
  error(
    'number-not-finite',
    'A number is too large, infinite or not a number.',
    'Write a number that a double can hold, or quote it.',
  ),
  warning(
    'overlay',
    'An action of an overlay was not carried out.',
    'Select what is there by a JSONPath of RFC 9535, and give a map for a map, an item for a list, a value for a value.',
  ),
  warning('number-inexact', 'An integer is beyond what a JSON number keeps exactly.', 'Quote it to keep its digits.'),
  error('not-a-map', 'The document is not one map of parts.', 'Write `purpose:`, `resources:` and so on at the left edge.'),
  error(
    'unknown-part',
    'A key at the top of the document is no part.',
    'Write one of the nine part names, `title`, `include` or `evidence`.',
  ),
  error('title', 'The title is not a piece of text.', 'Quote the title.'),
  error('include-form', '`include` is not a list of file names.', 'Write `include: [resources.yaml]`.'),
  error(
    'include-outside',
    "An included path leads out of the document's own folder.",
    'Write a relative path to a file beside or below it.',
  ),
  error('include-unreadable', 'An included file cannot be read.', 'Correct the path.'),
  error('include-cycle', 'A file includes itself, straight or through others.', 'Take one of the includes out.'),
  error('include-bound', 'Includes are nested too deep or too many.', 'Put several files into one.'),
  warning(
    'ref-outside',
    'A reference leads to another machine, or out of the folder that holds the document’s folder.',
    'Put the file beside the document, and refer to it by a relative path.',
  ),
  warning(
    'ref-unreadable',
    'A file that a document refers to cannot be read.',
    'Correct the path; until then what it held is open.',
  ),
  error('fence-open', 'A fence has no closing line.', 'Close it with as many backticks as it opened with.'),
  error(
    'misspelt-part',
    'A heading is nearly the name of a part and is none, though a fence or a table below it states something.',
    'Write the heading as the part is written.',
  ),
  warning(
    'fence-ignored',
    'A YAML or JSON fence stands where it states nothing.',
    'Put it under the heading of a part, or mark it `yaml example`.',
  ),
  warning('table-ignored', 'A table is prose only for the case of its first header.', 'Write the header as the key is written.'),
  error(
    'table-row',
    'A row of a table does not fit its headers.',
    'Give the row a name in its first cell and no more cells than there are headers.',
  ),
  error('table-cell', 'A cell of a table is not one YAML flow value.', 'Quote the cell: `"…"`.'),
] as const satisfies readonly FindingKind[];

/** The code of a finding of this folder. */
export type DocumentCode = (typeof documentFindings)[number]['code'];

function error<const Name extends string>(name: Name, meaning: string, remedy: string) {
  return { code: `document/${name}`, severity: 'error', meaning, remedy } as const;
}

function warning<const Name extends string>(name: Name, meaning: string, remedy: string) {
  return { code: `document/${name}`, severity: 'warning', meaning, remedy } as const;
}

/** Where findings are gathered, at most so many of them. */
interface Findings {
  readonly findings: Finding[];
  readonly bounds: { readonly findings: number };
}

/** Adds a finding; its severity, and its remedy unless a better one is given, come from the catalogue. */
export function report(
  gathering: Findings,
  code: DocumentCode,
  place: Place,
  message: string,
  more: Pick<Finding, 'remedy' | 'at' | 'also'> = {},
): void {
  const { findings, bounds } = gathering;
  if (findings.length > bounds.findings) return;
  if (findings.length === bounds.findings) {
    findings.push(finding('document/too-many-findings', place, `There are more than ${bounds.findings} findings.`, {}));
    return;
  }
  findings.push(finding(code, place, message, more));
}

/** The finding of a key that one map holds twice, the first of the two being the one kept. */
export function reportRepeated(
  gathering: Findings,
  places: ReadonlyMap<string, Place>,
  key: string,
  at: Pointer,
  place: Place,
): void {
  const first = places.get(`${at}#`) ?? places.get(at);
  const also = first === undefined ? {} : { also: [{ message: 'It is first written here.', place: first }] };
  report(gathering, 'document/duplicate-key', place, `The key ${quoted(key)} is written twice in one map.`, { at, ...also });
}

/** A word as it is shown in a message, cut when it is long. */
export function quoted(word: string): string {
  return `\`${word.length > 60 ? `${word.slice(0, 57)}…` : word}\``;
}

function finding(code: DocumentCode, place: Place, message: string, more: Pick<Finding, 'remedy' | 'at' | 'also'>): Finding {
  const kind = documentFindings.find((one) => one.code === code);
  return { code, severity: kind?.severity ?? 'error', message, ...(kind && { remedy: kind.remedy }), ...more, place };
}
