import { type Document, type Json, type JsonMap, type PartName, type Pointer, partNames } from '../../document/document.ts';
import { below, keyOf } from '../../document/pointer.ts';
import { isMap, isStanding, newMap } from '../../document/values.ts';
import { yamlText } from './yaml.ts';

/**
 * Writes a document as Markdown: a heading for each part, each resource, each endpoint and each kind of event with its prose,
 * and what is stated in fences. Reading it gives the same tree.
 */
export function writeMarkdown({ title, tree, prose }: Pick<Document, 'title' | 'tree' | 'prose'>): string {
  const texts = new Map<Pointer, string[]>();
  for (const { at, text } of prose) texts.set(at, [...(texts.get(at) ?? []), text]);
  const writing: Writing = { lines: title === '' ? [] : [`# ${heading(title)}`], texts };
  proseAt('', writing);
  for (const part of partNames) {
    const value = tree[part];
    if (value === undefined) continue;
    writing.lines.push('', `## ${titles[part]}`);
    proseAt(`/${part}`, writing);
    writePart(part, value, writing);
  }
  const { evidence } = tree;
  if (evidence !== undefined) {
    writing.lines.push(
      '',
      '## Evidence',
      '',
      'What a tool read off something, each with its rule. Take a row out where the fact is true.',
    );
    fence(evidence, writing);
  }
  return `${writing.lines.join('\n').trim()}\n`;
}

interface Writing {
  readonly lines: string[];
  readonly texts: ReadonlyMap<Pointer, readonly string[]>;
}

const titles: Readonly<Record<PartName, string>> = {
  purpose: 'What the service does',
  resources: 'Resources and their fields',
  states: 'States and transitions',
  endpoints: 'Endpoints',
  authentication: 'Authentication',
  events: 'Events',
  errors: 'Errors',
  limits: 'Limits',
  versioning: 'Versioning',
};

/** A heading for each entry of a part that lists things; what is no such entry stands in a fence under the part itself. */
function writePart(part: PartName, value: Json, writing: Writing): void {
  const lists = part === 'resources' || part === 'states' || part === 'endpoints';
  if (!isMap(value) || isStanding(value) || !lists) {
    fence(value, writing);
    proseBelow(`/${part}`, writing);
    return;
  }
  const under = (name: string, entry: Json) =>
    isHeading(name) && isMap(entry) && !isStanding(entry) && Object.keys(entry).length > 0;
  const rest: Record<string, Json> = newMap();
  for (const [name, entry] of Object.entries(value)) if (!under(name, entry)) rest[name] = entry;
  if (Object.keys(rest).length > 0) fence(rest, writing);
  for (const [name, entry] of Object.entries(value)) {
    if (!under(name, entry)) continue;
    const at = below(`/${part}`, name);
    writing.lines.push('', `### ${name}`);
    proseAt(at, writing);
    fence(entry, writing);
    proseBelow(at, writing);
  }
}

/** Whether a name is the same when it is read back out of a heading. */
function isHeading(name: string): boolean {
  return /^[^\s\\`#](?:[^\\`\r\n]*[^\s\\`#])?$/.test(name) && name !== 'others' && name !== 'defaults';
}

function heading(title: string): string {
  return title.replaceAll(/[\\`]/g, '\\$&').replaceAll(/\s+/g, ' ').trim();
}

function fence(value: Json | JsonMap, { lines }: Writing): void {
  const text = yamlText(value);
  // A fence is longer than any run of its marks inside.
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = '`'.repeat(longest + 1);
  lines.push('', `${mark}yaml`, text, mark);
}

function proseAt(at: Pointer, { lines, texts }: Writing): void {
  for (const text of texts.get(at) ?? []) lines.push('', quoted(text));
}

/** Prose about what stands inside a fence follows it, named by its place. */
function proseBelow(at: Pointer, { lines, texts }: Writing): void {
  for (const [pointer, list] of texts) {
    if (!pointer.startsWith(`${at}/`)) continue;
    for (const text of list) lines.push('', quoted(`${keyOf(pointer.slice(at.length + 1))}: ${text}`));
  }
}

/** Text that could state something, or end the part that it stands in, is quoted whole. */
function quoted(text: string): string {
  const lines = text.replaceAll(/\r\n?/g, '\n').split('\n');
  if (lines.every((line) => line.trim() === '' || /^[\p{L}\p{N}"'(*_[]/u.test(line)) && !lines.some((line) => line.includes('|')))
    return text;
  return lines.map((line) => `> ${line}`.trimEnd()).join('\n');
}
