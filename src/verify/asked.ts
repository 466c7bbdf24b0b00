import type { VerifyOptions } from './options.ts';
import type { Breach } from './report.ts';
import type { Case, Trial } from './trial.ts';

/** One case of one trial, that can be told apart from all others. */
export interface Planned {
  readonly trial: Trial;
  readonly testCase: Case;
}

/** What a baseline knows a breach by: what is broken, and not how it was found. */
export function baselineKey({ kind, subject, reason }: Pick<Breach, 'kind' | 'subject' | 'reason'>): string {
  return `${kind}:${subject}:${reason}`;
}

/** Whether a case is about anything that was asked for. */
export function isAsked({ trial, testCase }: Planned, { only }: VerifyOptions): boolean {
  if (only === undefined || only.length === 0) return true;
  return only.some((word) => {
    if (word === trial.part || word === trial.name) return true;
    return testCase.facts.some(({ kind, subject }) => word === kind || word === subject || word === `${kind}:${subject}`);
  });
}
