import type { Json } from '../../document/document.ts';
import { levelOf } from '../shape-level.ts';
import type { Spec } from '../spec.ts';
import { type CelType, fitsType, typeName } from './cel-type.ts';
import { compileNode } from './compile.ts';
import { type Inferred, inferTypes } from './infer.ts';
import { nearestRemedy } from './member.ts';
import { childNodes, type ExpressionProblem, type Node, parseExpression } from './node.ts';
import { aBoolean, type Expected, type ExpressionUse, scopeOf } from './scope.ts';
import { typeOfShape } from './shape-type.ts';

/** What is wrong with an expression in any of the operations that it stands for. It never throws. */
export function checkExpression(
  spec: Spec,
  use: Pick<ExpressionUse, 'source' | 'role' | 'expected' | 'scopes'>,
): ExpressionProblem[] {
  const parsed = parseExpression(use.source);
  if ('unparsed' in parsed) {
    const { start, end, ...unparsed } = parsed.unparsed;
    return [{ ...unparsed, offset: start, length: end - start }];
  }
  const { node } = parsed;
  const found = use.scopes.map(({ operation, scope }) => {
    const inferred = inferTypes(spec, scope, use.source, node);
    return { operation, problems: [...inferred.problems, ...resultProblems(spec, use.expected, node, inferred)] };
  });
  const problems = gathered(found);
  return problems.length > 0 || use.role === 'value' ? problems : constantProblems(spec, node, use.source);
}

interface Found {
  readonly operation: string | undefined;
  readonly problems: readonly ExpressionProblem[];
}

/** Each problem once, with the operations in which it arises where that is not in all. */
function gathered(found: readonly Found[]): ExpressionProblem[] {
  const groups = new Map<string, { readonly problem: ExpressionProblem; readonly operations: string[] }>();
  for (const { operation, problems } of found) {
    for (const problem of problems) {
      const key = JSON.stringify([problem.kind, problem.offset, problem.length, problem.message]);
      const group = groups.get(key) ?? { problem, operations: [] };
      groups.set(key, group);
      if (operation !== undefined && !group.operations.includes(operation)) group.operations.push(operation);
    }
  }
  const all = new Set(found.flatMap(({ operation }) => operation ?? [])).size;
  return [...groups.values()].map(({ problem, operations }) =>
    operations.length > 0 && operations.length < all ? { ...problem, operations } : problem,
  );
}

/** What comes out has to fit where it goes, and so has what is inside it, as far as that is written out. */
function resultProblems(spec: Spec, expected: Expected, node: Node, inferred: Inferred): ExpressionProblem[] {
  const whole = wholeProblems(spec, expected, node, inferred.types.get(node) ?? inferred.type);
  if (whole.length > 0) return whole;
  return partsOf(spec, expected, node).flatMap(([part, inside]) => resultProblems(spec, inside, part, inferred));
}

/** The parts of what comes out that are written out, each with what is wanted in its place. */
function partsOf(spec: Spec, expected: Expected, node: Node): readonly (readonly [Node, Expected])[] {
  switch (node.op) {
    case 'choose':
      return [node.yes, node.no].map((part) => [part, expected] as const);
    case 'let':
      return [[node.body, expected]];
    case 'list':
    case 'loop': {
      const { items: shape } = levelOf(spec, expected.shape);
      if (!shape || (node.op === 'loop' && node.kind !== 'map')) return [];
      return (node.op === 'list' ? node.items : [node.body]).map((part) => [part, { shape }] as const);
    }
    case 'map': {
      const { members } = levelOf(spec, expected.shape);
      // Whether one is there often hangs on what stands around it, such as a page's token on whether there are more.
      return node.entries.flatMap(([key, value]) => {
        const member = key.op === 'literal' ? members.find(({ name }) => name === key.value) : undefined;
        return member ? [[value, { shape: member.shape, optional: true }] as const] : [];
      });
    }
    default:
      return [];
  }
}

function wholeProblems(spec: Spec, expected: Expected, node: Node, type: CelType): ExpressionProblem[] {
  const wanted = typeOfShape(spec, expected.shape);
  const mayBeNull = type.is === 'null' || type.is === 'nullable';
  const whole = { offset: node.start, length: node.end - node.start };
  if (mayBeNull && !expected.optional && wanted.is !== 'nullable' && wanted.is !== 'dyn' && wanted.is !== 'null') {
    return [{ kind: 'result', message: `This may come to null where ${typeName(wanted)} is required.`, ...whole }];
  }
  const actual = type.is === 'nullable' ? type.of : type;
  if (actual.is !== 'null' && !fitsType(actual, wanted)) {
    const remedy = castFor(actual.is, wanted.is);
    return [
      {
        kind: 'result',
        message: `This comes to ${typeName(actual)} where ${typeName(wanted)} is wanted.`,
        ...(remedy && { remedy }),
        ...whole,
      },
    ];
  }
  return disallowed(node, expected);
}

function castFor(actual: string, wanted: string): string | undefined {
  if (wanted === 'string') return ['int', 'double', 'bool', 'timestamp'].includes(actual) ? 'Write `string(…)`.' : undefined;
  if (wanted === 'int' && actual === 'ref') return 'Write `int(…)`; a reference is read as a text.';
  if (wanted === 'int')
    return actual === 'double' ? 'Write `int(…)` or `int(round(…))`.' : actual === 'timestamp' ? 'Write `int(…)`.' : undefined;
  return wanted === 'timestamp' && (actual === 'string' || actual === 'int') ? 'Write `timestamp(…)`.' : undefined;
}

/** A text written out that the shape's list of values does not hold. */
function disallowed(node: Node, { shape }: Expected): ExpressionProblem[] {
  const values: readonly Json[] | undefined = Array.isArray(shape.enum)
    ? shape.enum
    : shape.const === undefined
      ? undefined
      : [shape.const];
  if (node.op !== 'literal' || typeof node.value !== 'string' || !values || values.includes(node.value)) return [];
  const words = values.filter((value) => typeof value === 'string');
  const remedy = nearestRemedy(node.value, words) ?? `Allowed: ${words.map((word) => `\`${word}\``).join(', ')}.`;
  return [
    {
      kind: 'result',
      message: `\`${node.value}\` is not one of the allowed values.`,
      remedy,
      offset: node.start,
      length: node.end - node.start,
    },
  ];
}

function constantProblems(spec: Spec, node: Node, source: string): ExpressionProblem[] {
  const constant = constantOf(spec, node, source);
  if (constant === undefined) return [];
  const remedy = constant ? 'Leave it out.' : 'Leave out what it guards.';
  return [
    {
      kind: 'constant',
      message: `This condition is always ${constant}.`,
      remedy,
      offset: node.start,
      length: node.end - node.start,
    },
  ];
}

/** What a condition always is, whatever it is asked of; nothing where that depends. */
function constantOf(spec: Spec, node: Node, source: string): boolean | undefined {
  switch (node.op) {
    case 'not': {
      const of = constantOf(spec, node.of, source);
      return of === undefined ? undefined : !of;
    }
    case 'and':
    case 'or': {
      const decisive = node.op === 'or';
      const sides = [constantOf(spec, node.left, source), constantOf(spec, node.right, source)];
      if (sides.includes(decisive)) return decisive;
      return sides.includes(undefined) ? undefined : !decisive;
    }
    case 'choose': {
      const condition = constantOf(spec, node.if, source);
      const [yes, no] = [constantOf(spec, node.yes, source), constantOf(spec, node.no, source)];
      if (condition !== undefined) return condition ? yes : no;
      return yes === no ? yes : undefined;
    }
    default:
      return readsNothing(node) ? evaluated(spec, node, source) : undefined;
  }
}

function evaluated(spec: Spec, node: Node, source: string): boolean | undefined {
  const scope = scopeOf({});
  const value = compileNode(spec, source, node, inferTypes(spec, scope, source, node), { scope, expected: aBoolean }).evaluate(
    {},
  );
  return typeof value === 'boolean' ? value : undefined;
}

/** Whether an expression comes to the same whatever it is evaluated for. */
export function readsNothing(node: Node, bound: ReadonlySet<string> = new Set()): boolean {
  if (node.op === 'name') return bound.has(node.name);
  const inside = node.op === 'loop' || node.op === 'let' ? new Set(bound).add(node.name) : bound;
  return childNodes(node).every((part) => readsNothing(part, inside));
}
