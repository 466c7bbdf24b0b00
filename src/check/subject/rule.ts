import type { PartName, Place, Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import type { Problem } from '../../kinds/member.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { ExpressionProblem } from '../../parts/expressions/node.ts';
import type { ExpressionUse } from '../../parts/expressions/scope.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Resource } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Machine, Transition } from '../../parts/states.ts';
import type { CheckedSchemas } from './schemas.ts';
import type { ShapeNode, ShapeRoot } from './shape-nodes.ts';

/** What a rule is about: one of the nine parts, or what stands in all of them. */
export type RulePart = PartName | 'shapes' | 'expressions' | 'prose' | 'security';

/** One thing that can be wrong with a document. Its row in `docs/findings.md` and its test stand under its code. */
export interface Rule {
  /** `part/what-is-wrong`, never reused. */
  readonly code: `${RulePart}/${string}`;
  /** Errors are contradictions and what cannot be kept; opinions about an interface are warnings. */
  readonly severity: 'error' | 'warning';
  /** What is wrong, in general, as one sentence. */
  readonly meaning: string;
  /** What to write instead, in general. */
  readonly remedy: string;
  readonly find: (subject: Subject) => Iterable<Wrong>;
}

/** What every rule looks at. Whatever several rules need is worked out once, before the first of them. */
export interface Subject {
  readonly spec: Spec;
  /** Every operation, with those no caller reaches. */
  readonly operations: readonly Operation[];
  readonly operationsByName: ReadonlyMap<string, readonly Operation[]>;
  readonly endpoints: readonly Endpoint[];
  readonly endpointsByResource: ReadonlyMap<string, readonly Endpoint[]>;
  /** The stated resources by name. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** The stated machines. */
  readonly machines: readonly Machine[];
  /** The transitions that an endpoint, the clock or the service fires. */
  readonly firedTransitions: ReadonlySet<Transition>;
  readonly names: CheckNames;
  /** The endpoints whose effect names what is not there, with the operation that was meant. */
  readonly misspelt: ReadonlyMap<Endpoint, string | undefined>;
  /** Every shape that the document states, and every schema in them. */
  readonly shapeRoots: readonly ShapeRoot[];
  readonly shapeNodes: readonly ShapeNode[];
  readonly schemas: CheckedSchemas;
  readonly expressions: readonly CheckedExpression[];
  /** Whether the form of what stands at a pointer, or around it, is wrong already. */
  readonly isBroken: (at: Pointer) => boolean;
}

export interface CheckedExpression {
  readonly use: ExpressionUse;
  readonly problems: readonly ExpressionProblem[];
}

/** The words that one part states and others speak of. */
export interface Vocabulary {
  /** What such a word is called: `user`. */
  readonly what: string;
  /** Whose words they are, where they belong to one resource. */
  readonly of?: string;
  readonly words: ReadonlySet<string>;
  /** Whether a word that is not there is not stated; false where the list is open or not the whole. */
  readonly closed: boolean;
  /** Where one more would be stated. */
  readonly home: string;
}

export interface CheckNames {
  readonly resources: Vocabulary;
  readonly users: Vocabulary;
  readonly errors: Vocabulary;
  readonly schemes: Vocabulary;
  readonly versions: Vocabulary;
  /** Whatever has a name of an operation, those that no caller reaches too. */
  readonly operations: Vocabulary;
}

/** One place where a rule found something. */
export interface Wrong {
  readonly message: string;
  /** Where it differs from the rule's own. */
  readonly remedy?: string;
  readonly at: Pointer;
  /** Point at the key rather than at the value. */
  readonly onKey?: boolean;
  /** A stretch inside a text value, such as an expression: where it starts, and how long it is. */
  readonly offset?: number;
  readonly length?: number;
  /** Where it stands, for what is no value of the tree. */
  readonly place?: Place;
  readonly also?: readonly { readonly message: string; readonly at: Pointer }[];
}

/** A rule that finds what contradicts itself or cannot be kept. */
export function error(code: Rule['code'], meaning: string, remedy: string, find: Rule['find']): Rule {
  return { code, severity: 'error', meaning, remedy, find };
}

/** A rule that finds what is allowed and most likely not meant. */
export function warning(code: Rule['code'], meaning: string, remedy: string, find: Rule['find']): Rule {
  return { code, severity: 'warning', meaning, remedy, find };
}

/** Those of a kind's problems that one rule is about, at their places below the statement of the kind. */
export function problemsOf(problems: readonly Problem[], at: string, code: string): Wrong[] {
  return problems
    .filter((problem) => problem.code === code)
    .map(({ message, remedy, at: keys, onKey }) => ({
      message,
      ...(remedy !== undefined && { remedy }),
      at: keys.reduce(below, at),
      ...(onKey !== undefined && { onKey }),
    }));
}
