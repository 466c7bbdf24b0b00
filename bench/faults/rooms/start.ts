/** Starts the meeting rooms in this process. */
import { startClock } from '../clock.ts';
import type { RunningService } from '../command.ts';
import { switchesOf } from '../fault.ts';
import { buildApp } from './app.ts';
import { openDatabase } from './database.ts';
import { roomsFaults } from './faults.ts';
import type { House } from './house.ts';
import { startStreams } from './stream.ts';

export async function startRooms({
  fault,
  port = 0,
}: {
  readonly fault?: string | undefined;
  readonly port?: number;
} = {}): Promise<RunningService> {
  const clock = startClock();
  const faults = switchesOf(roomsFaults, fault);
  const streams = startStreams();
  const house: House = { clock, faults, db: openDatabase(faults), emit: (event) => streams.emit(house, event) };
  const app = buildApp(house, streams);
  const url = await app.listen({ host: '127.0.0.1', port });
  return {
    url,
    clock,
    async close() {
      streams.close();
      clock.close();
      await app.close();
    },
  };
}
