import { pathOf } from '../../document/pointer.ts';
import { type ErrorCondition, narrowerOf } from '../../parts/conditions.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { tellsViolation } from '../../parts/message-template.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Refusal, Value } from '../exchange/exchange.ts';
import { sort, type Violation } from '../http/violation.ts';

/** Puts the violations of a refusal in the order of what was sent, of which the first names it. */
export type NameByFirst = (refusal: Refusal, sent: Value) => Refusal;

/** Compiles the naming of refusals by their first violation; nothing where no error tells one from another. */
export function compileNaming({ errors }: Spec): NameByFirst | undefined {
  const sorts = new Set<ErrorCondition>(narrowerOf('request.invalid'));
  const rules = entriesOf(errors.codes).flatMap(([, code]) => code.rules);
  const stated = [...rules.flatMap(({ when }) => statedValue(when) ?? []), ...Object.keys(errors.conditions)];
  // A word that is no condition is none of them.
  const tellsSorts = stated.some((word) => sorts.has(word as ErrorCondition));
  const tellsFirst = rules.some(({ message }) => message !== undefined && tellsViolation(message));
  if (!tellsSorts && !tellsFirst) return undefined;
  return (refusal, sent) => {
    const { when, violations = [] } = refusal;
    if (violations.length === 0) return refusal;
    const inOrder = ordered(violations, sent);
    const [first] = inOrder;
    const isSorted = tellsSorts && when === 'request.invalid' && first !== undefined;
    return { ...refusal, violations: inOrder, ...(isSorted && { when: `request.invalid.${first[sort] ?? 'value'}` as const }) };
  };
}

/** In the order of the members that were sent; what is missing comes behind what stands beside it. */
function ordered(violations: readonly Violation[], sent: Value): readonly Violation[] {
  if (violations.length === 1) return violations;
  return violations
    .map((violation) => ({ violation, places: violation.in === 'body' ? placesOf(pathOf(violation.path), sent) : [] }))
    .sort((a, b) => compare(a.places, b.places))
    .map(({ violation }) => violation);
}

/** Where each step of a path stands among its neighbours, as far as it was sent. */
function placesOf(path: readonly string[], sent: Value): readonly number[] {
  const places: number[] = [];
  let at = sent;
  for (const name of path) {
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, name);
    if (!isThere) return [...places, Number.POSITIVE_INFINITY];
    places.push(Array.isArray(at) ? Number(name) : Object.keys(at as object).indexOf(name));
    // It has a member of that name.
    at = (at as Readonly<Record<string, Value>>)[name];
  }
  return places;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [one, other] = [a[at] as number, b[at] as number];
    if (one !== other) return one < other ? -1 : 1;
  }
  return a.length - b.length;
}
