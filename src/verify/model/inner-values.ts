import type { Json, JsonMap } from '../../document/document.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { compileInnerValues, type Making } from '../../parts/inner-values.ts';
import type { Resource } from '../../parts/resources.ts';
import { currentVersion } from '../../parts/versioning.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { callerContext } from './access.ts';
import type { Before, Expectation } from './expectation.ts';
import type { Model } from './model.ts';

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
