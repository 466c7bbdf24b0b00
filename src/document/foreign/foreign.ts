import type { FindingKind } from '../catalogue.ts';
import type { Document, Finding, Json, JsonMap, Place, Pointer } from '../document.ts';

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
