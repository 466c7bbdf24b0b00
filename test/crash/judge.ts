import type { History } from './history.ts';
import { hourOf, type Operation, type Row } from './records.ts';
import type { Answer } from './server.ts';

/** What a request may be refused with while others are under way. Anything else is a failure. */
const refusals = ['no_reference', 'missing', 'taken', 'held', 'illegal', 'changed', 'busy', 'used_up'];

/** What is to be known of an answer besides itself. */
interface Judged {
  /** Whether the operation was acknowledged before this was sent. */
  readonly wasMade: boolean;
  /** When it came. */
  readonly atMs: number;
  readonly mayBeUnavailable?: boolean;
}

/** Holds an answer to what is known of its operation. */
export function judge(
  history: History,
  operation: Operation,
  answer: Answer,
  { wasMade, atMs, mayBeUnavailable = false }: Judged,
): void {
  const { resource, id, op } = operation;
  const replayed = answer.headers['idempotency-replayed'] === 'true';
  operation.told.push(`${answer.status}${replayed ? ' replayed' : ''}`);
  if (answer.status >= 300) {
    const { code } = JSON.parse(answer.text) as { code?: string };
    operation.told[operation.told.length - 1] += ` ${code}`;
    const isUnavailable = answer.status === 503 && mayBeUnavailable;
    if (code === 'used_up') history.usedUp.set(String(operation.address), { op, hour: hourOf(atMs) });
    const isExpected = isUnavailable || (answer.status < 500 && code !== undefined && refusals.includes(code));
    const isReplay = wasMade && code !== 'busy' && !isUnavailable;
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
