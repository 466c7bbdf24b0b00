import { lineAt, type SourceFile } from './source.ts';

/** An exported declaration of a file. */
export interface Exported {
  readonly name: string;
  readonly line: number;
  /** Whether it is a type alone, of which nothing is left at run time. */
  readonly isType: boolean;
  /** Whether a comment stands directly above it. */
  readonly isDocumented: boolean;
}

/** A function, method or arrow function with a body of statements. */
export interface FunctionFound {
  /** Its own name, or the name of what it is given to; `(line 12)` where it has none. */
  readonly name: string;
  readonly line: number;
  /** From its first line to its last, both counted. */
  readonly lines: number;
}

const exportPattern =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(type|interface|class|function\s*\*?|const|let|enum)\s+([\w$]+)/gm;

/** What a file declares and exports, in its order. */
export function exportsOf({ text, code }: SourceFile): Exported[] {
  return [...code.matchAll(exportPattern)].map((match) => ({
    name: match[2] ?? '',
    line: lineAt(code, match.index),
    isType: match[1] === 'type' || match[1] === 'interface',
    isDocumented: /\*\/\s*$/.test(text.slice(0, match.index)),
  }));
}

/** Names that a file takes from others of the project: `*` where it takes all that there is. */
export function importedNames({ code, imports }: SourceFile): { readonly path: string; readonly names: readonly string[] }[] {
  const lines = code.split('\n');
  return imports.flatMap(({ path, line, dynamic }) => {
    if (path === undefined) return [];
    const clause = dynamic ? undefined : clauseBefore(lines, line);
    return [{ path, names: clause === undefined ? ['*'] : namesIn(clause) }];
  });
}

/** The words between `import` or `export` and `from` of the statement whose module is named in a line. */
function clauseBefore(lines: readonly string[], line: number): string | undefined {
  let at = line - 1;
  while (at > 0 && !/^\s*(?:import|export)\b/.test(lines[at] ?? '')) at--;
  const statement = lines.slice(at, line).join(' ');
  return /^\s*(?:import|export)\s+(?:type\s+)?(.*?)\s*\bfrom\b/.exec(statement)?.[1];
}

function namesIn(clause: string): string[] {
  const inner = /\{(.*)\}/.exec(clause)?.[1];
  if (inner === undefined) return ['*'];
  return inner.split(',').flatMap((part) => {
    const name = /^\s*(?:type\s+)?([\w$]+)/.exec(part)?.[1];
    return name === undefined ? [] : [name];
  });
}

/** The functions of a file that have a body of statements, nested ones too. */
export function functionsOf({ code }: SourceFile): FunctionFound[] {
  return [...declaredFunctions(code), ...methods(code), ...arrowFunctions(code)].sort((a, b) => a.line - b.line);
}

function declaredFunctions(code: string): FunctionFound[] {
  return [...code.matchAll(/(?<![.\w$])(?:async\s+)?function\s*\*?\s*([\w$]*)\s*(?=[<(])/g)].flatMap((match) => {
    const body = bodyAfter(code, match.index + match[0].length);
    return body === undefined ? [] : [found(code, match[1] ?? '', match.index, body)];
  });
}

const notMethods = /^(?:if|for|while|switch|catch|return|function|super|await|new|typeof|import|throw|yield|else|do|with)$/;

function methods(code: string): FunctionFound[] {
  const pattern = /^([ ]+)((?:(?:async|static|get|set|override|readonly)\s+)*\*?)(#?[\w$]+)(?=[<(])/gm;
  return [...code.matchAll(pattern)].flatMap((match) => {
    const name = match[3] ?? '';
    if (notMethods.test(name)) return [];
    const body = bodyAfter(code, match.index + match[0].length);
    return body === undefined ? [] : [found(code, name, match.index + (match[1] ?? '').length, body)];
  });
}

function arrowFunctions(code: string): FunctionFound[] {
  return [...code.matchAll(/=>\s*\{/g)].map((match) => {
    const body = match.index + match[0].length - 1;
    const start = parametersBefore(code, match.index);
    const before = code.slice(code.lastIndexOf('\n', start) + 1, start);
    const name = /([\w$]+)\s*(?:=|:|:[^=]*=)\s*(?:async\s*)?$/.exec(before)?.[1] ?? '';
    return found(code, name, start, body);
  });
}

function found(code: string, name: string, start: number, body: number): FunctionFound {
  const line = lineAt(code, start);
  return { name: name === '' ? `(line ${line})` : name, line, lines: lineAt(code, closing(code, body)) - line + 1 };
}

/** Where the body of a function opens whose parameters begin here; nothing where it has none. */
function bodyAfter(code: string, from: number): number | undefined {
  let at = from;
  if (code[at] === '<') at = skipSpace(code, closing(code, at) + 1);
  if (code[at] !== '(') return undefined;
  at = skipSpace(code, closing(code, at) + 1);
  if (code[at] === '{') return at;
  if (code[at] !== ':') return undefined;
  // The type of what it returns may hold braces of its own: the body's brace follows a whole type.
  for (let last = ':'; at < code.length; at++) {
    const char = code[at] ?? '';
    if (/\s/.test(char)) continue;
    if (char === ';' || char === ')' || char === '}' || char === '=') {
      if (char !== '=' || code[at + 1] !== '>') return undefined;
      at++;
    } else if (char === '{' && !/[:|&<,>=]/.test(last)) return at;
    else if (char === '{' && last === '>' && code[skipBack(code, at) - 1] !== '=') return at;
    else if ('({[<'.includes(char)) at = closing(code, at);
    last = code[at] ?? '';
  }
  return undefined;
}

/** Where the parameters of an arrow function begin whose arrow stands here. */
function parametersBefore(code: string, arrow: number): number {
  let at = skipBack(code, arrow - 1);
  if (code[at] !== ')') {
    // A type of what it returns stands between.
    const colon = code.lastIndexOf('):', arrow);
    if (colon === -1 || lineAt(code, arrow) - lineAt(code, colon) > 8) return at;
    at = colon;
  }
  for (let depth = 0; at >= 0; at--) {
    if (code[at] === ')') depth++;
    else if (code[at] === '(' && --depth === 0) return at;
  }
  return arrow;
}

/** Where the bracket that opens here is closed; angle brackets too, whose arrows do not count. */
function closing(code: string, open: number): number {
  const ends: string[] = [];
  for (let at = open; at < code.length; at++) {
    const char = code[at] ?? '';
    const end = { '(': ')', '[': ']', '{': '}' }[char] ?? (char === '<' && code[open] === '<' ? '>' : undefined);
    if (end !== undefined) ends.push(end);
    else if (char === ends.at(-1) && !(char === '>' && code[at - 1] === '=')) ends.pop();
    if (ends.length === 0) return at;
  }
  return code.length;
}

function skipSpace(code: string, from: number): number {
  let at = from;
  while (/\s/.test(code[at] ?? '')) at++;
  return at;
}

function skipBack(code: string, from: number): number {
  let at = from;
  while (/\s/.test(code[at] ?? '')) at--;
  return at;
}
