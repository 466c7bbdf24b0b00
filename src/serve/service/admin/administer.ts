import type { Json, JsonMap } from '../../../document/document.ts';
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
    return command.run(input, over);
  };
}

/** Every command of the administrator's. */
export const adminCommands: readonly AdminCommand[] = [
  ...keyCommands,
  ...deliveryCommands,
  ...eraseCommands,
  ...timerCommands,
  ...workbenchCommands,
];
