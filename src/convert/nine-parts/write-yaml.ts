import { type Document, type Json, type JsonMap, partNames } from '../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../document/values.ts';
import { yamlText } from './yaml-text.ts';

/** What is written of a document: its title and its tree. */
export type Writable = Pick<Document, 'title' | 'tree'>;

/** Writes a document as one YAML text, the parts in their order, what was inferred at the end; reading it gives the same tree. */
export function writeYaml({ title, tree }: Writable): string {
  const whole = newMap();
  if (title !== '') whole.title = title;
  const order = [...partNames, 'evidence'];
  const keys = [...order.filter((key) => Object.hasOwn(tree, key)), ...Object.keys(tree).filter((key) => !order.includes(key))];
  const pieces = keys.map((key) => yamlText(only(key, tree[key] as Json)));
  const head = Object.keys(whole).length > 0 ? [yamlText(whole)] : [];
  return `${[...head, ...pieces].join('\n\n')}\n`;
}

function only(key: string, value: Json): JsonMap {
  const map: OpenMap = newMap();
  map[key] = value;
  return isMap(value) || Array.isArray(value) ? map : Object.assign(map, { [key]: value });
}
