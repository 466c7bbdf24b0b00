import type { Resolve, Schema } from './schema.ts';
import { compileXmlPlans, type XmlPlan, type XmlWords } from './xml-shape.ts';

/** Writes a value as a document of XML whose root element has a name. */
export type WriteXml = (value: unknown) => string;

export interface XmlWriting {
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
