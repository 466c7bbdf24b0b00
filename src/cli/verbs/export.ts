import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { JsonMap } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { complainUnsound } from '../check-text.ts';
import { reportOn } from '../reading.ts';
import { Misspelt, Misuse, type VerbCall, type VerbRun } from '../verb.ts';
import { type ExportFormat, exportFormats } from './export-formats.ts';

/** `ninefold export DOC --to FORMAT`. */
export const runExport: VerbRun = async (asked, terminal) => {
  const format = readFormat(asked);
  const report = await reportOn(asked.document);
  if (!report.sound) {
    complainUnsound(report, asked.document, terminal);
    return 1;
  }
  const write = await format.load();
  const file = asked.value('output');
  const text = textOf(write(report.spec), file);
  if (file === undefined) terminal.write(text);
  else writeFile(file, text);
  return 0;
};

/** @throws {Misuse} for a format that there is not. */
function readFormat(asked: VerbCall): ExportFormat {
  const name = asked.value('to');
  const names = exportFormats.map((format) => format.name);
  if (name === undefined) throw new Misspelt(`export needs a format: --to ${names.join(', ')}.`);
  const format = exportFormats.find((one) => one.name === name);
  if (format) return format;
  const meant = nearest(name, names);
  throw new Misuse(
    `--to ${name}: no such format. ${meant === undefined ? `There is ${names.join(', ')}.` : `Did you mean ${meant}?`}`,
  );
}

function textOf(written: string | JsonMap, file: string | undefined): string {
  if (typeof written === 'string') return written;
  if (file !== undefined && /\.ya?ml$/i.test(file))
    return stringify(written, { lineWidth: 120, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  return `${JSON.stringify(written, undefined, 2)}\n`;
}

/** @throws {Misuse} where the file cannot be written. */
function writeFile(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Misuse(`${file} cannot be written: ${why}.`, { cause: error });
  }
}
