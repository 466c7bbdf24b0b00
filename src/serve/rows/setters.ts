import { type Expression, statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import type { Compilation } from '../compilation.ts';
import type { Evaluate } from '../evaluate.ts';
import type { Validate } from '../wire/ajv.ts';

/** What sets one field on a change. */
export interface Setter {
  readonly field: string;
  readonly expression: Expression;
  readonly evaluate: Evaluate;
  readonly validate: Validate;
}

/** What sets fields on a change, by its words: the operation, the transition, the verb, `write`. */
export type Setters = (words: readonly string[]) => readonly Setter[];

/** Compiles what sets the fields of a resource, each change's on its first use. */
export function rememberSetters(fields: readonly Field[], compilation: Compilation): Setters {
  const known = new Map<string, readonly Setter[]>();
  return (words) => {
    const key = words.join('\n');
    const found = known.get(key);
    if (found) return found;
    const setters = fields.flatMap((field): Setter[] => {
      // The narrowest word wins: the operation or transition before the verb, the verb before `write`.
      const expression = words.map((word) => field.set[word]).find((candidate) => candidate !== undefined);
      if (!expression) return [];
      const validate = compilation.validate(statedValue(field.shape) ?? {}, 'stored');
      return [{ field: field.name, expression, evaluate: compilation.expression(expression, words[0]), validate }];
    });
    known.set(key, setters);
    return setters;
  };
}
