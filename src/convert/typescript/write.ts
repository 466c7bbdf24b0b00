import { propertyName } from '../spec/words.ts';
import type { ObjectMember, Type } from './syntax.ts';
import { docLines } from './syntax.ts';

/** The columns of a line of the project's own formatter settings. */
const columns = 130;

/** `export type NAME = TYPE;` with what is said about it above. */
export function declaration(name: string, type: Type, doc: readonly string[] = []): string {
  return [...docLines(doc, ''), `${assigned(`export type ${name} =`, type, '')};`].join('\n');
}

/** A type after what it is of; one that needs lines of its own starts on the next. */
function assigned(start: string, type: Type, indent: string): string {
  const text = written(type, indent, start.length + 2);
  return text.startsWith('\n') ? start + text : `${start} ${text}`;
}

/** A type in as many lines as it needs; `used` columns of the first one are taken. */
function written(type: Type, indent: string, used: number): string {
  const line = isPlain(type) ? flat(type) : undefined;
  if (line !== undefined && indent.length + used + line.length <= columns) return line;
  const inner = `${indent}  `;
  switch (type.kind) {
    case 'word':
      return type.text;
    case 'object':
      return braced(type.members, type.rest, indent);
    case 'list':
      return `${bracketed(type.of, indent)}[]`;
    case 'union':
      return type.of.map((member) => `\n${inner}| ${tight(member, 'union', inner)}`).join('');
    case 'both':
      return type.of.map((member) => tight(member, 'both', indent)).join(' & ');
    case 'tuple':
      return `[\n${tupleItems(type, inner)
        .map((item) => `${inner}${item},\n`)
        .join('')}${indent}]`;
    case 'applied':
      return `${type.name}<\n${type.to.map((item) => inner + written(item, inner, 0)).join(',\n')}\n${indent}>`;
  }
}

/** Whether nothing is said inside a type, so that it may stand in one line. */
function isPlain(type: Type): boolean {
  switch (type.kind) {
    case 'word':
      return true;
    case 'list':
      return isPlain(type.of);
    case 'union':
    case 'both':
      return type.of.every(isPlain);
    case 'applied':
      return type.to.every(isPlain);
    case 'tuple':
      return type.items.every(isPlain) && (type.rest === undefined || isPlain(type.rest));
    case 'object':
      return (
        type.members.every(
          ({ doc = [], deprecated, type: inner }) => doc.length === 0 && deprecated === undefined && isPlain(inner),
        ) &&
        (type.rest === undefined || isPlain(type.rest))
      );
  }
}

/** A type in one line. */
export function flat(type: Type): string {
  switch (type.kind) {
    case 'word':
      return type.text;
    case 'list':
      return type.of.kind === 'union' || type.of.kind === 'both' ? `(${flat(type.of)})[]` : `${flat(type.of)}[]`;
    case 'union':
      return type.of.map(flat).join(' | ');
    case 'both':
      return type.of.map((member) => (member.kind === 'union' ? `(${flat(member)})` : flat(member))).join(' & ');
    case 'applied':
      return `${type.name}<${type.to.map(flat).join(', ')}>`;
    case 'tuple':
      return `[${tupleItems(type).join(', ')}]`;
    case 'object': {
      const members = type.members.map((member) => `${head(member)} ${flat(member.type)}`);
      const all = type.rest ? [...members, `[key: string]: ${flat(type.rest)}`] : members;
      return all.length === 0 ? 'object' : `{ ${all.join('; ')} }`;
    }
  }
}

function head({ name, optional, readonly }: ObjectMember): string {
  return `${readonly ? 'readonly ' : ''}${propertyName(name)}${optional ? '?' : ''}:`;
}

function braced(members: readonly ObjectMember[], rest: Type | undefined, indent: string): string {
  if (members.length === 0 && !rest) return 'object';
  const inner = `${indent}  `;
  const lines = members.flatMap((member) => {
    return [...docLines(member.doc ?? [], inner, member.deprecated), `${assigned(inner + head(member), member.type, inner)};`];
  });
  if (rest) lines.push(`${assigned(`${inner}[key: string]:`, rest, inner)};`);
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function tupleItems({ items, required, rest }: Extract<Type, { kind: 'tuple' }>, indent?: string): string[] {
  const one = (type: Type) => (indent === undefined ? flat(type) : written(type, indent, 1));
  const listed = items.map((item, index) =>
    index < required ? one(item) : isCompound(item) ? `(${one(item)})?` : `${one(item)}?`,
  );
  if (!rest) return listed;
  return [...listed, isCompound(rest) ? `...(${one(rest)})[]` : `...${one(rest)}[]`];
}

function isCompound(type: Type): boolean {
  return type.kind === 'union' || type.kind === 'both';
}

function bracketed(type: Type, indent: string): string {
  if (!isCompound(type)) return written(type, indent, 2);
  return `(${written(type, indent, 4)}${type.kind === 'union' ? `\n${indent}` : ''})`;
}

function tight(member: Type, around: 'union' | 'both', indent: string): string {
  const text = written(member, indent, 4);
  return around === 'both' && member.kind === 'union' ? `(${text}${text.startsWith('\n') ? `\n${indent}` : ''})` : text;
}
