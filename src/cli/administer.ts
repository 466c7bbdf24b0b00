import type { Json, JsonMap } from '../document/document.ts';
import type { Spec } from '../parts/spec.ts';
import { compileAdmin } from '../serve/admin/administer.ts';
import { Unfit } from '../serve/admin/command.ts';
import { Credentials } from '../serve/authentication/credentials.ts';
import { systemChance, systemClock } from '../serve/clock.ts';
import { isLocked, openStore } from '../serve/serve-spec.ts';
import { askRunning } from './admin-file.ts';
import { complainUnsound } from './check-text.ts';
import { reportOn } from './reading.ts';
import { inMemory } from './serve-settings.ts';
import type { Terminal } from './terminal.ts';
import { type Asked, Misspelt, Misuse } from './verb.ts';

/** How long to wait for whoever is just letting go of the data. */
const lockMs = 200;

/** Carries out an administrator's command on the data of a document, and tells what came of it; the exit code. */
export async function runAdministration(
  asked: Asked,
  command: string,
  input: JsonMap,
  tell: (action: string, told: Json, terminal: Terminal) => void,
  terminal: Terminal,
): Promise<number> {
  const report = await reportOn(asked.document);
  if (!report.sound) {
    complainUnsound(report, asked.document, terminal);
    return 1;
  }
  try {
    const told = await administer(asked.value('store'), report.spec, command, input);
    if (asked.has('json')) terminal.write(`${JSON.stringify(told, undefined, 2)}\n`);
    else tell(asked.action, told, terminal);
    return 0;
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    terminal.complain(`ninefold: ${error.message}\n`);
    return 1;
  }
}

/**
 * Carries out an administrator's command on the data in a file: through the service that runs over it, or, where none does, in
 * the file itself.
 * @throws {Unfit} where the command cannot be carried out as it was given.
 */
async function administer(path: string | undefined, spec: Spec, command: string, input: JsonMap): Promise<Json> {
  if (path === undefined || path === inMemory) throw new Misspelt(`${command} needs the data that it is about: --store FILE.`);
  const store = opened(path);
  if (!store) return askRunning(path, command, input);
  try {
    const over = { store, clock: systemClock, chance: systemChance, spec: () => spec };
    return await compileAdmin({ ...over, credentials: new Credentials(store, systemChance) })(command, input);
  } finally {
    await store.close();
  }
}

/** The data in a file; nothing where a process holds it. */
function opened(path: string): ReturnType<typeof openStore> | undefined {
  try {
    return openStore(path, { lockMs });
  } catch (error) {
    if (isLocked(error)) return undefined;
    throw new Misuse(`${error instanceof Error ? error.message : String(error)}.`, { cause: error });
  }
}
