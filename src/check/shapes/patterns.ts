import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { compilePattern } from '../../parts/patterns/pattern.ts';
import { type Rule, type Wrong, warning } from '../subject/rule.ts';
import type { ShapeNode } from '../subject/shape-nodes.ts';

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
