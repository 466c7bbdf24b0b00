import type { Breach, VerifyReport } from '../verify/report.ts';

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
