import { jsonTypeOf } from '../../document/values.ts';
import { generalCondition } from '../conditions.ts';
import { operationScope } from '../expressions/operation-scope.ts';
import {
  aBoolean,
  type ExpressionUse,
  everywhere,
  rateVariable,
  type Scope,
  scopeOf,
  type Variable,
} from '../expressions/scope.ts';
import { entriesOf, statedValue } from '../fact.ts';
import { callableOperations, namesOperation, type Operation, operationsOf } from '../operations.ts';
import { arisingConditions, isGivenInParts } from '../possible-errors.ts';
import type { Shape } from '../shape.ts';
import type { Spec } from '../spec.ts';
import { allMachines } from '../states.ts';
import { headerUses, valueUses } from './endpoints.ts';

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
  const answered = new Set(
    codes.flatMap((code) => code.rules.flatMap((rule) => (rule.on === undefined ? (statedValue(rule.when) ?? []) : []))),
  );
  const isCodeThere = arisingConditions(spec).every(
    (condition) =>
      answered.has(condition) || answered.has(generalCondition(condition)) || isGivenInParts(spec, condition, answered),
  );
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
