import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonMap } from '../../document/document.ts';
import { keyOfFragmentStep, pathOf } from '../../document/pointer.ts';
import { isMap, isStanding } from '../../document/values.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import { compilePattern } from '../../parts/patterns/pattern.ts';
import { type SchemaUse, toJsonSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import { fitsAll } from '../../parts/shapes/branches.ts';
import { newAjv, standardTest } from '../../parts/shapes/validators.ts';
import type { Spec } from '../../parts/spec.ts';

/** One way in which a value does not fit its shape. */
export interface Misfit {
  /** The members on the way to it. */
  readonly path: readonly (string | number)[];
  /** The keyword that it breaks: `required`, `maximum`, `format` … */
  readonly keyword: string;
  /** The member that is missing or too many, where the keyword is about one. */
  readonly member?: string;
  /** What it should be, for people. */
  readonly message: string;
}

/** Says what does not fit; an empty list where all does. */
export type FindMisfits = (value: Json) => readonly Misfit[];

/**
 * Validators of a document's shapes. Words and formats mean what they mean everywhere; how schemas are written and errors read is not
 * that of `serve`, on purpose: each end of the house is held to the document by itself, so that a fault in one is found by the other.
 */
export class Schemas {
  readonly #spec: Spec;
  readonly #ajv: Ajv2020;
  readonly #known = new WeakMap<object, Map<SchemaUse, FindMisfits>>();
  /** The same by what they say: a shape may be put together anew. */
  readonly #written = new Map<string, FindMisfits>();
  readonly #named = new Set<string>();
  /** The patterns that some text took too long to be held to. */
  readonly unjudged = new Set<string>();

  constructor(spec: Spec) {
    this.#spec = spec;
    const regExp = Object.assign((pattern: string, flags: string) => this.#patternOf(pattern, flags), { code: '' });
    this.#ajv = newAjv({ allErrors: true, ownProperties: true, inlineRefs: false, code: { regExp } });
    for (const [name, most] of slowFormats) {
      const test = standardTest(name);
      this.#ajv.addFormat(name, (text: string) => text.length > most || test(text));
    }
    this.#ajv.removeKeyword('uniqueItems');
    this.#ajv.addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      validate: areUnique,
      error: { message: 'must NOT have duplicate items' },
    });
  }

  /** A pattern whose test ends; ajv knows one from another by its text. */
  #patternOf(pattern: string, flags: string): { readonly test: (text: string) => boolean; readonly toString: () => string } {
    const compiled = compilePattern(pattern);
    if (!compiled) throw new SyntaxError(`${pattern} is no pattern`);
    const test = (text: string) => {
      const isFound = compiled.test(text);
      // What nobody can say is not held against the service.
      if (isFound === undefined) this.unjudged.add(pattern);
      return isFound ?? true;
    };
    return { test, toString: () => `/${pattern}/${flags}` };
  }

  /** The validator of a shape, compiled on its first use. */
  of(shape: Shape, use: SchemaUse): FindMisfits {
    const uses = this.#known.get(shape) ?? new Map<SchemaUse, FindMisfits>();
    this.#known.set(shape, uses);
    const known = uses.get(use) ?? this.#alike(shape, use);
    uses.set(use, known);
    return known;
  }

  #alike(shape: Shape, use: SchemaUse): FindMisfits {
    const written = `${use}${JSON.stringify(shape)}`;
    const known =
      this.#written.get(written) ?? this.#compile(withUnions(this.#spec, toJsonSchema(this.#spec, shape, use), use), use);
    this.#written.set(written, known);
    return known;
  }

  /** What a schema refers to is compiled once for all schemas that do: in large documents nearly everything refers to everything. */
  #compile({ $defs, ...schema }: JsonMap, use: SchemaUse): FindMisfits {
    let validate: ValidateFunction;
    try {
      for (const [name, definition] of Object.entries(isMap($defs) ? $defs : {})) {
        const id = idOf(use, name);
        if (this.#named.has(id)) continue;
        this.#named.add(id);
        this.#ajv.addSchema(forAjv(definition, use, this.#ajv) as JsonMap, id);
      }
      validate = this.#ajv.compile(forAjv(schema, use, this.#ajv) as JsonMap);
    } catch {
      // What ajv refuses nothing can be held to; `check` has said so.
      return () => [];
    }
    return (value) => (validate(value) ? [] : misfits(validate.errors ?? []));
  }
}

/** Formats whose test is worse than linear, with the longest text that is worth it; what is longer is let pass. */
const slowFormats: readonly (readonly [string, number])[] = [
  ['url', 2_048],
  ['regex', 4_096],
];

/** Whether no two items are alike, in time linear in the list. */
function areUnique(stated: unknown, items: readonly Json[]): boolean {
  return stated !== true || new Set(items.map((item) => JSON.stringify(sorted(item)))).size === items.length;
}

/** A value with the members of its maps in one order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, item]) => [name, sorted(item as Json)]),
  );
}

/**
 * A schema in which resources that come in several forms have to be one of these, where the forms are stated and the fields of all of them were
 * put together by a tool: together they say less than each form does.
 */
function withUnions(spec: Spec, { $defs, ...schema }: JsonMap, use: SchemaUse): JsonMap {
  if (!isMap($defs)) return schema;
  const definitions: Record<string, Json> = { ...$defs };
  for (let todo = Object.keys($defs); todo.length > 0; ) {
    const known = todo;
    todo = [];
    for (const name of known) {
      const resource = entryOf(spec.resources.all, name);
      if (!resource?.shape || !isStated(resource.shape) || !isStated(resource.fields)) continue;
      const { $defs: more, ...form } = toJsonSchema(spec, resource.shape.value, use);
      definitions[name] = fitsAll([definitions[name] ?? {}, form]);
      for (const [inner, definition] of Object.entries(isMap(more) ? more : {})) {
        if (Object.hasOwn(definitions, inner)) continue;
        definitions[inner] = definition as Json;
        todo.push(inner);
      }
    }
  }
  return { ...schema, $defs: definitions };
}

function misfits(errors: readonly ErrorObject[]): Misfit[] {
  return errors.map(({ instancePath, keyword, params, message = '' }) => {
    const member: unknown = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
    return { path: pathOf(instancePath), keyword, message, ...(typeof member === 'string' && { member }) };
  });
}

function idOf(use: SchemaUse, name: string): string {
  return `ninefold:/${use}/${encodeURIComponent(name)}`;
}

/** The keywords whose members are schemas under names of their own. */
const namesSchemas: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs']);

/**
 * A schema whose references to definitions name those of all schemas. Ajv throws at a format that it does not know; the standard says
 * that it then constrains nothing.
 */
function forAjv(value: Json, use: SchemaUse, ajv: Ajv2020, areNamed = false): Json {
  if (Array.isArray(value)) return value.map((item: Json) => forAjv(item, use, ajv));
  if (!isMap(value)) return value;
  const out: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key === 'format' && typeof item === 'string' && ajv.formats[item] === undefined) continue;
    // What is open of a shape constrains nothing, and takes nothing from the rest of it.
    if (isStanding(item)) {
      if (areNamed) out[key] = true;
      continue;
    }
    const [, name, rest = ''] = (key === '$ref' && typeof item === 'string' && /^#\/\$defs\/([^/]+)(\/.*)?$/.exec(item)) || [];
    const referred = name === undefined ? undefined : idOf(use, keyOfFragmentStep(name)) + (rest === '' ? '' : `#${rest}`);
    Object.defineProperty(out, key, {
      value: referred ?? forAjv(item, use, ajv, !areNamed && namesSchemas.has(key)),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return out;
}
