import { inspect } from 'node:util';
import type { Undelivered } from '../../serve/events/undelivered.ts';
import type { AdminAct } from '../../serve/service/admin/command.ts';
import type { LogLevel } from '../../serve/service/operations-door.ts';
import type { ExchangeEntry } from '../../serve/service/service.ts';
import { paint, printable, type Terminal, type TextStyle } from '../terminal.ts';

/** What a running service says of itself, of exchanges as many as its level says. Lines are written together, a few times a second, so that logging slows no request. */
export interface Log {
  level: LogLevel;
  /** Whether an exchange of this status is noted down now. */
  notes(status: number): boolean;
  /** Something in the life of the service: for people as text, for programs as one JSON line. */
  event(name: string, fields: Readonly<Record<string, unknown>>, text: string): void;
  /** Notes one exchange down; absent where nobody reads them. */
  readonly exchange?: (entry: ExchangeEntry) => void;
  failure(failure: unknown, requestId: string): void;
  /** Notes down what an administrator has done. */
  administered(act: AdminAct): void;
  /** Notes down that a receiver of events fails. */
  undelivered(one: Undelivered): void;
  /** Writes what is waiting. */
  flush(): void;
}

/** `pretty`: lines for people. `json`: a JSON line each. `quiet`: lines for people, but none for exchanges. */
export type LogForm = 'pretty' | 'json' | 'quiet';

/** `isSteered`: its level may become another while the service runs. */
export function createLog(form: LogForm, terminal: Terminal, stated?: LogLevel, isSteered = false): Log {
  let waiting: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const text = `${waiting.join('\n')}\n`;
    waiting = [];
    terminal.write(text);
  };
  const line = (text: string): void => {
    waiting.push(text);
    if (waiting.length >= linesMost) flush();
    else timer ??= setTimeout(flush, flushMs).unref();
  };
  const toLine = form === 'json' ? jsonLine : (entry: ExchangeEntry) => exchangeLine(entry, terminal);
  const level = stated ?? (form === 'quiet' ? 'failures' : 'exchanges');
  const log: Log = {
    level,
    notes: (status) => log.level === 'exchanges' || (log.level === 'refusals' && status >= 400),
    event(name, fields, text) {
      line(form === 'json' ? eventJson(name, fields) : text);
      flush();
    },
    ...((isSteered || level !== 'failures') && { exchange: (entry: ExchangeEntry) => line(toLine(entry)) }),
    administered(act) {
      line(form === 'json' ? eventJson('administered', { ...act }) : actLine(act, terminal));
      flush();
    },
    undelivered(one) {
      line(form === 'json' ? eventJson('undelivered', { ...one }) : undeliveredLine(one, terminal));
      flush();
    },
    failure(failure, requestId) {
      line(form === 'json' ? failureJson(failure, requestId) : failureText(failure, requestId, terminal));
      flush();
    },
    flush,
  };
  return log;
}

const linesMost = 1_000;
const flushMs = 50;

function jsonLine(entry: ExchangeEntry): string {
  const { at, method, target, status } = entry;
  const level = status >= 500 ? levels.error : status >= 400 ? levels.warn : levels.info;
  // An entry always has members; copying it to add some would cost as much again.
  const message = JSON.stringify(`${method} ${target} ${status}`);
  const head = `{"event":"exchange","level":${level},"time":${Date.parse(at)},"pid":${process.pid},"msg":${message}`;
  return `${head},${JSON.stringify(entry).slice(1)}`;
}

/** How serious a line is, by the numbers of pino. */
const levels = { info: 30, warn: 40, error: 50 } as const;

const seriousEvents = new Map<string, number>([
  ['kept', levels.warn],
  ['worker ended', levels.warn],
  ['undelivered', levels.warn],
  ...['failure', 'unsound', 'misfits', 'bad rows'].map((name) => [name, levels.error] as const),
]);

/** A line that is none of an exchange, with the members that every line of pino has; a process that it tells of stands in place of its own. */
function eventJson(event: string, fields: Readonly<Record<string, unknown>>): string {
  const level = seriousEvents.get(event) ?? levels.info;
  return JSON.stringify({ event, level, time: Date.now(), pid: process.pid, msg: event, ...fields });
}

/** One exchange for a person: when, what was asked, what was answered, by which operation, how long it took, and why not. */
function exchangeLine(
  { at, method, target, status, operation, ms, refused, where, open }: ExchangeEntry,
  terminal: Terminal,
): string {
  const reasons = [
    ...(refused === undefined ? [] : [paint(terminal, 'yellow', printable(refused))]),
    ...(where === undefined ? [] : [paint(terminal, 'yellow', printable(where.join(', ')))]),
    ...openReason(open, terminal),
  ];
  return [
    paint(terminal, 'dim', timeOf(at)),
    paint(terminal, statusStyle(status), String(status)),
    printable(method).padEnd(6),
    printable(target).padEnd(36),
    ...(operation === undefined ? [] : [paint(terminal, 'cyan', printable(operation))]),
    paint(terminal, 'dim', `${ms < 10 && !Number.isInteger(ms) ? ms.toFixed(1) : Math.round(ms)} ms`),
    ...reasons,
  ].join('  ');
}

function actLine({ at, act, about }: AdminAct, terminal: Terminal): string {
  const words = Object.entries(about).map(([name, value]) => `${name}=${String(value)}`);
  return [paint(terminal, 'dim', timeOf(at)), paint(terminal, 'magenta', act), printable(words.join(' '))].join('  ');
}

/** One line for the first of many: how the others went is asked for, or seen once it is well. */
function undeliveredLine({ at, kind, to, why }: Undelivered, terminal: Terminal): string {
  const told = printable(`${kind} to ${to}: ${why.replace(/\.$/, '')}. What else fails there is not told now.`);
  return [paint(terminal, 'dim', timeOf(at)), paint(terminal, 'yellow', 'undelivered'), told].join('  ');
}

function timeOf(at: string): string {
  return new Date(at).toTimeString().slice(0, 8);
}

function openReason(open: readonly string[] | undefined, terminal: Terminal): string[] {
  if (open === undefined || open.length === 0) return [];
  const more = open.length > openMost ? ` and ${open.length - openMost} more` : '';
  return [paint(terminal, 'magenta', `open: ${printable(open.slice(0, openMost).join(', '))}${more}`)];
}

const openMost = 3;

function statusStyle(status: number): TextStyle {
  if (status >= 500) return status === 501 ? 'magenta' : 'red';
  if (status >= 400) return 'yellow';
  return status >= 300 ? 'cyan' : 'green';
}

function failureText(failure: unknown, requestId: string, terminal: Terminal): string {
  // What a message holds is somebody else's: neither a line of its own nor anything that steers a terminal comes of it.
  const told = inspect(failure)
    .split('\n')
    .map((line) => `  ${indentOf(line)}${printable(line.trimStart())}`);
  return `${paint(terminal, 'red', 'failed')}  ${printable(requestId)}\n${told.join('\n')}`;
}

function indentOf(line: string): string {
  return ' '.repeat(line.length - line.trimStart().length);
}

function failureJson(failure: unknown, requestId: string): string {
  const message = messageOf(failure);
  return eventJson('failure', { msg: message, requestId, message, detail: inspect(failure) });
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
