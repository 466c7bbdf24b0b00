import type { Document, Finding, Place } from './document.ts';
import { shownLine } from './frame-line.ts';
import { lineStarts } from './source.ts';

/** How a finding is drawn. */
export interface FrameOptions {
  /** With the escape codes of a terminal that shows colours. */
  readonly colour: boolean;
  /** Columns that a drawn line may take; longer source lines are cut around what is marked. */
  readonly width?: number;
}

/**
 * A finding as text for a person: its code and message, then the source lines at its place with a mark under it, the lines of
 * other places that belong to it, and what to write instead. No line feed at the end.
 */
export function renderFinding(
  sources: Pick<Document, 'sources'> | Document['sources'],
  finding: Finding,
  { colour, width = 120 }: FrameOptions,
): string {
  const files = 'sources' in sources ? sources.sources : sources;
  const paint: Paint = colour ? (name, text) => `\u001b[${codes[name]}m${text}\u001b[39;22m` : (_, text) => text;
  const places = [finding.place, ...(finding.also ?? []).map((also) => also.place)];
  const margin = String(Math.max(...places.map((place) => place.line + 1))).length;
  const drawing: Drawing = { files, paint, margin, width };
  const lines = [
    `${paint(finding.severity, `${finding.severity}[${oneLine(finding.code)}]`)}${paint('bold', `: ${oneLine(finding.message)}`)}`,
    ...frame(finding.place, finding.severity, '^', drawing),
  ];
  for (const { message, place } of finding.also ?? []) {
    lines.push(`${' '.repeat(margin)} ${paint('rule', '=')} ${paint('bold', 'note')}: ${oneLine(message)}`);
    lines.push(...frame(place, 'rule', '-', drawing));
  }
  if (finding.remedy !== undefined) {
    lines.push(`${' '.repeat(margin)} ${paint('rule', '=')} ${paint('bold', 'help')}: ${oneLine(finding.remedy)}`);
  }
  return lines.join('\n');
}

const codes = { error: '1;31', warning: '1;33', bold: '1', rule: '1;34' } as const;
type Paint = (name: keyof typeof codes, text: string) => string;

interface Drawing {
  readonly files: Document['sources'];
  readonly paint: Paint;
  /** Digits of the greatest line number. */
  readonly margin: number;
  readonly width: number;
}

function frame(place: Place, name: keyof typeof codes, mark: string, { files, paint, margin, width }: Drawing): string[] {
  const gutter = (number: string): string => paint('rule', `${number.padStart(margin)} |`);
  const lines = [`${' '.repeat(margin)}${paint('rule', '-->')} ${oneLine(place.file)}:${place.line}:${place.column}`];
  const text = files.get(place.file);
  if (text === undefined) return lines;
  const starts = startsOf(text);
  const lineAt = (number: number): string | undefined => {
    const start = starts[number - 1];
    return start === undefined ? undefined : text.slice(start, starts[number] ?? text.length).replace(/[\r\n]+$/, '');
  };
  const marked = lineAt(place.line);
  if (marked === undefined) return lines;
  const from = place.column - 1;
  const to = place.endLine > place.line ? Math.max(marked.trimEnd().length, from + 1) : Math.max(place.endColumn - 1, from + 1);
  const room = Math.max(20, width - margin - 3);
  const middle = shownLine(marked, from, to, room);
  lines.push(gutter(''));
  const before = lineAt(place.line - 1);
  if (before?.trim()) lines.push(row(gutter(String(place.line - 1)), shownLine(before, from, from, room, middle.cut).text));
  lines.push(row(gutter(String(place.line)), middle.text));
  lines.push(row(gutter(''), ' '.repeat(middle.column) + paint(name, mark.repeat(middle.columns))));
  const after = lineAt(place.line + 1);
  if (after?.trim()) lines.push(row(gutter(String(place.line + 1)), shownLine(after, from, from, room, middle.cut).text));
  return lines;
}

/** The line starts of a text; those of the last one are kept, since the findings of one file are drawn one after another. */
function startsOf(text: string): readonly number[] {
  if (last.text !== text) last = { text, starts: lineStarts(text) };
  return last.starts;
}

let last: { readonly text: string; readonly starts: readonly number[] } = { text: '', starts: [0] };

function row(gutter: string, text: string): string {
  return text === '' ? gutter : `${gutter} ${text}`;
}

/** Text for one line of a terminal: what would move its cursor or change its colours is shown as a sign. */
function oneLine(text: string): string {
  return shownLine(text.replace(/[\r\n]+/g, ' '), 0, 0, Number.POSITIVE_INFINITY).text;
}
