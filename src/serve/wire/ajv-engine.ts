import type { ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { fitsAll } from '../../parts/shapes/compose.ts';
import { newAjv } from '../../parts/shapes/validators.ts';
import type { Branches } from './ajv-branches.ts';
import { correctEvaluation } from './ajv-evaluated.ts';
import { addNamed } from './ajv-named.ts';
import { addKeywords, capFormats, regExp } from './ajv-words.ts';
import type { Schema } from './schema.ts';
import { type Prepared, prepareSchema } from './schema-prepare.ts';

/** A compiled schema, and the engine that knows its inner ones. */
export interface Compiled {
  readonly engine: Branches;
  /** Ajv's own function: true, or false with its `errors`. */
  readonly validate: ValidateFunction;
  /** Whether a BigInt could pass it for the wrong reason. */
  readonly searchFirst: boolean;
}

export interface EngineOptions {
  readonly shared: Readonly<Record<string, Schema>>;
  readonly onUnknownFormat: (format: string) => void;
  /** Whether numeric keywords know BigInts. */
  readonly exact: boolean;
  /** Compiles the schema that others name so. */
  readonly named: (name: string) => Compiled;
  /** Whether inherited members are told from own ones, which costs. */
  readonly own: boolean;
}

/** One ajv with the words and formats of the language, its schemas, and the places of all their inner ones. */
export class Engine implements Branches {
  private readonly ajv: Ajv2020;
  private readonly exact: boolean;
  private readonly places = new WeakMap<object, string>();
  private readonly inner = new Map<string, ValidateFunction>();
  private readonly onUnknownFormat: (format: string) => void;
  private sharedSearchFirst = false;
  private compiled = 0;

  constructor({ shared, onUnknownFormat, exact, own, named }: EngineOptions) {
    this.exact = exact;
    this.onUnknownFormat = onUnknownFormat;
    this.ajv = newAjv({ allErrors: true, verbose: true, ownProperties: own, code: { regExp } });
    capFormats(this.ajv);
    addKeywords(this.ajv);
    correctEvaluation(this.ajv);
    addNamed(this.ajv, (name) => named(name).validate);
    for (const [name, schema] of Object.entries(shared)) {
      const prepared = this.prepare(schema, name);
      if (prepared.searchFirst) this.sharedSearchFirst = true;
      this.ajv.addSchema(asObject(prepared.schema), name);
    }
  }

  compile(schema: Schema | boolean): Compiled {
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

  private prepare(schema: Schema | boolean, key: string): Prepared {
    return prepareSchema(schema, {
      knowsFormat: (format) => this.ajv.formats[format] !== undefined,
      onUnknownFormat: this.onUnknownFormat,
      onPlace: (copy, pointer) => this.places.set(copy, `${key}#${pointer}`),
      exact: this.exact,
    });
  }
}

/** Ajv takes no boolean under a name. */
function asObject(schema: Record<string, unknown> | boolean): Record<string, unknown> {
  return typeof schema === 'boolean' ? fitsAll([schema]) : schema;
}
