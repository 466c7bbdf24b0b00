import { reduceErrors } from './ajv-branches.ts';
import { type Compiled, Engine } from './ajv-engine.ts';
import { holdsBigInt } from './exact-integer.ts';
import type { Schema } from './schema.ts';
import { usesInheritedNames } from './schema-prepare.ts';
import { noViolations, type Violation, violationsMax } from './violation.ts';
import { toViolation } from './violation-words.ts';

/** Says what is wrong with a value; nothing, as one shared empty list, where it fits. */
export type Validate = (value: unknown) => readonly Violation[];

export interface Validator {
  /**
   * A validator for one schema, compiled on its first use; a schema that ajv refuses throws then. Without `placeOf` paths are
   * JSON Pointers into a body. With it, the value is a record of parameters, and it says where each of them came from.
   */
  compile(schema: Schema | boolean, placeOf?: (name: string) => Violation['in']): Validate;
}

export interface ValidatorOptions {
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
 * is there. A string longer than its stated `maxLength` is not matched against its `pattern` as well: the author's patterns are
 * trusted, the length of what they meet is not.
 */
export function createValidator(options: ValidatorOptions = {}): Validator {
  const engines = new Map<string, Engine>();
  const unknown = new Set<string>();
  const shared = options.shared ?? {};
  const sharedInherits = Object.values(shared).some(usesInheritedNames);
  const onUnknownFormat = (format: string) => {
    if (!unknown.has(format)) options.onUnknownFormat?.(format);
    unknown.add(format);
  };
  const compileWith = (schema: Schema | boolean, exact: boolean): Compiled => {
    const own = sharedInherits || usesInheritedNames(schema);
    const key = `${exact} ${own}`;
    const engine =
      engines.get(key) ?? new Engine({ shared, onUnknownFormat, exact, own, named: (name) => compileNamed(name, exact) });
    engines.set(key, engine);
    return engine.compile(schema);
  };
  const named = new Map<string, Compiled>();
  const compileNamed = (name: string, exact: boolean): Compiled => {
    const key = `${exact} ${name}`;
    const known = named.get(key) ?? compileWith(options.named?.(name) ?? {}, exact);
    named.set(key, known);
    return known;
  };
  return { compile: (schema, placeOf) => compileLazily((exact) => compileWith(schema, exact), placeOf) };
}

type PlaceOf = ((name: string) => Violation['in']) | undefined;

function compileLazily(compile: (exact: boolean) => Compiled, placeOf: PlaceOf): Validate {
  let ordinary: Compiled | undefined;
  let exact: Compiled | undefined;
  const validateExactly = (value: unknown) => {
    exact ??= compile(true);
    return exact.validate(value) ? noViolations : report(exact, placeOf);
  };
  return (value) => {
    ordinary ??= compile(false);
    if (ordinary.searchFirst && holdsBigInt(value)) return validateExactly(value);
    if (ordinary.validate(value)) return noViolations;
    return holdsBigInt(value) ? validateExactly(value) : report(ordinary, placeOf);
  };
}

function report({ engine, validate }: Compiled, placeOf: PlaceOf): Violation[] {
  const violations = new Map<string, Violation>();
  for (const error of reduceErrors(validate.errors ?? [], engine)) {
    const violation = toViolation(error, placeOf);
    const key = `${violation.path}\0${violation.expected}`;
    if (!violations.has(key)) violations.set(key, violation);
    if (violations.size === violationsMax) break;
  }
  return [...violations.values()];
}
