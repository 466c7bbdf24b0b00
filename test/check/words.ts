import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../../src/check/check.ts';
import type { Document, Finding, Place } from '../../src/document/document.ts';
import { cases } from './cases/all.ts';
import { securityCases } from './cases/security.ts';
import { asked, base, type Case, changed, named } from './harness.ts';

/**
 * Everything that is said of the cases, as a text to be read: `node test/check/words.ts` writes it anew where a message has
 * changed on purpose, and the difference is part of the change.
 */
type Written = 'words.txt' | 'security-words.txt';

/** What was written down for each case, in the order of the file. */
export function writtenWords(file: Written = 'words.txt'): string[] {
  return readFileSync(join(import.meta.dirname, file), 'utf8')
    .trimEnd()
    .split('\n\n');
}

/** What a reviewer asks of the base document, and of each change of it besides. */
export function securityWords(): string[] {
  const usual = asked(base).map(told);
  return [
    wordsOf({ snippets: [] }, base, asked(base)),
    ...securityCases.map((one) => {
      const document = changed(one.snippets);
      return wordsOf(
        one,
        document,
        asked(document).filter((finding) => !usual.includes(told(finding))),
      );
    }),
  ];
}

function told(finding: Finding): string {
  return `${named(finding)} ${finding.message}`;
}

/** The snippets of a case, and each finding whole: code, severity, the text that it points at, message, remedy, and what is beside it. */
export function wordsOf({ snippets }: Pick<Case, 'snippets'>, document: Document, findings: readonly Finding[]): string {
  const lines = ([...document.sources.values()][0] ?? '').split('\n');
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
  const write = (file: Written, all: readonly string[]) =>
    writeFileSync(join(import.meta.dirname, file), `${all.join('\n\n')}\n`);
  write('words.txt', words);
  write('security-words.txt', securityWords());
}
