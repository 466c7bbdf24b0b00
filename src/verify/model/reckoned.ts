import type { Json, JsonMap, Pointer } from '../../document/document.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { compileInnerValues, type Making } from '../../parts/inner-values.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { currentVersion } from '../../parts/versioning.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { callerContext } from './access.ts';
import type { Before, Expectation, Follow, RowFields } from './expectation.ts';
import type { Model } from './model.ts';

/** The state that the first target leads to whose condition holds. */
export function firstTarget(
  model: Model,
  targets: readonly { readonly state: string; readonly if?: Expression; readonly at: Pointer }[],
  change: TrialExchange,
  known: KnownRows,
  field: Field,
): Expectation {
  for (const { state, if: condition, at } of targets) {
    if (!condition) return { is: 'value', value: state, because: 'state', at };
    const holds = evaluated(model, condition, change, known, change.toMs);
    if (holds === 'unknown' || holds === 'failed') return { is: 'unknown', because: 'state', at };
    if (holds.value === true) return { is: 'value', value: state, because: 'state', at };
  }
  return { is: 'unknown', because: 'state', at: field.at };
}

/** The rows that an expression can read, as far as they are known. */
export interface KnownRows {
  readonly before: Before | undefined;
  readonly next: RowFields;
  readonly unseenNext: ReadonlySet<string>;
  /** What it refers to. */
  readonly followed?: Follow | undefined;
}

function evaluated(model: Model, expression: Expression, change: TrialExchange, known: KnownRows, nowMs: number) {
  const { sent, caller, endpoint } = change;
  const version = currentVersion(model.spec.versioning);
  return model.expressions.evaluate(expression, endpoint?.operation, {
    context: {
      ...callerContext(caller),
      now: nowMs,
      next: known.next,
      params: { ...sent.path, ...sent.query },
      operation: endpoint?.operation ?? '',
      ...(version !== undefined && { version }),
      ...(sent.json !== undefined && { request: model.filledBody(endpoint, sent.json) }),
      ...(known.before && { resource: known.before.fields }),
      ...(known.followed && { follow: known.followed }),
    },
    unseen: {
      next: known.unseenNext,
      ...(known.before && { resource: known.before.unseen }),
    },
  });
}

/** What an expression sets a field to. A value that depends on the time may have been reckoned at any moment of the exchange. */
export function fromExpression(
  model: Model,
  expression: Expression,
  change: TrialExchange,
  known: KnownRows,
  field: Field,
): Expectation {
  const because = 'set' as const;
  const { at } = expression;
  const first = evaluated(model, expression, change, known, change.fromMs);
  const last = evaluated(model, expression, change, known, change.toMs);
  if (typeof first === 'string' || typeof last === 'string') return { is: 'unknown', because, at };
  const isTimed = model.expressions.reads(expression, change.endpoint?.operation, 'now');
  if (!isTimed) {
    if (first.value === null) return { is: 'absent', because, at };
    return { is: 'value', value: first.value, because, at };
  }
  const fromMs = timeOf(first.value, field);
  const toMs = timeOf(last.value, field);
  if (fromMs === undefined || toMs === undefined) return { is: 'unknown', because, at };
  return { is: 'time', fromMs: Math.min(fromMs, toMs), toMs: Math.max(fromMs, toMs), because, at };
}

/** A date-time or a time in seconds, in milliseconds. */
export function timeOf(value: Json | undefined, field: Field): number | undefined {
  return formatNamed(statedValue(field.shape)?.format)?.time?.readMs(value);
}

/** Adds, in place, what the service makes inside values that were sent; what cannot be reckoned from here is left out of them. */
export function completeInner(
  model: Model,
  { fields }: Resource,
  change: TrialExchange,
  before: Before | undefined,
  expected: Map<string, Expectation>,
): void {
  for (const [name, { shape }] of entriesOf(fields)) {
    const one = expected.get(name);
    const complete = one?.is === 'value' && one.because !== 'kept' && compileInnerValues(model.spec, statedValue(shape) ?? {});
    if (!complete) continue;
    const was = before?.unseen.has(name) ? undefined : before?.fields[name];
    // What is made of JSON is JSON.
    const value = complete(one.value, was, [name], makingFor(model, change)) as Json;
    expected.set(name, { ...one, value });
  }
}

function makingFor(model: Model, change: TrialExchange): Making {
  const { sent, caller, endpoint } = change;
  const version = currentVersion(model.spec.versioning);
  const context = {
    ...callerContext(caller),
    now: change.toMs,
    operation: endpoint?.operation ?? '',
    ...(version !== undefined && { version }),
    ...(sent.json !== undefined && { request: sent.json }),
  };
  return {
    generate: () => undefined,
    set(_field, expression, value) {
      if (model.expressions.reads(expression, undefined, 'now')) return undefined;
      // What is around it was sent, or made of that: JSON.
      const made = model.expressions.evaluate(expression, undefined, { context: { ...context, value: value as JsonMap } });
      return typeof made === 'string' ? undefined : made.value;
    },
  };
}
