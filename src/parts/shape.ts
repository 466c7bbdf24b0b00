import type { Json, JsonMap } from '../document/document.ts';

/**
 * A shape: a JSON Schema 2020-12 object in which two words of this language may stand beside the standard keywords.
 * `{ resource: 'parcel' }` is a whole resource, `{ type: 'string', ref: 'parcel' }` an identifier of one. Short forms
 * (`string?`, `[parcel]`, `parcel`) are gone: reading a document writes them out. A nullable type is `[T, 'null']`; a nullable resource is exactly one of `{ resource }` and `{ type: 'null' }`.
 */
export type Shape = JsonMap & {
  readonly resource?: string;
  readonly ref?: string;
  readonly type?: Json;
};
