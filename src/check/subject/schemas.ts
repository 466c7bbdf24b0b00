import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { identifierType } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import { valueShape } from '../../parts/shape-level.ts';
import { mapInner, someInside } from '../../parts/shapes/branches.ts';
import { newAjv } from '../../parts/shapes/validators.ts';
import type { Spec } from '../../parts/spec.ts';

/** The document's shapes as JSON Schema, compiled when they are asked for and once each. */
export interface CheckedSchemas {
  /** Why a validator refuses a shape; nothing for one that it takes. */
  refusal(shape: Shape): string | undefined;
  /** What keeps a value from fitting a shape; nothing where it fits, or where the shape is refused. */
  misfit(shape: Shape, value: Json): string | undefined;
}

export function schemasOf(spec: Spec): CheckedSchemas {
  const compiled = new Map<string, Compiled>();
  // Many values are held to one shape, which is written down once.
  const known = new WeakMap<Shape, Compiled>();
  const added = new Set<string>();
  let ajv: Ajv2020 | undefined;
  const compile = (shape: Shape): Compiled => {
    const { schema, resources } = plainSchema(spec, shape);
    const key = JSON.stringify(schema);
    let one = compiled.get(key);
    if (!one) {
      ajv ??= newAjv({ ...options, meta: false });
      addResources(ajv, spec, resources, added);
      one = (isPlain(shape) ? undefined : refusedByForm(schema)) ?? compileSchema(ajv, schema);
      compiled.set(key, one);
    }
    known.set(shape, one);
    return one;
  };
  return {
    refusal: (shape) => (isPlain(shape) ? undefined : compile(shape).refusal),
    misfit(shape, value) {
      const { validate } = known.get(shape) ?? compile(shape);
      return validate === undefined || fits(validate, value) ? undefined : wordsOf(validate);
    },
  };
}

/** A value that the validator cannot compare with another is not told to misfit: it asks values for a `valueOf` of their own. */
function fits(validate: ValidateFunction, value: Json): boolean {
  try {
    return validate(value) === true;
  } catch {
    return true;
  }
}

interface Compiled {
  readonly validate?: ValidateFunction;
  readonly refusal?: string;
}

const options = { inlineRefs: false, addUsedSchema: false } as const;

/** Holds a schema to the metaschema; made and compiled when it first has to, for that would be most of the work of a check. */
let validator: Ajv2020 | undefined;

function refusedByForm(schema: JsonMap): Compiled | undefined {
  validator ??= newAjv(options);
  if (validator.validateSchema(schema)) return undefined;
  const [first] = validator.errors ?? [];
  return { refusal: `${first?.instancePath ? `\`${first.instancePath}\` ` : ''}${first?.message ?? 'it is no JSON Schema'}` };
}

function compileSchema(ajv: Ajv2020, schema: JsonMap): Compiled {
  // A schema that names itself as a whole has to have a name.
  const namesItself = JSON.stringify(schema).includes('"$ref":"#"');
  const key = namesItself ? `shape:${Object.keys(ajv.schemas).length}` : undefined;
  try {
    if (key === undefined) return { validate: ajv.compile(schema) };
    const validate = ajv.addSchema(schema, key).getSchema(key);
    return validate ? { validate } : { refusal: 'it cannot be compiled' };
  } catch (cause) {
    return { refusal: cause instanceof Error ? cause.message : String(cause) };
  }
}

function wordsOf({ errors }: ValidateFunction): string {
  const [first] = errors ?? [];
  const where = first?.instancePath ? `\`${first.instancePath}\` ` : 'it ';
  const allowed: unknown = first?.params.allowedValues ?? first?.params.allowedValue;
  const values = allowed === undefined ? '' : `: ${JSON.stringify(allowed)}`;
  return `${where}${first?.message ?? 'does not fit'}${values}`;
}

/** A resource is a schema of its own, so that those that hold themselves can be written down. */
function addResources(ajv: Ajv2020, spec: Spec, names: Iterable<string>, added: Set<string>): void {
  for (const name of names) {
    if (added.has(name)) continue;
    added.add(name);
    const resource = entryOf(spec.resources.all, name);
    const whole = valueShape(spec, name);
    if (whole) {
      const written = plainSchema(spec, whole);
      ajv.addSchema(written.schema, idOf(name));
      addResources(ajv, spec, written.resources, added);
      continue;
    }
    if (!resource || !isStated(resource.fields)) {
      ajv.addSchema({}, idOf(name));
      continue;
    }
    const properties: Record<string, Json> = Object.create(null);
    const inner = new Set<string>();
    const required: string[] = [];
    for (const [field, { shape, required: flag }] of entriesOf(resource.fields)) {
      const written = plainSchema(spec, statedValue(shape) ?? {});
      // A reference inside a field's own shape would be looked for in the resource's.
      const refersToItself = JSON.stringify(written.schema).includes('"$ref":"#');
      properties[field] = refersToItself ? {} : written.schema;
      for (const word of written.resources) inner.add(word);
      if (statedValue(flag) === true) required.push(field);
    }
    ajv.addSchema({ type: 'object', properties, required, additionalProperties: resource.additionalProperties }, idOf(name));
    addResources(ajv, spec, inner, added);
  }
}

function idOf(resource: string): string {
  return `resource:${encodeURIComponent(resource)}`;
}

/** The shape without this language's words and without what only describes; a reference is an identifier. */
function plainSchema(spec: Spec, shape: Shape): { readonly schema: JsonMap; readonly resources: ReadonlySet<string> } {
  const resources = new Set<string>();
  const write = (value: Json): Json => {
    if (!isMap(value)) return value;
    const out: Record<string, Json> = Object.create(null);
    for (const [key, entry] of Object.entries(value)) if (!ignored.has(key)) out[key] = mapInner(key, entry, write);
    if (typeof value.ref === 'string' && value.type === undefined) out.type = identifierType(spec, value.ref);
    if (typeof value.resource === 'string') {
      resources.add(value.resource);
      out.$ref = idOf(value.resource);
    }
    return out;
  };
  // A map was given, so a map comes back.
  return { schema: write(shape) as JsonMap, resources };
}

/** Whether a shape has only keywords that have been held to their form already: a metaschema has nothing to add. */
function isPlain(shape: Shape): boolean {
  return !someInside(shape, (one) => !saysPlainly(one));
}

/** Whether this is so of a shape's own keywords. */
function saysPlainly(shape: Shape): boolean {
  return Object.entries(shape).every(([key, value]) => {
    if (key === 'items' || key === 'additionalProperties') return true;
    if (key === 'properties') return isMap(value) && Object.values(value).every(isMap);
    if (key === 'required') return Array.isArray(value) && new Set(value).size === value.length;
    if (key === 'pattern') return typeof value === 'string' && isPattern(value);
    return plainKeywords.has(key) || ignored.has(key);
  });
}

/** Whether a text is a regular expression as validators read it (ECMA-262, with the flag `u`). */
function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').unicode;
  } catch {
    return false;
  }
}

/** What a shape says besides the schema that it is. */
const ignored: ReadonlySet<string> = new Set([
  '$schema',
  'resource',
  'ref',
  'shape',
  'title',
  'description',
  '$comment',
  'example',
  'examples',
  'default',
  'discriminator',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

const plainKeywords: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'const',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'uniqueItems',
]);
