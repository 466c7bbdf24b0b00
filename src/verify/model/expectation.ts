import type { Json, Pointer } from '../../document/document.ts';
import type { EvaluationContext } from '../../parts/expressions/cel-value.ts';

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
