import { Bare } from './json.ts';
import type { Resolve, Schema } from './schema.ts';
import type { Violation } from './violation.ts';
import { parseXml, type XmlElement } from './xml.ts';
import { compileXmlPlans, type XmlMember, type XmlPlan } from './xml-shape.ts';

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
