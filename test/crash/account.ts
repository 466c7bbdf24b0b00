import { isDeepStrictEqual } from 'node:util';
import type { Operation, Row } from './records.ts';

export interface Account {
  readonly id: number;
  readonly team: string;
  readonly handle: string;
  readonly seat?: number;
  readonly op: string;
  readonly status: string;
  readonly remind_at: string;
  readonly balance: number;
  readonly changes: number;
  readonly log: string;
  readonly created_at: string;
  readonly entered_at: string;
  readonly updated_at: string;
}

/** How long an account waits for its activation, as the document has it. */
export const expiresMs = 700;

const moves: Readonly<Record<string, { readonly from: readonly string[]; readonly to: string }>> = {
  activate: { from: ['invited'], to: 'active' },
  credit: { from: ['active'], to: 'active' },
  suspend: { from: ['active'], to: 'suspended' },
  resume: { from: ['suspended'], to: 'active' },
  close: { from: ['invited', 'active', 'suspended'], to: 'closed' },
  '@expire': { from: ['invited'], to: 'expired' },
  '@remind': { from: ['active'], to: 'active' },
};

/** An account as it was read; `rows fit their shapes` is what holds it to that. */
export function accountOf(row: Row): Account {
  return row as unknown as Account;
}

/** Goes through the log of an account from its first word on: what is wrong with it, if anything. */
export function replayed(account: Account, ops: ReadonlyMap<string, Operation>): string | undefined {
  const words = account.log.split(' ');
  const reminded = new Set<unknown>();
  let row: Row = {};
  for (const [index, word] of words.entries()) {
    if (words.indexOf(word) !== index && word !== '@remind') return `${word} was done twice`;
    const op = ops.get(word);
    const verb = op?.verb ?? word;
    const wrong = word.startsWith('@') ? undefined : misplaced(op, index, words, account);
    if (wrong) return wrong;
    if (word === '@remind' && reminded.has(row.remind_at)) return `it was reminded twice of ${row.remind_at}`;
    if (word === '@remind') reminded.add(row.remind_at);
    const move = moves[verb];
    if (move && !move.from.includes(String(row.status))) return `${word} (${verb}) was done while it was ${row.status}`;
    row = { ...row, ...(verb === 'create' && { status: 'invited', balance: 0 }), ...fieldsOf(op, row) };
    row = { ...row, ...(move && { status: move.to }), op: word, changes: index + 1 };
  }
  const { id, log, created_at, entered_at, updated_at, ...rest } = account;
  if (!isDeepStrictEqual({ ...rest }, withoutNull(row))) return `its log makes ${JSON.stringify(withoutNull(row))} of it`;
  return early(account, words.at(-1));
}

function misplaced(op: Operation | undefined, index: number, words: readonly string[], account: Account): string | undefined {
  const word = words[index];
  if (!op) return `nobody ever sent ${word}`;
  if (op.state === 'refused') return `${word} was refused, or was not there after an earlier restart`;
  if ((op.verb === 'create') !== (index === 0)) return `${word} (${op.verb}) stands at place ${index} of its log`;
  if (op.verb !== 'create' && op.id !== String(account.id)) return `${word} was sent to ${op.id}`;
  const before = words.slice(0, index).join(' ');
  if (op.ifMatch && op.ifMatch.log !== before)
    return `${word} was done after "${before}", and its If-Match was of "${op.ifMatch.log}"`;
  return undefined;
}

/** What an operation writes, beside the state. */
function fieldsOf(op: Operation | undefined, row: Row): Row {
  if (!op?.body) return {};
  const { op: _op, amount, ...fields } = op.body;
  return amount === undefined ? fields : { ...fields, balance: Number(row.balance) + Number(amount) };
}

function withoutNull(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined));
}

/** The clock may be late, never early. */
function early({ created_at, entered_at, remind_at }: Account, last: string | undefined): string | undefined {
  const enteredMs = Date.parse(entered_at);
  if (last === '@expire' && enteredMs < Date.parse(created_at) + expiresMs) return 'it expired too early';
  if (last === '@remind' && enteredMs < Date.parse(remind_at)) return 'it was reminded too early';
  return undefined;
}

/** What speaks against the one row being a later state of the other. */
export function extendsRow(later: Account, earlier: Account): string | undefined {
  if (later.changes === earlier.changes)
    return isDeepStrictEqual(later, earlier) ? undefined : `the same change was read as ${JSON.stringify(earlier)} before`;
  return `${later.log} `.startsWith(`${earlier.log} `) && later.changes > earlier.changes
    ? undefined
    : `it was read before as ${JSON.stringify(earlier)}`;
}

/** Since when an account waits for the clock; nothing where it does not. */
export function dueMs({ status, created_at, remind_at, log }: Account, ops: ReadonlyMap<string, Operation>): number | undefined {
  if (status === 'invited') return Date.parse(created_at) + expiresMs;
  if (status !== 'active') return undefined;
  const words = log.split(' ');
  const setAt = words.findLastIndex((word) => ops.get(word)?.body?.remind_at === remind_at);
  return words.indexOf('@remind', setAt) >= 0 ? undefined : Date.parse(remind_at);
}
