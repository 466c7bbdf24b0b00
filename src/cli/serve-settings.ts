import { nearest } from '../document/nearest.ts';
import { entriesOf } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import type { LogForm } from './log.ts';
import type { Terminal } from './terminal.ts';
import { type Asked, Misuse } from './verb.ts';

/** How a document is to be served, as the options say it. */
export interface ServeSettings {
  readonly port: number;
  readonly host: string;
  readonly store: string;
  readonly log: LogForm;
  readonly acceptsOpen: boolean;
}

/** @throws {Misuse} for a value that an option does not take. */
export function readSettings(asked: Asked, terminal: Pick<Terminal, 'isTTY'>): ServeSettings {
  return {
    port: readPort(asked.value('port') ?? String(usualPort)),
    host: readHost(asked.value('host') ?? '127.0.0.1'),
    store: asked.value('store') ?? inMemory,
    log: oneOf(asked, 'log', ['pretty', 'json']) ?? (terminal.isTTY ? 'pretty' : 'quiet'),
    acceptsOpen: oneOf(asked, 'open', ['accept']) === 'accept',
  };
}

export const inMemory = ':memory:';
const usualPort = 4009;

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new Misuse(`--port ${text}: a port is a number from 1 to 65535, or 0 for a free one.`);
}

function readHost(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1');
  if (host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)) return host;
  throw new Misuse(
    `--host ${text}: only loopback addresses, such as 127.0.0.1, for now: authentication is not enforced yet, and whoever reaches the address could do everything.`,
  );
}

function oneOf<const Word extends string>(asked: Asked, option: string, words: readonly Word[]): Word | undefined {
  const value = asked.value(option);
  if (value === undefined) return undefined;
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  const meant = nearest(value, words);
  throw new Misuse(`--${option} ${value}: ${meant === undefined ? `write ${words.join(' or ')}.` : `did you mean ${meant}?`}`);
}

/** @throws {Misuse} for a user that the document does not state. */
export function checkUser(user: string | undefined, spec: Spec): void {
  const users = entriesOf(spec.purpose.users).map(([name]) => name);
  if (user === undefined || users.length === 0 || users.includes(user)) return;
  const meant = nearest(user, users);
  throw new Misuse(
    `--as ${user}: ${meant === undefined ? `the document's users are ${users.join(', ')}.` : `did you mean ${meant}?`}`,
  );
}
