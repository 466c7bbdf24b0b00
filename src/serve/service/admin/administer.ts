/** The commands of an administrator, and the door that they come in by. */

import { hash, timingSafeEqual } from 'node:crypto';
import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { isPlainMap } from '../../../parts/source.ts';
import { isOnLoopback } from '../../callers/origin.ts';
import type { Call, Reply } from '../../http/call.ts';
import type { Entropy } from '../../http/clock.ts';
import { doorReply } from '../../http/send.ts';
import { listen } from '../../http/socket.ts';
import { type AdminCommand, type Administered, Unfit } from './command.ts';
import { eraseCommands } from './erase.ts';
import { deliveryCommands, timerCommands } from './jobs.ts';
import { keyCommands } from './keys.ts';
import { workbenchCommands } from './workbench.ts';

/** Carries out a command by its name. @throws {Unfit} */
export type Administer = (command: string, input: JsonMap) => Promise<Json>;

export function compileAdmin(over: Administered): Administer {
  const commands = new Map(adminCommands.map((command) => [command.name, command]));
  return async (name, input) => {
    const command = commands.get(name);
    if (!command) throw new Unfit(`There is no command "${name}"; there are ${[...commands.keys()].join(', ')}.`);
    const told = await command.run(input, over);
    if (!command.isReading) {
      const at = new Date(over.clock.now()).toISOString();
      over.onAdministered?.({ at, act: name, about: noteOf({ ...plainWords(input), ...plainWords(told) }, command) });
    }
    return told;
  };
}

function noteOf(about: JsonMap, { notes }: AdminCommand): JsonMap {
  return notes ? Object.fromEntries(Object.entries(about).filter(([name]) => notes.includes(name))) : about;
}

/** The words, numbers and lists of words of a map, without secrets. */
function plainWords(value: Json): JsonMap {
  if (!isMap(value)) return {};
  const isPlain = (one: Json): boolean => (Array.isArray(one) ? one.every((item) => !isMap(item)) : !isMap(one));
  return Object.fromEntries(Object.entries(value).filter(([name, one]) => name !== 'secret' && isPlain(one)));
}

/** Every command of the administrator's. */
export const adminCommands: readonly AdminCommand[] = [
  ...keyCommands,
  ...deliveryCommands,
  ...eraseCommands,
  ...timerCommands,
  ...workbenchCommands,
];

const bytesMost = 1024 * 1024;

/**
 * Opens the administrator's door: its own port on a loopback address, for whoever has the token, which is made anew each time.
 * `POST /` with `{ "command": "keys list", "input": { … } }` answers with `{ "result": … }`, or with `{ "error": "…" }`.
 */
export async function openAdmin(
  administer: Administer,
  chance: Entropy,
): Promise<{ readonly url: string; readonly token: string; close(): Promise<void> }> {
  const token = Buffer.from(chance.bytes(32)).toString('base64url');
  const { url, close } = await listen((call) => answer(call, token, administer), { port: 0, host: '127.0.0.1' });
  return { url, token, close };
}

async function answer(call: Call, token: string, administer: Administer): Promise<Reply> {
  // No page of a browser has any business here, whatever it knows.
  if (!isOnLoopback(call) || call.headers.origin !== undefined)
    return doorReply(403, { error: 'This door is for this machine alone.' });
  if (!isToken(call.headers.authorization, token)) {
    return {
      ...doorReply(401, { error: 'The token is not good.' }),
      headers: { 'www-authenticate': 'Bearer realm="administration"' },
    };
  }
  if (call.method !== 'POST' || call.path !== '/') return doorReply(404, { error: 'Commands are posted to /.' });
  const bytes = await call.body(bytesMost);
  if (bytes === 'too large') return doorReply(413, { error: 'The command is too large.' });
  const asked = commandIn(bytes);
  if (!asked) return doorReply(400, { error: 'A command is { "command": "…", "input": { … } }.' });
  try {
    return doorReply(200, { result: await administer(asked.command, asked.input) });
  } catch (error) {
    if (error instanceof Unfit) return doorReply(422, { error: error.message });
    throw error;
  }
}

/** Compared by their hashes, which are of one length, in constant time. */
function isToken(header: string | string[] | undefined, token: string): boolean {
  const sent = typeof header === 'string' ? /^Bearer +(\S+)$/i.exec(header)?.[1] : undefined;
  return sent !== undefined && timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', token, 'buffer'));
}

function commandIn(bytes: Buffer): { readonly command: string; readonly input: JsonMap } | undefined {
  try {
    const asked: Json = JSON.parse(bytes.toString('utf8'));
    const { command, input = {} } = isPlainMap(asked) ? asked : {};
    return typeof command === 'string' && isPlainMap(input) ? { command, input } : undefined;
  } catch {
    return undefined;
  }
}
