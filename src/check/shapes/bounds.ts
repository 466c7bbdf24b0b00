import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { compilePattern } from '../../parts/patterns/pattern.ts';
import type { Shape } from '../../parts/shape.ts';
import { onlyType, typesOf } from '../subject/json-types.ts';
import { error, type Rule, type Wrong } from '../subject/rule.ts';
import type { ShapeNode } from '../subject/shape-nodes.ts';

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
      !patterns.some((pattern) => compilePattern(pattern)?.test(name) !== false),
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

/**
 * The fewest characters that a text must have to match a regular expression (ECMA-262), infinity where none can match, such
 * as for `a^`. Undefined for one that is not understood. What looks around or back counts as nothing.
 */
function shortestMatch(pattern: string): number | undefined {
  const reader: Reader = { text: pattern, at: 0 };
  const length = choice(reader);
  return reader.at === pattern.length ? length : undefined;
}

interface Reader {
  readonly text: string;
  at: number;
}

const impossible = Number.POSITIVE_INFINITY;

function choice(reader: Reader): number {
  let least = sequence(reader);
  while (reader.text[reader.at] === '|') {
    reader.at += 1;
    least = Math.min(least, sequence(reader));
  }
  return least;
}

/** Nothing can stand before `^` nor after `$`. */
function sequence(reader: Reader): number {
  let length = 0;
  let ended = false;
  for (;;) {
    const next = reader.text[reader.at];
    if (next === undefined || next === '|' || next === ')') return length;
    if (next === '^' || next === '$') {
      if (next === '^' && length > 0) length = impossible;
      if (next === '$') ended = true;
      reader.at += 1;
      continue;
    }
    const atom = atomLength(reader) * times(reader);
    // A repeat of nothing at all leaves nothing, also of what is impossible.
    const added = Number.isNaN(atom) ? 0 : atom;
    length += ended && added > 0 ? impossible : added;
  }
}

function atomLength(reader: Reader): number {
  const rest = reader.text.slice(reader.at);
  const taken = (match: RegExpExecArray | null): boolean => {
    reader.at += match?.[0].length ?? 0;
    return match !== null;
  };
  if (taken(/^\((?:\?(?:<?[=!]))/.exec(rest))) {
    group(reader);
    return 0;
  }
  if (taken(/^\((?:\?(?::|<[^>]*>))?/.exec(rest))) return group(reader);
  if (taken(/^\\[bB]/.exec(rest))) return 0;
  if (taken(/^\\(?:[1-9]\d*|k<[^>]*>)/.exec(rest))) return 0;
  if (taken(/^\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|.)/su.exec(rest))) return 1;
  if (taken(/^\[\]/.exec(rest))) return impossible;
  if (taken(/^\[(?:\\.|[^\]\\])*\]/su.exec(rest))) return 1;
  taken(/^./su.exec(rest));
  return 1;
}

function group(reader: Reader): number {
  const length = choice(reader);
  if (reader.text[reader.at] === ')') reader.at += 1;
  return length;
}

/** How often the atom before must stand there. */
function times(reader: Reader): number {
  const match = /^(?:[*?]|\+|\{(\d+)(?:,\d*)?\})\??/.exec(reader.text.slice(reader.at));
  if (!match) return 1;
  reader.at += match[0].length;
  if (match[1] !== undefined) return Number(match[1]);
  return match[0].startsWith('+') ? 1 : 0;
}
