import type { Json } from '../../document/document.ts';

/** One value that is just inside or just outside of what a shape admits, and the kind of fact that says so. */
export interface Variant {
  /** For people and for the names of cases: `of 0`, `of 41 characters`. */
  readonly label: string;
  readonly value: Json;
  readonly kind: 'types' | 'formats' | 'allowed values';
}
