import type { Json, Pointer } from '../document/document.ts';
import type { Named } from './fact.ts';
import { type Order, readSortWord } from './parameters.ts';
import type { Shape } from './shape.ts';
import { isPlainMap, named, type Source } from './source.ts';

/** The rows that refer to a row, as a field of it. */
export interface Children {
  readonly at: Pointer;
  /** The resource that they are of, and the field of it that refers to the row. */
  readonly resource: string;
  readonly field: string;
  readonly order: readonly Order[];
  /** How many are shown at most. */
  readonly page: number;
  /** How many may be sent with the row, and how many have to be. */
  readonly least: number;
  readonly most: number;
  /** The changes of the row that take them with it. */
  readonly takenBy: readonly ChildrenTaker[];
  /** What stands around them; absent = they are a bare list. */
  readonly envelope?: ChildrenEnvelope;
}

/** The changes of a row that may take its children with it. */
export const childrenTakers = ['create', 'update', 'replace'] as const;
export type ChildrenTaker = (typeof childrenTakers)[number];

/** The names of the members around a list of children, and constants beside them. */
export interface ChildrenEnvelope {
  readonly items: string;
  readonly hasMore?: string;
  readonly data: Named<Json>;
}

/** How many children are shown where nothing is said, and how many may be shown or sent at most. */
export const childrenBounds = { page: 100, most: 1000 } as const;

/** Reads `children: line.invoice`, and what stands beside it; `shape` is what is stated of the field besides. */
export function readChildren(words: Source, shape: Shape): Children | undefined {
  if (!words.has('children')) return undefined;
  const source = words.get('children');
  const [resource = '', field = '', ...more] = (source.text() ?? '').trim().split('.');
  const envelope = words.has('envelope') ? readChildrenEnvelope(words.get('envelope')) : undefined;
  const takers = words.get('taken_by').listed();
  return {
    at: source.at,
    resource,
    field: more.length > 0 ? '' : field,
    order: words
      .get('order')
      .listed()
      .flatMap((item) => item.text() ?? [])
      .map(readSortWord),
    page: words.get('page').number() ?? childrenBounds.page,
    least: countOf(shape.minItems) ?? 0,
    most: Math.min(countOf(shape.maxItems) ?? childrenBounds.most, childrenBounds.most),
    takenBy: words.has('taken_by') ? childrenTakers.filter((taker) => takers.some((item) => item.text() === taker)) : ['create'],
    ...(envelope && { envelope }),
  };
}

function readChildrenEnvelope(source: Source): ChildrenEnvelope | undefined {
  const items = source.get('items').text();
  if (items === undefined) return undefined;
  const hasMore = source.get('has_more').text();
  const data = source.get('data').value;
  return { items, ...(hasMore !== undefined && { hasMore }), data: named(isPlainMap(data) ? Object.entries(data) : []) };
}

function countOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** What a field with children is in answers: a list of them, or what stands around it. How many there have to be is of creations alone. */
export function childrenShape({ resource, page, envelope }: Children, stated: Shape): Shape {
  const { minItems: _least, maxItems: _most, ...rest } = stated;
  const list: Shape = { type: 'array', items: { resource }, maxItems: page };
  if (!envelope) return { ...rest, ...list };
  const { items, hasMore, data } = envelope;
  const properties: Record<string, Json> = Object.create(null);
  for (const [name, value] of Object.entries(data)) properties[name] = { const: value };
  properties[items] = list;
  if (hasMore !== undefined) properties[hasMore] = { type: 'boolean' };
  return { ...rest, type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
