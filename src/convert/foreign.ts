import type { Document } from '../document/document.ts';
import { type Foreign, languageOf } from '../document/foreign.ts';
import { type Imported, importOpenApi } from './openapi/import.ts';

/** The document of this language that one in another says; nothing where that language is not known. */
export function fromForeign(foreign: Foreign): Document | undefined {
  return importForeign(foreign)?.document;
}

/** The same with the trail of its facts; `traces` keeps account of what was taken, which a report needs. */
export function importForeign(foreign: Foreign, traces = false): Imported | undefined {
  const known = languageOf(foreign.value);
  return known?.language === 'openapi' ? importOpenApi(foreign, traces) : undefined;
}
