import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml';
import type { FindingKind } from '../catalogue.ts';
import type { Document, Finding, Json, JsonMap, Place, Pointer } from '../document.ts';
import { pathOf } from '../pointer.ts';
import type { SourceText } from '../source.ts';

/** A document in another language, OpenAPI, AsyncAPI or JSON Schema, as plain values with a way to the place of any of them. */
export interface Foreign {
  /** The file as it was named. */
  readonly file: string;
  /**
   * Its whole value. Files that it refers to are mounted below the key `$files`, by their path from its folder, and every
   * `$ref` that named one leads there: `#/$files/common~1pets.yaml/Pet`.
   */
  readonly value: JsonMap;
  /** Where a value stands (its key, for a pointer that ends in `#`), or what is nearest around it. Worked out when first asked. */
  place(pointer: Pointer): Place;
  /** The text of each file. */
  readonly sources: ReadonlyMap<string, string>;
  /** What was wrong with the texts. */
  readonly findings: readonly Finding[];
}

/** Makes a document of this language out of one in another; nothing where that language is not known. */
export type FromForeign = (foreign: Foreign) => Document | undefined;

/** The key below which the other files of a document are mounted. */
export const mountKey = '$files';

/** Whether a text looks like one of another language; only its value says for sure. */
export function looksForeign(text: string): boolean {
  return foreignKey.test(text);
}

/** The version that a value says it is written in: `{ language: 'openapi', version: '3.1.0' }`. */
export function languageOf(value: Json | undefined): Language | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const map = value as JsonMap;
  for (const [key, language] of languages) {
    const version = Object.hasOwn(map, key) ? map[key] : undefined;
    if (typeof version === 'string' || typeof version === 'number') return { language, version: String(version) };
  }
  const dialect = typeof map.$schema === 'string' ? jsonSchemaDialect.exec(map.$schema)?.[1] : undefined;
  return dialect === undefined ? undefined : { language: 'json-schema', version: dialect };
}

export interface Language {
  readonly language: 'openapi' | 'asyncapi' | 'json-schema';
  readonly version: string;
}

const languages: readonly (readonly [string, Language['language']])[] = [
  ['openapi', 'openapi'],
  ['swagger', 'openapi'],
  ['asyncapi', 'asyncapi'],
];

/** The address of a dialect says which one it is: `http://json-schema.org/draft-07/schema#`. */
const jsonSchemaDialect = /^https?:\/\/json-schema\.org\/draft[-/]([\w-]+)\/schema#?$/;

const foreignKey = /(?:^|[{,\n])[^\S\n]*["']?(?:openapi|swagger|asyncapi|\$schema)["']?\s*:/;

/** What is found in a document of another language while it is taken over: it was shipped so, so none of it is an error. */
export const foreignFindings = [
  warning(
    'ref-unresolved',
    'A reference leads to nothing, or round in a circle.',
    'Correct the reference; until then what it stood for is open.',
  ),
  warning(
    'invalid',
    'A value is none that the format has at its place.',
    'Write what the format asks for; the value was left out.',
  ),
  warning(
    'contradiction',
    'Two things that the source says exclude each other.',
    'Correct one of the two; the one that is marked was left out.',
  ),
  warning(
    'parameter-twice',
    'Two parameters of one operation have the same name in different places.',
    'Give one of them another name, if the interface allows it; the first was kept.',
  ),
  warning(
    'other-version',
    'A word of another version of the format stands in the document.',
    'Write the word of the version that the document names; it was read as it was meant.',
  ),
  warning(
    'not-read-back',
    'An export of this project was changed where it only repeats what stands elsewhere in it.',
    'Change it where it is stated: the schema of the resource, the parameter, the answer, or the words under `x-ninefold`.',
  ),
] as const satisfies readonly FindingKind[];

/** The code of a finding of taking over. */
export type ForeignCode = (typeof foreignFindings)[number]['code'];

function warning<const Name extends string>(name: Name, meaning: string, remedy: string) {
  return { code: `import/${name}`, severity: 'warning', meaning, remedy } as const;
}

/** Finds the place of a value by its path of keys, in the text of a JSON or YAML file. */
export interface PlaceFinder {
  /** The place of the value at a pointer, or of its key where the pointer ends in `#`; else of the nearest value around it. */
  find(pointer: Pointer): Place;
}

/** The text is gone through when a place is first asked for; what is kept are offsets, not places. */
export function placeFinder(source: SourceText): PlaceFinder {
  let index: EventIndex | undefined;
  return {
    find(pointer) {
      index ??= indexOf(source.text);
      const onKey = pointer.endsWith('#');
      const [from, to] = index === undefined ? start : stretchAt(index, pathOf(onKey ? pointer.slice(0, -1) : pointer), onKey);
      return source.place(from, to);
    },
  };
}

type Stretch = readonly [from: number, to: number];
const start: Stretch = [0, 0];

interface EventIndex {
  readonly text: string;
  readonly events: readonly Event[];
  /** For each event the index of the one after the value that it begins. */
  readonly after: Int32Array;
  /** The children of a collection, by its event, once they were asked for. */
  readonly children: Map<number, ReadonlyMap<string, Child>>;
}

interface Child {
  readonly key: number;
  readonly value: number;
}

function indexOf(text: string): EventIndex | undefined {
  try {
    const events = parseEvents(text, { maxDepth: 500 });
    const after = new Int32Array(events.length);
    const open: number[] = [];
    for (const [index, event] of events.entries()) {
      after[index] = index + 1;
      if (event.type === EVENT_ID.POP) after[open.pop() ?? 0] = index + 1;
      else if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS) open.push(index);
    }
    return { text, events, after, children: new Map() };
  } catch {
    return undefined;
  }
}

function stretchAt(index: EventIndex, path: readonly string[], onKey: boolean): Stretch {
  let at = 1;
  let key = 1;
  for (const word of path) {
    const child = childrenOf(index, at).get(word);
    if (child === undefined) return stretchOf(index, at);
    ({ key, value: at } = child);
  }
  return stretchOf(index, onKey ? key : at);
}

function childrenOf(index: EventIndex, parent: number): ReadonlyMap<string, Child> {
  const known = index.children.get(parent);
  if (known) return known;
  const { events, after } = index;
  const children = new Map<string, Child>();
  const kind = events[parent]?.type;
  let at = parent + 1;
  const goesOn = (): boolean => at < events.length && events[at]?.type !== EVENT_ID.POP;
  if (kind === EVENT_ID.SEQUENCE) {
    for (let item = 0; goesOn(); item++) {
      children.set(String(item), { key: at, value: at });
      at = after[at] ?? at + 1;
    }
  } else if (kind === EVENT_ID.MAPPING) {
    while (goesOn()) {
      const key = events[at];
      const value = after[at] ?? at + 1;
      if (key?.type === EVENT_ID.SCALAR) {
        const word = getScalarValue(index.text, key);
        if (!children.has(word)) children.set(word, { key: at, value });
      }
      at = after[value] ?? value + 1;
    }
  }
  index.children.set(parent, children);
  return children;
}

function stretchOf({ events, after, text }: EventIndex, at: number): Stretch {
  const event = events[at];
  if (event === undefined) return start;
  if (event.type === EVENT_ID.SCALAR) return [event.valueStart, event.valueEnd];
  if (event.type === EVENT_ID.ALIAS) return [event.anchorStart, event.anchorEnd];
  if (event.type !== EVENT_ID.MAPPING && event.type !== EVENT_ID.SEQUENCE) return start;
  const last = lastScalar(events, at, after[at] ?? at + 1);
  return [event.start, Math.min(Math.max(last, event.start), text.length)];
}

/** Where the last scalar of a collection ends. */
function lastScalar(events: readonly Event[], from: number, to: number): number {
  for (let at = to - 1; at > from; at--) {
    const event = events[at];
    if (event?.type === EVENT_ID.SCALAR) return event.valueEnd;
  }
  return 0;
}
