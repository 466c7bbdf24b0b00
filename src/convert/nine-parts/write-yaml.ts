import { type Document, type Json, type JsonMap, type Pointer, partNames } from '../../document/document.ts';
import { newMap } from '../../document/values.ts';
import { yamlText } from './yaml-text.ts';

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
