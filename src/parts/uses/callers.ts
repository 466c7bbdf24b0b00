/** The expressions of callers: who they are, what is counted of them, and what they are refused with. */

import { jsonTypeOf } from '../../document/values.ts';
import { type ErrorCondition, generalCondition } from '../conditions.ts';
import { operationScope } from '../expressions/operation-scope.ts';
import {
  aBoolean,
  callerVariable,
  type Expected,
  type ExpressionUse,
  everywhere,
  rateVariable,
  type Scope,
  scopeOf,
  type Variable,
} from '../expressions/scope.ts';
import { entriesOf, isStated, statedValue } from '../fact.ts';
import type { LimitScope } from '../limits.ts';
import { callableOperations, namesOperation, type Operation, operationsOf } from '../operations.ts';
import { arisingConditions, isGivenInParts } from '../possible-errors.ts';
import type { RowLimit } from '../row-limits.ts';
import type { Shape } from '../shape.ts';
import type { Spec } from '../spec.ts';
import { allMachines } from '../states.ts';
import { headerUses, valueUses } from './endpoints.ts';

/** The expressions of part 5: who a caller is, and what it may do. */
export function authenticationUses(spec: Spec): ExpressionUse[] {
  return [...callerUses(spec), ...permissionUses(spec)];
}

const oneText: Expected = { shape: { type: 'string' } };
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
      const expected = expression === scheme.caller.user ? textOrTexts : expression === scheme.caller.scopes ? texts : oneText;
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

/** The expressions of part 7: the service's own errors, and how a refusal is written. */
export function errorUses(spec: Spec): ExpressionUse[] {
  const operations = callableOperations(spec).filter((operation) => operation.endpoint);
  const following = operationsOf(spec).filter(({ follows }) => follows);
  const isMoving = compileMoving(spec);
  const rules = entriesOf(spec.errors.codes).flatMap(([, code]) => code.rules.map((rule) => ({ code: code.name, rule })));
  const conditions = rules.flatMap(({ code, rule }): ExpressionUse[] => {
    if (!rule.if) return [];
    const { on } = rule;
    const meant = operations.filter((operation) => on === undefined || namesOperation(on, operation) || isMoving(operation, on));
    const follow = following.filter(({ name }) => on?.includes(name));
    const scopes = [...meant, ...follow].map((operation) => ({
      operation: operation.name,
      scope: operationScope(spec, operation),
    }));
    const { at, source } = rule.if;
    return [
      {
        at,
        source,
        name: `the condition of the error ${code}`,
        role: 'condition',
        expected: aBoolean,
        failure: 'internal',
        scopes,
      },
    ];
  });
  const scopes = [{ scope: errorScope(spec) }];
  const headers = [
    ...headerUses(spec.errors.headers, 'errors', scopes),
    ...entriesOf(spec.errors.codes).flatMap(([name, code]) => headerUses(code.headers, `the error ${name}`, scopes)),
  ];
  const payload = statedValue(spec.errors.payload);
  if (payload === undefined || payload === 'problem') return [...conditions, ...headers];
  const shape = statedValue(payload.shape) ?? {};
  return [...conditions, ...headers, ...valueUses(payload.data, shape, 'the payload of errors', [{ scope: errorScope(spec) }])];
}

/** Tells whether an operation is an update that is one of these transitions too, where it sends their state. */
function compileMoving(spec: Spec): (operation: Operation, on: readonly string[]) => boolean {
  const moves = allMachines(spec.states).flatMap(({ resource, transitions }) =>
    entriesOf(transitions).flatMap(([name, transition]) =>
      (transition.on ?? []).map((update) => ({ name: `${name} ${resource}`, update })),
    ),
  );
  return (operation, on) => moves.some(({ name, update }) => update === operation.name && on.includes(name));
}

const text: Shape = { type: 'string' };
const maybeText: Variable = { shape: { type: ['string', 'null'] } };

const violation: Shape = {
  title: 'violation',
  type: 'object',
  properties: { in: text, path: text, found: {}, expected: text },
  required: ['in', 'path'],
};

/**
 * What the payload of a refusal reads. There is a code where every condition that can arise has one; a constant is there
 * where every code has it and there is one; the place may be null.
 */
export function errorScope(spec: Spec): Scope {
  const codes = entriesOf(spec.errors.codes).map(([, code]) => code);
  const isCodeThere = conditionsWithoutCode(spec).length === 0;
  const names = new Set(codes.flatMap((code) => Object.keys(code.constants)));
  const constants = [...names].map((name): [string, Variable] => {
    const values = codes.flatMap((code) => (code.constants[name] === undefined ? [] : [code.constants[name]]));
    const types = [...new Set(values.map(jsonTypeOf))];
    const isThere = isCodeThere && values.length === codes.length;
    return [name, { shape: { type: isThere ? (types.length === 1 ? (types[0] as string) : types) : [...types, 'null'] } }];
  });
  return scopeOf({
    ...Object.fromEntries(constants),
    ...everywhere,
    code: isCodeThere ? { shape: text } : maybeText,
    status: { shape: { type: 'integer' } },
    message: { shape: text },
    path: maybeText,
    violations: { shape: { type: 'array', items: violation } },
    result: { shape: {} },
    request_id: { shape: text },
    ...rateVariable(spec),
  });
}

/** The conditions that can arise and have no code for every operation: for those the code of a refusal is null. */
export function conditionsWithoutCode(spec: Spec): ErrorCondition[] {
  const rules = entriesOf(spec.errors.codes).flatMap(([, code]) => code.rules);
  const answered = new Set(rules.flatMap(({ on, when }) => (on === undefined ? (statedValue(when) ?? []) : [])));
  return arisingConditions(spec).filter(
    (condition) =>
      !answered.has(condition) && !answered.has(generalCondition(condition)) && !isGivenInParts(spec, condition, answered),
  );
}
