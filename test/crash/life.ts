import { setTimeout as delay } from 'node:timers/promises';
import { accountOf } from './account.ts';
import type { Chance } from './chance.ts';
import { createSender, type Sender } from './clients.ts';
import { failureText } from './failure.ts';
import type { History } from './history.ts';
import { doubtful, type Journal } from './journal.ts';
import { startLoad } from './load.ts';
import { observe } from './observed.ts';
import type { Observed, Quiet } from './records.ts';
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

export function noTally(): Tally {
  return {
    kills: 0,
    answers: 0,
    acknowledged: 0,
    refused: 0,
    inDoubt: 0,
    inDoubtMade: 0,
    fired: 0,
    told: 0,
    usedUp: 0,
  };
}

/** A service between two looks at it, and those who ask it. */
export interface Life {
  readonly journal: Journal;
  readonly server: Pick<Server, 'said'>;
  readonly line: Line;
  readonly sender: Sender;
  readonly chance: Chance;
  readonly clients: number;
}

export async function startLife(
  journal: Journal,
  server: Server,
  chance: Chance,
  clients: number,
): Promise<Life & { readonly server: Server }> {
  const line = openLine(await server.address, clients);
  return { journal, server, line, sender: createSender(journal, line), chance, clients };
}

/** Looks at what is there, sends again what is in doubt, and looks again. @throws where something does not hold. */
export async function settle(life: Life, quiet: Quiet, tally: Tally): Promise<void> {
  const { journal, line, sender, chance } = life;
  const { history } = journal;
  const first = await observe(journal, line, chance, {});
  failOn(life);
  count(history, first, tally);
  const inDoubt = doubtful(history);
  journal.add({ kind: 'resolved' });
  await Promise.all(inDoubt.filter(({ key }) => key !== undefined).map((operation) => sender.carryOut(operation)));
  failOn(life);
  await observe(journal, line, chance, quiet);
  failOn(life);
  journal.add({ kind: 'forgotten', isTold: quiet.told ?? false });
}

/** Asks for more, and kills the server while it answers. */
export async function loadUntilKilled(life: Life & { readonly server: Server }, tally: Tally): Promise<void> {
  const { journal, server, line, sender, chance, clients } = life;
  const { history } = journal;
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
export async function useUp({ journal: { history }, sender }: Pick<Life, 'journal' | 'sender'>): Promise<void> {
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

/** @throws where something did not hold. */
export function failOn({ journal: { history }, server }: Pick<Life, 'journal' | 'server'>): void {
  if (history.violations.length > 0) throw new Error(failureText(history, server.said));
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
