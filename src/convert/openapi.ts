import type { JsonMap } from '../document/document.ts';
import type { Spec } from '../parts/spec.ts';
import { openApiDocument } from './openapi/write/document.ts';

/** Writes a document as OpenAPI 3.1. */
export function toOpenApi(spec: Spec): JsonMap {
  return openApiDocument(spec, '3.1');
}
