import { standsFor } from '../../kinds/formats/all.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../fact.ts';
import { uniquesOf } from '../generated.ts';
import type { Resource } from '../resources.ts';
import type { Spec } from '../spec.ts';
import { type CelType, dyn, fitsType, type ObjectType, typeName } from './cel-type.ts';
import { nearestRemedy } from './member.ts';
import type { FindKey, Node, NodeOf } from './node.ts';
import { pathKey } from './presence.ts';
import type { Scope } from './scope.ts';
import { maybeAbsent, typeOfShape } from './shape-type.ts';
import { type Around, keysAround, known, type Typed, type TypeWalk } from './type-walk.ts';

/** How a row is looked up. */
export interface Lookup {
  /** Which of the rules by which rows are told apart (`uniquesOf`); absent = by the identifier. */
  readonly unique?: number;
  /** The type of each field that it is found by. */
  readonly types: ReadonlyMap<string, CelType>;
  /** Whether the values are compared as they are, so that a database can compare columns of other rows with them. */
  readonly isPlain: boolean;
}

interface Finding extends TypeWalk {
  readonly spec: Spec;
  readonly scope: Scope;
  readonly lookups: Map<Node, Lookup>;
}

/** What a look-up gives: the fields of its row, each of which has to be asked for, unless it was asked whether the row is there. */
export function typeOfFind(walking: Finding, node: NodeOf<'find'>, around: Around): Typed {
  const given = node.keys.map(({ value }) => walking.walk(value, around).type);
  const { spec, scope } = walking;
  // What is reckoned of a row alone, and kept with it, is told nothing when other rows change.
  if (!scope.operation || !(scope.caller || scope.resource || scope.next || scope.subscriber)) {
    walking.report(node, 'scope', 'No other rows can be looked up here.', 'Look them up in a condition of an operation.');
    return known(dyn);
  }
  const resource = entryOf(spec.resources.all, node.resource);
  const type = resource && isStated(resource.identifier) ? typeOfShape(spec, { resource: node.resource }) : undefined;
  if (!resource || type?.is !== 'object' || !isStated(resource.fields)) {
    const names = entriesOf(spec.resources.all).flatMap(([name, { identifier }]) => (isStated(identifier) ? [name] : []));
    const remedy = nearestRemedy(node.resource, names) ?? `It may be one of ${listedNames(names)}.`;
    walking.report(node, 'find', `\`${node.resource}\` is no kept resource with stated fields.`, remedy);
    return known(dyn);
  }
  const areRight = node.keys.map((key, index) => isRightKey(walking, key, given[index] as CelType, type, resource));
  if (areRight.includes(false)) return known(dyn);
  const unique = ruleFor(resource, node);
  if (unique === 'none') {
    notUnique(walking, node, resource);
    return known(dyn);
  }
  const types = new Map(node.keys.map(({ field }) => [field, (type.members.get(field) as { type: CelType }).type]));
  const isPlain = node.keys.every(({ field }) => isComparedAsItIs(resource, field));
  walking.lookups.set(node, { ...(unique !== undefined && { unique }), types, isPlain });
  const key = pathKey(node, keysAround(around));
  const isThere = key !== undefined && around.present.has(key);
  return { ...known(isThere ? type : maybeAbsent(type)), follows: 1 };
}

/** Whether a field is there, and can have the value that it is given. */
function isRightKey(walking: Finding, key: FindKey, given: CelType, of: ObjectType, { name, identifier }: Resource): boolean {
  const at = { ...key, op: 'name' as const, name: key.field };
  const member = of.members.get(key.field);
  if (!member) {
    const names = [...of.members.keys()];
    const remedy = nearestRemedy(key.field, names) ?? `It has ${listedNames(names)}.`;
    walking.report(at, 'field', `\`${name}\` has no field \`${key.field}\`.`, remedy);
    return false;
  }
  const actual = given.is === 'nullable' ? given.of : given;
  const wanted = member.type;
  if (actual.is === 'ref' && wanted.is === 'ref' && actual.resource !== wanted.resource) {
    const message = `\`${walking.textOf(key.value)}\` is the identifier of one \`${actual.resource}\`, and \`${key.field}\` that of one \`${wanted.resource}\`.`;
    walking.report(key.value, 'type', message);
    return false;
  }
  const isOwn = actual.is === 'ref' && actual.resource === name && statedValue(identifier)?.field === key.field;
  if (isOwn || fitsType(actual, wanted)) return true;
  walking.report(key.value, 'type', `\`${key.field}\` is ${typeName(wanted)}, and this is ${typeName(actual)}.`);
  return false;
}

/** The rule, without conditions, that asks for just these fields; nothing where they are the identifier. */
function ruleFor(resource: Resource, { keys }: NodeOf<'find'>): number | undefined | 'none' {
  const names = new Set(keys.map(({ field }) => field));
  if (names.size === 1 && names.has(statedValue(resource.identifier)?.field ?? '')) return undefined;
  const rule = uniquesOf(resource).findIndex(
    ({ fields, while: only }) => !only && fields.length === names.size && fields.every((field) => names.has(field)),
  );
  return rule < 0 ? 'none' : rule;
}

function notUnique(walking: Finding, node: NodeOf<'find'>, resource: Resource): void {
  const names = node.keys.map(({ field }) => field);
  const rules = uniquesOf(resource).flatMap(({ fields, while: only }) => (only ? [] : [`{ ${fields.join(', ')} }`]));
  const identifier = statedValue(resource.identifier)?.field;
  const ways = [...(identifier === undefined ? [] : [`{ ${identifier} }`]), ...rules];
  const message = `More than one \`${resource.name}\` may have the same ${names.map((name) => `\`${name}\``).join(' and ')}.`;
  const remedy = `Find it by ${ways.map((way) => `\`${way}\``).join(' or ')}, or state \`unique: [[${names.join(', ')}]]\` at \`${resource.name}\`.`;
  walking.report(node, 'find', message, remedy);
}

function isComparedAsItIs(resource: Resource, name: string): boolean {
  const field = entryOf(resource.fields, name);
  return !field?.ignoreCase && !standsFor(statedValue(field?.shape ?? unknownShape)?.format, 'digits');
}

const unknownShape = { standing: 'open', at: '' } as const;

function listedNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
