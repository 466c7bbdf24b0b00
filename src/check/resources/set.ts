import type { Json } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap, isStanding } from '../../document/values.ts';
import { readsNothing } from '../../parts/expressions/check.ts';
import { compileNode } from '../../parts/expressions/compile.ts';
import { inferTypes } from '../../parts/expressions/infer.ts';
import { type Node, parseExpression } from '../../parts/expressions/node.ts';
import { scopeOf } from '../../parts/expressions/scope.ts';
import { entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { boundByPath, isSuppliedByService, isWritable } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { machinesOf, transitionsOf } from '../../parts/states.ts';
import { shortJson } from '../subject/json-types.ts';
import { fieldOf, fieldVocabulary, knownTransitions, listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';
import { eachField } from './fields.ts';

/** What sets a field. */
export const setRules: readonly Rule[] = [
  error(
    'resources/set-key',
    'A key of `set` is no change of its resource.',
    'Write create, update, replace, write, a transition, or an operation that stores the resource.',
    (subject) =>
      eachField(subject, ({ at, set }, { name, identifier }) =>
        // What makes a field of a value is held to `resources/value-made`.
        Object.keys(identifier.standing === 'none' ? {} : set).flatMap((key) =>
          notAChange(subject, name, key, below(below(at, 'set'), key)),
        ),
      ),
  ),
  error(
    'resources/set-misfit',
    'What sets a field comes to a value that does not fit the field.',
    'Set a value that fits, or correct the shape.',
    (subject) =>
      eachField(subject, (field) => {
        const shape = statedValue(field.shape);
        if (!shape) return [];
        return Object.values(field.set).flatMap((set) => {
          const wrong = constantsOf(subject, set.source, shape).flatMap((value) => {
            const why = subject.schemas.misfit(shape, value);
            return why === undefined ? [] : [`${shortJson(value)} does not fit \`${field.name}\`: ${why}.`];
          });
          return wrong.slice(0, 1).map((message) => ({ message, at: set.at }));
        });
      }),
  ),
];

/** The values that an expression comes to whatever it is evaluated for: of one that chooses, those of its branches. */
function constantsOf({ spec }: Subject, source: string, shape: Shape): Json[] {
  const parsed = parseExpression(source);
  return 'unparsed' in parsed ? [] : outcomes(parsed.node).flatMap((node) => constant(spec, source, node, shape) ?? []);
}

function outcomes(node: Node): Node[] {
  return node.op === 'choose' ? [...outcomes(node.yes), ...outcomes(node.no)] : [node];
}

function constant(spec: Spec, source: string, node: Node, shape: Shape): Json[] | undefined {
  if (!readsNothing(node)) return undefined;
  const scope = scopeOf({});
  const inferred = inferTypes(spec, scope, source, node);
  const value = compileNode(spec, source, node, inferred, { scope, expected: { shape } }).evaluate({});
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isPlain ? [value] : undefined;
}

const changes: readonly string[] = ['create', 'update', 'replace', 'upsert', 'write'];

function notAChange(subject: Subject, resource: string, key: string, at: string): Wrong[] {
  if (changes.includes(key)) return [];
  const { spec } = subject;
  const transitions = transitionsOf(spec.states, resource).map(([name]) => name);
  const bare = key.endsWith(` ${resource}`) ? key.slice(0, -resource.length - 1) : key;
  if (transitions.includes(bare) || changes.includes(bare)) return [];
  const operations = subject.operationsByName.get(key) ?? [];
  if (operations.some((operation) => operation.resource === resource && stores(operation))) return [];
  if (mayHaveMore(subject, resource)) return [];
  const known = [...changes.filter((change) => change !== 'upsert'), ...transitions];
  const meant = nearest(key, known);
  const about =
    operations.length > 0
      ? `The operation \`${key}\` does not store a \`${resource}\``
      : `\`${key}\` is no change of a \`${resource}\``;
  return [{ message: `${about}.`, remedy: meant ? `Write \`${meant}\`.` : `Write one of ${listed(known)}.`, at, onKey: true }];
}

function stores({ endpoint }: Subject['operations'][number]): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return verb !== 'read' && verb !== 'list' && verb !== 'delete';
}

/** Whether transitions or operations may be there that are not listed. */
function mayHaveMore({ spec, names }: Subject, resource: string): boolean {
  const { states } = spec;
  if (!names.operations.closed) return true;
  if (!isStated(states.all)) return states.all.standing !== 'none';
  const machine = states.all.value[resource];
  if (!machine) return true;
  if (!isStated(machine)) return machine.standing !== 'none';
  return (
    machine.value.others !== undefined || !(isStated(machine.value.transitions) || machine.value.transitions.standing === 'none')
  );
}

/** Required fields that a request cannot state and nothing else does. */
export const suppliedRules: readonly Rule[] = [
  error(
    'resources/required-unset',
    'A required field cannot be sent, and nothing sets it when the resource is made.',
    'Say what sets it, such as `set: { create: now }` or a default; or take it out of `required`.',
    (subject) =>
      eachField(subject, (field, resource) =>
        isUnset(subject, field, resource)
          ? [
              {
                message: `Nothing sets \`${resource.name}.${field.name}\` when one is made, and answers must carry it.`,
                at: field.at,
                onKey: true,
              },
            ]
          : [],
      ),
  ),
];

/**
 * Rows of a resource that nothing creates come from elsewhere, and so does what is in them. Where its machine is open, the
 * field may be the one that holds the state.
 */
function isUnset({ spec, endpointsByResource }: Subject, field: Field, resource: Resource): boolean {
  if (statedValue(field.required) !== true || field.children || isWritable(spec, resource, field)) return false;
  if (isSetByWhatIsOpen(spec, field)) return false;
  const machines = machinesOf(spec.states, resource.name);
  if (machines.length === 0 && knownTransitions(spec, resource.name) === undefined) return false;
  if (machines.some((machine) => fieldOf(resource, machine.field) === undefined)) return false;
  const isMade = statedValue(resource.identifier)?.field === field.name;
  if (machines.some((machine) => machine.field === field.name) || isMade || isSuppliedByService(field, 'create')) return false;
  const makers = (endpointsByResource.get(resource.name) ?? []).filter((endpoint) => {
    const verb = statedValue(endpoint.does)?.verb;
    return verb === 'create' || verb === 'upsert';
  });
  return makers.some(
    (endpoint) =>
      !boundByPath(spec, endpoint).includes(field.name) &&
      field.set[endpoint.operation] === undefined &&
      field.set[`create ${resource.name}`] === undefined &&
      field.set.upsert === undefined,
  );
}

/** Whether what sets a field, or makes it, is said to be open. */
function isSetByWhatIsOpen({ document }: Subject['spec'], { at }: Field): boolean {
  const set = valueAt(document.tree, below(at, 'set'));
  const makers = [set, valueAt(document.tree, below(at, 'generate')), ...(isMap(set) ? Object.values(set) : [])];
  return makers.some(isStanding);
}

/** What the fields of a resource together must not be. */
export const ruleRules: readonly Rule[] = [
  error(
    'resources/rule-field',
    'A rule, or a choice of fields, names a field that the resource does not have.',
    'Write the name of a field, or state the field.',
    (subject) =>
      eachResource(subject, (resource) => [
        ...Object.values(resource.rules).flatMap(({ field, at }) =>
          field === undefined ? [] : unstated(fieldVocabulary(resource), field, below(at, 'field')),
        ),
        ...resource.choices.flatMap(({ fields, at }) =>
          fields.flatMap((field, index) => unstated(fieldVocabulary(resource), field, below(at, String(index)))),
        ),
      ]),
  ),
  error(
    'resources/choice-of-one',
    'A choice of fields is none.',
    'Name two or more fields that a caller may leave out.',
    (subject) =>
      eachResource(subject, (resource) => resource.choices.flatMap(({ fields, at }) => noChoice(subject, resource, fields, at))),
  ),
  error(
    'resources/rule-of-value',
    'A value has rules, which are kept for rows.',
    'State the rule where the value stands, over `next.price.amount`, or give the resource an identifier.',
    (subject) =>
      eachResource(subject, ({ identifier, rules, choices, at, name }) =>
        identifier.standing === 'none' && (Object.keys(rules).length > 0 || choices.length > 0)
          ? [
              {
                message: `\`${name}\` is a value, and rules are asked of whole rows.`,
                at: below(at, choices.length > 0 ? 'one_of' : 'rules'),
                onKey: true,
              },
            ]
          : [],
      ),
  ),
];

function eachResource({ resources }: Subject, find: (resource: Resource) => readonly Wrong[]): Wrong[] {
  return [...resources.values()].flatMap(find);
}

function noChoice({ spec }: Subject, resource: Resource, fields: readonly string[], at: string): Wrong[] {
  if (new Set(fields).size < 2) return [{ message: 'There is nothing to choose from.', at }];
  return fields.flatMap((name, index) => {
    const field = entryOf(resource.fields, name);
    if (!field) return [];
    const place = below(at, String(index));
    if (!isWritable(spec, resource, field)) return [{ message: `\`${name}\` is sent by nobody.`, at: place }];
    if (statedValue(field.required) === true)
      return [{ message: `\`${name}\` is required, so the others may never be sent.`, at: place }];
    if (field.default) return [{ message: `\`${name}\` has a default, so the others may never be sent.`, at: place }];
    return [];
  });
}
