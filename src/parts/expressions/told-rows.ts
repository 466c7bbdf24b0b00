import type { Json } from '../../document/document.ts';
import type { EventKind } from '../events.ts';
import { type Expression, statedValue } from '../fact.ts';
import { namesOperation, operationsOf } from '../operations.ts';
import type { Shape } from '../shape.ts';
import { fitsAll } from '../shapes/compose.ts';
import type { Spec } from '../spec.ts';
import type { Node } from './node.ts';
import { parseExpression } from './parse.ts';

/**
 * The stated shape of a kind's payload, with the rows that its `data` puts into it as they are (`{'object': next}`): whoever is told of them sees
 * of them what it sees of any row. Nothing where no payload is stated.
 */
export function toldShape(spec: Spec, kind: EventKind): Shape | undefined {
  const stated = statedValue(kind.payload);
  if (!stated || !kind.data) return stated;
  const rows = rowsIn(kind.data, resourcesOf(spec, kind));
  return rows ? fitsAll<Json>([stated, rows]) : stated;
}

/** The resources whose changes a kind tells of. */
function resourcesOf(spec: Spec, { on, clock }: EventKind): readonly string[] {
  if (clock) return [clock.of];
  const names = statedValue(on) ?? [];
  const told = operationsOf(spec).filter((operation) => namesOperation(names, operation));
  return [...new Set(told.flatMap(({ resource }) => resource ?? []))];
}

function rowsIn(data: NonNullable<EventKind['data']>, resources: readonly string[]): Shape | undefined {
  if ('source' in data && typeof data.source === 'string') return rowsAt(nodeOf(data as Expression), resources);
  return membersOf(Object.entries(data).map(([name, one]) => [name, rowsAt(nodeOf(one as Expression), resources)]));
}

function nodeOf({ source }: Expression): Node | undefined {
  const parsed = parseExpression(source);
  return 'unparsed' in parsed ? undefined : parsed.node;
}

/** The shape of what an expression makes, as far as rows stand in it whole. */
function rowsAt(node: Node | undefined, resources: readonly string[]): Shape | undefined {
  switch (node?.op) {
    case 'name':
      return node.name === 'next' || node.name === 'resource' ? eitherOf(resources.map((resource) => ({ resource }))) : undefined;
    case 'find':
      return { resource: node.resource };
    case 'choose':
      return eitherOf([rowsAt(node.yes, resources), rowsAt(node.no, resources)]);
    case 'list': {
      const items = eitherOf(node.items.map((item) => rowsAt(item, resources)));
      return items && { type: 'array', items };
    }
    case 'map':
      return membersOf(
        node.entries.flatMap(([key, value]) =>
          key.op === 'literal' && typeof key.value === 'string' ? [[key.value, rowsAt(value, resources)]] : [],
        ),
      );
    default:
      return undefined;
  }
}

function eitherOf(shapes: readonly (Shape | undefined)[]): Shape | undefined {
  const known = shapes.filter((shape) => shape !== undefined);
  return known.length < 2 ? known[0] : fitsAll<Json>(known);
}

function membersOf(members: readonly (readonly [string, Shape | undefined])[]): Shape | undefined {
  const known = members.flatMap(([name, shape]): [string, Json][] => (shape ? [[name, shape]] : []));
  return known.length === 0 ? undefined : { type: 'object', properties: Object.fromEntries(known) };
}
