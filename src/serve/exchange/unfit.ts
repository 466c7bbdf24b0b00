import { below } from '../../document/pointer.ts';
import { entriesOf, entryOf } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import type { PreparedExpression } from './compilation.ts';
import type { Refusal, Value } from './exchange.ts';

type Names = Readonly<Record<string, Value>>;

/** What an expression was evaluated for. */
interface Evaluated {
  readonly expression: PreparedExpression;
  readonly operation: string;
  readonly names: Names;
}

/**
 * What is answered where an expression comes to nothing that is right. What it reads of the request is what is wrong, each at its place:
 * other values would have done. Where it reads nothing of it, the failure is ours, and `message` tells whoever runs the service.
 */
export function unfit(spec: Spec, { expression, operation, names }: Evaluated, message: string, expected: string): Refusal {
  const reads = expression.reads();
  const body = reads.flatMap(({ root, path }) => {
    const isSent = root === 'request' || (root === 'next' && path[0] !== undefined && isThere(names.request, path[0]));
    return isSent && names.request !== undefined
      ? [violation('body', pointer(path), valueAt(names.request, path), expected)]
      : [];
  });
  if (body.length > 0) return { when: 'request.invalid', violations: body };
  const parameters = reads.flatMap(({ root, path: [name] }) =>
    root === 'params' && name !== undefined
      ? [violation(placeOf(spec, operation, name), name, valueAt(names.params, [name]), expected)]
      : [],
  );
  if (parameters.length > 0) return { when: 'request.parameter', violations: parameters };
  return { when: 'internal', message };
}

function violation(place: Violation['in'], path: string, value: Value, expected: string): Violation {
  return { in: place, path, found: describeValue(value), expected };
}

function pointer(path: readonly string[]): string {
  return path.reduce<string>(below, '');
}

function isThere(value: Value, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

function valueAt(value: Value, path: readonly string[]): Value {
  let found = value;
  // What has a member of that name is an object.
  for (const name of path) found = isThere(found, name) ? (found as Names)[name] : undefined;
  return found;
}

/** Where a parameter of an operation stands; one that is not listed is the path's. */
function placeOf(spec: Spec, operation: string, name: string): Violation['in'] {
  const endpoint = entriesOf(spec.endpoints.all).find(([, one]) => one.operation === operation)?.[1];
  return (endpoint && entryOf(endpoint.parameters, name)?.in) ?? 'path';
}
