/** A format of this language: a word that may stand beside a type in a shape, and narrows it. */
export interface Format {
  /** The word, as `format` writes it. */
  readonly word: string;
  /** The JSON type it applies to; a value of another type is none of its business. */
  readonly type: 'string' | 'number';
  /** What a value of it is, so that "must be …" reads well. */
  readonly meaning: string;
  /** A value of it. */
  readonly example: string | number;
  /** What keywords of JSON Schema can say of it to those who do not know the word; they may admit more than it does. */
  readonly schema?: { readonly pattern: string } | { readonly minimum: number; readonly maximum: number };
  /** Whether a value is of it; time linear in the value's length. Integers past 2^53 come as BigInts. */
  test(value: string | number | bigint): boolean;
}
