import type { Breach, FactVerdict, Verdict, VerifyReport } from '../../verify/report.ts';

/** The report as one page that needs nothing else: the nine parts, every breach with its steps, every fact with what showed it. */
export function verifyHtml(report: VerifyReport): string {
  const { title, url, total, requests, ms, seed } = report;
  const summary = `${total.held} held, ${total.broken} broken, ${total['not testable']} not testable, ${total.open} open; ${requests} requests in ${(ms / 1000).toFixed(1)} s, seed ${seed}`;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escaped(title)}: verified</title><style>${style}</style></head><body>`,
    `<h1>${escaped(title)}</h1><p><code>${escaped(url)}</code>: ${escaped(summary)}</p>`,
    ...(report.stopped === undefined ? [] : [`<p class="broken">It ended early: ${escaped(report.stopped)}.</p>`]),
    partsTable(report),
    ...(report.breaches.length === 0 ? [] : ['<h2>Broken</h2>', ...report.breaches.map(breachOf)]),
    ...(report.unsteady.length === 0 ? [] : ['<h2>Unsteady</h2>', ...report.unsteady.map(breachOf)]),
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

const verdicts: readonly Verdict[] = ['held', 'broken', 'not testable', 'open'];

function partsTable({ parts, total }: VerifyReport): string {
  const row = (name: string, counts: VerifyReport['total']) =>
    `<tr><th>${escaped(name)}</th>${verdicts.map((verdict) => `<td class="${classOf(verdict)}">${counts[verdict] || '·'}</td>`).join('')}</tr>`;
  const head = `<tr><th></th>${verdicts.map((verdict) => `<th>${verdict}</th>`).join('')}</tr>`;
  return `<table class="parts">${head}${Object.entries(parts)
    .map(([part, counts]) => row(part, counts))
    .join('')}${row('total', total)}</table>`;
}

function breachOf(breach: Breach): string {
  const steps = breach.steps.map(({ does, came }) => `<li><code>${escaped(does)}</code> <span>${escaped(came)}</span></li>`);
  return [
    `<section><h3>${escaped(breach.kind)} of ${escaped(breach.subject)}</h3>`,
    `<p>${escaped(`${breach.place.file}:${breach.place.line}`)}${breach.isKnown ? ', known' : ''}</p>`,
    `<dl><dt>promised</dt><dd>${escaped(breach.promised)}</dd><dt>seen</dt><dd>${escaped(breach.seen)}</dd></dl>`,
    `<ol>${steps.join('')}</ol><details><summary>as shell commands</summary><pre>${escaped(breach.script.join('\n'))}</pre></details></section>`,
  ].join('');
}

function factsTable(part: string, facts: readonly FactVerdict[]): string {
  const rows = facts.map((fact) => {
    const shown = Object.entries(fact.shown).map(([reason, times]) => `${reason} ×${times}`);
    const why = fact.verdict === 'not testable' ? (fact.why ?? '') : shown.join(', ');
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
.parts td { text-align: right } .held { color: #17692b } .broken { color: #b3151f; font-weight: 600 } .not-testable, .open { color: #8a6100 }
section { border-left: 3px solid #b3151f; padding-left: 1rem; margin: 1.5rem 0 } dl { display: grid; grid-template-columns: 6rem 1fr } dd { margin: 0 }
pre, code { font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere } details { margin: .6rem 0 }
@media (prefers-color-scheme: dark) { body { background: #16181a; color: #e4e4e4 } .held { color: #6fce86 } .broken { color: #ff7b82 } .not-testable, .open { color: #e5b94f } }`;

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
  const rules = [...new Map(report.breaches.map((breach) => [ruleOf(breach), breach])).entries()];
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
              shortDescription: { text: `${part}: ${kind} are as the document says` },
            })),
          },
        },
        results: report.breaches.map(resultOf),
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
