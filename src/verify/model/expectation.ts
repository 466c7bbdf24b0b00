import type { Json, Pointer } from '../../document/document.ts';
import { readTemplate } from '../../kinds/generators/template.ts';
import type { EvaluationContext } from '../../parts/expressions/cel-value.ts';
import { generatedOf } from '../../parts/inner-values.ts';
import type { Field, Resource } from '../../parts/resources.ts';

/** What a field has to be after a change, and which word of the document says so. */
export type Expectation = { readonly because: Because; readonly at: Pointer } & (
  | { readonly is: 'value'; readonly value: Json }
  | { readonly is: 'time'; readonly fromMs: number; readonly toMs: number }
  | { readonly is: 'pattern'; readonly pattern: RegExp }
  | { readonly is: 'absent' }
  | { readonly is: 'null' }
  | { readonly is: 'unknown' }
);

export type Because = 'sent' | 'default' | 'set' | 'generated' | 'kept' | 'state' | 'path' | 'derived';

/** A row's fields. */
export type RowFields = Readonly<Record<string, Json>>;

/** A row before a change, and the fields of it that were not to be seen. */
export interface Before {
  readonly fields: RowFields;
  readonly unseen: ReadonlySet<string>;
}

/** How an expression reads the row that a reference leads to. */
export type Follow = NonNullable<EvaluationContext['follow']>;

/** An identifier of a new row, as far as its form. */
export function identifierExpected(word: string | undefined, { at }: Field): Expectation {
  if (word === undefined || word === 'integer' || word === 'client') return { is: 'unknown', because: 'generated', at };
  const read = readTemplate(word);
  if (!('template' in read)) return { is: 'unknown', because: 'generated', at };
  return { is: 'pattern', pattern: new RegExp(read.template.pattern), because: 'generated', at };
}

/** What is generated for a field of a new row, as far as its form. */
export function generatedExpected(resource: Resource, field: Field): Expectation {
  const at = `${field.at}/generate`;
  const read = generatedOf(resource, field);
  if (!read || 'wrong' in read || read.pattern === undefined) return { is: 'unknown', because: 'generated', at };
  return { is: 'pattern', pattern: new RegExp(read.pattern), because: 'generated', at };
}
