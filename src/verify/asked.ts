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

/** The cases that are about what was asked for. What no case is named for is seen beside others, so then all are carried out. */
export function askedOf(planned: readonly Planned[], { only = [] }: VerifyOptions): Planned[] {
  const about = only.map((word) => planned.filter((one) => isAbout(one, word)));
  if (only.length === 0 || about.some((cases) => cases.length === 0)) return [...planned];
  const wanted = new Set(about.flat());
  return planned.filter((one) => wanted.has(one));
}

function isAbout({ trial, testCase }: Planned, word: string): boolean {
  if (word === trial.part || word === trial.name) return true;
  return testCase.facts.some(({ kind, subject }) => word === kind || word === subject || word === `${kind}:${subject}`);
}
