/** One step of the corpus benchmark in a process of its own: `report FILE` counts, `import FILE OUTPUT` writes the document. */

import { main } from '../src/cli.ts';
import { importForeign } from '../src/convert/foreign.ts';
import { reportOfImport } from '../src/convert/openapi/report.ts';
import { readDocument } from '../src/document/read/read.ts';
import { ledgerOf } from '../src/parts/facts/ledger.ts';
import { isKey } from '../src/parts/form.ts';
import { readSpec } from '../src/parts/spec.ts';

const [step, file = '', output = ''] = process.argv.slice(2);

if (step === 'import') {
  const silent = { write: () => {}, complain: () => {}, isTTY: false, columns: 120, colour: false };
  const code = await main(['import', file, '-o', output], silent);
  if (code === 2) process.exit(1);
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  console.log(JSON.stringify({ mebibytes: maxRSS / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 }));
} else {
  let imported: ReturnType<typeof importForeign>;
  const document = await readDocument(file, {
    isKey,
    foreign: (foreign) => {
      imported = importForeign(foreign, true);
      return imported?.document;
    },
  });
  if (imported === undefined) process.exit(1);
  const { total } = ledgerOf(readSpec(document));
  const { notCarried } = reportOfImport(imported);
  const { stated, none, any, open } = total;
  const counts = {
    stated: stated + none + any,
    inferred: imported.trail.evidence.length,
    open,
    notCarried: notCarried.reduce((sum, { count }) => sum + count, 0),
  };
  console.log(JSON.stringify({ ...counts, findings: document.findings.length }));
}
