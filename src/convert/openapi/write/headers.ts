import type { Json, JsonMap } from '../../../document/document.ts';
import { newMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { isCut } from '../../../parts/limits.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import { namesRow } from '../../../parts/payload.ts';
import type { Spec } from '../../../parts/spec.ts';
import { componentName } from '../../spec/operation-names.ts';
import type { PossibleRefusal } from '../../spec/refusals.ts';
import { paginationFor } from './following-parameters.ts';
import type { ExportWriting } from './writing.ts';

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
