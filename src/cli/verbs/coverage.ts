import type { EndpointCoverage } from '../../serve/service/coverage.ts';
import { type CoverageRecord, readCoverage } from '../serve/coverage-file.ts';
import { counted, paint, printable, type Terminal } from '../terminal.ts';
import { Misuse, shareOption, type VerbCall, type VerbRun } from '../verb.ts';

/** `ninefold coverage RECORD`. */
export const runCoverage: VerbRun = async (asked, terminal) => {
  const least = shareOption(asked, 'least', 'endpoints');
  const record = readCoverage(pathOf(asked));
  const reached = shareOf(record.endpoints);
  if (asked.has('json')) terminal.write(`${JSON.stringify({ ...record, share: reached }, undefined, 2)}\n`);
  else terminal.write(`${coverageLines(record, asked.has('all'), terminal).join('\n')}\n`);
  return reached >= least ? 0 : 1;
};

function pathOf(asked: VerbCall): string {
  const store = asked.value('store');
  if (store !== undefined && asked.document !== '') throw new Misuse('coverage reads one record: name it, or its --store FILE.');
  if (store === undefined && asked.document === '')
    throw new Misuse('coverage needs a record, or the --store FILE that it lies beside.');
  return store ?? asked.document;
}

/** How many of a hundred endpoints were called. */
function shareOf(endpoints: readonly EndpointCoverage[]): number {
  const touched = endpoints.filter(({ calls }) => calls > 0).length;
  return endpoints.length === 0 ? 100 : Math.floor((touched / endpoints.length) * 1000) / 10;
}

function coverageLines(record: CoverageRecord, showsAll: boolean, terminal: Terminal): string[] {
  const { endpoints, open } = record;
  const touched = endpoints.filter(({ calls }) => calls > 0);
  const calls = touched.reduce((sum, one) => sum + one.calls, 0);
  const rest = endpoints.length - touched.length;
  return [
    ...(record.title === '' ? [] : [paint(terminal, 'bold', printable(record.title))]),
    paint(terminal, 'dim', `${printable(record.document)}, ${record.since} to ${record.until}`),
    '',
    ...table([['calls', 'answers', 'endpoint', 'operation'], ...(showsAll ? endpoints : touched).map(rowOf)], terminal),
    ...(rest > 0 && !showsAll ? [paint(terminal, 'dim', `${counted(rest, 'endpoint')} untouched; --all lists them`)] : []),
    ...section(
      'open facts met',
      open.map(({ kind, subject, times, place }) => [
        `${times}`,
        nameOf(kind, subject),
        `${place.file}:${place.line}:${place.column}`,
      ]),
      terminal,
    ),
    ...section(
      'made up',
      touched.filter(({ sampled }) => sampled.length > 0).map(({ key, sampled }) => [key, sampled.join(', ')]),
      terminal,
    ),
    ...section(
      'let pass',
      touched.filter(({ warnings }) => warnings.length > 0).map(({ key, warnings }) => [key, warnings.join(', ')]),
      terminal,
    ),
    ...section(
      'reached no endpoint',
      Object.entries(record.unrouted).map(([line, times]) => [`${times}`, line]),
      terminal,
    ),
    '',
    `${counted(calls, 'call')} touched ${touched.length} of ${counted(endpoints.length, 'endpoint')} (${shareOf(endpoints)}%) and ${open.length} of ${counted(record.openTotal, 'open fact')}`,
  ];
}

function rowOf({ calls, statuses, key, operation }: EndpointCoverage): string[] {
  const answers = Object.entries(statuses).map(([status, times]) => (times === 1 ? status : `${times}×${status}`));
  return [String(calls), answers.join(' '), key, operation === key ? '' : operation];
}

function nameOf(kind: string, subject: string): string {
  return subject === 'service' ? kind : `${kind} of ${subject}`;
}

function section(heading: string, rows: readonly (readonly string[])[], terminal: Terminal): string[] {
  return rows.length === 0 ? [] : ['', paint(terminal, 'bold', heading), ...table(rows, terminal)];
}

/** Aligned columns; numbers stand to the right. */
function table(rows: readonly (readonly string[])[], terminal: Terminal): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      const text = printable(cell);
      return /^\d+$|^calls$/.test(cell) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
    });
    const line = `  ${cells.join('  ')}`.trimEnd();
    return row[0] === 'calls' ? paint(terminal, 'dim', line) : line;
  });
}
