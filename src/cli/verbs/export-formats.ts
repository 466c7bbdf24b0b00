import type { JsonMap } from '../../document/document.ts';
import type { Spec } from '../../parts/spec.ts';

/** A format that a document can be written in. */
export interface ExportFormat {
  /** The word after `--to`. */
  readonly name: string;
  /** What it is, for the help. */
  readonly help: string;
  /** Loads what writes it: a text, or a value that is written as JSON, or as YAML into a file whose name ends so. */
  readonly load: () => Promise<(spec: Spec) => string | JsonMap>;
}

/** The formats of `ninefold export`, in the order of the help. */
export const exportFormats: readonly ExportFormat[] = [
  {
    name: 'openapi',
    help: 'OpenAPI 3.1',
    load: async () => (await import('../../convert/openapi.ts')).toOpenApi,
  },
  {
    name: 'openapi-3.2',
    help: 'OpenAPI 3.2',
    load: async () => (await import('../../convert/openapi.ts')).toOpenApi32,
  },
  {
    name: 'openapi-3.0',
    help: 'OpenAPI 3.0',
    load: async () => (await import('../../convert/openapi.ts')).toOpenApi30,
  },
  {
    name: 'typescript',
    help: 'types, handler signatures and a client that uses fetch',
    load: async () => (await import('../../convert/typescript.ts')).toTypescript,
  },
  {
    name: 'asyncapi',
    help: 'AsyncAPI 3.0 of its events, with the rest beside it',
    load: async () => (await import('../../convert/asyncapi.ts')).toAsyncapi,
  },
  {
    name: 'json-schema',
    help: 'one JSON Schema 2020-12 with a definition for everything that travels',
    load: async () => (await import('../../convert/json-schema.ts')).toJsonSchemas,
  },
  {
    name: 'markdown',
    help: 'this language, as a page that people read',
    load: async () => {
      const { writeMarkdown } = await import('../../convert/nine-parts/markdown.ts');
      return ({ document }) => writeMarkdown(document);
    },
  },
  {
    name: 'yaml',
    help: 'this language, as one YAML map',
    load: async () => {
      const { writeYaml } = await import('../../convert/nine-parts/yaml.ts');
      return ({ document }) => writeYaml(document);
    },
  },
];
