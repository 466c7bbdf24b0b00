import type { JsonMap } from '../document/document.ts';
import { isMap } from '../document/values.ts';
import { basePath } from '../parts/purpose.ts';
import type { Spec } from '../parts/spec.ts';
import { readOwnExport } from './openapi/own/read.ts';
import { ordersOf, writtenForms } from './openapi/own/resources.ts';
import { ownKey } from './openapi/own/stated-schema.ts';
import { openApiDocument } from './openapi/write/document.ts';
import { lowered } from './openapi/write/version-3-0.ts';
import { type Edition, present } from './openapi/write/writing.ts';

/**
 * Writes a document as OpenAPI 3.1: all that OpenAPI can say in its own words, the rest as `x-ninefold` and `x-ninefold-…` beside
 * them. What reading it back would write in another form is carried in its own.
 */
export function toOpenApi(spec: Spec, edition: Edition = '3.1'): JsonMap {
  const written = openApiDocument(spec, edition);
  const { tree } = readOwnExport(written);
  const forms = writtenForms(tree, spec.document.tree).map(({ at, was, is }) => present({ at, was, is }));
  const order = ordersOf(tree, spec.document.tree);
  const carried = written[ownKey];
  return {
    ...written,
    [ownKey]: {
      ...(isMap(carried) && carried),
      ...(forms.length > 0 && { written: forms }),
      ...(Object.keys(order).length > 0 && { order }),
    },
  };
}

/** Writes it as OpenAPI 3.2, which also knows streams and methods of one's own. */
export function toOpenApi32(spec: Spec): JsonMap {
  return toOpenApi(spec, '3.2');
}

/** The same as a service itself gives it: before the stated addresses stands the one that it was asked at, so that a page that reads it asks there. */
export function toServedOpenApi(spec: Spec): JsonMap {
  const written = toOpenApi(spec);
  const { servers = [] } = written;
  const here = { url: basePath(spec.purpose) || '/', description: 'This service.' };
  return { ...written, servers: [here, ...(Array.isArray(servers) ? servers : [])] };
}

/** Writes it as OpenAPI 3.0 for tools that know no other. */
export function toOpenApi30(spec: Spec): JsonMap {
  return lowered(toOpenApi(spec));
}
