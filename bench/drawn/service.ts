/** A service drawn from a seed: one resource that can be created, read and listed, in a shape that nobody chose. */
import { createHash } from 'node:crypto';
import { type Chance, chanceOf } from './chance.ts';
import { drawFields, type Field, type Json } from './fields.ts';

export interface DrawnService {
  readonly seed: number;
  readonly noun: string;
  readonly path: string;
  readonly fields: readonly Field[];
  /** The template of its identifiers. */
  readonly generate: '{ulid}' | '{uuid}' | `${string}{random:16}`;
  /** What its lists are in the order of; nothing = as they were created. */
  readonly order: { readonly field: string; readonly isDescending: boolean } | undefined;
  /** Whether the rows that are read are there from the start, handed over in a file, or created one by one. */
  readonly fill: 'created' | 'from a file';
  readonly page: { readonly items: string; readonly next: string; readonly size: string; readonly cursor: string };
}

const nouns = ['crate', 'ticket', 'sensor', 'recipe', 'voucher', 'invoice', 'garden', 'vessel'];

export function drawService(seed: number): DrawnService {
  const chance = chanceOf(seed);
  const noun = chance.one(nouns);
  const fields = drawFields(chance);
  return {
    seed,
    noun,
    path: `/${noun}s`,
    fields,
    generate: chance.one(['{ulid}', '{uuid}', `${noun.slice(0, 3)}_{random:16}`] as const),
    order: drawOrder(chance, fields),
    fill: chance.one(['created', 'from a file'] as const),
    page: {
      items: chance.one(['data', 'items', 'results']),
      next: chance.one(['next_cursor', 'next']),
      size: chance.one(['limit', 'size']),
      cursor: chance.one(['cursor', 'after']),
    },
  };
}

function drawOrder(chance: Chance, fields: readonly Field[]): DrawnService['order'] {
  const ordered = fields.filter(({ isOrdered, isRequired }) => isOrdered && isRequired).map(({ name }) => name);
  const field = chance.one([undefined, 'created_at', ...ordered.slice(0, 1)]);
  return field === undefined ? undefined : { field, isDescending: chance.between(0, 1) === 1 };
}

/** What is sent to make the row of a number; every third leaves out what it may. */
export function drawnRow({ fields }: DrawnService, n: number): Record<string, Json> {
  const taken = fields.filter(({ isRequired }) => isRequired || n % 3 > 0);
  return Object.fromEntries(taken.map(({ name, value }) => [name, value(n)]));
}

/** The row of a number as it is stored, with an identifier and a time of its own. */
export function storedRow(service: DrawnService, n: number): Record<string, Json> {
  const created_at = new Date(1_760_000_000_000 + n).toISOString();
  return { id: identifier(service.generate, n), ...drawnRow(service, n), created_at };
}

function identifier(generate: DrawnService['generate'], n: number): string {
  const digest = createHash('sha256').update(String(n)).digest('hex');
  if (generate === '{ulid}') return `01KA${String(n).padStart(22, '0')}`;
  if (generate !== '{uuid}') return generate.replace('{random:16}', digest.slice(0, 16));
  const groups = [digest.slice(0, 8), digest.slice(8, 12), `4${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`];
  return [...groups, digest.slice(20, 32)].join('-');
}

/** The service in nine parts, as JSON text. */
export function drawnDocument({ noun, path, fields, generate, order, page }: DrawnService): string {
  const required = ['id', ...fields.flatMap(({ name, isRequired }) => (isRequired ? [name] : [])), 'created_at'];
  const resource = {
    identifier: { field: 'id', generate },
    fields: {
      id: 'string',
      ...Object.fromEntries(fields.map(({ name, shape }) => [name, shape])),
      created_at: { type: 'string', format: 'date-time', readOnly: true, set: { create: 'now' } },
    },
    required,
  };
  const list = {
    does: `list ${noun}`,
    ...(order && { order: `${order.isDescending ? '-' : ''}${order.field}` }),
  };
  return JSON.stringify({
    title: `Drawn: ${noun}`,
    purpose: {
      purpose: `Keeps each ${noun}.`,
      base_url: 'http://127.0.0.1',
      users: { reader: `Looks at each ${noun} and adds new ones.` },
      functions: { keep: [`create ${noun}`, `read ${noun}`, `list ${noun}`] },
    },
    resources: { [noun]: resource },
    states: { [noun]: 'none' },
    endpoints: {
      [`POST ${path}`]: { does: `create ${noun}` },
      [`GET ${path}/{id}`]: { does: `read ${noun}` },
      [`GET ${path}`]: list,
    },
    authentication: 'none',
    events: 'none',
    errors: {
      payload: 'problem',
      codes: {
        malformed: { status: 400, when: ['request.malformed', 'request.parameter', 'limit.page'] },
        not_found: { status: 404, when: ['resource.missing', 'route.unknown'] },
        method_not_allowed: { status: 405, when: 'method.unsupported' },
        not_acceptable: { status: 406, when: 'request.accept' },
        conflict: { status: 409, when: 'write.conflict' },
        unsupported_media: { status: 415, when: 'request.media' },
        invalid: { status: 422, when: 'request.invalid' },
        broken: { status: 500, when: 'internal' },
        unavailable: { status: 503, when: ['service.unavailable', 'limit.time'] },
      },
    },
    limits: {
      rate: 'none',
      size: 'none',
      timeout: 'none',
      quota: 'none',
      pagination: { style: 'cursor', ...page, default: 20, max: 100, over_max: 'refuse' },
    },
    versioning: 'none',
  });
}
