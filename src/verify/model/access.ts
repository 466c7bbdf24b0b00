import type { Permission } from '../../parts/authentication.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { callableOperations, namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import { canShow, type TrialCaller } from '../exchange/callers.ts';
import type { Expressions, Known } from './expressions.ts';

/** Whether somebody may do something: yes, no, or not to be known from outside. */
export type Allowed = 'yes' | 'no' | 'unknown';

/** The permission rules of a document, as far as they can be decided here. */
export class ExpectedAccess {
  readonly #spec: Spec;
  readonly #expressions: Expressions;

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
    const meant = [operation, ...this.#insteadOf(operation)];
    return permissions.value.filter((rule) => {
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
