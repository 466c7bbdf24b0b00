import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { inOnePiece, pageStyles } from '../../../kinds/pages/all.ts';
import type { PageStyle } from '../../../kinds/pages/kind.ts';
import type { Operation } from '../operation.ts';
import {
  type Context,
  endpointOf,
  extendAnswer,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { pageStyleOf } from './page-parameters.ts';
import { partsOf } from './paths.ts';
import { type ListOf, listIn } from './rows.ts';

/** `{ data, has_more }`, `{ items, next_cursor }`, `{ entries, total_count, offset }`, a bare list: what stands around the rows. */
export const listEnvelope: InferenceRule = {
  name: 'list-envelope',
  says: 'The one list of things in the answer of a list holds its rows; words beside it tell of the next page, of more and of all.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      if (typeof endpoint.does !== 'string' || !endpoint.does.startsWith('list ')) continue;
      const status = successOf(endpoint);
      const list = listIn(context.written, shapeOfAnswer(endpoint, status), partsOf(operation.path).segments.at(-1));
      if (status === undefined || list === undefined) continue;
      writePagination(context, operation, status, list);
    }
  },
};

function writePagination(context: Context, operation: Operation, status: string, list: ListOf): void {
  const endpoint = endpointOf(context, operation);
  const properties = list.property === undefined ? undefined : context.written.propertiesOf(shapeOfAnswer(endpoint, status));
  const words = properties === undefined ? newMap() : envelopeWords(Object.keys(properties.all), list.property ?? '');
  const style = pageStyleOf(context, operation, words.next !== undefined);
  // A list in one piece has neither a next page nor one before it.
  const { next: _next, previous: _previous, has_more: _more, ...around } = words;
  const { tells } = pageStyles.find(({ word }) => word === style.style) ?? inOnePiece;
  endpoint.pagination = { ...style, ...(tells === 'nothing' ? around : words) };
  const at = placeOfEndpoint(operation);
  const from = context.trail.origin(below(below(below(at, 'response'), status), 'shape')) ?? operation.map.at;
  context.trail.infer(below(at, 'pagination'), listEnvelope.name, from, tells === 'nothing' ? 0.5 : 0.9);
  if (properties === undefined) return;
  const data = dataOf(context, properties.all, properties.required, words, tells);
  if (data === undefined) return;
  extendAnswer(context, operation, status, { data });
  context.trail.infer(below(below(below(at, 'response'), status), 'data'), listEnvelope.name, from, 0.8);
}

/** The words of pagination that the names of an envelope's fields stand for. */
function envelopeWords(names: readonly string[], items: string): OpenMap {
  const words: OpenMap = newMap();
  words.items = items;
  for (const [word, known] of envelope) {
    const name = names.find((one) => known.has(plain(one)));
    if (name !== undefined) words[word] = name;
  }
  return words;
}

const envelope: readonly (readonly [string, ReadonlySet<string>])[] = [
  [
    'next',
    new Set(['nextcursor', 'nextmarker', 'nextpagetoken', 'nexttoken', 'iterator', 'endcursor', 'nextpage', 'next', 'nexturl']),
  ],
  [
    'previous',
    new Set([
      'previouscursor',
      'prevcursor',
      'previousmarker',
      'previous',
      'prev',
      'previousurl',
      'prevpage',
      'previterator',
      'previouspage',
    ]),
  ],
  ['has_more', new Set(['hasmore', 'hasnext', 'hasnextpage'])],
  ['total', new Set(['total', 'totalcount', 'totalresults', 'totalitems', 'totalentries'])],
];

function plain(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}

/** What makes each field of the envelope; nothing where a field that answers must carry cannot be made. */
function dataOf(
  context: Context,
  all: Readonly<Record<string, Json>>,
  required: readonly string[],
  words: OpenMap,
  tells: PageStyle['tells'],
): OpenMap | undefined {
  const data: OpenMap = newMap();
  for (const [name, shape] of Object.entries(all)) {
    const expression = expressionOf(context, name, shape, words, tells);
    if (expression !== undefined) data[name] = expression;
    else if (required.includes(name)) return undefined;
  }
  return data;
}

function expressionOf(
  context: Context,
  name: string,
  shape: Json,
  words: OpenMap,
  tells: PageStyle['tells'],
): string | undefined {
  const { written } = context;
  const type = written.typeOf(shape);
  if (name === words.items) return 'items';
  if (name === words.has_more && type === 'boolean') return 'has_more';
  if (name === words.total && (type === 'integer' || type === 'number')) return type === 'integer' ? 'total' : 'double(total)';
  if (name === words.next || name === words.previous) return linkOf(name === words.next, plain(name), type, tells);
  const constant = written.constantOf(shape);
  if (constant !== undefined) return celOf(constant.value);
  if (name === 'done' && type === 'boolean' && words.next !== undefined) return '!has_more';
  if (plain(name) === 'count' && type === 'integer') return 'size(items)';
  if ((name === 'url' || name === 'uri') && type === 'string') return 'path';
  if (name === 'object' && type === 'string') return "'list'";
  const inner = written.propertiesOf(shape)?.all;
  const [key, only] = inner === undefined ? [] : (Object.entries(inner)[0] ?? []);
  if (key !== undefined && only !== undefined && /next_?cursor/i.test(key) && tells === 'token') {
    return `has_more ? {'${key}': next_cursor} : {'${key}': ''}`;
  }
  return undefined;
}

/** A cursor as it is; a whole address is made of the path and the cursor. */
function linkOf(isNext: boolean, name: string, type: string | undefined, tells: PageStyle['tells']): string | undefined {
  if (!isNext || type !== 'string' || (tells !== 'token' && tells !== 'identifier')) return undefined;
  return name.endsWith('url') ? undefined : 'next_cursor';
}

/** A value as CEL writes it. */
export function celOf(value: Json): string | undefined {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : undefined;
}
