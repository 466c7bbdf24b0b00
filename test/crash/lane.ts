import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import { History } from './history.ts';
import { Journal } from './journal.ts';
import { type Life, loadUntilKilled, settle, startLife, type Tally } from './life.ts';
import { startReceiver } from './receiver.ts';
import { type Server, startServer } from './server.ts';

/** One server that is killed again and again. */
export interface Lane {
  /** The command line, as a file that Node runs. */
  readonly command: string;
  readonly document: string;
  readonly store: string;
  readonly chance: Chance;
  readonly kills: number;
  readonly clients: number;
  /** Ends it early, once another one has failed. */
  readonly signal: AbortSignal;
}

/** Kills a server under load, starts it on the same store, and checks what it has, as often as asked. @throws where something does not hold. */
export async function runLane(lane: Lane, tally: Tally): Promise<void> {
  const { chance, kills, store, signal } = lane;
  const history = new History();
  const journal = new Journal(history);
  const receiver = await startReceiver(journal, chance);
  let server: Server | undefined;

  async function live(act: (life: Life & { readonly server: Server }) => Promise<void>): Promise<void> {
    server = startServer(lane.document, store, ['--webhook', receiver.url, '--allow-private-webhooks'], lane.command);
    if (history.round > 1 && history.round <= kills && chance.percent(10)) {
      await delay(chance.below(500));
    } else {
      const life = await startLife(journal, server, chance, lane.clients);
      await act(life).finally(life.line.close);
    }
    await server.kill();
    checkFile(store);
    history.round++;
  }

  try {
    for (history.round = 1; history.round <= kills && !signal.aborted; tally.kills++) {
      await live(async (life) => {
        await settle(life, { told: chance.percent(25) }, tally);
        await loadUntilKilled(life, tally);
      });
      if (chance.percent(15)) await delay(chance.below(700));
    }
    if (signal.aborted) return;
    // Once more, until the clock has nothing left to do: then no change wakes the deliveries that wait for the next start.
    receiver.isDeaf = true;
    await live((life) => settle(life, { over: true }, tally));
    receiver.isDeaf = false;
    await live((life) => settle(life, { told: true }, tally));
    tally.usedUp += history.usedUp.size;
    for (const { accounts } of history.told.values()) for (const { changes } of accounts.values()) tally.told += changes;
  } finally {
    await server?.kill();
    receiver.close();
  }
}

/** Whether a copy of the file, with its log, is a sound database; the file itself is left as the kill left it. */
function checkFile(store: string): void {
  const copy = `${store}.copy`;
  for (const part of ['', '-wal']) rmSync(`${copy}${part}`, { force: true });
  for (const part of ['', '-wal']) if (existsSync(`${store}${part}`)) copyFileSync(`${store}${part}`, `${copy}${part}`);
  if (!existsSync(copy)) return;
  const database = new DatabaseSync(copy);
  try {
    const found = database
      .prepare('PRAGMA integrity_check')
      .all()
      .map(({ integrity_check }) => integrity_check);
    if (found[0] !== 'ok') throw new Error(`The file is damaged: ${found.join('; ')}`);
  } finally {
    database.close();
  }
}
