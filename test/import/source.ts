import { check } from '../../src/check/check.ts';
import { fromForeign } from '../../src/convert/foreign.ts';
import type { Document } from '../../src/document/document.ts';
import { type ParseOptions, parseDocument } from '../../src/document/read/parse.ts';
import { isKey } from '../../src/parts/form.ts';

/** A document of OpenAPI as a test writes it: a map without version and title, or the whole text. */
export type Source = string | Readonly<Record<string, unknown>>;

/** Takes over a source. One without a version is of OpenAPI 3.1. */
export function take(source: Source, files: Readonly<Record<string, string>> = {}): Document {
  const whole =
    typeof source === 'string'
      ? source
      : JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, ...source }, undefined, 1);
  const other: NonNullable<ParseOptions['other']> = (path) =>
    files[path] ?? { code: 'document/ref-unreadable', message: `There is no ${path}.` };
  return parseDocument(whole, 'api.yaml', { isKey, foreign: fromForeign, other });
}

/** One part of what a source becomes, as a plain value. */
export function part(source: Source, name: string): unknown {
  const { tree } = take(source);
  return tree[name] === undefined ? undefined : JSON.parse(JSON.stringify(tree[name]));
}

/** The findings of a source, taken over and checked, as `code line`. */
export function findings(source: Source, files: Readonly<Record<string, string>> = {}): string[] {
  return check(take(source, files)).findings.map(({ code, place }) => `${code} ${place.line}`);
}

/** A source whose one schema is this. */
export function schema(value: unknown, version = '3.1.0'): Source {
  return { openapi: version, components: { schemas: { thing: { type: 'object', properties: { field: value } } } } };
}

/** The field of the one resource that `schema` makes. */
export function field(value: unknown, version = '3.1.0'): unknown {
  const resources = part(schema(value, version), 'resources') as { thing: { fields: { field: unknown } } };
  return resources.thing.fields.field;
}
