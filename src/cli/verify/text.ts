import { type Document, partNames } from '../../document/document.ts';
import type { Verdict, VerdictCounts, VerifyReport } from '../../verify/report.ts';
import { counted, paint, printable, type Terminal, type TextStyle, wrapped } from '../terminal.ts';
import { breachText } from './breaches.ts';

/** A report as a person reads it: nine rows, then each broken fact with its place, what was promised, what was seen and how to see it. */
export function verifyText(report: VerifyReport, document: Document, terminal: Terminal): string {
  const title = report.title === '' ? [] : [paint(terminal, 'bold', printable(report.title)), ''];
  return [
    ...title,
    ...verdictTable(report, terminal),
    '',
    ...breachText(report, document, terminal),
    ...report.unsteady.flatMap((one) => [
      `${paint(terminal, 'yellow', 'unsteady')}: ${one.kind} of ${printable(one.subject)}: promised ${printable(one.promised)}; seen ${printable(one.seen)}, ${one.seenTimes} of ${one.tries} times`,
      '',
    ]),
    ...partlyLines(report, terminal),
    ...untestedLines(report, terminal),
    ...aside(report, terminal),
    ...leftoverLines(report),
    ...report.notes.map((note) => `note: ${note}`),
    summary(report, terminal),
    '',
  ].join('\n');
}

const columns: readonly { readonly verdict: Verdict; readonly style: TextStyle }[] = [
  { verdict: 'held', style: 'green' },
  { verdict: 'partly', style: 'yellow' },
  { verdict: 'broken', style: 'red' },
  { verdict: 'not testable', style: 'yellow' },
  { verdict: 'open', style: 'yellow' },
];

function verdictTable({ parts, total }: VerifyReport, terminal: Terminal): string[] {
  const width = Math.max(...partNames.map((part) => part.length));
  const cells = (counts: VerdictCounts) =>
    columns
      .map(({ verdict, style }) => {
        const text = counts[verdict] === 0 ? '·' : String(counts[verdict]);
        const blanks = ' '.repeat(Math.max(7, verdict.length + 2) - text.length);
        return blanks + paint(terminal, counts[verdict] === 0 ? 'dim' : style, text);
      })
      .join('');
  const head = columns.map(({ verdict }) => verdict.padStart(Math.max(7, verdict.length + 2))).join('');
  return [
    paint(terminal, 'dim', `${''.padEnd(width)}${head}`),
    ...partNames.map((part) => `${part.padEnd(width)}${cells(parts[part])}`),
    `${paint(terminal, 'bold', 'total'.padEnd(width))}${cells(total)}`,
  ];
}

/** How many reasons are told, and how many facts by name for each; `--json` has them all. */
const reasonsMost = 10;
const namesMost = 2;

/** What was shown in part alone, one line for each kind; `--json` has every look. */
function partlyLines({ facts }: VerifyReport, terminal: Terminal): string[] {
  const partly = Map.groupBy(
    facts.filter(({ verdict }) => verdict === 'partly'),
    ({ kind }) => kind,
  );
  if (partly.size === 0) return [];
  const lines = [...partly].map(([kind, some]) => {
    const named = some.slice(0, namesMost).map(({ subject, evidence }) => {
      const looks = evidence?.looks ?? [];
      return `${subject}, ${looks.filter(({ isMet }) => isMet).length} of ${looks.length} looks`;
    });
    const more = some.length > namesMost ? `; and ${some.length - namesMost} more` : '';
    return `${paint(terminal, 'yellow', String(some.length).padStart(5))}  ${kind} ${paint(terminal, 'dim', printable(`(${named.join('; ')}${more})`))}`;
  });
  return [paint(terminal, 'bold', 'held in part: --json names the looks that are missing'), ...lines, ''];
}

/** Why facts were not testable, the reason of the most first. */
function untestedLines({ facts }: VerifyReport, terminal: Terminal): string[] {
  const byWhy = Map.groupBy(
    facts.filter(({ verdict }) => verdict === 'not testable'),
    ({ why }) => why ?? '',
  );
  const reasons = [...byWhy].sort(([, one], [, other]) => other.length - one.length);
  if (reasons.length === 0) return [];
  const lines = reasons.slice(0, reasonsMost).map(([why, some]) => {
    const names = some.slice(0, namesMost).map(({ kind, subject }) => `${kind} of ${subject}`);
    const more = some.length > namesMost ? ` and ${some.length - namesMost} more` : '';
    return `${paint(terminal, 'yellow', String(some.length).padStart(5))}  ${printable(brief(why))} ${paint(terminal, 'dim', printable(`(${names.join(', ')}${more})`))}`;
  });
  const left = reasons.length - reasonsMost;
  return [
    paint(terminal, 'bold', 'not testable'),
    ...lines,
    ...(left > 0 ? [paint(terminal, 'dim', `       and for ${counted(left, 'other reason')}: --json has them all`)] : []),
    '',
  ];
}

function brief(why: string): string {
  const line = why.replaceAll(/\s+/g, ' ');
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

/** What was left out by name, what was left untried, and what would have sufficed. */
function aside({ skips, untried, sufficing }: VerifyReport, terminal: Terminal): string[] {
  const width = Math.min(Math.max(terminal.columns, 40), 120) - 2;
  const lines = (head: string, rows: readonly string[]) =>
    rows.length === 0
      ? []
      : [paint(terminal, 'bold', head), ...rows.flatMap((row) => wrapped(row, width).map((line) => `  ${line}`)), ''];
  return [
    ...lines(
      'skipped',
      skips.map(({ name, reason, until }) => `${name}, until ${until}: ${reason}`),
    ),
    ...lines('left untried, because the document states it in its own words', [
      ...untried.slice(0, reasonsMost).map(({ stated, trials }) => `${stated}: ${trials.join(', ')}`),
      ...(untried.length > reasonsMost ? [`and ${untried.length - reasonsMost} more: --json has them all`] : []),
    ]),
    ...(sufficing ? [`note: all would most likely have been tried with ${sufficingWords(sufficing)}`] : []),
  ];
}

/** The options that would have sufficed. */
export function sufficingWords({ timeMs, requests }: NonNullable<VerifyReport['sufficing']>): string {
  const time = timeMs % 60_000 === 0 ? `${timeMs / 60_000}m` : `${Math.round(timeMs / 1000)}s`;
  return `--time ${time} --requests ${requests}`;
}

function leftoverLines({ leftovers }: VerifyReport): string[] {
  return leftovers.map(({ resource, count, why }) => `left behind: ${count} of ${resource}: ${printable(why)}`);
}

function summary(report: VerifyReport, terminal: Terminal): string {
  const { total, requests, ms, seed } = report;
  const verdict =
    total.broken === 0 ? paint(terminal, 'green', 'nothing broken') : paint(terminal, 'red', `${total.broken} broken`);
  const crashes = report.crashes.length === 0 ? '' : `, ${paint(terminal, 'red', counted(report.crashes.length, 'failure'))}`;
  const counts = `${total.held} held, ${total.partly} partly, ${total['not testable']} not testable, ${total.open} open`;
  return `${paint(terminal, 'bold', printable(report.url))}: ${verdict}${crashes}, ${counts}; ${counted(requests, 'request')} in ${(ms / 1000).toFixed(1)} s, seed ${seed}`;
}

/** What pages say beside the verdicts, each under its heading: what was left out by name, what was left untried, and notes. */
export function asidesOf({ skips, untried, sufficing, notes }: VerifyReport): readonly (readonly [string, readonly string[]])[] {
  return [
    ['Skipped', skips.map(({ name, reason, until }) => `${name}, until ${until}: ${reason}`)],
    ['Left untried', untried.map(({ stated, trials }) => `${stated}: ${trials.join(', ')}`)],
    ['Notes', [...notes, ...(sufficing ? [`All would most likely have been tried with ${sufficingWords(sufficing)}.`] : [])]],
  ];
}
