/** A source file as the rules of the house read it. */
export interface SourceFile {
  /** From the project's root, with slashes: `src/check/limits.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text with every character of comments, strings and regular expressions blanked, so that words in it are code. */
  readonly code: string;
  readonly imports: readonly Import[];
}

/** One `import` or `export … from`, static or dynamic. */
export interface Import {
  readonly line: number;
  /** As it is written: `../parts/spec.ts`, `node:fs`, `yaml`. */
  readonly specifier: string;
  /** The project's path of a relative specifier. */
  readonly path?: string;
  readonly typeOnly: boolean;
  readonly dynamic: boolean;
}

export function readSource(path: string, text: string): SourceFile {
  const code = blank(text);
  return { path, text, code, imports: importsOf(path, text, code) };
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

const importPattern = /(?<![.\w$])(?:(import|export)\b(\s+type\b)?[^'"`;()]*?\bfrom\s*|import\s*|(import)\s*\(\s*)(?=['"`])/g;

function importsOf(path: string, text: string, code: string): Import[] {
  return [...code.matchAll(importPattern)].map((match) => {
    const open = match.index + match[0].length;
    const specifier = text.slice(open + 1, text.indexOf(text[open] ?? '', open + 1));
    const relative = specifier.startsWith('.') ? { path: join(path, specifier) } : {};
    const dynamic = match[3] !== undefined;
    return { line: lineAt(text, open), specifier, ...relative, typeOnly: match[2] !== undefined, dynamic };
  });
}

function join(from: string, specifier: string): string {
  const steps = from.split('/').slice(0, -1);
  for (const step of specifier.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.') steps.push(step);
  }
  return steps.join('/');
}

/** Blanks whatever is not code, keeping length, line ends and quotes. Holes of template literals stay code. */
function blank(text: string): string {
  const out = text.split('');
  // For each template literal that is open: how many braces are open in its hole.
  const holes: number[] = [];
  let at = 0;
  const wipe = (end: number) => {
    for (; at < end && at < text.length; at++) if (text[at] !== '\n') out[at] = ' ';
  };
  const wipeTemplate = () => {
    const end = templateEnd(text, at);
    wipe(end);
    if (text[end] === '`') at++;
    else {
      holes.push(0);
      at += 2;
    }
  };
  while (at < text.length) {
    const char = text[at];
    const next = text[at + 1];
    if (char === '/' && next === '/') wipe(lineEnd(text, at));
    else if (char === '/' && next === '*') wipe(text.indexOf('*/', at + 2) + 2 || text.length);
    else if (char === '/' && startsExpression(out, at)) wipe(regexEnd(text, at));
    else if (char === '"' || char === "'") {
      at++;
      wipe(stringEnd(text, at, char));
      at++;
    } else if (char === '`') {
      at++;
      wipeTemplate();
    } else if (char === '}' && holes.at(-1) === 0) {
      holes.pop();
      at++;
      wipeTemplate();
    } else {
      if (holes.length > 0 && char === '{') holes.push((holes.pop() ?? 0) + 1);
      if (holes.length > 0 && char === '}') holes.push((holes.pop() ?? 0) - 1);
      at++;
    }
  }
  return out.join('');
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function stringEnd(text: string, from: number, quote: string): number {
  let at = from;
  while (at < text.length && text[at] !== quote && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** Where a template literal's text ends: at its closing backtick or at the next `${`. */
function templateEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '`' && !(text[at] === '$' && text[at + 1] === '{')) at += text[at] === '\\' ? 2 : 1;
  return at;
}

function regexEnd(text: string, from: number): number {
  let inClass = false;
  let at = from + 1;
  for (; at < text.length && text[at] !== '\n' && (inClass || text[at] !== '/'); at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '[') inClass = true;
    else if (text[at] === ']') inClass = false;
  }
  return at + 1;
}

/** Whether a slash here begins a regular expression: nothing that could be divided stands before it. */
function startsExpression(code: readonly string[], slash: number): boolean {
  let end = slash;
  while (end > 0 && /\s/.test(code[end - 1] ?? '')) end--;
  const before = code.slice(Math.max(0, end - 12), end).join('');
  return (
    before === '' ||
    /[(,=:[!&|?{};+\-*%<>~^]$/.test(before) ||
    /(?<![\w$.])(?:return|typeof|case|in|of|void|await|yield|throw)$/.test(before)
  );
}
