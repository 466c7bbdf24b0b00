import type { Mutant } from './mutant.ts';
import { children, isNode, isScript, type SyntaxNode, stripped, syntaxTree } from './syntax.ts';

/** What an operator puts in the place of some text, within the node that it was asked about. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** One way of making a fault: asked about every node of a file, it names the faults that begin there. */
interface Operator {
  readonly name: string;
  readonly about: string;
  readonly edits: (node: SyntaxNode, parent: SyntaxNode, script: string) => readonly Edit[];
}

/** Every fault that the operators can put into a TypeScript file, in the order of its text. */
export function mutantsOf(text: string): Mutant[] {
  const script = stripped(text);
  const found: Mutant[] = [];
  const walk = (node: SyntaxNode, parent: SyntaxNode): void => {
    if (outside.has(node.type)) return;
    for (const { name, edits } of operators)
      for (const edit of edits(node, parent, script)) found.push({ operator: name, ...edit });
    for (const child of children(node)) walk(child, node);
  };
  const program = syntaxTree(script);
  walk(program, program);
  const runs = ({ start, end, replacement }: Mutant) => isScript(script.slice(0, start) + replacement + script.slice(end));
  return found.filter(runs).sort((a, b) => a.start - b.start || a.end - b.end);
}

const outside = new Set(['ImportDeclaration', 'ExportAllDeclaration']);

export const operators: readonly Operator[] = [
  {
    name: 'condition',
    about: 'a condition holds when it did not: `if (a)` becomes `if (!(a))`',
    edits: (node, _parent, script) => {
      const test = conditional.has(node.type) ? node.test : undefined;
      if (!isNode(test) || opposite.has(`${test.operator}`) || test.type === 'UnaryExpression') return [];
      return [replaced(test, `!(${textOf(test, script)})`)];
    },
  },
  {
    name: 'comparison',
    about: 'equal becomes unequal, a boundary moves: `===` and `!==`, `<` and `<=`, `>` and `>=`',
    edits: (node, _parent, script) =>
      between(node, script, 'BinaryExpression', { ...Object.fromEntries(opposite), ...boundaries }),
  },
  {
    name: 'logic',
    about: '`&&` becomes `||` and the other way, `a ?? b` becomes `a && b`',
    edits: (node, _parent, script) => {
      if (node.type !== 'LogicalExpression' || node.operator !== '??') {
        return between(node, script, 'LogicalExpression', { '&&': '||', '||': '&&' });
      }
      const [left, right] = sides(node);
      return [replaced(node, `((${textOf(left, script)}) && (${textOf(right, script)}))`)];
    },
  },
  {
    name: 'negation',
    about: '`!a` and `-a` become `a`',
    edits: (node, _parent, script) => {
      const argument = node.argument;
      if (node.type !== 'UnaryExpression' || !isNode(argument) || !['!', '-'].includes(`${node.operator}`)) return [];
      return [replaced(node, `(${textOf(argument, script)})`)];
    },
  },
  {
    name: 'arithmetic',
    about: '`+` becomes `-`, `*` becomes `/`, `++` becomes `--`, each also the other way; `%` becomes `*`',
    edits: (node, _parent, script) => {
      if (node.type === 'UpdateExpression') {
        const start = node.prefix === true ? node.start : node.end - 2;
        return [{ start, end: start + 2, replacement: node.operator === '++' ? '--' : '++' }];
      }
      const isAssignment = node.type === 'AssignmentExpression';
      if (!(isAssignment || node.type === 'BinaryExpression') || sides(node).some(isText)) return [];
      return between(node, script, node.type, isAssignment ? assigned : arithmetic);
    },
  },
  {
    name: 'literal',
    about: '`true` becomes `false` and the other way; a list or an object that states members has none',
    edits: (node, parent) => {
      if (node.type === 'Literal' && typeof node.value === 'boolean') return [replaced(node, `${!node.value}`)];
      if (givesBack(parent)) return [];
      if (node.type === 'ArrayExpression' && children(node).length > 0) return [replaced(node, '[]')];
      if (node.type === 'ObjectExpression' && children(node).length > 0) return [replaced(node, '{}')];
      return [];
    },
  },
  {
    name: 'code',
    about: 'a code (`states/unreachable`, `code: …`) is another',
    edits: (node, parent) => {
      if (node.type !== 'Literal' || typeof node.value !== 'string') return [];
      const key = parent.type === 'Property' && parent.value === node ? parent.key : undefined;
      const isCode = /^[a-z][a-z-]*\/[a-z][a-z-]*$/.test(node.value) || (isNode(key) && key.name === 'code');
      return isCode && parent.source !== node ? [replaced(node, `'mutant/code'`)] : [];
    },
  },
  {
    name: 'statement',
    about: 'a call, an assignment or a throw that stands alone is left out',
    edits: (node) => (isEffect(node) ? [replaced(node, ';')] : []),
  },
  {
    name: 'result',
    about: 'a function that gives a value gives `undefined`',
    edits: (node) => {
      const given = node.type === 'ReturnStatement' ? node.argument : node.expression === true ? node.body : undefined;
      if (!givesBack(node) || !isNode(given) || isPlain(given)) return [];
      return [replaced(given, 'undefined')];
    },
  },
  {
    name: 'method',
    about: 'one method is taken for another (`some` for `every`), or its call is left out (`filter`, `sort`, `trim`)',
    edits: (node, _parent, script) => {
      const callee = node.callee;
      if (node.type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression') return [];
      const { object, property } = callee;
      if (!isNode(object) || !isNode(property) || callee.computed === true) return [];
      const name = `${property.name}`;
      const other = swapped.get(name);
      if (other !== undefined) return [replaced(property, other)];
      return leftOut.has(name) ? [replaced(node, `(${textOf(object, script)})`)] : [];
    },
  },
  {
    name: 'optional',
    about: '`a?.b` becomes `a.b`',
    edits: (node, _parent, script) => {
      const before = node.object ?? node.callee;
      if (node.optional !== true || !isNode(before)) return [];
      const at = script.indexOf('?.', before.end);
      const follows = script[at + 2];
      return [{ start: at, end: at + 2, replacement: follows === '[' || follows === '(' ? '' : '.' }];
    },
  },
];

const conditional = new Set(['IfStatement', 'ConditionalExpression', 'WhileStatement', 'DoWhileStatement', 'ForStatement']);
const opposite = new Map([
  ['===', '!=='],
  ['!==', '==='],
  ['==', '!='],
  ['!=', '=='],
]);
const boundaries = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const arithmetic = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' };
const assigned = { '+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=' };
const swapped = new Map(
  [
    ['some', 'every'],
    ['find', 'findLast'],
    ['findIndex', 'findLastIndex'],
    ['indexOf', 'lastIndexOf'],
    ['startsWith', 'endsWith'],
    ['push', 'unshift'],
    ['pop', 'shift'],
    ['min', 'max'],
    ['floor', 'ceil'],
    ['toLowerCase', 'toUpperCase'],
    ['padStart', 'padEnd'],
  ].flatMap(([one = '', other = '']) => [
    [one, other],
    [other, one],
  ]),
);
const leftOut = new Set(['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'slice', 'trim', 'replace', 'replaceAll']);

function replaced({ start, end }: SyntaxNode, replacement: string): Edit {
  return { start, end, replacement };
}

function textOf({ start, end }: SyntaxNode, script: string): string {
  return script.slice(start, end);
}

function sides(node: SyntaxNode): [SyntaxNode, SyntaxNode] {
  const { left, right } = node;
  if (!isNode(left) || !isNode(right)) throw new Error(`A ${node.type} has no two sides.`);
  return [left, right];
}

/** The operator between the two sides of a node, exchanged; what stands in comments between them is passed over. */
function between(node: SyntaxNode, script: string, type: string, table: Readonly<Record<string, string>>): Edit[] {
  const operator = `${node.operator}`;
  const replacement = table[operator];
  if (node.type !== type || replacement === undefined) return [];
  const [left, right] = sides(node);
  const gap = script.slice(left.end, right.start).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, (comment) => ' '.repeat(comment.length));
  const start = left.end + gap.indexOf(operator);
  return [{ start, end: start + operator.length, replacement }];
}

function isText(node: SyntaxNode): boolean {
  return node.type === 'TemplateLiteral' || typeof node.value === 'string';
}

function givesBack(node: SyntaxNode): boolean {
  return node.type === 'ReturnStatement' || node.type === 'ArrowFunctionExpression';
}

/** A boolean has an operator of its own, and what is undefined already cannot become so. */
function isPlain(node: SyntaxNode): boolean {
  return typeof node.value === 'boolean' || node.name === 'undefined';
}

function isEffect(node: SyntaxNode): boolean {
  if (node.type === 'ThrowStatement') return true;
  const expression = node.type === 'ExpressionStatement' ? node.expression : undefined;
  if (!isNode(expression)) return false;
  const act = expression.type === 'AwaitExpression' && isNode(expression.argument) ? expression.argument : expression;
  return ['CallExpression', 'ChainExpression', 'AssignmentExpression'].includes(act.type);
}
