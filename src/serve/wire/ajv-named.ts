import type { Ajv, ValidateFunction } from 'ajv';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';

/**
 * Adds `wireNamed`, which holds a value to a schema that is compiled when the first value comes to it. Ajv compiles whatever a
 * `$ref` leads to at once: of hundreds of schemas that refer to each other, all.
 */
export function addNamed(ajv: Ajv, compile: (name: string) => ValidateFunction): void {
  ajv.addKeyword({
    keyword: 'wireNamed',
    schemaType: 'string',
    code(cxt) {
      // The schema type is checked by ajv.
      const name = cxt.schema as string;
      callRef(cxt, cxt.gen.scopeValue('validate', { ref: later(() => compile(name)) }));
    },
  });
}

/** A validating function that is made when it is first called; what it finds stands on it, as on any of ajv's. */
function later(make: () => ValidateFunction): Partial<ValidateFunction> & ((...values: Parameters<ValidateFunction>) => boolean) {
  let made: ValidateFunction | undefined;
  const validate: ReturnType<typeof later> = (...values) => {
    made ??= make();
    const isValid = made(...values);
    validate.errors = made.errors ?? null;
    if (made.evaluated) validate.evaluated = made.evaluated;
    // Only a schema with `$async` gives a promise, and that keyword is dropped.
    return isValid as boolean;
  };
  validate.evaluated = { dynamicProps: false, dynamicItems: false };
  return validate;
}
