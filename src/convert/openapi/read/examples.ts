/** Whole bodies that a source shows. */

import type { Json, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { isJson } from '../../../kinds/http-token.ts';
import type { Trail } from './evidence.ts';
import type { Content } from './operation.ts';
import { type At, refOf, type SourceReader } from './reader.ts';
import type { Shapes } from './shapes.ts';

/** The schema may stand under any type or one name of JSON, and the examples under another: then these are of that schema. */
export function showingExamples(main: Content, content: readonly Content[]): Content {
  if (isShowing(main) || !(isJson(main.type) || main.type === '*/*')) return main;
  return content.find((other) => isJson(other.type) && other.schema.value === undefined && isShowing(other)) ?? main;
}

function isShowing({ map, shown, type }: Content): boolean {
  if (shown && Object.hasOwn(shown.value, type)) return true;
  return map !== undefined && (Object.hasOwn(map.value, 'example') || Object.hasOwn(map.value, 'examples'));
}

/** Whole bodies that a media type has as its examples, by name; the only one without a name is `example`. */
export function examplesOf({ type, map, shown }: Content, at: Pointer, { reader }: Shapes, trail: Trail): OpenMap {
  const examples: OpenMap = newMap();
  const keep = (name: string, found: At) => {
    const { value, at: origin } = exampleMeant(found, reader);
    examples[name] = withMeant(value ?? null, reader, { left: partsMost });
    trail.from(below(below(at, 'examples'), name), origin);
  };
  if (shown) keep('example', reader.get(shown, type));
  if (!map) return examples;
  for (const [name, one] of reader.maps(map, 'examples')) {
    const key = valueKeys.find((word) => Object.hasOwn(one.value, word));
    if (key === undefined) continue;
    reader.mark(map.value, 'examples');
    keep(name, reader.get(one, key));
  }
  if (Object.hasOwn(map.value, 'example') && examples.example === undefined) keep('example', reader.get(map, 'example'));
  return examples;
}

/** What an example is that refers to one which stands elsewhere in the document: `{ $ref: '#/components/schemas/Toy/example' }`. */
function exampleMeant(found: At, reader: SourceReader): At {
  const ref = isMap(found.value) && Object.keys(found.value).length === 1 ? refOf(found.value) : undefined;
  return (ref !== undefined && exampleAt.test(ref) ? reader.target(ref) : undefined) ?? found;
}

/** An example with what its parts refer to in their place: `{ items: [{ $ref: '#/components/examples/Toy/value' }] }`. */
function withMeant(value: Json, reader: SourceReader, budget: { left: number }, deep = 0): Json {
  budget.left -= 1;
  if (deep > partsDeep || budget.left < 0) return value;
  if (Array.isArray(value)) return value.map((one) => withMeant(one, reader, budget, deep + 1));
  if (!isMap(value)) return value;
  const ref = Object.keys(value).length === 1 ? refOf(value) : undefined;
  const meant = ref !== undefined && exampleAt.test(ref) ? reader.target(ref)?.value : undefined;
  if (meant !== undefined) return withMeant(meant, reader, budget, deep + 1);
  const whole = newMap();
  for (const [name, one] of Object.entries(value)) whole[name] = withMeant(one, reader, budget, deep + 1);
  return whole;
}

/** How deep the parts of an example are looked at, and how many: parts that refer to each other would never end. */
const partsDeep = 12;
const partsMost = 20_000;

const exampleAt = /\/(?:example|value|dataValue)$|\/examples\/\d+$/;

/** An example as it is written, and since 3.2 as data. */
const valueKeys = ['value', 'dataValue'] as const;

/** The first example of a media type that has no schema: all that is known of such an answer. */
export function exampleOf({ type, map, shown }: Content, reader: SourceReader): At | undefined {
  if (shown) return reader.get(shown, type);
  if (!map) return undefined;
  if (Object.hasOwn(map.value, 'example')) return reader.get(map, 'example');
  const [[, first] = []] = reader.maps(map, 'examples');
  const key = first && valueKeys.find((word) => Object.hasOwn(first.value, word));
  return first && key !== undefined ? reader.get(first, key) : undefined;
}
