import type { CheckReport } from '../check/check.ts';
import { renderFinding } from '../document/frame.ts';
import { factsOf, ledgerTable } from './ledger-table.ts';
import { openFactLines } from './open-facts.ts';
import { counted, paint, shown, type Terminal } from './terminal.ts';

/** A report as a person reads it: the ledger, the open facts where they are wanted, the findings, and one line that sums it up. */
export function checkText(report: CheckReport, path: string, showsOpen: boolean, terminal: Terminal): string {
  const title = report.title === '' ? [] : [paint(terminal, 'bold', shown(report.title)), ''];
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
  return `${paint(terminal, 'bold', path)}: ${verdict(report, terminal)}, ${counted(total.open, 'open fact')} of ${factsOf(total)}`;
}

/** `sound`, or how many errors and warnings there are. */
export function verdict({ findings }: CheckReport, terminal: Pick<Terminal, 'colour'>): string {
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
