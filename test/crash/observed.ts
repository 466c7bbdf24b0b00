import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import { listAll } from './clients.ts';
import { type Journal, type Listed, observedOf } from './journal.ts';
import type { Observed, Quiet, Resource } from './records.ts';
import type { Line } from './server.ts';

/** How long nothing may happen that is still to come, under the load of a machine that does other things too. */
const lateMs = 30_000;

/** Lists everything, again and again until the server is quiet, and has each list looked at. @returns the last one */
export async function observe(journal: Journal, line: Line, chance: Chance, quiet: Quiet): Promise<Observed> {
  const { history } = journal;
  let untilMs = Date.now() + lateMs;
  let left = Number.POSITIVE_INFINITY;
  for (;;) {
    const atMs = Date.now();
    const known = { ...history.seen, account: new Map(history.seen.account) };
    journal.add({ kind: 'listing' });
    const listed = { ...(await listEverything(line, chance)), atMs, quiet };
    const isOver = atMs > untilMs;
    const { late, untold } = observedOf(history, { ...listed, isOver }, known);
    journal.add({ kind: 'listed', listed: { ...listed, isOver } });
    // What was looked at stands in the journal.
    const observed = journal.last as Observed;
    if (late.length + untold.length === 0 || isOver || history.violations.length > 0) return observed;
    // As long as it goes on it is slow, and not stuck.
    if (late.length + untold.length < left) untilMs = Date.now() + lateMs;
    left = Math.min(left, late.length + untold.length);
    await delay(10);
  }
}

async function listEverything(line: Line, chance: Chance): Promise<Pick<Listed, 'rows' | 'resting'>> {
  const size = 10 + chance.below(190);
  const list = async (resource: Resource, filter = '') => {
    const rows = await listAll(line, resource, size, filter);
    if (!rows) throw new Error(`The list of ${resource} was not answered.`);
    return rows;
  };
  const rows = {
    team: await list('team'),
    account: await list('account'),
    entry: await list('entry'),
    card: await list('card'),
    ticket: await list('ticket'),
  };
  return { rows, resting: [...(await list('account', '&status=suspended')), ...(await list('account', '&status=closed'))] };
}
