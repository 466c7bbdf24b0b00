import { type Deprecation, endOf } from '../../parts/versioning.ts';

/** A TypeScript type before it is written. */
export type Type =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'union' | 'both'; readonly of: readonly Type[] }
  | { readonly kind: 'list'; readonly of: Type }
  | { readonly kind: 'tuple'; readonly items: readonly Type[]; readonly required: number; readonly rest?: Type }
  | { readonly kind: 'object'; readonly members: readonly ObjectMember[]; readonly rest?: Type }
  | { readonly kind: 'applied'; readonly name: string; readonly to: readonly Type[] };

/** One property of an object type. */
export interface ObjectMember {
  readonly name: string;
  readonly type: Type;
  readonly optional?: boolean;
  readonly readonly?: boolean;
  /** What stands above it, paragraph by paragraph. */
  readonly doc?: readonly string[];
  /** What is said of it where it is given up. */
  readonly deprecated?: string;
}

/** An object type with one member a name: of two, the later stands. */
export function objectOf(members: readonly ObjectMember[], rest?: Type): Type {
  const distinct = [...new Map(members.map((member) => [member.name, member])).values()];
  return { kind: 'object', members: distinct, ...(rest && { rest }) };
}

export function word(text: string): Type {
  return { kind: 'word', text };
}

export const unknownType: Type = word('unknown');
export const neverType: Type = word('never');
export const undefinedType: Type = word('undefined');

/** Any string, in a union that still shows its literals. */
export const anyString: Type = word('(string & {})');

export function listType(of: Type): Type {
  return { kind: 'list', of };
}

export function applied(name: string, ...to: readonly Type[]): Type {
  return { kind: 'applied', name, to };
}

/** Either of several types: each once, whatever where one of them says nothing. */
export function union(types: readonly Type[]): Type {
  const members = distinct(types, 'union').filter((type) => !isWord(type, 'never'));
  if (members.some((type) => isWord(type, 'unknown'))) return unknownType;
  const isStringKnown = members.some((type) => isWord(type, 'string'));
  const kept = isStringKnown ? members.filter((type) => type !== anyString && !isStringLiteral(type)) : members;
  return kept.length === 0 ? neverType : kept.length === 1 ? (kept[0] as Type) : { kind: 'union', of: kept };
}

/** All of several types at once: those that say nothing left out. */
export function intersectionOf(types: readonly Type[]): Type {
  const members = distinct(types, 'both').filter((type) => !isWord(type, 'unknown'));
  if (members.some((type) => isWord(type, 'never'))) return neverType;
  return members.length === 0 ? unknownType : members.length === 1 ? (members[0] as Type) : { kind: 'both', of: members };
}

function distinct(types: readonly Type[], kind: 'union' | 'both'): Type[] {
  const flat = types.flatMap((type) => (type.kind === kind ? type.of : [type]));
  const seen = new Map(flat.toReversed().map((type) => [typeKey(type), type]));
  return flat.filter((type) => seen.get(typeKey(type)) === type);
}

function isWord(type: Type, text: string): boolean {
  return type.kind === 'word' && type.text === text;
}

function isStringLiteral(type: Type): boolean {
  return type.kind === 'word' && /^['"]/.test(type.text);
}

/** What two types have to agree in to be the same: everything but what is said about them. */
export function typeKey(type: Type): string {
  switch (type.kind) {
    case 'word':
      return type.text;
    case 'union':
    case 'both':
      return `${type.kind}(${type.of.map(typeKey).join()})`;
    case 'list':
      return `${typeKey(type.of)}[]`;
    case 'tuple':
      return `[${type.items.map(typeKey).join()};${type.required}${restKey(type.rest)}]`;
    case 'applied':
      return `${type.name}<${type.to.map(typeKey).join()}>`;
    case 'object': {
      const members = type.members.map((member) => `${flagsOf(member)}${JSON.stringify(member.name)}:${typeKey(member.type)}`);
      return `{${members.join()}${restKey(type.rest)}}`;
    }
  }
}

function flagsOf({ optional, readonly }: ObjectMember): string {
  return `${readonly ? '!' : ''}${optional ? '?' : ''}`;
}

function restKey(rest: Type | undefined): string {
  return rest ? `...${typeKey(rest)}` : '';
}

/** The columns of a line, by the project's own formatter settings. */
const columns = 130;

/** A comment over what follows: one line where it fits, a paragraph each otherwise. Nothing for nothing. */
export function docLines(paragraphs: readonly string[], indent: string, deprecated?: string): string[] {
  const blocks = paragraphs
    .filter((text) => text.trim() !== '')
    .map((text) => lines(harmless(text), columns - 5 - indent.length));
  const said = blocks.flatMap((block, index) => (index === 0 ? block : ['', ...block]));
  const all = deprecated === undefined ? said : [...said, `@deprecated ${harmless(deprecated)}`.trimEnd()];
  if (all.length === 0) return [];
  if (all.length === 1 && indent.length + (all[0]?.length ?? 0) + 7 <= columns) return [`${indent}/** ${all[0]} */`];
  return [`${indent}/**`, ...all.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

/** What is said of something that is given up. */
export function deprecationText(deprecation: Deprecation | undefined): string | undefined {
  if (!deprecation) return undefined;
  const { deprecated, alternative } = deprecation;
  const sunset = endOf(deprecation);
  return [
    ...(deprecated === undefined ? [] : [`Since ${deprecated}.`]),
    ...(sunset === undefined ? [] : [`Gone after ${sunset}.`]),
    ...(alternative === undefined ? [] : [`Use ${alternative}.`]),
  ].join(' ');
}

/** Text that neither ends the comment nor speaks to an editor in its own tags. */
export function harmless(text: string): string {
  return text
    .replaceAll('*/', '*\\/')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (unit) => (unit === '\n' ? '\n' : ' '))
    .replace(/(^|[\s{])@(?=[a-zA-Z])/g, '$1\\@');
}

/** Wraps what is longer than a line; the author's own line ends stay. */
function lines(text: string, width: number): string[] {
  return text
    .trim()
    .split('\n')
    .flatMap((line) => wrap(line.trimEnd(), width));
}

function wrap(line: string, width: number): string[] {
  const out: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    if (space <= 0) break;
    out.push(rest.slice(0, space).trimEnd());
    rest = rest.slice(space + 1);
  }
  return [...out, rest];
}
