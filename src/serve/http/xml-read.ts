/** Bodies of XML: the elements of a text, and the value that a schema means by them. */

import { isUtf8 } from 'node:buffer';
import { Bare } from './json.ts';
import type { Resolve, Schema } from './schema.ts';
import { cut, type Violation } from './violation.ts';
import { compileXmlPlans, type XmlMember, type XmlPlan } from './xml-write.ts';

/** Reads a body of XML as the value that a schema means by it. */
export type ReadXml = (bytes: Buffer) => { readonly value: unknown } | { readonly problem: Violation };

/**
 * Compiles the reading of XML by a schema and what it says of `xml`: names, attributes, and lists, wrapped or not. Texts are coerced to the types that
 * the schema has; what it does not name is taken as it is, as a text, a map, or a list where an element comes several times.
 */
export function compileXmlReading(schema: Schema, resolve: Resolve): ReadXml {
  const plan = compileXmlPlans(resolve)(schema);
  return (bytes) => {
    const parsed = parseXml(bytes);
    return 'problem' in parsed ? parsed : { value: rootValue(parsed.root, plan) };
  };
}

/** A body whose one member is called like the root element is in that member. */
function rootValue(root: XmlElement, plan: XmlPlan): unknown {
  const own = plan.isMap ? plan.byElement() : undefined;
  const member = own?.get(root.name);
  const isInside = !member || root.children.some(({ name }) => own?.has(name)) || own?.size !== 1;
  if (isInside) return valueIn(root, plan);
  const out: Record<string, unknown> = new Bare();
  put(out, member, root);
  return out;
}

function valueIn(element: XmlElement, plan: XmlPlan): unknown {
  if (isNull(element)) return null;
  if (plan.isList && (!plan.isMap || element.children.length > 0))
    return element.children.map((child) => valueIn(child, plan.item()));
  const isMap = plan.isMap || (plan.isOpen && element.children.length + element.attributes.size > 0);
  return isMap ? membersOf(element, plan) : plan.coerce(element.text);
}

function isNull({ attributes, children }: XmlElement): boolean {
  return attributes.get('nil') === 'true' && children.length === 0;
}

function membersOf(element: XmlElement, plan: XmlPlan): Record<string, unknown> {
  const out: Record<string, unknown> = new Bare();
  const known = plan.byElement();
  const lists = new Map<string, unknown[]>();
  for (const [name, text] of element.attributes) {
    const member = known.get(name);
    if (member?.words.attribute) out[member.name] = member.plan().coerce(text);
  }
  for (const child of element.children) {
    const member = known.get(child.name);
    if (member) put(out, member, child);
    else repeat(out, child.name, valueIn(child, plan.other()), lists);
  }
  return out;
}

function put(out: Record<string, unknown>, member: XmlMember, child: XmlElement): void {
  const plan = member.plan();
  if (!plan.isList) {
    out[member.name] = valueIn(child, plan);
    return;
  }
  const there = out[member.name];
  const items: unknown[] = Array.isArray(there) ? there : [];
  out[member.name] = items;
  const isNamedApart = member.itemElement !== member.element;
  // One that says nothing of wrapping may be wrapped all the same, where its items have a name of their own.
  const isAround =
    child.name === member.element && isNamedApart && child.children.every(({ name }) => name === member.itemElement);
  const parts = (member.words.wrapped && child.name === member.element) || isAround ? child.children : [child];
  for (const part of parts) items.push(valueIn(part, plan.item()));
}

/** What comes again is a list, which `lists` knows as its own. */
function repeat(out: Record<string, unknown>, name: string, value: unknown, lists: Map<string, unknown[]>): void {
  const list = lists.get(name);
  if (list) list.push(value);
  else if (Object.hasOwn(out, name)) {
    const made = [out[name], value];
    lists.set(name, made);
    out[name] = made;
  } else out[name] = value;
}

/** An element of XML: its name and those of its attributes are without their prefixes, and declarations of namespaces are no attributes. */
interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text in it, as it stands. */
  readonly text: string;
}

/** Bounds of a body: what stands in each other, and the elements of the whole. */
const bounds = { depth: 64, elements: 100_000 } as const;

/**
 * Reads a body of XML 1.0 in UTF-8 without a document type: nothing is defined in it and nothing fetched for it, so that there are no entities but the
 * five of XML itself and numbered characters.
 */
export function parseXml(bytes: Buffer): { readonly root: XmlElement } | { readonly problem: Violation } {
  if (!isUtf8(bytes)) return problem('octets that are no UTF-8', 'XML in UTF-8');
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const reading = new Reading(text);
  const wrong = reading.run();
  if (wrong !== undefined) return problem(wrong, 'XML without a document type');
  return reading.root ? { root: reading.root } : problem('no element', 'XML');
}

function problem(found: string, expected: string): { readonly problem: Violation } {
  return { problem: { in: 'body', path: '', found, expected } };
}

/** An element that is not at its end yet. */
interface Opened extends XmlElement {
  readonly children: Opened[];
  text: string;
  readonly written: string;
}

/** One reading from the beginning to the end, without recursion. */
class Reading {
  readonly #text: string;
  readonly #open: Opened[] = [];
  #at = 0;
  #elements = 0;
  root: Opened | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** What is wrong; nothing where all is read. */
  run(): string | undefined {
    while (this.#at < this.#text.length) {
      const next = this.#text.indexOf('<', this.#at);
      const end = next < 0 ? this.#text.length : next;
      const wrong = this.#words(this.#text.slice(this.#at, end), true) ?? (next < 0 ? undefined : this.#markup(next));
      if (wrong !== undefined) return wrong;
      if (next < 0) break;
    }
    return this.#open.length > 0 ? `no end of <${cut(this.#open.at(-1)?.written ?? '', 64)}>` : undefined;
  }

  #words(text: string, isEncoded: boolean): string | undefined {
    if (text === '') return undefined;
    const holder = this.#open.at(-1);
    if (!holder) return text.trim() === '' ? undefined : 'text outside of an element';
    const plain = isEncoded ? decoded(text) : text;
    if (plain === undefined) return 'an entity that is not of XML itself';
    holder.text += plain;
    return undefined;
  }

  #markup(from: number): string | undefined {
    const text = this.#text;
    this.#at = from;
    if (text.startsWith('<!--', from)) return this.#past('-->', from + 4);
    if (text.startsWith('<?', from)) return this.#past('?>', from + 2);
    if (text.startsWith('<![CDATA[', from)) {
      const wrong = this.#past(']]>', from + 9);
      return wrong ?? this.#words(text.slice(from + 9, this.#at - 3), false);
    }
    if (text.startsWith('<!', from)) return 'a document type';
    return text.startsWith('</', from) ? this.#close() : this.#element();
  }

  #past(mark: string, from: number): string | undefined {
    const end = this.#text.indexOf(mark, from);
    if (end < 0) return `no ${mark}`;
    this.#at = end + mark.length;
    return undefined;
  }

  #close(): string | undefined {
    END.lastIndex = this.#at;
    const name = END.exec(this.#text)?.[1];
    const opened = this.#open.pop();
    if (name === undefined || opened?.written !== name) return `an end without its beginning`;
    this.#at = END.lastIndex;
    return undefined;
  }

  #element(): string | undefined {
    TAG.lastIndex = this.#at;
    const match = TAG.exec(this.#text);
    if (match === null) return `${cut(this.#text.slice(this.#at, this.#at + 32), 32)}`;
    this.#at = TAG.lastIndex;
    const [, written = '', stated = '', slash] = match;
    const attributes = attributesIn(stated);
    if (!attributes) return `attributes of <${cut(written, 64)}>`;
    this.#elements += 1;
    if (this.#elements > bounds.elements) return `more than ${bounds.elements} elements`;
    if (this.#open.length >= bounds.depth) return `more than ${bounds.depth} levels`;
    const element: Opened = { name: localName(written), attributes, children: [], text: '', written };
    const holder = this.#open.at(-1);
    if (holder) holder.children.push(element);
    else if (this.root) return 'a second element beside the first';
    else this.root = element;
    if (slash === '') this.#open.push(element);
    return undefined;
  }
}

const NAME = '[\\p{L}_:][\\p{L}\\p{N}_:.\\-]*';
const TAG = new RegExp(`<(${NAME})((?:\\s+[^\\s=<>/"']+\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)>`, 'uy');
const END = new RegExp(`</(${NAME})\\s*>`, 'uy');

function attributesIn(stated: string): Map<string, string> | undefined {
  const attributes = new Map<string, string>();
  for (const [, name = '', double, single] of stated.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    const value = decoded(double ?? single ?? '');
    if (value === undefined) return undefined;
    if (!/^xmlns(?::|$)/.test(name)) attributes.set(localName(name), value);
  }
  return attributes;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

const entities: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** A text without its entities; nothing where one is not known. */
function decoded(text: string): string | undefined {
  if (!text.includes('&')) return text;
  let isWhole = true;
  const plain = text.replaceAll(
    /&(?:#x([\da-fA-F]{1,6});|#(\d{1,7});|(\w{1,8});)?/g,
    (_, hex?: string, digits?: string, name?: string) => {
      const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
      const known =
        name === undefined ? (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined) : entities.get(name);
      if (known === undefined) isWhole = false;
      return known ?? '';
    },
  );
  return isWhole ? plain : undefined;
}
