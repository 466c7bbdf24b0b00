/** The table of faults of `docs/faults.md`: `node bench/faults/page.ts` writes it anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { partNames } from '../../src/document/document.ts';
import { asMarkdown } from '../table.ts';
import { services } from './services.ts';

const path = join(import.meta.dirname, '../../docs/faults.md');
const heading = '## The faults';

/** The page with the table that the data has. */
export function pageWithFaults(page: string): string {
  return `${page.slice(0, page.indexOf(heading))}${heading}\n\n${tables()}`;
}

export function faultsPage(): string {
  return readFileSync(path, 'utf8');
}

function tables(): string {
  return partNames.map((part) => `### ${part}\n\n${tableOf(part)}\n`).join('\n');
}

/** Left-aligned: it is text. */
function tableOf(part: string): string {
  const rows = services.flatMap(({ name, faults }) =>
    faults
      .filter((fault) => fault.part === part)
      .map(({ id, kind, subject, bug }) => [`${name}: \`${id}\``, `${kind} (\`${subject}\`)`, bug]),
  );
  return asMarkdown([['fault', 'fact that it breaks', 'the bug'], ...rows]).replaceAll('---:', '---');
}

if (import.meta.main) writeFileSync(path, pageWithFaults(faultsPage()));
