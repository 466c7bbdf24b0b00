import { type Document, partNames } from '../../document/document.ts';
import { renderFinding } from '../../document/frame.ts';
import type { Breach, Verdict, VerdictCounts, VerifyReport } from '../../verify/report.ts';
import { counted, paint, printable, type Terminal, type TextStyle } from '../terminal.ts';

/** A report as a person reads it: nine rows, then each broken fact with its place, what was promised, what was seen and how to see it. */
export function verifyText(report: VerifyReport, document: Document, terminal: Terminal): string {
  const title = report.title === '' ? [] : [paint(terminal, 'bold', printable(report.title)), ''];
  return [
    ...title,
    ...verdictTable(report, terminal),
    '',
    ...report.breaches.flatMap((breach) => breachLines(breach, document, terminal)),
    ...report.unsteady.flatMap((one) => [
      `${paint(terminal, 'yellow', 'unsteady')}: ${one.kind} of ${printable(one.subject)}: promised ${printable(one.promised)}; seen ${printable(one.seen)}, ${one.seenTimes} of ${one.tries} times`,
      '',
    ]),
    ...untestedLines(report, terminal),
    ...leftoverLines(report),
    ...report.notes.map((note) => `note: ${note}`),
    summary(report, terminal),
    '',
  ].join('\n');
}

const columns: readonly { readonly verdict: Verdict; readonly style: TextStyle }[] = [
  { verdict: 'held', style: 'green' },
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

function breachLines(breach: Breach, document: Document, terminal: Terminal): string[] {
  const frame = renderFinding(
    document,
    {
      code: `${breach.part}/${breach.kind.replaceAll(' ', '-')}`,
      severity: breach.isKnown ? 'warning' : 'error',
      message: `${breach.kind} of ${breach.subject}: this is not kept${breach.isKnown ? ' (known)' : ''}`,
      place: breach.place,
    },
    { colour: terminal.colour, width: terminal.columns },
  );
  const row = (name: string, text: string) => `  ${paint(terminal, 'bold', name.padEnd(9))}${printable(text)}`;
  const others = breach.witnesses > 1 ? [row('also', `seen by ${counted(breach.witnesses - 1, 'more case')}`)] : [];
  return [
    frame,
    row('promised', breach.promised),
    row('seen', breach.seen),
    ...breach.steps.map(({ does, came }, at) => row(at === 0 ? 'steps' : '', `${at + 1}. ${does} → ${came}`)),
    ...others,
    row('replay', `--replay '${breach.id}'`),
    ...breach.script.map((line) => `    ${line.replaceAll('\n', '\n    ')}`),
    '',
  ];
}

/** How many reasons are told, and how many facts by name for each; `--json` has them all. */
const reasonsMost = 10;
const namesMost = 2;

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

function leftoverLines({ leftovers }: VerifyReport): string[] {
  return leftovers.map(({ resource, count, why }) => `left behind: ${count} of ${resource}: ${printable(why)}`);
}

function summary(report: VerifyReport, terminal: Terminal): string {
  const { total, requests, ms, seed } = report;
  const verdict =
    total.broken === 0 ? paint(terminal, 'green', 'nothing broken') : paint(terminal, 'red', `${total.broken} broken`);
  const counts = `${total.held} held, ${total['not testable']} not testable, ${total.open} open`;
  return `${paint(terminal, 'bold', printable(report.url))}: ${verdict}, ${counts}; ${counted(requests, 'request')} in ${(ms / 1000).toFixed(1)} s, seed ${seed}`;
}
