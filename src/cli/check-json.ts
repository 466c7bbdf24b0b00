import type { CheckReport } from '../check/check.ts';
import type { Finding, PartName } from '../document/document.ts';
import type { Counts, LedgerFact } from '../parts/ledger.ts';

/** What `check --json` writes; `docs/command-line.md` promises it. */
export interface CheckJson {
  readonly title: string;
  readonly sound: boolean;
  readonly counts: { readonly total: Counts; readonly parts: Readonly<Record<PartName, Counts>> };
  readonly facts: readonly LedgerFact[];
  readonly findings: readonly Finding[];
}

/** A report as a value for other programs. */
export function checkJson({ title, sound, ledger, findings }: CheckReport): CheckJson {
  return { title, sound, counts: { total: ledger.total, parts: ledger.parts }, facts: ledger.facts, findings };
}
