import { below } from '../../document/pointer.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { callableOperations, namesOperation } from '../../parts/operations.ts';
import { isSpokenOf, itemPlace, operationPlace } from '../operation-names.ts';
import { type Rule, type Subject, type Wrong, warning } from '../rule.ts';

/** Which operations somebody may call at all. */
export const reachRules: readonly Rule[] = [
  warning(
    'authentication/nobody-may-call',
    'No permission allows an operation, and it is not public, so every call is refused.',
    'Allow it to somebody, or take the endpoint out.',
    nobodyMayCall,
  ),
  warning(
    'authentication/public-and-permitted',
    'An operation is public, and a permission allows it to some: at a public one no credential is looked at.',
    'Take it out of `public`, or out of the permission.',
    publicAndPermitted,
  ),
];

function nobodyMayCall(subject: Subject): Wrong[] {
  const { spec } = subject;
  const { permissions, schemes } = spec.authentication;
  if (!isStated(permissions) || (!isStated(schemes) && schemes.standing !== 'none')) return [];
  const allowed = new Set([...permissions.value.flatMap(({ allow }) => allow), ...spec.authentication.public]);
  return callableOperations(spec)
    .filter(({ name, resource }) => !allowed.has(name) && !allowed.has(`all ${resource}`))
    .filter((operation) => isSpokenOf(subject, operation))
    .map((operation) => ({
      message: `Nobody may call \`${operation.name}\`.`,
      at: operationPlace(subject, operation),
      onKey: true,
    }));
}

function publicAndPermitted(subject: Subject): Wrong[] {
  const { spec } = subject;
  const open = callableOperations(spec).filter((operation) => namesOperation(spec.authentication.public, operation));
  const names = new Set(open.map(({ name }) => name));
  return (statedValue(spec.authentication.permissions) ?? []).flatMap(({ at, allow }) =>
    allow.flatMap((name, index) =>
      names.has(name)
        ? [
            {
              message: `\`${name}\` is public, so this rule is never asked.`,
              at: itemPlace(subject, below(at, 'allow'), allow, index),
              also: [{ message: 'It is public here.', at: below(spec.authentication.at, 'public') }],
            },
          ]
        : [],
    ),
  );
}
