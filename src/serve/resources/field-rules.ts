import { below } from '../../document/pointer.ts';
import type { Resource } from '../../parts/resources.ts';
import { type Compilation, isFailed } from '../exchange/compilation.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import { describeValue, sort, type Violation } from '../http/violation.ts';

/** What is wrong with the fields of a row together. `isFit`: each by itself is right. */
export type FieldRules = (fields: Fields, isFit: boolean) => readonly Violation[];

/** Compiles the rules of a resource; nothing where it states none. */
export function compileFieldRules({ rules, choices }: Resource, compilation: Compilation): FieldRules | undefined {
  const compiled = Object.values(rules).map((rule) => ({ rule, breaks: compilation.expression(rule.if) }));
  if (compiled.length === 0 && choices.length === 0) return undefined;
  return (fields, isFit) => {
    const found: Violation[] = [];
    for (const { fields: names } of choices) {
      const there = names.filter((name) => isThere(fields[name]));
      if (there.length !== 1) found.push(choiceViolation(names, there));
    }
    for (const { rule, breaks } of compiled) {
      const value = breaks({ next: fields });
      if (isFailed(value) && !isFit) continue;
      // A rule that comes to nothing is not kept: other values would have told.
      if (!isFailed(value) && value !== true) continue;
      const { field } = rule;
      found.push({
        in: 'body',
        path: field === undefined ? '' : below('', field),
        found: describeValue(field === undefined ? fields : fields[field]),
        expected: rule.message ?? `what the rule ${rule.name} allows`,
      });
    }
    return found;
  };
}

function isThere(value: Value): boolean {
  return value !== undefined && value !== null;
}

function choiceViolation(names: readonly string[], there: readonly string[]): Violation {
  return {
    in: 'body',
    path: below('', there[1] ?? names[0] ?? ''),
    found: there.length === 0 ? 'none of them' : there.join(' and '),
    expected: `exactly one of ${names.join(', ')}`,
    ...(there.length === 0 && { [sort]: 'missing' as const }),
  };
}
