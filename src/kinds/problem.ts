/** Something that is wrong with how a kind is stated, as data: `check` has the rule of that code, and knows the place of the statement. */
export interface Problem {
  /** The code of a rule of `check`, which says how grave it is and what to write instead in general. */
  readonly code: string;
  readonly message: string;
  /** What to write instead, where it differs from what the rule says. */
  readonly remedy?: string;
  /** The keys that lead from the statement to what is wrong; none where it is the statement itself. */
  readonly at: readonly string[];
  /** Whether the key is wrong rather than its value. */
  readonly onKey?: boolean;
}
