import type { Document } from '../document/document.ts';
import { type Foreign, languageOf } from '../document/foreign.ts';
import { importOpenApi } from './openapi/import.ts';

/** The document of this language that one in another says; nothing where that language is not known. */
export function fromForeign(foreign: Foreign): Document | undefined {
  const known = languageOf(foreign.value);
  if (known === undefined) return undefined;
  return known.language === 'openapi' ? importOpenApi(foreign).document : undefined;
}
