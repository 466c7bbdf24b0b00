import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import type { Shape } from '../../parts/shape.ts';
import { error, type Rule, type Wrong } from '../rule.ts';
import type { ShapeNode } from '../shape-nodes.ts';
import { onlyType, typesOf } from './json-types.ts';
import { shortestMatch } from './pattern.ts';

/** Bounds, patterns and lists of names that leave no value. */
export const boundRules: readonly Rule[] = [
  error(
    'shapes/admits-nothing',
    'The bounds, the pattern or the names of a shape leave no value that fits.',
    'Correct one of the two that exclude each other.',
    ({ shapeNodes }) => shapeNodes.flatMap(emptiness),
  ),
];

function emptiness(node: ShapeNode): Wrong[] {
  const { schema, at } = node;
  const crossed = pairs.find(([low, high]) => crosses(schema[low], schema[high]));
  if (crossed) {
    const [low, high] = crossed;
    return [{ message: `\`${low}\` ${schema[low]} is more than \`${high}\` ${schema[high]}.`, at: below(at, low), onKey: true }];
  }
  return [...emptyRange(schema), ...emptyPattern(schema), ...emptyNames(schema)].map(([keyword, message]) => ({
    message,
    at: below(at, keyword),
  }));
}

const pairs = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
  ['minContains', 'maxContains'],
  ['exclusiveMinimum', 'maximum'],
  ['minimum', 'exclusiveMaximum'],
] as const;

function crosses(low: unknown, high: unknown): boolean {
  return typeof low === 'number' && typeof high === 'number' && low > high;
}

type Empty = readonly [keyword: string, message: string];

/** Ends that exclude each other, and ranges that no whole number or multiple lies in. */
function emptyRange(schema: Shape): Empty[] {
  const low = bound(schema.minimum, schema.exclusiveMinimum, Math.max);
  const high = bound(schema.maximum, schema.exclusiveMaximum, Math.min);
  if (low === undefined || high === undefined) return [];
  const keyword = typeof schema.exclusiveMinimum === 'number' ? 'exclusiveMinimum' : 'minimum';
  const excluded = low === schema.exclusiveMinimum || high === schema.exclusiveMaximum;
  if (low === high && excluded) return [[keyword, `No number is between ${low} and ${high} with that end left out.`]];
  const { multipleOf } = schema;
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : onlyType(schema) === 'integer' ? 1 : undefined;
  if (step === undefined) return [];
  const first = Math.ceil(low / step) * step;
  const next = first === schema.exclusiveMinimum ? first + step : first;
  const fits = next < high || (next === high && next !== schema.exclusiveMaximum);
  return fits ? [] : [[keyword, `No ${step === 1 ? 'whole number' : `multiple of ${step}`} is between ${low} and ${high}.`]];
}

function bound(a: unknown, b: unknown, pick: (...numbers: number[]) => number): number | undefined {
  const numbers = [a, b].filter((value): value is number => typeof value === 'number');
  return numbers.length === 0 ? undefined : pick(...numbers);
}

/** What may be something other than text is left its other values. */
function emptyPattern(schema: Shape): Empty[] {
  const { pattern, maxLength } = schema;
  const types = typesOf(schema);
  if (typeof pattern !== 'string' || !isRegExp(pattern) || (types && [...types].some((type) => type !== 'string'))) return [];
  const least = shortestMatch(pattern);
  if (least === Number.POSITIVE_INFINITY) return [['pattern', `No text matches \`${pattern}\`.`]];
  if (least === undefined || typeof maxLength !== 'number' || least <= maxLength) return [];
  return [['pattern', `What matches has ${least} characters or more, and \`maxLength\` is ${maxLength}.`]];
}

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    return false;
  }
}

function emptyNames(schema: Shape): Empty[] {
  const { required, properties, patternProperties, additionalProperties, maxProperties } = schema;
  if (!Array.isArray(required)) return [];
  const named = isMap(properties) ? properties : {};
  const patterns = Object.keys(isMap(patternProperties) ? patternProperties : {}).filter(isRegExp);
  const barred = required.find(
    (name) =>
      typeof name === 'string' &&
      !Object.hasOwn(named, name) &&
      isNothing(additionalProperties) &&
      !patterns.some((pattern) => new RegExp(pattern, 'u').test(name)),
  );
  if (barred !== undefined) return [['required', `\`${String(barred)}\` is required, and no such property is allowed.`]];
  if (typeof maxProperties === 'number' && new Set(required).size > maxProperties) {
    return [['required', `${required.length} properties are required, and \`maxProperties\` is ${maxProperties}.`]];
  }
  return [];
}

/** `false` is written out as the schema that nothing fits. */
function isNothing(schema: unknown): boolean {
  return schema === false;
}
