import type { Ajv, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
import { fitsAll } from '../../parts/shapes/branches.ts';
import { newAjv } from '../../parts/shapes/validators.ts';
import { addKeywords, boundErrors, capFormats, correctEvaluation } from './ajv-keywords.ts';
import { type PreparedSchema, prepareSchema, type Schema, usesInheritedNames } from './schema.ts';
import { type CompiledSchema, compileLazily, Doubt, NamedCalls, type Validate } from './validation.ts';
import type { Violation } from './violation.ts';
import type { Branches } from './violation-words.ts';

export interface Validator {
  /**
   * A validator for one schema, made and compiled on its first use; a schema that ajv refuses throws then. Without `placeOf` paths are
   * JSON Pointers into a body. With it, the value is a record of parameters, and it says where each of them came from.
   */
  compile(schema: Schema | boolean | (() => Schema | boolean), placeOf?: (name: string) => Violation['in']): Validate;
}

interface ValidatorOptions {
  /** Schemas that others name by `$ref: 'word'`. */
  readonly shared?: Readonly<Record<string, Schema>>;
  /** The schema that others name by `$ref: 'named:word'`, asked for when a value is first held to it. */
  readonly named?: (name: string) => Schema;
  /** Told of each format that nothing here knows; it then constrains nothing. */
  readonly onUnknownFormat?: (format: string) => void;
}

/**
 * Makes validators of JSON Schema 2020-12, with the formats of the language asserted and words it does not know ignored.
 * BigInts are integers: a value is validated by ajv's own numeric code, and again by exact keywords where that failed and a BigInt
 * is there. What cannot be held to a pattern in time fits nothing.
 */
export function createValidator(options: ValidatorOptions = {}): Validator {
  const engines = new Map<string, SchemaEngine>();
  const unknown = new Set<string>();
  const doubt = new Doubt();
  const calls = new NamedCalls();
  const shared = options.shared ?? {};
  const sharedInherits = Object.values(shared).some(usesInheritedNames);
  const onUnknownFormat = (format: string) => {
    if (!unknown.has(format)) options.onUnknownFormat?.(format);
    unknown.add(format);
  };
  const compileWith = (schema: Schema | boolean, exact: boolean): CompiledSchema => {
    const own = sharedInherits || usesInheritedNames(schema);
    const key = `${exact} ${own}`;
    const engine =
      engines.get(key) ??
      new SchemaEngine({ shared, onUnknownFormat, exact, own, named: (name) => compileNamed(name, exact), doubt, calls });
    engines.set(key, engine);
    return engine.compile(schema);
  };
  const named = new Map<string, CompiledSchema>();
  const compileNamed = (name: string, exact: boolean): CompiledSchema => {
    const key = `${exact} ${name}`;
    const known = named.get(key) ?? compileWith(options.named?.(name) ?? {}, exact);
    named.set(key, known);
    return known;
  };
  return {
    compile: (schema, placeOf) =>
      compileLazily((exact) => compileWith(typeof schema === 'function' ? schema() : schema, exact), placeOf, doubt, calls),
  };
}

/** One ajv with the words and formats of the language, its schemas, and the places of all their inner ones. */
class SchemaEngine implements Branches {
  private readonly ajv: Ajv2020;
  private readonly exact: boolean;
  private readonly places = new WeakMap<object, string>();
  private readonly inner = new Map<string, ValidateFunction>();
  private readonly onUnknownFormat: (format: string) => void;
  private sharedSearchFirst = false;
  private compiled = 0;

  constructor({ shared, onUnknownFormat, exact, own, named, doubt, calls }: EngineOptions) {
    this.exact = exact;
    this.onUnknownFormat = onUnknownFormat;
    this.ajv = newAjv({ allErrors: true, verbose: true, ownProperties: own }, doubt.raise);
    capFormats(this.ajv);
    addKeywords(this.ajv);
    correctEvaluation(this.ajv);
    boundErrors(this.ajv);
    addNamed(this.ajv, (name) => named(name).validate, calls);
    for (const [name, schema] of Object.entries(shared)) {
      const prepared = this.prepare(schema, name);
      if (prepared.searchFirst) this.sharedSearchFirst = true;
      this.ajv.addSchema(asObject(prepared.schema), name);
    }
  }

  compile(schema: Schema | boolean): CompiledSchema {
    this.compiled++;
    const key = `schema-${this.compiled}`;
    const prepared = this.prepare(schema, key);
    this.ajv.addSchema(asObject(prepared.schema), key);
    return { engine: this, validate: this.compileKey(key), searchFirst: prepared.searchFirst || this.sharedSearchFirst };
  }

  branch(parent: object, path: string): ValidateFunction | undefined {
    const place = this.places.get(parent);
    if (place === undefined) return undefined;
    const ref = `${place}/${path}`;
    const known = this.inner.get(ref) ?? this.compileRef(ref);
    this.inner.set(ref, known);
    return known;
  }

  private compileKey(key: string): ValidateFunction {
    const validate = this.ajv.getSchema(key);
    if (validate === undefined) throw new Error(`No schema is named ${key}.`);
    return validate;
  }

  private compileRef($ref: string): ValidateFunction {
    return this.ajv.compile({ $ref });
  }

  private prepare(schema: Schema | boolean, key: string): PreparedSchema {
    return prepareSchema(schema, {
      knowsFormat: (format) => this.ajv.formats[format] !== undefined,
      onUnknownFormat: this.onUnknownFormat,
      onPlace: (copy, pointer) => this.places.set(copy, `${key}#${pointer}`),
      exact: this.exact,
    });
  }
}

interface EngineOptions {
  readonly shared: Readonly<Record<string, Schema>>;
  readonly onUnknownFormat: (format: string) => void;
  /** Whether numeric keywords know BigInts. */
  readonly exact: boolean;
  /** Compiles the schema that others name so. */
  readonly named: (name: string) => CompiledSchema;
  readonly doubt: Doubt;
  readonly calls: NamedCalls;
  /** Whether inherited members are told from own ones, which costs. */
  readonly own: boolean;
}

/** Ajv takes no boolean under a name. */
function asObject(schema: Record<string, unknown> | boolean): Record<string, unknown> {
  return typeof schema === 'boolean' ? fitsAll([schema]) : schema;
}

/**
 * Adds `wireNamed`, which holds a value to a schema that is compiled when the first value comes to it. Ajv compiles whatever a
 * `$ref` leads to at once: of hundreds of schemas that refer to each other, all.
 */
function addNamed(ajv: Ajv, compile: (name: string) => ValidateFunction, calls: NamedCalls): void {
  ajv.addKeyword({
    keyword: 'wireNamed',
    schemaType: 'string',
    code(cxt) {
      // The schema type is checked by ajv.
      const name = cxt.schema as string;
      callRef(cxt, cxt.gen.scopeValue('validate', { ref: calls.of(() => compile(name)) }));
    },
  });
}
