import { nearest } from '../document/nearest.ts';
import { complainUnsound } from './check-text.ts';
import { reportOn } from './reading.ts';
import { type Asked, Misspelt, Misuse, type Run } from './verb.ts';

/** `ninefold export DOC --to FORMAT`. */
export const runExport: Run = async (asked, terminal) => {
  readFormat(asked);
  const report = await reportOn(asked.document);
  if (!report.sound) {
    complainUnsound(report, asked.document, terminal);
    return 1;
  }
  const { toTypescript } = await import('../convert/typescript.ts');
  terminal.write(toTypescript(report.spec));
  return 0;
};

/** @throws {Misuse} for a format that is not written yet, or that there is not. */
function readFormat(asked: Asked): 'typescript' {
  const format = asked.value('to');
  if (format === undefined) throw new Misspelt('export needs a format: --to typescript.');
  if (format === 'typescript') return format;
  if (later.includes(format)) throw new Misuse(`--to ${format}: not yet: for now there is typescript.`);
  const meant = nearest(format, ['typescript', ...later]);
  throw new Misuse(`--to ${format}: no such format. ${meant === undefined ? 'There is typescript.' : `Did you mean ${meant}?`}`);
}

const later: readonly string[] = ['openapi', 'asyncapi', 'markdown', 'yaml', 'json'];
