/** The expressions of callers: who they are, and what is counted of them. */

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
import type { LimitScope } from '../limits.ts';
import { callableOperations, namesOperation } from '../operations.ts';
import type { RowLimit } from '../row-limits.ts';
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

/** The expressions of part 8: whom a limit counts, and apart from whom. They are asked before anything of the request is read. */
export function limitUses(spec: Spec): ExpressionUse[] {
  const { limits } = spec;
  const rates = (statedValue(limits.rate) ?? []).flatMap((rate) => scopeUses(spec, rate, 'a rate'));
  const quotas = (statedValue(limits.quota) ?? []).flatMap((quota) => scopeUses(spec, quota, 'a quota'));
  const rows = (statedValue(limits.rows) ?? []).flatMap(rowUses);
  const atOnce = (statedValue(limits.atOnce) ?? []).flatMap((limit) => scopeUses(spec, limit, 'a limit of requests at once'));
  return [...rates, ...quotas, ...rows, ...atOnce];
}

/** Whether a row counts is a matter of the row alone, since it is kept with it. */
function rowUses({ of, while: condition }: RowLimit): ExpressionUse[] {
  if (!condition) return [];
  const { at, source } = condition;
  const scope = scopeOf({ next: { shape: { resource: of } } });
  const name = `the condition under which a ${of} counts`;
  return [{ at, source, name, role: 'condition', expected: aBoolean, failure: 'internal', scopes: [{ scope }] }];
}

/** A text, or what is written as one; a caller of whom it comes to nothing is counted for itself. */
const apart: Expected = { shape: { type: ['string', 'integer', 'boolean'] }, optional: true };

/** What is counted apart is asked of those who are known alone. */
function limitScope(spec: Spec, isKnown: boolean): Scope {
  return scopeOf({ ...everywhere, version: undefined, caller: callerVariable(spec, isKnown) });
}

function scopeUses(spec: Spec, { by, if: condition, to }: LimitScope, name: string): ExpressionUse[] {
  const isKnown = to !== undefined && !to.includes('anyone');
  const uses: ExpressionUse[] = [];
  if (by)
    uses.push({
      at: by.at,
      source: by.source,
      name: `what ${name} counts apart`,
      role: 'value',
      expected: apart,
      failure: 'unsent',
      scopes: [{ scope: limitScope(spec, true) }],
    });
  if (condition)
    uses.push({
      at: condition.at,
      source: condition.source,
      name: `the condition under which ${name} counts`,
      role: 'condition',
      expected: aBoolean,
      failure: 'refused',
      scopes: [{ scope: limitScope(spec, isKnown) }],
    });
  return uses;
}
