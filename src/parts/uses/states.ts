import { timeFormat } from '../../kinds/formats/all.ts';
import { operationScope, resourceShape } from '../expressions/operation-scope.ts';
import { aBoolean, type Expected, type ExpressionUse, everywhere, scopeOf, type UseScope } from '../expressions/scope.ts';
import { type Expression, entriesOf, isStated } from '../fact.ts';
import { followedOf } from '../followed.ts';
import { type Operation, operationsOf, verbOf } from '../operations.ts';
import type { Spec } from '../spec.ts';
import { allMachines, type Machine, machinesOf, type Transition } from '../states.ts';
import { followingUses } from './following.ts';

/** The expressions of part 3: what lets a transition happen, where it leads, and when the clock fires it. */
export function stateUses(spec: Spec): ExpressionUse[] {
  if (!isStated(spec.states.all)) return [];
  const operations = operationsOf(spec);
  const rows = allMachines(spec.states).flatMap((machine) => {
    const transitions = entriesOf(machine.transitions).flatMap(([, transition]) =>
      transitionUses(spec, operations, machine.resource, transition),
    );
    return [...initialUses(spec, operations, machine), ...transitions];
  });
  const followed = followedOf(spec).filter(({ change }) => typeof change !== 'string');
  return [...rows, ...followingUses(spec, followed)];
}

function initialUses(spec: Spec, operations: readonly Operation[], machine: Machine): ExpressionUse[] {
  const { resource, field } = machine;
  // The machines stand in the order of the document: where one begins, what stands before it has begun.
  const all = machinesOf(spec.states, resource).map((one) => one.field);
  const later = all.slice(Math.max(0, all.indexOf(field)));
  const next = { shape: resourceShape(spec, resource, (name) => later.includes(name)) };
  const scopes = operations.flatMap((operation): UseScope[] => {
    const verb = verbOf(operation);
    if (operation.resource !== resource || (verb !== 'create' && verb !== 'upsert')) return [];
    return [{ operation: operation.name, scope: scopeOf({ ...operationScope(spec, operation), next }) }];
  });
  const some = scopes.length > 0 ? scopes : [{ scope: scopeOf({ ...everywhere, next }) }];
  return machine.initial.flatMap((target) =>
    target.if ? [condition(target.if, `the condition of the first state ${target.state} of ${resource}`, 'internal', some)] : [],
  );
}

function transitionUses(spec: Spec, operations: readonly Operation[], resource: string, transition: Transition): ExpressionUse[] {
  const firing = operations.filter(
    (operation) =>
      operation.resource === resource && (operation.transition === transition || transition.on?.includes(operation.name)),
  );
  const row = { shape: { resource } };
  const scopes: UseScope[] =
    firing.length > 0
      ? firing.map((operation) => ({ operation: operation.name, scope: operationScope(spec, operation) }))
      : [{ scope: scopeOf({ ...everywhere, resource: row, next: row }) }];
  const name = `the transition ${transition.name} of ${resource}`;
  return [
    ...(transition.if ? [condition(transition.if, `the condition of ${name}`, 'blocked', scopes)] : []),
    ...transition.to.flatMap((target) =>
      target.if ? [condition(target.if, `the condition of the state ${target.state} of ${name}`, 'blocked', scopes)] : [],
    ),
    ...(transition.atTime ? [timeUse(transition.atTime, name, resource)] : []),
  ];
}

const aTime: Expected = { shape: { type: 'string', format: timeFormat }, optional: true };

/** When the clock fires is a matter of the row as it is stored; null = never. */
function timeUse({ at, source }: Expression, name: string, resource: string): ExpressionUse {
  const scope = scopeOf({ ...everywhere, resource: { shape: { resource } } });
  return { at, source, name: `the time of ${name}`, role: 'value', expected: aTime, failure: 'internal', scopes: [{ scope }] };
}

function condition(
  { at, source }: Expression,
  name: string,
  failure: ExpressionUse['failure'],
  scopes: readonly UseScope[],
): ExpressionUse {
  return { at, source, name, role: 'condition', expected: aBoolean, failure, scopes };
}
