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
