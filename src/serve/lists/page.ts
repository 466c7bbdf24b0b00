import type { Found } from './found.ts';

/** A page of rows, and where the pages around it start. */
export interface Page {
  /** The rows; or their texts, with commas between them. */
  readonly items: Found['items'];
  readonly hasMore: boolean;
  /** What the parameter of the next page takes. */
  readonly next: string | number | null;
  readonly previous: string | number | null;
  readonly total: number | undefined;
  readonly size: number;
  /** Whether pagination is open and this list is longer than goes without it. */
  readonly isInDoubt: boolean;
}
