/** How a value is held to a schema that is compiled, and the calls of other schemas by name meanwhile. */

import type { ErrorObject, ValidateFunction } from 'ajv';
import { holdsBigInt } from './json.ts';
import { noViolations, type Violation, violationsMax } from './violation.ts';
import { type Branches, reduceErrors, toViolation } from './violation-words.ts';

/** Says what is wrong with a value; nothing, as one shared empty list, where it fits. */
export type Validate = (value: unknown) => readonly Violation[];

/** Holds values to a schema that is compiled when the first of them comes; exactly, where a BigInt asks for it. */
export function compileLazily(
  compile: (exact: boolean) => CompiledSchema,
  placeOf: PlaceOf,
  doubt: Doubt,
  calls: NamedCalls,
): Validate {
  let ordinary: CompiledSchema | undefined;
  let exact: CompiledSchema | undefined;
  const hold = (compiled: CompiledSchema, value: unknown) =>
    calls.during(() => {
      const violations = judge(compiled, value, placeOf, doubt);
      return calls.isTooDeep ? beyondDepth(placeOf) : violations;
    });
  const validateExactly = (value: unknown) => {
    exact ??= compile(true);
    return hold(exact, value);
  };
  return (value) => {
    ordinary ??= compile(false);
    if (ordinary.searchFirst && holdsBigInt(value)) return validateExactly(value);
    const violations = hold(ordinary, value);
    return violations.length > 0 && holdsBigInt(value) ? validateExactly(value) : violations;
  };
}

function judge(compiled: CompiledSchema, value: unknown, placeOf: PlaceOf, doubt: Doubt): readonly Violation[] {
  const isValid = compiled.validate(value);
  const isInDoubt = doubt.take();
  if (!isValid) return report(compiled, placeOf);
  return isInDoubt ? tooLong(placeOf) : noViolations;
}

/** A name or a text that no pattern could be told of, so that what depends on it may not have been asked. */
function tooLong(placeOf: PlaceOf): Violation[] {
  return [{ in: placeOf?.('') ?? 'body', path: '', found: 'a text that is too long for its pattern', expected: 'shorter texts' }];
}

/** A value whose schema leads through so many others that it was not asked to its end. */
function beyondDepth(placeOf: PlaceOf): Violation[] {
  return [
    {
      in: placeOf?.('') ?? 'body',
      path: '',
      found: 'a value of a schema that leads through hundreds of others',
      expected: 'no such',
    },
  ];
}

function report({ engine, validate }: CompiledSchema, placeOf: PlaceOf): Violation[] {
  const violations = new Map<string, Violation>();
  for (const error of reduceErrors(validate.errors ?? [], engine)) {
    const violation = toViolation(error, placeOf);
    const key = `${violation.path}\0${violation.expected}`;
    if (!violations.has(key)) violations.set(key, violation);
    if (violations.size === violationsMax) break;
  }
  return [...violations.values()];
}

type PlaceOf = ((name: string) => Violation['in']) | undefined;

/** A compiled schema, and the engine that knows its inner ones. */
export interface CompiledSchema {
  readonly engine: Branches;
  /** Ajv's own function: true, or false with its `errors`. */
  readonly validate: ValidateFunction;
  /** Whether a BigInt could pass it for the wrong reason. */
  readonly searchFirst: boolean;
}

/** Whether a text was met since it was last asked that no pattern could be told of. */
export class Doubt {
  private isThere = false;

  readonly raise = (): boolean => {
    this.isThere = true;
    return false;
  };

  take(): boolean {
    const wasThere = this.isThere;
    this.isThere = false;
    return wasThere;
  }
}

/**
 * The calls of schemas by name while one value is validated. Schemas that name each other in many ways are called with the same part of a
 * value over and over; once there were many calls, each is carried out once and its outcome is kept until the value is done with.
 */
export class NamedCalls {
  #known: Map<ValidateFunction, Map<unknown, Map<string, Outcome>>> | undefined;
  #kept = 0;
  #count = 0;
  #depth = 0;
  #within = 0;
  #isTooDeep = false;

  /** Whether schemas led through so many others that the last of them were not asked. */
  get isTooDeep(): boolean {
    return this.#isTooDeep;
  }

  /** What is made of one value; its outcomes are forgotten afterwards. */
  during<Result>(run: () => Result): Result {
    this.#depth += 1;
    try {
      return run();
    } finally {
      this.#depth -= 1;
      if (this.#depth === 0) this.#forget();
    }
  }

  /** A validating function that is made when it is first called; what it finds stands on it, as on any of ajv's. */
  of(make: () => ValidateFunction): NamedSchema {
    let made: ValidateFunction | undefined;
    const validate: NamedSchema = (...values) => {
      const outcome = this.#within >= depthMost ? this.#tooDeep() : this.#called(() => (made ??= make()), values);
      validate.errors = outcome.errors;
      if (outcome.evaluated) validate.evaluated = outcome.evaluated;
      return outcome.isValid;
    };
    validate.evaluated = { dynamicProps: false, dynamicItems: false };
    return validate;
  }

  #called(made: () => ValidateFunction, values: Parameters<ValidateFunction>): Outcome {
    this.#count += 1;
    this.#within += 1;
    try {
      const isBusy = this.#count > callsFree || this.#within > depthFree;
      return isBusy ? this.#outcome(made(), values) : outcomeOf(made(), values);
    } finally {
      this.#within -= 1;
    }
  }

  #tooDeep(): Outcome {
    this.#isTooDeep = true;
    return nothingWrong;
  }

  #outcome(made: ValidateFunction, values: Parameters<ValidateFunction>): Outcome {
    const [value, context] = values;
    if (this.#kept >= keptMost) this.#letGo();
    this.#known ??= new Map();
    const byValue = entry(this.#known, made, () => new Map<unknown, Map<string, Outcome>>());
    const byPlace = entry(byValue, value, () => new Map<string, Outcome>());
    const place = context?.instancePath ?? '';
    const known = byPlace.get(place);
    if (known) return known;
    // A schema that asks nothing but itself of a value asks nothing of it.
    byPlace.set(place, nothingWrong);
    const outcome = outcomeOf(made, values);
    this.#kept += 1 + (outcome.errors?.length ?? 0);
    byPlace.set(place, outcome);
    return outcome;
  }

  /** What was found of parts that are through is not asked for again: a value may have millions of them. */
  #letGo(): void {
    this.#known = undefined;
    this.#kept = 0;
  }

  #forget(): void {
    this.#letGo();
    this.#count = 0;
    this.#isTooDeep = false;
  }
}

type NamedSchema = Partial<ValidateFunction> & ((...values: Parameters<ValidateFunction>) => boolean);

interface Outcome {
  readonly isValid: boolean;
  readonly errors: ErrorObject[] | null;
  readonly evaluated: ValidateFunction['evaluated'];
}

const nothingWrong: Outcome = { isValid: true, errors: null, evaluated: undefined };

/** Ordinary values need no more, and remembering costs more than it saves. */
const callsFree = 1_000;
const depthFree = 50;
/** Outcomes that are remembered, and the errors in them. */
const keptMost = 20_000;
/** Calls within each other, each of which takes of the stack. */
const depthMost = 500;
/** Those of a wrong value that are kept, the last, which say what those before them come to; each name adds up what the names in it found. */
const errorsMost = 1_000;

function outcomeOf(made: ValidateFunction, values: Parameters<ValidateFunction>): Outcome {
  // Only a schema with `$async` gives a promise, and that keyword is dropped.
  const isValid = made(...values) as boolean;
  const errors = made.errors ?? null;
  return {
    isValid,
    errors: errors && errors.length > errorsMost ? errors.slice(-errorsMost) : errors,
    evaluated: made.evaluated && { ...made.evaluated },
  };
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = make();
  map.set(key, value);
  return value;
}
