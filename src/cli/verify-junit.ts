import type { FactVerdict, VerifyReport } from '../verify/report.ts';

/** The report as JUnit XML: a suite for each part, a case for each fact; what is open or not testable is skipped, with its reason. */
export function verifyJunit(report: VerifyReport): string {
  const suites = Object.entries(report.parts).map(([part, counts]) => {
    const facts = report.facts.filter((fact) => fact.part === part);
    const skipped = counts.open + counts['not testable'];
    return [
      `  <testsuite name="${escaped(part)}" tests="${facts.length}" failures="${counts.broken}" skipped="${skipped}">`,
      ...facts.map((fact) => caseOf(report, fact)),
      '  </testsuite>',
    ].join('\n');
  });
  const { total } = report;
  const tests = report.facts.length;
  const skipped = total.open + total['not testable'];
  const head = `<testsuites name="${escaped(report.title)}" tests="${tests}" failures="${total.broken}" skipped="${skipped}" time="${report.ms / 1000}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, '</testsuites>', ''].join('\n');
}

function caseOf(report: VerifyReport, fact: FactVerdict): string {
  const name = `${fact.kind} of ${fact.subject}`;
  const { file, line } = fact.place;
  const open = `    <testcase classname="${escaped(fact.part)}" name="${escaped(name)}" file="${escaped(file)}" line="${line}"`;
  if (fact.verdict === 'held') return `${open}/>`;
  if (fact.verdict !== 'broken') return `${open}><skipped message="${escaped(fact.why ?? 'open')}"/></testcase>`;
  const breaches = report.breaches.filter(({ kind, subject }) => kind === fact.kind && subject === fact.subject);
  const failures = breaches.map(({ promised, seen, script }) => {
    const message = `promised ${promised}; seen ${seen}`;
    return `<failure message="${escaped(message)}">${escaped(script.join('\n'))}</failure>`;
  });
  return `${open}>${failures.join('')}</testcase>`;
}

/** Text for XML: the five signs that mean something, and no characters that XML does not have (XML 1.0 section 2.2). */
export function escaped(text: string): string {
  return text
    .replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
