import { spawn } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { parse } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { durationMs } from '../../kinds/measures.ts';
import { type GivenCaller, NoScheme, NoUser } from '../../verify/exchange/callers.ts';
import { CannotRun, type Progress, type VerifyOptions } from '../../verify/options.ts';
import { hasFailed, type VerifyReport } from '../../verify/report.ts';
import { spokenNotes } from '../../verify/spoken-for.ts';
import { verify } from '../../verify/verify.ts';
import { complainUnsound } from '../check-text.ts';
import { readRows } from '../data-files.ts';
import { readSkips } from '../exceptions-file.ts';
import { reportOn } from '../reading.ts';
import { counted, printable, type Terminal } from '../terminal.ts';
import { Misspelt, Misuse, shareOption, type VerbCall, type VerbRun } from '../verb.ts';
import { verifyHtml, verifyJunit, verifyMarkdown, verifySarif } from '../verify/reports.ts';
import { sufficingWords, verifyText } from '../verify/text.ts';

/** `ninefold verify DOC --url URL`. */
export const runVerify: VerbRun = async (asked, terminal) => {
  keepSmall();
  const options = await optionsOf(asked);
  const least = shareOption(asked, 'least', 'facts');
  // A run takes long: what cannot be written is found out before it.
  for (const name of Object.keys(forms)) await checkWritable(asked.value(name));
  const report = await reportOn(asked.document);
  if (!report.sound) {
    complainUnsound(report, asked.document, terminal);
    return 1;
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
    return exitCode(verified, least, asked.has('replay'), terminal);
  } catch (error) {
    progress.clear();
    if ([CannotRun, NoScheme, NoUser].some((known) => error instanceof known) && error instanceof Error)
      throw new Misuse(error.message, { cause: error });
    throw error;
  }
};

/** A run makes much that is soon over, and keeps little: else the engine lets three times of what is needed stand before it collects it. */
function keepSmall(): void {
  setFlagsFromString('--optimize-for-size');
}

/** What a report is written as besides, by its option. */
const forms: Readonly<Record<string, (report: VerifyReport) => string>> = {
  junit: verifyJunit,
  sarif: (report) => verifySarif(report, manifest.version),
  html: verifyHtml,
  markdown: verifyMarkdown,
};

/** @throws {Misuse} where a file cannot be written. */
async function writeFiles(asked: VerbCall, report: VerifyReport): Promise<void> {
  for (const [name, form] of Object.entries(forms)) {
    const path = asked.value(name);
    if (path !== undefined) await writeFile(path, form(report)).catch((error: unknown) => notWritten(path, error));
  }
}

/** Leaves the file as it is, and empty where it was not there. @throws {Misuse} where it cannot be written. */
async function checkWritable(path: string | undefined): Promise<void> {
  if (path !== undefined) await appendFile(path, '').catch((error: unknown) => notWritten(path, error));
}

function notWritten(path: string, error: unknown): never {
  throw new Misuse(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, { cause: error });
}

function exitCode(report: VerifyReport, least: number, isReplay: boolean, terminal: Terminal): number {
  for (const note of spokenNotes(report)) terminal.complain(`ninefold: ${note}\n`);
  if (hasFailed(report)) return 1;
  if (report.stopped !== undefined) {
    terminal.complain(`ninefold: not everything was asked: ${report.stopped}.\n`);
    return 2;
  }
  // Who asks for one thing again wants to know of that alone.
  if (!isReplay && showsNothing(report)) {
    terminal.complain('ninefold: nothing was held, so this shows nothing of the service.\n');
    return 2;
  }
  const share = heldShare(report);
  if (share >= least) return 0;
  terminal.complain(`ninefold: ${share} % of the facts are held, and --least asks for ${least} %.\n`);
  return 1;
}

/** Whether no fact is held for want of a credential, or none even in part, though some promise something. */
function showsNothing({ total, unspoken, rejected }: VerifyReport): boolean {
  if (total.held > 0) return false;
  return unspoken.length + rejected.length > 0 || (total.partly === 0 && total['not testable'] > 0);
}

/** How many of a hundred facts that promise something are held. */
function heldShare({ total }: VerifyReport): number {
  const promised = total.held + total.partly + total.broken + total['not testable'];
  return promised === 0 ? 100 : Math.floor((total.held / promised) * 1000) / 10;
}

async function optionsOf(asked: VerbCall): Promise<VerifyOptions> {
  const url = asked.value('url');
  if (url === undefined) throw new Misspelt('verify needs the address of a running service: --url http://127.0.0.1:4009.');
  const auth = asked.value('auth');
  const callers = [...asked.values('as').map(givenCallerOf), ...(auth === undefined ? [] : await readCallers(auth))];
  const baseline = asked.value('baseline');
  const time = asked.value('time');
  const timeMs = time === undefined ? undefined : durationMs(time);
  if (time !== undefined && timeMs === undefined) throw new Misspelt(`--time ${time}: write a duration, as in 60s or 5m.`);
  const only = asked.values('only').flatMap((words) => words.split(','));
  const mayChange = asked.values('may-change').flatMap((words) => words.split(','));
  const [skip, restart] = [asked.value('skip'), asked.value('restart')];
  return {
    url,
    ...(callers.length > 0 && { callers }),
    ...numberOption(asked, 'requests'),
    ...numberOption(asked, 'seed'),
    ...(timeMs !== undefined && { timeMs }),
    ...(only.length > 0 && { only }),
    ...(mayChange.length > 0 && { mayChange }),
    ...(skip !== undefined && { skips: await readSkips(skip) }),
    ...(restart !== undefined && { restart: restartBy(restart) }),
    ...(asked.has('read-only') && { readOnly: true }),
    ...(asked.has('conventions') && { conventions: true }),
    ...textOption(asked, 'yes-this-host', 'yesThisHost'),
    ...textOption(asked, 'clock', 'clockUrl'),
    ...textOption(asked, 'replay', 'replay'),
    ...(baseline !== undefined && { baseline: await readBaseline(baseline) }),
  };
}

function numberOption<K extends 'requests' | 'seed'>(asked: VerbCall, name: K): { readonly [key in K]?: number } {
  const text = asked.value(name);
  if (text === undefined) return {};
  if (!/^\d{1,15}$/.test(text)) throw new Misspelt(`--${name} ${text}: write a whole number.`);
  return { [name]: Number(text) } as { readonly [key in K]?: number };
}

function textOption<K extends string>(asked: VerbCall, option: string, name: K): { readonly [key in K]?: string } {
  const text = asked.value(option);
  return text === undefined ? {} : ({ [name]: text } as { readonly [key in K]?: string });
}

/**
 * The breaches that an earlier report has, by what is broken.
 * @throws {Misuse} where the file is no such report.
 */
export async function readBaseline(path: string): Promise<string[]> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Misuse(`${path} cannot be used as a baseline: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const { breaches, crashes = [] } =
    typeof content === 'object' && content !== null
      ? (content as { readonly breaches?: unknown; readonly crashes?: unknown })
      : { breaches: undefined };
  if (!Array.isArray(breaches) || !Array.isArray(crashes))
    throw new Misuse(`${path} is no report of verify: write one with --json.`);
  return [...breaches, ...crashes].map((breach: { kind?: unknown; subject?: unknown; reason?: unknown }) =>
    [breach.kind, breach.subject, breach.reason].map(String).join(':'),
  );
}

const everyMs = 100;

/** One line that says how far it is, where a person sees the output as it comes. */
export function startProgress(terminal: Terminal): { readonly show: (progress: Progress) => void; clear(): void } {
  let lastMs = 0;
  let isShown = false;
  return {
    show({ done, of, requests, broken, now, sufficing }) {
      if (!terminal.isTTY || Date.now() - lastMs < everyMs) return;
      lastMs = Date.now();
      isShown = true;
      const line = `${done} of ${counted(of, 'case')}, ${counted(requests, 'request')}, ${broken} broken${sufficing ? `, all of it by ${sufficingWords(sufficing)}` : ''}: ${printable(now)}`;
      terminal.write(`\r\u001b[K${line.slice(0, terminal.columns - 1)}`);
    },
    clear() {
      if (isShown) terminal.write('\r\u001b[K');
      isShown = false;
    },
  };
}

/** `merchant=KEY`, or `merchant:m7=KEY` where the caller's identifier is m7. @throws {Misspelt} */
export function givenCallerOf(word: string): GivenCaller {
  const match = /^([^=:]+)(?::([^=]+))?=(.+)$/s.exec(word);
  if (!match) throw new Misspelt('--as wants a user and a credential: --as merchant=KEY, or --as merchant:ID=KEY.');
  const [, user = '', id, credential = ''] = match;
  return { user, credential, ...(id !== undefined && { id }) };
}

/**
 * Reads a map from user to credential, or to a list of them.
 * @throws {Misuse} where the file is none.
 */
export async function readCallers(path: string): Promise<GivenCaller[]> {
  let content: unknown;
  try {
    content = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Misuse(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (typeof content !== 'object' || content === null) throw wrong(path, 'it is no map from user to credential');
  return Object.entries(content).flatMap(([user, given]: [string, unknown]) =>
    (Array.isArray(given) ? given : [given]).map((one: unknown) => givenCaller(path, user, one)),
  );
}

function givenCaller(path: string, user: string, given: unknown): GivenCaller {
  if (typeof given === 'string') return { user, credential: given };
  if (typeof given !== 'object' || given === null || !('credential' in given)) throw wrong(path, `${user} has no credential`);
  const { credential } = given;
  const text = (key: 'id' | 'scheme' | 'bad') => {
    const value: unknown = key in given ? (given as Record<string, unknown>)[key] : undefined;
    return value === undefined ? {} : { [key]: String(value) };
  };
  const scopes: unknown = 'scopes' in given ? given.scopes : undefined;
  return {
    user,
    credential: String(credential),
    ...text('id'),
    ...text('scheme'),
    ...text('bad'),
    ...(Array.isArray(scopes) && { scopes: scopes.map(String) }),
    ...('attributes' in given && { attributes: attributesOf(path, user, given.attributes) }),
  };
}

function attributesOf(path: string, user: string, given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong(path, `the attributes of ${user} are no map from name to value`);
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
}

function wrong(path: string, why: string): Misuse {
  return new Misuse(`${path}: ${why}; write \`merchant: { scheme: key, credential: KEY, id: m7 }\`.`);
}

/** A command may take so long to start a service anew. */
const restartMsMax = 60_000;

/** Starts a service anew by a command of the shell, which ends once that is done. Fails where the command does. */
function restartBy(command: string): () => Promise<void> {
  return () =>
    new Promise((resolve, reject) => {
      // What it prints is nothing of ours, and a service that it leaves behind keeps no pipe of ours open.
      const child = spawn(command, { shell: true, stdio: 'ignore', timeout: restartMsMax });
      child.on('error', reject);
      child.on('exit', (code, signal) => {
        if (code === 0) resolve();
        else reject(new Error(`--restart: the command ended with ${code ?? signal}`));
      });
    });
}
