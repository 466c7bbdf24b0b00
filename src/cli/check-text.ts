import type { CheckReport } from '../check/check.ts';
import { partNames } from '../document/document.ts';
import { renderFinding } from '../document/frame.ts';
import type { Standing } from '../parts/fact.ts';
import type { Ledger, LedgerFact, StandingCounts } from '../parts/facts/ledger.ts';
import { counted, paint, printable, type Terminal, type TextStyle, wrapped } from './terminal.ts';

/** A report as a person reads it: the ledger, the open facts where they are wanted, the findings, and one line that sums it up. */
export function checkText(report: CheckReport, path: string, showsOpen: boolean, terminal: Terminal): string {
  const title = report.title === '' ? [] : [paint(terminal, 'bold', printable(report.title)), ''];
  const open = showsOpen ? openFactLines(report.ledger, terminal) : [];
  return [
    ...title,
    ...ledgerTable(report.ledger, terminal),
    '',
    ...open,
    ...findingLines(report, terminal),
    summary(report, path, terminal),
    '',
  ].join('\n');
}

/** Each finding in its code frame, with an empty line after it. */
export function findingLines({ findings, spec }: CheckReport, terminal: Terminal): string[] {
  const options = { colour: terminal.colour, width: terminal.columns };
  return findings.flatMap((finding) => [renderFinding(spec.document, finding, options), '']);
}

/** `parcels.md: sound, 0 open facts of 214`. */
export function summary(report: CheckReport, path: string, terminal: Pick<Terminal, 'colour'>): string {
  const { total } = report.ledger;
  return `${paint(terminal, 'bold', path)}: ${verdict(report, terminal)}, ${counted(total.open, 'open fact')} of ${countFacts(total)}`;
}

/** `sound`, or how many errors and warnings there are. */
function verdict({ findings }: CheckReport, terminal: Pick<Terminal, 'colour'>): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  return [
    errors === 0 ? paint(terminal, 'green', 'sound') : paint(terminal, 'red', counted(errors, 'error')),
    ...(warnings === 0 ? [] : [paint(terminal, 'yellow', counted(warnings, 'warning'))]),
  ].join(', ');
}

/** Says why nothing is done with a document, without colour: it goes beside what a pipe reads. */
export function complainUnsound(report: CheckReport, path: string, terminal: Terminal): void {
  const plain = { ...terminal, colour: false };
  terminal.complain([...findingLines(report, plain), summary(report, path, plain), ''].join('\n'));
}

/** Each open fact with its place and what the document asks or tells about it, part by part. */
function openFactLines(ledger: Ledger, terminal: Terminal): string[] {
  return partNames.flatMap((part) => {
    const open = ledger.facts.filter((fact) => fact.part === part && fact.standing === 'open');
    if (open.length === 0) return [];
    const heading = `${paint(terminal, 'bold', part)}  ${paint(terminal, 'dim', counted(open.length, 'open fact'))}`;
    const width = Math.max(...open.map((fact) => nameOf(fact).length));
    return [heading, ...open.flatMap((fact, index) => factLines(fact, open[index - 1], width, terminal)), ''];
  });
}

function factLines(fact: LedgerFact, before: LedgerFact | undefined, width: number, terminal: Terminal): string[] {
  const { file, line, column } = fact.place;
  const room = Math.max(40, Math.min(terminal.columns, 120) - 6);
  const name = paint(terminal, 'yellow', nameOf(fact).padEnd(width));
  // Facts under one heading share its prose; it is told once.
  const isToldBefore = fact.prose === before?.prose && fact.place.line === before?.place.line;
  return [
    ...(fact.prose === undefined || isToldBefore ? [] : proseLines(fact.prose, room, terminal)),
    `  ${name}   ${paint(terminal, 'dim', `${file}:${line}:${column}`)}`,
    ...(fact.question === undefined
      ? []
      : wrapped(fact.question, room).map((text, index) => `      ${index === 0 ? '?' : ' '} ${text}`)),
  ];
}

function proseLines(prose: string, room: number, terminal: Terminal): string[] {
  const lines = wrapped(prose.trim().replace(/\n{2,}/g, '\n'), room - 2);
  const shown = lines.length > proseLinesMost ? [...lines.slice(0, proseLinesMost), '…'] : lines;
  return shown.map((text) => paint(terminal, 'dim', `  │ ${text}`.trimEnd()));
}

const proseLinesMost = 12;

/** `types of parcel.weight_g`, and `purpose` for what the whole service has once. */
function nameOf({ kind, subject }: LedgerFact): string {
  return subject === 'service' ? kind : `${kind} of ${printable(subject)}`;
}

/** The ledger as a table: a row for each part, how many of its facts stand how, and their shares as a bar. */
function ledgerTable(ledger: Ledger, terminal: Terminal): string[] {
  const rows = partNames.map((part) => [part, ledger.parts[part]] as const);
  const width = Math.max(...partNames.map((part) => part.length));
  const cells = (counts: StandingCounts): string =>
    standings.map(({ standing, style }) => cell(counts[standing], standing, style, terminal)).join('');
  return [
    paint(
      terminal,
      'dim',
      `${''.padEnd(width)}${standings.map(({ standing }) => standing.padStart(columnOf(standing))).join('')}`,
    ),
    ...rows.map(([part, counts]) => `${part.padEnd(width)}${cells(counts)}   ${bar(counts, terminal)}`.trimEnd()),
    `${paint(terminal, 'bold', 'total'.padEnd(width))}${cells(ledger.total)}`,
  ];
}

/** The ledger in one line: `256 stated, 18 none, 1 open of 275 facts`. */
export function ledgerLine(total: StandingCounts): string {
  const said = standings.filter(({ standing }) => total[standing] > 0).map(({ standing }) => `${total[standing]} ${standing}`);
  return `${said.join(', ')} of ${countFacts(total)} facts`;
}

/** How many facts there are, however they stand. */
function countFacts(counts: StandingCounts): number {
  return standings.reduce((sum, { standing }) => sum + counts[standing], 0);
}

/** In the order of the columns; the bar shows what is settled, what a tool has read off, and what is open. */
const standings: readonly { readonly standing: Standing; readonly style: TextStyle; readonly mark: string }[] = [
  { standing: 'stated', style: 'green', mark: '█' },
  { standing: 'none', style: 'green', mark: '█' },
  { standing: 'any', style: 'green', mark: '█' },
  { standing: 'inferred', style: 'cyan', mark: '▒' },
  { standing: 'open', style: 'yellow', mark: '░' },
];

const barColumns = 20;

function columnOf(standing: Standing): number {
  return Math.max(standing.length, 5) + 2;
}

function cell(count: number, standing: Standing, style: TextStyle, terminal: Terminal): string {
  const text = count === 0 ? '·' : String(count);
  const blanks = ' '.repeat(Math.max(1, columnOf(standing) - text.length));
  return blanks + paint(terminal, count === 0 ? 'dim' : style, text);
}

/** The shares of a part's facts. One open fact among a thousand still shows. */
function bar(counts: StandingCounts, terminal: Terminal): string {
  const total = countFacts(counts);
  if (total === 0) return '';
  const share = (count: number): number => (count === 0 ? 0 : Math.max(1, Math.round((count / total) * barColumns)));
  const inferred = share(counts.inferred);
  const open = share(counts.open);
  const settled = Math.max(total > counts.inferred + counts.open ? 1 : 0, barColumns - inferred - open);
  const lengths: Partial<Record<Standing, number>> = { stated: settled, inferred, open: barColumns - settled - inferred };
  return standings
    .map(({ standing, style, mark }) => paint(terminal, style, mark.repeat(Math.max(0, lengths[standing] ?? 0))))
    .join('');
}
