import type { Json } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { compilePattern } from '../../parts/patterns/pattern.ts';
import type { Shape } from '../../parts/shape.ts';
import { isOfTypes, shortJson, typesOf } from '../subject/json-types.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';
import type { ShapeNode } from '../subject/shape-nodes.ts';

/** The values that a shape states: those it allows, its default, its examples. */
export const valueRules: readonly Rule[] = [
  error(
    'shapes/no-allowed-value',
    'None of the allowed values fits the rest of the shape.',
    'Correct the values, or the type and bounds beside them.',
    (subject) => allowedValues(subject).flatMap(({ wrong, all, at }) => (wrong.length === all.length ? [noneFits(all, at)] : [])),
  ),
  warning(
    'shapes/value-never-fits',
    'An allowed value does not fit the rest of the shape, so it is never allowed.',
    'Take the value out, or correct the type and bounds beside it.',
    (subject) =>
      allowedValues(subject).flatMap(({ wrong, all, at }) =>
        wrong.length === all.length
          ? []
          : wrong.map((index) => ({
              message: `${shortJson(all[index])} never fits the rest of the shape.`,
              at: below(at, index),
            })),
      ),
  ),
  warning('shapes/value-twice', 'A value is allowed twice.', 'Keep one of the two.', valuesTwice),
  error(
    'shapes/default-misfit',
    'A default does not fit its own shape.',
    'Write a default that fits, or correct the shape.',
    defaults,
  ),
  warning('shapes/example-misfit', 'An example does not fit its own shape.', 'Correct the example.', ({ shapeNodes, schemas }) =>
    shapeNodes.flatMap(({ schema, at }) =>
      examplesOf(schema).flatMap(([key, value]) => {
        const why = schemas.misfit(schema, value);
        const place = key.split('/').reduce<string>(below, at);
        return why === undefined ? [] : [{ message: `The example ${shortJson(value)} does not fit: ${why}.`, at: place }];
      }),
    ),
  ),
];

/** The lists of allowed values with the places of those that the rest of their shape excludes. */
function allowedValues({ shapeNodes, schemas }: Subject) {
  return shapeNodes.flatMap(({ schema, at }) => {
    const { enum: listed, const: only, ...rest } = schema;
    const all: readonly Json[] | undefined = Array.isArray(listed) ? listed : only === undefined ? undefined : [only];
    if (!all) return [];
    const types = typesOf(schema);
    const fits = isOnlyType(rest)
      ? (value: Json) => types === undefined || isOfTypes(value, types)
      : (value: Json) => schemas.misfit(rest, value) === undefined;
    const wrong = all.flatMap((value, index) => (fits(value) ? [] : [index]));
    return [{ wrong, all, at: below(at, listed === undefined ? 'const' : 'enum') }];
  });
}

function isOnlyType(schema: Shape): boolean {
  return Object.keys(schema).every((key) => silent.has(key));
}

const silent: ReadonlySet<string> = new Set(['type', 'title', 'description', '$comment', 'example', 'examples', 'default']);

function noneFits(all: readonly Json[], at: string): Wrong {
  const message =
    all.length === 0 ? 'No value is allowed.' : `Of ${all.map(shortJson).join(', ')} none fits the rest of the shape.`;
  return { message, at };
}

function valuesTwice({ shapeNodes }: Subject): Wrong[] {
  return shapeNodes.flatMap(({ schema, at }) => {
    const list = schema.enum;
    if (!Array.isArray(list)) return [];
    const seen = new Map<string, number>();
    return list.flatMap((value: Json, index): Wrong[] => {
      const key = JSON.stringify(value);
      const first = seen.get(key);
      if (first === undefined) {
        seen.set(key, index);
        return [];
      }
      const place = below(at, 'enum');
      const also = [{ message: 'It first stands here.', at: below(place, first) }];
      return [{ message: `${shortJson(value)} is listed twice.`, at: below(place, index), also }];
    });
  });
}

function defaults({ shapeRoots, shapeNodes, schemas }: Subject): Wrong[] {
  const outer = shapeRoots.flatMap((root) => (root.default ? [{ ...root.default, shape: root.shape, at: root.at }] : []));
  const inner = shapeNodes.flatMap(({ schema, at, root }: ShapeNode) =>
    schema.default === undefined || (schema === root.shape && root.default) ? [] : [{ value: schema.default, shape: schema, at }],
  );
  return [...outer, ...inner].flatMap(({ value, shape, at }) => {
    const why = schemas.misfit(shape, value);
    return why === undefined
      ? []
      : [{ message: `The default ${shortJson(value)} does not fit: ${why}.`, at: below(at, 'default') }];
  });
}

function examplesOf(schema: Shape): [key: string, value: Json][] {
  const list: readonly Json[] = Array.isArray(schema.examples) ? schema.examples : [];
  return [
    ...(schema.example === undefined ? [] : [['example', schema.example] as [string, Json]]),
    ...list.map((value, index): [string, Json] => [`examples/${index}`, value]),
  ];
}

/** Patterns that no engine looks for in time that is linear in the text. */
export const patternRules: readonly Rule[] = [
  warning(
    'shapes/slow-pattern',
    'A pattern cannot be looked for in linear time, so longer texts are refused.',
    'Write it without references back and without thousands of repeats, or state a `maxLength`.',
    ({ shapeNodes }) => shapeNodes.flatMap(slowPatterns),
  ),
];

/** Texts of this length are held to nearly every pattern. */
const usualMost = 2000;

function slowPatterns({ schema, at }: ShapeNode): Wrong[] {
  const { pattern, patternProperties, maxLength } = schema;
  const most = typeof maxLength === 'number' ? maxLength : usualMost;
  const names = isMap(patternProperties) ? Object.keys(patternProperties) : [];
  return [
    ...(typeof pattern === 'string' ? slow(pattern, most, below(at, 'pattern')) : []),
    ...names.flatMap((name) => slow(name, usualMost, below(below(at, 'patternProperties'), name))),
  ];
}

function slow(pattern: string, most: number, at: Wrong['at']): Wrong[] {
  const longest = compilePattern(pattern)?.longest ?? usualMost;
  if (longest >= Math.min(most, usualMost)) return [];
  const held = longest === 0 ? 'no text is held to it: all are refused' : `texts of more than ${longest} characters are refused`;
  return [{ message: `\`${pattern}\` may need more steps than any text is worth; ${held}.`, at }];
}
