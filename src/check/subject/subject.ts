import type { Pointer } from '../../document/document.ts';
import { above } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { checkExpression } from '../../parts/expressions/check.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { type Operation, operationsOf, resourceOfEffect } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import { expressionUses } from '../../parts/uses/all.ts';
import { misspeltEffects, vocabularyOf } from './names.ts';
import type { CheckNames, Subject, Vocabulary } from './rule.ts';
import { schemasOf } from './schemas.ts';
import { shapeNodesOf, shapeRootsOf } from './shape-nodes.ts';

/** Works out once what several rules look at. `broken` are the places whose form is wrong. */
export function subjectOf(spec: Spec, broken: ReadonlySet<Pointer>): Subject {
  const operations = operationsOf(spec);
  const endpoints = entriesOf(spec.endpoints.all).map(([, endpoint]) => endpoint);
  const shapeRoots = shapeRootsOf(spec);
  const names = namesOf(spec, operations, endpoints, broken);
  return {
    spec,
    operations,
    operationsByName: grouped(operations, ({ name }) => name),
    endpoints,
    endpointsByResource: grouped(endpoints, (endpoint) => resourceOfEffect(statedValue(endpoint.does))),
    resources: new Map(entriesOf(spec.resources.all)),
    machines: entriesOf(spec.states.all).flatMap(([, machine]) => statedValue(machine) ?? []),
    firedTransitions: new Set(operations.flatMap(({ transition }) => transition ?? [])),
    names,
    misspelt: misspeltEffects(spec, endpoints, names.resources),
    shapeRoots,
    shapeNodes: shapeNodesOf(shapeRoots),
    schemas: schemasOf(spec),
    expressions: expressionUses(spec).map((use) => ({ use, problems: use.isMade ? [] : checkExpression(spec, use) })),
    isBroken: (at) => isBroken(broken, at),
  };
}

function namesOf(
  spec: Spec,
  operations: readonly Operation[],
  endpoints: readonly Endpoint[],
  broken: ReadonlySet<Pointer>,
): CheckNames {
  const { resources, purpose, errors, authentication, versioning } = spec;
  const whole = (fact: { readonly at: Pointer }, others?: unknown): boolean => others === undefined && !broken.has(fact.at);
  return {
    resources: vocabularyOf('resource', 'resources', resources.all, whole(resources.all, resources.others)),
    users: vocabularyOf('user', 'purpose.users', purpose.users, whole(purpose.users)),
    errors: vocabularyOf('error', 'errors.codes', errors.codes, whole(errors.codes, errors.others)),
    schemes: vocabularyOf('scheme', 'authentication.schemes', authentication.schemes, whole(authentication.schemes)),
    versions: vocabularyOf('version', 'versioning.versions', versioning.versions, whole(versioning.versions, versioning.others)),
    operations: operationNames(spec, operations, endpoints, whole(spec.endpoints.all, spec.endpoints.others)),
  };
}

/** An endpoint whose effect is open and that has no name of its own may be any operation that is spoken of elsewhere. */
function operationNames(
  { endpoints }: Spec,
  operations: readonly Operation[],
  all: readonly Endpoint[],
  isWhole: boolean,
): Vocabulary {
  const words = operations.flatMap(({ name, resource }) => (resource === undefined ? [name] : [name, `all ${resource}`]));
  const isListed = isStated(endpoints.all) || endpoints.all.standing === 'none';
  return {
    what: 'operation',
    words: new Set([...words, 'read ledger']),
    closed: isWhole && isListed && !all.some((endpoint) => !isStated(endpoint.does) && endpoint.operation === endpoint.key),
    home: 'endpoints',
  };
}

function grouped<T>(items: readonly T[], key: (item: T) => string | undefined): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = key(item);
    if (name === undefined) continue;
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}

/** Whether a place, or one around it, is among the broken ones. */
function isBroken(broken: ReadonlySet<Pointer>, at: Pointer): boolean {
  if (broken.size === 0) return false;
  for (let pointer: Pointer | undefined = at; pointer !== undefined; pointer = above(pointer))
    if (broken.has(pointer)) return true;
  return false;
}
