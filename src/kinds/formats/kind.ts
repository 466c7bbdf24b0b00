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
  /** What its values stand for, where that is another thing than the text or the number that is written. */
  readonly standsFor?: 'bytes' | 'digits' | 'wide integer';
  /** A value as a point in time, and the other way round, where that is what it stands for. */
  readonly time?: FormatOfTime;
  /** Whether a value tells one thing from all others. */
  readonly isTelling?: true;
  /** Whether a value tells by itself whose it is, wherever it stands. */
  readonly isPersonal?: true;
  /** Texts that are nearly of it, each wrong in a way of its own, and that whoever looks at them refuses. */
  readonly nearMisses?: readonly string[];
  /** The format of JSON Schema whose values are all of it too, so that values of it can be made as those are. */
  readonly covers?: string;
  /** The formats whose values all of its own are. */
  readonly within?: readonly string[];
  /** Whether a value is of it; time linear in the value's length. Integers past 2^53 come as BigInts. */
  test(value: string | number | bigint): boolean;
}

export interface FormatOfTime {
  /** Milliseconds since 1970; nothing for what is no such value. */
  readMs(value: unknown): number | undefined;
  write(ms: number): string | number;
}
