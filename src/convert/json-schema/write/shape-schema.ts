import type { Json, JsonMap } from '../../../document/document.ts';
import { isStanding } from '../../../document/values.ts';
import { formatNamed } from '../../../kinds/formats/all.ts';
import { identifierType } from '../../../parts/schemas.ts';
import type { Shape } from '../../../parts/shape.ts';
import {
  alternativesOf,
  fitsAll,
  fitsAny,
  isComposed,
  mapInner,
  unionOf,
  unionsOf,
  without,
} from '../../../parts/shapes/branches.ts';
import { holdingOf } from '../../../parts/shapes/keywords.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { ProseAt } from '../../spec/words.ts';

/** A shape as plain JSON Schema 2020-12: what is this language's own is said in the standard's words, or left out. */
export function shapeSchema(shape: Shape, writing: Writing): JsonMap {
  return write(shape, { writing, root: shape });
}

/** A schema that a shape holds inside itself, its references read where that shape has them. */
export function innerSchema(shape: JsonMap, root: Shape, writing: Writing): JsonMap {
  return write(shape, { writing, root });
}

interface Place {
  readonly writing: Writing;
  /** The shape that `#` means. */
  readonly root: Shape;
}

function write(shape: JsonMap, place: Place): JsonMap {
  const { writing, root } = place;
  const out: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(shape)) {
    if (key === 'example') out.examples ??= [value];
    else if (key === 'deprecated') out.deprecated = value !== false;
    else if (isKept(key, value, writing)) out[key] = keyword(key, value, place);
  }
  if (typeof shape.ref === 'string' && out.type === undefined) out.type = identifierType(writing.spec, shape.ref);
  if (typeof shape.resource === 'string') Object.assign(out, writing.resource(shape.resource, writing.view));
  if (typeof shape.$ref === 'string') Object.assign(out, referred(shape.$ref, place));
  for (const [word, value] of Object.entries(constraintsOf(shape, writing))) out[word] ??= value;
  if (writing.view === 'update') return partial(out, namesIn(shape.required));
  const known = isOfAnswers(writing.view) && shape.extensible === true ? extensible(out) : out;
  // Whatever was not chosen is left out; nothing is null for that.
  return writing.view === 'chosen' ? partial(known, undefined) : known;

  function referred(ref: string, { writing: { inner, view } }: Place): JsonMap {
    return ref.startsWith('#') ? inner(root, ref, view) : { $ref: ref };
  }
}

/** Whether a keyword is JSON Schema's, with a value as it has them there, or one that the reader knows. */
function isKept(key: string, value: Json, { view, knownWords }: Writing): boolean {
  if (key === 'required') return Array.isArray(value);
  if (key === 'default') return view !== 'update';
  if (key === 'type' && Array.isArray(value) && value.length === 0) return false;
  // A standing is no bound.
  const holding = holdingOf(key);
  if (isStanding(value) && key !== 'const' && holding !== 'schema') return false;
  // The definitions of a shape are written beside the resources.
  if (key === '$defs') return false;
  return standardWords.has(key) || holding !== undefined || knownWords.has(key);
}

/** A keyword's value; the items of a list in a change are sent whole. */
function keyword(key: string, value: Json, place: Place): Json {
  const inside = place.writing.view === 'update' && wholeIn.has(key) ? inView(place) : place;
  return mapInner(key, value, (inner) => (isPlainMap(inner) ? write(inner, inside) : inner));
}

function inView(place: Place): Place {
  return { ...place, writing: { ...place.writing, view: 'create' } };
}

const wholeIn: ReadonlySet<string> = new Set(['items', 'prefixItems', 'contains', 'unevaluatedItems']);

/**
 * A schema of a part: any property may be left out, and what speaks of the whole value is left to the service, which holds the result to it. In a
 * change (RFC 7396) one that is not `required` may be null.
 */
function partial(schema: JsonMap, required: readonly string[] | undefined): JsonMap {
  const mayGo = (name: string) => required !== undefined && !required.includes(name);
  const exclusive = unionsOf(schema).find(({ isExclusive }) => isExclusive);
  const { properties, additionalProperties, patternProperties, ...rest } = without(schema, exclusive?.keyword ?? '');
  const out: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(rest)) if (!ofWhole.has(key)) out[key] = value;
  if (isPlainMap(properties)) out.properties = removable(properties, mayGo);
  if (isPlainMap(patternProperties)) out.patternProperties = removable(patternProperties, () => required !== undefined);
  if (additionalProperties !== undefined)
    out.additionalProperties =
      required !== undefined && isPlainMap(additionalProperties) ? nullableSchema(additionalProperties) : additionalProperties;
  if (!exclusive) return out;
  const any = fitsAny(exclusive.branches);
  return unionsOf(out).length === 0 ? { ...out, ...any } : fitsAll<Json>([out, any]);
}

const ofWhole: ReadonlySet<string> = new Set(
  'required minProperties maxProperties dependentRequired dependentSchemas unevaluatedProperties not if then else'.split(' '),
);

function removable(properties: JsonMap, mayGo: (name: string) => boolean): JsonMap {
  const out: Record<string, Json> = Object.create(null);
  for (const [name, inner] of Object.entries(properties))
    out[name] = isPlainMap(inner) && mayGo(name) ? nullableSchema(inner) : inner;
  return out;
}

/** Clients accept values that are not listed yet: the list is one branch, its type the other. */
export function extensible(schema: JsonMap): JsonMap {
  const { enum: values, type, ...rest } = schema;
  if (values === undefined) return schema;
  return {
    ...rest,
    ...fitsAny<Json>([{ ...(type !== undefined && { type }), enum: values }, type === undefined ? {} : { type }]),
  };
}

/** What JSON Schema's own keywords can say of a format of this language, where the reader does not know its name. */
function constraintsOf({ format }: JsonMap, { knownFormats }: Writing): JsonMap {
  if (typeof format !== 'string' || knownFormats.has(format)) return {};
  return formatNamed(format)?.schema ?? {};
}

export function namesIn(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.filter((name: Json): name is string => typeof name === 'string') : [];
}

/** The keywords of JSON Schema 2020-12 whose value holds no schema, as far as a shape may use them. */
const standardWords: ReadonlySet<string> = new Set(
  (
    'type title description $comment const enum examples format pattern minLength maxLength minimum maximum exclusiveMinimum ' +
    'exclusiveMaximum multipleOf minContains maxContains minItems maxItems uniqueItems minProperties maxProperties ' +
    'dependentRequired contentEncoding contentMediaType readOnly writeOnly'
  ).split(' '),
);

/** A schema that takes null as well. */
export function nullableSchema(schema: JsonMap): JsonMap {
  if (takesNull(schema)) return schema;
  const { type, ...rest } = schema;
  const isPlain = !isComposed(schema) && schema.enum === undefined && schema.const === undefined;
  if (isPlain && typeof type === 'string') return { type: [type, 'null'], ...rest };
  if (isPlain && isList(type)) return { type: [...type, 'null'], ...rest };
  return fitsAny([schema, { type: 'null' }]);
}

function takesNull(schema: JsonMap): boolean {
  const { type, enum: values } = schema;
  if (type !== undefined) return isList(type) && type.includes('null') && (!isList(values) || values.includes(null));
  if (unionOf(schema)) return alternativesOf(schema).some((branch) => branch.type === 'null');
  return !isComposed(schema) && schema.const === undefined && (!isList(values) || values.includes(null));
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * What a schema is for: an answer, one of which a caller chose the fields, what makes or replaces a resource, or a change of one (JSON Merge Patch,
 * RFC 7396).
 */
export type SchemaView = 'answer' | 'chosen' | 'create' | 'update';

/** Whether it is of what is shown. */
export function isOfAnswers(view: SchemaView): boolean {
  return view === 'answer' || view === 'chosen';
}

/** Where a shape is written out: whose document, for what, and how what it speaks of is called. */
export interface Writing {
  readonly spec: Spec;
  readonly view: SchemaView;
  readonly prose: ProseAt;
  /** Whether some endpoint shows what a resource refers to whole, when it is asked to. */
  readonly expandable: (resource: string) => boolean;
  /** Formats that the reader knows; of the others of this language a keyword of JSON Schema says what it can. */
  readonly knownFormats: ReadonlySet<string>;
  /** Words beside those of JSON Schema that the reader knows too, such as OpenAPI's `discriminator`. */
  readonly knownWords: ReadonlySet<string>;
  /** A reference to a resource in a view. */
  readonly resource: (name: string, view: SchemaView) => JsonMap;
  /** A reference to what `$ref: '#/…'` names inside a shape, wherever that shape comes to stand. */
  readonly inner: (root: Shape, ref: string, view: SchemaView) => JsonMap;
}

/** Gives every definition a name of its own, made of the letters that OpenAPI and AsyncAPI allow in one. */
export class DefinitionNames {
  readonly #taken = new Set<string>();

  claim(text: string): string {
    const plain = text.replace(/[^A-Za-z0-9._-]/g, '_') || '_';
    let name = plain;
    for (let number = 2; this.#taken.has(name); number++) name = `${plain}_${number}`;
    this.#taken.add(name);
    return name;
  }
}
