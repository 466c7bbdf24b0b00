import { derivationsOf } from '../../parts/derived/derivations.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { followedOf } from '../../parts/followed.ts';
import { fieldCountedApart } from '../../parts/row-limits.ts';
import type { Spec } from '../../parts/spec.ts';
import { machinesOf } from '../../parts/states.ts';

type Ask = (spec: Spec, resource: string) => boolean;

/** What is asked of a resource of a document, found once. */
function askedOnce(ask: Ask): Ask {
  const bySpec = new WeakMap<Spec, Map<string, boolean>>();
  return (spec, resource) => {
    const known = bySpec.get(spec) ?? new Map<string, boolean>();
    bySpec.set(spec, known);
    const found = known.get(resource) ?? ask(spec, resource);
    known.set(resource, found);
    return found;
  };
}

/**
 * Whether rows that refer to one of a resource bear on each other, or on it, beyond being there: they are unique or numbered within it, there
 * may be only so many, what comes of one changes it, or a condition reads what is reckoned of them.
 */
export const isEntangled = askedOnce(readEntangled);

/** Whether a row of a resource may be otherwise for the time alone: it moves by the clock, or a condition holds it against the time. */
export const isTimely = askedOnce(readTimely);

function readEntangled(spec: Spec, resource: string): boolean {
  for (const [name, stated] of entriesOf(spec.resources.all)) {
    const references = new Set(entriesOf(stated.fields).flatMap(([field, { ref }]) => (ref === resource ? [field] : [])));
    if (stated.unique.some(({ fields }) => fields.some((field) => references.has(field)))) return true;
    if (entriesOf(stated.fields).some(([, { within }]) => within !== undefined && references.has(within))) return true;
    const limits = (statedValue(spec.limits.rows) ?? []).filter(({ of }) => of === name);
    if (limits.some((limit) => references.has(fieldCountedApart(limit, stated) ?? ''))) return true;
  }
  const changed = followedOf(spec).some(
    (followed) => followed.resource !== resource && followed.acts.some(({ does }) => does?.resource === resource),
  );
  if (changed) return true;
  const counted = derivationsOf(spec)
    .of(resource)
    .filter(({ aggregates }) => aggregates.length > 0);
  return counted.some(({ field: { name } }) => conditionsOf(spec).some((source) => new RegExp(`\\.${name}\\b`).test(source)));
}

function readTimely(spec: Spec, resource: string): boolean {
  const moved = machinesOf(spec.states, resource).flatMap(({ transitions }) => entriesOf(transitions));
  if (moved.some(([, { after, atTime }]) => after !== undefined || atTime !== undefined)) return true;
  const fields = entriesOf(entryOf(spec.resources.all, resource)?.fields);
  if (fields.some(([, { derive }]) => derive && /\bnow\b/.test(derive.source))) return true;
  const timed = conditionsOf(spec).filter((source) => /\bnow\b/.test(source));
  return fields.some(([name]) => timed.some((source) => new RegExp(`\\.${name}\\b`).test(source)));
}

const conditions = new WeakMap<Spec, readonly string[]>();

/** Everything that decides whether something may be done, as it is written. */
function conditionsOf(spec: Spec): readonly string[] {
  const known = conditions.get(spec);
  if (known) return known;
  const found = new Set<string>();
  const seen = new Set<object>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if ('source' in value && typeof value.source === 'string') found.add(value.source);
    for (const inner of Object.values(value)) visit(inner);
  };
  for (const part of [spec.states, spec.errors, spec.authentication, spec.endpoints]) visit(part);
  conditions.set(spec, [...found]);
  return [...found];
}
