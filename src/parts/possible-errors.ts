/** The conditions that can arise in a document, and which code and rule speaks of one. */

import { acceptedSets, kindOfScheme, type Permission } from './authentication.ts';
import { conditions, type ErrorCondition, generalCondition, partsOf } from './conditions.ts';
import type { Following } from './effects.ts';
import type { Endpoint } from './endpoints.ts';
import type { ErrorCode, ErrorRule, Errors } from './errors.ts';
import { entriesOf, entryOf, isStated, statedValue } from './fact.ts';
import { actsAfter, comingOf } from './followed.ts';
import { isCut } from './limits.ts';
import { callableOperations, namesOperation, type Operation } from './operations.ts';
import { boundByPath, pathParameters, requestShape } from './payload.ts';
import { fieldCountedApart, rowLimitsOf } from './row-limits.ts';
import type { Spec } from './spec.ts';
import { isMovedByUpdate, machinesOf } from './states.ts';
import { endOf } from './versioning.ts';

/** The conditions of the closed list that can arise somewhere in a document. */
export function arisingConditions(spec: Spec): ErrorCondition[] {
  const operations = callableOperations(spec);
  return conditions.filter(
    (condition) =>
      operations.some((operation) => arisesAt(spec, condition, operation)) ||
      (always.has(condition) && !isNever(spec, condition)),
  );
}

/** What arises whatever a document states: at requests that reach nothing, and by what befalls a machine. */
const always: ReadonlySet<ErrorCondition> = new Set<ErrorCondition>([
  'route.unknown',
  'write.conflict',
  'limit.time',
  'service.unavailable',
  'internal',
]);

/** Whether a condition can arise at one operation, or at what follows from it; what the document says never arises does not. */
export function arisesAt(spec: Spec, condition: ErrorCondition, operation: Operation): boolean {
  return !isNever(spec, condition) && mightArise(spec, condition, operation);
}

/** Whether each way that there is of a general condition has a code of its own, so that it is never given itself. */
export function isGivenInParts(spec: Spec, condition: ErrorCondition, named: ReadonlySet<string>): boolean {
  const parts = partsOf(condition);
  if (!parts.some((part) => named.has(part))) return false;
  const operations = callableOperations(spec);
  return parts.every((part) => named.has(part) || !operations.some((operation) => arisesAt(spec, part, operation)));
}

/** Whether a condition, or the general one that it stands below, is said never to arise. */
export function isNever({ errors: { conditions: stated } }: Spec, condition: ErrorCondition): boolean {
  return stated[condition]?.standing === 'none' || stated[generalCondition(condition)]?.standing === 'none';
}

/** Whether a condition would arise at one operation, were it not said that it never does. */
export function mightArise(spec: Spec, condition: ErrorCondition, operation: Operation): boolean {
  return tests[condition](spec, operation) || followingConditions(spec, operation).has(condition);
}

/** What can refuse the acts that follow from an operation, those left out that are passed over then. */
function followingConditions(spec: Spec, operation: Operation): ReadonlySet<ErrorCondition> {
  const found = new Set<ErrorCondition>();
  for (const { does, children } of refusingActs(spec, operation)) {
    if (!does) continue;
    if (does.verb !== 'create') found.add('reference.missing');
    const isMoved =
      children !== undefined && does.verb === 'update' && machinesOf(spec.states, does.resource).some(isMovedByUpdate);
    if (does.verb === 'transition' || isMoved) found.add('transition.illegal');
    const resource = entryOf(spec.resources.all, does.resource);
    if (resource && does.verb !== 'delete' && resource.unique.length > 0) found.add('resource.exists');
    if (does.verb !== 'delete' && rowLimitsOf(spec, does.resource).length > 0) found.add('limit.quota');
    if (resource && does.verb === 'create' && entriesOf(resource.fields).some(([, { ref }]) => ref !== undefined))
      found.add('reference.missing');
    if (does.verb === 'delete' && holds(spec, does.resource, new Set())) found.add('reference.held');
  }
  return found;
}

/** The acts that follow from an operation and refuse it where they are refused. */
export function refusingActs(spec: Spec, { endpoint, follows }: Operation): readonly Following[] {
  const effect = endpoint && !follows ? statedValue(endpoint.does) : undefined;
  const acts = actsAfter(spec, effect, endpoint?.operation);
  return acts.length === 0 ? [] : comingOf(spec, acts).filter(({ skips }) => !skips);
}

type Test = (spec: Spec, operation: Operation) => boolean;
const yes: Test = () => true;

const tests: Readonly<Record<ErrorCondition, Test>> = {
  'request.malformed': takesBody,
  'request.missing': (spec, operation) => takesBody(spec, operation) && operation.endpoint?.body !== 'optional',
  'request.media': takesBody,
  'request.untyped': takesBody,
  'request.accept': (_spec, { endpoint }) => endpoint?.acceptIgnored !== true,
  'request.parameter': yes,
  'request.invalid': (spec, operation) => takesBody(spec, operation) || usesSubscriberParents(operation),
  'request.invalid.missing': (spec, operation) => tests['request.invalid'](spec, operation),
  'request.invalid.unknown': (spec, operation) => tests['request.invalid'](spec, operation),
  'request.invalid.type': (spec, operation) => tests['request.invalid'](spec, operation),
  'request.invalid.value': (spec, operation) => tests['request.invalid'](spec, operation),
  'request.invalid.read_only': (spec, operation) =>
    tests['request.invalid'](spec, operation) && operation.endpoint?.readOnlySent !== undefined,
  'route.unknown': yes,
  'method.unsupported': yes,
  'caller.unknown': (spec, operation) =>
    isStated(spec.authentication.schemes) && !namesOperation(spec.authentication.public, operation),
  'caller.forbidden': (spec, operation) =>
    isStated(spec.authentication.permissions) && !namesOperation(spec.authentication.public, operation),
  'caller.unknown.missing': (spec, operation) => tests['caller.unknown'](spec, operation),
  'caller.unknown.bad': (spec, operation) => tests['caller.unknown'](spec, operation),
  'caller.unknown.expired': (spec, operation) => tests['caller.unknown'](spec, operation) && takesTimed(spec, operation),
  'caller.forbidden.user': (spec, operation) => tests['caller.forbidden'](spec, operation),
  'caller.forbidden.scope': (spec, operation) =>
    tests['caller.forbidden'](spec, operation) && rulesFor(spec, operation).some(({ scopes }) => scopes.length > 0),
  'caller.forbidden.row': (spec, operation) =>
    tests['caller.forbidden'](spec, operation) && rulesFor(spec, operation).some((rule) => rule.if !== undefined),
  'resource.missing': (_spec, { endpoint }) =>
    endpoint !== undefined && (pathParameters(endpoint.path).length > 0 || endpoint.identity !== undefined),
  'resource.gone': meetsDeleted,
  'resource.moved': (_spec, { endpoint }) => endpoint?.moved !== undefined,
  'resource.exists': collides,
  'reference.missing': sendsReference,
  'reference.held': isHeld,
  'transition.illegal': (spec, operation) =>
    operation.endpoint !== undefined &&
    (operation.transition !== undefined || operation.endpoint.in !== undefined || sendsState(spec, operation)),
  'transition.illegal.state': (spec, operation) => tests['transition.illegal'](spec, operation),
  'transition.illegal.condition': (_spec, { transition }) =>
    transition !== undefined && (transition.if !== undefined || transition.to.some((target) => target.if !== undefined)),
  'precondition.failed': (_spec, { endpoint }) =>
    endpoint !== undefined && (endpoint.ifMatch === 'accepted' || endpoint.ifMatch === 'required'),
  'precondition.required': (_spec, { endpoint }) => endpoint?.ifMatch === 'required',
  'idempotency.reused': (_spec, { endpoint }) => endpoint?.idempotency !== undefined,
  'idempotency.busy': (_spec, { endpoint }) => endpoint?.idempotency !== undefined,
  'write.conflict': yes,
  'limit.rate': (spec, operation) =>
    [...(statedValue(spec.limits.rate) ?? []), ...(statedValue(spec.limits.atOnce) ?? [])].some(
      ({ on }) => on === undefined || namesOperation(on, operation),
    ),
  'limit.quota': (spec, operation) =>
    (statedValue(spec.limits.quota) ?? []).some((quota) => quota.on === undefined || namesOperation(quota.on, operation)) ||
    mayBeTooMany(spec, operation),
  'limit.size': (spec) => isStated(spec.limits.size),
  'limit.size.url': (spec) => statedValue(spec.limits.size)?.url !== undefined,
  'limit.size.headers': (spec) => statedValue(spec.limits.size)?.headers !== undefined,
  'limit.page': (spec, { endpoint }) => endpoint !== undefined && isPaged(spec, endpoint),
  'limit.time': yes,
  'version.unknown': (spec) =>
    isStated(spec.versioning.versions) && isStated(spec.versioning.select) && spec.versioning.select.value.by !== 'pin',
  'version.sunset': (spec) =>
    entriesOf(spec.versioning.versions).some(([, version]) => endOf(statedValue(version.deprecation) ?? version) !== undefined),
  'service.unavailable': yes,
  internal: yes,
};

/** Whether an operation is about a row that may have been deleted and is kept; reading may answer it, and what brings it back finds it. */
function meetsDeleted(spec: Spec, { endpoint }: Operation): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  if (!effect || !['read', 'update', 'replace', 'delete', 'transition'].includes(effect.verb) || !('resource' in effect))
    return false;
  const kept = entryOf(spec.resources.all, effect.resource)?.kept;
  if (!kept) return false;
  return effect.verb === 'read'
    ? kept.answers === undefined
    : !(effect.verb === 'transition' && effect.transition === kept.restore);
}

function takesBody(spec: Spec, { endpoint }: Operation): boolean {
  return endpoint !== undefined && isStated(requestShape(spec, endpoint));
}

/** Whether an operation may make a row one too many: it makes one, or changes one that may count as another then. */
function mayBeTooMany(spec: Spec, operation: Operation): boolean {
  const resource = resourceOf(spec, operation);
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  if (!resource || !writes(operation)) return false;
  return rowLimitsOf(spec, resource.name).some((rule) => {
    if (effect?.verb === 'create' || effect?.verb === 'upsert' || rule.while) return true;
    const field = entryOf(resource.fields, fieldCountedApart(rule, resource) ?? '');
    return effect?.verb !== 'transition' && field !== undefined && !field.readOnly && !field.immutable;
  });
}

/** Whether a credential that is shown at an operation may be one whose time is over: a key, a token or a signature. */
function takesTimed({ authentication }: Spec, { endpoint }: Operation): boolean {
  const accepted = new Set(acceptedSets(authentication, endpoint).flat());
  return entriesOf(authentication.schemes).some(([name, scheme]) => {
    const by = kindOfScheme(scheme)?.proof?.by;
    return accepted.has(name) && (by === 'key' || by === 'token' || by === 'signing');
  });
}

function rulesFor({ authentication }: Spec, operation: Operation): readonly Permission[] {
  return (statedValue(authentication.permissions) ?? []).filter(({ allow }) => namesOperation(allow, operation));
}

function usesSubscriberParents({ endpoint }: Operation): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  return effect?.verb === 'create';
}

function resourceOf(spec: Spec, operation: Operation) {
  return operation.resource === undefined ? undefined : entryOf(spec.resources.all, operation.resource);
}

function writes(operation: Operation): boolean {
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  return effect !== undefined && ['create', 'update', 'replace', 'upsert', 'transition'].includes(effect.verb);
}

function collides(spec: Spec, operation: Operation): boolean {
  const resource = resourceOf(spec, operation);
  if (!resource || !writes(operation)) return false;
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  const byClient = statedValue(resource.identifier)?.generate === 'client' && effect?.verb === 'create';
  return byClient || resource.unique.length > 0;
}

/** A reference that the path binds has been looked up as a parent: when it is missing, so is the resource. */
function sendsReference(spec: Spec, operation: Operation): boolean {
  const resource = resourceOf(spec, operation);
  if (!resource || !operation.endpoint || !writes(operation)) return false;
  const bound = new Set(boundByPath(spec, operation.endpoint));
  return entriesOf(resource.fields).some(
    ([name, field]) =>
      isStated(field.shape) && !field.readOnly && !bound.has(name) && /"ref":/.test(JSON.stringify(field.shape.value)),
  );
}

/** A deletion is held where a reference to what it deletes, or to what goes with it, says `restrict`. */
function isHeld(spec: Spec, operation: Operation): boolean {
  const effect = operation.endpoint && statedValue(operation.endpoint.does);
  return effect?.verb === 'delete' && holds(spec, effect.resource, new Set());
}

function holds(spec: Spec, target: string, seen: Set<string>): boolean {
  if (seen.has(target)) return false;
  seen.add(target);
  return entriesOf(spec.resources.all).some(([name, resource]) =>
    entriesOf(resource.fields).some(
      ([, field]) =>
        field.ref === target && (field.onDelete === 'restrict' || (field.onDelete === 'cascade' && holds(spec, name, seen))),
    ),
  );
}

function isPaged(spec: Spec, endpoint: Endpoint): boolean {
  if (statedValue(endpoint.does)?.verb !== 'list') return false;
  return isCut(statedValue(endpoint.pagination ?? spec.limits.pagination));
}

/** Whether a state may be sent that nothing leads to. */
function sendsState({ states }: Spec, { endpoint, resource }: Operation): boolean {
  if (resource === undefined || statedValue(endpoint?.does)?.verb !== 'update') return false;
  return machinesOf(states, resource).some(isMovedByUpdate);
}

/** A code, and the rule of it that speaks. */
interface RefusalRule {
  readonly code: ErrorCode;
  readonly rule: ErrorRule;
}

/**
 * The rule that answers a condition at an operation, or to a request that reaches none: one for that very condition before one for the
 * general condition above it, and one that names the operation before one for all.
 */
export function ruleFor(errors: Errors, condition: ErrorCondition, operation: Operation | undefined): RefusalRule | undefined {
  const own = narrowest(errors, condition, operation);
  const general = generalCondition(condition);
  return own ?? (general === condition ? undefined : narrowest(errors, general, operation));
}

function narrowest({ codes }: Errors, condition: ErrorCondition, operation: Operation | undefined): RefusalRule | undefined {
  const rules = entriesOf(codes).flatMap(([, code]) =>
    code.rules.filter((rule) => statedValue(rule.when)?.includes(condition)).map((rule) => ({ code, rule })),
  );
  const named = operation && rules.find(({ rule }) => rule.on !== undefined && namesOperation(rule.on, operation));
  return named ?? rules.find(({ rule }) => rule.on === undefined);
}
