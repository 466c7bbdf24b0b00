import { type CheckReport, requireClosed } from '../../check/check.ts';
import { type Finding, type PartName, partNames } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import type { LedgerFact, StandingCounts } from '../../parts/facts/ledger.ts';
import { checkText } from '../check-text.ts';
import { reportOn } from '../reading.ts';
import { onStop } from '../signals.ts';
import { paint, type Terminal } from '../terminal.ts';
import { Misuse, type VerbCall, type VerbRun } from '../verb.ts';
import { startWatch } from '../watch.ts';

/** `ninefold check DOC`. */
export const runCheck: VerbRun = async (asked, terminal) => {
  const required = requiredParts(asked.values('require'));
  const readMs = Date.now();
  const report = await checked(asked.document, required);
  if (asked.has('watch')) return checkAgain(asked, required, { report, readMs }, terminal);
  show(report, asked, terminal);
  return report.sound ? 0 : 1;
};

async function checked(path: string, required: readonly PartName[]): Promise<CheckReport> {
  const report = await reportOn(path);
  return required.length === 0 ? report : requireClosed(report, required);
}

function show(report: CheckReport, asked: VerbCall, terminal: Terminal): void {
  const isRepeated = asked.has('watch');
  if (asked.has('json')) terminal.write(`${JSON.stringify(checkJson(report), undefined, isRepeated ? 0 : 2)}\n`);
  else terminal.write(checkText(report, asked.document, asked.has('open'), terminal));
}

/** Checks at every change until a signal; resolves to the exit code of the last check. */
function checkAgain(
  asked: VerbCall,
  required: readonly PartName[],
  first: { readonly report: CheckReport; readonly readMs: number },
  terminal: Terminal,
): Promise<number> {
  const isText = !asked.has('json');
  let code = 0;
  return new Promise((resolve, reject) => {
    const take = (report: CheckReport): void => {
      const { sources } = report.spec.document;
      watch.follow(sources.keys(), !report.sound);
      code = report.sound ? 0 : 1;
      show(report, asked, terminal);
      const files = sources.size === 1 ? 'it' : `its ${sources.size} files`;
      if (isText && terminal.isTTY) terminal.write(`${paint(terminal, 'dim', `watching ${files}; Ctrl-C ends`)}\n`);
    };
    const watch = startWatch(first.readMs, async () => {
      try {
        const report = await checked(asked.document, required);
        if (isText) terminal.write(terminal.isTTY ? clearScreen : '\n');
        take(report);
      } catch (error) {
        // The file may be on its way back: an editor can take it away before it writes it anew.
        if (error instanceof Misuse) {
          terminal.complain(`ninefold: ${error.message}\n`);
          code = 2;
          return;
        }
        watch.close();
        reject(error);
      }
    });
    onStop(() => {
      watch.close();
      resolve(code);
    });
    take(first.report);
  });
}

const clearScreen = '\u001b[2J\u001b[3J\u001b[H';

/** The parts that `--require` names, separated by commas. */
function requiredParts(values: readonly string[]): PartName[] {
  const words = values.flatMap((value) => value.split(',')).map((word) => word.trim());
  return words
    .filter((word) => word !== '')
    .map((word) => {
      const part = partNames.find((name) => name === word);
      if (part !== undefined) return part;
      const meant = nearest(word, partNames);
      throw new Misuse(
        `--require ${word}: that is no part. ${meant === undefined ? `The parts are ${partNames.join(', ')}.` : `Did you mean ${meant}?`}`,
      );
    });
}

/** What `check --json` writes; `docs/command-line.md` promises it. */
export interface CheckJson {
  readonly title: string;
  readonly sound: boolean;
  readonly counts: { readonly total: StandingCounts; readonly parts: Readonly<Record<PartName, StandingCounts>> };
  readonly facts: readonly LedgerFact[];
  readonly findings: readonly Finding[];
}

/** A report as a value for other programs. */
export function checkJson({ title, sound, ledger, findings }: CheckReport): CheckJson {
  return { title, sound, counts: { total: ledger.total, parts: ledger.parts }, facts: ledger.facts, findings };
}
