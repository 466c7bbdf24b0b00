import { below } from '../document/pointer.ts';
import { valueAt } from '../document/source.ts';
import { isStanding } from '../document/values.ts';
import { toFilter } from '../parts/expressions/filter.ts';
import type { ExpressionProblem } from '../parts/expressions/node.ts';
import type { ExpressionUse } from '../parts/expressions/scope.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../parts/fact.ts';
import type { Operation } from '../parts/operations.ts';
import { conditionsWithoutCode } from '../parts/uses/callers.ts';
import { listed } from './subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from './subject/rule.ts';

/** Conditions and computed values. What is wrong with each is found in `parts/expressions`; here it gets its code. */
export const expressionsRules: readonly Rule[] = [
  error(
    'expressions/does-not-parse',
    'An expression is no CEL.',
    'Correct it; text stands in quotes, and `==` compares.',
    ofKind('parse'),
  ),
  error(
    'expressions/too-large',
    'An expression is larger than one evaluation may be.',
    'Divide it, or move the work into a handler.',
    ofKind('size'),
  ),
  error(
    'expressions/wrong-type',
    'An operator or a function is given a type that it does not take.',
    'Compare like with like; convert with `int(…)`, `double(…)`, `string(…)` or `timestamp(…)`.',
    ofKind('type'),
  ),
  error(
    'expressions/wrong-result',
    'An expression comes to a type other than the one that is wanted where it stands.',
    'Convert the result, or write another expression.',
    ofKind('result'),
  ),
  error(
    'expressions/not-in-scope',
    'An expression reads something that is not there where it stands.',
    'Read what is in scope there.',
    ofKind('scope'),
  ),
  error(
    'expressions/unknown-field',
    'An expression reads a field that is not stated.',
    'Write the name of a stated field.',
    ofKind('field'),
  ),
  error(
    'expressions/may-be-absent',
    'An expression reads what may be absent, outside `has()`.',
    'Write `has(x.y) ? x.y : …`, or `has(x.y) && …`.',
    ofKind('absent'),
  ),
  error(
    'expressions/finds-several',
    'A look-up does not say which one row it means.',
    'Give `find` the fields of an identifier, or of a `unique` rule without `while`.',
    ofKind('find'),
  ),
  error(
    'expressions/no-address',
    'A link does not say which one address it means.',
    'State one endpoint that reads a row of that resource by its path, of which the row has every parameter.',
    ofKind('link'),
  ),
  warning(
    'expressions/constant',
    'A condition is always true, or always false.',
    'Leave it out, or let it read something.',
    ofKind('constant'),
  ),
  error(
    'expressions/not-decidable',
    'A permission of a list has a condition that no database can decide, so its rows cannot be chosen.',
    'Compare fields of `resource` with values of `caller`; leave work on texts and lists out.',
    notDecidable,
  ),
];

function ofKind(kind: ExpressionProblem['kind']): Rule['find'] {
  return (subject) =>
    subject.expressions.flatMap(({ use, problems }) =>
      problems
        .filter((problem) => problem.kind === kind && !isUndecided(subject, use, problem))
        .map(({ message, remedy, offset, length, operations }) => ({
          message: operations ? `${message.replace(/\.$/, '')}, in ${listed(operations)}.` : message,
          at: use.at,
          ...(remedy !== undefined && { remedy }),
          ...ofNullCode(subject, use, message),
          ...(offset !== undefined && { offset }),
          ...(length !== undefined && { length }),
        })),
    );
}

/** Why the code of a refusal may be null, where the payload of errors has one that is not. */
function ofNullCode({ spec }: Subject, { at, source }: ExpressionUse, message: string): Partial<Wrong> {
  if (!at.startsWith('/errors/payload/') || source.trim() !== 'code' || !message.includes('null')) return {};
  const without = listed(conditionsWithoutCode(spec));
  return {
    message: `There is no code for ${without}, and \`code\` is null then.`,
    remedy: 'Add it to the `when` of a code, or let the member be null: `string?`.',
  };
}

/** Where the operations are open it is not known what is in scope, and where the schemes are, not whether there is a caller. */
function isUndecided(
  { spec, names, operationsByName }: Subject,
  use: ExpressionUse,
  { kind, offset = 0, operations }: ExpressionProblem,
): boolean {
  if (kind !== 'scope' && kind !== 'absent') return false;
  const { schemes } = spec.authentication;
  const isCaller = use.source.startsWith('caller', offset);
  if (kind === 'absent' && isCaller && !isStated(schemes) && schemes.standing !== 'none') return true;
  if (!/^(?:caller|request|params|resource|next)\b/.test(use.source.slice(offset))) return false;
  const isOfOperations = !use.at.startsWith('/authentication/schemes') && !use.at.startsWith('/versioning');
  if (!isOfOperations) return false;
  const isOpen = (operation: string) =>
    operationsByName.get(operation)?.some(({ endpoint }) => endpoint && !isStated(endpoint.does)) ?? false;
  if (operations?.every(isOpen)) return true;
  return !names.operations.closed && use.scopes.every(({ operation }) => operation === undefined || isOpen(operation));
}

function notDecidable({ spec, expressions, operationsByName }: Subject): Wrong[] {
  const rules = new Set((statedValue(spec.authentication.permissions) ?? []).map(({ at }) => `${at}/if`));
  return expressions.flatMap(({ use, problems }) => {
    if (problems.length > 0 || !rules.has(use.at)) return [];
    const lists = use.scopes.filter(({ operation = '' }) => {
      const [{ endpoint } = {}] = operationsByName.get(operation) ?? [];
      return (
        endpoint && statedValue(endpoint.does)?.verb === 'list' && isKnown(spec, operationsByName.get(operation)?.[0]?.resource)
      );
    });
    for (const { operation, scope } of lists) {
      const decided = toFilter(spec, { source: use.source, scope });
      if (!('undecidable' in decided) || readsOpen(spec, operationsByName.get(operation ?? ''), use.source.slice(decided.offset)))
        continue;
      const message = `\`${operation}\` cannot choose its rows by this: ${decided.undecidable}`;
      return [
        { message: message.endsWith('.') ? message : `${message}.`, at: use.at, offset: decided.offset, length: decided.length },
      ];
    }
    return [];
  });
}

/** Of rows whose fields are open, nothing can be said. */
function isKnown({ resources }: Subject['spec'], name: string | undefined): boolean {
  return entriesOf(resources.all).some(([resource, { fields }]) => resource === name && isStated(fields));
}

/** Whether what stands at the beginning of a text is a field whose values are open. */
function readsOpen({ resources, document }: Subject['spec'], operations: readonly Operation[] = [], text: string): boolean {
  const [, name = ''] = /^resource\.(\w+)/.exec(text) ?? [];
  return operations.some(({ resource = '' }) => {
    const field = entryOf(entryOf(resources.all, resource)?.fields, name);
    return field !== undefined && (!isStated(field.shape) || isStanding(valueAt(document.tree, below(field.at, 'type'))));
  });
}
