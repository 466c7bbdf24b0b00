import type { Misfits } from '../serve/service/stored/renewing.ts';
import { counted, printable } from './terminal.ts';

/** What will be done with stored rows, and where they are as they were. */
export function planText(plan: readonly string[], path: string, copy: string | undefined): string {
  const kept = copy === undefined ? [] : [`As it was, it is kept in ${copy}.`];
  return [`${path} is brought up to this document:`, ...plan.map((line) => `  ${printable(line)}`), ...kept].join('\n');
}

/** Which rows do not fit, and what else stands in the way. */
export function misfitsText({ rows, reasons }: Misfits): string {
  const lines = rows.flatMap(({ resource, count, examples }) => [
    `  ${counted(count, 'row')} of ${printable(resource)}`,
    ...examples.map((example) => `    ${printable(example)}`),
  ]);
  return [...(rows.length > 0 ? ['Stored rows do not fit this document:', ...lines] : []), ...reasons.map(printable)].join('\n');
}

/** Tells now and then how far it has come, beside what is written. */
export function progressOf(complain: (text: string) => void): (resource: string, done: number) => void {
  let told = 0;
  return (resource, done) => {
    if (done - told < stepRows && done >= told) return;
    told = done;
    if (done >= stepRows) complain(`${counted(done, 'row')} of ${printable(resource)}\n`);
  };
}

const stepRows = 100_000;
