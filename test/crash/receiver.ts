import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accountOf } from './account.ts';
import type { Chance } from './chance.ts';
import type { History } from './history.ts';
import type { Row } from './records.ts';

/** Hears of events by webhook, over all lives of a server. It is not always in the mood. */
export interface Receiver {
  readonly url: string;
  /** Whether it takes nothing for now. */
  isDeaf: boolean;
  close(): void;
}

interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly data: Row;
}

export async function startReceiver(history: History, chance: Chance): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    if (chance.percent(1)) return request.socket.destroy();
    if (receiver.isDeaf || chance.percent(4)) return response.writeHead(500).end();
    const envelope = JSON.parse(text) as Envelope;
    if (request.headers['webhook-id'] !== envelope.id)
      history.violations.push({ what: `${text} came with the webhook-id ${request.headers['webhook-id']}` });
    accept(history, envelope);
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

/** An event counts once it is answered 204: from then on the server may go on to the next one of the same account. */
function accept(history: History, { id, type, data }: Envelope): void {
  const account = String(data.id);
  const told = history.told.get(account) ?? { changes: 0, ids: new Map() };
  history.told.set(account, told);
  const violated = (what: string): void => {
    history.violations.push({
      what: `${type} ${id} ${what}`,
      row: history.seen.account.get(account) ?? data,
      resource: 'account',
    });
  };
  const isEnd = type === 'account.gone';
  const change = isEnd ? 'gone' : accountOf(data).changes;
  const known = told.ids.get(change);
  told.ids.set(change, id);
  if (known !== undefined && known !== id) violated(`tells of what ${known} told before`);
  if (change === 'gone') {
    history.missing.set(`account ${account}`, `a receiver of ${id}`);
    return;
  }
  if (told.ids.has('gone')) violated('came after the end of the account');
  // Told again is only what came last: the answer to it may have got lost.
  if (change !== told.changes && change !== told.changes + 1) violated(`tells of change ${change} after change ${told.changes}`);
  told.changes = change;
  history.see('account', data, `the event ${id}`);
}

/** Accounts of which not all is told yet: what is there, and what was known of those that are gone. */
export function untold(history: History, accounts: ReadonlyMap<string, Row>): Row[] {
  const there = [...accounts].filter(([id, row]) => (history.told.get(id)?.changes ?? 0) < accountOf(row).changes);
  const gone = [...history.gone].filter(([id, row]) => {
    const told = history.told.get(id);
    return !told?.ids.has('gone') || told.changes < accountOf(row).changes;
  });
  return [...there, ...gone].map(([, row]) => row);
}
