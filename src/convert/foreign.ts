import type { Document } from '../document/document.ts';
import { type Foreign, type Language, languageOf } from '../document/foreign.ts';
import { importAsyncApi } from './asyncapi/read/import.ts';
import { importJsonSchema } from './json-schema/import.ts';
import { type Imported, importOpenApi, isOwnExport } from './openapi/import.ts';
import { importOwn } from './openapi/own-import.ts';

/** The document of this language that one in another says; nothing where that language is not known. */
export function fromForeign(foreign: Foreign): Document | undefined {
  return importForeign(foreign)?.document;
}

/** The same with the trail of its facts; `traces` keeps account of what was taken, which a report needs. */
export function importForeign(foreign: Foreign, traces = false): Imported | undefined {
  const known = languageOf(foreign.value);
  return known && importers[known.language](foreign, traces);
}

const importers: Readonly<Record<Language['language'], (foreign: Foreign, traces: boolean) => Imported>> = {
  openapi: (foreign, traces) => (isOwnExport(foreign) ? importOwn(foreign, traces) : importOpenApi(foreign, traces)),
  asyncapi: importAsyncApi,
  'json-schema': importJsonSchema,
};
