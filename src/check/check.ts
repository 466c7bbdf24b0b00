import type { FindingKind } from '../document/catalogue.ts';
import type { Document, Finding, JsonMap, PartName, Place, Pointer } from '../document/document.ts';
import { above } from '../document/pointer.ts';
import { keyPlaceOf, placeOf, valueAt } from '../document/source.ts';
import { isStanding } from '../document/values.ts';
import { type Ledger, ledgerOf } from '../parts/facts/ledger.ts';
import { checkForm } from '../parts/form.ts';
import { readSpec, type Spec } from '../parts/spec.ts';
import { rules as allRules } from './all.ts';
import type { Rule, Wrong } from './subject/rule.ts';
import { subjectOf } from './subject/subject.ts';
import { withoutContradictions } from './taken.ts';

/** What is true of a document. */
export interface CheckReport {
  readonly title: string;
  /** Whether nothing in it contradicts itself: no finding is an error. */
  readonly sound: boolean;
  /** In the order of the text. */
  readonly findings: readonly Finding[];
  readonly ledger: Ledger;
  readonly spec: Spec;
}

interface CheckOptions {
  /** The rules to run; all of them unless said. */
  readonly rules?: readonly Rule[];
}

/**
 * Checks a document: its reading, its form, then every rule over what was understood of it. It never throws. One that was taken over
 * from another language is never refused for what is wrong with it: that is open, with a warning at its place.
 */
export function check(document: Document, options: CheckOptions = {}): CheckReport {
  let report = checkOwn(document, options);
  if (!document.isTaken) return report;
  const rules = options.rules ?? allRules;
  for (let again = 0; again < yieldingsMax && !report.sound; again++) {
    const left = withoutContradictions(
      report,
      (one, codes) => checkOwn(one, { rules: rules.filter(({ code }) => codes.has(code)) }).findings,
    );
    report = checkOwn(left, options);
  }
  return report;
}

/** What is left open for an error may make another one of another sort; so often that is gone after. */
const yieldingsMax = 3;

function checkOwn(document: Document, options: CheckOptions): CheckReport {
  const form = checkForm(document);
  const spec = readSpec(document);
  const subject = subjectOf(spec, new Set(form.flatMap(({ at }) => at ?? [])));
  // What was taken over is mended at each of its findings.
  const most = document.isTaken ? Number.POSITIVE_INFINITY : findingsMost;
  const found = (options.rules ?? allRules).flatMap((rule) => {
    const isUndecided = (at: Pointer) => rule.severity === 'error' && isLeftOpen(document, at);
    const wrongs = [...rule.find(subject)].filter(({ at }) => !subject.isBroken(at) && !isUndecided(at));
    return upTo(most, wrongs, (wrong) => findingOf(document, rule, wrong));
  });
  return reportOf(document, [...document.findings, ...upTo(most, form, (one) => one), ...found], ledgerOf(spec), spec);
}

/** Whether it is said at a place, or above it, that what stands there is not decided: that contradicts nothing. */
function isLeftOpen({ tree }: Document, at: Pointer): boolean {
  for (let place: Pointer | undefined = at; place !== undefined; place = above(place)) {
    const value = valueAt(tree, place);
    if (isStanding(value) && !Object.hasOwn(value as JsonMap, '$none')) return true;
  }
  return false;
}

/** How many findings of one rule are told. */
const findingsMost = 1000;

/** The findings of so many, and one that says that there are more. */
function upTo<T>(most: number, all: readonly T[], findingOf: (one: T) => Finding): Finding[] {
  const told = (all.length > most ? all.slice(0, most) : all).map(findingOf);
  const last = told.at(-1);
  if (!last || all.length <= most) return told;
  const { code, severity, remedy } = tooMany;
  return [
    ...told,
    { code, severity, remedy, message: `There are ${all.length - most} more of \`${last.code}\`.`, place: last.place },
  ];
}

/** The report with a finding more for each fact that is open in these parts. */
export function requireClosed(report: CheckReport, parts: readonly PartName[]): CheckReport {
  const open = report.ledger.facts.filter(({ standing, part }) => standing === 'open' && parts.includes(part));
  const findings = open.map(({ kind, subject, question, at, place }): Finding => {
    const asked = question === undefined ? '' : `: ${question}`;
    const { code, severity, remedy } = openFact;
    return { code, severity, remedy, message: `Open: ${kind} of ${subject}${asked}.`.replace(/\?\.$/, '?'), at, place };
  });
  return reportOf(report.spec.document, [...report.findings, ...findings], report.ledger, report.spec);
}

function reportOf(document: Document, all: readonly Finding[], ledger: Ledger, spec: Spec): CheckReport {
  const findings = inOrder(document, folded(all));
  return { title: document.title, sound: !findings.some(({ severity }) => severity === 'error'), findings, ledger, spec };
}

function findingOf(document: Document, rule: Rule, wrong: Wrong): Finding {
  const also = wrong.also?.map(({ message, at }) => ({ message, place: placeOf(document, at) }));
  return {
    code: rule.code,
    severity: rule.severity,
    message: wrong.message,
    remedy: wrong.remedy ?? rule.remedy,
    at: wrong.at,
    place: placeOfWrong(document, wrong),
    ...(also && also.length > 0 && { also }),
  };
}

/** A stretch inside a text has a place of its own where the text stands on one line as it is. */
function placeOfWrong(document: Document, { at, onKey, offset, length, place: own }: Wrong): Place {
  if (own) return own;
  const place = onKey ? keyPlaceOf(document, at) : placeOf(document, at);
  if (offset === undefined || place.line !== place.endLine) return place;
  const value = valueAt(document.tree, at);
  const line = lineOf(document.sources.get(place.file) ?? '', place.line);
  const from = typeof value === 'string' ? line.slice(0, place.endColumn - 1).indexOf(value, place.column - 1) : -1;
  if (from < 0) return place;
  const column = from + 1 + offset;
  return { ...place, column, endColumn: Math.min(column + Math.max(length ?? 1, 1), place.endColumn) };
}

function lineOf(text: string, line: number): string {
  return text.split(/\r\n|\n|\r/, line)[line - 1] ?? '';
}

/** One of each code, message and place. */
function folded(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, Finding>();
  for (const finding of findings) {
    const { file, line, column } = finding.place;
    const key = JSON.stringify([finding.code, finding.message, file, line, column, placeKey(finding.at)]);
    if (!seen.has(key)) seen.set(key, finding);
  }
  return [...seen.values()];
}

function placeKey(at: Pointer | undefined): string {
  return at ?? '';
}

/** By file in the order in which they were read, then by place; errors before warnings. */
function inOrder(document: Document, findings: readonly Finding[]): Finding[] {
  const files = new Map([...document.sources.keys()].map((file, index) => [file, index] as const));
  const rank = ({ place }: Finding): number => files.get(place.file) ?? files.size;
  return findings.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      a.place.line - b.place.line ||
      a.place.column - b.place.column ||
      a.severity.localeCompare(b.severity) ||
      (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
  );
}

/** The finding of a fact that is open where it was required to be stated. */
export const openFact: FindingKind = {
  code: 'ledger/open',
  severity: 'error',
  meaning: 'A fact is open in a part that is required to have none.',
  remedy: 'State it, or write `none` or `any`.',
};

/** More of one sort than are told. */
const tooMany = {
  code: 'document/too-many-findings',
  severity: 'warning',
  remedy: 'Mend the ones above first.',
} as const;
