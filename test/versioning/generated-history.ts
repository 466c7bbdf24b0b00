import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { entriesOf, entryOf, statedValue } from '../../src/parts/fact.ts';
import { isPlainMap } from '../../src/parts/source.ts';
import type { Spec } from '../../src/parts/spec.ts';

/** A document whose versions were made by undoing changes from its newest shape, each of them sound where it stands. */
export interface GeneratedHistory {
  readonly text: string;
  readonly versions: readonly string[];
  /** What removed fields read as, by name. */
  readonly constants: ReadonlyMap<string, Json>;
}

type Shape = { [word: string]: Json };
type Resource = { fields: Map<string, Shape>; required: Set<string> };

const kinds = ['rename', 'add', 'remove', 'map', 'enum'] as const;
const step = fc.record({
  kind: fc.constantFrom(...kinds),
  pick: fc.nat(100),
  on: fc.constantFrom('thing', 'part'),
  endsVersion: fc.boolean(),
});

/** Histories over one resource with a nested value in it, a list of it and a map; up to twelve changes over up to seven versions. */
export const generatedHistory: fc.Arbitrary<GeneratedHistory> = fc.array(step, { minLength: 1, maxLength: 12 }).map(build);

function newest(): Record<'thing' | 'part', Resource> {
  const thing = new Map<string, Shape>([
    ['id', { type: 'string' }],
    ['count', { type: 'integer', minimum: 0, maximum: 1000 }],
    ['cents', { type: 'integer', minimum: -500, maximum: 500 }],
    ['kind', { enum: ['red', 'green', 'blue'] }],
    ['words', { type: 'array', items: { type: 'string' } }],
    ['part', { type: 'part' }],
    ['parts', { type: 'array', items: { type: 'part' } }],
    ['byName', { type: 'object', additionalProperties: { type: 'part' } }],
    ['flag', { type: 'boolean' }],
    ['text', { type: 'string', maxLength: 10 }],
  ]);
  const part = new Map<string, Shape>([
    ['size', { type: 'integer', minimum: 0, maximum: 99 }],
    ['colour', { enum: ['black', 'white'] }],
    ['label', { type: 'string' }],
  ]);
  return {
    thing: { fields: thing, required: new Set(['id', 'count', 'kind', 'part']) },
    part: { fields: part, required: new Set(['size', 'colour']) },
  };
}

function build(
  steps: readonly { kind: (typeof kinds)[number]; pick: number; on: 'thing' | 'part'; endsVersion: boolean }[],
): GeneratedHistory {
  const first = newest();
  const resources = newest();
  // The newest last: what is undone first stands last in its version.
  const versions: { changes: JsonMap[] }[] = [{ changes: [] }];
  const constants = new Map<string, Json>();
  let fresh = 0;
  for (const { kind, pick, on, endsVersion } of steps) {
    const resource = resources[on];
    const change = undo(on, resource, kind, pick, () => `f${fresh++}`, constants);
    if (change) versions.at(-1)?.changes.unshift(change);
    if (endsVersion && versions.length < 7) versions.push({ changes: [] });
  }
  const listed = versions.reverse();
  const names = ['v0', ...listed.map((_, index) => `v${index + 1}`)];
  const written = (resource: Resource, identifier: Json): JsonMap => ({
    identifier,
    fields: Object.fromEntries(resource.fields),
    required: [...resource.required],
  });
  const document: JsonMap = {
    title: 'Things',
    purpose: { purpose: 'Keeps things.', base_url: '/', users: { maker: 'Makes them.' }, functions: { make: ['all thing'] } },
    resources: { thing: written(first.thing, { field: 'id', generate: 'ulid' }), part: written(first.part, { $none: true }) },
    states: { thing: { $none: true } },
    endpoints: {
      'POST /things': { does: 'create thing' },
      'GET /things/{id}': { does: 'read thing' },
      'PUT /things/{id}': { does: 'replace thing' },
    },
    authentication: { $none: true },
    events: { $none: true },
    versioning: {
      versions: Object.fromEntries(names.map((name, index) => [name, index === names.length - 1 ? { current: true } : {}])),
      select: { header: 'Version', default: 'current' },
      guarantee: 'nothing',
      changes: Object.fromEntries([['v0', { $none: true }], ...listed.map(({ changes }, index) => [`v${index + 1}`, changes])]),
    },
  };
  return { text: JSON.stringify(document, undefined, 1), versions: names, constants };
}

/** Undoes one change and writes down what it was; nothing where there is nothing that it could have changed. */
function undo(
  on: string,
  resource: Resource,
  kind: (typeof kinds)[number],
  pick: number,
  fresh: () => string,
  constants: Map<string, Json>,
): JsonMap | undefined {
  const { fields, required } = resource;
  const names = [...fields.keys()].filter((name) => name !== 'id');
  const name = names[pick % Math.max(names.length, 1)];
  if (name === undefined) return undefined;
  const shape = fields.get(name) as Shape;
  if (kind === 'rename') {
    const older = fresh();
    resource.fields = new Map([...fields].map(([key, value]) => [key === name ? older : key, value]));
    if (required.delete(name)) required.add(older);
    const constant = constants.get(name);
    if (constant !== undefined) constants.set(older, constant);
    return { rename: `${on}.${older}`, to: name };
  }
  if (kind === 'add') {
    if (names.length < 2 || (required.has(name) && defaultOf(shape) === undefined)) return undefined;
    fields.delete(name);
    const usual = required.delete(name) ? defaultOf(shape) : undefined;
    return { add: `${on}.${name}`, ...(usual !== undefined && { default: usual }) };
  }
  if (kind === 'remove') {
    const older = fresh();
    fields.set(older, { type: 'string' });
    constants.set(older, `was ${older}`);
    return { remove: `${on}.${older}`, was: { type: 'string' }, down: `'was ${older}'` };
  }
  if (kind === 'map') return undoMap(on, fields, names, pick);
  const listed = kind === 'enum' ? [...fields].find(([, { enum: values }]) => Array.isArray(values)) : undefined;
  if (!listed) return undefined;
  const [field, { enum: values }] = listed;
  const value = (values as string[])[pick % (values as string[]).length] as string;
  const older = fresh();
  fields.set(field, { enum: (values as string[]).map((word) => (word === value ? older : word)) });
  return { enum: `${on}.${field}`, values: { [older]: value } };
}

/** Whole numbers become exact fractions, or texts; truth becomes a word. */
function undoMap(on: string, fields: Map<string, Shape>, names: readonly string[], pick: number): JsonMap | undefined {
  const mapped = names.filter((name) => {
    const { type, odd } = fields.get(name) as Shape;
    return type === 'boolean' || (type === 'integer' && odd !== true);
  });
  const name = mapped[pick % Math.max(mapped.length, 1)];
  if (name === undefined) return undefined;
  const field = `${on}.${name}`;
  const { type, minimum = 0, maximum = 0 } = fields.get(name) as { type: string; minimum?: number; maximum?: number };
  if (type === 'boolean') {
    fields.set(name, { enum: ['yes', 'no'] });
    return { map: field, was: { enum: ['yes', 'no'] }, down: "value ? 'yes' : 'no'", up: "value == 'yes'" };
  }
  if (pick % 2 === 0) {
    const was = { type: 'integer', minimum: minimum * 2 + 1, maximum: maximum * 2 + 1, multipleOf: 1, not: { multipleOf: 2 } };
    fields.set(name, { type: 'integer', minimum: minimum * 2 + 1, maximum: maximum * 2 + 1, odd: true });
    return { map: field, was: { ...was }, down: 'value * 2 + 1', up: '(value - 1) / 2', monotone: true };
  }
  fields.set(name, { type: 'string', pattern: '^-?[0-9]{1,6}$' });
  return { map: field, was: { type: 'string', pattern: '^-?[0-9]{1,6}$' }, down: 'string(value)', up: 'int(value)' };
}

function defaultOf(shape: Shape): Json | undefined {
  if (Array.isArray(shape.enum)) return shape.enum[0];
  if (shape.type === 'integer') return shape.odd === true ? undefined : (shape.minimum as number);
  if (shape.type === 'string') return shape.pattern === undefined ? '' : undefined;
  return shape.type === 'boolean' ? false : undefined;
}

/** A value of a resource in a version, drawn by the chance that is given: every required field, others now and then. */
export function valueIn(
  spec: Spec,
  name: string,
  chance: Iterator<number>,
  constants: ReadonlyMap<string, Json>,
): Record<string, Json> {
  const draw = () => Number(chance.next().value ?? 0);
  const resource = entryOf(spec.resources.all, name);
  const out: Record<string, Json> = {};
  for (const [field, stated] of resource ? entriesOf(resource.fields) : []) {
    const constant = constants.get(field);
    if (constant !== undefined) out[field] = constant;
    else if (statedValue(stated.required) === true || draw() < 0.6)
      out[field] = drawnValue(spec, statedValue(stated.shape) ?? {}, chance, constants, draw);
  }
  return out;
}

function drawnValue(
  spec: Spec,
  shape: JsonMap,
  chance: Iterator<number>,
  constants: ReadonlyMap<string, Json>,
  draw: () => number,
): Json {
  const inner = (word: Json | undefined) => drawnValue(spec, isPlainMap(word) ? word : {}, chance, constants, draw);
  if (typeof shape.resource === 'string') return valueIn(spec, shape.resource, chance, constants);
  if (Array.isArray(shape.enum)) return shape.enum[Math.floor(draw() * shape.enum.length)] as Json;
  if (typeof shape.pattern === 'string') return String(Math.floor(draw() * 90));
  if (shape.type === 'integer') {
    const { minimum = 0, maximum = 0 } = shape as { minimum?: number; maximum?: number };
    const isOdd = shape.not !== undefined;
    const count = isOdd ? (maximum - minimum) / 2 : maximum - minimum;
    return minimum + Math.floor(draw() * (count + 1)) * (isOdd ? 2 : 1);
  }
  if (shape.type === 'boolean') return draw() < 0.5;
  if (shape.type === 'array') return Array.from({ length: Math.floor(draw() * 3) }, () => inner(shape.items));
  if (shape.type === 'object')
    return Object.fromEntries(
      ['a', '__proto', 'c'].slice(0, Math.floor(draw() * 3)).map((key) => [key, inner(shape.additionalProperties)]),
    );
  return 'x'.repeat(Math.floor(draw() * 6));
}
