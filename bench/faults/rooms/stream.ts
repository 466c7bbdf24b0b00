/** The stream of events (Server-Sent Events of the HTML standard), with what was missed. */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ulid } from '../identifiers.ts';
import type { Caller, House, HouseEvent, Version } from './house.ts';
import { noQuery } from './rooms.ts';
import { tellBooking, tellRoom } from './told.ts';

const keepMs = 3_600_000;
const commentMs = 15_000;

interface Kept extends HouseEvent {
  readonly id: string;
  readonly atMs: number;
}

interface Reader {
  readonly caller: Caller;
  readonly version: Version;
  readonly response: ServerResponse;
}

export interface Streams {
  emit(house: House, event: HouseEvent): void;
  route(app: FastifyInstance, house: House): void;
  close(): void;
}

export function startStreams(): Streams {
  let kept: Kept[] = [];
  const readers = new Set<Reader>();
  const comments = setInterval(() => {
    for (const { response } of readers) response.write(': still here\n\n');
  }, commentMs);
  comments.unref();

  return {
    emit(house, event) {
      const nowMs = house.clock.now();
      const one = { ...event, id: `evt_${ulid()}`, atMs: nowMs };
      const longest = house.faults.has('events-kept-a-minute') ? 60_000 : keepMs;
      kept = [...kept.filter(({ atMs }) => nowMs - atMs < longest), one];
      for (const reader of readers) tell(house, reader, one);
    },
    route(app, house) {
      app.get('/events', { config: { operation: 'stream events', users: ['member', 'host'] } }, async (request, reply) => {
        noQuery(request);
        const { caller, version } = request;
        const response = reply.hijack().raw;
        response.writeHead(200, {
          'Content-Type': house.faults.has('stream-as-text') ? 'text/plain' : 'text/event-stream',
          'Cache-Control': 'no-store',
          Vary: 'Authorization',
        });
        response.write(': welcome\n\n');
        const reader = { caller, version, response };
        for (const event of missed(request, kept, house)) tell(house, reader, event);
        readers.add(reader);
        response.once('close', () => readers.delete(reader));
      });
    },
    close() {
      clearInterval(comments);
      for (const { response } of readers) response.destroy();
    },
  };
}

/** What has come after the event that a reader saw last; one that is not kept any more begins with the oldest. */
function missed({ headers }: FastifyRequest, kept: readonly Kept[], { clock, faults }: House): readonly Kept[] {
  const last = headers['last-event-id'];
  if (last === undefined || faults.has('missed-events-lost')) return [];
  const current = kept.filter(({ atMs }) => clock.now() - atMs < keepMs);
  const at = current.findIndex(({ id }) => id === last);
  return current.slice(faults.has('last-event-again') ? Math.max(0, at) : at + 1);
}

function tell(house: House, { caller, version, response }: Reader, event: Kept): void {
  const { faults } = house;
  const isOwn = event.member === undefined || event.member === caller.id || caller.user === 'host';
  if (!isOwn && !faults.has('foreign-events-streamed')) return;
  const id = faults.has('another-id-each-time') ? `evt_${ulid()}` : event.id;
  const at = new Date(event.atMs).toISOString();
  const payload = payloadOf(house, event, caller, faults.has('stream-in-newest-version') ? 'v3' : version);
  const envelope = faults.has('envelope-of-another-shape')
    ? { id, type: event.kind, at, payload }
    : { id, kind: event.kind, at, payload };
  const name = faults.has('events-without-name') ? '' : `event: ${event.kind}\n`;
  response.write(`id: ${id}\n${name}data: ${JSON.stringify(envelope)}\n\n`);
}

function payloadOf(house: House, { resource, row, own }: Kept, { user }: Caller, version: Version): unknown {
  if (own) return own;
  if (resource === 'guest') return row;
  if (resource === 'room') return tellRoom(row, house.faults.has('remark-in-events') ? 'host' : user, version, house);
  const told = tellBooking(row, version, house);
  return house.faults.has('pin-in-events') && row.pin !== undefined ? { ...told, pin: row.pin } : told;
}
