import { entryOf } from '../fact.ts';
import { linkBase, type PathPiece, pathPieces, readersOf } from '../row-address.ts';
import type { Spec } from '../spec.ts';
import { type CelType, type ObjectType, string, typeName } from './cel-type.ts';
import { bounds } from './frame.ts';
import type { Node, NodeOf } from './node.ts';
import { pathKey } from './presence.ts';
import type { Scope } from './scope.ts';
import { type Around, keysAround, known, type Typed, type TypeWalk } from './type-walk.ts';

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
