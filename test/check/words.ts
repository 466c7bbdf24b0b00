import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../../src/check/check.ts';
import type { Document, Finding, Place } from '../../src/document/document.ts';
import { cases } from './cases/all.ts';
import { type Case, changed } from './harness.ts';

/**
 * Everything that is said of the cases, as a text to be read: `node test/check/words.ts` writes it anew where a message has
 * changed on purpose, and the difference is part of the change.
 */
const file = join(import.meta.dirname, 'words.txt');

/** What was written down for each case, in the order of the file. */
export function writtenWords(): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n\n');
}

/** The snippets of a case, and each finding whole: code, severity, the text that it points at, message, remedy, and what is beside it. */
export function wordsOf({ snippets }: Case, document: Document, findings: readonly Finding[]): string {
  const lines = (document.sources.get('document.json') ?? '').split('\n');
  const text = (place: Place) =>
    lines[place.line - 1]?.slice(place.column - 1, place.endLine === place.line ? place.endColumn - 1 : 60);
  const words = ({ code, severity, place, message, remedy, also = [] }: Finding): string =>
    [
      `${severity} ${code} at ${text(place)}`,
      `  ${message}`,
      `  ${remedy ?? ''}`,
      ...also.map((beside) => `  beside: ${text(beside.place)}: ${beside.message}`),
    ].join('\n');
  return [...snippets.map((snippet) => `> ${snippet.replace(/\s*\n\s*/g, ' ')}`), ...findings.map(words)].join('\n');
}

if (import.meta.main) {
  const words = cases.map((one) => {
    const document = changed(one.snippets);
    return wordsOf(one, document, check(document).findings);
  });
  writeFileSync(file, `${words.join('\n\n')}\n`);
}
