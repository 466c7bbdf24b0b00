import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import { parametersOf } from '../../../kinds/pages/kind.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { isCut, type Pagination } from '../../../parts/limits.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../../../parts/operations.ts';
import { keyParameters } from '../../../parts/path-keys.ts';
import { namesRow, pathParameters } from '../../../parts/payload.ts';
import type { Shape } from '../../../parts/shape.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { PossibleRefusal } from '../../spec/refusals.ts';
import { componentName } from '../../spec/words.ts';
import { followsKey } from '../own/stated-schema.ts';
import { type ExportWriting, present } from './writing.ts';

/** The parameters that an endpoint's path, its pages, its headers and its version bring. */
export function followingParameters(endpoint: Endpoint, writing: ExportWriting): JsonMap[] {
  return [...pathOnes(endpoint, writing), ...pageOnes(endpoint, writing), ...headerOnes(endpoint, writing)];
}

function following(name: string, place: string, schema: JsonMap, more: Readonly<Record<string, Json | undefined>> = {}): JsonMap {
  return present({ name, in: place, ...more, schema, [followsKey]: true });
}

function pathOnes(endpoint: Endpoint, writing: ExportWriting): JsonMap[] {
  const resource = entryOf(writing.spec.resources.all, resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const identifier = resource && statedValue(resource.identifier);
  const keyed = keyParameters(endpoint);
  return pathParameters(endpoint.path).map((name, index, all) => {
    if (keyed.has(name)) return keyOne(endpoint, name, writing);
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

/** A parameter that is a field of a row which the path names by a key. */
function keyOne(endpoint: Endpoint, name: string, writing: ExportWriting): JsonMap {
  const { properties } = paramsShape(writing.spec, endpoint);
  const known = isMap(properties) ? properties[name] : undefined;
  const shape: Shape = isMap(known) && known.resource === undefined ? known : { type: 'string' };
  const example = writing.examples.ofShape(shape, 'create', name);
  return following(name, 'path', writing.schemas.shape(shape, 'create'), { required: true, example });
}

/** The parameters that a list's pages bring. */
function pageOnes(endpoint: Endpoint, { spec }: ExportWriting): JsonMap[] {
  const pagination = paginationFor(endpoint, spec.limits.pagination);
  const { expand, select } = endpoint;
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
  const chosen = select
    ? [
        following(
          select.parameter,
          'query',
          { type: 'array', items: { type: 'string' } },
          {
            description:
              'The fields to show: names, joined by dots where they lie within another. What is not named is left out, but for the identifier.',
            explode: false,
            style: 'form',
          },
        ),
      ]
    : [];
  const more = [...expansion, ...chosen];
  if (!isCut(pagination)) return more;
  const { size, max, default: usual } = pagination;
  const places = parametersOf(pageStyle(pagination.style), pagination).map(({ name, parameter: { schema, description } }) =>
    following(name, 'query', schema, { description }),
  );
  const bounds = present({
    type: 'integer',
    minimum: 1,
    maximum: pagination.overMax === 'clamp' ? undefined : max,
    default: usual,
  });
  const many = size === undefined ? [] : [following(size, 'query', bounds, { description: sizeText(pagination) })];
  return [...places, ...many, ...more];
}

function sizeText({ max, overMax }: Pagination): string {
  if (max === undefined) return 'How many at the most.';
  return overMax === 'clamp' ? `How many at the most; more than ${max} count as ${max}.` : `How many at the most, up to ${max}.`;
}

/** How a list is cut into pages: by the endpoint's own words, or the service's. */
export function paginationFor(
  endpoint: Endpoint,
  ofService: Parameters<typeof statedValue<Pagination>>[0],
): Pagination | undefined {
  if (statedValue(endpoint.does)?.verb !== 'list') return undefined;
  return statedValue(endpoint.pagination ?? ofService);
}

/** Idempotency keys, conditions, and the header or query that chooses a version. */
function headerOnes(endpoint: Endpoint, { spec }: ExportWriting): JsonMap[] {
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
function versionOnes(spec: ExportWriting['spec']): JsonMap[] {
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

/** The header fields of an answer of success that follow from what the document states. */
export function answerHeaders(operation: Operation, status: string, writing: ExportWriting): Record<string, Json> {
  const { endpoint } = operation;
  const { spec } = writing;
  const wanted: (keyof typeof fields)[] = [];
  if (endpoint) {
    if (status === '201' && hasReader(endpoint, spec)) wanted.push('Location');
    if (endpoint.etag !== undefined && status !== '204') wanted.push('ETag');
    if (endpoint.cache !== undefined) wanted.push('Cache-Control');
    if (endpoint.idempotency) wanted.push('Idempotency-Replayed');
    const pagination = paginationFor(endpoint, spec.limits.pagination);
    if (isCut(pagination) && pagination.isToldInLink) wanted.push('Link');
    if (endpoint.deprecated)
      wanted.push('Deprecation', ...(endpoint.deprecated.sunset === undefined ? [] : (['Sunset'] as const)));
  }
  if (isRated(spec, operation)) wanted.push('RateLimit', 'RateLimit-Policy');
  return { ...named(wanted, writing), ...versionHeaders(writing) };
}

/** The header fields of refusals: what to wait for, what to show, how much is left, which version spoke. */
export function refusalHeaders(refused: readonly PossibleRefusal[], writing: ExportWriting): Record<string, Json> {
  const whens = refused.map(({ when }) => when);
  const wanted: (keyof typeof fields)[] = [];
  if (whens.includes('resource.moved')) wanted.push('Location');
  if (whens.includes('caller.unknown')) wanted.push('WWW-Authenticate');
  if (whens.includes('limit.rate') || whens.includes('limit.quota')) wanted.push('Retry-After');
  if (whens.includes('limit.rate')) wanted.push('RateLimit', 'RateLimit-Policy');
  return { ...named(wanted, writing), ...versionHeaders(writing) };
}

const text: JsonMap = { type: 'string' };

/** Each header field by its name: what it says, with the standard that defines it. */
const fields = {
  Location: {
    description: 'Where the resource is read: a new one, or one that is at another address by now (RFC 9110 section 10.2.2).',
    schema: { type: 'string', format: 'uri-reference' },
  },
  ETag: { description: 'Tells this state of the resource from others (RFC 9110 section 8.8.3).', schema: text },
  'Cache-Control': { description: 'How long the answer may be kept (RFC 9111).', schema: text },
  'Idempotency-Replayed': {
    description: '`true` where this is the kept answer to an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  Link: { description: 'The next, the previous and the first page (RFC 8288).', schema: text },
  Deprecation: { description: 'Since when it is deprecated (RFC 9745).', schema: text },
  Sunset: { description: 'When it will be gone (RFC 8594).', schema: text },
  RateLimit: { description: 'What is left of each rate, and for how many seconds.', schema: text },
  'RateLimit-Policy': { description: 'The rates that count this request.', schema: text },
  'Retry-After': { description: 'How many seconds to wait (RFC 9110 section 10.2.3).', schema: { type: 'integer', minimum: 1 } },
  'WWW-Authenticate': { description: 'Which credentials are taken (RFC 9110 section 11.6.1).', schema: text },
} as const;

function named(names: readonly (keyof typeof fields)[], { components }: ExportWriting): Record<string, Json> {
  const out = newMap();
  for (const name of names) out[name] = components.share('headers', componentName(name), fields[name]);
  return out;
}

/** A version that is chosen by a header is named by the same header. */
function versionHeaders({ spec, components }: ExportWriting): Record<string, Json> {
  const select = statedValue(spec.versioning.select);
  const versions = entriesOf(spec.versioning.versions).map(([name]) => name);
  if (select?.by !== 'header' || versions.length === 0) return {};
  const header = { description: 'The version that the answer is in.', schema: { type: 'string', enum: versions } };
  return { [select.carrier]: components.share('headers', componentName(select.carrier), header) };
}

function isRated({ limits }: Spec, operation: Operation): boolean {
  return (statedValue(limits.rate) ?? []).some((rate) => rate.on === undefined || namesOperation(rate.on, operation));
}

/** Whether the new resource has an address of its own. */
function hasReader({ does }: Endpoint, { endpoints }: Spec): boolean {
  const effect = statedValue(does);
  if (effect?.verb !== 'create' && effect?.verb !== 'upsert') return false;
  return entriesOf(endpoints.all).some(([, other]) => {
    const read = isStated(other.does) ? other.does.value : undefined;
    return read?.verb === 'read' && read.resource === effect.resource && namesRow(other);
  });
}
