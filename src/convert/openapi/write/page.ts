import type { Json, JsonMap } from '../../../document/document.ts';
import { newMap } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { isCut, type Pagination } from '../../../parts/limits.ts';
import { followsKey } from '../own/words.ts';
import { paginationOf } from './following-parameters.ts';
import type { Writing } from './writing.ts';

/** The schema of a list's answer: the stated envelope around its rows, or a bare array. */
export function pageSchema(endpoint: Endpoint, resource: string, writing: Writing): JsonMap {
  const pagination = paginationOf(endpoint, writing.spec.limits.pagination);
  const rows = { type: 'array', items: writing.schemas.resource(resource, 'answer'), ...longest(pagination) };
  if (pagination?.items === undefined) return rows;
  const properties = newMap();
  for (const [name, value] of Object.entries(pagination.data)) properties[name] = { const: value };
  properties[pagination.items] = rows;
  for (const { name, schema } of membersOf(pagination)) properties[name] = schema;
  const page = { type: 'object', properties, required: Object.keys(properties), [followsKey]: true };
  return writing.schemas.defineOnce(`${resource}_list`, page);
}

/** An example of the page. */
export function pageExample(endpoint: Endpoint, resource: string, writing: Writing): Json | undefined {
  const row = writing.examples.ofResource(resource, 'answer');
  if (row === undefined) return undefined;
  const pagination = paginationOf(endpoint, writing.spec.limits.pagination);
  if (pagination?.items === undefined) return [row];
  const page = newMap();
  Object.assign(page, pagination.data);
  page[pagination.items] = [row];
  for (const { name, example } of membersOf(pagination)) page[name] = example;
  return page;
}

function longest(pagination: Pagination | undefined): JsonMap {
  return isCut(pagination) && pagination.max !== undefined ? { maxItems: pagination.max } : {};
}

interface Member {
  readonly name: string;
  readonly schema: JsonMap;
  readonly example: Json;
}

/** What the envelope tells beside the rows. */
function membersOf({ style, isToldInBody, next, previous, hasMore, total }: Pagination): Member[] {
  const step = pageStyle(style).count ? 'integer' : 'string';
  const way = (name: string | undefined, description: string): Member[] =>
    name === undefined || !isToldInBody ? [] : [{ name, schema: { type: [step, 'null'], description }, example: null }];
  return [
    ...way(next, 'What the next page is asked for with; null on the last one.'),
    ...way(previous, 'What the page before is asked for with; null on the first one.'),
    ...(hasMore === undefined
      ? []
      : [{ name: hasMore, schema: { type: 'boolean', description: 'Whether there are more.' }, example: false }]),
    ...(total === undefined
      ? []
      : [{ name: total, schema: { type: 'integer', minimum: 0, description: 'How many there are in all.' }, example: 1 }]),
  ];
}
