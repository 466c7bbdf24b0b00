import type { CheckReport } from '../check/check.ts';
import { curlLines } from './curl.ts';
import { ledgerLine } from './ledger-table.ts';
import type { Log } from './log.ts';
import { inMemory } from './serve-settings.ts';
import { counted, paint, shown, type Terminal, wrapped } from './terminal.ts';

/** What is told of a service once it can be asked. */
export interface Announced {
  readonly report: CheckReport;
  readonly document: string;
  readonly store: string;
  /** The address, without a path. */
  readonly url: string;
  readonly basePath: string;
  readonly notes: readonly string[];
}

/** Says what is served, where, over which data, what it does not do, and how to ask it. */
export function announce(announced: Announced, log: Log, terminal: Terminal): void {
  const { report, document, store, basePath, notes } = announced;
  const url = announced.url.replace(/\/$/, '');
  const curl = curlLines(report.spec, `${url}${basePath}`, url);
  const fields = {
    ...{ url, base: `${url}${basePath}`, title: report.title, document, store, ledger: report.ledger.total },
    ...{ warnings: report.findings.length, notes, curl },
  };
  log.event('listening', fields, announcementText(announced, url, curl, terminal));
}

function announcementText(announced: Announced, url: string, curl: readonly string[], terminal: Terminal): string {
  const { report, document, store, basePath, notes } = announced;
  const warnings = report.findings.length;
  const data = store === inMemory ? 'in memory, forgotten at the end; --store FILE keeps it' : store;
  const rows: readonly (readonly [string, string])[] = [
    ['address', paint(terminal, ['bold', 'cyan'], url)],
    ...(basePath === '' ? [] : [['base', `${url}${basePath}`] as const]),
    ['document', `${document}${warnings === 0 ? '' : `, ${counted(warnings, 'warning')}: ninefold check shows them`}`],
    ['ledger', `${ledgerLine(report.ledger.total)}; ${url}/.well-known/ninefold`],
    ['data', data],
  ];
  return [
    ...(report.title === '' ? [] : [paint(terminal, 'bold', shown(report.title))]),
    ...rows.map(([name, value]) => `  ${paint(terminal, 'dim', name.padEnd(8))}  ${value}`),
    ...noteLines(notes, terminal),
    '',
    ...curl,
    '',
  ].join('\n');
}

/** What a person should know, one point each. */
export function noteLines(notes: readonly string[], terminal: Terminal): string[] {
  const room = Math.max(50, Math.min(terminal.columns, 130) - 6);
  return notes.flatMap((note) =>
    wrapped(note, room).map((line, index) => (index === 0 ? `  ${paint(terminal, 'yellow', '!')} ${line}` : `    ${line}`)),
  );
}
