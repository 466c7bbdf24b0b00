import type { Json } from '../../document/document.ts';
import { takenOf } from '../../parts/answers.ts';
import type { Effect } from '../../parts/effects.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundRows } from '../../parts/path-keys.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { type Machine, machineOn, transitionNamed } from '../../parts/states.ts';
import { mergeJson } from '../../parts/versions/carry.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { bareMap } from '../values/at-path.ts';
import { movedIn } from './by-rule.ts';
import { changedAgain, toldMeanwhile } from './clock-changes.ts';
import { withDerivedFields } from './derived.ts';
import {
  type Before,
  type Expectation,
  type Follow,
  generatedExpected,
  identifierExpected,
  type RowFields,
} from './expectation.ts';
import { everyMember } from './expressions.ts';
import type { Model } from './model.ts';
import { boundValues, isJsonMap, leavesAsItWas, mayHold, reckonedOf, sentFields, unset } from './own-body.ts';
import { completeInner, firstTarget, fromExpression } from './reckoned.ts';
import { idIn } from './row-shown.ts';

/** What every field of a row has to be after an exchange that created, updated, replaced or moved it; where what it refers to is known, that too is read. */
export function expectedAfter(
  model: Model,
  change: TrialExchange,
  before: Before | undefined,
  followed?: Follow,
): ReadonlyMap<string, Expectation> {
  const effect = change.endpoint && statedValue(change.endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  if (!effect || !resource || !change.endpoint) return new Map();
  const all = new Map(expectedAtFirst(model, change, before, followed));
  leaveOpen(resource, all, changedAgain(model, resource.name, effect, change.endpoint.operation));
  return all;
}

/** The same, before anything else follows from it. */
export function expectedAtFirst(
  model: Model,
  change: TrialExchange,
  before: Before | undefined,
  followed?: Follow,
): ReadonlyMap<string, Expectation> {
  const effect = change.endpoint && statedValue(change.endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  if (!effect || !resource || !change.endpoint) return new Map();
  const plain = withDerivedFields(
    model.spec,
    resource.name,
    beforeSet(model, resource, change, { before, followed }),
    before === undefined,
  );
  completeInner(model, resource, change, before, plain);
  const next: Record<string, Json> = bareMap({});
  for (const [name, expectation] of plain) if (expectation.is === 'value') next[name] = expectation.value;
  // What is set may read the identifier of the row that it is set in, which the answer tells.
  const made = before === undefined && effect.verb === 'create' ? idIn(model, change) : undefined;
  if (made !== undefined) next[model.identifierField(resource.name)] = made;
  const unseenNext = new Set([...plain].filter(([, one]) => one.is === 'unknown' || one.is === 'pattern').map(([name]) => name));
  if (made !== undefined) unseenNext.delete(model.identifierField(resource.name));
  const isIdle =
    effect.verb !== 'transition' &&
    change.endpoint.counts === undefined &&
    before !== undefined &&
    leavesAsItWas(resource, next, before);
  const moved = effect.verb === 'update' ? movedBy(model, resource, change, before) : [];
  const words = wordsOf(effect, change.endpoint.operation, before !== undefined, moved);
  const mayBeIdle =
    before !== undefined &&
    (isIdle
      ? // Null and nothing are one to read; whether putting the one for the other is a change is not said.
        Object.entries(sentFields(model, resource, change) ?? {}).some(
          ([name, value]) => before.unseen.has(name) || value === null || before.fields[name] === null,
        )
      : effect.verb !== 'transition' &&
        change.endpoint.counts === undefined &&
        leavesAsItWas(resource, unset(resource, words, next), reckonedOf(before, resource, words, unseenNext)));
  if (effect.verb === 'upsert' && !before && change.status !== 201) return new Map();
  // What was found is as it was.
  if (effect.verb === 'create' && change.endpoint.exists && change.status === 200) return new Map();
  const out = new Map(plain);
  for (const [name, field] of entriesOf(resource.fields)) {
    const expression = words.map((word) => field.set[word]).find((one) => one !== undefined);
    if (!expression || (isIdle && !mayBeIdle)) continue;
    if (mayBeIdle) {
      // Whether a field that is not shown was changed cannot be seen, and with it whether anything was.
      out.set(name, { is: 'unknown', because: 'set', at: expression.at });
      continue;
    }
    out.set(name, fromExpression(model, expression, change, { before, next, unseenNext, followed }, field));
  }
  leaveOpen(resource, out, toldMeanwhile(model.spec, resource.name));
  return withDerivedFields(model.spec, resource.name, out, before === undefined);
}

/** What the service tells at a moment of its own, or what follows from the change changes once more, may be one or the other. */
function leaveOpen({ fields }: Resource, out: Map<string, Expectation>, names: Iterable<string>): void {
  for (const name of names) {
    const field = entryOf(fields, name);
    if (field) out.set(name, { is: 'unknown', because: out.get(name)?.because ?? 'kept', at: field.at });
  }
}

/** The narrowest word wins: the operation or transition before the verb, the verb before `write`. */
function wordsOf(
  effect: Effect,
  operation: string,
  isThere: boolean,
  moved: readonly { readonly transition: string }[],
): string[] {
  const transition = effect.verb === 'transition' ? [effect.transition] : moved.map((one) => one.transition);
  const inPlace = effect.verb === 'upsert' ? [isThere ? 'replace' : 'create'] : [];
  return [operation, ...transition, effect.verb, ...inPlace, 'write'];
}

/** The transitions that an update is. */
function movedBy(
  model: Model,
  resource: Resource,
  change: TrialExchange,
  before: Before | undefined,
): ReturnType<typeof movedIn> {
  return movedIn(model.spec, resource.name, change.endpoint?.operation, sentFields(model, resource, change), before?.fields);
}

/** Every field before anything is set by an expression. */
function beforeSet(
  model: Model,
  resource: Resource,
  change: TrialExchange,
  { before, followed }: { readonly before: Before | undefined; readonly followed: Follow | undefined },
): Map<string, Expectation> {
  const verb = change.endpoint && statedValue(change.endpoint.does)?.verb;
  const out = new Map<string, Expectation>();
  const sent = sentFields(model, resource, change);
  const bound = boundValues(model, change);
  // Which row the path names above it is looked at by what is found there.
  const above = new Set(change.endpoint ? boundRows(model.spec, change.endpoint).map(({ field }) => field) : []);
  const moved = verb === 'update' ? movedBy(model, resource, change, before) : [];
  for (const [name, field] of entriesOf(resource.fields)) {
    const kept = keptValue(name, field, before);
    const machine = machineOn(model.spec.states, resource.name, name);
    if (verb === 'transition' && before)
      out.set(name, machine ? movedState(model, change, machine, { before, followed }, field, kept) : kept);
    else if (moved.some((one) => one.field === name)) out.set(name, updated(name, field, before, sent, kept));
    else if (machine)
      out.set(name, before ? kept : initialState(model, resource, machine, field, change, { sent, bound, followed }));
    else if (!before && above.has(name)) out.set(name, { is: 'unknown', because: 'path', at: field.at });
    else if (bound.has(name)) out.set(name, { is: 'value', value: bound.get(name) ?? null, because: 'path', at: field.at });
    else if (verb === 'update') out.set(name, updated(name, field, before, sent, kept));
    else out.set(name, written(resource, name, field, before, isOpenTo(model, change, name) ? sent : undefined, kept));
  }
  return out;
}

/** Whether what was not sent of a field says something: of a body that is stated and has defaults of its own, or leaves the field out, it does not. */
function isOpenTo(model: Model, { endpoint, sent }: TrialExchange, name: string): boolean {
  if (!endpoint || !isStated(endpoint.request)) return true;
  const taken = takenOf(endpoint, sent.json);
  return (
    (isJsonMap(taken) && taken[name] !== undefined) || (mayHold(model, endpoint, name) && !('default' in endpoint.request.value))
  );
}

function keptValue(name: string, field: Field, before: Before | undefined): Expectation {
  // What refers to the row changes without it.
  if (field.children) return { is: 'unknown', because: 'kept', at: field.at };
  if (!before || before.unseen.has(name)) return { is: 'unknown', because: 'kept', at: field.at };
  const value = before.fields[name];
  if (value === undefined || value === null) return { is: 'absent', because: 'kept', at: field.at };
  return { is: 'value', value, because: 'kept', at: field.at };
}

function updated(
  name: string,
  field: Field,
  before: Before | undefined,
  sent: RowFields | undefined,
  kept: Expectation,
): Expectation {
  if (!sent) return { is: 'unknown', because: 'sent', at: field.at };
  if (!Object.hasOwn(sent, name)) return kept;
  const patch = sent[name];
  if (patch === null && field.keepsNull) return { is: 'null', because: 'sent', at: field.at };
  if (patch === undefined || patch === null) return { is: 'absent', because: 'sent', at: field.at };
  const isDeep = typeof patch === 'object' && !Array.isArray(patch);
  if (isDeep && (!before || before.unseen.has(name))) return { is: 'unknown', because: 'sent', at: field.at };
  // The cast holds: merging JSON gives JSON.
  const value = isDeep ? (mergeJson(before?.fields[name] ?? {}, patch) as Json) : patch;
  return { is: 'value', value, because: 'sent', at: field.at };
}

/** A field of what is created or replaced. */
function written(
  resource: Resource,
  name: string,
  field: Field,
  before: Before | undefined,
  sent: RowFields | undefined,
  kept: Expectation,
): Expectation {
  if (field.children) return kept;
  const identifier = statedValue(resource.identifier);
  if (before && (field.readOnly || !field.stored || name === identifier?.field)) return kept;
  if (name === identifier?.field && identifier.generate !== 'client') return identifierExpected(identifier.generate, field);
  if (field.generate !== undefined && !before) return generatedExpected(resource, field);
  if (!sent) return { is: 'unknown', because: 'sent', at: field.at };
  // What is hidden stays as it is, whatever is sent.
  if (before?.unseen.has(name)) return { is: 'unknown', because: 'kept', at: field.at };
  const value = field.readOnly ? undefined : sent[name];
  if (value !== undefined && value !== null) return { is: 'value', value, because: 'sent', at: field.at };
  if (before && (field.immutable || field.visible !== undefined || field.writable !== undefined))
    return { is: 'unknown', because: 'kept', at: field.at };
  if (field.default && value === undefined)
    return { is: 'value', value: field.default.value, because: 'default', at: `${field.at}/default` };
  return { is: 'absent', because: 'sent', at: field.at };
}

function initialState(
  model: Model,
  resource: Resource,
  machine: Machine,
  field: Field,
  change: TrialExchange,
  {
    sent,
    bound,
    followed,
  }: {
    readonly sent: RowFields | undefined;
    readonly bound: ReadonlyMap<string, Json>;
    readonly followed: Follow | undefined;
  },
): Expectation {
  const next = bareMap({ ...defaultsOf(resource), ...sent, ...Object.fromEntries(bound) });
  return firstTarget(
    model,
    machine.initial,
    change,
    { before: undefined, next, unseenNext: new Set(sent ? [] : [everyMember]), followed },
    field,
  );
}

function movedState(
  model: Model,
  change: TrialExchange,
  machine: Machine,
  { before, followed }: { readonly before: Before; readonly followed: Follow | undefined },
  field: Field,
  kept: Expectation,
): Expectation {
  const effect = change.endpoint && statedValue(change.endpoint.does);
  if (effect?.verb !== 'transition') return { is: 'unknown', because: 'state', at: field.at };
  const transition = entryOf(machine.transitions, effect.transition);
  // A transition of another machine leaves the state of this one as it is.
  if (!transition && transitionNamed(model.spec.states, effect.resource, effect.transition)) return kept;
  if (!transition) return { is: 'unknown', because: 'state', at: field.at };
  return firstTarget(model, transition.to, change, { before, next: before.fields, unseenNext: before.unseen, followed }, field);
}

function defaultsOf(resource: Resource): RowFields {
  return Object.fromEntries(
    entriesOf(resource.fields).flatMap(([name, field]) => (field.default ? [[name, field.default.value]] : [])),
  );
}

/** The fields of a row that an exchange could not show to whoever asked. */
export function beforeFrom(model: Model, resource: string, shown: TrialExchange, fields: RowFields): Before {
  return { fields, unseen: model.unseenIn(resource, model.readerOf(shown), fields) };
}
