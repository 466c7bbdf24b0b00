import type { AdminCommand } from './command.ts';
import { deliveryCommands } from './deliveries.ts';
import { keyCommands } from './keys.ts';

/** Every command of the administrator's. */
export const adminCommands: readonly AdminCommand[] = [...keyCommands, ...deliveryCommands];
