import type { Endpoint } from '../parts/endpoints.ts';
import { entryOf, statedValue } from '../parts/fact.ts';
import { resourceOfEffect } from '../parts/operations.ts';
import type { Compilation } from './compilation.ts';
import type { Value } from './exchange.ts';
import { describeValue, noViolations, type Violation } from './wire/violation.ts';

/** What is asked to be shown whole must be references, as deep as the endpoint says. */
export function compileExpansion(
  { does, expand }: Endpoint,
  { spec }: Compilation,
): (values: Readonly<Record<string, Value>>) => readonly Violation[] {
  const root = resourceOfEffect(statedValue(does));
  if (!expand || root === undefined) return () => noViolations;
  const leads = (resource: string | undefined, [field, ...rest]: readonly string[], depth: number): boolean => {
    if (field === undefined) return true;
    const stated = resource === undefined || depth === 0 ? undefined : entryOf(spec.resources.all, resource);
    const target = stated && entryOf(stated.fields, field)?.ref;
    return target !== undefined && leads(target, rest, depth - 1);
  };
  return (values) => {
    const bad = expansionPaths(values[expand.parameter]).filter((path) => !leads(root, path.split('.'), expand.depth));
    return bad.map((path) => ({
      in: 'query',
      path: expand.parameter,
      found: describeValue(path),
      expected: 'a field that refers to something',
    }));
  };
}

/** The paths that an expansion names: several parameters, or one text parted by commas. */
export function expansionPaths(value: Value): string[] {
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  return list
    .flatMap((entry) => String(entry).split(','))
    .map((path) => path.trim())
    .filter((path) => path !== '');
}
