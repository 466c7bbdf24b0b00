import { bool, type CelType, dyn, listOf, string, typeName, unify } from './cel-type.ts';
import type { Node, NodeOf } from './node.ts';
import { both } from './presence.ts';
import { type Around, bind, known, type Seen, type Walking } from './walking.ts';

/** What a loop over a list, or over the keys of a map, gives. */
export function typeOfLoop(walking: Walking, node: NodeOf<'loop'>, around: Around): Seen {
  const over = walking.walk(node.over, around).type;
  const item = over.is === 'list' ? over.of : over.is === 'map' || over.is === 'object' ? string : dyn;
  if (!['list', 'map', 'object', 'dyn'].includes(over.is)) {
    walking.report(node.over, 'type', `\`${node.kind}\` goes over a list, not ${typeName(over)}.`);
  }
  let inside = bind(around, node.name, item, node.start);
  if (node.where) {
    const where = walking.walk(node.where, inside);
    walking.wantBool(node.where, where.type);
    inside = { ...inside, present: both(inside.present, where.yes) };
  }
  const body = walking.walk(node.body, inside).type;
  if (node.kind === 'map') return known(listOf(body));
  walking.wantBool(node.body, body);
  return known(node.kind === 'filter' ? listOf(item) : bool);
}

/** The type that several have together; any value where they differ. */
export function typeTogether(walking: Walking, nodes: readonly Node[], around: Around): CelType {
  const types = nodes.map((node) => walking.walk(node, around).type);
  const type = types.reduce<CelType | undefined>((a, b, index) => (index === 0 ? b : a && unify(a, b)), dyn);
  return type === undefined || type.is === 'null' || type.is === 'nullable' ? dyn : type;
}
