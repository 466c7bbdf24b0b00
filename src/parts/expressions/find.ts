/** How `find` and `link` are read and typed: a row that is looked up, and the address of one. */

import { standsFor } from '../../kinds/formats/all.ts';
import type { Endpoint } from '../endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../fact.ts';
import { uniquesOf } from '../inner-values.ts';
import { pathWays, type WayStep } from '../path-keys.ts';
import { identifierParameter, namesRow } from '../payload.ts';
import type { Resource } from '../resources.ts';
import type { Spec } from '../spec.ts';
import { currentVersion, versionedPath } from '../versioning.ts';
import { type CelType, dyn, fitsType, type ObjectType, string, typeName } from './cel-type.ts';
import { bounds } from './cel-value.ts';
import { type Around, keysAround, known, nearestRemedy, pathKey, type Typed, type TypeWalk } from './member.ts';
import type { FindKey, Node, NodeOf } from './node.ts';
import type { Scope } from './scope.ts';
import { maybeAbsent, typeOfShape } from './shape-type.ts';

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

/** What an address is made of, one after the other: texts, and nodes whose values stand in it. */
export type Link = readonly (string | Node)[];

interface Linking extends TypeWalk {
  readonly spec: Spec;
  readonly scope: Scope;
  readonly links: Map<Node, Link>;
  readonly problems: readonly unknown[];
}

/** The address of a row: that of the one endpoint that reads it by its path, below the service's base address. */
export function typeOfLink(walking: Linking, node: NodeOf<'link'>, around: Around): Typed {
  const before = walking.problems.length;
  const { type, follows = 0 } = walking.walk(node.of, around);
  if (walking.problems.length > before) return known(string);
  const resource = rowOf(walking, node.of, type);
  const pieces = resource === undefined ? undefined : addressOf(walking, node, resource);
  if (pieces) {
    const from = { type, follows: follows + (type.is === 'ref' ? 1 : 0) };
    const made = pieces.map((piece) => (typeof piece === 'string' ? piece : alongWay(walking, node.of, piece, from, around)));
    if (made.every((piece) => piece !== undefined)) walking.links.set(node, made);
  }
  return known(string);
}

/** The resource of which a node is a row, or refers to one. */
function rowOf(walking: Linking, node: Node, type: CelType): string | undefined {
  const isRow =
    type.is === 'ref' ||
    (type.is === 'object' && !type.orIdentifier && entryOf(walking.spec.resources.all, type.name) !== undefined);
  if (isRow) return type.is === 'ref' ? type.resource : type.name;
  if (type.is === 'nullable') {
    const path = walking.textOf(node);
    walking.report(node, 'absent', `\`${path}\` may be null here.`, `Write \`${path} != null && …\`.`);
  } else {
    walking.report(node, 'type', `\`link\` takes a row or a reference to one, not ${typeName(type)}.`, 'Write `link(next)`.');
  }
  return undefined;
}

type Piece = string | { readonly parameter: string; readonly way: readonly { readonly field: string }[] };

/** The pieces of a row's address, of which each parameter is known of the row; or it is said why there is none. */
function addressOf(walking: Linking, node: Node, resource: string): readonly Piece[] | undefined {
  const { spec } = walking;
  const [reader, other] = readersOf(spec, resource);
  if (!reader) {
    walking.report(node, 'link', `No endpoint reads one \`${resource}\` by its path, so it has no address.`);
    return undefined;
  }
  if (other) {
    const message = `\`${reader.key}\` and \`${other.key}\` both read one \`${resource}\`, so its address may be either.`;
    walking.report(node, 'link', message, 'Write the address out: `"https://…/" + next.id`.');
    return undefined;
  }
  const pieces = pathPieces(spec, reader);
  const fields = entryOf(spec.resources.all, resource)?.fields;
  const isLed = (way: Exclude<PathPiece, string>['way']) => way?.[0] && fields && entryOf(fields, way[0].field);
  for (const piece of pieces) {
    if (typeof piece === 'string' || isLed(piece.way)) continue;
    walking.report(node, 'link', `Nothing of one \`${resource}\` leads to \`{${piece.parameter}}\` of \`${reader.key}\`.`);
    return undefined;
  }
  // Each has its way, as was asked above.
  return [linkBase(spec), ...(pieces as Piece[])];
}

/** The node of a parameter's value: the fields on its way, each of which has to be there. */
function alongWay(
  walking: Linking,
  row: Node,
  { parameter, way }: Exclude<Piece, string>,
  from: { readonly type: CelType; readonly follows: number },
  around: Around,
): Node | undefined {
  let [at, type, path] = [row, from.type, walking.textOf(row)];
  let follows = from.follows;
  for (const [index, { field }] of way.entries()) {
    const target: ObjectType | undefined = type.is === 'ref' ? type.target() : type.is === 'object' ? type : undefined;
    const member = target?.members.get(field);
    // A reference is the identifier of its row.
    if (index === 0 && way.length === 1 && type.is === 'ref' && isIdentifier(walking, type.resource, field)) return row;
    path += `.${field}`;
    if (!member) {
      walking.report(row, 'link', `\`{${parameter}}\` is \`${path}\`, which is not stated.`);
      return undefined;
    }
    at = { op: 'field', of: at, name: field, start: row.start, end: row.end };
    const key = pathKey(at, keysAround(around));
    if (member.optional && !(key !== undefined && around.present.has(key)))
      walking.report(
        row,
        'absent',
        `\`${path}\` may be absent here, and the address needs it.`,
        `Write \`has(${path}) ? … : …\`.`,
      );
    if (follows > bounds.followsMax)
      walking.report(row, 'link', `\`{${parameter}}\` is \`${path}\`, which follows more than ${bounds.followsMax} references.`);
    type = member.type;
    if (type.is === 'ref') follows++;
    walking.types.set(at, type);
  }
  return at;
}

function isIdentifier({ spec }: Linking, resource: string, field: string): boolean {
  const identifier = entryOf(spec.resources.all, resource)?.identifier;
  return identifier !== undefined && 'value' in identifier && identifier.value.field === field;
}

/** The endpoints that read a row of a resource by their path, in the order of the document. */
export function readersOf(spec: Spec, resource: string): Endpoint[] {
  return entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    return effect?.verb === 'read' && effect.resource === resource && namesRow(endpoint) ? [endpoint] : [];
  });
}

/** A piece of a path: a text, or the way from the row to the value of a parameter; nothing where none of the row leads to it. */
export type PathPiece = string | { readonly parameter: string; readonly way: readonly WayStep[] | undefined };

/** The path of an endpoint that is about one row, in pieces. */
export function pathPieces(spec: Spec, endpoint: Endpoint): PathPiece[] {
  const ways = pathWays(spec, endpoint, identifierParameter(endpoint));
  // Texts and the names of parameters in turn: `/books/`, `id`, ``.
  const pieces = endpoint.path.replace(/[?#].*$/, '').split(/\{([^{}]+)\}/);
  return pieces.map((piece, index) => (index % 2 === 0 ? piece : { parameter: piece, way: ways.get(piece) }));
}

/** What stands before the paths of a service, seen from outside: its first base address, with the current version where that is in the path. */
function linkBase(spec: Spec): string {
  const [url = ''] = statedValue(spec.purpose.baseUrls) ?? [];
  const base = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  const select = isStated(spec.versioning.select) ? spec.versioning.select.value : undefined;
  const current = currentVersion(spec.versioning);
  return select?.by === 'path' && current !== undefined ? base + versionedPath(select.carrier, current) : base;
}
