import { writeFileSync } from 'node:fs';
import { check } from '../../check/check.ts';
import { importForeign } from '../../convert/foreign.ts';
import type { Imported } from '../../convert/openapi/import.ts';
import { type ImportReport, reportOfImport } from '../../convert/openapi/report.ts';
import type { Document } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { readDocument, Unreadable } from '../../document/read/read.ts';
import { isKey } from '../../parts/form.ts';
import { overlayOf } from '../reading.ts';
import { counted, paint, printable, type Terminal, wrapped } from '../terminal.ts';
import { Misuse, type VerbCall, type VerbRun } from '../verb.ts';

/** `ninefold import FILE`. */
export const runImport: VerbRun = async (asked, terminal) => {
  const format = readFormat(asked);
  const output = asked.value('output');
  const wantsReport = asked.has('report') || asked.has('json');
  const { document, imported } = await takeOver(asked, wantsReport);
  const file = output ?? (wantsReport ? undefined : '-');
  if (file === '-') terminal.write(await written(document, format));
  else if (file !== undefined) writeFile(file, await written(document, format));
  if (wantsReport) {
    const told = asked.has('json') ? reportOfImport(imported, Number.POSITIVE_INFINITY) : reportOfImport(imported);
    terminal.write(asked.has('json') ? `${JSON.stringify(told, undefined, 2)}\n` : reportText(told, document, asked, terminal));
  }
  const found = document.findings.length;
  if (found > 0 && !wantsReport) {
    terminal.complain(
      `${counted(found, 'finding')} in ${asked.document}: ninefold check ${asked.document} shows each at its place.\n`,
    );
  }
  return document.findings.some(({ severity }) => severity === 'error') ? 1 : 0;
};

type Format = 'md' | 'yaml';

/** @throws {Misuse} for a format that there is not. Without a word the name of the file says it, else it is Markdown. */
function readFormat(asked: VerbCall): Format {
  const word = asked.value('to');
  if (word === undefined) return /\.ya?ml$/i.test(asked.value('output') ?? '') ? 'yaml' : 'md';
  if (word === 'md' || word === 'yaml') return word;
  const meant = nearest(word, ['md', 'yaml']);
  throw new Misuse(`--to ${word}: no such format. ${meant === undefined ? 'There is md, yaml.' : `Did you mean ${meant}?`}`);
}

/** @throws {Misuse} where the file cannot be read, or is no document of another language. */
async function takeOver(asked: VerbCall, traces: boolean): Promise<{ readonly document: Document; readonly imported: Imported }> {
  const path = asked.document;
  let imported: Imported | undefined;
  try {
    const overlay = await overlayOf(asked.values('overlay'));
    const document = await readDocument(path, {
      isKey,
      ...(overlay && { overlay }),
      foreign: (foreign) => {
        imported = importForeign(foreign, traces);
        return imported?.document;
      },
    });
    if (imported !== undefined) return { document: check(document).spec.document, imported };
  } catch (error) {
    if (error instanceof Unreadable) throw new Misuse(error.message, { cause: error });
    throw error;
  }
  throw new Misuse(`${path} is no document of OpenAPI or AsyncAPI: it has neither \`openapi\` nor \`swagger\` nor \`asyncapi\`.`);
}

async function written(document: Document, format: Format): Promise<string> {
  if (format === 'yaml') return (await import('../../convert/nine-parts/yaml.ts')).writeYaml(document);
  return (await import('../../convert/nine-parts/markdown.ts')).writeMarkdown(document);
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

function reportText(report: ImportReport, document: Document, asked: VerbCall, terminal: Terminal): string {
  const heading = (text: string) => paint(terminal, 'bold', text);
  const rules = new Map<string, { count: number; least: number; most: number }>();
  for (const { rule, confidence } of report.inferred) {
    const row = rules.get(rule) ?? { count: 0, least: 1, most: 0 };
    rules.set(rule, { count: row.count + 1, least: Math.min(row.least, confidence), most: Math.max(row.most, confidence) });
  }
  const open = new Map<string, number>();
  for (const { kind } of report.open) open.set(kind, (open.get(kind) ?? 0) + 1);
  const rows = (entries: readonly (readonly [string, number, string])[]): string[] =>
    entries.map(
      ([what, count, more]) =>
        `  ${count.toLocaleString('en').padStart(7)}  ${printable(what)}${more === '' ? '' : `  ${paint(terminal, 'dim', printable(more))}`}`,
    );
  return [
    heading(printable(document.title || asked.document)),
    '',
    heading('taken'),
    ...rows([['values that the source states', report.taken, '']]),
    '',
    heading('inferred'),
    ...rows(
      [...rules].map(
        ([rule, { count, least, most }]) => [rule, count, least === most ? `${most}` : `${least} to ${most}`] as const,
      ),
    ),
    '',
    heading('open'),
    ...rows([...open].map(([kind, count]) => [kind, count, ''] as const)),
    '',
    heading('not carried'),
    ...rows(report.notCarried.map(({ what, count, at }) => [what, count, `${at[0] ?? ''}${count > 1 ? ' …' : ''}`] as const)),
    '',
    ...(document.findings.length === 0
      ? []
      : [
          ...wrapped(
            `${counted(document.findings.length, 'finding')}: ninefold check shows each at its place.`,
            terminal.columns,
          ),
          '',
        ]),
  ].join('\n');
}
