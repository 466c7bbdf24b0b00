import { operationScope } from '../expressions/operation-scope.ts';
import {
  aBoolean,
  callerVariable,
  type Expected,
  type ExpressionUse,
  everywhere,
  type Scope,
  scopeOf,
} from '../expressions/scope.ts';
import { entriesOf, isStated, statedValue } from '../fact.ts';
import { callableOperations, namesOperation } from '../operations.ts';
import type { Spec } from '../spec.ts';

/** The expressions of part 5: who a caller is, and what it may do. */
export function authenticationUses(spec: Spec): ExpressionUse[] {
  return [...callerUses(spec), ...permissionUses(spec)];
}

const text: Expected = { shape: { type: 'string' } };
const texts: Expected = { shape: { type: 'array', items: { type: 'string' } } };
/** A caller may bear several users. */
const textOrTexts: Expected = { shape: { type: ['string', 'array'] } };

/** What a scheme's `caller` reads: what the credential says, which has no shape. */
export const claimsScope: Scope = scopeOf({ ...everywhere, claims: { shape: {} } });

function callerUses(spec: Spec): ExpressionUse[] {
  return entriesOf(spec.authentication.schemes).flatMap(([, scheme]) =>
    [
      ...(['id', 'user', 'scopes'] as const).map((word) => [word, scheme.caller[word]] as const),
      ...Object.entries(scheme.caller.attributes),
    ].flatMap(([word, expression]): ExpressionUse[] => {
      if (!expression) return [];
      const expected = expression === scheme.caller.user ? textOrTexts : expression === scheme.caller.scopes ? texts : text;
      const name = `the ${word} of the caller by the scheme ${scheme.name}`;
      const { at, source } = expression;
      return [{ at, source, name, role: 'value', expected, failure: 'unknown caller', scopes: [{ scope: claimsScope }] }];
    }),
  );
}

function permissionUses(spec: Spec): ExpressionUse[] {
  const operations = callableOperations(spec);
  const hasSchemes = isStated(spec.authentication.schemes);
  return (statedValue(spec.authentication.permissions) ?? []).flatMap((rule): ExpressionUse[] => {
    if (!rule.if) return [];
    const scopes = operations
      .filter((operation) => namesOperation(rule.allow, operation))
      .map((operation) => {
        // A rule for certain users is asked of callers that are known.
        const known = hasSchemes && rule.to !== 'anyone' && !namesOperation(spec.authentication.public, operation);
        return {
          operation: operation.name,
          scope: scopeOf({ ...operationScope(spec, operation), caller: callerVariable(spec, known) }),
        };
      });
    const { at, source } = rule.if;
    const name = `the condition under which ${rule.to === 'anyone' ? 'anyone' : rule.to.join(' or ')} may ${rule.allow.join(', ')}`;
    return [{ at, source, name, role: 'condition', expected: aBoolean, failure: 'refused', scopes }];
  });
}
