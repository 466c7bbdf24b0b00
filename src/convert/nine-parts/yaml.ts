import { type Document, type Json, type JsonMap, type Pointer, partNames } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isMap, newMap } from '../../document/values.ts';

/**
 * Writes a document as one YAML text, the parts in their order, prose as comments above what it is about, what was inferred at
 * the end. Reading it gives the same tree.
 */
export function writeYaml({ title, tree, prose }: Pick<Document, 'title' | 'tree' | 'prose'>): string {
  const texts = new Map<Pointer, string[]>();
  for (const { at, text } of prose) texts.set(at, [...(texts.get(at) ?? []), text]);
  const comments = (at: Pointer): readonly string[] => texts.get(at) ?? [];
  const keys = [...order.filter((key) => Object.hasOwn(tree, key)), ...Object.keys(tree).filter((key) => !order.includes(key))];
  const pieces = keys.map((key) => yamlText(only(key, tree[key] as Json), comments));
  return `${[...(title === '' ? [] : [yamlText(only('title', title))]), ...pieces].join('\n\n')}\n`;
}

const order: readonly string[] = [...partNames, 'evidence'];

function only(key: string, value: Json): JsonMap {
  return Object.assign(newMap(), { [key]: value });
}

/**
 * Writes a value as YAML 1.2 that reads back as the same value: a map on one line where it is short, else one line for each
 * key; standings as `!open "…"`, `!none` and `!any`; long texts as blocks. What stands inside brackets has no comments.
 */
export function yamlText(value: Json, comments: Comments = noComments): string {
  const lines: string[] = [];
  writeEntries(value, '', '', { lines, comments });
  return lines.join('\n');
}

/** What is said of the value at a pointer, which stands above its key. */
export type Comments = (at: Pointer) => readonly string[];
const noComments: Comments = () => [];

interface Page {
  readonly lines: string[];
  readonly comments: Comments;
}

const widthMost = 110;

function writeEntries(value: Json, at: Pointer, indent: string, page: Page): void {
  if (isMap(value) && !isStanding(value)) {
    for (const [key, inner] of Object.entries(value)) writeEntry(key, inner, below(at, key), indent, page);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) writeItem(item, below(at, index), indent, page);
  } else page.lines.push(`${indent}${scalarText(value, false)}`);
}

function writeEntry(key: string, value: Json, at: Pointer, indent: string, page: Page): void {
  const { lines } = page;
  for (const text of page.comments(at)) lines.push(...commentLines(text, indent));
  const head = `${indent}${keyText(key)}:`;
  const block = typeof value === 'string' ? blockText(value, `${indent}  `) : undefined;
  const flow = block === undefined ? flowText(value, widthMost - head.length) : undefined;
  if (block !== undefined) lines.push(`${head} ${block}`);
  else if (flow !== undefined) lines.push(`${head} ${flow}`);
  else {
    lines.push(head);
    writeEntries(value, at, `${indent}  `, page);
  }
}

/** An item stands after its dash, a map's first key beside it. */
function writeItem(value: Json, at: Pointer, indent: string, page: Page): void {
  const flow = flowText(value, widthMost - indent.length);
  if (flow !== undefined) {
    page.lines.push(`${indent}- ${flow}`);
    return;
  }
  const inner: Page = { lines: [], comments: noComments };
  writeEntries(value, at, `${indent}  `, inner);
  const [first = '', ...more] = inner.lines;
  page.lines.push(`${indent}- ${first.slice(indent.length + 2)}`, ...more);
}

/** The lines of a text as comments; what a reader would stop at stands as a space. */
function commentLines(text: string, indent: string): string[] {
  const lines = text.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n').split('\n');
  return lines.map((line) => `${indent}# ${line.replaceAll(/\p{Cc}|\ufeff/gu, ' ')}`.trimEnd());
}

/** A value on one line, where it is a scalar or short enough. */
function flowText(value: Json, room: number): string | undefined {
  if (!Array.isArray(value) && !isMap(value)) return scalarText(value, false);
  const text = flowOf(value, room);
  return text === undefined || text.length > room ? undefined : text;
}

function flowOf(value: Json, room: number): string | undefined {
  if (room < 0) return undefined;
  if (isMap(value) && !isStanding(value)) {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    const parts = joined(
      entries.map(([key, inner]) => [`${flowKey(key)}: `, inner] as const),
      room,
    );
    return parts === undefined ? undefined : `{ ${parts} }`;
  }
  if (Array.isArray(value)) {
    const parts = joined(
      value.map((inner: Json) => ['', inner] as const),
      room,
    );
    return parts === undefined ? undefined : `[${parts}]`;
  }
  return scalarText(value, true);
}

function joined(entries: readonly (readonly [string, Json])[], room: number): string | undefined {
  let text = '';
  for (const [head, inner] of entries) {
    const written = flowOf(inner, room - text.length);
    if (written === undefined) return undefined;
    text += `${text === '' ? '' : ', '}${head}${written}`;
    if (text.length > room) return undefined;
  }
  return text;
}

function scalarText(value: Json, inFlow: boolean): string {
  if (typeof value === 'string') return plainWord(value, inFlow) ? value : quotedText(value);
  if (isMap(value)) return standingText(value);
  return Array.isArray(value) ? '[]' : JSON.stringify(value);
}

/** The tag that a standing is written with. */
function standingText(value: JsonMap): string {
  if (typeof value.$open === 'string') return value.$open === '' ? '!open' : `!open ${quotedText(value.$open)}`;
  return value.$none === true ? '!none' : '!any';
}

/** Whether a map is a standing that a tag can say; a value of the author may only look like one. */
function isStanding({ $open, $none, $any, ...rest }: JsonMap): boolean {
  if (Object.keys(rest).length > 0) return false;
  const words = [$open, $none, $any].filter((word) => word !== undefined);
  return words.length === 1 && (typeof $open === 'string' || $none === true || $any === true);
}

/** Whether a text is itself when it stands without quotes: words that begin with a letter and hold nothing that YAML reads. */
function plainWord(text: string, inFlow: boolean): boolean {
  if (
    text.length > 80 ||
    !(inFlow ? /^[A-Za-z_/][\w./$-]*(?: [\w./$-]+)*$/ : /^[A-Za-z_/][\w.,;/()$'-]*(?: [\w.,;/()$'-]+)*$/).test(text)
  ) {
    return false;
  }
  return !/^(?:true|false|null|y|n|yes|no|on|off)$/i.test(text);
}

/** Method and path, and every plain word, need no quotes as a key. */
function keyText(key: string): string {
  return /^[A-Z]+ \/[\w./{}$#=&?-]*$/.test(key) || plainWord(key, true) ? key : quotedText(key);
}

function flowKey(key: string): string {
  return plainWord(key, true) ? key : quotedText(key);
}

/** JSON's form of a text is YAML's in double quotes, but for what JSON leaves as it is and a reader of files does not. */
function quotedText(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A text of several lines as a literal block; nothing where a block would not say it exactly. */
function blockText(text: string, indent: string): string | undefined {
  // A block begins with a letter, ends with one line feed or none, and holds no control character.
  if (!text.includes('\n') || /^\s|\n\n$|[^\P{Cc}\n]|[\u2028\u2029\ufeff]/u.test(text)) return undefined;
  const whole = text.endsWith('\n');
  const lines = (whole ? text.slice(0, -1) : text).split('\n');
  if (lines.at(-1)?.trim() === '') return undefined;
  return `${whole ? '|' : '|-'}\n${lines.map((line) => (line === '' ? '' : `${indent}${line}`)).join('\n')}`;
}
