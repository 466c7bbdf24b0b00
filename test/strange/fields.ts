/** Part 2 of strange documents: fields of every format, and what is said of a field beside its shape. */
import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { knowsCallers, ownerField } from './callers.ts';
import { type Draft, laid, oneIn } from './layers.ts';

const formats = [
  ...[
    'email',
    'idn-email',
    'uri',
    'uri-reference',
    'iri',
    'uuid',
    'ulid',
    'hostname',
    'idn-hostname',
    'ipv4',
    'ipv6',
    'time',
    'duration',
  ],
  ...['date', 'date-time', 'json-pointer', 'regex', 'uri-template', 'decimal', 'currency', 'country', 'phone', 'timezone'],
];

/** Fields by their names; each is drawn whole. */
const catalogue: Readonly<Record<string, (draw: Draw) => JsonMap>> = {
  formed: (draw) => ({ type: 'string', format: pick(draw, formats) }),
  formed_too: (draw) => ({ type: 'string', format: pick(draw, formats), ...(oneIn(draw, 3) && { immutable: true }) }),
  mail: (draw) => ({ type: 'string', format: 'email', ...(oneIn(draw, 2) && { ignore_case: true }) }),
  made_on: () => ({ type: 'integer', format: 'unix-time' }),
  small: () => ({ type: 'integer', format: 'int32', minimum: -5, maximum: 2_000_000 }),
  share: () => ({ type: 'number', exclusiveMinimum: 0, maximum: 1 }),
  step: () => ({ type: 'integer', multipleOf: 5, minimum: 0, maximum: 100 }),
  code: () => ({ type: 'string', pattern: '^[A-Z]{2}-[0-9]{4}$' }),
  sort: (draw) => ({
    enum: ['plain', 'fancy', 'odd'],
    ...(oneIn(draw, 2) && { extensible: true }),
    ...(oneIn(draw, 2) && { default: 'odd' }),
  }),
  grade: (draw) => ({ enum: [1, 2, 3], ...(oneIn(draw, 3) && { immutable: true }) }),
  tags: (draw) => ({
    type: 'array',
    items: { enum: ['a', 'b', 'c'] },
    maxItems: 3,
    ...(oneIn(draw, 2) && { uniqueItems: true }),
    ...(oneIn(draw, 2) && { default: [] }),
  }),
  places: () => ({ type: 'array', items: 'point', minItems: 1, maxItems: 2 }),
  counts: () => ({ type: 'object', additionalProperties: { type: 'integer', minimum: 0 } }),
  inner: () => ({
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 10 },
      deep: { type: 'object', properties: { at: { type: 'string', format: 'date' } } },
    },
    required: ['name'],
    additionalProperties: false,
  }),
  remark: (draw) => ({ type: 'string?', maxLength: 30, ...(oneIn(draw, 3) && { default: null }) }),
  serial: (draw) => ({
    type: 'string',
    readOnly: true,
    generate: pick(draw, ['{ulid}', '{uuid}', 's-{random:8}', '{base64:32}']),
    required: true,
  }),
  made_at: () => ({ type: 'string', format: 'date-time', readOnly: true, required: true, set: { create: 'now' } }),
  changed_at: () => ({ type: 'string', format: 'date-time', readOnly: true, set: { update: 'now' } }),
  sealed: (draw) => ({ type: 'string', maxLength: 12, writeOnly: true, ...(oneIn(draw, 2) && { minLength: 4 }) }),
  old: () => ({ type: 'integer', deprecated: { deprecated: '2026-01-01', link: 'https://strange.example/old' } }),
  flag: (draw) => ({ type: 'boolean', ...(oneIn(draw, 2) && { default: pick(draw, [true, false]) }) }),
};

/** Adds a few to each resource, and whose a row is. */
export function layFields(draw: Draw, draft: Draft): Draft {
  const names = Object.keys(catalogue);
  const told = new Set<string>();
  const added = draft.resources.map(({ name }): [string, Json] => {
    const chosen = draw(fc.subarray<string>, names, { maxLength: 4 });
    const fields = chosen.map((field): [string, Json] => {
      const stated = catalogue[field]!(draw);
      const canBeAbsent = stated.readOnly !== true && !('default' in stated) && stated.writeOnly !== true;
      return [field, { required: canBeAbsent && oneIn(draw, 3), ...stated }];
    });
    for (const field of chosen) told.add(`field ${field}`);
    const owner = knowsCallers(draft.document) && oneIn(draw, 2) ? ownerOf(draw) : undefined;
    if (owner) told.add('visible' in owner ? 'owner hidden' : 'owner shown');
    return [name, { fields: { ...Object.fromEntries(fields), ...(owner && { [ownerField]: owner }) } }];
  });
  return laid(draft, { resources: Object.fromEntries(added) }, ...told);
}

function ownerOf(draw: Draw): JsonMap {
  const isHidden = draw(fc.boolean);
  return { type: 'string', readOnly: true, required: true, set: { create: 'caller.id' }, ...(isHidden && { visible: 'none' }) };
}
