import type { PartName, Pointer } from '../../document/document.ts';
import type { Fact, Standing } from '../fact.ts';
import type { Spec } from '../spec.ts';

/** One of the forty kinds of fact, with everything that is true of this kind alone. */
export interface FactKind {
  readonly part: PartName;
  readonly kind: string;
  /** Each place where the kind arises in a document, and how it stands there. */
  readonly arises: (spec: Spec) => readonly FactInstance[];
  /** What serving does with an exchange that meets it while it is open. */
  readonly whenOpen: string;
}

/** One fact at its address. */
export interface FactInstance {
  /** What it is about: `parcel.weight_g`, `GET /parcels`. */
  readonly subject: string;
  readonly at: Pointer;
  readonly standing: Standing;
  readonly question?: string;
}

/** An instance from a fact of the model. */
export function instance(subject: string, fact: Fact<unknown>): FactInstance {
  const question = 'question' in fact ? fact.question : undefined;
  return { subject, at: fact.at, standing: fact.standing, ...(question !== undefined && { question }) };
}

/** An instance that takes the standing of something it follows from. */
export function follows(subject: string, at: Pointer, fact: Fact<unknown>): FactInstance {
  return { ...instance(subject, fact), at };
}

/** An instance that is stated by a rule of the language. */
export function stated(subject: string, at: Pointer): FactInstance {
  return { subject, at, standing: 'stated' };
}
