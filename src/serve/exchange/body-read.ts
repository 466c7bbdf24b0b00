/** A body as it was read. */
export interface BodyRead {
  readonly value: unknown;
  /** A key that came twice, and was let pass. */
  readonly repeated?: string;
  /** Parameters that stood in it. */
  readonly params?: Readonly<Record<string, unknown>>;
}
