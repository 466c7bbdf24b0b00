/** What a change sets by itself, and the time and chance that it draws for that. */

import type { Draw } from '../../kinds/generators/kind.ts';
import { Failed } from '../../parts/expressions/cel-value.ts';
import { isSaidByType } from '../../parts/expressions/shape-type.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { along } from '../../parts/reach.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Compilation, type PreparedExpression, unfit } from '../exchange/compilation.ts';
import { type Exchange, type Fields, type Refusal, Refused, type Value } from '../exchange/exchange.ts';
import type { Entropy } from '../http/clock.ts';
import { withoutPrototype } from '../http/json.ts';
import type { Validate } from '../http/validation.ts';
import { describeValue } from '../http/violation.ts';
import { compileReferences, type FoundReference } from './references.ts';

/** What sets one field on a change. */
export interface Setter {
  readonly field: string;
  /** Whether null is stored where it comes to that. */
  readonly keepsNull: boolean;
  readonly expression: Expression;
  readonly evaluate: ReturnType<PreparedExpression['compiled']>;
  /** Nothing where its type alone says what fits. */
  readonly validate: Validate | undefined;
  /** What in a value of it refers to nothing that is there; nothing where it refers to nothing. */
  readonly dangling?: Dangling | undefined;
  /** Whether it is reckoned of who asks. */
  readonly isOfCaller?: boolean;
  /** Whether its field is made up, as any that nobody gave, where what it is reckoned of is not there: in a stand-in. */
  readonly isMadeUp?: boolean;
  /** What is answered where it fails or does not fit. */
  readonly refuse: (names: Readonly<Record<string, Value>>, message: string) => Refusal;
}

/** What sets fields on a change, by its words: the operation, the transition, the verb, `write`; but for those that are given otherwise. */
export type Setters = (words: readonly string[], given?: readonly string[]) => readonly Setter[];

/** The first reference in a value to a row that is not there, over the names that it was reckoned of. */
type Dangling = (value: Value, names: Readonly<Record<string, Value>>) => FoundReference | undefined;

/** Compiles what sets the fields of a resource, each change's on its first use. A stand-in lets references lead to rows that it has not made yet. */
export function rememberSetters(
  resource: Resource,
  compilation: Compilation & { readonly standIn?: object | undefined },
): Setters {
  const fields = entriesOf(resource.fields).map(([, field]) => field);
  const known = new Map<string, readonly Setter[]>();
  /** By the very list, which most operations ask with each time. */
  const asked = new WeakMap<
    readonly string[],
    { readonly given: readonly string[] | undefined; readonly setters: readonly Setter[] }
  >();
  return (words, given) => {
    const before = asked.get(words);
    if (before && before.given === given) return before.setters;
    const setters = settersFor(words, given ?? []);
    asked.set(words, { given, setters });
    return setters;
  };

  function settersFor(words: readonly string[], given: readonly string[]): readonly Setter[] {
    const key = given.length === 0 ? words.join('\n') : JSON.stringify([words, given]);
    const found = known.get(key);
    if (found) return found;
    const setters = fields.flatMap((field): Setter[] => {
      if (given.includes(field.name)) return [];
      // The narrowest word wins: the operation or transition before the verb, the verb before `write`.
      const expression = words.map((word) => field.set[word]).find((candidate) => candidate !== undefined);
      if (!expression) return compileConfirmed(resource, field, compilation.spec);
      const shape = statedValue(field.shape) ?? {};
      const validate = isSaidByType(shape) ? undefined : compilation.validate(shape, 'stored');
      const [operation = ''] = words;
      const prepared = compilation.prepare(expression, operation);
      const refuse: Setter['refuse'] = (names, message) =>
        unfit(compilation.spec, { expression: prepared, operation, names }, message, `a value by which ${field.name} can be set`);
      const dangling = compilation.standIn ? undefined : compileDangling(resource, field, compilation.spec);
      const evaluate = prepared.compiled();
      const isOfCaller = prepared.reads().some(({ root }) => root === 'caller');
      const isMadeUp = compilation.standIn !== undefined;
      const { name, keepsNull } = field;
      return [{ field: name, keepsNull, expression, evaluate, validate, dangling, isOfCaller, isMadeUp, refuse }];
    });
    known.set(key, setters);
    return setters;
  }
}

/**
 * The field that says whether the address of a subscriber was asked and has confirmed: true by the engine's own operation alone, and
 * false where the address is another than it was.
 */
function compileConfirmed({ name }: Resource, field: Field, spec: Spec): Setter[] {
  const { confirm, subscribers } = statedValue(spec.events.delivery)?.push ?? {};
  if (!confirm || subscribers?.resource !== name || subscribers.confirmed !== field.name) return [];
  const url = subscribers.url ?? '';
  const evaluate: Setter['evaluate'] = ({ operation, resource: before, next }) => {
    if (operation === `confirm ${name}`) return true;
    // Rows are maps of fields.
    const [was, is] = [before as Fields | undefined, next as Fields | undefined];
    return was !== undefined && along<Value>(was, url) === along<Value>(is, url) ? was[field.name] : false;
  };
  const expression = { source: 'whether its address has confirmed', at: field.at };
  return [
    { field: field.name, keepsNull: false, expression, evaluate, validate: undefined, refuse: () => ({ when: 'internal' }) },
  ];
}

/** A row may refer to itself, and keep what it referred to before. */
function compileDangling(resource: Resource, { name, shape }: Field, spec: Spec): Dangling | undefined {
  const find = compileReferences(spec, statedValue(shape) ?? {});
  const identifier = statedValue(resource.identifier)?.field ?? '';
  return (
    find &&
    ((value, { follow, next, resource: before }) => {
      // Whoever carries a change out can follow references, and what is changed is a row.
      const rowOf = follow as (resource: string, key: Value) => Fields | undefined;
      const own = (next as Fields | undefined)?.[identifier];
      const kept = (before as Fields | undefined)?.[name];
      const known = kept === undefined ? [] : find(kept);
      return find(value).find(
        ({ target, id }) =>
          !(target === resource.name && id === String(own)) &&
          !known.some((one) => one.target === target && one.id === id) &&
          rowOf(target, id) === undefined,
      );
    })
  );
}

/**
 * What is set on a change, all of it over the same scope. It is set on a copy, or, where nobody else needs `fields` as they were, on them.
 * @throws {Refused} where it fails or does not fit its field.
 */
export function applySetters(
  setters: readonly Setter[],
  scope: Readonly<Record<string, Value>>,
  fields: Fields,
  isOwn = false,
): Fields {
  if (setters.length === 0) return fields;
  const values: Value[] = [];
  for (const { field, expression, evaluate, validate, isMadeUp, refuse } of setters) {
    const value = evaluate(scope);
    if (value instanceof Failed) {
      if (!isMadeUp || value.reason !== 'absent')
        throw new Refused(refuse(scope, `What sets ${field} failed (${expression.source}): ${value.message}`));
      values.push(undefined);
      continue;
    }
    if (validate && value !== undefined && value !== null && validate(value).length > 0)
      throw new Refused(
        refuse(scope, `What sets ${field} (${expression.source}) gave ${describeValue(value)}, which is no ${field}.`),
      );
    values.push(value);
  }
  const next = isOwn ? fields : withoutPrototype(fields);
  let refers = false;
  for (let at = 0; at < setters.length; at++) {
    // The cast holds: `at` is below the length.
    const { field, keepsNull, dangling } = setters[at] as Setter;
    const value = values[at];
    if (value === undefined || (value === null && !keepsNull)) delete next[field];
    else {
      next[field] = value;
      refers ||= dangling !== undefined;
    }
  }
  if (refers) refuseDangling(setters, values, scope, next);
  return next;
}

/** @throws {RefusedSet} where something that was set refers to nothing that is there. */
function refuseDangling(
  setters: readonly Setter[],
  values: readonly Value[],
  scope: Readonly<Record<string, Value>>,
  next: Fields,
): void {
  for (const [index, { field, expression, dangling, isOfCaller, refuse }] of setters.entries()) {
    const value = values[index];
    const missing = dangling && value !== undefined && value !== null ? dangling(value, scope) : undefined;
    if (!missing) continue;
    const message = `What sets ${field} (${expression.source}) gave ${describeValue(missing.id)}, and there is no such ${missing.target}.`;
    const refusal = refuse(scope, message);
    // Who asks and has no row yet is no failure of the service.
    throw new RefusedSet(refusal.when === 'internal' && isOfCaller ? { when: 'reference.missing', message } : refusal, next);
  }
}

/** What was set refers to nothing that is there: refused once the errors of the service's own were asked, which may say so in their words. */
export class RefusedSet extends Refused {
  /** The row with all that was set. */
  readonly next: Fields;
  constructor(refusal: Refusal, next: Fields) {
    super(refusal);
    this.next = next;
  }
}

/** A row with what would be set on it, for those who ask before it is known whether it can be stored. */
export function asStored(setters: readonly Setter[], scope: Readonly<Record<string, Value>>, fields: Fields): Fields {
  try {
    return applySetters(setters, scope, fields);
  } catch (failure) {
    if (!(failure instanceof Refused)) throw failure;
    return failure instanceof RefusedSet ? failure.next : fields;
  }
}

/** Time and chance for a body that may be run again: it begins with `restart`, draws the same, and so comes to the same. */
export interface Drawn extends Draw {
  restart(): void;
}

/** Time and chance drawn once for one change. */
export function drawOnce(chance: Entropy, nowMs: number): Drawn {
  return new DrawnOnce(chance, nowMs);
}

class DrawnOnce implements Drawn {
  readonly nowMs: number;
  readonly #chance: Entropy;
  #drawn: (Uint8Array | string | number | undefined)[] | undefined;
  #next = 0;

  constructor(chance: Entropy, nowMs: number) {
    this.#chance = chance;
    this.nowMs = nowMs;
  }

  bytes(length: number): Uint8Array {
    this.#drawn ??= [];
    if (this.#next === this.#drawn.length) this.#drawn.push(this.#chance.bytes(length));
    // What was drawn at this place the first time is of the same kind: the body is the same.
    return this.#drawn[this.#next++] as Uint8Array;
  }

  uuid(): string {
    this.#drawn ??= [];
    if (this.#next === this.#drawn.length) this.#drawn.push(this.#chance.uuid());
    return this.#drawn[this.#next++] as string;
  }

  rising(): number | undefined {
    this.#drawn ??= [];
    if (this.#next === this.#drawn.length) this.#drawn.push(this.#chance.rising?.(this.nowMs));
    return this.#drawn[this.#next++] as number | undefined;
  }

  restart(): void {
    this.#next = 0;
  }
}

/** The same for one exchange: it puts back, too, what the exchange told of itself before the body was run. */
export class DrawnFor extends DrawnOnce {
  readonly #exchange: Exchange;
  readonly #accepted: Exchange['accepted'];
  readonly #refusedWith: Exchange['refusedWith'];
  readonly #sampled: Exchange['sampled'];
  readonly #warnings: Exchange['warnings'];

  constructor(exchange: Exchange, chance: Entropy) {
    super(chance, exchange.nowMs);
    this.#exchange = exchange;
    this.#accepted = exchange.accepted;
    this.#refusedWith = exchange.refusedWith;
    this.#sampled = exchange.sampled;
    this.#warnings = exchange.warnings;
  }

  override restart(): void {
    super.restart();
    const exchange = this.#exchange;
    exchange.accepted = this.#accepted;
    exchange.refusedWith = this.#refusedWith;
    exchange.sampled = this.#sampled;
    exchange.warnings = this.#warnings;
    exchange.recorded = undefined;
  }
}
