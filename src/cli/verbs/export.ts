import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { JsonMap } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import type { Spec } from '../../parts/spec.ts';
import { complainUnsound } from '../check-text.ts';
import { reportOn } from '../reading.ts';
import { Misspelt, Misuse, type VerbCall, type VerbRun } from '../verb.ts';

/** `ninefold export DOC --to FORMAT`. */
export const runExport: VerbRun = async (asked, terminal) => {
  const format = readFormat(asked);
  const report = await reportOn(asked.document);
  if (!report.sound) {
    complainUnsound(report, asked.document, terminal);
    return 1;
  }
  const write = await format.load();
  const file = asked.value('output');
  const text = textOf(write(report.spec), file);
  if (file === undefined) terminal.write(text);
  else writeFile(file, text);
  return 0;
};

/** @throws {Misuse} for a format that there is not. */
function readFormat(asked: VerbCall): ExportFormat {
  const name = asked.value('to');
  const names = exportFormats.map((format) => format.name);
  if (name === undefined) throw new Misspelt(`export needs a format: --to ${names.join(', ')}.`);
  const format = exportFormats.find((one) => one.name === name);
  if (format) return format;
  const meant = nearest(name, names);
  throw new Misuse(
    `--to ${name}: no such format. ${meant === undefined ? `There is ${names.join(', ')}.` : `Did you mean ${meant}?`}`,
  );
}

function textOf(written: string | JsonMap, file: string | undefined): string {
  if (typeof written === 'string') return written;
  if (file !== undefined && /\.ya?ml$/i.test(file))
    return stringify(written, { lineWidth: 120, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  return `${JSON.stringify(written, undefined, 2)}\n`;
}

/** @throws {Misuse} where the file cannot be written. */
function writeFile(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Misuse(`${file} cannot be written: ${why}.`, { cause: error });
  }
}

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
