/** A word that belongs to a kind and stands beside its own: what may be written there. */
export interface Member {
  /** Its form in JSON Schema; any value may be a standing instead, such as `!open`. */
  readonly form: MemberForm;
  /** Whether the kind cannot be understood without it. */
  readonly isRequired?: boolean;
}

export interface MemberForm extends ValueForm {
  readonly description: string;
}

/** The form of a value. */
export type ValueForm = {
  readonly description?: string;
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';
  /** One of several forms. */
  readonly anyOf?: readonly ValueForm[];
  readonly items?: ValueForm;
  /** The form of what stands under the author's own words. */
  readonly additionalProperties?: ValueForm;
  readonly minimum?: number;
  readonly enum?: readonly string[];
};

/** The words that belong to a kind, each with what may be written there. */
export type Members = Readonly<Record<string, Member>>;

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
