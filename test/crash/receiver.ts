import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Chance } from './chance.ts';
import type { Journal } from './journal.ts';
import type { ToldTo } from './records.ts';
import type { Envelope } from './told.ts';

/** Hears of events by webhook, over all lives of a server. It is not always in the mood. */
export interface Receiver {
  readonly url: string;
  /** Whether it takes nothing for now. */
  isDeaf: boolean;
  close(): void;
}

/** What the receiver is called among the subscribers. */
const subscriber = 'web hook';

export async function startReceiver(journal: Journal, chance: Chance, repeats: ToldTo['repeats'] = 'last'): Promise<Receiver> {
  const { history } = journal;
  journal.add({ kind: 'subscribed', subscriber, repeats });
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    if (chance.percent(1)) return request.socket.destroy();
    if (receiver.isDeaf || chance.percent(4)) return response.writeHead(500).end();
    const envelope = JSON.parse(text) as Envelope;
    if (request.headers['webhook-id'] !== envelope.id)
      history.violations.push({ what: `${text} came with the webhook-id ${request.headers['webhook-id']}` });
    journal.add({ kind: 'told', subscriber, envelope });
    return response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    // A server that listens on a port has an address that is no text.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    isDeaf: false,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return receiver;
}
