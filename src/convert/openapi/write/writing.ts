import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { entriesOf } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import type { Spec } from '../../../parts/spec.ts';
import { type SchemaWriter, writeSchemas } from '../../json-schema/write/schema-writer.ts';
import { DefinitionNames } from '../../json-schema/write/shape-schema.ts';
import { componentName, expandableFields, operationIdOf, type ProseAt, proseOf, UniqueNames } from '../../spec/words.ts';
import type { SchemaReading } from '../own/stated-schema.ts';
import { Examples } from './examples.ts';

/** The version of OpenAPI that is written first; 3.0 is made of 3.1 afterwards. */
export type Edition = '3.1' | '3.2';

/** What every part of an export is written with. */
export interface ExportWriting {
  readonly spec: Spec;
  readonly edition: Edition;
  readonly schemas: SchemaWriter;
  readonly components: Components;
  readonly examples: Examples;
  readonly prose: ProseAt;
  /** Whether some endpoint shows what a resource refers to whole, when it is asked to. */
  readonly expandable: (resource: string) => boolean;
  /** How what is written will be read back. */
  readonly reading: SchemaReading;
  readonly operationId: (operation: Operation) => string;
}

const prefix = '#/components/schemas/';

export function startWriting(spec: Spec, edition: Edition): ExportWriting {
  const schemas = writeSchemas(spec, { prefix, knownFormats: [], knownWords: ['discriminator'], called: componentName });
  const resources = new Map<string, string>();
  for (const [name] of entriesOf(spec.resources.all)) {
    for (const view of ['answer', 'create', 'update'] as const) {
      const { $ref } = schemas.resource(name, view);
      if (typeof $ref === 'string' && !resources.has($ref)) resources.set($ref, name);
    }
  }
  const ids = new Map<string, string>();
  const unique = new UniqueNames();
  return {
    spec,
    edition,
    schemas,
    components: new Components(),
    examples: new Examples(spec),
    prose: proseOf(spec),
    expandable: expandableFields(spec),
    reading: { resourceOf: (ref) => resources.get(ref) },
    operationId: ({ name, endpoint }) => {
      const key = endpoint?.key ?? name;
      const known = ids.get(key) ?? unique.claim(operationIdOf(name.replace(/^handler /, '')));
      ids.set(key, known);
      return known;
    },
  };
}

/** The value that the document states at a path of keys; nothing where it states none. */
export function statedAt(tree: Json | undefined, ...path: readonly string[]): Json | undefined {
  let value: Json | undefined = tree;
  for (const key of path) value = isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** A map of what is there: entries without a value are left out. */
export function present(entries: Readonly<Record<string, Json | undefined>>): JsonMap {
  const map = newMap();
  for (const [key, value] of Object.entries(entries)) if (value !== undefined) map[key] = value;
  return map;
}

type Kind = 'parameters' | 'headers' | 'responses';

/** What several operations share, each once under a name of its own. */
class Components {
  readonly #kinds = new Map<
    Kind,
    { readonly names: DefinitionNames; readonly refs: Map<string, string>; readonly all: OpenMap }
  >();

  /** A reference to a thing: the one that is there already, or a new one under the wished name. */
  share(kind: Kind, wish: string, thing: JsonMap): JsonMap {
    const known = this.#kinds.get(kind) ?? { names: new DefinitionNames(), refs: new Map(), all: newMap() };
    this.#kinds.set(kind, known);
    const text = JSON.stringify(thing);
    const name = known.refs.get(text) ?? known.names.claim(wish);
    known.refs.set(text, name);
    known.all[name] = thing;
    return { $ref: `#/components/${kind}/${name}` };
  }

  /** What was shared, by kind. */
  all(): Readonly<Record<string, Json>> {
    return Object.fromEntries([...this.#kinds].map(([kind, { all }]) => [kind, all]));
  }
}

/** The phrase of each status that an interface is likely to speak of (RFC 9110 section 15 and its registry), as Node.js writes it. */
export const phrases: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  203: 'Non-Authoritative Information',
  204: 'No Content',
  205: 'Reset Content',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  418: "I'm a Teapot",
  421: 'Misdirected Request',
  422: 'Unprocessable Entity',
  423: 'Locked',
  424: 'Failed Dependency',
  425: 'Too Early',
  426: 'Upgrade Required',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  451: 'Unavailable For Legal Reasons',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** The phrase of a status; of one that is not listed, what Node.js-made answers say too. */
export function phraseOf(status: number | string): string {
  const range = /^([1-5])XX$/i.exec(String(status))?.[1];
  if (range !== undefined) return ranges[Number(range)] ?? 'Answer';
  return phrases[Number(status)] ?? 'Error';
}

const ranges: readonly string[] = ['', 'Informational', 'Success', 'Redirection', 'Client error', 'Server error'];
