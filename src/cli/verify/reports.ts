/** The reports of `verify` as files: a page that needs nothing else, what continuous integration reads, and Markdown. */

import type { Breach, FactVerdict, Verdict, VerifyReport } from '../../verify/report.ts';
import type { ExchangeTold } from '../../verify/session/told.ts';
import { counted } from '../terminal.ts';
import { alsoOf, breachesOf, reproducedText } from './breaches.ts';
import { asidesOf } from './text.ts';

/** The report as one page that needs nothing else: the nine parts, every breach with its steps, every fact with what showed it. */
export function verifyHtml(report: VerifyReport): string {
  const { title, url, total, requests, ms, seed } = report;
  const summary = `${total.held} held, ${total.partly} partly, ${total.broken} broken, ${total['not testable']} not testable, ${total.open} open; ${requests} requests in ${(ms / 1000).toFixed(1)} s, seed ${seed}`;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}: verified</title><style>${style}</style></head><body>`,
    `<h1>${escaped(title)}</h1><p><code>${escaped(url)}</code>: ${escaped(summary)}</p>`,
    ...(report.stopped === undefined ? [] : [`<p class="broken">It ended early: ${escaped(report.stopped)}.</p>`]),
    partsTable(report),
    ...(report.breaches.length === 0 ? [] : ['<h2>Broken</h2>', ...causesIn(report)]),
    ...(report.crashes.length === 0
      ? []
      : ['<h2>Failures of the service</h2>', ...report.crashes.map((one) => causeOf(one, []))]),
    ...(report.unsteady.length === 0 ? [] : ['<h2>Unsteady</h2>', ...report.unsteady.map((one) => causeOf(one, []))]),
    ...asidesOf(report).flatMap(([head, rows]) =>
      rows.length === 0 ? [] : [`<h2>${head}</h2><ul>${rows.map((row) => `<li>${escaped(row)}</li>`).join('')}</ul>`],
    ),
    ...Object.keys(report.parts).map((part) =>
      factsTable(
        part,
        report.facts.filter((fact) => fact.part === part),
      ),
    ),
    '</body></html>',
    '',
  ].join('\n');
}

const verdicts: readonly Verdict[] = ['held', 'partly', 'broken', 'not testable', 'open'];

function partsTable({ parts, total }: VerifyReport): string {
  const row = (name: string, counts: VerifyReport['total']) =>
    `<tr><th>${escaped(name)}</th>${verdicts.map((verdict) => `<td class="${classOf(verdict)}">${counts[verdict] || '·'}</td>`).join('')}</tr>`;
  const head = `<tr><th></th>${verdicts.map((verdict) => `<th>${verdict}</th>`).join('')}</tr>`;
  return `<table class="parts">${head}${Object.entries(parts)
    .map(([part, counts]) => row(part, counts))
    .join('')}${row('total', total)}</table>`;
}

function causesIn({ breaches, causes }: VerifyReport): string[] {
  const byId = new Map(breaches.map((breach) => [breach.id, breach]));
  return causes.flatMap((cause) => {
    const [first, ...others] = breachesOf(cause, byId);
    return first ? [causeOf(first, others)] : [];
  });
}

/** A cause with the breach that shows it best; the other facts that it breaks are named below it. */
function causeOf(first: Breach, others: readonly Breach[]): string {
  const steps = first.steps.map(({ does, came }) => `<li><code>${escaped(does)}</code> <span>${escaped(came)}</span></li>`);
  const also = others.map((other) => `<li>${escaped(alsoOf(first, other))}</li>`).join('');
  return [
    `<section><h3>${escaped(first.kind)} of ${escaped(first.subject)}</h3>`,
    `<p>${escaped(`${first.place.file}:${first.place.line}`)}${first.isKnown ? ', known' : ''}</p>`,
    `<dl><dt>promised</dt><dd>${escaped(first.promised)}</dd><dt>seen</dt><dd>${escaped(first.seen)}</dd></dl>`,
    ...first.exchanges.map(exchangeOf),
    ...(also === '' ? [] : [`<p>Of the same cause:</p><ul>${also}</ul>`]),
    `<ol>${steps.join('')}</ol><p>Run again ${escaped(reproducedText(first.reproduced))}.</p>`,
    `<details><summary>as shell commands</summary><pre>${escaped(first.script.join('\n'))}</pre></details></section>`,
  ].join('');
}

function exchangeOf({ request, answer }: ExchangeTold): string {
  const line = ({ text, matters }: ExchangeTold['request'][number]) =>
    matters ? `<mark>${escaped(text)}</mark>` : escaped(text);
  return `<pre class="exchange">${request.map(line).join('\n')}</pre><pre class="exchange answer">${answer.map(line).join('\n')}</pre>`;
}

function factsTable(part: string, facts: readonly FactVerdict[]): string {
  const rows = facts.map((fact) => {
    const shown = Object.entries(fact.shown).map(([reason, times]) => `${reason} ×${times}`);
    const why = fact.why ?? shown.join(', ');
    return `<tr><td>${escaped(fact.kind)}</td><td>${escaped(fact.subject)}</td><td class="${classOf(fact.verdict)}">${fact.verdict}</td><td>${escaped(why)}</td></tr>`;
  });
  return `<details><summary>${escaped(part)}: ${facts.length} facts</summary><table>${rows.join('')}</table></details>`;
}

function classOf(verdict: Verdict): string {
  return verdict.replaceAll(' ', '-');
}

const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff }
table { border-collapse: collapse } th, td { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top }
.parts td { text-align: right } .held { color: #17692b } .broken { color: #b3151f; font-weight: 600 } .partly, .not-testable, .open { color: #8a6100 }
section { border-left: 3px solid #b3151f; padding-left: 1rem; margin: 1.5rem 0 } dl { display: grid; grid-template-columns: 6rem minmax(0, 1fr) } dd { margin: 0 }
h1, h3, p, li, dd, td, code { overflow-wrap: anywhere } mark { font-weight: 600 } .exchange { border-left: 3px solid #888; padding-left: .6rem; margin: .3rem 0 } .answer { border-color: #8a6100 }
@media (max-width: 40rem) { body { margin: 1rem auto } section { padding-left: .5rem } details table, details tbody, details tr, details td { display: block } details tr { padding: .3rem 0; border-top: 1px solid #8884 } .parts th, .parts td { padding-right: .35rem; font-size: 13px } .parts tr:first-child th { writing-mode: vertical-rl } dl, dd { display: block } ol, ul { padding-left: 1.2rem } }
pre, code { font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere } details { margin: .6rem 0 }
@media (prefers-color-scheme: dark) { body { background: #16181a; color: #e4e4e4 } .held { color: #6fce86 } .broken { color: #ff7b82 } .partly, .not-testable, .open { color: #e5b94f } }`;

/** The report as JUnit XML: a suite for each part, a case for each fact; what is open, not testable or held in part is skipped, with its reason. */
export function verifyJunit(report: VerifyReport): string {
  const suites = Object.entries(report.parts).map(([part, counts]) => {
    const facts = report.facts.filter((fact) => fact.part === part);
    const skipped = counts.open + counts.partly + counts['not testable'];
    return [
      `  <testsuite name="${escaped(part)}" tests="${facts.length}" failures="${counts.broken}" skipped="${skipped}">`,
      ...facts.map((fact) => caseOf(report, fact)),
      '  </testsuite>',
    ].join('\n');
  });
  const { total, crashes } = report;
  const tests = report.facts.length + crashes.length;
  const skipped = total.open + total.partly + total['not testable'];
  const head = `<testsuites name="${escaped(report.title)}" tests="${tests}" failures="${total.broken + crashes.length}" skipped="${skipped}" time="${report.ms / 1000}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, ...crashSuite(crashes), '</testsuites>', ''].join('\n');
}

/** Failures of the service stand in a suite of their own. */
function crashSuite(crashes: VerifyReport['crashes']): string[] {
  if (crashes.length === 0) return [];
  const cases = crashes.map(({ subject, place, seen, script }) => {
    const open = `    <testcase classname="failures" name="${escaped(subject)}" file="${escaped(place.file)}" line="${place.line}">`;
    return `${open}<failure message="${escaped(`seen ${seen}`)}">${escaped(script.join('\n'))}</failure></testcase>`;
  });
  const head = `  <testsuite name="failures" tests="${crashes.length}" failures="${crashes.length}" skipped="0">`;
  return [head, ...cases, '  </testsuite>'];
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
function escaped(text: string): string {
  return text
    .replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The report in SARIF 2.1.0: each breach as a result at the line of the document that it breaks. */
export function verifySarif(report: VerifyReport, version: string): string {
  const found = [...report.breaches, ...report.crashes];
  const rules = [...new Map(found.map((breach) => [ruleOf(breach), breach])).entries()];
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'ninefold verify',
            version,
            rules: rules.map(([id, { part, kind }]) => ({
              id,
              shortDescription: {
                text: kind === 'crash' ? 'the service does not fail' : `${part}: ${kind} are as the document says`,
              },
            })),
          },
        },
        results: found.map(resultOf),
      },
    ],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

function ruleOf({ part, kind }: Breach): string {
  return `${part}/${kind.replaceAll(' ', '-')}`;
}

function resultOf(breach: Breach) {
  const { file, line, column, endLine, endColumn } = breach.place;
  return {
    ruleId: ruleOf(breach),
    level: 'error',
    message: { text: `${breach.kind} of ${breach.subject}: promised ${breach.promised}; seen ${breach.seen}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: file.replaceAll('\\', '/') },
          region: { startLine: line, startColumn: column, endLine, endColumn },
        },
      },
    ],
    partialFingerprints: { ninefold: `${breach.kind}:${breach.subject}:${breach.reason}` },
    ...(breach.isKnown && { baselineState: 'unchanged' }),
    properties: { steps: breach.steps, script: breach.script, replay: breach.id },
  };
}

/** The report in Markdown, as for a comment on a change: the counts, then each cause with its exchange and its commands. */
export function verifyMarkdown(report: VerifyReport): string {
  const { title, url, total, requests, ms, seed, parts, breaches, crashes, causes, unsteady } = report;
  const failures = crashes.length === 0 ? '' : `, ${counted(crashes.length, 'failure')}`;
  const byId = new Map(breaches.map((breach) => [breach.id, breach]));
  const verdicts = Object.keys(total) as (keyof typeof total)[];
  const row = (name: string, counts: typeof total) => `| ${name} | ${verdicts.map((verdict) => counts[verdict]).join(' | ')} |`;
  const list = (head: string, rows: readonly string[]) =>
    rows.length === 0 ? [] : ['', `## ${head}`, '', ...rows.map((one) => `- ${plain(one)}`)];
  return [
    `# ${plain(title)}: ${total.broken === 0 ? 'nothing broken' : `${total.broken} broken`}${failures}`,
    '',
    `${code(url)}, ${requests} requests in ${(ms / 1000).toFixed(1)} s, seed ${seed}${report.stopped === undefined ? '' : `; it ended early: ${plain(report.stopped)}`}`,
    '',
    `| part | ${verdicts.join(' | ')} |`,
    `|---|${verdicts.map(() => '--:').join('|')}|`,
    ...Object.entries(parts).map(([part, counts]) => row(part, counts)),
    row('total', total),
    ...causes.flatMap((cause) => causeLines(breachesOf(cause, byId))),
    ...list(
      'Failures of the service',
      crashes.map(({ subject, promised, seen }) => `${subject}: promised ${promised}; seen ${seen}`),
    ),
    ...list(
      'Unsteady',
      unsteady.map(
        (one) =>
          `${one.kind} of ${one.subject}: promised ${one.promised}; seen ${one.seen}, ${one.seenTimes} of ${one.tries} times`,
      ),
    ),
    ...asidesOf(report).flatMap(([head, rows]) => list(head, rows)),
    '',
  ].join('\n');
}

/** A cause under its own heading: what was promised and seen, the exchange, the commands. */
function causeLines([first, ...others]: readonly Breach[]): string[] {
  if (!first) return [];
  return [
    '',
    `## ${plain(`${first.kind} of ${first.subject}`)}${first.isKnown ? ' (known)' : ''}`,
    '',
    `${code(`${first.place.file}:${first.place.line}`)}`,
    '',
    `- promised: ${plain(first.promised)}`,
    `- seen: ${plain(first.seen)}`,
    ...others.map((other) => `- also: ${plain(alsoOf(first, other))}`),
    `- run again: ${reproducedText(first.reproduced)}`,
    '',
    ...fenced('http', first.exchanges.map(exchangeText).join('\n\n')),
    '',
    ...fenced('sh', first.script.join('\n')),
  ];
}

/** What matters has a mark in front. */
function exchangeText({ request, answer }: ExchangeTold): string {
  const line = (sign: string) => (one: ExchangeTold['request'][number]) => `${sign} ${one.matters ? '▸' : ' '} ${one.text}`;
  return [...request.map(line('>')), ...answer.map(line('<'))].join('\n');
}

/** A block whose fence is longer than any in it. */
function fenced(language: string, text: string): string[] {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return text === '' ? [] : [`${fence}${language}`, text, fence];
}

function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${longest > 0 ? ` ${text} ` : text}${fence}`;
}

/** Words on one line that mean nothing in Markdown. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>|#]/g, '\\$&');
}
