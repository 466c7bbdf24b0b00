/**
 * How values are made, which is one maker's only difference from another. `ordinary`: as a service would show them, each by the chance of
 * its place. `smallest`: as short as bounds let them be, always the same, without chance, and null only where nothing else is.
 */
export interface Manner {
  readonly size: 'ordinary' | 'smallest';
  /** In answers a reference may be the thing itself. */
  readonly showsWhole?: boolean;
  /** What is said to be an object, of which nothing else is known, may be any value. */
  readonly takesAny?: boolean;
  /** Resources are what a caller may send of them, not the rows that are kept. */
  readonly isSent?: boolean;
}
