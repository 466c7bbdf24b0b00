import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { type AdminCommand, type Administered, Unfit } from './command.ts';
import { deliveryCommands } from './deliveries.ts';
import { eraseCommands } from './erase.ts';
import { keyCommands } from './keys.ts';
import { timerCommands } from './timers.ts';
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
