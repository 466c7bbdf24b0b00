import type { JsonMap } from '../../document/document.ts';
import type { Expression } from '../../parts/fact.ts';
import { type Ledger, ledgerOf } from '../../parts/facts/ledger.ts';
import { namedSchema, type SchemaUse, toNamingSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { createValidator, type Validate, type Validator } from '../http/ajv.ts';
import { compileExpressions, type Evaluate } from './expressions.ts';
import { type OpenFacts, openFacts } from './open.ts';
import type { OlderVersion } from './versions.ts';

/** What compiling a document into plans shares: its facts, and the compilers of expressions and validators. */
export interface Compilation {
  readonly spec: Spec;
  /** Drawn up when it is first asked for. */
  ledger(): Ledger;
  readonly facts: OpenFacts;
  readonly validator: Validator;
  /** The schema of a resource, by the name that other schemas have for it. */
  readonly named: (name: string) => JsonMap;
  /** The user that callers are taken for, until credentials say. */
  readonly user: string | undefined;
  /** The version that is spoken, where its shapes are not the stored ones. */
  readonly version: OlderVersion | undefined;
  /** The same, with what it reads. */
  readonly prepare: ReturnType<typeof compileExpressions>;
  /** Compiles an expression in the scope of an operation, or where it is only one. */
  expression(expression: Expression, operation?: string): Evaluate;
  /** A validator for a shape, compiled on its first use. */
  validate(shape: Shape, use: SchemaUse): Validate;
}

export function startCompilation(spec: Spec, user: string | undefined): Compilation {
  let ledger: Ledger | undefined;
  const facts = openFacts(spec);
  const schemas = new Map<string, JsonMap>();
  const named = (name: string): JsonMap => {
    const known = schemas.get(name) ?? namedSchema(spec, name);
    schemas.set(name, known);
    return known;
  };
  const validator = createValidator({ named });
  const prepare = compileExpressions(spec);
  return {
    spec,
    ledger() {
      ledger ??= ledgerOf(spec);
      return ledger;
    },
    facts,
    validator,
    named,
    user,
    version: undefined,
    prepare,
    expression: (expression, operation) => prepare(expression, operation).evaluate,
    validate: (shape, use) => {
      let compiled: Validate | undefined;
      return (value) => {
        compiled ??= validator.compile(toNamingSchema(spec, shape, use));
        return compiled(value);
      };
    },
  };
}
