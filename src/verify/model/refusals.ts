import type { Json, Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap, isSame } from '../../document/values.ts';
import { type ErrorCondition, generalCondition, partsOf } from '../../parts/conditions.ts';
import { type ErrorCode, type ErrorRule, tellsViolation } from '../../parts/errors.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { followingName } from '../../parts/followed.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { isNever, refusingActs, ruleFor } from '../../parts/possible-errors.ts';
import type { Spec } from '../../parts/spec.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
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
      const body = [...(this.#codeAt ?? ['code'])]
        .reverse()
        .reduce<Json>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), code.name);
      return { status, headers, body, text: JSON.stringify(body) };
    });
  }

  /** The code that a refusal shows, or that its words tell. */
  codeIn({ body }: Pick<TrialExchange, 'body'>): string | undefined {
    if (body === undefined) return undefined;
    const path = this.#codeAt ?? this.#messages?.path;
    const value = path && valueAt(body, path.reduce(below, ''));
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

/** Codes by their words in refusals that show no code. */
interface ToldByMessage {
  readonly path: readonly string[];
  readonly codes: ReadonlyMap<string, string>;
  readonly names: ReadonlySet<string>;
}

/** The words that are stated for one code alone, and that a refusal shows as they are. */
function toldByMessage(spec: Spec, expressions: Expressions): ToldByMessage | undefined {
  const path = spec.errors.payload.standing === 'stated' ? placeInRefusals(spec, expressions, 'message') : undefined;
  if (!path?.length) return undefined;
  const codes = new Map<string, string>();
  const shared = new Set<string>();
  for (const [name, { rules }] of entriesOf(spec.errors.codes)) {
    for (const { message } of rules) {
      if (message === undefined || tellsViolation(message)) continue;
      if ((codes.get(message) ?? name) !== name) shared.add(message);
      codes.set(message, name);
    }
  }
  for (const message of shared) codes.delete(message);
  // A code of which one rule says something else, or what others say too, is not known by its words.
  const isTold = (rules: readonly ErrorRule[]) => rules.every(({ message }) => message !== undefined && codes.has(message));
  const names = entriesOf(spec.errors.codes).flatMap(([name, { rules }]) => (isTold(rules) ? [name] : []));
  return { path, codes, names: new Set(names) };
}

/** What stands for what a refusal tells, to be found again. */
const refusalMarks = {
  code: 'ninefold_code_mark',
  status: 486,
  message: 'ninefold message mark',
  result: { ninefold: 'result mark' },
  place: 'ninefold place mark',
};

/** The members on the way to the code, the status or the message in the stated payload; nothing where it has none, or none that can be found. */
function placeInRefusals(
  { errors }: Spec,
  expressions: Expressions,
  what: keyof typeof refusalMarks,
  told: Readonly<Record<string, Json>> = {},
): readonly string[] | undefined {
  const { payload } = errors;
  if (!isStated(payload)) return undefined;
  // A problem tells nothing of the row that was made.
  if (payload.value === 'problem') return what === 'result' ? undefined : [what];
  const { data } = payload.value;
  const codes = entriesOf(errors.codes).map(([, { constants }]) => constants);
  // A member that every code states may be needed: what a refusal looks like is shown by one that there is.
  for (const constants of codes.length > 0 ? codes : [{}]) {
    const path = placeWith(data, refusalMarks[what], (expression) => {
      const evaluated = expressions.evaluate(expression, undefined, {
        context: { ...absentIn(codes), ...constants, ...unsaid, ...told },
      });
      return typeof evaluated === 'string' ? undefined : evaluated.value;
    });
    if (path) return path;
  }
  return undefined;
}

/** What any refusal has, with the marks. */
const unsaid = {
  code: refusalMarks.code,
  status: refusalMarks.status,
  message: refusalMarks.message,
  path: '/',
  violations: [],
  request_id: 'r',
  result: null,
  operation: '',
  version: '',
};

/** What some code states is absent in the refusals of the others. */
function absentIn(codes: readonly ErrorCode['constants'][]): Readonly<Record<string, undefined>> {
  return Object.fromEntries(codes.flatMap((constants) => Object.keys(constants).map((name) => [name, undefined])));
}

function placeWith(
  data: Expression | Readonly<Record<string, Expression>>,
  mark: Json,
  give: (expression: Expression) => Json | undefined,
): readonly string[] | undefined {
  if (isOneExpression(data)) return pathTo(give(data), mark);
  for (const [name, expression] of Object.entries(data)) {
    const path = pathTo(give(expression), mark);
    if (path) return [name, ...path];
  }
  return undefined;
}

function pathTo(value: Json | undefined, mark: Json): string[] | undefined {
  if (isSame(value ?? null, mark)) return [];
  // A refusal may be a list of what is wrong, and of places there are several: what stands there of the first stands there of each.
  if (Array.isArray(value) && mark !== refusalMarks.result) {
    const path = pathTo(value[0], mark);
    return path && ['0', ...path];
  }
  if (!isMap(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const path = pathTo(inner, mark);
    if (path) return [name, ...path];
  }
  return undefined;
}

/** Whether a payload is made of one expression, and not of one for each member. */
export function isOneExpression(data: Expression | Readonly<Record<string, Expression>>): data is Expression {
  return 'source' in data && typeof data.source === 'string';
}
