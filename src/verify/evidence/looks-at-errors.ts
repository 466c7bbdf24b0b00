import { type ErrorCondition, generalCondition, isCondition } from '../../parts/conditions.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { ErrorRule } from '../../parts/errors.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { namesOperation, resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, isWritable } from '../../parts/payload.ts';
import type { Field } from '../../parts/resources.ts';
import type { Model } from '../model/model.ts';
import { isTagRaced, tagRaced } from '../trials/endpoints/conditions.ts';
import { allowReason } from '../trials/endpoints/routes.ts';
import { looksAtRefused } from './looks-at-endpoints.ts';
import { looksAtHolding } from './looks-at-held.ts';
import { looksFor } from './looks-at-limits.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/** What a service comes to by itself, or in a moment that nobody can choose. */
const inward: ReadonlySet<string> = new Set<ErrorCondition>([
  'internal',
  'service.unavailable',
  'write.conflict',
  'idempotency.busy',
]);

const whyInward = 'nobody can bring it about from outside';
const whyUntold = 'refusals show neither their codes nor words that tell this one';

/** Each code, in a refusal. */
export function looksAtCodes(model: Model): Obligation[] {
  return entriesOf(model.spec.errors.codes).map(([name, { rules }]) => ({
    ...showing(model, name, name),
    ...(rules.every(isInward) ? { why: whyInward } : model.refusals.tells(name) ? {} : { why: whyUntold }),
  }));
}

/** The payload of each code: what one refusal looks like says nothing of another. */
export function looksAtPayloads(model: Model): Obligation[] {
  const codes = model.refusals.showsCodes ? looksAtCodes(model).filter(({ why }) => why === undefined) : [];
  return codes.length > 0 ? codes : [looksAtRefused('a refusal')];
}

/** The code, in a refusal; where no refusal tells it, the status in one of what it stands for. */
export function looksAtStatus(model: Model, { subject }: LedgerFact): Obligation[] {
  if (model.refusals.tells(subject)) return [showing(model, subject, 'a refusal with the code')];
  const statuses = entryOf(model.spec.errors.codes, subject)?.rules.map(({ status }) => statedValue(status)) ?? [];
  const isMetBy: Obligation['isMetBy'] = ({ exchanges }) => exchanges.some(({ status }) => statuses.includes(status));
  return [{ name: 'a refusal of what it stands for', isMetBy }];
}

/** The code for each rule that it is given by, at each endpoint where it can arise. */
export function looksAtCondition(model: Model, { subject }: LedgerFact): Obligation[] {
  if (isCondition(subject) && model.refusals.standingOf(subject) === 'never') return [looksAtNever(subject)];
  const rules = entryOf(model.spec.errors.codes, subject)?.rules ?? [];
  return rules.flatMap((rule): Obligation[] => {
    const conditions = (statedValue(rule.when) ?? []).filter((one) => isCondition(one));
    // What nobody brings about is not missed beside what else the code stands for.
    const outward = conditions.filter((one) => !inward.has(one));
    if (conditions.length > 1 && outward.length > 0)
      return [...outward.flatMap((one) => looksAtOneOf(model, subject, rule, one)), ...racedOf(model, rule)];
    const endpoints = arisingAt(model, rule);
    const name = rules.length < 2 && endpoints.length < 2 ? 'a refusal with the code' : nameOf(rule);
    const shown = showing(model, subject, name);
    const isOf: Obligation['isMetBy'] = (one) => (one.claim.at === undefined || one.claim.at === rule.at) && shown.isMetBy(one);
    const [condition, ...others] = statedValue(rule.when) ?? [];
    const holding = condition === 'reference.held' && others.length === 0 ? looksAtHolding(model, subject) : [];
    const isOfMethods = condition === 'method.unsupported' && model.isHeld('Allow with 405');
    const told = isOfMethods ? [looksFor('the methods that there are', allowReason)] : [];
    const raced = [...racedOf(model, rule), ...holding, ...told];
    if (endpoints.length < 2) return [{ ...shown, ...unseen(model, subject, rule), isMetBy: isOf }, ...raced];
    const each = endpoints.map(({ key }) => ({
      name: `${nameOf(rule, true)} at ${key}`,
      isMetBy: (one: HeldClaim) =>
        isOf(one) && one.exchanges.some((seen) => seen.endpoint?.key === key && model.refusals.codeIn(seen) === subject),
    }));
    return [...each, ...raced];
  });
}

/** A code that stands for several conditions, in a refusal of one of them, at each endpoint where it has to be looked at. */
function looksAtOneOf(model: Model, code: string, rule: ErrorRule, condition: ErrorCondition): Obligation[] {
  const shown = showing(model, code, condition);
  const isOf: Obligation['isMetBy'] = (one) =>
    (one.claim.at === undefined || one.claim.at === rule.at) &&
    (one.claim.condition === undefined || isOneOf(one.claim.condition, condition)) &&
    shown.isMetBy(one);
  const among = model.endpoints.filter(({ does }) => statedValue(does) !== undefined).filter(arisesAt(model, [condition]));
  const holding = condition === 'reference.held' ? looksAtHolding(model, code) : [];
  if (among.length < 2 || among.length > apartMost)
    return [{ ...shown, ...(model.refusals.tells(code) ? {} : { why: whyUntold }), isMetBy: isOf }, ...holding];
  const each = among.map(({ key }) => ({
    name: `${condition} at ${key}`,
    isMetBy: (one: HeldClaim) =>
      isOf(one) && one.exchanges.some((seen) => seen.endpoint?.key === key && model.refusals.codeIn(seen) === code),
  }));
  return [...each, ...holding];
}

/** Whether a condition is another one, or narrower than it. */
function isOneOf(condition: ErrorCondition, other: ErrorCondition): boolean {
  return condition === other || generalCondition(condition) === other;
}

function unseen(model: Model, code: string, rule: ErrorRule): Pick<Obligation, 'why'> {
  if (isInward(rule)) return { why: whyInward };
  return model.refusals.tells(code) ? {} : { why: whyUntold };
}

/** Of several changes at once with one tag, one is carried out. */
function racedOf(model: Model, { when, on }: ErrorRule): Obligation[] {
  const isFailed = (statedValue(when) ?? []).includes('precondition.failed');
  const isRaced = ({ key }: Endpoint) => isTagRaced(model, key) && on === undefined;
  return isFailed && model.endpoints.some(isRaced) ? [looksFor('several at once with one tag', tagRaced)] : [];
}

/** That a condition never arises: a request that it would refuse. */
function looksAtNever(condition: ErrorCondition): Obligation {
  const named = { name: `what would be \`${condition}\``, isMetBy: () => true };
  return provoked.has(condition) ? named : { ...named, why: 'that something never happens cannot be shown' };
}

/** What a request can be made for on purpose. */
const provoked: ReadonlySet<ErrorCondition> = new Set<ErrorCondition>([
  'request.accept',
  'request.media',
  'request.untyped',
  'method.unsupported',
]);

/** Whether no request can bring a rule about. */
export function isInward(rule: ErrorRule): boolean {
  const conditions = statedValue(rule.when) ?? [];
  return rule.if === undefined && conditions.length > 0 && conditions.every((condition) => inward.has(condition));
}

function nameOf({ when, on, if: condition }: ErrorRule, isPlain = false): string {
  const named = condition?.source ?? (statedValue(when) ?? []).join(' or ');
  return on === undefined || isPlain ? named : `${named} at ${on.join(' or ')}`;
}

function showing(model: Model, code: string, name: string): Obligation {
  return {
    name,
    isMetBy: ({ exchanges, values }) => exchanges.some((one) => model.refusals.codeIn(one) === code) || inOther(values, code),
  };
}

/** What came in answer to something else than one request shows its code in a text. */
function inOther(values: readonly unknown[], code: string): boolean {
  return values.some((value) => {
    const text = typeof value === 'object' && value !== null && !('sent' in value) ? JSON.stringify(value) : '';
    return text.includes(code);
  });
}

/** So many endpoints of one rule are told apart: what arises everywhere is looked at anywhere. */
const apartMost = 12;

/** The endpoints at which a rule of an error has to be looked at, where each has code of its own for it; none where any will do. */
function arisingAt(model: Model, { when, on, if: condition }: ErrorRule): readonly Endpoint[] {
  const among = model.endpoints.filter((endpoint) => on === undefined || namesOperation(on, model.operationOf(endpoint)));
  const found = condition
    ? on === undefined
      ? []
      : among.filter(isAboutRows)
    : among.filter(arisesAt(model, statedValue(when)));
  return found.length > apartMost ? [] : found;
}

function isAboutRows({ does }: Endpoint): boolean {
  const effect = statedValue(does);
  return effect !== undefined && 'resource' in effect && effect.verb !== 'list';
}

function arisesAt(model: Model, conditions: readonly string[] = []): (endpoint: Endpoint) => boolean {
  const [condition, ...others] = conditions;
  const arises = condition && others.length === 0 ? byCondition[condition] : undefined;
  return (endpoint) => arises?.(model, endpoint) ?? false;
}

type Arises = (model: Model, endpoint: Endpoint) => boolean;

const byCondition: Readonly<Record<string, Arises>> = {
  'precondition.failed': (_, { ifMatch }) => ifMatch !== undefined,
  'precondition.required': (_, { ifMatch }) => ifMatch === 'required',
  'idempotency.reused': (model, endpoint) =>
    endpoint.idempotency !== undefined && model.requestShape(endpoint).standing !== 'none',
  'reference.missing': (model, endpoint) => takes(model, endpoint, (_, { ref }) => ref !== undefined),
  'resource.exists': (model, endpoint) => takes(model, endpoint, (name) => isUnique(model, endpoint, name)),
  'reference.held': holdsBack,
};

const writing: ReadonlySet<string> = new Set(['create', 'upsert', 'update', 'replace']);

/** Whether a body that its resource shapes takes such a field, and another value for it. */
function takes(model: Model, endpoint: Endpoint, isMeant: (name: string, field: Field) => boolean): boolean {
  const effect = statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  if (!effect || !resource || !writing.has(effect.verb) || endpoint.request.standing !== 'open') return false;
  const bound = new Set(boundByPath(model.spec, endpoint));
  const isChange = effect.verb === 'update' || effect.verb === 'replace';
  return entriesOf(resource.fields).some(
    ([name, field]) =>
      isMeant(name, field) && isWritable(model.spec, resource, field) && !bound.has(name) && !(isChange && field.immutable),
  );
}

/** Whether a field has to be unique in rows that were just made, too. */
function isUnique(model: Model, { does }: Endpoint, name: string): boolean {
  const resource = model.resource(resourceOfEffect(statedValue(does)) ?? '');
  return resource?.unique.some((rule) => rule.while === undefined && rule.fields.includes(name)) ?? false;
}

/** Whether a row that it deletes may be held by one that refers to it. */
function holdsBack(model: Model, { does }: Endpoint): boolean {
  const effect = statedValue(does);
  if (effect?.verb !== 'delete') return false;
  const holding = entriesOf(model.spec.resources.all).filter(([name]) => model.endpointsThat('create', name).length > 0);
  return holding.some(([name]) => {
    const fields = model.resource(name)?.fields;
    return (fields ? entriesOf(fields) : []).some(
      ([field, { ref }]) => ref === effect.resource && fields !== undefined && entryOf(fields, field)?.onDelete === 'restrict',
    );
  });
}
