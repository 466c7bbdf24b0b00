/** What a model holds of a row beyond single fields: what is made inside its values, and what is wrong with fields together. */

import { below } from '../../document/pointer.ts';
import type { Draw } from '../../kinds/generators/kind.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { type CompleteValue, compileInnerValues, type InnerField, type Making } from '../../parts/inner-values.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Compilation, isFailed } from '../exchange/compilation.ts';
import { type Fields, Refused, type Value } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import { describeValue, sort, type Violation } from '../http/violation.ts';

/** A row with what the service makes inside its values. @throws {Refused} where what sets it fails or does not fit. */
export type CompleteInner = (
  work: { readonly draw: Draw; readonly scope: Readonly<Record<string, Value>> },
  before: Fields | undefined,
  next: Fields,
) => Fields;

/** Compiles it for a resource; nothing where the service makes nothing inside the values of its rows. */
export function compileInner(resource: Resource, compilation: Compilation): CompleteInner | undefined {
  const values = entriesOf(resource.fields).flatMap(([name, { shape }]): { name: string; complete: CompleteValue }[] => {
    const complete = compileInnerValues(compilation.spec, statedValue(shape) ?? {});
    return complete ? [{ name, complete }] : [];
  });
  if (values.length === 0) return undefined;
  const reckon = rememberReckoning(compilation);
  return (work, before, next) => {
    const making: Making = {
      generate: ({ generated }) => generated?.make(work.draw),
      set: ({ field }, expression, value, path) => reckon(field, expression, { ...work.scope, value }, path),
    };
    const whole = withoutPrototype(next);
    for (const { name, complete } of values) {
      if (next[name] !== undefined && next[name] !== null) whole[name] = complete(next[name], before?.[name], [name], making);
    }
    return whole;
  };
}

type Reckon = (
  field: InnerField['field'],
  expression: Expression,
  names: Readonly<Record<string, Value>>,
  path: readonly (string | number)[],
) => Value;

/** What sets a field of a value, each expression compiled on its first use. */
function rememberReckoning(compilation: Compilation): Reckon {
  const known = new Map<string, Reckon>();
  return (field, expression, names, path) => {
    const reckon = known.get(expression.at) ?? compileReckoning(field, expression, compilation);
    known.set(expression.at, reckon);
    return reckon(field, expression, names, path);
  };
}

function compileReckoning(field: InnerField['field'], expression: Expression, compilation: Compilation): Reckon {
  const prepared = compilation.prepare(expression);
  const validate = compilation.validate(statedValue(field.shape) ?? {}, 'stored');
  const read = prepared.reads().flatMap(({ root, path: [member] }) => (root === 'value' ? [member] : []));
  return (_field, _expression, names, path) => {
    const value = prepared.evaluate(names);
    if (!isFailed(value) && (value === undefined || value === null || validate(value).length === 0)) return value;
    const came = isFailed(value) ? `failed: ${value.reason}` : `gave ${describeValue(value)}`;
    const message = `What sets ${field.name} (${expression.source}) ${came}.`;
    const [top] = path;
    const { request } = names;
    const isSent = typeof request === 'object' && request !== null && Object.hasOwn(request, String(top));
    if (!isSent || read.length === 0) throw new Refused({ when: 'internal', message });
    const around = names.value as Readonly<Record<string, Value>>;
    const violations = [...new Set(read)].map((member) => ({
      in: 'body' as const,
      path: [...path, ...(member === undefined ? [] : [member])].reduce<string>(below, ''),
      found: describeValue(member === undefined ? around : around[member]),
      expected: `a value by which ${field.name} can be set`,
    }));
    throw new Refused({ when: 'request.invalid', violations });
  };
}

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

/** The fields that a shape names, by itself or by the name of a value. */
export function shownFields(show: Field['show'], { resources }: Spec): readonly string[] | undefined {
  if (typeof show !== 'object') return undefined;
  const value = show.resource === undefined ? undefined : entryOf(resources.all, show.resource);
  if (value && !value.shape) return entriesOf(value.fields).map(([name]) => name);
  const { properties } = value ? (statedValue(value.shape) ?? {}) : show;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : undefined;
}
