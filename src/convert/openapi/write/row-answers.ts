import type { Json, JsonMap } from '../../../document/document.ts';
import { newMap } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import type { Answer } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { isCut, type Pagination } from '../../../parts/limits.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { isOfChosen } from '../../../parts/selecting.ts';
import { fitsAny } from '../../../parts/shapes/branches.ts';
import { followsKey, formKey, orChosenForm } from '../own/words.ts';
import { paginationFor } from './following-parameters.ts';
import { statedSchema } from './stated-schema.ts';
import type { ExportWriting } from './writing.ts';

/** A row, or what its caller chose of it. */
export function orChosen(whole: JsonMap, { select }: Endpoint, resource: string, { schemas }: ExportWriting): JsonMap {
  return select ? fitsAny<Json>([whole, schemas.resource(resource, 'chosen')]) : whole;
}

/** What an answer states, or, where that is the row itself and its caller may choose, what was chosen of it. */
export function statedOrChosen(shape: Json, answer: Answer | undefined, endpoint: Endpoint, writing: ExportWriting): JsonMap {
  const whole = statedSchema(shape, writing, 'answer');
  const resource = resourceOfEffect(statedValue(endpoint.does));
  if (!answer || resource === undefined || !isOfChosen(endpoint, answer)) return whole;
  return { ...orChosen(whole, endpoint, resource, writing), [formKey]: orChosenForm };
}

/** The schema of a list's answer: the stated envelope around its rows, or a bare array. */
export function pageSchema(endpoint: Endpoint, resource: string, writing: ExportWriting): JsonMap {
  const pagination = paginationFor(endpoint, writing.spec.limits.pagination);
  const row = orChosen(writing.schemas.resource(resource, 'answer'), endpoint, resource, writing);
  const rows = { type: 'array', items: row, ...longest(pagination) };
  if (pagination?.items === undefined) return rows;
  const properties = newMap();
  for (const [name, value] of Object.entries(pagination.data)) properties[name] = { const: value };
  properties[pagination.items] = rows;
  for (const { name, schema } of membersOf(pagination)) properties[name] = schema;
  const page = { type: 'object', properties, required: Object.keys(properties), [followsKey]: true };
  return writing.schemas.defineOnce(`${resource}_list`, page);
}

/** An example of the page. */
export function pageExample(endpoint: Endpoint, resource: string, writing: ExportWriting): Json | undefined {
  const row = writing.examples.ofResource(resource, 'answer');
  if (row === undefined) return undefined;
  const pagination = paginationFor(endpoint, writing.spec.limits.pagination);
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
function membersOf({ style, isToldInBody, next, previous, hasMore, total, self }: Pagination): Member[] {
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
    ...(self === undefined
      ? []
      : [{ name: self, schema: { type: 'string', description: 'The path of this list, without its query.' }, example: '/' }]),
  ];
}
