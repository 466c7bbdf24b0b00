import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { Unfit } from '../../serve/service/admin/command.ts';
import { inMemory, isDatabase } from '../../serve/service/open-store.ts';
import type { Service } from '../../serve/service/service.ts';
import { Misuse } from '../verb.ts';

/** Where a running service says how its administrator reaches it. */
function pathOf(store: string): string {
  return `${store}.admin.json`;
}

/** Opens the administrator's door of a service and says so beside its data, in a file that only its owner reads; nothing for data in memory. */
export async function openAdminFile(service: Service, store: string): Promise<{ close(): Promise<void> }> {
  // Whoever administers a database opens it too.
  if (store === inMemory || isDatabase(store)) return { close: async () => {} };
  const path = pathOf(store);
  const { url, token, close } = await service.openAdmin();
  // What an earlier run has left behind could be open to others; a new file is this one's owner's.
  rmSync(path, { force: true });
  writeFileSync(path, `${JSON.stringify({ url, token, pid: process.pid })}\n`, { mode: 0o600, flag: 'wx' });
  return {
    async close() {
      rmSync(path, { force: true });
      await close();
    },
  };
}

/**
 * Has the service that runs over a store carry out a command.
 * @throws {Unfit} where it refuses. @throws {Misuse} where it cannot be reached.
 */
export async function askRunning(store: string, command: string, input: JsonMap): Promise<Json> {
  const { url, token } = readAdminFile(store);
  const response = await fetch(`${url}/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ command, input }),
  }).catch((cause: unknown) => {
    throw new Misuse(`the service over ${store} cannot be reached at ${url}.`, { cause });
  });
  const told: Json = (await response.json()) as Json;
  if (isMap(told) && response.ok && told.result !== undefined) return told.result;
  const error = isMap(told) && typeof told.error === 'string' ? told.error : `it answered ${response.status}`;
  if (response.status === 422) throw new Unfit(error);
  throw new Misuse(`the service over ${store} refuses: ${error}`);
}

function readAdminFile(store: string): { readonly url: string; readonly token: string } {
  const path = pathOf(store);
  try {
    const told: Json = JSON.parse(readFileSync(path, 'utf8'));
    if (isMap(told) && typeof told.url === 'string' && typeof told.token === 'string')
      return { url: told.url, token: told.token };
    throw new Error('it says no url and no token');
  } catch (cause) {
    throw new Misuse(
      `${store} is in use by another process, and ${path}, where \`ninefold serve\` says how to reach it, cannot be read.`,
      { cause },
    );
  }
}

/** What can be guessed is no token. */
const lettersLeast = 32;

/** What an operator has to show, from the file that holds it; blanks around it are not part of it. @throws {Misuse} */
export function readOperationsToken(spelt: string, path: string): string {
  const token = textOf(spelt, path).trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= lettersLeast) return token;
  throw new Misuse(
    `${spelt} ${path}: a token is one word of ${lettersLeast} letters, digits and signs or more; make one with: openssl rand -base64 33`,
  );
}

function textOf(spelt: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Misuse(`${spelt} ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`, {
      cause,
    });
  }
}
