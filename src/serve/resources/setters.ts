import { isSaidByType } from '../../parts/expressions/shape-type.ts';
import { type Expression, statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import { type Compilation, type Evaluate, EvaluationFailure } from '../exchange/compilation.ts';
import { type Fields, type Refusal, Refused, type Value } from '../exchange/exchange.ts';
import { unfit } from '../exchange/unfit.ts';
import type { Validate } from '../http/ajv.ts';
import { withoutPrototype } from '../http/json.ts';
import { describeValue } from '../http/violation.ts';

/** What sets one field on a change. */
export interface Setter {
  readonly field: string;
  /** Whether null is stored where it comes to that. */
  readonly keepsNull: boolean;
  readonly expression: Expression;
  readonly evaluate: Evaluate;
  readonly validate: Validate;
  /** What is answered where it fails or does not fit. */
  readonly refuse: (names: Readonly<Record<string, Value>>, message: string) => Refusal;
}

/** What sets fields on a change, by its words: the operation, the transition, the verb, `write`; but for those that are given otherwise. */
export type Setters = (words: readonly string[], given?: readonly string[]) => readonly Setter[];

const fits: Validate = () => [];

/** Compiles what sets the fields of a resource, each change's on its first use. */
export function rememberSetters(fields: readonly Field[], compilation: Compilation): Setters {
  const known = new Map<string, readonly Setter[]>();
  return (words, given = []) => {
    const key = given.length === 0 ? words.join('\n') : JSON.stringify([words, given]);
    const found = known.get(key);
    if (found) return found;
    const setters = fields.flatMap((field): Setter[] => {
      if (given.includes(field.name)) return [];
      // The narrowest word wins: the operation or transition before the verb, the verb before `write`.
      const expression = words.map((word) => field.set[word]).find((candidate) => candidate !== undefined);
      if (!expression) return [];
      const shape = statedValue(field.shape) ?? {};
      const validate = isSaidByType(shape) ? fits : compilation.validate(shape, 'stored');
      const [operation = ''] = words;
      const prepared = compilation.prepare(expression, operation);
      const refuse: Setter['refuse'] = (names, message) =>
        unfit(compilation.spec, { expression: prepared, operation, names }, message, `a value by which ${field.name} can be set`);
      return [{ field: field.name, keepsNull: field.keepsNull, expression, evaluate: prepared.evaluate, validate, refuse }];
    });
    known.set(key, setters);
    return setters;
  };
}

/** What is set on a change, all of it over the same scope. @throws {Refused} where it fails or does not fit its field. */
export function applySetters(setters: readonly Setter[], scope: Readonly<Record<string, Value>>, fields: Fields): Fields {
  if (setters.length === 0) return fields;
  const values = setters.map(({ field, expression, evaluate, validate, refuse }) => {
    const value = evaluate(scope);
    if (value instanceof EvaluationFailure)
      throw new Refused(refuse(scope, `What sets ${field} failed (${expression.source}): ${value.reason}`));
    if (value !== undefined && value !== null && validate(value).length > 0)
      throw new Refused(
        refuse(scope, `What sets ${field} (${expression.source}) gave ${describeValue(value)}, which is no ${field}.`),
      );
    return value;
  });
  const next = withoutPrototype(fields);
  for (const [index, { field, keepsNull }] of setters.entries()) {
    const value = values[index];
    if (value === undefined || (value === null && !keepsNull)) delete next[field];
    else next[field] = value;
  }
  return next;
}

/** A row with what would be set on it, for those who ask before it is known whether it can be stored. */
export function asStored(setters: readonly Setter[], scope: Readonly<Record<string, Value>>, fields: Fields): Fields {
  try {
    return applySetters(setters, scope, fields);
  } catch (failure) {
    if (!(failure instanceof Refused)) throw failure;
    return fields;
  }
}
