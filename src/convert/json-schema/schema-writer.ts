import type { Json, JsonMap } from '../../document/document.ts';
import { valueAt } from '../../document/place.ts';
import { percentDecoded } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { boundByPath } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { isMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import { expandableFields } from '../expansion.ts';
import { proseOf } from '../prose.ts';
import { DefinitionNames } from './definition-names.ts';
import { resourceSchema } from './resource-schema.ts';
import { sentAsAnswered } from './same-views.ts';
import { innerSchema, shapeSchema } from './shape-schema.ts';
import type { View, Writing } from './view.ts';

/** How a format writes schemas. */
export interface SchemaOptions {
  /** What stands before a definition's name: `#/$defs/`, `#/components/schemas/`. */
  readonly prefix: string;
  /** Formats that its readers know by name; of others of this language keywords say what they can. */
  readonly knownFormats?: readonly string[];
  /** Words that its readers know beside those of JSON Schema. */
  readonly knownWords?: readonly string[];
  /** How a definition is called that is wished for by a word of the document; as that word, where it does not say. */
  readonly called?: (word: string) => string;
}

/** Writes a document's shapes as plain JSON Schema 2020-12, and remembers which definitions they speak of. */
export interface SchemaWriter {
  shape(shape: Shape, view: View): JsonMap;
  /** A reference to a resource. */
  resource(name: string, view: View): JsonMap;
  /** What answers the making of a resource: it shows once what is never shown again. */
  created(name: string): JsonMap;
  /** The request body of an endpoint, stated or following from its effect; nothing where it takes none or is open. */
  request(endpoint: Endpoint): JsonMap | undefined;
  /** Gives a schema a name of its own, the wished one where that is free, and refers to it. */
  define(name: string, schema: JsonMap): JsonMap;
  /** The same, where a schema that is equal to an earlier one of that wish has its name. */
  defineOnce(name: string, schema: JsonMap): JsonMap;
  /** The definitions that were spoken of up to now, by name, those that they speak of among them. */
  definitions(): JsonMap;
}

export function writeSchemas(
  spec: Spec,
  { prefix, knownFormats = [], knownWords = [], called = (word) => word }: SchemaOptions,
): SchemaWriter {
  const names = new DefinitionNames();
  const claimed = new Map(entriesOf(spec.resources.all).map(([name]) => [`answer ${name}`, names.claim(called(name))]));
  const spoken = new Map<string, () => JsonMap>();
  const shared = {
    spec,
    prose: proseOf(spec),
    expandable: expandableFields(spec),
    knownFormats: new Set(knownFormats),
    knownWords: new Set(knownWords),
  };
  let same: ReadonlySet<string> | undefined;
  let own = 0;

  /** The name of a definition by what it is of; it is written when all are. */
  function define(key: string, wish: string, write: () => JsonMap): JsonMap {
    const name = claimed.get(key) ?? names.claim(called(wish));
    claimed.set(key, name);
    if (!spoken.has(name)) spoken.set(name, write);
    return { $ref: `${prefix}${name}` };
  }

  function reference(name: string, asked: View): JsonMap {
    const resource = entryOf(spec.resources.all, name);
    if (!resource) return {};
    if (asked === 'create') same ??= sentAsAnswered(shared);
    const view = asked === 'create' && same?.has(name) ? 'answer' : asked;
    const wish = view === 'answer' ? name : `${name}_${view}`;
    return define(`${view} ${name}`, wish, () => resourceSchema(resource, writing(view)));
  }

  const roots = new Map<Shape, number>();
  function inner(root: Shape, ref: string, view: View): JsonMap {
    const target = ref === '#' ? root : valueAt(root, percentDecoded(ref.slice(1)));
    if (!isMap(target)) return target === false ? { not: {} } : {};
    if (!roots.has(root)) roots.set(root, roots.size);
    const wish = `${ref === '#' ? 'whole' : (ref.split('/').at(-1) ?? '')}${view === 'answer' ? '' : `_${view}`}`;
    return define(`${view} ${roots.get(root)}${ref}`, wish, () => innerSchema(target, root, writing(view)));
  }

  const writing = (view: View): Writing => ({ ...shared, view, resource: reference, inner });
  return {
    shape: (shape, view) => shapeSchema(shape, writing(view)),
    resource: reference,
    created(name) {
      const secrets = entryOf(spec.resources.all, name);
      const required = (secrets ? entriesOf(secrets.fields) : [])
        .filter(([, field]) => field.reveal === 'once' && statedValue(field.required) === true && !field.visible)
        .map(([field]) => field);
      const answer = reference(name, 'answer');
      return required.length === 0 ? answer : { ...answer, type: 'object', required };
    },
    request(endpoint) {
      if (isStated(endpoint.request)) return shapeSchema(endpoint.request.value, writing('create'));
      if (endpoint.request.standing !== 'open' || endpoint.request.question !== undefined) return undefined;
      const effect = statedValue(endpoint.does);
      if (!effect || !('resource' in effect)) return undefined;
      if (effect.verb === 'update') return reference(effect.resource, 'update');
      if (effect.verb !== 'create' && effect.verb !== 'replace' && effect.verb !== 'upsert') return undefined;
      return bodyOf(effect.resource, boundByPath(spec, endpoint));
    },
    define(name, schema) {
      own++;
      return define(`own ${own}`, name, () => schema);
    },
    defineOnce: (name, schema) => define(`own ${name} ${JSON.stringify(schema)}`, name, () => schema),
    definitions() {
      const written: Record<string, Json> = Object.create(null);
      // Writing one may speak of another.
      for (const [name, write] of spoken) written[name] = write();
      return written;
    },
  };

  /** A body that may leave out what the path says; where it leaves nothing out, it is the resource's own. */
  function bodyOf(name: string, bound: readonly string[]): JsonMap {
    const resource = entryOf(spec.resources.all, name);
    if (!resource || !isStated(resource.fields)) return reference(name, 'create');
    const own = resourceSchema(resource, writing('create'), bound);
    const whole = resourceSchema(resource, writing('create'));
    return JSON.stringify(own) === JSON.stringify(whole) ? reference(name, 'create') : own;
  }
}
