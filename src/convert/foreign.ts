import type { Document } from '../document/document.ts';
import { type Foreign, languageOf } from '../document/foreign.ts';
import { type Imported, importOpenApi, isOwnExport } from './openapi/import.ts';
import { importOwn } from './openapi/own-import.ts';

/** The document of this language that one in another says; nothing where that language is not known. */
export function fromForeign(foreign: Foreign): Document | undefined {
  return importForeign(foreign)?.document;
}

/** The same with the trail of its facts; `traces` keeps account of what was taken, which a report needs. */
export function importForeign(foreign: Foreign, traces = false): Imported | undefined {
  if (languageOf(foreign.value)?.language !== 'openapi') return undefined;
  return isOwnExport(foreign) ? importOwn(foreign, traces) : importOpenApi(foreign, traces);
}
