import type { Json } from '../../document/document.ts';
import type { Permission } from '../../parts/authentication.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { callableOperations, namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Target, Transition } from '../../parts/states.ts';
import { canShow, type TrialCaller } from '../exchange/callers.ts';
import type { Follow } from './expectation.ts';
import type { Evaluated, Expressions, Known } from './expressions.ts';

/** Whether somebody may do something: yes, no, or not to be known from outside. */
export type Allowed = 'yes' | 'no' | 'unknown';

const nobody = {};

/** The permission rules of a document, as far as they can be decided here. */
export class ExpectedAccess {
  readonly #spec: Spec;
  readonly #expressions: Expressions;
  /** The rules that stand for each caller, by operation: they are asked for with every request. */
  readonly #rules = new WeakMap<object, WeakMap<Operation, readonly Permission[]>>();

  constructor(spec: Spec, expressions: Expressions) {
    this.#spec = spec;
    this.#expressions = expressions;
  }

  /** Whether no credential is looked at. */
  isPublic(operation: Operation): boolean {
    const { authentication } = this.#spec;
    return namesOperation(authentication.public, operation) || authentication.schemes.standing === 'none';
  }

  /** The rules that stand for a caller and an operation, whatever their conditions; nothing where rules are not stated. */
  rules(operation: Operation, caller: TrialCaller | undefined): readonly Permission[] | undefined {
    const { permissions, schemes } = this.#spec.authentication;
    if (!isStated(permissions) || !isStated(schemes)) return undefined;
    const known = this.#rules.get(caller ?? nobody) ?? new WeakMap<Operation, readonly Permission[]>();
    const rules = known.get(operation) ?? this.#rulesOf(permissions.value, operation, caller);
    this.#rules.set(caller ?? nobody, known.set(operation, rules));
    return rules;
  }

  #rulesOf(permissions: readonly Permission[], operation: Operation, caller: TrialCaller | undefined): readonly Permission[] {
    const meant = [operation, ...this.#insteadOf(operation)];
    return permissions.filter((rule) => {
      if (!meant.some((one) => namesOperation(rule.allow, one))) return false;
      if (rule.to === 'anyone') return true;
      if (!caller || !rule.to.includes(caller.user)) return false;
      return caller.scopes === undefined || rule.scopes.every((scope) => caller.scopes?.includes(scope));
    });
  }

  /** Whether a caller may do it, given what is known of the row and the request; by some of its rules alone, where that is asked. */
  allows(
    operation: Operation,
    caller: TrialCaller | undefined,
    known: Known = { context: {} },
    isAsked: (rule: Permission) => boolean = () => true,
  ): Allowed {
    if (this.isPublic(operation)) return 'yes';
    const { permissions, schemes } = this.#spec.authentication;
    if (isStated(schemes) && !caller?.credential && !this.#letsAnyone(operation)) return 'no';
    // What it may do with another credential is not told by one that this operation does not look at.
    if (caller && !canShow(caller, operation.endpoint)) return 'unknown';
    if (permissions.standing === 'none') return 'yes';
    const rules = this.rules(operation, caller);
    if (!rules) return isStated(permissions) || isStated(schemes) ? 'unknown' : 'yes';
    const context = { ...callerContext(caller), ...known.context };
    let answer: Allowed = 'no';
    for (const rule of rules.filter(isAsked)) {
      // Whether the credential has the scopes is not known where nobody has said so.
      const isSure = (rule.scopes.length === 0 || caller?.scopes !== undefined) && namesOperation(rule.allow, operation);
      if (!rule.if && isSure) return 'yes';
      if (!rule.if || !isSure) {
        answer = 'unknown';
        continue;
      }
      const evaluated = this.#expressions.evaluate(rule.if, operation.name, { ...known, context });
      if (evaluated === 'unknown') answer = 'unknown';
      else if (evaluated !== 'failed' && evaluated.value === true) return 'yes';
    }
    return answer;
  }

  /** An upsert makes a row or replaces it: a rule for either may allow it too, as the row is there or not. */
  #insteadOf({ endpoint }: Operation): Operation[] {
    const effect = endpoint && statedValue(endpoint.does);
    if (effect?.verb !== 'upsert') return [];
    return callableOperations(this.#spec).filter((one) => {
      const other = one.endpoint && statedValue(one.endpoint.does);
      return (other?.verb === 'create' || other?.verb === 'replace') && other.resource === effect.resource;
    });
  }

  #letsAnyone(operation: Operation): boolean {
    const rules = statedValue(this.#spec.authentication.permissions) ?? [];
    return rules.some((rule) => rule.to === 'anyone' && namesOperation(rule.allow, operation));
  }
}

/** `caller` as expressions read it; absent where its identifier is not known. */
export function callerContext(caller: TrialCaller | undefined): Known['context'] {
  if (caller?.id === undefined) return {};
  const { id, user, scopes = [], claims, attributes } = caller;
  return { caller: { ...attributes, id, user, scopes: [...scopes], ...(claims && { claims }) } };
}

/** What is known when a transition is about to be fired. */
export interface FiringCase {
  readonly operation: string;
  readonly row: Readonly<Record<string, Json>>;
  /** The row with what the transition sets, where that is known. */
  readonly next?: Readonly<Record<string, Json>>;
  readonly unseen: ReadonlySet<string>;
  readonly request: Json | undefined;
  readonly caller: TrialCaller | undefined;
  readonly nowMs: number;
  /** Reads what the row refers to, as far as it was shown. */
  readonly follow?: Follow;
}

/** The state that a transition leads to, `blocked` where its condition or all of its targets do not hold, or unknown. */
export function outcomeOf(expressions: Expressions, transition: Transition, firing: FiringCase): string {
  const target = targetTaken(expressions, transition, firing);
  return typeof target === 'string' ? target : target.state;
}

/** Where a transition is to lead: to one of its targets, or to a state, by whichever of them. */
export type Aim = Target | string;

/** Whether what a transition takes is what it is to lead to. */
export function isAimedAt(taken: Target | 'blocked' | 'unknown', aim: Aim): boolean {
  return typeof taken === 'object' && (typeof aim === 'string' ? taken.state === aim : taken === aim);
}

/** The target that a transition takes: several of one transition may lead to one state, and each is answered in its own way. */
export function targetTaken(
  expressions: Expressions,
  transition: Transition,
  firing: FiringCase,
): Target | 'blocked' | 'unknown' {
  const { row, request, unseen } = firing;
  const known: Known = {
    context: {
      ...callerContext(firing.caller),
      resource: row,
      next: firing.next ?? row,
      now: firing.nowMs,
      operation: firing.operation,
      ...(request !== undefined && { request }),
      ...(firing.follow && { follow: firing.follow }),
    },
    unseen: { resource: unseen, next: unseen },
  };
  const ask = (condition: NonNullable<Transition['if']>): Evaluated => expressions.evaluate(condition, firing.operation, known);
  const guard = transition.if && ask(transition.if);
  if (guard === 'unknown') return 'unknown';
  if (guard !== undefined && !holds(guard)) return 'blocked';
  for (const target of transition.to) {
    if (!target.if) return target;
    const holding = ask(target.if);
    if (holding === 'unknown') return 'unknown';
    if (holds(holding)) return target;
  }
  return 'blocked';
}

function holds(evaluated: Evaluated): boolean {
  return typeof evaluated === 'object' && evaluated.value === true;
}
