import { join } from 'node:path';
import {
  type CallExpression,
  type Expression,
  isArrowFunction,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isDoStatement,
  isExpressionStatement,
  isForStatement,
  isFunctionExpression,
  isIfStatement,
  isParenthesizedExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isWhileStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { API, type Checker, SignatureKind, type Type, TypeFlags } from 'typescript/unstable/sync';
import { lineAt } from './source.ts';

/**
 * Where sources treat what may be a promise as the value itself: test it, compare it, look for a member in it, throw it away, or give
 * it to a list as a verdict. A promise is always true, so that such a test lets everybody pass. The way on is `after` or `await`.
 */
export function unwaited(folder: string, isLookedAt: (path: string) => boolean): string[] {
  const api = new API({ cwd: folder });
  try {
    const config = join(folder, 'tsconfig.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (!project) throw new Error(`${config} is no project`);
    const found: string[] = [];
    for (const file of project.program.getSourceFileNames()) {
      const path = file.slice(folder.length + 1).replaceAll('\\', '/');
      if (!file.startsWith(folder) || !isLookedAt(path)) continue;
      const source = project.program.getSourceFile(file);
      if (source) found.push(...unwaitedIn(source, project.checker).map((line) => `${path}:${line}`));
    }
    return found.sort();
  } finally {
    api.close();
  }
}

type Looks = (type: Type, checker: Checker) => boolean;

function unwaitedIn(source: SourceFile, checker: Checker): number[] {
  const looked: (readonly [Expression, Looks])[] = [];
  const visit = (node: Node): void => {
    looked.push(...lookedAtIn(node));
    node.forEachChild(visit);
  };
  visit(source);
  const types = looked.length > 0 ? checker.getTypeAtLocation(looked.map(([node]) => node)) : [];
  const wrong = looked.filter(([_node, isWrong], at) => types[at] && isWrong(types[at], checker));
  return [...new Set(wrong.map(([node]) => lineAt(source.text, node.getStart(source))))];
}

/** What a node decides by or throws away, and when that is wrong. */
function lookedAtIn(node: Node): (readonly [Expression, Looks])[] {
  if (isExpressionStatement(node))
    return isCallExpression(bare(node.expression)) ? [[bare(node.expression), isUnionWithPromise]] : [];
  if (isIfStatement(node) || isWhileStatement(node) || isDoStatement(node)) return testsOf(node.expression);
  if (isForStatement(node)) return node.condition ? testsOf(node.condition) : [];
  if (isConditionalExpression(node)) return testsOf(node.condition);
  if (isPrefixUnaryExpression(node)) return node.operator === SyntaxKind.ExclamationToken ? testsOf(node.operand) : [];
  if (isCallExpression(node)) return verdictsIn(node).map((given) => [given, returnsPromise]);
  if (!isBinaryExpression(node)) return [];
  const { kind } = node.operatorToken;
  if (kind === SyntaxKind.InKeyword) return [[bare(node.right), isHalfPromised]];
  if (choices.has(kind)) return testsOf(node.left);
  if (!comparisons.has(kind)) return [];
  return [
    [bare(node.left), isHalfPromised],
    [bare(node.right), isHalfPromised],
  ];
}

/** A test of `a && b` is one of each. */
function testsOf(node: Expression): (readonly [Expression, Looks])[] {
  const inner = bare(node);
  if (isBinaryExpression(inner) && choices.has(inner.operatorToken.kind))
    return [...testsOf(inner.left), ...testsOf(inner.right)];
  return [[inner, isUntestable]];
}

const choices: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.AmpersandAmpersandToken,
  SyntaxKind.BarBarToken,
  SyntaxKind.QuestionQuestionToken,
  SyntaxKind.AmpersandAmpersandEqualsToken,
  SyntaxKind.BarBarEqualsToken,
  SyntaxKind.QuestionQuestionEqualsToken,
]);
const comparisons: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
  SyntaxKind.EqualsEqualsToken,
  SyntaxKind.ExclamationEqualsToken,
]);

/** Functions that a list asks for a verdict: its types take one that answers anything. */
function verdictsIn({ expression, arguments: [first] }: CallExpression): Expression[] {
  if (!first || !isPropertyAccessExpression(expression) || !asking.has(expression.name.text)) return [];
  return isArrowFunction(first) || isFunctionExpression(first) ? [first] : [];
}

const asking: ReadonlySet<string> = new Set([
  ...['filter', 'some', 'every', 'find', 'findIndex', 'findLast', 'findLastIndex', 'forEach', 'sort', 'toSorted'],
]);

function bare(node: Expression): Expression {
  return isParenthesizedExpression(node) ? bare(node.expression) : node;
}

/** A promise or something else that is not nothing. */
function isHalfPromised(type: Type): boolean {
  const others = membersOf(type).filter((one) => (one.flags & nothing) === 0);
  return others.some(isPromise) && !others.every(isPromise);
}

/** The same, where what is promised may be false: a test of the promise is none of that. */
function isUntestable(type: Type, checker: Checker): boolean {
  return isHalfPromised(type) && membersOf(type).some((one) => isPromise(one) && mayBeFalse(promisedBy(one, checker)));
}

function isUnionWithPromise(type: Type): boolean {
  return type.isUnionType() && type.getTypes().some(isPromise);
}

function promisedBy(type: Type, checker: Checker): readonly Type[] {
  return type.isTypeReference() ? checker.getTypeArguments(type).flatMap(membersOf) : [];
}

function mayBeFalse(types: readonly Type[]): boolean {
  return types.some((type) => (type.flags & (nothing | plain)) !== 0);
}

const nothing = TypeFlags.Undefined | TypeFlags.Null | TypeFlags.Void;
const plain =
  TypeFlags.Boolean |
  TypeFlags.BooleanLiteral |
  TypeFlags.Number |
  TypeFlags.String |
  TypeFlags.Unknown |
  TypeFlags.TypeParameter;

function membersOf(type: Type): readonly Type[] {
  return type.isUnionType() ? type.getTypes() : [type];
}

/** Types are asked about over a pipe: what is known of one is kept. */
const promises = new WeakMap<Type, boolean>();

function isPromise(type: Type): boolean {
  if ((type.flags & TypeFlags.Object) === 0) return false;
  const known = promises.get(type) ?? type.getSymbol()?.name === 'Promise';
  promises.set(type, known);
  return known;
}

function returnsPromise(type: Type, checker: Checker): boolean {
  return checker.getSignaturesOfType(type, SignatureKind.Call).some((signature) => {
    const made = checker.getReturnTypeOfSignature(signature);
    return made !== undefined && membersOf(made).some(isPromise);
  });
}
