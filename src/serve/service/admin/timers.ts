import type { Json, JsonMap } from '../../../document/document.ts';
import type { Timer } from '../../../store/store.ts';
import { Refused } from '../../exchange/exchange.ts';
import { type AdminCommand, type Administered, Unfit } from './command.ts';

/**
 * Transitions that the clock is to fire. `list { failing?, row? }`, the earliest first, at most 500; `fire { row, timer }` fires one now, as the
 * clock would; `drop { row, timer }` lets one never fire for what it was set for. A row is `{ resource, id }`.
 */
export const timerCommands: readonly AdminCommand[] = [
  { name: 'timers list', isReading: true, run: list },
  { name: 'timers fire', run: fire },
  { name: 'timers drop', run: drop },
];

const most = 500;

async function list(input: JsonMap, over: Administered): Promise<Json> {
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
  return { fired: told(timer) };
}

async function drop(input: JsonMap, over: Administered): Promise<Json> {
  const timer = await timerIn(input, over);
  await over.store.change((rows) => rows.timerFired(timer));
  over.timers?.dropped(timer);
  return { dropped: told(timer) };
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

function told({ resource, id, name }: Timer): JsonMap {
  return { resource, id, timer: name };
}

function isSame(one: Timer, other: Timer): boolean {
  return one.resource === other.resource && one.id === other.id && one.name === other.name;
}
