import type { ShownFields } from '../model/row-shown.ts';

/** What has to be so of a row for whatever refers to it: that no error of the service's own comes of it, that it may be read, that a transition is open. */
export interface Demand {
  readonly members: readonly string[];
  readonly source: string;
  /** Whether nothing can be made without it. */
  readonly isFirm: boolean;
  isMet(row: ShownFields): boolean;
  /** How much of what may refer to it is taken: of several rows that will do the roomiest is made. */
  room?(row: ShownFields): number;
}
