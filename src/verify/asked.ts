import { partNames } from '../document/document.ts';
import { nearest } from '../document/nearest.ts';
import { entryOf } from '../parts/fact.ts';
import type { Model } from './model/model.ts';
import { CannotRun, type VerifyOptions } from './options.ts';
import type { Breach } from './report.ts';
import type { Case, Trial } from './session/trial.ts';

/** One case of one trial, that can be told apart from all others. */
export interface PlannedCase {
  readonly trial: Trial;
  readonly testCase: Case;
}

/** What a baseline knows a breach by: what is broken, and not how it was found. */
export function baselineKey({ kind, subject, reason }: Pick<Breach, 'kind' | 'subject' | 'reason'>): string {
  return `${kind}:${subject}:${reason}`;
}

/** @throws {CannotRun} for options that ask for what there is not, or that do not go together. */
export function checkAsked(options: VerifyOptions, { facts, spec }: Model, trials: readonly Trial[]): void {
  const { only = [], readOnly, clockUrl, mayChange = [] } = options;
  if (readOnly && clockUrl !== undefined) throw new CannotRun('--read-only moves no clock: leave out --clock.');
  if (readOnly && mayChange.length > 0) throw new CannotRun('--read-only changes nothing: leave out --may-change.');
  const unknown = mayChange.find((resource) => entryOf(spec.resources.all, resource) === undefined);
  if (unknown !== undefined) throw new CannotRun(`--may-change ${unknown}: the document has no such resource.`);
  const known = new Set<string>([...partNames, ...trials.map(({ name }) => name)]);
  for (const { kind, subject } of facts.all) known.add(kind).add(subject).add(`${kind}:${subject}`);
  const strange = only.find((word) => !known.has(word));
  if (strange === undefined) return;
  const meant = nearest(strange, known);
  const hint =
    meant === undefined ? 'Write a part, such as limits, a kind of fact or its subject, or a trial.' : `Did you mean ${meant}?`;
  throw new CannotRun(`--only ${strange}: the document has no such part, fact or trial. ${hint}`);
}

/** The cases to carry out: all of the document's that are asked for, or the one that a replay names. @throws {CannotRun} */
export function planOf(trials: readonly Trial[], model: Model, options: VerifyOptions): PlannedCase[] {
  const all: PlannedCase[] = [];
  for (const trial of trials) {
    if (options.readOnly && !trial.isReading) continue;
    for (const testCase of trial.cases(model)) all.push({ trial, testCase });
  }
  const planned = askedOf(all, options);
  const { replay } = options;
  if (replay === undefined) return planned;
  const again = planned.filter(({ trial, testCase }) => replay.includes(`@${trial.name}@${testCase.name}@`));
  // What is not asked again must not look as if it were mended.
  if (again.length === 0) throw new CannotRun(`--replay ${replay}: no case of this document has that id.`);
  return again;
}

/** The cases that are about what was asked for. What no case is named for is seen beside others, so then all are carried out. */
function askedOf(planned: readonly PlannedCase[], { only = [] }: VerifyOptions): PlannedCase[] {
  const about = only.map((word) => planned.filter((one) => isAbout(one, word)));
  if (only.length === 0 || about.some((cases) => cases.length === 0)) return [...planned];
  const wanted = new Set(about.flat());
  return planned.filter((one) => wanted.has(one));
}

function isAbout({ trial, testCase }: PlannedCase, word: string): boolean {
  if (word === trial.part || word === trial.name) return true;
  return testCase.facts.some(({ kind, subject }) => word === kind || word === subject || word === `${kind}:${subject}`);
}
