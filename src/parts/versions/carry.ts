/** Where a place of a newest value lies in an older one. */
export interface OlderPlace {
  readonly path: readonly string[];
  /** Whether the value there is another one than the newest. */
  readonly isMapped: boolean;
}

/** How values of one shape go from the newest version down to an older one and up again. Nothing that is handed over is changed. */
export interface Carry {
  /** @throws {CannotCarry} where a change has no older value for this one. */
  down(value: unknown): unknown;
  /**
   * `before` is the newest value that this one is to replace: what the older version cannot see is taken from it, and what
   * reads the same as before stays exactly as it was. Without one, added fields have their defaults.
   * @throws {CannotCarry} where a change has no newer value for this one.
   */
  up(value: unknown, before?: unknown): unknown;
  place(path: readonly string[]): OlderPlace;
}

/** A field of an older version, and what it is in the newest. */
export interface CarriedField {
  /** Its name in the older version; nothing where it was added since. */
  readonly older: string | undefined;
  /** Its name in the newest; nothing where it was removed since. */
  readonly newer: string | undefined;
  /** How its values go; nothing where they stay as they are. */
  readonly carry: Carry | undefined;
  /** Whether a change maps or renames its values. */
  readonly isMapped: boolean;
  /** Whether its values have the same order in both. */
  readonly isOrdered: boolean;
}

/** How the rows of one resource go down and up. */
export interface ResourceCarry extends Carry {
  readonly lines: readonly CarriedField[];
  older(name: string): CarriedField | undefined;
  newer(name: string): CarriedField | undefined;
  /** Newest fields that the older version does not have. */
  readonly unseen: readonly string[];
  /** A merge patch of the older version (RFC 7396) put onto a newest row; what it leaves out stays exactly as it is. */
  merge(before: Readonly<Record<string, unknown>>, patch: Readonly<Record<string, unknown>>): Record<string, unknown>;
}
