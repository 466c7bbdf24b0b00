import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import { endpointOf, type InferenceContext, type InferenceRule, placeOfEndpoint } from './context.ts';
import { documentFields } from './rows.ts';

/** `{ title }` is sent, and `{ id, type, attributes: { title } }` answered: what is sent bare stands in one map of the thing. */
export const innerFields: InferenceRule = {
  name: 'inner-fields',
  says: 'A body most of whose members are no fields of the resource, but members of one map that it has, and that is no thing of its own, holds what stands in that map; where the resource has nothing else but what tells it from others and links, that goes for a member that is called like one of these too.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (!effect || !('resource' in effect) || !written.has(effect.verb)) continue;
      if (endpoint.request === undefined || endpoint.takes !== undefined) continue;
      const ways = waysOf(context, endpoint.request, effect.resource);
      if (ways.length === 0) continue;
      endpoint.takes = Object.assign(newMap(), Object.fromEntries(ways));
      context.trail.infer(below(placeOfEndpoint(operation), 'takes'), innerFields.name, operation.map.at, 0.8);
    }
  },
};

const written: ReadonlySet<string> = new Set(['create', 'update', 'replace', 'upsert']);

/** The members of a body that stand in the one map of a resource which has most of them, each with its way there. */
function waysOf(context: InferenceContext, request: Json, resource: string): readonly (readonly [string, string])[] {
  const fields = documentFields(context.resources, resource);
  const entry = context.resources[resource];
  const identifier = isMap(entry) && isMap(entry.identifier) ? String(entry.identifier.field) : undefined;
  const all = context.written.propertiesOf(request)?.all ?? {};
  const sent = Object.keys(all).filter((name) => name !== identifier);
  const isSame = (one: Json | undefined, other: Json | undefined) =>
    context.written.typeOf(one) === context.written.typeOf(other);
  const found = Object.keys(fields).flatMap((holder) => {
    if (sent.includes(holder) || !word.test(holder)) return [];
    const inner = context.written.propertiesOf(fields[holder])?.all ?? {};
    // What has an identifier of its own is another thing, which may have members of the same names.
    if (['id', '_id', 'uuid', identifier ?? 'id'].some((name) => Object.hasOwn(inner, name))) return [];
    const others = Object.keys(fields).filter((name) => name !== holder && !isUnseen(fields[name]));
    const isAll = others.every((name) => name === identifier || around.test(name));
    const names = sent.filter(
      (name) =>
        word.test(name) &&
        Object.hasOwn(inner, name) &&
        isSame(all[name], inner[name]) &&
        (isAll || !Object.hasOwn(fields, name)),
    );
    return names.length > 0 && names.length * 2 >= sent.length ? [{ holder, names }] : [];
  });
  const [first, second] = found.toSorted((one, other) => other.names.length - one.names.length);
  if (!first || first.names.length === second?.names.length) return [];
  return first.names.map((name) => [name, `${first.holder}.${name}`] as const);
}

/** What stands around the fields of a thing that has them in a map. */
const around = /^_?(?:id|type|kind|links?|href|self|uri|url|meta|metadata|relationships|included|etag|version)$/i;
const word = /^[A-Za-z_]\w*$/;

/** Kept of the path, and never shown. */
function isUnseen(shape: Json | undefined): boolean {
  return isMap(shape) && shape.visible === 'none';
}
