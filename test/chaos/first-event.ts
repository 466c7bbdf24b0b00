import { setTimeout as delay } from 'node:timers/promises';
import type { Life } from '../crash/life.ts';
import type { Listener } from './listener.ts';

const askAgainMs = 10;

/** Everybody who listens has heard something, from the first change of the first account: from then on each goes on where it was. */
export async function firstEvent(
  { sender, journal }: Pick<Life, 'sender' | 'journal'>,
  listeners: readonly Pick<Listener, 'heard' | 'isListening'>[],
): Promise<void> {
  const { history } = journal;
  const told = { round: 0, open: 0, fresh: 0, state: 'sent' as const, told: [] };
  // On a machine that is too busy to answer it at once, it is asked for again.
  for (let n = 1; history.alive('team').length === 0; n++) {
    const op = `first team ${n}`;
    await sender.carryOut({
      op,
      verb: 'create',
      resource: 'team',
      method: 'POST',
      path: '/teams',
      body: { name: op },
      ...told,
      told: [],
    });
  }
  // Who began in the middle of an account would take its second change for one out of order.
  while (listeners.some(({ isListening }) => !isListening)) await delay(askAgainMs);
  for (let n = 1; listeners.some(({ heard }) => heard === 0); n++) {
    const op = `first.${n}`;
    const body = { team: history.alive('team')[0]?.id, handle: op, op, remind_at: new Date(Date.now() + 1000 + n).toISOString() };
    await sender.carryOut({
      op,
      verb: 'create',
      resource: 'account',
      method: 'POST',
      path: '/accounts',
      body,
      ...told,
      told: [],
    });
    await delay(200);
  }
}
