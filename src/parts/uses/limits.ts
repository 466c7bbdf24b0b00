import {
  aBoolean,
  callerVariable,
  type Expected,
  type ExpressionUse,
  everywhere,
  type Scope,
  scopeOf,
} from '../expressions/scope.ts';
import { statedValue } from '../fact.ts';
import type { LimitScope } from '../limits.ts';
import type { RowLimit } from '../row-limits.ts';
import type { Spec } from '../spec.ts';

/** The expressions of part 8: whom a limit counts, and apart from whom. They are asked before anything of the request is read. */
export function limitUses(spec: Spec): ExpressionUse[] {
  const { limits } = spec;
  const rates = (statedValue(limits.rate) ?? []).flatMap((rate) => scopeUses(spec, rate, 'a rate'));
  const quotas = (statedValue(limits.quota) ?? []).flatMap((quota) => scopeUses(spec, quota, 'a quota'));
  const rows = (statedValue(limits.rows) ?? []).flatMap(rowUses);
  const atOnce = (statedValue(limits.atOnce) ?? []).flatMap((limit) => scopeUses(spec, limit, 'a limit of requests at once'));
  return [...rates, ...quotas, ...rows, ...atOnce];
}

/** Whether a row counts is a matter of the row alone, since it is kept with it. */
function rowUses({ of, while: condition }: RowLimit): ExpressionUse[] {
  if (!condition) return [];
  const { at, source } = condition;
  const scope = scopeOf({ next: { shape: { resource: of } } });
  const name = `the condition under which a ${of} counts`;
  return [{ at, source, name, role: 'condition', expected: aBoolean, failure: 'internal', scopes: [{ scope }] }];
}

/** A text, or what is written as one; a caller of whom it comes to nothing is counted for itself. */
const apart: Expected = { shape: { type: ['string', 'integer', 'boolean'] }, optional: true };

/** What is counted apart is asked of those who are known alone. */
function limitScope(spec: Spec, isKnown: boolean): Scope {
  return scopeOf({ ...everywhere, version: undefined, caller: callerVariable(spec, isKnown) });
}

function scopeUses(spec: Spec, { by, if: condition, to }: LimitScope, name: string): ExpressionUse[] {
  const isKnown = to !== undefined && !to.includes('anyone');
  const uses: ExpressionUse[] = [];
  if (by)
    uses.push({
      at: by.at,
      source: by.source,
      name: `what ${name} counts apart`,
      role: 'value',
      expected: apart,
      failure: 'unsent',
      scopes: [{ scope: limitScope(spec, true) }],
    });
  if (condition)
    uses.push({
      at: condition.at,
      source: condition.source,
      name: `the condition under which ${name} counts`,
      role: 'condition',
      expected: aBoolean,
      failure: 'refused',
      scopes: [{ scope: limitScope(spec, isKnown) }],
    });
  return uses;
}
