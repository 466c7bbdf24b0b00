import type { Document } from '../document/document.ts';
import { type Foreign, languageOf } from '../document/foreign.ts';
import { importOpenApi, isOwnExport } from './openapi/import.ts';
import { ownDocument } from './openapi/own-document.ts';

/** The document of this language that one in another says; nothing where that language is not known. */
export function fromForeign(foreign: Foreign): Document | undefined {
  const known = languageOf(foreign.value);
  if (known === undefined) return undefined;
  if (known.language !== 'openapi') return undefined;
  return isOwnExport(foreign) ? ownDocument(foreign) : importOpenApi(foreign).document;
}
