import type { Json, JsonMap } from '../../src/document/document.ts';

/**
 * Where an answer differs from what a story expects, as sentences with a path; none = it fits.
 *
 * A map is matched by the keys it names, others may be there; a list by position and whole. Instead of a value may stand
 * `$any` (there, whatever it is), `$absent`, or a map of one or more of `$exact`, `$matches`, `$length`, `$contains`, `$starts`, `$each`, `$not`.
 */
export function differences(expected: Json, actual: Json | undefined, path: string): string[] {
  if (expected === '$any') return actual === undefined ? [`${path} is not there`] : [];
  if (expected === '$absent') return actual === undefined ? [] : [`${path} should not be there, and is ${show(actual)}`];
  if (Array.isArray(expected)) return listDifferences(expected, actual, path);
  if (typeof expected === 'object' && expected !== null) {
    const map = expected as JsonMap;
    return isOperators(map) ? operatorDifferences(map, actual, path) : mapDifferences(map, actual, path);
  }
  return Object.is(expected, actual) ? [] : [unlike(expected, actual, path)];
}

const operators: Readonly<Record<string, (argument: Json, actual: Json | undefined, path: string) => string[]>> = {
  $exact: (argument, actual, path) => (isJust(argument, actual) ? [] : [unlike(argument, actual, path)]),
  $matches: (argument, actual, path) =>
    new RegExp(String(argument), 'u').test(typeof actual === 'string' ? actual : (JSON.stringify(actual) ?? ''))
      ? []
      : [`${path} should match ${String(argument)}, and is ${show(actual)}`],
  $length: (argument, actual, path) => {
    const length = Array.isArray(actual) || typeof actual === 'string' ? actual.length : undefined;
    return length === argument ? [] : [`${path} should have length ${show(argument)}, and has ${length ?? 'none'}`];
  },
  $contains: (argument, actual, path) => {
    const wanted = Array.isArray(argument) ? argument : [argument];
    const items = Array.isArray(actual) ? (actual as Json[]) : [];
    return wanted
      .filter((want) => !items.some((item) => differences(want, item, path).length === 0))
      .map((want) => `${path} should contain ${show(want)}, and is ${show(actual)}`);
  },
  $starts: (argument, actual, path) => {
    const wanted = Array.isArray(argument) ? argument : [argument];
    return listDifferences(wanted, Array.isArray(actual) ? actual.slice(0, wanted.length) : actual, path);
  },
  $each: (argument, actual, path) =>
    Array.isArray(actual)
      ? actual.flatMap((item, index) => differences(argument, item, `${path}.${index}`))
      : [`${path} should be a list, and is ${show(actual)}`],
  $not: (argument, actual, path) =>
    differences(argument, actual, path).length > 0
      ? []
      : [`${path} should not be like ${show(argument)}, and is ${show(actual)}`],
};

/** Whether a value is just what is wanted, with nothing besides; `$any` stands for whatever is there. */
function isJust(wanted: Json, actual: Json | undefined): boolean {
  if (wanted === '$any') return actual !== undefined;
  if (Array.isArray(wanted))
    return (
      Array.isArray(actual) && actual.length === wanted.length && wanted.every((item: Json, index) => isJust(item, actual[index]))
    );
  if (typeof wanted !== 'object' || wanted === null) return Object.is(wanted, actual);
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return false;
  const map = actual as JsonMap;
  const keys = Object.keys(wanted);
  return (
    keys.length === Object.keys(map).length &&
    keys.every((key) => Object.hasOwn(map, key) && isJust((wanted as JsonMap)[key] as Json, map[key]))
  );
}

function isOperators(map: JsonMap): boolean {
  const keys = Object.keys(map);
  const isOperator = keys.filter((key) => Object.hasOwn(operators, key));
  if (isOperator.length > 0 && isOperator.length < keys.length) throw new Error(`keys and operators mixed: ${keys.join(', ')}`);
  return isOperator.length > 0;
}

function operatorDifferences(map: JsonMap, actual: Json | undefined, path: string): string[] {
  return Object.entries(map).flatMap(([key, argument]) => operators[key]?.(argument, actual, path) ?? []);
}

function mapDifferences(expected: JsonMap, actual: Json | undefined, path: string): string[] {
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return [unlike(expected, actual, path)];
  const map = actual as JsonMap;
  return Object.entries(expected).flatMap(([key, value]) =>
    differences(value, Object.hasOwn(map, key) ? map[key] : undefined, `${path}.${key}`),
  );
}

function listDifferences(expected: readonly Json[], actual: Json | undefined, path: string): string[] {
  if (!Array.isArray(actual)) return [unlike(expected, actual, path)];
  if (actual.length !== expected.length) {
    return [`${path} should have ${expected.length} items, and has ${actual.length}: ${show(actual)}`];
  }
  return expected.flatMap((item, index) => differences(item, actual[index], `${path}.${index}`));
}

function unlike(expected: Json, actual: Json | undefined, path: string): string {
  return `${path} should be ${show(expected)}, and is ${show(actual)}`;
}

function show(value: Json | undefined): string {
  const text = value === undefined ? 'not there' : JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
