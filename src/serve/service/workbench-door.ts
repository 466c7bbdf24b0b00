import type { Json, JsonMap } from '../../document/document.ts';
import { isPlainMap } from '../../parts/source.ts';
import { isOnLoopback } from '../callers/loopback.ts';
import type { Call, Reply } from '../http/call.ts';
import { doorReply } from '../http/send.ts';
import { listen } from '../http/socket.ts';
import type { Administer } from './admin/administer.ts';
import { Unfit } from './admin/command.ts';
import { workbenchCommands } from './admin/workbench.ts';

const bytesMost = 8 * 1024 * 1024;
const names = workbenchCommands.map(({ name }) => name);

/**
 * Opens the workbench of a service on a loopback address, for trials and never in production: `POST /scenarios/add` with the scenario as
 * its body carries out the command `scenarios add`; `GET` does so without one, and `GET /` lists the commands. docs/workbench.md is its page.
 */
export async function openWorkbench(
  administer: Administer,
  port: number,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { url, close } = await listen((call) => answer(call, administer), { port, host: '127.0.0.1' });
  return { url, close };
}

async function answer(call: Call, administer: Administer): Promise<Reply> {
  // No page of a browser has any business here.
  if (!isOnLoopback(call) || call.headers.origin !== undefined)
    return doorReply(403, { error: 'The workbench is for this machine alone.' });
  if (call.method !== 'GET' && call.method !== 'POST')
    return { ...doorReply(405, { error: 'GET looks, POST does.' }), headers: { allow: 'GET, POST' } };
  if (call.path === '/' && call.method === 'GET')
    return doorReply(200, { commands: names.map((name) => `/${name.replaceAll(' ', '/')}`) });
  const command = commandAt(call);
  if (command === undefined) return doorReply(404, { error: `There is nothing at ${call.path}; GET / lists what there is.` });
  const bytes = await call.body(bytesMost);
  const input = bytes === 'too large' ? bytes : inputIn(bytes);
  if (input === 'too large') return doorReply(413, { error: `A command has at most ${bytesMost} bytes.` });
  if (input === undefined) return doorReply(400, { error: 'What a command needs is a map in JSON.' });
  try {
    return doorReply(200, await administer(command, input));
  } catch (error) {
    if (error instanceof Unfit) return doorReply(422, { error: error.message });
    throw error;
  }
}

/** `/scenarios/add` is `scenarios add`; `GET /scenarios` looks at them, `GET /clock` too. */
function commandAt({ method, path }: Call): string | undefined {
  const name = path.slice(1).replaceAll('/', ' ');
  if (method === 'POST') return names.includes(name) ? name : undefined;
  return ['list', 'show'].map((look) => `${name} ${look}`).find((one) => names.includes(one)) ?? looked(name);
}

function looked(name: string): string | undefined {
  return / (?:list|show)$/.test(name) && names.includes(name) ? name : undefined;
}

function inputIn(bytes: Buffer): JsonMap | undefined {
  if (bytes.length === 0) return {};
  try {
    const input: Json = JSON.parse(bytes.toString('utf8'));
    if (isPlainMap(input)) return input;
    return undefined;
  } catch {
    return undefined;
  }
}
