import { below } from '../../document/pointer.ts';
import type { Draw } from '../../kinds/generators/kind.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { type CompleteValue, compileInnerValues, type InnerField, type Making } from '../../parts/inner-values.ts';
import type { Resource } from '../../parts/resources.ts';
import { type Compilation, isFailed } from '../exchange/compilation.ts';
import { type Fields, Refused, type Value } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import { describeValue } from '../http/violation.ts';

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
