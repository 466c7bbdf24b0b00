import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, type Fact, isStated, statedValue, type Unstated } from '../../parts/fact.ts';
import { childrenTakerOf, requestShape, sentShape, takesChildren } from '../../parts/payload.ts';
import { toJsonSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { isMovedByUpdate, machinesOf, transitionsOn } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';

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

/**
 * A body by rule without the children that a change may name: whoever draws a body knows none that are there. A replacement has to send
 * them, so that it makes them all.
 */
export function withoutNamedChildren(spec: Spec, endpoint: Endpoint, shape: Fact<Shape>): Fact<Shape> {
  const effect = statedValue(endpoint.does);
  const taker = effect && childrenTakerOf(effect);
  if (!effect || !('resource' in effect) || !taker || taker === 'create' || isStated(endpoint.request) || !isStated(shape))
    return shape;
  const fields = entriesOf(entryOf(spec.resources.all, effect.resource)?.fields);
  const held = new Map(fields.filter(([, field]) => takesChildren(field, taker)));
  if (held.size === 0) return shape;
  const stated = isMap(shape.value.properties) ? shape.value.properties : {};
  const properties = Object.fromEntries(
    Object.entries(stated).flatMap(([name, inner]) => {
      const field = held.get(name);
      if (!field) return [[name, inner]];
      return taker === 'update' ? [] : [[name, sentShape(spec, field)]];
    }),
  );
  return { ...shape, value: { ...shape.value, properties } };
}

/** The transitions that an update is, with the fields of their states: it sends another state than the row was in, and one leads there. */
export function movedIn(
  { states }: Spec,
  resource: string,
  operation: string | undefined,
  fields: Readonly<Record<string, Json>> | undefined,
  before: Readonly<Record<string, Json>> | undefined,
): readonly { readonly field: string; readonly transition: string }[] {
  return machinesOf(states, resource).flatMap((machine) => {
    const { field } = machine;
    const [sent, was] = [fields?.[field], before?.[field]];
    if (typeof sent !== 'string' || sent === was) return [];
    const moving = transitionsOn(machine, operation).filter(([, { to }]) => to.some((target) => target.state === sent));
    const leaving = moving.find(([, { from }]) => from === '*' || from.includes(asText(was)));
    return leaving ? [{ field, transition: leaving[0] }] : [];
  });
}

/** A state that an update sends is a matter of its own trial: elsewhere nothing is moved by the way. */
export function withoutState({ states }: Spec, endpoint: Endpoint, shape: Fact<Shape>): Fact<Shape> {
  const effect = statedValue(endpoint.does);
  if (effect?.verb !== 'update' || isStated(endpoint.request) || !isStated(shape)) return shape;
  const moved = machinesOf(states, effect.resource).filter(isMovedByUpdate);
  if (moved.length === 0) return shape;
  const stated = isMap(shape.value.properties) ? shape.value.properties : {};
  const properties = Object.fromEntries(Object.entries(stated).filter(([name]) => moved.every(({ field }) => field !== name)));
  return { ...shape, value: { ...shape.value, properties } };
}
