import type { Json, Pointer } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { type ErrorCondition, generalCondition, partsOf } from '../../parts/conditions.ts';
import type { ErrorCode, ErrorRule } from '../../parts/errors.ts';
import { type Expression, entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { isNever } from '../../parts/possible-errors.ts';
import { ruleFor } from '../../parts/refusal-rules.ts';
import type { Spec } from '../../parts/spec.ts';
import type { TrialExchange } from '../script/exchange.ts';
import type { Expressions } from './expressions.ts';

/** The refusal that the document states for something: its code, and the rule of it that speaks. */
export interface StatedRefusal {
  readonly code: ErrorCode;
  readonly rule: ErrorRule;
  readonly status: number | undefined;
}

/** What refusals look like and which one a condition is answered with. */
export class Refusals {
  readonly #spec: Spec;
  readonly #codeAt: readonly string[] | undefined;
  /** The members on the way to the status in the stated payload, where it has it. */
  readonly statusAt: readonly string[] | undefined;

  constructor(spec: Spec, expressions: Expressions) {
    this.#spec = spec;
    // Codes that were only read off a source are no names that its service knows.
    this.#codeAt = spec.errors.codes.standing === 'inferred' ? undefined : placeOf(spec, expressions, 'code');
    const place = spec.errors.payload.standing === 'stated' ? placeOf(spec, expressions, 'status') : undefined;
    this.statusAt = place?.length ? place : undefined;
  }

  /** Whether a refusal's code can be read off it. */
  get showsCodes(): boolean {
    return this.#codeAt !== undefined;
  }

  /** The refusal of a condition at an operation: a rule that names the operation before one for all. */
  of(condition: ErrorCondition, operation: Operation | undefined): StatedRefusal | undefined {
    const found = ruleFor(this.#spec.errors, condition, operation);
    return found && { ...found, status: statedValue(found.rule.status) };
  }

  /** What a condition may be answered with: its own code, and those of the narrower ones that it comes apart into. */
  among(condition: ErrorCondition, operation: Operation | undefined): readonly StatedRefusal[] {
    const all = [condition, ...partsOf(condition)].flatMap((one) => this.of(one, operation) ?? []);
    return all.filter(({ rule }, at) => all.findIndex((one) => one.rule === rule) === at);
  }

  /** The names of the codes that a condition may be answered with. */
  codesFor(condition: ErrorCondition, operation: Operation | undefined): readonly string[] {
    return this.among(condition, operation).map(({ code }) => code.name);
  }

  /** What the document says of a condition besides its code: that it never arises, that it is left to the implementation, or neither. */
  standingOf(condition: ErrorCondition): 'never' | 'left open' | 'refused' {
    const { conditions } = this.#spec.errors;
    if (isNever(this.#spec, condition)) return 'never';
    return (conditions[condition] ?? conditions[generalCondition(condition)]) ? 'left open' : 'refused';
  }

  /** The refusal that a code is, at an operation. */
  named(name: string, operation: Operation | undefined): StatedRefusal | undefined {
    const rules = this.#rules().filter(({ code }) => code.name === name);
    const named = operation && rules.find(({ rule }) => rule.on !== undefined && namesOperation(rule.on, operation));
    return named ?? rules.find(({ rule }) => rule.on === undefined) ?? rules[0];
  }

  /** Whether a refusal that shows no code may be an error of the service's own at an operation, by its status. */
  mayBeOwn(exchange: Pick<TrialExchange, 'status' | 'body'>, operation: Operation | undefined): boolean {
    if (this.codeIn(exchange) !== undefined) return false;
    return this.#rules().some(
      ({ rule, status }) =>
        rule.if !== undefined &&
        status === exchange.status &&
        (rule.on === undefined || operation === undefined || namesOperation(rule.on, operation)),
    );
  }

  /** Every rule of every code. */
  all(): readonly StatedRefusal[] {
    return this.#rules();
  }

  /** An answer with the code and the status of each rule, as far as they are stated. */
  examples(): Pick<TrialExchange, 'status' | 'headers' | 'body' | 'text'>[] {
    const headers = { 'content-type': 'application/problem+json' };
    return this.#rules().map(({ code, status = 400 }) => {
      const body = [...(this.#codeAt ?? ['code'])].reverse().reduce<Json>((inner, name) => ({ [name]: inner }), code.name);
      return { status, headers, body, text: JSON.stringify(body) };
    });
  }

  /** The code that a refusal shows. */
  codeIn({ body }: Pick<TrialExchange, 'body'>): string | undefined {
    if (!this.#codeAt || body === undefined) return undefined;
    const value = this.#codeAt.reduce<Json | undefined>((at, key) => (isMap(at) ? at[key] : undefined), body);
    return typeof value === 'string' ? value : undefined;
  }

  /** Whether an answer is how open facts are answered, which are no promise; a stated code under this status is another refusal's. */
  isOpen(exchange: Pick<TrialExchange, 'status' | 'body'>): boolean {
    if (exchange.status !== 501) return false;
    const code = this.codeIn(exchange);
    return code === undefined || this.#rules().every((one) => one.code.name !== code);
  }

  /** Whether an answer says that too much was asked, which says nothing about what was asked. */
  isHurried(exchange: TrialExchange): boolean {
    if (exchange.status === 429) return true;
    const code = this.codeIn(exchange);
    const limits: readonly ErrorCondition[] = ['limit.rate', 'limit.quota', 'limit.time', 'service.unavailable'];
    return (
      exchange.status >= 400 &&
      limits.some((condition) => code !== undefined && this.of(condition, undefined)?.code.name === code)
    );
  }

  #rules(): StatedRefusal[] {
    return entriesOf(this.#spec.errors.codes).flatMap(([, code]) =>
      code.rules.map((rule) => ({ code, rule, status: statedValue(rule.status) })),
    );
  }
}

/** What stands for a code, and for a status, to be found again. */
const marks = { code: 'ninefold_code_mark', status: 486 };

/** The members on the way to the code, or the status, in the stated payload; nothing where it has none, or none that can be found. */
function placeOf({ errors }: Spec, expressions: Expressions, what: 'code' | 'status'): readonly string[] | undefined {
  const { payload } = errors;
  if (!isStated(payload)) return undefined;
  if (payload.value === 'problem') return [what];
  const { data } = payload.value;
  const mark = marks[what];
  const constants = entriesOf(errors.codes).flatMap(([, code]) => Object.keys(code.constants).map((name) => [name, null]));
  const unsaid = { ...Object.fromEntries(constants), result: null, operation: '', version: '' };
  const context = { ...unsaid, ...marks, message: 'm', path: '/', violations: [], request_id: 'r' };
  const give = (expression: Expression) => {
    const evaluated = expressions.evaluate(expression, undefined, { context });
    return typeof evaluated === 'string' ? undefined : evaluated.value;
  };
  if (isOneExpression(data)) return pathTo(give(data), mark);
  for (const [name, expression] of Object.entries(data)) {
    const path = pathTo(give(expression), mark);
    if (path) return [name, ...path];
  }
  return undefined;
}

function pathTo(value: Json | undefined, mark: Json): string[] | undefined {
  if (value === mark) return [];
  if (!isMap(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const path = pathTo(inner, mark);
    if (path) return [name, ...path];
  }
  return undefined;
}

export function isOneExpression(data: Expression | Readonly<Record<string, Expression>>): data is Expression {
  return 'source' in data && typeof data.source === 'string';
}

/** The fact that says under which status a rule's code comes. */
export function statusFact({ code, rule }: StatedRefusal): {
  readonly kind: string;
  readonly subject: string;
  readonly at: Pointer;
} {
  return { kind: 'status codes', subject: code.name, at: rule.status.at };
}
