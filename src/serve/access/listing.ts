import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Condition, Scalar } from '../../store/store.ts';
import type { Fields } from '../exchange.ts';
import { toJson } from '../json.ts';
import { callerOf, type Scope } from './asking.ts';
import type { ListRule } from './list-rules.ts';
import { hasScopes, holds, type Rule } from './rules.ts';

/** Which rows of a list one user sees. */
export interface Listing {
  /** The rows that are shown to a caller; nothing = all of them. */
  filter(scope: Scope): RowFilter | undefined;
  /** Whether one row is. */
  shows(scope: Scope, row: Fields): boolean;
}

/** A test of rows for one request. */
export interface RowFilter {
  /** Equal for filters of the same form, whatever their values. */
  readonly form: string;
  /** The condition with its parameters counted from this one on. */
  where(first: number): Condition;
  readonly values: readonly Scalar[];
  /** What a cursor is bound to: form and values, but for those of the clock. */
  readonly bound: string;
}

/** A list in which all rows are shown. */
export const wholeListing: Listing = { filter: () => undefined, shows: () => true };

export function compileListing(
  spec: Spec,
  operation: Operation,
  rules: readonly Rule[],
  listRule: (rule: Rule) => ListRule | undefined,
): Listing {
  if (namesOperation(spec.authentication.public, operation)) return wholeListing;
  return {
    filter(scope) {
      const caller = callerOf(scope);
      const asked: { readonly rule: Rule; readonly sql: ListRule }[] = [];
      for (const rule of rules) {
        if (!hasScopes(caller, rule.scopes)) continue;
        if (!rule.condition) return undefined;
        if (!rule.readsRow) {
          // It is the same for each row.
          if (holds(rule.condition, scope)) return undefined;
          continue;
        }
        const sql = listRule(rule);
        if (sql) asked.push({ rule, sql });
      }
      return filterOf(asked, scope);
    },
    shows(scope, row) {
      const caller = callerOf(scope);
      const own = { ...scope, resource: row };
      return rules.some(({ condition, scopes }) => hasScopes(caller, scopes) && (!condition || holds(condition, own)));
    },
  };
}

function filterOf(asked: readonly { readonly rule: Rule; readonly sql: ListRule }[], scope: Scope): RowFilter {
  const [only] = asked;
  if (only && asked.length === 1 && !only.sql.isSteady.includes(false)) {
    const values = only.sql.values(scope);
    const form = only.rule.key;
    return { form, values, bound: `${form}\n${toJson([values])}`, where: only.sql.where };
  }
  const values = asked.map(({ sql }) => sql.values(scope));
  const steady = asked.map(({ sql }, index) => values[index]?.filter((_, at) => sql.isSteady[at]) ?? []);
  const form = asked.map(({ rule }) => rule.key).join('\n');
  return {
    form,
    values: values.flat(),
    bound: `${form}\n${toJson(steady)}`,
    where(first) {
      let next = first;
      const of = asked.map(({ sql }, index) => {
        const condition = sql.where(next);
        next += values[index]?.length ?? 0;
        return condition;
      });
      return of.length === 1 ? (of[0] as Condition) : { op: 'or', of };
    },
  };
}
