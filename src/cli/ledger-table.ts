import { partNames } from '../document/document.ts';
import type { Standing } from '../parts/fact.ts';
import type { Counts, Ledger } from '../parts/ledger.ts';
import { paint, type Style, type Terminal } from './terminal.ts';

/** The ledger as a table: a row for each part, how many of its facts stand how, and their shares as a bar. */
export function ledgerTable(ledger: Ledger, terminal: Terminal): string[] {
  const rows = partNames.map((part) => [part, ledger.parts[part]] as const);
  const width = Math.max(...partNames.map((part) => part.length));
  const cells = (counts: Counts): string =>
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
export function ledgerLine(total: Counts): string {
  const said = standings.filter(({ standing }) => total[standing] > 0).map(({ standing }) => `${total[standing]} ${standing}`);
  return `${said.join(', ')} of ${factsOf(total)} facts`;
}

/** How many facts there are, however they stand. */
export function factsOf(counts: Counts): number {
  return standings.reduce((sum, { standing }) => sum + counts[standing], 0);
}

/** In the order of the columns; the bar shows what is settled, what a tool has read off, and what is open. */
const standings: readonly { readonly standing: Standing; readonly style: Style; readonly mark: string }[] = [
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

function cell(count: number, standing: Standing, style: Style, terminal: Terminal): string {
  const text = count === 0 ? '·' : String(count);
  const blanks = ' '.repeat(Math.max(1, columnOf(standing) - text.length));
  return blanks + paint(terminal, count === 0 ? 'dim' : style, text);
}

/** The shares of a part's facts. One open fact among a thousand still shows. */
function bar(counts: Counts, terminal: Terminal): string {
  const total = factsOf(counts);
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
