import { partNames } from '../document/document.ts';
import { nearest } from '../document/nearest.ts';
import { placeOf } from '../document/source.ts';
import type { Endpoint } from '../parts/endpoints.ts';
import { entriesOf, entryOf, isStated } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import { factKey } from './exchange/claim.ts';
import { Model } from './model/model.ts';
import { CannotRun, type VerifyOptions } from './options.ts';
import type { Breach, Untried } from './report.ts';
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
  const planned = askedOf(all, options, new Set(trials.map(({ name }) => name)));
  const { replay } = options;
  if (replay === undefined) return planned;
  const again = planned.filter(({ trial, testCase }) => replay.includes(`@${trial.name}@${testCase.name}@`));
  // What is not asked again must not look as if it were mended.
  if (again.length === 0) throw new CannotRun(`--replay ${replay}: no case of this document has that id.`);
  return again;
}

/**
 * The cases that are about what was asked for. A fact that no case is named for is seen beside others, so then all are carried out; a trial
 * that has no case of this document has nothing to carry out.
 */
function askedOf(planned: readonly PlannedCase[], { only = [] }: VerifyOptions, trials: ReadonlySet<string>): PlannedCase[] {
  const about = only.map((word) => planned.filter((one) => isAbout(one, word)));
  const isBeside = (word: string, at: number) => about[at]?.length === 0 && !trials.has(word);
  if (only.length === 0 || only.some(isBeside)) return [...planned];
  const wanted = new Set(about.flat());
  return planned.filter((one) => wanted.has(one));
}

function isAbout({ trial, testCase }: PlannedCase, word: string): boolean {
  if (word === trial.part || word === trial.name) return true;
  return testCase.facts.some(({ kind, subject }) => word === kind || word === subject || word === `${kind}:${subject}`);
}

/** The cases by how they go on beside others; what has the clock moved goes beside others where it cannot be moved. */
export function queuesOf(planned: readonly PlannedCase[], hasClock: boolean): Record<Trial['noise'], PlannedCase[]> {
  const noiseOf = ({ noise, movesClock }: Trial) => (movesClock && !hasClock ? 'quiet' : noise);
  const of = (noise: Trial['noise']) => planned.filter(({ trial }) => noiseOf(trial) === noise);
  // What floods leaves less for those after it, and the clock never goes back: such cases keep the order that they have.
  return { quiet: inOrderOfWorth(of('quiet')), alone: inOrderOfWorth(of('alone')), loud: of('loud'), last: of('last') };
}

/**
 * Cases in the order of their worth, so that a run that ends early has looked at as much as it could: first what shows something that
 * nothing before it shows, the most first; then one case for each fact of each trial, then a second one for each, and so on. Parts take turns.
 */
export function inOrderOfWorth(cases: readonly PlannedCase[]): PlannedCase[] {
  const known = new Set<string>();
  const times = new Map<string, number>();
  const ranked = cases.map((planned) => {
    const keys = planned.testCase.facts.map(factKey);
    const fresh = keys.filter((key) => !known.has(key)).length;
    for (const key of keys) known.add(key);
    const seen = keys.map((key) => `${planned.trial.name}\n${key}`);
    const wave = Math.min(...seen.map((key) => times.get(key) ?? 0));
    for (const key of seen) times.set(key, (times.get(key) ?? 0) + 1);
    return { planned, fresh, wave: fresh > 0 ? -1 : Number.isFinite(wave) ? wave : 0 };
  });
  const waves = [...Map.groupBy(ranked, ({ wave }) => wave)].sort(([one], [other]) => one - other);
  return waves.flatMap(([, wave]) => {
    const byWorth = wave.sort((one, other) => other.fresh - one.fresh);
    return takingTurns([...Map.groupBy(byWorth, ({ planned }) => planned.trial.part).values()]).map(({ planned }) => planned);
  });
}

/** The first of each list, then the second of each, and so on. */
function takingTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/** What a stated answer or body keeps trials from: they know only what the rules of the language say of it. */
const stating = ['request', 'response'] as const;

/** The trials that would have more to try if endpoints did not state their bodies and answers in their own words. */
export function untriedOf(trials: readonly Trial[], model: Model, options: VerifyOptions): Untried[] {
  if (options.replay !== undefined) return [];
  const { spec } = model;
  const planned = new Set(planOf(trials, model, options).map(nameOf));
  return stating.flatMap((word) => {
    const stated = model.endpoints.filter((endpoint) => isStated<unknown>(endpoint[word]));
    if (stated.length === 0) return [];
    const plainer = new Model(without(spec, word), [...model.callers, ...model.strangers], model.basePath, {
      conventions: model.conventions,
    });
    const more = planOf(trials, plainer, options).filter((one) => !planned.has(nameOf(one)));
    return stated.flatMap((endpoint) => {
      const names = more.filter((one) => speaksOf(one, endpoint)).map(({ trial }) => trial.name);
      if (names.length === 0) return [];
      const place = placeOf(spec.document, endpoint[word].at);
      return [{ stated: `${word} of ${endpoint.key}`, place, trials: [...new Set(names)].sort() }];
    });
  });
}

function nameOf({ trial, testCase }: PlannedCase): string {
  return `${trial.name}@${testCase.name}`;
}

function speaksOf({ testCase }: PlannedCase, { key, operation }: Endpoint): boolean {
  return [testCase.name, ...testCase.facts.map(({ subject }) => subject)].some((name) =>
    [key, operation].some((one) => ` ${name},`.includes(` ${one} `) || ` ${name},`.includes(` ${one},`)),
  );
}

/** The same document, in which no endpoint states this. */
function without(spec: Spec, word: (typeof stating)[number]): Spec {
  const { all } = spec.endpoints;
  if (!('value' in all)) return spec;
  const value = Object.assign(
    Object.create(null),
    Object.fromEntries(
      entriesOf(all).map(([key, endpoint]) => [key, { ...endpoint, [word]: { standing: 'open', at: endpoint[word].at } }]),
    ),
  );
  return { ...spec, endpoints: { ...spec.endpoints, all: { ...all, value } } };
}
