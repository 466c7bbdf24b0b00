import { isSame } from '../../document/values.ts';
import type { Parameter } from '../../parts/parameters.ts';
import type { Exchange, Refusal } from '../exchange.ts';
import type { RowModel } from '../rows/model.ts';
import { isHidden } from '../shown.ts';
import { describeValue, type Violation } from '../wire/violation.ts';
import type { SortKey } from './query.ts';

/** The order that a list states may lie by a field that this caller does not see: its cursors must not tell of it. */
export function isSealed(order: readonly SortKey[], hidden: ReadonlySet<string>): boolean {
  return hidden.size > 0 && order.some(({ column }) => hidden.has(column));
}

export function hiddenFields(model: RowModel, user: string | undefined): ReadonlySet<string> {
  const fields = [...model.fields.values()].filter((field) => isHidden(field, { user, reveals: false }));
  return new Set(fields.map(({ name }) => name));
}

/** Nobody filters by a field that it does not see: what comes back would tell of it. */
export function unseenFilter({ params }: Exchange, filters: readonly Parameter[]): Refusal | undefined {
  const asked = filters.find(({ name, default: usual }) => {
    const value = params[name];
    return value !== undefined && !(usual && isSame(value, usual.value));
  });
  if (!asked) return undefined;
  const found = describeValue(params[asked.name]);
  return refuseParameter({ in: asked.in, path: asked.name, found, expected: 'no filter by a field that you do not see' });
}

export function refuseParameter(violation: Violation): Refusal {
  return { when: 'request.parameter', violations: [violation] };
}
