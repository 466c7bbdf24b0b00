import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, type Unstated } from '../../parts/fact.ts';
import { requestShape } from '../../parts/payload.ts';
import { toJsonSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';

/**
 * The same document with nothing said that follows by rule anyway: who writes out the request of a creation, or that reading
 * answers the resource, promises no more and no less than who does not.
 */
export function byRule(spec: Spec): Spec {
  const { all } = spec.endpoints;
  if (!isStated(all)) return spec;
  const value = Object.fromEntries(Object.entries(all.value).map(([key, endpoint]) => [key, shortened(spec, endpoint)]));
  return { ...spec, endpoints: { ...spec.endpoints, all: { ...all, value } } };
}

function shortened(spec: Spec, endpoint: Endpoint): Endpoint {
  const open: Unstated = { standing: 'open', at: endpoint.at };
  return {
    ...endpoint,
    ...(isUsualRequest(spec, endpoint, open) && { request: open }),
    ...(isUsualAnswer(endpoint) && { response: open }),
  };
}

function isUsualRequest(spec: Spec, endpoint: Endpoint, open: Unstated): boolean {
  const effect = isStated(endpoint.does) ? endpoint.does.value : undefined;
  const isRow = effect !== undefined && ['create', 'replace', 'upsert', 'update'].includes(effect.verb);
  if (!isRow || !isStated(endpoint.request) || endpoint.body !== undefined) return false;
  const usual = requestShape(spec, { ...endpoint, request: open });
  return isStated(usual) && isSame(meantBy(spec, endpoint.request.value), meantBy(spec, usual.value));
}

/** One answer with the resource as it is, under the status that it would have: a creation's would say where the row is, too. */
function isUsualAnswer({ does, response }: Endpoint): boolean {
  const effect = isStated(does) ? does.value : undefined;
  if (!effect || !['read', 'update', 'replace', 'transition'].includes(effect.verb) || !('resource' in effect)) return false;
  const [answer, ...others] = isStated(response) ? response.value : [];
  if (!answer || others.length > 0 || answer.status !== '200' || answer.if || answer.data || answer.example) return false;
  const shape = isStated(answer.shape) ? answer.shape.value : {};
  return Object.keys(answer.headers).length === 0 && shape.resource === effect.resource && Object.keys(shape).length === 1;
}

/** What a shape means of a body, written in one way. */
function meantBy(spec: Spec, shape: Shape): Json {
  return inOneWay(toJsonSchema(spec, shape, 'sent'));
}

const remarks: ReadonlySet<string> = new Set([
  'default',
  'description',
  'title',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

function inOneWay(value: Json, isNamed = false): Json {
  if (Array.isArray(value)) return value.map((item: Json) => inOneWay(item));
  if (!isMap(value)) return value;
  const kept = Object.entries(value).filter(([word, inner]) => isNamed || (!remarks.has(word) && !isEmptyList(word, inner)));
  return Object.fromEntries(
    kept.map(([word, inner]) => {
      const isList = !isNamed && word === 'required' && Array.isArray(inner);
      return [word, isList ? [...inner].sort() : inOneWay(inner, !isNamed && (word === 'properties' || word === '$defs'))];
    }),
  );
}

function isEmptyList(word: string, value: Json): boolean {
  return word === 'required' && Array.isArray(value) && value.length === 0;
}
