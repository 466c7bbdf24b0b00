import { accountOf } from './account.ts';
import { type Journal, requestOf } from './journal.ts';
import type { Operation, Resource, Row } from './records.ts';
import type { Answer, Line } from './server.ts';

/** Sends what is to be recorded, and records it. */
export interface Sender {
  /** Whether a connection broke. */
  readonly isBroken: boolean;
  /** Sends an operation, for the first time or again; nothing where the connection broke. */
  carryOut(operation: Operation): Promise<Answer | undefined>;
  /** Reads an account, and gives what its answer was tagged with. */
  read(id: string): Promise<{ readonly tag: string; readonly log: string } | undefined>;
}

/** @param goesOn Whether a connection that breaks is one of many, and others are asked further. */
export function createSender(journal: Journal, line: Line, goesOn = false): Sender {
  let isBroken = false;
  const came = (answer: Answer | undefined) => {
    isBroken ||= !answer && !goesOn;
  };
  return {
    get isBroken() {
      return isBroken;
    },
    async carryOut(operation) {
      const turn = journal.turn();
      journal.add({ kind: 'sent', turn, request: requestOf(operation) }, operation);
      const { method, path, body, key, ifMatch, address } = operation;
      const headers = {
        ...(key && { 'idempotency-key': key }),
        ...(ifMatch && { 'if-match': ifMatch.tag }),
        ...(address && { 'x-forwarded-for': address }),
      };
      const answer = await line.send(method, path, headers, body && JSON.stringify(body));
      journal.add({ kind: 'answered', turn, answer, atMs: Date.now() });
      came(answer);
      return answer;
    },
    async read(id) {
      const turn = journal.turn();
      journal.add({ kind: 'asked', turn, id });
      const answer = await line.send('GET', `/accounts/${id}`, {});
      journal.add({ kind: 'read', turn, answer });
      came(answer);
      if (answer?.status !== 200) return undefined;
      return { tag: String(answer.headers.etag), log: accountOf(JSON.parse(answer.text)).log };
    },
  };
}

/** All rows of a resource as a list by cursor gives them. */
export async function listAll(line: Line, resource: Resource, size: number, filter = ''): Promise<Row[] | undefined> {
  const rows: Row[] = [];
  let cursor = '';
  for (;;) {
    const answer = await line.send('GET', `/${plural[resource]}?limit=${size}${filter}${cursor}`, {});
    if (answer?.status !== 200) return undefined;
    const page = JSON.parse(answer.text) as { items: Row[]; next: string | null };
    rows.push(...page.items);
    if (page.next === null) return rows;
    cursor = `&cursor=${encodeURIComponent(page.next)}`;
  }
}

export const plural: Readonly<Record<Resource, string>> = {
  team: 'teams',
  account: 'accounts',
  entry: 'entries',
  card: 'cards',
  ticket: 'tickets',
};
