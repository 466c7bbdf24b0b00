import { isSaidByType } from '../../parts/expressions/shape-type.ts';
import { type Expression, statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import type { Compilation, Evaluate } from '../exchange/compilation.ts';
import type { Refusal, Value } from '../exchange/exchange.ts';
import { unfit } from '../exchange/unfit.ts';
import type { Validate } from '../http/ajv.ts';

/** What sets one field on a change. */
export interface Setter {
  readonly field: string;
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
      return [{ field: field.name, expression, evaluate: prepared.evaluate, validate, refuse }];
    });
    known.set(key, setters);
    return setters;
  };
}
