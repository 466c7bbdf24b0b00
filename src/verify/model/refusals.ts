import type { Json, Pointer } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { type ErrorCondition, generalCondition, partsOf } from '../../parts/conditions.ts';
import type { ErrorCode, ErrorRule } from '../../parts/errors.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { followingName } from '../../parts/followed.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { isNever, refusingActs, ruleFor } from '../../parts/possible-errors.ts';
import type { Spec } from '../../parts/spec.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Expressions } from './expressions.ts';
import { placeInRefusals, refusalMarks, type ToldByMessage, toldByMessage } from './refusal-places.ts';

/** The refusal that the document states for something: its code, and the rule of it that speaks. */
export interface StatedRefusal {
  readonly code: ErrorCode;
  readonly rule: ErrorRule;
  readonly status: number | undefined;
}

/** What refusals look like and which one a condition is answered with. */
export class Refusals {
  readonly #spec: Spec;
  readonly #expressions: Expressions;
  /** What conditions are answered with, by condition and operation: it is asked for with every answer. */
  readonly #of = new Map<string, StatedRefusal | undefined>();
  #all: readonly StatedRefusal[] | undefined;
  readonly #codeAt: readonly string[] | undefined;
  /** Where refusals show no code, what tells of one: the members on the way to the message, and the code that alone says so. */
  readonly #messages: ToldByMessage | undefined;
  /** The members on the way to the status in the stated payload, where it has it. */
  readonly statusAt: readonly string[] | undefined;

  constructor(spec: Spec, expressions: Expressions) {
    this.#spec = spec;
    this.#expressions = expressions;
    // Codes that were only read off a source are no names that its service knows.
    this.#codeAt = spec.errors.codes.standing === 'inferred' ? undefined : placeInRefusals(spec, expressions, 'code');
    this.#messages = this.#codeAt || spec.errors.codes.standing === 'inferred' ? undefined : toldByMessage(spec, expressions);
    const place = spec.errors.payload.standing === 'stated' ? placeInRefusals(spec, expressions, 'status') : undefined;
    this.statusAt = place?.length ? place : undefined;
  }

  /** Whether a refusal's code can be read off it. */
  get showsCodes(): boolean {
    return this.#codeAt !== undefined;
  }

  /** Whether a refusal with this code can be known: it shows its code, or words that no other has. */
  tells(name: string): boolean {
    return this.showsCodes || this.#messages?.names.has(name) === true;
  }

  /** The refusal of a condition at an operation: a rule that names the operation before one for all. */
  of(condition: ErrorCondition, operation: Operation | undefined): StatedRefusal | undefined {
    const key = `${condition} ${operation?.name} ${operation?.endpoint?.key}`;
    const known = this.#of.get(key);
    if (known || this.#of.has(key)) return known;
    const found = ruleFor(this.#spec.errors, condition, operation);
    const refusal = found && { ...found, status: statedValue(found.rule.status) };
    this.#of.set(key, refusal);
    return refusal;
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
    // What follows from an operation may refuse it with errors of its own.
    const following = operation
      ? refusingActs(this.#spec, operation).flatMap(({ does }) => (does ? followingName(does) : []))
      : [];
    return this.#rules().some(
      ({ rule, status }) =>
        rule.if !== undefined &&
        status === exchange.status &&
        (rule.on === undefined ||
          operation === undefined ||
          namesOperation(rule.on, operation) ||
          following.some((name) => rule.on?.includes(name))),
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

  /** The code that a refusal shows, or that its words tell. */
  codeIn({ body }: Pick<TrialExchange, 'body'>): string | undefined {
    if (body === undefined) return undefined;
    const path = this.#codeAt ?? this.#messages?.path;
    const value = path?.reduce<Json | undefined>((at, key) => (isMap(at) ? at[key] : undefined), body);
    if (typeof value !== 'string') return undefined;
    return this.#messages ? this.#messages.codes.get(value) : value;
  }

  /** The members on the way to the row in a refusal with a code, at an operation that is kept though it is refused; nothing where it is not shown. */
  resultAt(name: string, operation: string): readonly string[] | undefined {
    const constants = entryOf(this.#spec.errors.codes, name)?.constants ?? {};
    const told = { ...constants, code: name, operation, result: refusalMarks.result };
    return placeInRefusals(this.#spec, this.#expressions, 'result', told);
  }

  /** The members on the way to the place of the first violation in a refusal of a condition; a number is one of a list. */
  placeAt(condition: ErrorCondition): readonly (string | number)[] | undefined {
    if (statedValue(this.#spec.errors.payload) === 'problem') return ['violations', 0, 'path'];
    const code = this.of(condition, undefined)?.code;
    const violations = [{ in: 'body', path: refusalMarks.place, found: 'f', expected: 'e' }];
    return placeInRefusals(this.#spec, this.#expressions, 'place', {
      ...code?.constants,
      ...(code && { code: code.name }),
      violations,
    });
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

  #rules(): readonly StatedRefusal[] {
    this.#all ??= entriesOf(this.#spec.errors.codes).flatMap(([, code]) =>
      code.rules.map((rule) => ({ code, rule, status: statedValue(rule.status) })),
    );
    return this.#all;
  }
}

/** The fact that says under which status a rule's code comes. */
export function statusFact({ code, rule }: StatedRefusal): {
  readonly kind: string;
  readonly subject: string;
  readonly at: Pointer;
} {
  return { kind: 'status codes', subject: code.name, at: rule.status.at };
}
