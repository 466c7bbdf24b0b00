import { logOf } from '../../parts/event-log.ts';
import { compileExpression } from '../../parts/expressions/compile.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { showingOperations } from '../../parts/left-out.ts';
import { namesOperation } from '../../parts/operations.ts';
import { loggedResources } from '../../parts/uses/events.ts';
import { type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What the log of events shows of the rows that events are about. */
export const logSecurityRules: readonly Rule[] = [
  warning(
    'security/log-shows-more',
    'Who may read every row of the log of events reads there of rows that it may not read.',
    'Give the rule a condition, such as `resource.owner == caller.id` with `set: { owner: row.owner }`, or let the log hold `event.row` alone.',
    showsMore,
  ),
];

function showsMore(subject: Subject): Wrong[] {
  const { spec } = subject;
  const log = logOf(spec);
  if (!log || !isStated(spec.authentication.schemes) || !holdsRows(subject)) return [];
  const about = [...loggedResources(spec, subject.operations)].filter((one) => one !== undefined);
  const everything = [...readersOf(subject, log.resource)].filter(([, isAll]) => isAll);
  return everything.flatMap(([user]) => {
    const hidden = about.find((resource) => !mayReadAll(subject, resource, user));
    const who = user === undefined ? 'Whoever asks' : `A ${user}`;
    return hidden === undefined
      ? []
      : [{ message: `${who} may read every row of \`${log.resource}\`, and not every ${hidden}.`, at: log.at, onKey: true }];
  });
}

/** Whether a field of the log takes the payload, or something of the row itself, rather than its name alone. */
function holdsRows({ spec, expressions }: Subject): boolean {
  return expressions.some(
    ({ use, problems }) =>
      use.at.startsWith('/events/log/set/') &&
      problems.length === 0 &&
      use.scopes.some(({ scope }) =>
        compileExpression(spec, { ...use, scope }).reads.some(
          ({ root, path: [first] }) => root === 'event' && (first === 'payload' || first === undefined),
        ),
      ),
  );
}

/** The users who may read rows of a resource, and whether without a condition; nobody is whoever shows no credential. */
function readersOf({ spec }: Subject, resource: string): Map<string | undefined, boolean> {
  const { authentication, purpose } = spec;
  const operations = showingOperations(spec, resource);
  const found = new Map<string | undefined, boolean>();
  if (operations.some((one) => namesOperation(authentication.public, one))) found.set(undefined, true);
  if (authentication.permissions.standing === 'none') for (const [user] of entriesOf(purpose.users)) found.set(user, true);
  for (const { allow, to, if: condition } of statedValue(authentication.permissions) ?? []) {
    if (!operations.some((one) => namesOperation(allow, one))) continue;
    for (const user of to === 'anyone' ? [undefined] : to) found.set(user, found.get(user) === true || condition === undefined);
  }
  return found;
}

function mayReadAll(subject: Subject, resource: string, user: string | undefined): boolean {
  const readers = readersOf(subject, resource);
  return readers.get(undefined) === true || readers.get(user) === true;
}
