import type { Json, JsonMap } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Effect } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { boundByPath, isWritable } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { machineOn, machinesOf, transitionsOf } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import { membersSent, type SentMember } from '../make/fields-sent.ts';
import { isShownToSomebody } from '../model/fields.ts';
import type { Model } from '../model/model.ts';
import { isByRule } from '../model/promises.ts';
import { setBesides } from '../model/row-known.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import { isBodyPromised } from '../trials/endpoints/bodies.ts';
import { breaksHeld, edgesHeld, isHandedOn } from '../trials/endpoints/members-begun.ts';
import { setBy } from '../trials/states/set-by-clock.ts';
import { isAtEdgeOf, type Variant } from '../values/variants.ts';
import { looksFor } from './looks-at-limits.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/**
 * What each operation that writes rows makes of a field: set where it says so, kept where it does not send it, and taken away. That it is right in a
 * row that was just made says nothing of what changes it.
 */
export function looksAtChanges(model: Model, resource: Resource, field: Field): Obligation[] {
  const isSeen = isShownToSomebody(field, model.callers) && !field.writeOnly && field.reveal !== 'once';
  if (!isSeen || field.derive || field.children || machineOn(model.spec.states, resource.name, field.name)) return [];
  const called = changing.flatMap((verb) =>
    model
      .endpointsThat(verb, resource.name)
      .filter((endpoint) => isByRule(endpoint) && mayBeCalled(model, endpoint))
      .flatMap((endpoint) => looksAt(model, resource, field, endpoint)),
  );
  return [...called, ...looksAtClockSetting(model, resource, field)];
}

/** What transitions that come by themselves set, by a word of their own. */
function looksAtClockSetting({ spec }: Model, { name }: Resource, { set }: Field): Obligation[] {
  return machinesOf(spec.states, name).flatMap(({ transitions }) =>
    entriesOf(transitions)
      .filter(([word, { after, atTime }]) => set[word] && (after ?? atTime))
      .map(([word]) => looksFor(setBy(word))),
  );
}

const changing = ['update', 'replace', 'transition'] as const;

function mayBeCalled(model: Model, endpoint: Endpoint): boolean {
  const operation = model.operationOf(endpoint);
  return model.callers.length === 0 || model.callers.some((caller) => model.access.allows(operation, caller) !== 'no');
}

function looksAt(model: Model, resource: Resource, field: Field, endpoint: Endpoint): Obligation[] {
  const { key, does, operation } = endpoint;
  const effect = statedValue(does);
  if (!effect) return [];
  const expression = wordsOf(effect, operation)
    .map((word) => field.set[word])
    .find((one) => one !== undefined);
  if (expression) {
    const isSet = (shown: HeldClaim) =>
      isOf(shown, key, 'set') && !isSame(valueIn(model, shown, field, 1), valueIn(model, shown, field, 2));
    const { minimum } = statedValue(field.shape) ?? {};
    return [
      { name: `set by ${key}`, isMetBy: isSet },
      // The least that can be sent looks the same, whatever is made of it.
      ...(effect.verb === 'transition' && isNumberOf(field) && /\brequest\b/.test(expression.source)
        ? [
            {
              name: `set by ${key} to more than the least`,
              isMetBy: (shown: HeldClaim) => isSet(shown) && !isLeast(valueIn(model, shown, field, 1), minimum),
            },
          ]
        : []),
      // What follows from the row alone comes to the same once more, so that nobody sees whether it was set.
      ...(effect.verb === 'update' && endpoint.counts === undefined && readsMoment.test(expression.source)
        ? [{ name: `not set by ${key} where nothing changes`, isMetBy: (shown: HeldClaim) => isOf(shown, key, 'kept') }]
        : []),
    ];
  }
  // What the path names stays for that.
  const isNamed =
    statedValue(resource.identifier)?.field === field.name || boundByPath(model.spec, endpoint).includes(field.name);
  // Of several of which one is there, another may be in its place.
  const isChoice = resource.choices.some(({ fields }) => fields.includes(field.name));
  if (effect.verb !== 'update' || isNamed || isChoice || !mayBeThere(model, resource, field, endpoint)) return [];
  const kept: Obligation = {
    name: `kept by ${key}`,
    isMetBy: (shown) => isOf(shown, key, 'kept') && isTelling(valueIn(model, shown, field, 2), field),
  };
  return isTakenAway(model, resource, field, endpoint)
    ? [
        kept,
        {
          name: `taken away by ${key}`,
          isMetBy: (shown) =>
            isOf(shown, key, 'sent') && sentIn(shown, field.name) === null && isTelling(valueIn(model, shown, field, 2), field),
        },
      ]
    : [kept];
}

/** Whether a row may have a field where it may be changed: what transitions alone set is there in the states that they lead to, and in those that follow. */
function mayBeThere(
  { spec }: Model,
  resource: Resource,
  { name, set, readOnly, derive, generate, default: usual }: Field,
  endpoint: Endpoint,
): boolean {
  const words = Object.keys(set);
  const transitions = transitionsOf(spec.states, resource.name);
  const setting = transitions.filter(([word]) => words.includes(word));
  const isByThese = readOnly && !derive && !generate && !usual && words.length > 0 && setting.length === words.length;
  if (!endpoint.in || !isByThese || setBesides(spec, resource.name).has(name)) return true;
  const states = new Set(setting.flatMap(([, { to }]) => to.map(({ state }) => state)));
  // Entries that are added while the set is gone through are gone through as well.
  for (const state of states)
    for (const [, { from, to }] of transitions)
      if (from === '*' || from.includes(state)) for (const one of to) states.add(one.state);
  return endpoint.in.some((state) => states.has(state));
}

function isNumberOf({ shape }: Field): boolean {
  const type = statedValue(shape)?.type;
  return type === 'integer' || type === 'number';
}

function isLeast(value: Json | undefined, minimum: Json | undefined): boolean {
  return typeof value === 'number' && (value === minimum || Math.abs(value) <= 1 || value % 10 === 0);
}

const readsMoment = /\b(?:now|caller)\b/;

function wordsOf(effect: Effect, operation: string): string[] {
  return [operation, ...(effect.verb === 'transition' ? [effect.transition] : []), effect.verb, 'write'];
}

/** A claim of what became of a row that was there: the change, where it was seen, and the row before. */
function isOf({ claim, exchanges }: HeldClaim, key: string, because: string): boolean {
  const isMeant = claim.reason === `answered, ${because}` || claim.reason === `stored, ${because}`;
  return isMeant && exchanges.length > 2 && exchanges[0]?.endpoint?.key === key;
}

/** The value of a field in the row as one of the exchanges showed it. */
function valueIn(model: Model, { exchanges }: HeldClaim, { name }: Field, at: number): Json | undefined {
  const [change] = exchanges;
  const seen = exchanges[at];
  return (change && seen && rowWith(model, seen, idIn(model, change))?.[name]) ?? undefined;
}

/** Whether a value would not be there by itself: its loss would have been seen. */
function isTelling(value: Json | undefined, { default: usual }: Field): boolean {
  return value !== undefined && !(usual && isSame(usual.value, value));
}

function sentIn({ exchanges: [change] }: HeldClaim, name: string): Json | undefined {
  const json = change?.sent.json;
  return isMap(json) ? json[name] : undefined;
}

/** Whether an update takes null for a field that need not be there, from whoever may call it. */
function isTakenAway(model: Model, resource: Resource, field: Field, endpoint: Endpoint): boolean {
  const isOurs = isWritable(model.spec, resource, field) && !field.immutable && field.writable === undefined;
  const isChoice = resource.choices.some(({ fields }) => fields.includes(field.name));
  return isOurs && statedValue(field.required) === false && !isChoice && !isStated(endpoint.request);
}

/** Of an update, that what is not sent stays, and of a replacement, that it does not, for each field that need not be there. */
export function looksAtWhole(model: Model, endpoint: Endpoint): Obligation[] {
  const effect = statedValue(endpoint.does);
  const resource = effect && 'resource' in effect ? model.resource(effect.resource) : undefined;
  if (!resource || (effect?.verb !== 'update' && effect?.verb !== 'replace') || isStated(endpoint.request)) return [];
  const reason = effect.verb === 'update' ? 'merges' : 'replaces';
  return entriesOf(resource.fields)
    .filter(([name, field]) => isFreelyLeftOut(model, resource, field) && !boundByPath(model.spec, endpoint).includes(name))
    .map(([name, field]) => ({
      name: effect.verb === 'update' ? `${name}, not sent, stays` : `${name}, not sent, is gone`,
      isMetBy: (shown) =>
        shown.claim.reason === reason && sentIn(shown, name) === undefined && valueIn(model, shown, field, 1) !== undefined,
    }));
}

function isFreelyLeftOut(model: Model, resource: Resource, field: Field): boolean {
  const isPlain = Object.keys(field.set).length === 0 && !field.default && !field.immutable && !field.visible && !field.writable;
  const isShown = isShownToSomebody(field, model.callers) && !field.writeOnly && field.reveal !== 'once' && !field.children;
  return isPlain && isShown && isWritable(model.spec, resource, field) && statedValue(field.required) === false;
}

/**
 * Each edge of a value taken, and each value just beyond refused, wherever it is sent: that one of them is refused, or that all are
 * where a row is made, says nothing of the others and of what changes it.
 */
export function looksAtBounds(model: Model, { kind, subject }: LedgerFact): Obligation[] {
  return bodiesOf(model).flatMap(({ endpoint, members }) =>
    members
      .filter((member) => member.fact('types').subject === subject)
      .flatMap((member) => boundsOf(model, endpoint, member, kind)),
  );
}

interface BodyOf {
  readonly endpoint: Endpoint;
  readonly members: readonly SentMember[];
}

const known = new WeakMap<Model, readonly BodyOf[]>();

/** So deep are values looked into: what is in a member, and in the items of a list in it. */
const depthMost = 4;

/** The members that bodies have, those inside of others too, and no alternative of which they are part. */
function bodiesOf(model: Model): readonly BodyOf[] {
  const found = known.get(model) ?? model.endpoints.filter((one) => isTaken(model, one)).map((one) => bodyOf(model, one));
  known.set(model, found);
  return found;
}

function bodyOf(model: Model, endpoint: Endpoint): BodyOf {
  const members = membersSent(model, endpoint, callerOf(model, endpoint) ?? undefined);
  return {
    endpoint,
    members: members.filter(({ path, within, isUnknown }) => path.length <= depthMost && !within && !isUnknown),
  };
}

function isTaken(model: Model, endpoint: Endpoint): boolean {
  const isJson = endpoint.consumes === undefined || endpoint.consumes[0] === 'application/json';
  return isJson && isByRule(endpoint) && isBodyPromised(model, endpoint) && callerOf(model, endpoint) !== null;
}

/** Who sends it; null where nobody who was given may. */
function callerOf(model: Model, endpoint: Endpoint): TrialCaller | undefined | null {
  const operation = model.operationOf(endpoint);
  return (
    model.callers.find((one) => model.access.allows(operation, one) === 'yes') ??
    model.callers.find((one) => model.access.allows(operation, one) !== 'no') ??
    (model.callers.length === 0 ? undefined : null)
  );
}

function boundsOf(model: Model, endpoint: Endpoint, member: SentMember, kind: string): Obligation[] {
  const { shape, path } = member;
  const inner = path.length > 1 ? `${path.slice(1).join('.')} ` : '';
  const isChange = isChanging(endpoint);
  const edges = (member.isImmutable && isChange) || isHandedOn(model, endpoint, member) ? [] : edgesHeld(model, endpoint, member);
  const isAt = (one: TrialExchange) => one.endpoint?.key === endpoint.key;
  const isOf = (one: TrialExchange, { value }: Variant) => isAt(one) && hasMember(one, path, value);
  const isEdge = (one: TrialExchange, { value }: Variant) => isAt(one) && hasMember(one, path, value, isAtEdgeOf);
  return [
    ...edges
      .filter((edge) => member.fact(edge.kind).kind === kind)
      .map((edge) => ({
        name: `${inner}${edge.label}, taken at ${endpoint.key}`,
        isMetBy: ({ exchanges }: HeldClaim) => exchanges.some((one) => isDone(one) && isEdge(one, edge)),
      })),
    ...breaksHeld(model, endpoint, shape)
      .filter((broken) => member.fact(broken.kind).kind === kind)
      .map((broken) => ({
        name: `${inner}${broken.label}, refused at ${endpoint.key}`,
        isMetBy: ({ exchanges }: HeldClaim) => exchanges.some((one) => isRefused(one) && isOf(one, broken)),
      })),
    ...(member.isNeeded && member.fact('required flags').kind === kind
      ? [
          {
            name: `${inner}left out, refused at ${endpoint.key}`,
            isMetBy: ({ exchanges }: HeldClaim) => exchanges.some((one) => isRefused(one) && isAt(one) && !hasMember(one, path)),
          },
        ]
      : []),
  ];
}

function isChanging({ does }: Endpoint): boolean {
  const verb = statedValue(does)?.verb;
  return verb === 'update' || verb === 'replace';
}

function isRefused({ status }: TrialExchange): boolean {
  return status >= 400 && status < 500;
}

/** Whether a body has a member, of this value where one is meant. */
function hasMember(
  { sent }: TrialExchange,
  path: readonly string[],
  value?: Json,
  isIt: (wanted: Json, value: Json) => boolean = isSame,
): boolean {
  let at: Json | undefined = sent.json;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as JsonMap)[name];
  }
  return value === undefined || (at !== undefined && isIt(value, at));
}
