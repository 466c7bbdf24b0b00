import type { Json, JsonMap } from '../../../document/document.ts';
import { percentDecoded } from '../../../document/pointer.ts';
import { valueAt } from '../../../document/source.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, type Fact, isStated, statedValue } from '../../../parts/fact.ts';
import {
  boundByPath,
  isAlwaysShown,
  isEverShown,
  isWritable,
  replacesChildren,
  requestShape,
  sentShape,
  writableShape,
} from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { identifierType } from '../../../parts/schemas.ts';
import type { Shape } from '../../../parts/shape.ts';
import { fitsAny } from '../../../parts/shapes/branches.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import { machineOn } from '../../../parts/states.ts';
import { expandableFields, proseOf, unsettledLine } from '../../spec/words.ts';
import {
  DefinitionNames,
  extensible,
  innerSchema,
  isOfAnswers,
  namesIn,
  nullableSchema,
  type SchemaView,
  shapeSchema,
  type Writing,
} from './shape-schema.ts';

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
  shape(shape: Shape, view: SchemaView): JsonMap;
  /** A reference to a resource. */
  resource(name: string, view: SchemaView): JsonMap;
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
  const definitions = new Definitions(prefix, called);
  for (const [name] of entriesOf(spec.resources.all)) definitions.claim(`answer ${name}`, name);
  const writing = writingInto(definitions, {
    spec,
    prose: proseOf(spec),
    expandable: expandableFields(spec),
    knownFormats: new Set(knownFormats),
    knownWords: new Set(knownWords),
  });
  let own = 0;
  return {
    shape: (shape, view) => shapeSchema(shape, writing(view)),
    resource: (name, view) => writing(view).resource(name, view),
    created: (name) => createdSchema(name, writing('answer')),
    request: (endpoint) => requestSchema(endpoint, writing('create')),
    define(name, schema) {
      own++;
      return definitions.refer(`own ${own}`, name, () => schema);
    },
    defineOnce: (name, schema) => definitions.refer(`own ${name} ${JSON.stringify(schema)}`, name, () => schema),
    definitions: () => definitions.written(),
  };
}

/** The definitions that are spoken of, each under a name of its own. */
class Definitions {
  readonly #prefix: string;
  readonly #called: (word: string) => string;
  readonly #names = new DefinitionNames();
  readonly #claimed = new Map<string, string>();
  readonly #spoken = new Map<string, () => JsonMap>();

  constructor(prefix: string, called: (word: string) => string) {
    this.#prefix = prefix;
    this.#called = called;
  }

  /** The name of a definition by what it is of. */
  claim(key: string, wish: string): string {
    const name = this.#claimed.get(key) ?? this.#names.claim(this.#called(wish));
    this.#claimed.set(key, name);
    return name;
  }

  /** Speaks of a definition, which is written when all are. */
  refer(key: string, wish: string, write: () => JsonMap): JsonMap {
    const name = this.claim(key, wish);
    if (!this.#spoken.has(name)) this.#spoken.set(name, write);
    return { $ref: `${this.#prefix}${name}` };
  }

  written(): JsonMap {
    const written: Record<string, Json> = Object.create(null);
    // Writing one may speak of another.
    for (const [name, write] of this.#spoken) written[name] = write();
    return written;
  }
}

/** What is the same in every view. */
type SharedWriting = Omit<Writing, 'view' | 'resource' | 'inner'>;

/** The writing of each view, whose references are definitions. */
function writingInto(definitions: Definitions, shared: SharedWriting): (view: SchemaView) => Writing {
  const { spec } = shared;
  const roots = new Map<Shape, number>();
  let same: ReadonlySet<string> | undefined;

  function reference(name: string, asked: SchemaView): JsonMap {
    const resource = entryOf(spec.resources.all, name);
    if (!resource) return {};
    if (asked === 'create') same ??= sentAsAnswered(shared);
    const view = asked === 'create' && same?.has(name) ? 'answer' : asked;
    const wish = view === 'answer' ? name : `${name}_${view}`;
    return definitions.refer(`${view} ${name}`, wish, () => resourceSchema(resource, writing(view)));
  }

  function inner(root: Shape, ref: string, view: SchemaView): JsonMap {
    const target = ref === '#' ? root : valueAt(root, percentDecoded(ref.slice(1)));
    if (!isPlainMap(target)) return target === false ? { not: {} } : {};
    if (!roots.has(root)) roots.set(root, roots.size);
    const wish = `${ref === '#' ? 'whole' : (ref.split('/').at(-1) ?? '')}${view === 'answer' ? '' : `_${view}`}`;
    return definitions.refer(`${view} ${roots.get(root)}${ref}`, wish, () => innerSchema(target, root, writing(view)));
  }

  const writing = (view: SchemaView): Writing => ({ ...shared, view, resource: reference, inner });
  return writing;
}

/** What answers the making of a resource, with the secrets that it shows once. */
function createdSchema(name: string, { spec, resource }: Writing): JsonMap {
  const secrets = entryOf(spec.resources.all, name);
  const required = (secrets ? entriesOf(secrets.fields) : [])
    .filter(([, field]) => field.reveal === 'once' && statedValue(field.required) === true && !field.visible)
    .map(([field]) => field);
  const answer = resource(name, 'answer');
  return required.length === 0 ? answer : { ...answer, type: 'object', required };
}

/** The body of a request, stated or following from the effect. */
function requestSchema(endpoint: Endpoint, writing: Writing): JsonMap | undefined {
  if (isStated(endpoint.request)) return shapeSchema(endpoint.request.value, writing);
  if (endpoint.request.standing !== 'open' || endpoint.request.question !== undefined) return undefined;
  const effect = statedValue(endpoint.does);
  if (!effect || !('resource' in effect)) return undefined;
  if (effect.verb === 'update') return writing.resource(effect.resource, 'update');
  if (effect.verb !== 'create' && effect.verb !== 'replace' && effect.verb !== 'upsert') return undefined;
  // Children are sent otherwise with a row that is there.
  const shape = replacesChildren(writing.spec, effect) ? statedValue(requestShape(writing.spec, endpoint)) : undefined;
  if (shape) return shapeSchema(shape, writing);
  return bodyOf(effect.resource, boundByPath(writing.spec, endpoint), writing);
}

/** A body that may leave out what the path says; where it leaves nothing out, it is the resource's own. */
function bodyOf(name: string, bound: readonly string[], writing: Writing): JsonMap {
  const resource = entryOf(writing.spec.resources.all, name);
  if (!resource || !isStated(resource.fields)) return writing.resource(name, 'create');
  const own = resourceSchema(resource, writing, bound);
  const whole = resourceSchema(resource, writing);
  return JSON.stringify(own) === JSON.stringify(whole) ? writing.resource(name, 'create') : own;
}

/** The schema of a whole resource in a view. `optional`: what the path of an endpoint says already. */
function resourceSchema(resource: Resource, writing: Writing, optional: readonly string[] = []): JsonMap {
  const description = writing.prose(resource.at).join('\n\n');
  const described = description === '' ? {} : { description };
  const shape = resource.shape && statedValue(resource.shape);
  if (shape) return { ...described, ...shapeSchema(shape, writing) };
  if (!isStated(resource.fields)) {
    return { ...described, type: 'object', ...commented(`the fields of ${resource.name}`, resource.fields) };
  }
  const { names, required } = fieldsOf(resource, writing, optional);
  const properties: Record<string, Json> = Object.create(null);
  for (const [name, field] of entriesOf(resource.fields)) {
    if (names.has(name)) properties[name] = fieldSchema(resource, field, writing);
  }
  return {
    ...described,
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: resource.additionalProperties,
  };
}

interface Chosen {
  readonly names: ReadonlySet<string>;
  readonly required: readonly string[];
}

/** The fields that are there in a view, and those that have to be. */
function fieldsOf(resource: Resource, { spec, view }: Writing, optional: readonly string[]): Chosen {
  if (isOfAnswers(view)) {
    const shown = entriesOf(resource.fields).filter(([, field]) => isEverShown(field));
    const identifier = statedValue(resource.identifier)?.field;
    const always = shown.filter(
      ([name, field]) =>
        statedValue(field.required) === true && isAlwaysShown(spec, field) && (view === 'answer' || name === identifier),
    );
    return { names: new Set(shown.map(([name]) => name)), required: always.map(([name]) => name) };
  }
  const { properties, required }: Shape = writableShape(spec, resource, view === 'update' ? 'all' : optional);
  return { names: new Set(Object.keys(properties as JsonMap)), required: namesIn(required) };
}

function fieldSchema(resource: Resource, field: Field, writing: Writing): JsonMap {
  const { spec, view, prose } = writing;
  const description = prose(field.at).join('\n\n');
  const schema = {
    ...(description !== '' && { description }),
    ...valueSchema(resource, field, writing),
    ...(isOfAnswers(view) && !isWritable(spec, resource, field) && { readOnly: true }),
    ...(!isOfAnswers(view) && field.writeOnly && { writeOnly: true }),
    ...(view === 'create' && field.default && { default: field.default.value }),
    ...(field.deprecated && { deprecated: true }),
  };
  return view === 'update' && statedValue(field.required) !== true && !field.children ? nullableSchema(schema) : schema;
}

/** The schema of a field's value: its shape, the states where it holds the state, what a reference is shown as. */
function valueSchema(resource: Resource, field: Field, writing: Writing): JsonMap {
  const { spec, view } = writing;
  const states = statedValue(machineOn(spec.states, resource.name, field.name)?.states);
  const shape =
    !isOfAnswers(view) && field.children ? sentShape(spec, field, view === 'update' ? view : 'create') : statedValue(field.shape);
  if (!shape && statedValue(resource.identifier)?.field === field.name) return { type: identifierType(spec, resource.name) };
  const schema = shape ? shapeSchema(shape, writing) : states ? {} : commented(`the type of ${field.name}`, field.shape);
  const stated = states && schema.enum === undefined ? { type: 'string', ...schema, enum: [...states] } : schema;
  if (!isOfAnswers(view)) return stated;
  const open = field.extensible ? extensible(stated) : stated;
  const whole = shownWhole(resource, field, writing);
  return whole.length === 0 ? open : fitsAny([open, ...whole]);
}

/** What may stand in the place of a reference's identifier. */
function shownWhole(resource: Resource, { ref, show }: Field, writing: Writing): JsonMap[] {
  if (typeof show === 'object') return [shapeSchema(show, writing)];
  if (ref === undefined || !(show === 'expand' || writing.expandable(resource.name))) return [];
  return [writing.resource(ref, writing.view)];
}

/** Says that a fact is not settled, where nothing else can. */
function commented(what: string, fact: Fact<unknown>): JsonMap {
  return isStated(fact) ? {} : { $comment: unsettledLine(what, fact) };
}

/**
 * The resources that are sent just as they are answered, so that one definition does for both: all are taken to be, until a
 * difference shows, in themselves or in what they speak of.
 */
function sentAsAnswered(writing: SharedWriting): ReadonlySet<string> {
  const resources = entriesOf(writing.spec.resources.all);
  const same = new Set(resources.map(([name]) => name));
  const text = (name: string, view: SchemaView): string => (view === 'answer' || same.has(name) ? name : `${view} ${name}`);
  const comparing: Omit<Writing, 'view'> = {
    ...writing,
    resource: (name, view) => ({ $ref: text(name, view) }),
    inner: (_, ref, view) => ({ $ref: `${view} ${ref}` }),
  };
  for (let before = -1; before !== same.size; ) {
    before = same.size;
    for (const [name, resource] of resources) {
      if (!same.has(name)) continue;
      const answered = JSON.stringify(resourceSchema(resource, { ...comparing, view: 'answer' }));
      if (answered !== JSON.stringify(resourceSchema(resource, { ...comparing, view: 'create' }))) same.delete(name);
    }
  }
  return same;
}
