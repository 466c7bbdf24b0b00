import type { Json } from '../../document/document.ts';
import { derivationsOf } from '../../parts/derived/derivations.ts';
import type { Effect } from '../../parts/effects.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { actsAfter, comingOf } from '../../parts/followed.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Machine, machinesOf, type Transition } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Model } from './model.ts';
import { idIn, isMaking, rowWith, type ShownFields } from './row-shown.ts';

/** How far the service's clock may be from what is known of it. */
const marginMs = 2_000;

/**
 * Whether the clock may have changed a field of a row between the first and the last of some exchanges: in a state that one of
 * them showed, or began the row in, a transition of the clock was due, and that changes the field. What the clock does is no doing of a call in between.
 * `row` finds the row in what an exchange shows.
 */
export function changedByClock(
  model: Model,
  resource: string,
  seen: readonly TrialExchange[],
  row: (exchange: TrialExchange) => ShownFields | undefined,
): (field: string) => boolean {
  const timed = timedOf(model, resource);
  if (timed.length === 0) return () => false;
  const [fromMs, toMs] = [Math.min(...seen.map((one) => one.fromMs)), Math.max(...seen.map((one) => one.toMs))];
  const due = new Set<Timed>();
  for (const one of seen) {
    const shown = row(one);
    if (!shown) continue;
    const read = { shown, unseen: model.unseenIn(resource, model.readerOf(one), shown) };
    const isOver = ({ transition }: Timed) => isDue(model, transition, read, { fromMs, toMs });
    for (const moved of movedOn(timed, shown, isMaking(one), isOver)) due.add(moved);
  }
  return (field) => due.values().some((one) => one.changes(field));
}

/** Those that are due in the state that a row is shown in, in one that it began in where it was made here, and in those that these lead to. */
function movedOn(
  timed: readonly Timed[],
  shown: ShownFields,
  isNew: boolean,
  isOver: (one: Timed) => boolean,
): ReadonlySet<Timed> {
  const found = new Set<Timed>();
  for (const machine of new Set(timed.map((one) => one.machine))) {
    const state = shown[machine.field];
    const states = new Set([asText(state), ...(isNew ? machine.initial.map((target) => target.state) : [])]);
    const leaves = ({ from }: Transition) => state === undefined || from === '*' || from.some((one) => states.has(one));
    // States that are added while they are gone through are gone through as well.
    for (const _ of states) {
      for (const one of timed) {
        if (one.machine !== machine || found.has(one) || !leaves(one.transition) || !isOver(one)) continue;
        found.add(one);
        for (const target of one.transition.to) states.add(target.state);
      }
    }
  }
  return found;
}

/** Whether the clock may have taken a row to another state, or further, between the exchange that is about it and what showed it. */
export function movedByClock(
  model: Model,
  machine: Machine,
  exchange: TrialExchange,
  ...shown: readonly TrialExchange[]
): boolean {
  const id = idIn(model, exchange);
  return changedByClock(model, machine.resource, [exchange, ...shown], (one) => rowWith(model, one, id))(machine.field);
}

interface Timed {
  readonly machine: Machine;
  readonly transition: Transition;
  /** Whether it may change a field of the row that it is fired on. */
  readonly changes: (field: string) => boolean;
}

const timedByModel = new WeakMap<Model, Map<string, readonly Timed[]>>();

/** The transitions of a resource that the clock fires, worked out once. */
function timedOf(model: Model, resource: string): readonly Timed[] {
  const known = timedByModel.get(model) ?? new Map<string, readonly Timed[]>();
  timedByModel.set(model, known);
  const found =
    known.get(resource) ??
    machinesOf(model.spec.states, resource).flatMap((machine) =>
      entriesOf(machine.transitions).flatMap(([, transition]): Timed[] =>
        transition.after || transition.atTime ? [{ machine, transition, changes: changesBy(model, machine, transition) }] : [],
      ),
    );
  known.set(resource, found);
  return found;
}

/** The state where it leads to another, what it sets, and what is derived; anything where what follows it may change the row once more. */
function changesBy(model: Model, { resource, field }: Machine, { name, from, to, following = [] }: Transition): Timed['changes'] {
  const again = comingOf(model.spec, following).some(({ does }) => does?.resource === resource && does.verb !== 'create');
  if (again) return () => true;
  const words = [name, `${name} ${resource}`, 'transition', 'write'];
  const set = entriesOf(model.resource(resource)?.fields).filter(([, one]) => words.some((word) => one.set[word]));
  const derived = derivationsOf(model.spec)
    .of(resource)
    .map((one) => one.field.name);
  const stays = from !== '*' && [...from, ...to.map(({ state }) => state)].every((state) => state === from[0]);
  const names = new Set([...(stays ? [] : [field]), ...set.map(([one]) => one), ...derived]);
  return (one) => names.has(one);
}

/** Whether it is due by then; where that cannot be reckoned of what is shown, it may be. */
function isDue(
  model: Model,
  { after, atTime }: Transition,
  { shown, unseen }: { readonly shown: ShownFields; readonly unseen: ReadonlySet<string> },
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): boolean {
  if (after) return toMs - fromMs + marginMs >= after.ms;
  if (!atTime) return false;
  const evaluated = model.expressions.evaluate(atTime, undefined, {
    context: { resource: shown },
    unseen: { resource: unseen },
  });
  if (typeof evaluated === 'string') return evaluated === 'unknown';
  const { value } = evaluated;
  if (value === null) return false;
  const ms = Date.parse(asText(value));
  return !(ms > toMs + marginMs);
}

const known = new WeakMap<Spec, ReadonlyMap<string, ReadonlySet<string>>>();

/**
 * The fields of a row that a service writes at a moment of its own: whether an address has confirmed, and what is set with it. It asks while others
 * look, so one of these may be another from one look to the next, and nothing is wrong.
 */
export function toldMeanwhile(spec: Spec, resource: string): ReadonlySet<string> {
  const found = known.get(spec) ?? new Map(confirmedFields(spec));
  known.set(spec, found);
  return found.get(resource) ?? none;
}

const none: ReadonlySet<string> = new Set();

function confirmedFields(spec: Spec): [string, ReadonlySet<string>][] {
  const push = statedValue(spec.events.delivery)?.push;
  const { resource, confirmed } = push?.subscribers ?? {};
  if (push?.confirm === undefined || resource === undefined || confirmed === undefined) return [];
  const words = [`confirm ${resource}`, 'write'];
  const fields = entriesOf(entryOf(spec.resources.all, resource)?.fields);
  const set = fields.filter(([, field]) => words.some((word) => field.set[word] !== undefined));
  return [[resource, new Set([confirmed.split('.')[0] ?? confirmed, ...set.map(([name]) => name)])]];
}

/** A row without them; what is no row is as it is. */
export function steady(spec: Spec, resource: string, row: Json): Json {
  const meanwhile = toldMeanwhile(spec, resource);
  if (meanwhile.size === 0 || typeof row !== 'object' || row === null || Array.isArray(row)) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !meanwhile.has(name)));
}

/**
 * The fields of a row that what follows from its change may give other values: an answer shows the row as it is in the end, and what was told of
 * the change shows it as it was then.
 */
export function changedAgain(model: Model, name: string, effect: Effect, operation: string): Set<string> {
  const { spec } = model;
  const found = new Set<string>();
  const fields = entriesOf(model.resource(name)?.fields);
  const coming = comingOf(spec, actsAfter(spec, effect, operation));
  for (const { does, set } of coming) {
    if (does?.resource !== name || does.verb === 'create') continue;
    const word = does.verb === 'transition' ? does.transition : does.verb;
    for (const field of Object.keys(set)) found.add(field);
    for (const [field, stated] of fields) if (stated.set[word] || stated.set.write || word === 'delete') found.add(field);
    if (does.verb === 'transition') for (const { field } of machinesOf(spec.states, name)) found.add(field);
  }
  const others = new Set(coming.flatMap(({ does }) => (does ? [does.resource] : [])));
  for (const { field, aggregates, ownReads } of derivationsOf(spec).of(name)) {
    if (aggregates.some(({ from }) => others.has(from)) || ownReads.some((read) => found.has(read))) found.add(field.name);
  }
  return found;
}

/** The states that the clock leads to from some states, one after another. */
export function ledByClock(machine: Machine, states: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const led = [...states];
  for (let from = led.pop(); from !== undefined; from = led.pop())
    for (const [, { to, ...timed }] of entriesOf(machine.transitions)) {
      const isLed = (timed.after || timed.atTime) && (timed.from === '*' || timed.from.includes(from));
      const next = isLed ? to.map(({ state }) => state).filter((state) => !reached.has(state)) : [];
      for (const state of next) reached.add(state);
      led.push(...next);
    }
  return reached;
}
