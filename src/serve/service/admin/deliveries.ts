import type { Json, JsonMap } from '../../../document/document.ts';
import type { StoredDelivery } from '../../../store/outbox.ts';
import type { Reader } from '../../../store/store.ts';
import { type AdminCommand, type Administered, Unfit } from './command.ts';

/**
 * What was sent, to whom, and what came of it. A delivery has a number; an event's id stands for all of its deliveries.
 * `list { failed?, before?, most? }`, newest first; `show { id }`, with every attempt; `resend { id } | { failed: true }`.
 */
export const deliveryCommands: readonly AdminCommand[] = [
  { name: 'deliveries list', isReading: true, run: list },
  { name: 'deliveries show', isReading: true, run: show },
  { name: 'deliveries resend', run: resend },
];

const mostUsually = 50;
const mostAtOnce = 500;

async function list(input: JsonMap, { store }: Administered): Promise<Json> {
  const { failed, before, most } = input;
  const query = {
    ...(failed === true && { outcome: 'given up' as const }),
    ...(typeof before === 'number' && { beforeSeq: before }),
  };
  const count = typeof most === 'number' && Number.isInteger(most) && most > 0 ? Math.min(most, mostAtOnce) : mostUsually;
  return store.read((rows) => rows.outbox.deliveries(query, count).map((delivery) => told(rows, delivery)));
}

async function show(input: JsonMap, { store }: Administered): Promise<Json> {
  return store.read((rows) =>
    meant(rows, input.id).map((delivery) => ({
      ...told(rows, delivery),
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

function told(rows: Reader, { seq, event, subscriber, tries, dueMs, settledMs, outcome }: StoredDelivery): JsonMap {
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
