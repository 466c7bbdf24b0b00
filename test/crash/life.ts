import { setTimeout as delay } from 'node:timers/promises';
import { accountOf } from './account.ts';
import type { Chance } from './chance.ts';
import { checks } from './checks.ts';
import { createSender, type Sender } from './clients.ts';
import { failureText } from './failure.ts';
import type { History } from './history.ts';
import { startLoad } from './load.ts';
import { type Observed, observe, type Quiet } from './observed.ts';
import { makerOf, type Operation, resources } from './records.ts';
import { type Line, openLine, type Server } from './server.ts';

/** How much was done, so that a run that tested nothing shows. */
export interface Tally {
  kills: number;
  answers: number;
  acknowledged: number;
  refused: number;
  inDoubt: number;
  inDoubtMade: number;
  fired: number;
  /** Changes that a receiver was told of. */
  told: number;
  /** Addresses that used up their quota. */
  usedUp: number;
}

/** A server between its start and its end, and those who ask it. */
export interface Life {
  readonly history: History;
  readonly server: Server;
  readonly line: Line;
  readonly sender: Sender;
  readonly chance: Chance;
  readonly clients: number;
}

export async function startLife(history: History, server: Server, chance: Chance, clients: number): Promise<Life> {
  const line = openLine(await server.address, clients);
  return { history, server, line, sender: createSender(history, line), chance, clients };
}

/** Looks at what is there, sends again what is in doubt, and looks again. @throws where something does not hold. */
export async function settle(life: Life, quiet: Quiet, tally: Tally): Promise<void> {
  const { history, line, sender, chance } = life;
  const look = (observed: Observed) => {
    for (const { name, check } of checks) {
      // What comes later on the list may take the earlier for granted.
      if (history.violations.length > 0) return;
      const found = check(history, observed);
      history.violations.push(...found.map((violation) => ({ ...violation, what: `${name}: ${violation.what}` })));
    }
    for (const resource of resources)
      for (const row of observed.rows[resource]) history.see(resource, row, 'a list after the restart');
  };
  const first = await observe(history, line, chance, {}, look);
  failOn(life);
  count(history, first, tally);
  await sendDoubtful(history, sender, first);
  failOn(life);
  const second = await observe(history, line, chance, quiet, look);
  failOn(life);
  forget(history, second, quiet.told ?? false);
}

/** Asks for more, and kills the server while it answers. */
export async function loadUntilKilled(life: Life, tally: Tally): Promise<void> {
  const { history, server, line, sender, chance, clients } = life;
  await useUp(life);
  const load = startLoad(history, line, sender, chance, clients);
  // However slow the machine is, something is answered before the kill.
  await load.reached(1);
  // By the clock, or right when an answer comes in: then others of the same batch are on their way.
  await Promise.race([delay(50 + chance.below(300)), ...(chance.percent(50) ? [load.reached(50 + chance.below(400))] : [])]);
  if (sender.isBroken) history.violations.push({ what: `A connection broke before the kill: ${server.said.join('\n')}` });
  await server.kill();
  await load.stopped();
  tally.answers += load.answered;
  failOn(life);
}

/** An address asks until its quota is used up, which the load comes to only where it is fast. */
async function useUp({ history, sender }: Life): Promise<void> {
  const { round } = history;
  const address = `10.${1 + (round >> 8)}.${round & 255}.1`;
  for (let turn = 1; !history.usedUp.has(address) && !sender.isBroken; turn++) {
    const op = `q${round}.${turn}`;
    const told = { round, open: 0, fresh: 0, state: 'sent' as const, told: [] };
    const asked = {
      op,
      verb: 'create',
      resource: 'ticket',
      method: 'POST',
      path: '/tickets',
      body: { place: address, op },
    } as const;
    await sender.carryOut({ ...asked, address, ...told });
  }
}

function failOn({ history, server }: Life): void {
  if (history.violations.length > 0) throw new Error(failureText(history, server.said));
}

/** What was in doubt is settled by what is there; what bears a key is sent again. */
async function sendDoubtful(history: History, sender: Sender, observed: Observed): Promise<void> {
  const doubtful = history.recent.filter(({ state }) => state === 'doubt');
  const made = new Set(resources.flatMap((resource) => observed.rows[resource].map((row) => makerOf(resource, row))));
  for (const row of observed.rows.account) for (const word of accountOf(row).log.split(' ')) made.add(word);
  for (const operation of doubtful) {
    const isThere = operation.verb === 'delete' ? isGone(operation, observed) : made.has(operation.op);
    if (isThere) operation.state = 'made';
    else operation.state = operation.key === undefined ? 'refused' : 'sent';
  }
  await Promise.all(doubtful.filter(({ key }) => key !== undefined).map((operation) => sender.carryOut(operation)));
}

function isGone({ resource, id }: Operation, observed: Observed): boolean {
  return !observed.byId[resource].has(String(id));
}

/** What is gone is asked for no more. */
function forget(history: History, observed: Observed, isTold: boolean): void {
  for (const [id, row] of history.seen.account) if (!observed.byId.account.has(id)) history.gone.set(id, row);
  if (isTold) history.gone.clear();
  for (const resource of resources)
    for (const id of history.seen[resource].keys()) if (!observed.byId[resource].has(id)) history.seen[resource].delete(id);
  history.recent = [];
}

function count(history: History, { rows }: Observed, tally: Tally): void {
  const there = new Set(rows.account.flatMap((row) => accountOf(row).log.split(' ')));
  for (const { state, op } of history.recent) {
    if (state === 'made') tally.acknowledged++;
    else if (state === 'refused') tally.refused++;
    else tally.inDoubt++;
    if (state === 'doubt' && there.has(op)) tally.inDoubtMade++;
  }
  tally.fired += rows.account.filter((row) => accountOf(row).op.startsWith('@')).length;
}
