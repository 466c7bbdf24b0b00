import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import {
  collectionAt,
  endpointOf,
  type InferenceContext,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { infer } from './effects.ts';
import { isAlike } from './memberships.ts';
import { pathParts } from './paths.ts';
import { fieldAlike, fieldWithin } from './renamed-members.ts';
import { documentFields, listIn } from './rows.ts';
import { wordsOf } from './shapes.ts';

/** `?state=all` beside tickets that are open or closed: what is called like a field is not always what its rows are compared with. */
export const filtersByField: InferenceRule = {
  name: 'filters-by-field',
  says: 'A parameter of a list that is called like a field, but for case, filters by it where their types are the same, by any of its items where it is a list, and by a part where it says so; `account_id`, of which no field is called, by the `id` in the map `account`; where it takes what no row has, or says that it searches, or that fields are included, it filters by none. One whose default is the empty text has no default: nothing is asked for then.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (effect?.verb !== 'list' || !isMap(endpoint.parameters)) continue;
      const fields = documentFields(context.resources, effect.resource);
      for (const [name, parameter] of Object.entries(endpoint.parameters)) {
        if (!isMap(parameter) || parameter.in !== 'query') continue;
        const field = fields[name];
        const narrows =
          field !== undefined
            ? say(context, operation, name, parameter, field)
            : sayAlike(context, operation, name, parameter, fields);
        if (!narrows || parameter.default !== '') continue;
        delete made(parameter).default;
        context.trail.infer(
          below(below(placeOfEndpoint(operation), 'parameters'), name),
          filtersByField.name,
          operation.map.at,
          0.7,
        );
      }
    }
  },
};

/** Says how a parameter narrows a list by the field of its name, and whether it does. */
function say(
  context: InferenceContext,
  operation: SourceOperation,
  name: string,
  parameter: Readonly<Record<string, Json>>,
  field: Json,
): boolean {
  const shape = parameter.shape ?? parameter;
  const part = partOf(context, shape, field);
  const words = isAnyOf(context, shape, field)
    ? { op: 'in' }
    : part !== undefined
      ? { op: part }
      : isEqual(context, shape, field)
        ? undefined
        : { filters: 'none' };
  if (words === undefined) return true;
  Object.assign(made(parameter), words);
  const at = below(below(below(placeOfEndpoint(operation), 'parameters'), name), Object.keys(words)[0] ?? '');
  context.trail.infer(at, filtersByField.name, operation.map.at, 0.7);
  return words.filters === undefined;
}

/** `?FriendlyName=` beside `friendly_name`: where it is called so but for case, and is compared as that field can be. */
function sayAlike(
  context: InferenceContext,
  operation: SourceOperation,
  name: string,
  parameter: Readonly<Record<string, Json>>,
  fields: Readonly<Record<string, Json>>,
): boolean {
  // `DateSent<` is called like the field too, and is not what that is equal to.
  const plain = name.replace(/\[\]$/, '');
  const own = /^[\w-]+$/.test(name) ? fieldAlike(name, Object.keys(fields)) : undefined;
  const within = own === undefined && /^[\w-]+$/.test(plain) ? fieldWithin(context, plain, fields) : undefined;
  const alike = own ?? (within && `${within.field}.${within.name}`);
  const field = own === undefined ? within?.shape : fields[own];
  const shape = parameter.shape ?? parameter;
  if (alike === undefined || field === undefined) return false;
  const isOneOf = isAnyOf(context, shape, field);
  if (!isOneOf && !isEqual(context, shape, field)) return false;
  Object.assign(made(parameter), { filters: alike, ...(isOneOf && { op: 'in' }) });
  const at = below(below(below(placeOfEndpoint(operation), 'parameters'), name), 'filters');
  context.trail.infer(at, filtersByField.name, operation.map.at, 0.7);
  return true;
}

/** How a part of a text is compared, where the parameter says that it is one. */
function partOf({ written }: InferenceContext, shape: Json, field: Json): 'contains' | 'prefix' | undefined {
  const { description } = written.expand(shape);
  const isText = written.typeOf(shape) === 'string' && written.typeOf(field) === 'string';
  if (!isText || typeof description !== 'string' || wordsOf(written.expand(field).enum).length > 0) return undefined;
  if (/\b(?:prefix|(?:start|begin)(?:s|ing)? with)\b/i.test(description)) return 'prefix';
  return /\b(?:contain|partial|substring)/i.test(description) ? 'contains' : undefined;
}

/** Several values, of which a row has one. */
function isAnyOf({ written }: InferenceContext, shape: Json, field: Json): boolean {
  const items = written.itemsOf(shape);
  return items !== undefined && written.typeOf(items) !== undefined && written.typeOf(items) === written.typeOf(field);
}

/** One value, which a row may have. */
function isEqual({ written }: InferenceContext, shape: Json, field: Json): boolean {
  const { enum: taken, description } = written.expand(shape);
  const { enum: held } = written.expand(field);
  if (typeof description === 'string' && /\b(?:search|contain|partial|prefix|substring|fuzzy|sort|order)/i.test(description))
    return false;
  // `dnssec`: "whether to include the dnssec fields in the zones".
  if (written.typeOf(shape) === 'boolean' && /\binclud(?:e|es|ed|ing)\b[^.]{0,60}\bfields?\b/i.test(String(description ?? '')))
    return false;
  const words = wordsOf(taken);
  const known = wordsOf(held);
  if (words.some((word) => (known.length > 0 ? !known.includes(word) : everything.has(word.toLowerCase())))) return false;
  const [one, other] = [written.typeOf(shape), written.typeOf(field)];
  return one === undefined || other === undefined || one === other || (one === 'integer' && other === 'number');
}

/** Words that ask for every row. */
const everything: ReadonlySet<string> = new Set(['all', 'any', 'both', 'none', '*']);

/** `POST /customers/search`, which answers with a list of customers: what the body or the query says narrows it. */
export const searchLists: InferenceRule = {
  name: 'search-lists',
  says: 'POST or GET on a path that ends in a word for searching below that of a collection, and that answers with a list of its things, lists them.',
  infer(context) {
    for (const operation of context.operations) {
      const { segments, parent } = pathParts(operation.path);
      const isSearch = (operation.method === 'POST' || operation.method === 'GET') && searching.test(segments.at(-1) ?? '');
      const collection = isSearch ? collectionAt(context, parent) : undefined;
      if (!collection) continue;
      const endpoint = endpointOf(context, operation);
      const list = listIn(context.written, shapeOfAnswer(endpoint, successOf(endpoint)), pathParts(parent).segments.at(-1));
      if (list && isAlike(context, list.items, collection.resource))
        infer(context, operation, 'list', collection.resource, searchLists.name, 0.6);
    }
  },
};

const searching = /^(?:search|query|find|filter)$/i;
