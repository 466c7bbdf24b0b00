import { rules } from '../../check/all.ts';
import { type CheckReport, requireClosed } from '../../check/check.ts';
import { securityRules } from '../../check/security/bounds.ts';
import { type Waived, waive } from '../../check/waivers.ts';
import { type Finding, type PartName, partNames } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import type { LedgerFact, StandingCounts } from '../../parts/facts/ledger.ts';
import { checkText } from '../check-text.ts';
import { readWaivers } from '../exceptions-file.ts';
import { reportOn } from '../reading.ts';
import { onStop, paint, printable, type Terminal } from '../terminal.ts';
import { Misuse, type VerbCall, type VerbRun } from '../verb.ts';
import { startWatch } from '../watch.ts';

/** `ninefold check DOC`. */
export const runCheck: VerbRun = async (asked, terminal) => {
  const wanted: Wanted = {
    required: requiredParts(asked.values('require')),
    isReview: asked.has('security'),
    waivers: asked.value('waive'),
  };
  const readMs = Date.now();
  const first = await checked(asked.document, wanted);
  if (asked.has('watch')) return checkAgain(asked, wanted, { ...first, readMs }, terminal);
  show(first, asked, terminal);
  return exitCode(first);
};

/** What is asked of a document besides being sound. */
interface Wanted {
  readonly required: readonly PartName[];
  /** Whether what a reviewer of its security would ask is asked too. */
  readonly isReview: boolean;
  /** The file of what is waived. */
  readonly waivers: string | undefined;
}

interface Checked {
  readonly report: CheckReport;
  readonly waived: readonly Waived[];
  readonly isReview: boolean;
}

async function checked(path: string, { required, isReview, waivers }: Wanted): Promise<Checked> {
  const found = await reportOn(path, isReview ? [...rules, ...securityRules] : undefined);
  const whole = required.length === 0 ? found : requireClosed(found, required);
  if (waivers === undefined) return { report: whole, waived: [], isReview };
  return { ...waive(whole, await readWaivers(waivers), new Date().toISOString().slice(0, 10)), isReview };
}

/** A question of a review that is neither answered nor waived fails it. */
function exitCode({ report, isReview }: Checked): number {
  return report.sound && !(isReview && report.findings.some(({ code }) => code.startsWith('security/'))) ? 0 : 1;
}

function show({ report, waived }: Checked, asked: VerbCall, terminal: Terminal): void {
  const isRepeated = asked.has('watch');
  const json = () => ({ ...checkJson(report), ...(asked.has('waive') && { waived }) });
  if (asked.has('json')) terminal.write(`${JSON.stringify(json(), undefined, isRepeated ? 0 : 2)}\n`);
  else {
    terminal.write(checkText(report, asked.document, asked.has('open'), terminal));
    for (const { finding, reason } of waived) terminal.write(`waived: ${finding.code}: ${printable(reason)}\n`);
  }
}

/** Checks at every change until a signal; resolves to the exit code of the last check. */
function checkAgain(
  asked: VerbCall,
  wanted: Wanted,
  first: Checked & { readonly readMs: number },
  terminal: Terminal,
): Promise<number> {
  const isText = !asked.has('json');
  let code = 0;
  return new Promise((resolve, reject) => {
    const take = (now: Checked): void => {
      const { report } = now;
      const { sources } = report.spec.document;
      watch.follow(sources.keys(), !report.sound);
      code = exitCode(now);
      show(now, asked, terminal);
      const files = sources.size === 1 ? 'it' : `its ${sources.size} files`;
      if (isText && terminal.isTTY) terminal.write(`${paint(terminal, 'dim', `watching ${files}; Ctrl-C ends`)}\n`);
    };
    const watch = startWatch(first.readMs, async () => {
      try {
        const now = await checked(asked.document, wanted);
        if (isText) terminal.write(terminal.isTTY ? clearScreen : '\n');
        take(now);
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
    take(first);
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
