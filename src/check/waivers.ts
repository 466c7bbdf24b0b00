import type { FindingKind } from '../document/catalogue.ts';
import type { Finding } from '../document/document.ts';
import { placeOf } from '../document/source.ts';
import type { CheckReport } from './check.ts';

/** A warning that is known, meant and answered for. */
export interface Waiver {
  /** Its code. */
  readonly finding: string;
  /** Where, as a JSON Pointer into the document; everywhere unless given. */
  readonly at?: string;
  readonly reason: string;
  /** The last day on which it holds, as `2026-12-31`; for ever unless given. */
  readonly until?: string;
}

/** A finding with the reason why it is let be. */
export interface Waived {
  readonly finding: Finding;
  readonly reason: string;
}

/**
 * The report without the warnings that are waived on a day, and those with their reasons. Errors are never waived: nobody can mean a contradiction.
 * A waiver of nothing is a finding.
 */
export function waive(
  report: CheckReport,
  waivers: readonly Waiver[],
  today: string,
): { readonly report: CheckReport; readonly waived: readonly Waived[] } {
  const holding = waivers.filter(({ until }) => until === undefined || until >= today);
  const reasonOf = ({ code, severity, at }: Finding) =>
    severity === 'warning' ? holding.find((one) => one.finding === code && (one.at === undefined || one.at === at)) : undefined;
  const waived = report.findings.flatMap((finding) => {
    const waiver = reasonOf(finding);
    return waiver ? [{ finding, waiver }] : [];
  });
  const used = new Set(waived.map(({ waiver }) => waiver));
  const idle = holding.filter((waiver) => !used.has(waiver)).map((waiver) => idleFinding(report, waiver));
  const findings = [...report.findings.filter((finding) => !reasonOf(finding)), ...idle];
  return { report: { ...report, findings }, waived: waived.map(({ finding, waiver: { reason } }) => ({ finding, reason })) };
}

function idleFinding({ spec }: CheckReport, { finding, at }: Waiver): Finding {
  const { code, severity, remedy } = idleWaiver;
  const where = at === undefined ? '' : ` at \`${at}\``;
  return {
    code,
    severity,
    remedy,
    message: `\`${finding}\`${where} is waived, and not found.`,
    place: placeOf(spec.document, ''),
  };
}

/** The finding of a waiver that waives nothing. */
export const idleWaiver: FindingKind = {
  code: 'security/idle-waiver',
  severity: 'warning',
  meaning: 'A finding is waived that is not found.',
  remedy: 'Take the waiver out, or correct its code and place.',
};
