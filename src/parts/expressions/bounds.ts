/** What one expression may cost, so that no document and no request can make an evaluation long. */
export const bounds = {
  /** Characters of the source. */
  sourceMax: 4096,
  /** Nodes of the syntax tree. */
  nodesMax: 1000,
  /** Nesting of the syntax tree. */
  depthMax: 50,
  /** Items of any list that an expression walks or makes. */
  itemsMax: 10_000,
  /** Characters of any string that an expression makes. */
  textMax: 1_000_000,
  /** Steps of one evaluation: one for each turn of a loop, item compared, or 64 characters handled. */
  stepsMax: 200_000,
  /** References that one path may follow. */
  followsMax: 3,
} as const;
