import { writeFile } from 'node:fs/promises';
import manifest from '../../package.json' with { type: 'json' };
import { durationMs } from '../kinds/durations.ts';
import { isFailed } from '../verify/failed.ts';
import { NoScheme, NoUser } from '../verify/model/callers.ts';
import { CannotRun, type VerifyOptions } from '../verify/options.ts';
import type { VerifyReport } from '../verify/report.ts';
import { verify } from '../verify/verify.ts';
import { complainUnsound } from './check-text.ts';
import { reportOn } from './reading.ts';
import { readRows } from './rows-file.ts';
import type { Terminal } from './terminal.ts';
import { type Asked, Misspelt, Misuse, type Run } from './verb.ts';
import { readBaseline } from './verify-baseline.ts';
import { callerOf, readCallers } from './verify-callers.ts';
import { verifyHtml } from './verify-html.ts';
import { verifyJunit } from './verify-junit.ts';
import { startProgress } from './verify-progress.ts';
import { verifySarif } from './verify-sarif.ts';
import { verifyText } from './verify-text.ts';

/** `ninefold verify DOC --url URL`. */
export const runVerify: Run = async (asked, terminal) => {
  const options = await optionsOf(asked);
  const report = await reportOn(asked.document);
  if (!report.sound) {
    complainUnsound(report, asked.document, terminal);
    return 2;
  }
  const rows = asked.value('seed-data');
  const progress = startProgress(terminal);
  try {
    const verified = await verify(report.spec, {
      ...options,
      ...(rows !== undefined && { rows: await readRows(rows, report.spec) }),
      onProgress: progress.show,
    });
    progress.clear();
    terminal.write(
      asked.has('json') ? `${JSON.stringify(verified, undefined, 2)}\n` : verifyText(verified, report.spec.document, terminal),
    );
    await writeFiles(asked, verified);
    return exitCode(verified, terminal);
  } catch (error) {
    progress.clear();
    if ([CannotRun, NoScheme, NoUser].some((known) => error instanceof known) && error instanceof Error)
      throw new Misuse(error.message, { cause: error });
    throw error;
  }
};

/** @throws {Misuse} where a file cannot be written. */
async function writeFiles(asked: Asked, report: VerifyReport): Promise<void> {
  const forms = { junit: verifyJunit, sarif: (one: VerifyReport) => verifySarif(one, manifest.version), html: verifyHtml };
  for (const [name, form] of Object.entries(forms)) {
    const path = asked.value(name);
    if (path === undefined) continue;
    try {
      await writeFile(path, form(report));
    } catch (error) {
      throw new Misuse(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, { cause: error });
    }
  }
}

function exitCode(report: VerifyReport, terminal: Terminal): number {
  if (isFailed(report)) return 1;
  if (report.stopped === undefined) return 0;
  terminal.complain(`ninefold: not everything was asked: ${report.stopped}.\n`);
  return 2;
}

async function optionsOf(asked: Asked): Promise<VerifyOptions> {
  const url = asked.value('url');
  if (url === undefined) throw new Misspelt('verify needs the address of a running service: --url http://127.0.0.1:4009.');
  const auth = asked.value('auth');
  const callers = [...asked.values('as').map(callerOf), ...(auth === undefined ? [] : await readCallers(auth))];
  const baseline = asked.value('baseline');
  const time = asked.value('time');
  const timeMs = time === undefined ? undefined : durationMs(time);
  if (time !== undefined && timeMs === undefined) throw new Misspelt(`--time ${time}: write a duration, as in 60s or 5m.`);
  const only = asked.values('only').flatMap((words) => words.split(','));
  return {
    url,
    ...(callers.length > 0 && { callers }),
    ...numberOption(asked, 'requests'),
    ...numberOption(asked, 'seed'),
    ...(timeMs !== undefined && { timeMs }),
    ...(only.length > 0 && { only }),
    ...(asked.has('read-only') && { readOnly: true }),
    ...textOption(asked, 'yes-this-host', 'yesThisHost'),
    ...textOption(asked, 'clock', 'clockUrl'),
    ...textOption(asked, 'replay', 'replay'),
    ...(baseline !== undefined && { baseline: await readBaseline(baseline) }),
  };
}

function numberOption<K extends 'requests' | 'seed'>(asked: Asked, name: K): { readonly [key in K]?: number } {
  const text = asked.value(name);
  if (text === undefined) return {};
  if (!/^\d{1,15}$/.test(text)) throw new Misspelt(`--${name} ${text}: write a whole number.`);
  return { [name]: Number(text) } as { readonly [key in K]?: number };
}

function textOption<K extends string>(asked: Asked, option: string, name: K): { readonly [key in K]?: string } {
  const text = asked.value(option);
  return text === undefined ? {} : ({ [name]: text } as { readonly [key in K]?: string });
}
