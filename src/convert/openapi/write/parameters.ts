import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Pagination } from '../../../parts/limits.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import { pathParameters } from '../../../parts/payload.ts';
import type { Shape } from '../../../parts/shape.ts';
import { machineOf } from '../../../parts/states.ts';
import { followsKey, prefix } from '../own/words.ts';
import { componentName } from './names.ts';
import { statedSchema, writeDeprecated } from './stated-schema.ts';
import { present, statedAt, type Writing } from './writing.ts';

/** The parameters of an endpoint: those that are stated, then those that its path, its pages, its headers and its version bring. */
export function parametersOf(endpoint: Endpoint, writing: Writing): JsonMap[] {
  const stated = entriesOf(endpoint.parameters).map(([, parameter]) => statedParameter(parameter, endpoint, writing));
  const known = new Set(stated.map(({ in: place, name }) => `${String(place)} ${String(name).toLowerCase()}`));
  const following = [...pathOnes(endpoint, writing), ...pageOnes(endpoint, writing), ...headerOnes(endpoint, writing)];
  const own = following.filter(({ in: place, name }) => !known.has(`${String(place)} ${String(name).toLowerCase()}`));
  const isPath = ({ in: place }: JsonMap) => place === 'path';
  const all = [...stated, ...own.map((one) => (isPath(one) ? one : shared(one, writing)))];
  // The path's first, in its order, as readers expect them.
  return [...all.filter(isPath), ...all.filter((one) => !isPath(one))];
}

function shared(parameter: JsonMap, { components }: Writing): JsonMap {
  return components.share('parameters', componentName(String(parameter.name)), parameter);
}

function statedParameter(parameter: Parameter, endpoint: Endpoint, writing: Writing): JsonMap {
  const { name } = parameter;
  const stated = statedAt(writing.spec.document.tree, 'endpoints', endpoint.key, 'parameters', name);
  const words: JsonMap = isMap(stated) ? stated : newMap();
  const out = newMap();
  const follows: string[] = [];
  out.name = name;
  out.in = parameter.in;
  if (words.in === undefined) follows.push('in');
  if (parameter.in === 'path' || parameter.required) out.required = true;
  if (words.required === false) out[`${prefix}required`] = false;
  if (typeof words.description === 'string') out.description = words.description;
  if (words.deprecated !== undefined) writeDeprecated(out, words.deprecated);
  for (const [word, type] of [
    ['style', 'string'],
    ['explode', 'boolean'],
  ] as const) {
    const value = words[word];
    if (value !== undefined) out[typeof value === type ? word : `${prefix}${word}`] = value;
  }
  for (const word of ['filters', 'op', 'sorts', 'readOnly'] as const)
    if (words[word] !== undefined) out[`${prefix}${word}`] = words[word];
  const own = isMap(stated) ? parameterSchema(words) : (stated ?? newMap());
  // A lone type says the same in short.
  const schema = isMap(own) && typeof own.type === 'string' && Object.keys(own).length === 1 ? own.type : own;
  const isBare = isMap(schema) && Object.keys(schema).every((word) => word === 'default');
  if (isBare) follows.push('schema');
  out.schema = isBare
    ? { ...writing.schemas.shape(followingShape(parameter, endpoint, writing), 'create'), ...(isMap(schema) ? schema : {}) }
    : statedSchema(schema, writing, 'create');
  if (isBare && isMap(schema) && schema.default !== undefined) out[`${prefix}default`] = schema.default;
  if (follows.length > 0) out[followsKey] = follows;
  return out;
}

const besides: ReadonlySet<string> = new Set(
  'in required description deprecated style explode filters op sorts readOnly'.split(' '),
);

/** What is stated of a parameter's value. */
function parameterSchema(words: JsonMap): JsonMap {
  const schema = newMap();
  for (const [word, value] of Object.entries(words)) if (!besides.has(word)) schema[word] = value;
  return schema;
}

/** The shape that follows where none is stated: of a filter its field's, else a text. */
function followingShape(parameter: Parameter, endpoint: Endpoint, { spec }: Writing): Shape {
  const { filters, op } = parameter;
  if (isStated(parameter.shape)) return parameter.shape.value;
  if (filters === undefined || op === 'prefix' || op === 'contains') return { type: 'string' };
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const resource = entryOf(spec.resources.all, name);
  const field = resource && entryOf(resource.fields, filters);
  const machine = machineOf(spec.states, name);
  const states = machine?.field === filters ? statedValue(machine.states) : undefined;
  const one: Shape = states ? { type: 'string', enum: [...states] } : ((field && statedValue(field.shape)) ?? {});
  return op === 'in' ? { type: 'array', items: one } : one;
}

function following(name: string, place: string, schema: JsonMap, more: Readonly<Record<string, Json | undefined>> = {}): JsonMap {
  return present({ name, in: place, ...more, schema, [followsKey]: true });
}

function pathOnes(endpoint: Endpoint, writing: Writing): JsonMap[] {
  const resource = entryOf(writing.spec.resources.all, resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const identifier = resource && statedValue(resource.identifier);
  return pathParameters(endpoint.path).map((name, index, all) => {
    const isLast = index === all.length - 1;
    const field =
      resource &&
      entryOf(resource.fields, isLast && identifier && entryOf(resource.fields, name) === undefined ? identifier.field : name);
    const shape = (field && statedValue(field.shape)) ?? { type: 'string' };
    const plain: Shape = shape.resource === undefined ? shape : { type: 'string' };
    const isOwn = field !== undefined && field.name === identifier?.field;
    const example =
      isOwn && resource ? writing.examples.identifier(resource.name) : writing.examples.ofShape(plain, 'create', name);
    return following(name, 'path', writing.schemas.shape(plain, 'create'), { required: true, example });
  });
}

/** The parameters that a list's pages bring. */
function pageOnes(endpoint: Endpoint, { spec }: Writing): JsonMap[] {
  const pagination = paginationOf(endpoint, spec.limits.pagination);
  const expand = endpoint.expand;
  const expansion = expand
    ? [
        following(
          expand.parameter,
          'query',
          { type: 'array', items: { type: 'string' } },
          {
            description: `The references to show whole, up to ${expand.depth} deep: names of fields, joined by dots.`,
            explode: false,
            style: 'form',
          },
        ),
      ]
    : [];
  if (!pagination || pagination.style === 'none') return expansion;
  const { style, cursor, after, before, offset, page, size, max, default: usual } = pagination;
  const text = (name: string, description: string) => following(name, 'query', { type: 'string' }, { description });
  const whole = (name: string, least: number, description: string) =>
    following(name, 'query', { type: 'integer', minimum: least, default: least }, { description });
  const steps: readonly (readonly JsonMap[])[] = [
    style === 'cursor' ? [text(cursor ?? 'cursor', 'Where to go on: what the page before gave as the next one.')] : [],
    style === 'after' ? [text(after ?? 'after', 'The identifier after which to go on.')] : [],
    style === 'after' && before !== undefined ? [text(before, 'The identifier before which to go back.')] : [],
    style === 'offset' ? [whole(offset ?? 'offset', 0, 'How many to pass over.')] : [],
    style === 'page' ? [whole(page ?? 'page', 1, 'Which page, counted from 1.')] : [],
  ];
  const bounds = present({
    type: 'integer',
    minimum: 1,
    maximum: pagination.overMax === 'clamp' ? undefined : max,
    default: usual,
  });
  const many = size === undefined ? [] : [following(size, 'query', bounds, { description: sizeText(pagination) })];
  return [...steps.flat(), ...many, ...expansion];
}

function sizeText({ max, overMax }: Pagination): string {
  if (max === undefined) return 'How many at the most.';
  return overMax === 'clamp' ? `How many at the most; more than ${max} count as ${max}.` : `How many at the most, up to ${max}.`;
}

/** How a list is cut into pages: by the endpoint's own words, or the service's. */
export function paginationOf(
  endpoint: Endpoint,
  ofService: Parameters<typeof statedValue<Pagination>>[0],
): Pagination | undefined {
  if (statedValue(endpoint.does)?.verb !== 'list') return undefined;
  return statedValue(endpoint.pagination ?? ofService);
}

/** Idempotency keys, conditions, and the header or query that chooses a version. */
function headerOnes(endpoint: Endpoint, { spec }: Writing): JsonMap[] {
  const { idempotency, ifMatch } = endpoint;
  const conditional = ifMatch === 'required' || ifMatch === 'accepted';
  return [
    ...(idempotency
      ? [
          following(
            idempotency.header,
            'header',
            { type: 'string', minLength: 1, maxLength: 255 },
            {
              required: idempotency.required ? true : undefined,
              description:
                'A key of the caller’s own: a request that is sent again with it is answered as the first one was, and changes nothing more.',
            },
          ),
        ]
      : []),
    ...(conditional
      ? [
          following(
            'If-Match',
            'header',
            { type: 'string' },
            {
              required: ifMatch === 'required' ? true : undefined,
              description: 'The ETag that was read; the change is refused if it is no longer the current one.',
            },
          ),
        ]
      : []),
    ...(endpoint.etag !== undefined && (endpoint.method === 'GET' || endpoint.method === 'HEAD')
      ? [
          following(
            'If-None-Match',
            'header',
            { type: 'string' },
            { description: 'The ETag that is known: where it is still the current one, the answer is 304.' },
          ),
        ]
      : []),
    ...versionOnes(spec),
  ];
}

/** The parameter by which a request chooses its version. */
export function versionOnes(spec: Writing['spec']): JsonMap[] {
  const select = statedValue(spec.versioning.select);
  const versions = entriesOf(spec.versioning.versions).map(([name]) => name);
  if (!select || versions.length === 0 || (select.by !== 'header' && select.by !== 'query')) return [];
  const current = entriesOf(spec.versioning.versions).find(([, version]) => version.current)?.[0];
  const usual = select.default === 'current' ? current : select.default === 'oldest' ? versions[0] : undefined;
  return [
    following(select.carrier, select.by, present({ type: 'string', enum: versions, default: usual }), {
      description: 'The version that the request is made in.',
      required: select.default === 'none' ? true : undefined,
    }),
  ];
}
