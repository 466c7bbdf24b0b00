import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { readTemplate } from '../../../kinds/generators/template.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { isAlwaysShown } from '../../../parts/payload.ts';
import { chanceOf } from '../../../parts/samples/chance.ts';
import { nothing } from '../../../parts/samples/nothing.ts';
import { Samples } from '../../../parts/samples/samples.ts';
import { hasMeaning } from '../../../parts/shapes/branches.ts';
import type { Spec } from '../../../parts/spec.ts';

/** Makes an example of what a kind of event carries: the same for the same document; nothing where none can be made. */
export function payloadExamples(spec: Spec): (kind: EventKind) => Json | undefined {
  const samples = new Samples(spec);
  const identifierOf = (resource: string, path: string): Json | undefined =>
    identifierLike(spec, resource, path) ?? samples.identifiers(resource)(chanceOf(`${resource}\n${path}`), 1);
  return (kind) => {
    const shape = statedValue(kind.payload);
    if (!shape) return undefined;
    const made = samples.of(shape).make({ seed: kind.name, identifierOf, sampled: () => {} }, '');
    // What samples make is JSON, or nothing.
    return made === nothing ? undefined : shown(made as Json, shape, spec, kind.name);
  };
}

/** An identifier as its resource says that they are made. */
function identifierLike(spec: Spec, name: string, seed: string): string | undefined {
  const resource = entryOf(spec.resources.all, name);
  const generate = resource && statedValue(resource.identifier)?.generate;
  const read = generate === undefined || generate === 'integer' || generate === 'client' ? undefined : readTemplate(generate);
  return read && 'template' in read ? read.template.make(chanceOf(`${name}\n${seed}`)) : undefined;
}

/** A value as whoever listens sees it: without the fields that not everybody is shown. In a union nobody knows which they are. */
function shown(value: Json, shape: JsonMap, spec: Spec, seed: string): Json | undefined {
  if (Array.isArray(value)) {
    const list = (value as readonly Json[]).map((item) => (isMap(shape.items) ? shown(item, shape.items, spec, seed) : item));
    return list.includes(undefined) ? undefined : (list as Json[]);
  }
  if (!isMap(value)) return value;
  if (hasMeaning(shape, 'exclusive alternatives', 'alternatives', 'conjunction', 'reference')) return undefined;
  const resource = typeof shape.resource === 'string' ? entryOf(spec.resources.all, shape.resource) : undefined;
  const out: OpenMap = newMap();
  for (const [name, inner] of Object.entries(value)) {
    const field = resource && entryOf(resource.fields, name);
    if (field && !isAlwaysShown(field)) continue;
    const own =
      resource && statedValue(resource.identifier)?.field === name ? identifierLike(spec, resource.name, seed) : undefined;
    const stated = field ? statedValue(field.shape) : isMap(shape.properties) ? shape.properties[name] : undefined;
    const one = own ?? (isMap(stated) ? shown(inner, stated, spec, seed) : inner);
    if (one === undefined) return undefined;
    out[name] = one;
  }
  return out;
}
