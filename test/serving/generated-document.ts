import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { anyKind, type Draw, type Kind, pick, scalarKind, type Value, valueResources } from './generated-values.ts';

/** A field as it was generated: what the tests know of it without asking the service. */
export interface GeneratedField {
  readonly name: string;
  readonly kind: Kind;
  readonly required: boolean;
  readonly default?: { readonly value: Json };
  /** Whether the test's caller may send it. */
  readonly isSent: boolean;
  /** Whether the test's caller reads it back as it was sent. */
  readonly isShown: boolean;
  readonly isImmutable: boolean;
  readonly ignoresCase: boolean;
  /** Whether the service writes over what was sent. */
  readonly isSet: boolean;
  /** Whether it is shown in the answer that makes it and never again. */
  readonly isSecret: boolean;
  /** Whether it is checked and never kept. */
  readonly isPassing: boolean;
  readonly ref?: { readonly target: string; readonly onDelete: 'restrict' | 'cascade' | 'clear' };
}

export interface GeneratedResource {
  readonly name: string;
  /** Where it is listed and created. */
  readonly path: string;
  readonly identifier: { readonly isClient: boolean; readonly isInteger: boolean };
  readonly fields: readonly GeneratedField[];
  readonly isOpen: boolean;
  readonly machine?: GeneratedMachine;
  /** Paths under which it is made and listed below another row; the parameter is the field that refers to it. */
  readonly parents: readonly { readonly field: GeneratedField; readonly target: string; readonly path: string }[];
  readonly pages: Pages;
  readonly filters: readonly { readonly field: GeneratedField; readonly parameter: string; readonly op: string }[];
  readonly sorts: readonly GeneratedField[];
  readonly order?: { readonly field: GeneratedField; readonly descending: boolean };
  readonly ifMatch: 'required' | 'accepted' | 'none';
}

export interface GeneratedMachine {
  readonly states: readonly string[];
  readonly transitions: readonly string[];
  /** Where a row is made, or moved by `doubt`, as doubtful: it is there in this state, and who asked is told of an error. */
  readonly doubt?: { readonly made: string; readonly moved: string };
}

/** What says of a row whether it is made, or moved by `doubt`, and refused all the same. */
export const doubtfulField = 'doubtful';
/** The status that is answered then, and nowhere else. */
export const doubtfulStatus = 402;

/** How a list is paged, in the words of the document. */
export interface Pages {
  readonly style: 'cursor' | 'after' | 'offset' | 'page' | 'none';
  readonly max: number;
  readonly told: 'body' | 'link' | 'both';
  readonly isWrapped: boolean;
  readonly stated: JsonMap;
}

export interface Generated {
  readonly document: JsonMap;
  readonly resources: readonly GeneratedResource[];
}

const resourceNames = ['item', 'part', 'crate'];
const fieldNames = [
  'alpha',
  'beta_2',
  'select',
  'constructor',
  'toString',
  'a-b',
  'über',
  'Order',
  'gamma.x',
  'x/y',
  'rev',
  '~0',
];

/** Generates a document of a few resources with everything about them at random. */
export function generateDocument(draw: Draw): Generated {
  const names = resourceNames.slice(0, draw(fc.integer, { min: 1, max: 3 }));
  const resources = names.map((name, index) => generateResource(draw, name, names.slice(0, index + 1)));
  const document: JsonMap = {
    purpose: { purpose: 'Tries.', users: { reader: 'Reads.', writer: 'Writes.' } },
    resources: { ...valueResources, ...Object.fromEntries(resources.map(({ name, stated }) => [name, stated])) },
    states: statesOf(resources),
    endpoints: Object.assign({}, ...resources.map(({ endpoints }) => endpoints)),
    errors: { payload: 'problem', codes: { ...generateCodes(draw), ...doubtfulCodes(resources) } },
  };
  return { document, resources: resources.map(({ known }) => known) };
}

interface Made {
  readonly name: string;
  readonly known: GeneratedResource;
  readonly stated: JsonMap;
  readonly machine: JsonMap | undefined;
  readonly endpoints: JsonMap;
}

function generateResource(draw: Draw, name: string, targets: readonly string[]): Made {
  const generate = pick(draw, ['client', 'uuid', 'uuidv7', 'ulid', 'integer', `${name}_{ulid}`, `{random:8}`]);
  const chosen = fieldNames.filter(() => draw(fc.nat, { max: 2 }) === 0);
  const machine = draw(fc.boolean) ? generateMachine(draw) : undefined;
  const fields = [
    ...chosen.map((field) => generateField(draw, field, targets)),
    ...(machine?.known.doubt ? [{ known: doubtful, stated: { type: 'boolean', required: false } }] : []),
  ];
  const path = `/${name}s`;
  const filtered = fields.filter(
    ({ known }) => known.kind.rank && known.isShown && !known.isSet && /^[a-z]\w*$/i.test(known.name),
  );
  const filters = filtered.flatMap(({ known }) => {
    if (!draw(fc.boolean)) return [];
    const op = pick(draw, known.kind.isOrdered ? ['=', '!=', '<', '<=', '>', '>='] : ['=', '!=']);
    return [{ field: known, parameter: `by_${known.name}`, op }];
  });
  const sorts = filtered.filter(({ known }) => known.kind.isOrdered && draw(fc.boolean)).map(({ known }) => known);
  const ordered = filtered.filter(({ known }) => known.kind.isOrdered && known.isImmutable).map(({ known }) => known);
  const order = ordered[0] && draw(fc.boolean) ? { field: ordered[0], descending: draw(fc.boolean) } : undefined;
  const pages = generatePages(draw);
  const ifMatch = pick<'required' | 'accepted' | 'none'>(draw, ['accepted', 'accepted', 'none', 'required']);
  const parents = fields.flatMap(({ known: field }) => {
    if (!field.ref || !/^[a-z]\w*$/i.test(field.name) || draw(fc.boolean)) return [];
    const { target } = field.ref;
    return [{ field, target, path: `/${target}s/{${field.name}}/${name}s` }];
  });
  const known: GeneratedResource = {
    name,
    path,
    // Two that differ by their parameter alone are one path.
    parents: parents.filter(({ target }, index) => parents.findIndex((other) => other.target === target) === index),
    identifier: { isClient: generate === 'client', isInteger: generate === 'integer' },
    fields: fields.map((field) => field.known),
    isOpen: draw(fc.nat, { max: 4 }) === 0,
    ...(machine && { machine: machine.known }),
    pages,
    filters,
    sorts,
    ...(order && { order }),
    ifMatch,
  };
  // An upsert may find nothing.
  const replace = known.identifier.isClient ? 'has(resource.count) ? resource.count + 1 : 0' : 'resource.count + 1';
  const stated: JsonMap = {
    identifier: { field: 'id', generate },
    fields: {
      id: {
        type: generate === 'integer' ? 'integer' : 'string',
        required: true,
        ...(generate === 'client' && { minLength: 1, maxLength: 20 }),
      },
      ...Object.fromEntries(fields.map(({ known: { name: field }, stated: words }) => [field, words])),
      ...(machine && { status: { type: 'string', readOnly: true, required: true } }),
      count: { type: 'integer', readOnly: true, required: true, set: { create: '0', update: 'resource.count + 1', replace } },
      touched: { type: 'string', format: 'date-time', readOnly: true, required: true, set: { write: 'now' } },
    },
    ...(known.isOpen && { additionalProperties: true }),
    ...uniqueOf(draw, known),
  };
  return { name, known, stated, machine: machine?.stated, endpoints: endpointsOf(draw, known) };
}

function uniqueOf(draw: Draw, { fields }: GeneratedResource): JsonMap {
  const single = fields.filter(({ kind, isSent, isPassing }) => kind.rank && isSent && !isPassing).map(({ name }) => name);
  if (single.length < 1 || draw(fc.nat, { max: 2 }) > 0) return {};
  return { unique: [single.slice(0, draw(fc.integer, { min: 1, max: 2 }))] };
}

function generateField(
  draw: Draw,
  name: string,
  targets: readonly string[],
): { readonly known: GeneratedField; readonly stated: JsonMap } {
  if (draw(fc.nat, { max: 4 }) === 0) return generateReference(draw, name, pick(draw, targets));
  const word = pick(draw, [
    'plain',
    'plain',
    'plain',
    'default',
    'immutable',
    'writeOnly',
    'hidden',
    'shown',
    'unwritable',
    'passing',
    'caseless',
    'secret',
  ]);
  const kind = word === 'secret' ? secretKind : word === 'default' ? scalarKind(draw) : anyKind(draw);
  const isText = kind.shape === 'string';
  const required = word === 'plain' && draw(fc.boolean);
  const value = word === 'default' ? kind.valid(draw) : undefined;
  // A default is written in a document, which is JSON of JavaScript numbers.
  const fallback = word === 'default' && typeof value !== 'bigint' ? { value: value as Json } : undefined;
  const stated: JsonMap = {
    ...shapeMap(kind.shape),
    required,
    ...(fallback && { default: fallback.value }),
    ...(word === 'immutable' && { immutable: true }),
    ...(word === 'writeOnly' && { writeOnly: true }),
    ...(word === 'hidden' && { visible: pick<Json>(draw, ['none', ['writer']]) }),
    ...(word === 'shown' && { visible: ['reader'] }),
    ...(word === 'unwritable' && { writable: ['writer'] }),
    ...(word === 'passing' && { stored: false }),
    ...(word === 'secret' && { readOnly: true, generate: 'sk_{random:12}', reveal: 'once' }),
    ...(word === 'caseless' && isText && { ignore_case: true }),
  };
  const known: GeneratedField = {
    name,
    kind,
    required,
    ...(fallback && { default: fallback }),
    isSent: word !== 'unwritable' && word !== 'secret',
    isShown: !['writeOnly', 'hidden', 'passing', 'unwritable', 'secret'].includes(word),
    isImmutable: word === 'immutable',
    ignoresCase: word === 'caseless' && isText,
    isSet: false,
    isSecret: word === 'secret',
    isPassing: word === 'passing',
  };
  return { known, stated };
}

function generateReference(
  draw: Draw,
  name: string,
  target: string,
): { readonly known: GeneratedField; readonly stated: JsonMap } {
  const onDelete = pick<'restrict' | 'cascade' | 'clear'>(draw, ['restrict', 'cascade', 'clear']);
  const kind: Kind = { shape: { ref: target }, valid: () => undefined, wrong: () => 'nobody' };
  const known = {
    name,
    kind,
    required: false,
    isSent: true,
    isShown: true,
    isImmutable: false,
    ignoresCase: false,
    isSet: false,
    isSecret: false,
    isPassing: false,
    ref: { target, onDelete },
  };
  return { known, stated: { ref: target, onDelete, required: false } };
}

const doubtful: GeneratedField = {
  name: doubtfulField,
  kind: { shape: 'boolean', valid: (draw) => draw(fc.boolean), wrong: () => 'perhaps' },
  required: false,
  isSent: true,
  isShown: true,
  isImmutable: false,
  ignoresCase: false,
  isSet: false,
  isSecret: false,
  isPassing: false,
};

function doubtfulCodes(resources: readonly Made[]): JsonMap {
  if (!resources.some(({ known }) => known.machine?.doubt)) return {};
  return { doubted: { status: doubtfulStatus, message: 'It is there all the same.' } };
}

const secretKind: Kind = { shape: 'string', valid: () => undefined, wrong: () => 1 };

function shapeMap(shape: Json): JsonMap {
  return typeof shape === 'string' ? { type: shape } : (shape as JsonMap);
}

function generateMachine(draw: Draw): { readonly known: GeneratedMachine; readonly stated: JsonMap } {
  const states = ['new', 'busy', 'done', 'gone'].slice(0, draw(fc.integer, { min: 2, max: 4 }));
  const doubt = draw(fc.nat, { max: 2 }) === 0 ? { made: pick(draw, states), moved: pick(draw, states) } : undefined;
  // Every state is reached from the one before it.
  const chain = states.slice(1).map((state, index): [string, Json] => [`to_${state}`, `${states[index]} -> ${state}`]);
  const more: [string, Json][] = draw(fc.boolean)
    ? [
        [
          'turn',
          {
            from: '*',
            to: [{ if: 'has(resource.count) && resource.count > 1', state: pick(draw, states) }, { state: pick(draw, states) }],
          },
        ],
      ]
    : [];
  const refusedWhere = (row: string, state: string): Json => [
    { if: `has(${row}.${doubtfulField}) && ${row}.${doubtfulField}`, state, answer: 'doubted' },
    { state: 'new' },
  ];
  if (doubt) more.push(['doubt', { from: '*', to: refusedWhere('resource', doubt.moved) }]);
  const transitions = Object.fromEntries([...chain, ...more]);
  return {
    known: { states, transitions: Object.keys(transitions), ...(doubt && { doubt }) },
    stated: { field: 'status', initial: doubt ? refusedWhere('next', doubt.made) : 'new', states, transitions },
  };
}

function statesOf(resources: readonly Made[]): Json {
  const machines = resources.flatMap(({ name, machine }): [string, Json][] => (machine ? [[name, machine]] : []));
  const without = resources.flatMap(({ name, machine }): [string, Json][] => (machine ? [] : [[name, 'none']]));
  return machines.length === 0 ? 'none' : Object.fromEntries([...machines, ...without]);
}

function generatePages(draw: Draw): Pages {
  const style = pick<Pages['style']>(draw, ['cursor', 'cursor', 'after', 'offset', 'page', 'none']);
  const max = draw(fc.integer, { min: 1, max: 4 });
  const isWrapped = draw(fc.boolean);
  const told = !isWrapped ? 'link' : pick<Pages['told']>(draw, ['body', 'link', 'both']);
  if (style === 'none') return { style, max: Number.POSITIVE_INFINITY, told: 'body', isWrapped: false, stated: { style } };
  const stated: JsonMap = {
    style,
    [style]: `p_${style}`,
    ...(style === 'after' && { before: 'p_before' }),
    size: 'p_size',
    max,
    default: draw(fc.integer, { min: 1, max }),
    told,
    over_max: pick(draw, ['clamp', 'refuse']),
    ...(isWrapped && {
      items: 'rows',
      next: 'next',
      previous: 'back',
      has_more: 'more',
      total: 'total',
    }),
  };
  return { style, max, told, isWrapped, stated };
}

function endpointsOf(draw: Draw, resource: GeneratedResource): JsonMap {
  const { name, path, filters, sorts, order, machine, ifMatch, pages } = resource;
  const etag = pick(draw, ['strong', 'strong', 'weak']);
  const tagged = { etag: ifMatch === 'none' ? etag : 'strong' };
  const conditional = { ...tagged, if_match: ifMatch };
  const parameters: Record<string, Json> = Object.fromEntries(
    filters.map(({ field, parameter, op }) => [parameter, { in: 'query', filters: field.name, op }]),
  );
  if (sorts.length > 0)
    parameters.sort = { in: 'query', enum: sorts.flatMap((field) => [field.name, `-${field.name}`]), sorts: true };
  const inStates = machine && draw(fc.boolean) ? { in: machine.states.slice(0, -1) } : {};
  return {
    [`POST ${path}`]: { does: `create ${name}`, ...tagged, idempotency: { header: 'Idempotency-Key' } },
    [`GET ${path}`]: {
      does: `list ${name}`,
      pagination: pages.stated,
      ...(Object.keys(parameters).length > 0 && { parameters }),
      ...(order && { order: `${order.descending ? '-' : ''}${order.field.name}` }),
    },
    ...Object.fromEntries(
      resource.parents.flatMap(({ field, path: under }) => [
        [`POST ${under}`, { does: `create ${name}`, as: `create ${name} under ${field.name}`, ...tagged }],
        [`GET ${under}`, { does: `list ${name}`, as: `list ${name} under ${field.name}`, pagination: pages.stated }],
      ]),
    ),
    [`GET ${path}/{id}`]: { does: `read ${name}`, ...tagged },
    [`PATCH ${path}/{id}`]: { does: `update ${name}`, ...conditional, ...inStates },
    [`PUT ${path}/{id}`]: { does: `${resource.identifier.isClient ? 'upsert' : 'replace'} ${name}`, ...conditional },
    [`DELETE ${path}/{id}`]: { does: `delete ${name}`, if_match: ifMatch === 'required' ? 'accepted' : ifMatch },
    ...Object.fromEntries(
      (machine?.transitions ?? []).map((transition) => [
        `POST ${path}/{id}/${transition}`,
        { does: `${transition} ${name}`, ...tagged },
      ]),
    ),
  };
}

const conditionsByCode: Readonly<Record<string, Value>> = {
  malformed: { status: 400, when: 'request.malformed' },
  invalid: { status: 422, when: 'request.invalid' },
  missing: { status: 404, when: ['resource.missing', 'route.unknown'] },
  taken: { status: 409, when: ['resource.exists', 'reference.held'] },
  wrong_state: { status: 409, when: 'transition.illegal' },
  nobody: { status: 422, when: 'reference.missing' },
};

/** Some conditions have codes, others are open; none of it changes what is refused. */
function generateCodes(draw: Draw): JsonMap {
  const codes = Object.entries(conditionsByCode).filter(() => draw(fc.nat, { max: 3 }) > 0);
  return { ...(Object.fromEntries(codes) as JsonMap), others: 'any' };
}
