/** Things beside the usual ones that live on what follows, is derived, looked up, taken along, chosen and moved. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import type { GeneratedResource } from '../serving/generated-document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { type Draft, isMap, laid, mapAt, oneIn } from './layers.ts';

/** Adds bits of a row, tags, and names that tags had before; each of them now and then. */
export function laySecondWave(draw: Draw, draft: Draft): Draft {
  const isTagged = oneIn(draw, 2);
  const named = isTagged ? layTags(draw, draft) : draft;
  const tagged = isTagged && oneIn(draw, 2) ? layMarks(draw, named) : named;
  const [resource] = draft.resources;
  const whole = resource && oneIn(draw, 2) ? layBits(draw, tagged, resource, isTagged) : tagged;
  return oneIn(draw, 3) ? layChoices(whole) : whole;
}

/** Marks are made below the tag whose name stands in their path, and found there by how many there were before them. */
function layMarks(draw: Draw, draft: Draft): Draft {
  const mark: JsonMap = {
    identifier: { field: 'id', generate: 'uuid' },
    fields: {
      id: { type: 'string', required: true },
      tag: { ref: 'tag', required: true, immutable: true, onDelete: 'cascade' },
      number: { type: 'integer', readOnly: true, required: true, generate: 'integer', within: 'tag' },
      text: { type: 'string', minLength: 1, maxLength: 40, required: true },
    },
  };
  const under = { '/tagged/{name}': { tag: { name: 'name' } }, '/tagged/{name}/marks/{number}': { mark: { number: 'number' } } };
  const endpoints: JsonMap = {
    under,
    'POST /tagged/{name}/marks': { does: 'create mark' },
    'GET /tagged/{name}/marks': { does: 'list mark', pagination: page },
    'GET /tagged/{name}/marks/{number}': { does: 'read mark', ...(oneIn(draw, 2) && { etag: 'strong' }) },
    'PATCH /tagged/{name}/marks/{number}': { does: 'update mark' },
    'DELETE /tagged/{name}/marks/{number}': { does: 'delete mark' },
    // Where a tag has an address there is one by which it is read.
    ...(!draft.traits.includes('link') &&
      oneIn(draw, 2) && { 'GET /tagged/{name}': { does: 'read tag', as: 'read the tag of marks' } }),
  };
  return laid(draft, { resources: { mark }, endpoints, ...without(draft, ['mark']) }, 'under');
}

/** Resources without a machine are stated to have none, unless nothing has. */
function without({ document }: Draft, names: readonly string[]): JsonMap {
  return document.states === 'none' ? {} : { states: Object.fromEntries(names.map((name) => [name, 'none'])) };
}

const page: Json = { style: 'cursor', cursor: 'from', size: 'many', default: 3, max: 5, items: 'rows', next: 'next' };

/** Tags are found by their names, created once, there from the start, and led to from names that they had. */
function layTags(draw: Draw, draft: Draft): Draft {
  const told = ['tags'];
  const tell = (what: string, change: JsonMap): JsonMap => {
    if (!oneIn(draw, 2)) return {};
    told.push(what);
    return change;
  };
  const isMoved = oneIn(draw, 2);
  const choice = choiceOf(tell);
  const name = { type: 'string', pattern: '^[a-z]{1,12}$', required: true };
  const moved = 'has(find(alias, { old: params.name })) ? find(alias, { old: params.name }).tag : null';
  const tag: JsonMap = {
    identifier: { field: 'id', generate: pick(draw, ['uuid', 'tag_{ulid}']) },
    fields: {
      id: { type: 'string', required: true },
      name,
      ...tell('link', { self: { type: 'string', readOnly: true, required: true, set: { write: 'link(next)' } } }),
      ...tell('null kept', { note: { type: 'string?', maxLength: 9, null: 'kept' } }),
      ...choice.fields,
    },
    unique: [['name']],
    ...choice.one_of,
    ...tell('rows from the start', {
      rows: ['first', 'second'].map((word) => ({ id: `from_the_start_${word}`, name: word, ...choice.row })),
    }),
    ...tell('deleted rows kept', { deleted: { keep: '1d' } }),
  };
  const forms = { consumes: ['application/json', 'application/x-www-form-urlencoded'], empty: 'removes' };
  const endpoints: JsonMap = {
    'POST /tags': { does: 'create tag', ...tell('creations that find', { exists: 200 }) },
    'GET /tags': { does: 'list tag', pagination: page, ...tell('ties newest', { ties: 'newest' }) },
    'GET /tags/{name}': { does: 'read tag', identity: { name: 'name' }, ...(isMoved && { moved }) },
    'PATCH /tags/{name}': { does: 'update tag', identity: { name: 'name' }, ...tell('empty removes', forms) },
    'DELETE /tags/{name}': { does: 'delete tag', identity: { name: 'name' } },
  };
  const next = laid(draft, { resources: { tag }, endpoints, ...without(draft, ['tag']) }, ...told);
  if (!isMoved) return next;
  const alias: JsonMap = {
    identifier: { field: 'id', generate: 'uuid' },
    fields: { id: { type: 'string', required: true }, old: name, tag: { ref: 'tag', required: true, onDelete: 'cascade' } },
    unique: [['old']],
  };
  const codes = { moved_away: { status: 308, when: 'resource.moved' } };
  return laid(
    next,
    {
      resources: { alias },
      endpoints: { 'POST /aliases': { does: 'create alias' }, 'GET /aliases': { does: 'list alias', pagination: page } },
      errors: { codes },
      ...without(draft, ['alias']),
    },
    'moved',
  );
}

/** Now and then two fields of which exactly one is there, what is stated of them, and one of them as a row has it. */
function choiceOf(tell: (what: string, change: JsonMap) => JsonMap) {
  const { either } = tell('one of two', { either: true });
  if (either === undefined) return { fields: {}, one_of: {}, row: {} };
  const fields = {
    hue: { type: 'string', maxLength: 12, required: false },
    shade: { type: 'integer', minimum: 0, maximum: 99, required: false },
  };
  return { fields, one_of: { one_of: [['hue', 'shade']] }, row: { hue: 'red' } };
}

/** Bits belong to a row, which shows and takes them, counts them, and makes one when it is made. */
function layBits(draw: Draw, draft: Draft, { name, path }: GeneratedResource, isTagged: boolean): Draft {
  const told = ['bits'];
  const tell = (what: string, change: JsonMap): JsonMap => {
    if (!oneIn(draw, 2)) return {};
    told.push(what);
    return change;
  };
  const bit: JsonMap = {
    identifier: { field: 'id', generate: 'uuid' },
    fields: {
      id: { type: 'string', required: true },
      of: { ref: name, required: true, immutable: true, onDelete: 'cascade' },
      word: { type: 'string', pattern: '^[a-z]{1,12}$', required: true },
      size: { type: 'integer', minimum: 0, maximum: 50, default: 1, required: true },
      ...tell('counted within', {
        number: { type: 'integer', readOnly: true, required: true, generate: 'integer', within: 'of' },
      }),
    },
    ...tell('rules over fields', {
      rules: { not_so_big: { if: "next.word == 'big' && next.size > 40", field: 'size', message: 'at most 40 of what is big' } },
    }),
  };
  const takers = pick<Json>(draw, [['create', 'replace'], ['create', 'update', 'replace'], undefined as never]);
  const children = {
    children: 'bit.of',
    order: 'size',
    page: 5,
    maxItems: 5,
    ...(takers ? { taken_by: takers } : { readOnly: true }),
  };
  const own: JsonMap = {
    fields: {
      ...tell('derived count', { bit_count: { type: 'integer', required: true, derive: 'count(bit.of)' } }),
      ...tell('derived sum', { bit_sum: { type: 'integer', required: true, derive: 'sum(bit.of, item.size, item.size > 1)' } }),
      ...tell(takers ? 'children taken' : 'children shown', { bits: children }),
    },
    ...tell('then', { created: followedBy({ create: 'bit', set: { of: 'next.id', word: "'first'", size: '2' } }) }),
  };
  const looked = { named_by_a_tag: { status: 409, on: ['create bit'], if: 'has(find(tag, { name: next.word }))' } };
  const codes = isTagged ? tell('looked up', looked) : {};
  const followed = oneIn(draw, 2) ? followedMove(draft, name) : undefined;
  if (followed) told.push('then of a transition');
  const endpoints: JsonMap = {
    'POST /bits': {
      does: 'create bit',
      ...tell('expanded by a member', { expand: { parameter: 'expand', depth: 1, member: 'expand' } }),
    },
    'GET /bits': {
      does: 'list bit',
      pagination: page,
      ...tell('expanded below', { expand: { parameter: 'expand', depth: 1, below: 'rows' } }),
      parameters: {
        of: { in: 'query' },
        ...tell('keeps', { which: { in: 'query', enum: ['all', 'big'], keeps: "value == 'all' || resource.size > 5" } }),
        ...tell('search', { q: { in: 'query', type: 'string', search: ['word'] } }),
        ...tell('split', { sizes: { in: 'query', filters: 'size', split: ',' } }),
        ...tell('sorted by names', { sort: { in: 'query', sorts: { heft: 'size' } }, way: { in: 'query', directs: 'sort' } }),
      },
    },
    'GET /bits/{id}': { does: 'read bit', etag: 'strong' },
    'PATCH /bits/{id}': { does: 'update bit' },
    'DELETE /bits/{id}': { does: 'delete bit' },
    [`GET ${path}/{of}/bits`]: { does: 'list bit', as: `bits of a ${name}`, pagination: page },
  };
  const change = { resources: { bit, [name]: own }, endpoints, ...(Object.keys(codes).length > 0 && { errors: { codes } }) };
  const next = laid(draft, { ...change, ...without(draft, ['bit']) }, ...told);
  return followed ? laid(next, { states: { [name]: { transitions: followed } } }) : next;
}

/** An act that follows, under the word that an object in code had better not have. */
function followedBy(act: JsonMap): JsonMap {
  return Object.fromEntries([['then', act]]);
}

/** The first transition of a machine, with an act that follows from it. */
function followedMove({ document }: Draft, name: string): JsonMap | undefined {
  const moves = Object.entries(mapAt(document, 'states', name, 'transitions'));
  const [word = '', stated] = moves.find(([, one]) => typeof one === 'string') ?? [];
  const [from = '', to = ''] = typeof stated === 'string' ? stated.split(' -> ') : [];
  if (word === '') return undefined;
  return { [word]: { from, to, ...followedBy({ create: 'bit', set: { of: 'next.id', word: "'moved'" } }) } };
}

/** Lets callers choose what they are shown, wherever rows are. */
function layChoices(draft: Draft): Draft {
  const { defaults } = mapAt(draft.document, 'endpoints');
  const all = isMap(defaults) ? mapAt(defaults, 'all') : {};
  return laid(draft, { endpoints: { defaults: { all: { ...all, select: { parameter: 'chosen' } } } } }, 'select');
}

/** Adds the log of what is told, as rows of their own. */
export function layLog(draw: Draw, draft: Draft): Draft {
  const { kinds } = mapAt(draft.document, 'events');
  if (!isMap(kinds) || Object.keys(kinds).length === 0 || !oneIn(draw, 4)) return draft;
  const entry: JsonMap = {
    identifier: { field: 'id', generate: 'evt_{random:24}' },
    fields: {
      id: { type: 'string', required: true },
      kind: { type: 'string', required: true, readOnly: true },
      at: { type: 'string', format: 'date-time', required: true, readOnly: true },
      data: { type: 'object', readOnly: true },
    },
  };
  const log = {
    resource: 'entry',
    keep: pick(draw, ['1h', '30d']),
    set: { kind: 'event.kind', at: 'event.at', data: { object: 'event.payload' } },
  };
  const endpoints = { 'GET /entries': { does: 'list entry', pagination: page }, 'GET /entries/{id}': { does: 'read entry' } };
  return laid(draft, { resources: { entry }, endpoints, events: { log }, ...without(draft, ['entry']) }, 'log');
}
