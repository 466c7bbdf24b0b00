import { accountOf } from './account.ts';
import type { History } from './history.ts';
import { hourOf, type Operation, type Resource, type Row } from './records.ts';
import type { Answer, Line } from './server.ts';

/** What a request may be refused with while others are under way. Anything else is a failure. */
const refusals = ['no_reference', 'missing', 'taken', 'held', 'illegal', 'changed', 'busy', 'used_up'];

/** Sends what is to be recorded, and records it. */
export interface Sender {
  /** Whether a connection broke. */
  readonly isBroken: boolean;
  /** Sends an operation, for the first time or again; nothing where the connection broke. */
  carryOut(operation: Operation): Promise<Answer | undefined>;
  /** Reads an account, and gives what its answer was tagged with. */
  read(id: string): Promise<{ readonly tag: string; readonly log: string } | undefined>;
}

export function createSender(history: History, line: Line): Sender {
  let isBroken = false;
  return {
    get isBroken() {
      return isBroken;
    },
    async carryOut(operation) {
      const wasMade = operation.state === 'made';
      history.sent(operation);
      operation.open++;
      const { method, path, body, key, ifMatch, address } = operation;
      const headers = {
        ...(key && { 'idempotency-key': key }),
        ...(ifMatch && { 'if-match': ifMatch.tag }),
        ...(address && { 'x-forwarded-for': address }),
      };
      const answer = await line.send(method, path, headers, body && JSON.stringify(body));
      operation.open--;
      isBroken ||= !answer;
      if (answer) record(history, operation, answer, wasMade);
      else doubt(operation);
      return answer;
    },
    async read(id) {
      const answer = await line.send('GET', `/accounts/${id}`, {});
      isBroken ||= !answer;
      if (answer?.status === 404) history.missing.set(`account ${id}`, 'a read');
      else if (answer && answer.status !== 200)
        history.violations.push({ what: `A read was answered ${answer.status} ${answer.text}` });
      if (answer?.status !== 200) return undefined;
      const row = JSON.parse(answer.text) as Row;
      history.see('account', row, 'a read');
      return { tag: String(answer.headers.etag), log: accountOf(row).log };
    },
  };
}

function doubt(operation: Operation): void {
  operation.told.push('no answer');
  if (operation.state !== 'made') operation.state = 'doubt';
}

function record(history: History, operation: Operation, answer: Answer, wasMade: boolean): void {
  const { resource, id, op } = operation;
  const replayed = answer.headers['idempotency-replayed'] === 'true';
  operation.told.push(`${answer.status}${replayed ? ' replayed' : ''}`);
  if (answer.status >= 300) {
    const { code } = JSON.parse(answer.text) as { code?: string };
    operation.told[operation.told.length - 1] += ` ${code}`;
    if (code === 'used_up') history.usedUp.set(String(operation.address), { op, hour: hourOf(Date.now()) });
    const isExpected = answer.status < 500 && code !== undefined && refusals.includes(code);
    const isReplay = wasMade && code !== 'busy';
    if (!isExpected || isReplay) violated(history, operation, `was answered ${answer.status} ${answer.text}`);
    if (code === 'missing' && id !== undefined) history.missing.set(`${resource} ${id}`, op);
    // One of several answers to the same key may be a refusal while another is still under way.
    if (code !== 'busy' && operation.state === 'sent' && operation.open === 0) operation.state = 'refused';
    return;
  }
  operation.state = 'made';
  const first = operation.answer;
  operation.answer ??= answer;
  if (!replayed) operation.fresh++;
  // Of several answers under way the one that is replayed may be the first to arrive.
  if (operation.fresh > 1 || (wasMade && !replayed)) violated(history, operation, 'was done again');
  if (first && (first.text !== answer.text || first.status !== answer.status))
    violated(history, operation, `was answered ${answer.status} ${answer.text} again, and ${first.status} ${first.text} before`);
  if (!first && operation.verb !== 'delete') history.see(resource, JSON.parse(answer.text) as Row, `the answer to ${op}`);
}

function violated(history: History, operation: Operation, what: string): void {
  history.violations.push({ what: `${operation.op} (${operation.verb} ${operation.resource}) ${what}`, ops: [operation.op] });
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
