/** Documents of XML: what a schema says of its elements, and how a value is written in them. */

import { inForce } from '../../parts/shapes/branches.ts';
import { compileCoercion } from './form.ts';
import { isSchema, itemOf, type Resolve, type Schema, schemaTypesOf } from './schema.ts';

/** Writes a value as a document of XML whose root element has a name. */
export type WriteXml = (value: unknown) => string;

interface XmlWriting {
  /** The name of the root, where its schema says none. */
  readonly root: string;
  /** Whether lists stand in an element of their own wherever their items have another name than they have. */
  readonly wrapsNamed: boolean;
}

/** Compiles the writing of values as XML by a schema and what it says of `xml`: names, attributes, namespaces, and lists, wrapped or not. */
export function compileXmlWriting(schema: Schema, resolve: Resolve, writing: XmlWriting): WriteXml {
  const plan = compileXmlPlans(resolve)(schema);
  const root = plan.words.name ?? writing.root;
  return (value) => {
    const out: string[] = ['<?xml version="1.0" encoding="UTF-8"?>\n'];
    element(out, root, plan.words, value, plan, writing, 0);
    return out.join('');
  };
}

const depthMost = 256;

/** A value in an element of its own. */
function element(
  out: string[],
  name: string,
  words: XmlWords,
  value: unknown,
  plan: XmlPlan,
  writing: XmlWriting,
  depth: number,
): void {
  if (value === undefined || !NAME.test(name) || depth > depthMost) return;
  const written = words.prefix === undefined ? name : `${words.prefix}:${name}`;
  const inner: string[] = [];
  if (Array.isArray(value)) {
    const items = plan.item();
    for (const one of value) element(inner, items.words.name ?? 'item', {}, one, items, writing, depth + 1);
  } else if (isFields(value)) members(inner, value, plan, writing, depth);
  else if (value !== null) inner.push(escaped(String(value)));
  const space =
    words.namespace === undefined
      ? ''
      : ` xmlns${words.prefix === undefined ? '' : `:${words.prefix}`}="${escaped(words.namespace)}"`;
  const head = `${written}${space}${isFields(value) ? attributesOf(value, plan) : ''}`;
  out.push(inner.length === 0 ? `<${head}/>` : `<${head}>${inner.join('')}</${written}>`);
}

function members(
  out: string[],
  value: Readonly<Record<string, unknown>>,
  plan: XmlPlan,
  writing: XmlWriting,
  depth: number,
): void {
  const known = plan.members();
  for (const [name, held] of Object.entries(value)) {
    const member = known.get(name);
    if (held === undefined || held === null || (member?.words.attribute && typeof held !== 'object')) continue;
    const inner = member?.plan() ?? plan.other();
    const own = member?.element ?? name;
    const words = member?.words ?? {};
    if (!Array.isArray(held)) element(out, own, words, held, inner, writing, depth + 1);
    else {
      const one = member?.itemElement ?? own;
      const isWrapped = words.wrapped ?? (writing.wrapsNamed && one !== own);
      const items: string[] = [];
      for (const item of held) element(items, one, {}, item, inner.item(), writing, depth + 1);
      if (isWrapped && NAME.test(own)) out.push(items.length === 0 ? `<${own}/>` : `<${own}>${items.join('')}</${own}>`);
      else out.push(...items);
    }
  }
}

function attributesOf(value: Readonly<Record<string, unknown>>, plan: XmlPlan): string {
  return [...plan.members().values()]
    .flatMap(({ name, element: own, words }) => {
      const held = Object.hasOwn(value, name) ? value[name] : undefined;
      const isWritten = words.attribute && held !== undefined && held !== null && typeof held !== 'object' && NAME.test(own);
      return isWritten ? [` ${own}="${escaped(String(held))}"`] : [];
    })
    .join('');
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

const NAME = /^[\p{L}_][\p{L}\p{N}_.-]*$/u;

const signs: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' };

/** A text as XML has it; characters that XML cannot have are left out. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\uFFFE\uFFFF]/gu, (sign) => (/\s/.test(sign) ? sign : ''))
    .replaceAll(/[<>&"]/g, (sign) => signs[sign] ?? sign);
}

/** What a schema's `xml` says (OpenAPI 3.1, section 4.8.26). */
interface XmlWords {
  readonly name?: string;
  readonly prefix?: string;
  readonly namespace?: string;
  readonly attribute?: boolean;
  readonly wrapped?: boolean;
}

/** How values of one schema stand in XML. What it leads to is compiled when it is first met. */
export interface XmlPlan {
  readonly isList: boolean;
  readonly isMap: boolean;
  /** Whether any value may stand there. */
  readonly isOpen: boolean;
  readonly words: XmlWords;
  coerce(text: string): unknown;
  /** Its members by their names in JSON. */
  members(): ReadonlyMap<string, XmlMember>;
  /** The same by the names of their elements, and of the items of those that are lists. */
  byElement(): ReadonlyMap<string, XmlMember>;
  /** What its items are, where it is a list. */
  item(): XmlPlan;
  /** What members are that it does not name. */
  other(): XmlPlan;
}

/** A member, and how it is written. */
export interface XmlMember {
  readonly name: string;
  readonly element: string;
  readonly words: XmlWords;
  /** The name of each item, where it is a list. */
  readonly itemElement: string;
  plan(): XmlPlan;
}

/** Compiles how values of schemas stand in XML; each schema is looked at once. */
export function compileXmlPlans(resolve: Resolve): (schema: Schema) => XmlPlan {
  const known = new Map<Schema, XmlPlan>();
  const planOf = (schema: Schema): XmlPlan => {
    const there = known.get(schema);
    if (there) return there;
    const plan = new Plan(schema, resolve, planOf);
    known.set(schema, plan);
    return plan;
  };
  return planOf;
}

class Plan implements XmlPlan {
  readonly #schema: Schema;
  readonly #resolve: Resolve;
  readonly #planOf: (schema: Schema) => XmlPlan;
  readonly isList: boolean;
  readonly isMap: boolean;
  readonly isOpen: boolean;
  readonly words: XmlWords;
  readonly coerce: (text: string) => unknown;
  #members: ReadonlyMap<string, XmlMember> | undefined;
  #byElement: ReadonlyMap<string, XmlMember> | undefined;

  constructor(schema: Schema, resolve: Resolve, planOf: (schema: Schema) => XmlPlan) {
    this.#schema = schema;
    this.#resolve = resolve;
    this.#planOf = planOf;
    const types = schemaTypesOf(schema, resolve);
    this.isList = types?.has('array') ?? false;
    this.isMap = types?.has('object') ?? false;
    this.isOpen = types === undefined;
    this.words = wordsOf(schema, resolve);
    this.coerce = compileCoercion(schema, resolve);
  }

  members(): ReadonlyMap<string, XmlMember> {
    this.#members ??= this.#findMembers();
    return this.#members;
  }

  byElement(): ReadonlyMap<string, XmlMember> {
    this.#byElement ??= this.#findElements();
    return this.#byElement;
  }

  item(): XmlPlan {
    return this.#planOf(itemOf(this.#schema, this.#resolve) ?? anything);
  }

  other(): XmlPlan {
    const stated = inForce(this.#schema, this.#resolve).map(({ additionalProperties }) => additionalProperties);
    return this.#planOf(stated.find(isSchema) ?? anything);
  }

  #findMembers(): ReadonlyMap<string, XmlMember> {
    const found = new Map<string, XmlMember>();
    for (const { properties } of inForce(this.#schema, this.#resolve)) {
      for (const [name, inner] of isSchema(properties) ? Object.entries(properties) : [])
        if (!found.has(name) && isSchema(inner)) found.set(name, this.#member(name, inner));
    }
    return found;
  }

  #member(name: string, schema: Schema): XmlMember {
    const planOf = this.#planOf;
    const plan = planOf(schema);
    // A member has the name that stands beside it; that of what it refers to is of elements of their own.
    const beside = besideWords(schema);
    const element = beside.name ?? name;
    const items = plan.isList ? itemOf(schema, this.#resolve) : undefined;
    const words = { ...plan.words, ...beside };
    const itemElement = (items && wordsOf(items, this.#resolve).name) ?? element;
    return { name, element, words, itemElement, plan: () => planOf(schema) };
  }

  #findElements(): ReadonlyMap<string, XmlMember> {
    const found = new Map<string, XmlMember>();
    for (const member of this.members().values()) found.set(member.element, member);
    for (const member of this.members().values()) if (!found.has(member.itemElement)) found.set(member.itemElement, member);
    return found;
  }
}

const anything: Schema = Object.freeze({});

/** What is said of the XML of a schema, by itself before what it is made of. */
function wordsOf(schema: Schema, resolve: Resolve): XmlWords {
  const stated = inForce(schema, resolve).flatMap(({ xml }) => (isSchema(xml) ? [xml] : []));
  return Object.assign({}, ...stated.toReversed());
}

/** The same without what is referred to. */
function besideWords(schema: Schema): XmlWords {
  return wordsOf(schema, () => undefined);
}
