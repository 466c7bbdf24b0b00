import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Place, type PrintedHeader, statusOf } from './kit.ts';

const root = join(import.meta.dirname, '../..');

/** Where flows go, until it is stopped. */
export interface Server {
  readonly place: Place;
  readonly stop: () => Promise<void>;
}

/** How long a step may take, in milliseconds. */
export const stepLimit = 20_000;
const startLimit = 60_000;

/** Ends with an error when the work takes longer than `limit` milliseconds. */
export async function within<T>(limit: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${limit / 1000} s`)), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The place a stand-in prints at its start, as far as it has printed it. */
function placeOf(text: string): Place | undefined {
  const url = /^\s+address\s+(\S+)$/m.exec(text)?.[1]?.replace(/\/$/, '');
  if (url === undefined || !text.includes('curl ')) return undefined;
  const base = /^\s+base\s+(\S+)$/m.exec(text)?.[1]?.replace(/\/$/, '') ?? url;
  const printed: PrintedHeader[] = [];
  const block = /^\s+credentials[^\n]*\n((?:[ \t]+[^\n]*\n)*)/m.exec(text)?.[1] ?? '';
  for (const [, name = '', word = '', value = ''] of block.matchAll(/\s([\w-]+): (?:([\w-]+) )?(\S+)[ \t]*$/gm)) {
    printed.push({ name: name.toLowerCase(), word, value });
  }
  return { url, base, port: Number(new URL(url).port), printed };
}

/** A stand-in that can be had as it was at its start, without another start. */
export interface StandIn extends Server {
  /** Rows, counts and kept answers go; keys and the clock stay. */
  readonly reset: () => Promise<void>;
}

/** Starts a stand-in on a free port of this machine and waits until it has said where it is. */
export async function start(document: string, flags: readonly string[]): Promise<StandIn> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(root, 'bin/ninefold.js'), 'serve', document, '--sample', '--port', '0', '--workbench', '0', ...flags],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  let printed = '';
  const place = new Promise<Place>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      printed += chunk.toString();
      const found = placeOf(printed);
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${brief(printed)}`)));
  });
  const reset = async (): Promise<void> => {
    const bench = /^\s+bench\s+(\S+)/m.exec(printed)?.[1] ?? '';
    const answer = await fetch(new URL('reset', bench), { method: 'POST', body: '{}' });
    if (!answer.ok) throw new Error(`reset: ${answer.status} ${brief(await answer.text())}`);
  };
  try {
    return { place: await within(startLimit, place), stop, reset };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

/** A text in one line, cut. */
export const brief = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 120);

/** An error's own words, those of what caused it, or else what it holds. */
function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return JSON.stringify(thrown) ?? String(thrown);
  const { cause, validationError } = thrown as { cause?: unknown; validationError?: unknown };
  const under = cause ?? validationError;
  const own = thrown.message || `${thrown.constructor.name} ${JSON.stringify(thrown)}`;
  return under instanceof Error ? `${own}: ${under.message}` : own;
}

/** What a client threw, in one line: its status, if it has one, and at most 120 characters of its words. */
export const reasonOf = (thrown: unknown): string => `${statusOf(thrown) ?? '-'} ${brief(wordsOf(thrown))}`;
