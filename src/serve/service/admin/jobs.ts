/** What a service does with nobody calling, as an administrator lists, does and drops it: what is sent, and what the clock fires. */

import type { Json, JsonMap } from '../../../document/document.ts';
import type { StoredDelivery } from '../../../store/outbox.ts';
import type { Reader, Timer } from '../../../store/store.ts';
import { Refused } from '../../exchange/exchange.ts';
import { type AdminCommand, type Administered, Unfit } from './command.ts';

/**
 * What was sent, to whom, and what came of it. A delivery has a number; an event's id stands for all of its deliveries.
 * `list { failed?, before?, most? }`, newest first; `show { id }`, with every attempt; `resend { id } | { failed: true }`.
 */
export const deliveryCommands: readonly AdminCommand[] = [
  { name: 'deliveries list', isReading: true, run: listDeliveries },
  { name: 'deliveries show', isReading: true, run: show },
  { name: 'deliveries resend', run: resend },
];

const mostUsually = 50;
const mostAtOnce = 500;

async function listDeliveries(input: JsonMap, { store }: Administered): Promise<Json> {
  const { failed, before, most } = input;
  const query = {
    ...(failed === true && { outcome: 'given up' as const }),
    ...(typeof before === 'number' && { beforeSeq: before }),
  };
  const count = typeof most === 'number' && Number.isInteger(most) && most > 0 ? Math.min(most, mostAtOnce) : mostUsually;
  return store.read((rows) => rows.outbox.deliveries(query, count).map((delivery) => toldDelivery(rows, delivery)));
}

async function show(input: JsonMap, { store }: Administered): Promise<Json> {
  return store.read((rows) =>
    meant(rows, input.id).map((delivery) => ({
      ...toldDelivery(rows, delivery),
      attempts: rows.outbox.attempts(delivery.seq).map(({ atMs, tookMs, status, error, response }) => ({
        at: new Date(atMs).toISOString(),
        ms: tookMs,
        ...(status !== null && { status }),
        ...(error !== null && { error }),
        ...(response !== null && { response }),
      })),
    })),
  );
}

/** Begins with the first try again. What is still to be sent is sent at once. */
async function resend(input: JsonMap, { store, clock, engine }: Administered): Promise<Json> {
  const sent: StoredDelivery[] = [];
  for (;;) {
    const page = await store.change((rows) => {
      const found = input.failed === true ? rows.outbox.deliveries({ outcome: 'given up' }, mostAtOnce) : meant(rows, input.id);
      for (const { seq } of found) rows.outbox.again(seq, clock.now());
      return found;
    });
    sent.push(...page);
    if (input.failed !== true || page.length === 0) break;
  }
  for (const subscriber of new Set(sent.map((delivery) => delivery.subscriber))) engine?.().events.look(subscriber);
  return { resent: sent.map(({ seq }) => seq), running: engine !== undefined };
}

function meant(rows: Reader, id: Json | undefined): StoredDelivery[] {
  const text = typeof id === 'string' ? id.trim() : String(id ?? '');
  if (text === '') throw new Unfit('Say which delivery: by its number, or by the id of its event.');
  const found = /^\d{1,15}$/.test(text) ? [rows.outbox.delivery(Number(text)) ?? []].flat() : ofEvent(rows, text);
  if (found.length === 0) throw new Unfit(`There is no delivery ${text}; what is done with is kept for a week.`);
  return found;
}

function ofEvent({ outbox }: Reader, id: string): StoredDelivery[] {
  const event = outbox.eventNamed(id);
  return event ? outbox.deliveries({ event: event.seq }, mostAtOnce).reverse() : [];
}

function toldDelivery(rows: Reader, { seq, event, subscriber, tries, dueMs, settledMs, outcome }: StoredDelivery): JsonMap {
  const found = rows.outbox.event(event);
  const attempts = rows.outbox.attempts(seq);
  const last = attempts.at(-1);
  return {
    delivery: seq,
    subscriber,
    state: outcome ?? (tries > 0 ? 'to be tried again' : 'to be sent'),
    tries: attempts.length,
    ...(found && { event: found.id, kind: found.kind, recorded: new Date(found.atMs).toISOString() }),
    ...(found?.resource != null && { about: `${found.resource} ${found.row}` }),
    ...(dueMs !== null && { due: new Date(dueMs).toISOString() }),
    ...(settledMs !== null && { settled: new Date(settledMs).toISOString() }),
    ...(last?.status != null && { last: String(last.status) }),
    ...(last?.error != null && { last: last.error }),
  };
}

/**
 * Transitions that the clock is to fire. `list { failing?, row? }`, the earliest first, at most 500; `fire { row, timer }` fires one now, as the
 * clock would; `drop { row, timer }` lets one never fire for what it was set for. A row is `{ resource, id }`.
 */
export const timerCommands: readonly AdminCommand[] = [
  { name: 'timers list', isReading: true, run: listTimers },
  { name: 'timers fire', run: fire },
  { name: 'timers drop', run: drop },
];

const most = 500;

async function listTimers(input: JsonMap, over: Administered): Promise<Json> {
  const failing = over.timers?.failing() ?? [];
  const found =
    input.failing === true
      ? failing.map(({ timer }) => timer)
      : await over.store.timers(most, input.row === undefined ? {} : { row: rowIn(input) });
  const nowMs = over.clock.now();
  return found.map((timer) => {
    const failed = failing.find((one) => isSame(one.timer, timer));
    return {
      resource: timer.resource,
      id: timer.id,
      timer: timer.name,
      due: new Date(timer.dueMs).toISOString(),
      ...(timer.dueMs <= nowMs && { lateMs: nowMs - timer.dueMs }),
      ...(failed && { failed: failed.times, why: failed.why }),
    };
  });
}

async function fire(input: JsonMap, over: Administered): Promise<Json> {
  const timer = await timerIn(input, over);
  if (!over.timers) throw new Unfit('No service runs over this file; one that is started fires what is due.');
  try {
    await over.timers.fireDue(timer);
  } catch (failure) {
    if (!(failure instanceof Refused)) throw failure;
    const { message, code, when } = failure.refusal;
    throw new Unfit(`${timer.name} of ${timer.resource} ${timer.id} was refused: ${message ?? code ?? when}.`);
  }
  return { fired: toldTimer(timer) };
}

async function drop(input: JsonMap, over: Administered): Promise<Json> {
  const timer = await timerIn(input, over);
  await over.store.change((rows) => rows.timerFired(timer));
  over.timers?.dropped(timer);
  return { dropped: toldTimer(timer) };
}

async function timerIn(input: JsonMap, { store }: Administered): Promise<Timer> {
  const row = rowIn(input);
  const set = await store.timers(most, { row });
  const found = set.find(({ name }) => name === input.timer);
  if (found) return found;
  const names = set.map(({ name }) => name).join(', ');
  throw new Unfit(`${row.resource} ${row.id} has ${names === '' ? 'no timer' : `the timers ${names}`}; say which by its name.`);
}

function rowIn({ row }: JsonMap): { readonly resource: string; readonly id: string } {
  const { resource, id } = typeof row === 'object' && row !== null && !Array.isArray(row) ? (row as JsonMap) : {};
  if (typeof resource !== 'string' || typeof id !== 'string') throw new Unfit('Say which row: its resource and its identifier.');
  return { resource, id };
}

function toldTimer({ resource, id, name }: Timer): JsonMap {
  return { resource, id, timer: name };
}

function isSame(one: Timer, other: Timer): boolean {
  return one.resource === other.resource && one.id === other.id && one.name === other.name;
}
