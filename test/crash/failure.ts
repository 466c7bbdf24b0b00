import { accountOf } from './account.ts';
import type { History } from './history.ts';
import { makerOf, type Operation, type Resource, type Row, type Violation } from './records.ts';

const mostViolations = 5;
const mostLines = 40;

/** What does not hold, each with all that was ever sent about its row. */
export function failureText(history: History, said: readonly string[]): string {
  const { round, violations } = history;
  const shown = violations.slice(0, mostViolations).map((violation) => violationText(history, violation));
  const more = violations.length > mostViolations ? `\n… and ${violations.length - mostViolations} more` : '';
  return `Before kill ${round}:\n\n${shown.join('\n\n')}${more}\n\nThe server said:\n${said.slice(1).join('\n') || 'nothing'}`;
}

function violationText(history: History, { what, row, resource, ops = [] }: Violation): string {
  if (!row || !resource) return [what, ...ops.map((op) => lineOf(history.ops.get(String(op))))].join('\n  ');
  const about = [...history.ops.values()].filter((operation) => isAbout(operation, resource, row));
  const last = about.slice(-mostLines);
  const left = about.length > last.length ? [`… ${about.length - last.length} earlier ones`] : [];
  return [`${resource} ${row.id}: ${what}`, `now ${JSON.stringify(row)}`, ...left, ...last.map(lineOf)].join('\n  ');
}

function isAbout(operation: Operation, resource: Resource, row: Row): boolean {
  if (operation.resource === resource && operation.id === String(row.id)) return true;
  if (operation.op === makerOf(resource, row)) return true;
  if (resource !== 'account')
    return operation.verb === 'delete' && [row.account, row.issuer].map(String).includes(String(operation.id));
  const { log, team } = accountOf(row);
  return log.split(' ').includes(operation.op) || (operation.verb === 'delete' && operation.id === team);
}

function lineOf(operation: Operation | undefined): string {
  if (!operation) return 'nobody sent it';
  const { op, round, method, path, key, ifMatch, body, told, state } = operation;
  const more = [key && 'with a key', ifMatch && `If-Match ${ifMatch.tag} of "${ifMatch.log}"`, body && JSON.stringify(body)];
  return `before kill ${round}: ${op} ${method} ${path} ${more.filter(Boolean).join(' ')} → ${told.join(', ') || 'no answer'} (${state})`;
}
