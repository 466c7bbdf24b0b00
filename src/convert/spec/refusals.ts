import type { Json } from '../../document/document.ts';
import { conditions, type ErrorCondition, generalCondition, ownAnswer, partsOf } from '../../parts/conditions.ts';
import type { ErrorCode, ErrorRule } from '../../parts/errors.ts';
import { entriesOf, type Named, statedValue } from '../../parts/fact.ts';
import { followingName, transitionOf } from '../../parts/followed.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { arisesAt, refusingActs, ruleFor } from '../../parts/possible-errors.ts';
import type { Spec } from '../../parts/spec.ts';
import { machinesOf, type Target, type Transition, transitionsOn } from '../../parts/states.ts';

/** One way in which an operation may refuse. */
export interface PossibleRefusal {
  readonly status: number;
  /** Absent where no code is stated for the condition. */
  readonly code?: string;
  /** With `{name}` and the like where it tells of a violation. */
  readonly message: string;
  /** The condition that it answers; absent for the service's own errors. */
  readonly when?: ErrorCondition;
  /** What the code's payload carries besides. */
  readonly constants: Named<Json>;
}

/** Every refusal that can arise at one operation, in the order of the list of conditions, then the service's own. */
export function refusalsOf(spec: Spec, operation: Operation): PossibleRefusal[] {
  const general = conditions
    .filter(
      (when) =>
        !elsewhere.has(when) &&
        arisesAt(spec, when, operation) &&
        !isReplaced(when, operation) &&
        !isAnsweredApart(spec, when, operation),
    )
    .map((when) => ofCondition(spec, when, operation));
  const own = ownCodes(spec, operation).map((code) => ofCode(spec, code, operation));
  const seen = new Set<string>();
  return [...general, ...own].filter(({ status, code, when }) => {
    const key = code === undefined ? `${status} ${when}` : `${status} ${code}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** Where an operation was reached, its path and method are there. */
const elsewhere: ReadonlySet<ErrorCondition> = new Set<ErrorCondition>(['route.unknown', 'method.unsupported']);

/** Whether each way that there is of a condition at an operation has a code of its own. */
function isAnsweredApart(spec: Spec, when: ErrorCondition, operation: Operation): boolean {
  const parts = partsOf(when).filter((part) => arisesAt(spec, part, operation));
  const has = (part: ErrorCondition) => ruleFor(spec.errors, part, operation);
  const general = ruleFor(spec.errors, when, operation);
  return parts.length > 0 && parts.every((part) => has(part) !== undefined && has(part)?.rule !== general?.rule);
}

/** A transition that names its own errors for every way in which it is blocked is never plainly illegal. */
function isReplaced(when: ErrorCondition, { transition, endpoint }: Operation): boolean {
  if (when === 'transition.illegal.state') return transition?.else !== undefined && endpoint?.in === undefined;
  if (when === 'transition.illegal.condition') return transition?.ifElse !== undefined;
  if (when !== 'transition.illegal' || !transition || endpoint?.in !== undefined) return false;
  const isBlockedByIf = transition.if !== undefined && transition.ifElse === undefined;
  const isBlockedByTarget = transition.to.length > 0 && transition.to.every((target) => target.if !== undefined);
  return transition.else !== undefined && !isBlockedByIf && !isBlockedByTarget;
}

function ofCondition(spec: Spec, when: ErrorCondition, operation: Operation): PossibleRefusal {
  const found = ruleFor(spec.errors, when, operation);
  const { status, message } = ownAnswer(when);
  if (!found) return { status, message, when: generalCondition(when), constants: {} };
  return { ...told(found.code, found.rule, status, message), when };
}

/** The codes that the operation's own rules, its transition and its permissions name. */
function ownCodes(spec: Spec, operation: Operation): string[] {
  const { transition, endpoint } = operation;
  const denials = (statedValue(spec.authentication.permissions) ?? []).flatMap((rule) =>
    rule.else !== undefined && namesOperation(rule.allow, operation) ? [rule.else] : [],
  );
  const ruled = entriesOf(spec.errors.codes).flatMap(([name, { rules }]) =>
    rules.some((rule) => isOwnRule(rule, name, operation)) ? [name] : [],
  );
  const answered = [...(transition ? [transition] : []), ...movedBy(spec, operation)].flatMap((one) => [
    one.else,
    one.ifElse,
    ...one.to.map(({ answer }) => answer),
  ]);
  const begun = begunBy(spec, operation).map(({ answer }) => answer);
  const blocked = [...answered, ...begun].filter((code) => code !== undefined);
  return [...new Set([...denials, ...blocked, ...(endpoint?.errors ?? []), ...ruled, ...followingCodes(spec, operation)])];
}

/** The transitions that an update may be. */
function movedBy({ states }: Spec, { name, resource }: Operation): Transition[] {
  const machines = resource === undefined ? [] : machinesOf(states, resource);
  return machines.flatMap((machine) => transitionsOn(machine, name).map(([, transition]) => transition));
}

/** The states in which a row begins that an operation makes. */
function begunBy({ states }: Spec, { endpoint, resource }: Operation): Target[] {
  const verb = statedValue(endpoint?.does)?.verb;
  if (resource === undefined || (verb !== 'create' && verb !== 'upsert')) return [];
  return machinesOf(states, resource).flatMap(({ initial }) => initial);
}

/** The codes that what follows from an operation is refused with. */
function followingCodes(spec: Spec, operation: Operation): string[] {
  return refusingActs(spec, operation).flatMap(({ does }) => {
    if (!does) return [];
    const transition = transitionOf(spec, does);
    const name = followingName(does);
    const ruled = entriesOf(spec.errors.codes).flatMap(([code, { rules }]) =>
      rules.some(({ on }) => on?.includes(name)) ? [code] : [],
    );
    return [transition?.else, transition?.ifElse, ...ruled].filter((code) => code !== undefined);
  });
}

/** Whether a rule with a condition of the service's own is tried at the operation. */
function isOwnRule({ if: condition, on }: ErrorRule, name: string, operation: Operation): boolean {
  if (condition === undefined || operation.endpoint === undefined) return false;
  if (on !== undefined) return namesOperation(on, operation);
  const { errors } = operation.endpoint;
  return errors === undefined || errors.includes(name);
}

function ofCode(spec: Spec, name: string, operation: Operation): PossibleRefusal {
  const code = entriesOf(spec.errors.codes).find(([own]) => own === name)?.[1];
  const named = code?.rules.find((rule) => rule.on !== undefined && namesOperation(rule.on, operation));
  const rule = named ?? code?.rules.find((candidate) => candidate.on === undefined) ?? code?.rules[0];
  const message = `This is refused: ${name.replaceAll('_', ' ')}.`;
  return code && rule ? told(code, rule, 409, message) : { status: 409, code: name, message, constants: {} };
}

function told({ name, constants }: ErrorCode, rule: ErrorRule, status: number, message: string): PossibleRefusal {
  return { status: statedValue(rule.status) ?? status, code: name, message: rule.message ?? message, constants };
}
