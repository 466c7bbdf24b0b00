import type { Json } from '../../document/document.ts';
import { type EvaluationContext, Failed } from '../../parts/expressions/cel-value.ts';
import { type CompiledExpression, compileExpression, type Read } from '../../parts/expressions/compile.ts';
import type { ExpressionUse } from '../../parts/expressions/scope.ts';
import type { Expression } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { expressionUses } from '../../parts/uses/all.ts';

/** What an expression comes to, as far as it can be known from outside. */
export type Evaluated = { readonly value: Json } | 'failed' | 'unknown';

/** Thrown by `follow`: the row that a reference leads to, or what is read of it, was not seen. */
export class NotSeen extends Error {
  override readonly name = 'NotSeen';
}

/** Stands for all members of a variable, where nothing of what was sent can be told. */
export const everyMember = '*';

/** What is known when an expression is evaluated: its variables, and what of them is not seen from here. */
export interface Known {
  readonly context: EvaluationContext;
  /** The members of a variable that it may have without our seeing them: `resource` to the fields that its reader is not shown. */
  readonly unseen?: Readonly<Record<string, ReadonlySet<string>>>;
}

/** The expressions of a document by their places, ready to be evaluated here as the service has to. */
export class Expressions {
  readonly #spec: Spec;
  #uses: Map<string, ExpressionUse> | undefined;
  readonly #compiled = new Map<string, CompiledExpression | undefined>();
  /** The same, by what the document has of each: expressions are asked for with every request. */
  readonly #known = new WeakMap<Expression, Map<string | undefined, CompiledExpression | undefined>>();
  /** Those that are made of pieces of what the document states. */
  readonly #composed = new WeakSet<Expression>();

  constructor(spec: Spec) {
    this.#spec = spec;
  }

  evaluate(expression: Expression, operation: string | undefined, { context, unseen = {} }: Known): Evaluated {
    const compiled = this.#compile(expression, operation);
    if (!compiled) return 'unknown';
    for (const { root, path, follows } of compiled.reads) {
      const isGiven = root === 'now' ? context.now !== undefined : root in context;
      if (root === 'event' && !hasMember(context.event, path[0])) return 'unknown';
      if (root === 'caller' && !isTold(context.caller, path[0])) return 'unknown';
      const hides = unseen[root];
      if (!isGiven || (follows && context.follow === undefined)) return 'unknown';
      if (hides && (path[0] === undefined ? hides.size > 0 : hides.has(path[0]) || hides.has(everyMember))) return 'unknown';
    }
    if (compiled.seeks.length > 0 && context.follow === undefined) return 'unknown';
    const value = evaluated(compiled, context);
    if (value === undefined) return 'unknown';
    if (value instanceof Failed) return 'failed';
    // A bigint has no form in JSON that the rest would understand.
    return typeof value === 'bigint' ? 'unknown' : { value: (value ?? null) as Json };
  }

  /** Whether an expression reads a variable. */
  reads(expression: Expression, operation: string | undefined, root: string): boolean {
    return this.readsOf(expression, operation).some((read) => read.root === root);
  }

  /** Every path that an expression reads. */
  readsOf(expression: Expression, operation: string | undefined): readonly Read[] {
    return this.#compile(expression, operation)?.reads ?? [];
  }

  /** An expression made of pieces of another, which reads the same variables at the same place. */
  composed({ at }: Expression, source: string): Expression {
    const made: Expression = { source, at };
    this.#composed.add(made);
    return made;
  }

  #compile(expression: Expression, operation: string | undefined): CompiledExpression | undefined {
    const known = this.#known.get(expression) ?? new Map<string | undefined, CompiledExpression | undefined>();
    if (known.has(operation)) return known.get(operation);
    const compiled = this.#compileOnce(expression, operation);
    this.#known.set(expression, known.set(operation, compiled));
    return compiled;
  }

  #compileOnce(expression: Expression, operation: string | undefined): CompiledExpression | undefined {
    const own = this.#composed.has(expression) ? expression.source : undefined;
    const key = `${expression.at}\n${operation ?? ''}\n${own ?? ''}`;
    if (this.#compiled.has(key)) return this.#compiled.get(key);
    this.#uses ??= new Map(expressionUses(this.#spec).map((use) => [use.at, use]));
    const use = this.#uses.get(expression.at);
    const scope = use?.scopes.find((candidate) => candidate.operation === operation) ?? use?.scopes[0];
    const compiled =
      use && scope
        ? compileExpression(this.#spec, { source: own ?? use.source, scope: scope.scope, expected: use.expected })
        : undefined;
    this.#compiled.set(key, compiled);
    return compiled;
  }
}

function hasMember(value: EvaluationContext[string], member: string | undefined): boolean {
  return typeof value === 'object' && value !== null && member !== undefined && member in value;
}

/** Whether a member of the caller is known here: what a token says can be read, what the service keeps of a key cannot. */
function isTold(caller: EvaluationContext[string], member = 'claims'): boolean {
  if (member === 'id' || member === 'user' || member === 'scopes') return true;
  return typeof caller === 'object' && caller !== null && member in caller;
}

/** Nothing where it follows a reference to what was not seen. */
function evaluated(
  compiled: CompiledExpression,
  context: EvaluationContext,
): ReturnType<CompiledExpression['evaluate']> | Failed {
  try {
    return compiled.evaluate(context) ?? null;
  } catch (error) {
    if (error instanceof NotSeen) return undefined;
    throw error;
  }
}

/** The numbers and texts that a condition compares with. */
export function hintsIn(source: string): readonly Json[] {
  const texts = [...source.matchAll(/'([^'\\]*)'|"([^"\\]*)"/g)].map(([, one, other]) => one ?? other ?? '');
  const numbers = [...source.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?/g)].map(([text]) => Number(text));
  return [...texts, ...numbers.flatMap((number) => [number, number + 1, number - 1])];
}
