import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { firstEvent } from './chaos/first-event.ts';
import { startListener } from './chaos/listener.ts';
import { History } from './crash/history.ts';
import { Journal } from './crash/journal.ts';
import type { Operation } from './crash/records.ts';

test('no account is made before everybody listens: whoever came later would begin in the middle of it', async (context) => {
  const streams: ServerResponse[] = [];
  const server = createServer((_, response) => streams.push(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address that is no text.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const journal = new Journal(new History());
  const fleet = { anyUp: async () => 0, urlOf: () => url };
  const listeners = [0, 1].map(() => startListener(fleet, () => {}));
  context.after(() => {
    for (const listener of listeners) listener.close();
    server.close();
    server.closeAllConnections();
  });
  const told: number[] = [];
  const open = () => streams.filter(({ headersSent }) => headersSent);
  const carryOut = async ({ resource, op }: Operation) => {
    if (resource === 'team') {
      journal.history.see('team', { id: 'team 1', name: op }, 'an answer');
      while (streams.length < listeners.length) await once(server, 'request');
      // They are let in one after the other, while others are asked.
      for (const stream of streams) setImmediate(() => setImmediate(() => stream.writeHead(200).flushHeaders()));
      return undefined;
    }
    told.push(open().length);
    for (const stream of open()) stream.write(`id: ${told.length}\ndata: {}\n\n`);
    return undefined;
  };
  const sender = { isBroken: false, carryOut, read: async () => undefined };
  await firstEvent({ sender, journal }, listeners);
  assert.equal(told[0], listeners.length);
});
