import { validate } from '@scalar/openapi-parser';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { readOwnExport } from '../../src/convert/openapi/own/read.ts';
import { toOpenApi, toOpenApi30, toOpenApi32 } from '../../src/convert/openapi.ts';
import type { Document, Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import { formats } from '../../src/kinds/formats/all.ts';
import { readSpec, type Spec } from '../../src/parts/spec.ts';

/** Every version of OpenAPI that is written, by the word after `--to`. */
export const editions: Readonly<Record<string, (spec: Spec) => JsonMap>> = {
  openapi: (spec) => toOpenApi(spec),
  'openapi-3.2': toOpenApi32,
  'openapi-3.0': toOpenApi30,
};

/** A document in one of them, as whoever reads the file gets it. */
export function exported(document: Document, to = 'openapi'): JsonMap {
  const write = editions[to];
  if (!write) throw new Error(`no edition ${to}`);
  return plain(write(readSpec(document)));
}

/** A value as JSON gives it back. */
export function plain<T extends Json>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** The tree that an export reads back as, with its keys in the order in which people see them. */
export function readBack(openapi: JsonMap): JsonMap {
  return plain(readOwnExport(openapi).tree);
}

/** What is wrong with an export by the parser's own schemas. */
export async function flaws(openapi: JsonMap): Promise<readonly string[]> {
  if (String(openapi.openapi).startsWith('3.2')) return flawsOf32(openapi);
  const { errors = [] } = await validate(plain(openapi));
  return errors.map(({ message, path }) => `${String(path)}: ${message}`);
}

let check32: ValidateFunction | undefined;

/** The parser's own reading of 3.2 refuses every schema: it takes `#meta` for the whole. With that reference put right, its schema is the standard's. */
async function flawsOf32(openapi: JsonMap): Promise<readonly string[]> {
  if (!check32) {
    const { default: schema } = await import(
      import.meta.resolve('@scalar/openapi-parser').replace(/index\.js$/, 'schemas/v3.2/schema.js')
    );
    const standard = JSON.parse(JSON.stringify(schema).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"'));
    check32 = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(standard);
  }
  return check32(plain(openapi)) ? [] : (check32.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

/** Every example of an export with the schema that it stands beside, by its place. */
export function examplesIn(value: Json, at = ''): { readonly at: string; readonly schema: Json; readonly value: Json }[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item, index) => examplesIn(item, `${at}/${index}`));
  if (!isMap(value)) return [];
  const { schema, example, examples } = value;
  const own = schema === undefined || example === undefined ? [] : [{ at, schema, value: example }];
  const several = schema === undefined || !isMap(examples) ? [] : Object.entries(examples);
  return [
    ...own,
    ...several.flatMap(([name, one]) =>
      isMap(one) && one.value !== undefined ? [{ at: `${at}/${name}`, schema: schema ?? {}, value: one.value }] : [],
    ),
    ...Object.entries(value).flatMap(([key, inner]) =>
      key.startsWith('x-ninefold') || key === 'example' ? [] : examplesIn(inner, `${at}/${key}`),
    ),
  ];
}

/** Says of every example of an export of 3.1 that does not fit its schema why. */
export function misfits(openapi: JsonMap): readonly string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, ownProperties: true });
  ajvFormats.default(ajv);
  for (const { word: name, type, test } of formats) {
    if (type === 'string') ajv.addFormat(name, { type, validate: (value: string) => test(value) });
    else ajv.addFormat(name, { type, validate: (value: number) => test(value) });
  }
  const components = isMap(openapi.components) ? openapi.components : {};
  ajv.addSchema({ $id: 'export', components });
  return examplesIn(openapi).flatMap(({ at, schema, value }) => {
    const holds = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"export#/components')));
    return holds(value) ? [] : [`${at}: ${JSON.stringify(value)}: ${ajv.errorsText(holds.errors)}`];
  });
}
