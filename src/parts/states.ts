import type { Pointer } from '../document/document.ts';
import { durationMs } from '../kinds/measures.ts';
import { type Following, readFollowing } from './effects.ts';
import type { Endpoint } from './endpoints.ts';
import { type Expression, entriesOf, entryOf, type Fact, type Named, statedValue, type Unstated } from './fact.ts';
import type { Resource } from './resources.ts';
import { named, type Source } from './source.ts';

/** Part 3: the machines of each resource. */
export interface States {
  readonly at: Pointer;
  /** The whole part: `none` promises that no resource has a machine. A key is a resource, or `issue.locked`: one of several machines of it, by its field. */
  readonly all: Fact<Named<Fact<Machine>>>;
  readonly others?: Unstated;
}

export interface Machine {
  /** What it stands under: the resource, or `issue.locked` where the resource has several. */
  readonly key: string;
  readonly resource: string;
  readonly at: Pointer;
  /** The field that holds the state. */
  readonly field: string;
  /** The first whose condition holds; one without a condition is the rest. */
  readonly initial: readonly Target[];
  readonly states: Fact<readonly string[]>;
  readonly transitions: Fact<Named<Transition>>;
  readonly others?: Unstated;
}

export interface Target {
  readonly at: Pointer;
  readonly state: string;
  readonly if?: Expression;
  /** The error that the change is answered with, though it is kept. */
  readonly answer?: string;
}

export interface Transition {
  readonly name: string;
  readonly at: Pointer;
  /** `*` = from every state. */
  readonly from: readonly string[] | '*';
  readonly to: readonly Target[];
  readonly if?: Expression;
  /** The error of a false `if`, instead of `transition.illegal`. */
  readonly ifElse?: string;
  /** The error of a wrong state, instead of `transition.illegal`. */
  readonly else?: string;
  /** Fired by the clock so long after the state was entered. */
  readonly after?: { readonly ms: number; readonly source: string; readonly at: Pointer };
  /** Fired by the clock at the time that this gives. */
  readonly atTime?: Expression;
  readonly by?: 'service';
  /** The updates that are this transition too, where they send its state. */
  readonly on?: readonly string[];
  /** What the service does because of it, in the same transaction. */
  readonly following?: readonly Following[];
}

/** Every machine that is stated, in the order of the document. */
export function allMachines({ all }: States): readonly Machine[] {
  return entriesOf(all).flatMap(([, machine]) => statedValue(machine) ?? []);
}

/** The machines of a resource that are stated: none, one, or one for each of several fields. */
export function machinesOf(states: States, resource: string): readonly Machine[] {
  const known = machinesByResource.get(states) ?? Map.groupBy(allMachines(states), (machine) => machine.resource);
  machinesByResource.set(states, known);
  return known.get(resource) ?? [];
}

const machinesByResource = new WeakMap<States, ReadonlyMap<string, readonly Machine[]>>();

/** The machine that stands under a key: what a fact of states or transitions is about. */
export function machineAt({ all }: States, key: string): Machine | undefined {
  const machine = entryOf(all, key);
  return machine && statedValue(machine);
}

/** The machine whose state a field holds, where it holds one. */
export function machineOn(states: States, resource: string, field: string): Machine | undefined {
  return machinesOf(states, resource).find((machine) => machine.field === field);
}

/** The machine of a resource that has a transition. */
export function machineWith(states: States, resource: string, transition: string): Machine | undefined {
  return machinesOf(states, resource).find(({ transitions }) => entryOf(transitions, transition) !== undefined);
}

/** The machine of a resource that has a state, where it is one alone or states them. */
export function machineIn(states: States, resource: string, state: string | undefined): Machine | undefined {
  const machines = machinesOf(states, resource);
  if (machines.length < 2 || state === undefined) return machines[0];
  return machines.find((machine) => statedValue(machine.states)?.includes(state)) ?? machines[0];
}

/** The machine that decides whether an endpoint may be asked for: that of its transition, or of the states that it names. */
export function machineAsked(states: States, { does, in: named }: Endpoint, resource: string): Machine | undefined {
  const effect = statedValue(does);
  return effect?.verb === 'transition'
    ? machineWith(states, resource, effect.transition)
    : machineIn(states, resource, named?.[0]);
}

/** Of names of states those of one machine, where a resource may have several: of one of which none is named, nothing is said. */
export function statesNamed(states: States, machine: Machine, names: readonly string[]): readonly string[] {
  if (machinesOf(states, machine.resource).length < 2) return names;
  return names.filter((name) => statedValue(machine.states)?.includes(name));
}

/** Every transition of a resource, of whichever machine, by its name. */
export function transitionsOf(states: States, resource: string): readonly (readonly [string, Transition])[] {
  return machinesOf(states, resource).flatMap(({ transitions }) => entriesOf(transitions));
}

/** A transition of a resource by its name. */
export function transitionNamed(states: States, resource: string, name: string): Transition | undefined {
  const machine = machineWith(states, resource, name);
  return machine && entryOf(machine.transitions, name);
}

/** Whether some transition of a machine is an update that sends its state. */
export function isMovedByUpdate(machine: Machine | undefined): boolean {
  return machine !== undefined && entriesOf(machine.transitions).some(([, { on }]) => on !== undefined);
}

/** The transitions of a machine that an update is, where it sends their state, by their names. */
export function transitionsOn(machine: Machine, operation: string | undefined): readonly (readonly [string, Transition])[] {
  if (operation === undefined) return [];
  return entriesOf(machine.transitions).filter(([, { on }]) => on?.includes(operation));
}

export function readStates(source: Source): States {
  const all = source.fact((value) =>
    named(
      value
        .entries()
        .filter(([name]) => name !== 'others')
        .map(([name, machine]) => [name, openField(name, machine) ?? machine.fact((entry) => readMachine(name, entry))] as const),
    ),
  );
  const others = source.has('others') ? source.get('others').unstated() : undefined;
  return { at: source.at, all, ...(others && { others }) };
}

/** Where it is open which field holds the state, nothing that a machine says can be kept: all of it is. */
function openField(key: string, source: Source): Unstated | undefined {
  if (!source.isMap || source.unstated() || fieldInKey(key, source)) return undefined;
  const unstated = source.get('field').unstated('tags only');
  return unstated && { question: 'which field holds the state?', ...unstated, standing: 'open' };
}

/** The resource and the field that a key with a point in it names, where no `field` stands below it. */
function fieldInKey(key: string, source: Source): readonly [string, string] | undefined {
  const [, owner, held] = (source.has('field') ? null : /^(.+)\.([^.]+)$/.exec(key)) ?? [];
  return owner !== undefined && held !== undefined ? [owner, held] : undefined;
}

function readMachine(key: string, source: Source): Machine | undefined {
  if (!source.isMap) return undefined;
  const [owner, held] = fieldInKey(key, source) ?? [];
  const transitions = source.get('transitions');
  const others = transitions.has('others') ? transitions.get('others').unstated() : undefined;
  return {
    key,
    resource: owner ?? key,
    at: source.at,
    field: held ?? source.get('field').text() ?? '',
    initial: readTargets(source.get('initial')),
    states: source.get('states').fact((value) => value.words()),
    transitions: transitions.fact((value) =>
      named(
        value
          .entries()
          .filter(([name]) => name !== 'others')
          .map(([name, entry]) => [name, readTransition(name, entry)] as const),
      ),
    ),
    ...(others && { others }),
  };
}

function readTargets(source: Source): Target[] {
  return source.items().flatMap((item) => {
    const state = item.isMap ? item.get('state').text() : item.text();
    const condition = item.isMap ? item.get('if').expression() : undefined;
    const answer = item.isMap ? item.get('answer').text() : undefined;
    return state === undefined
      ? []
      : [{ at: item.at, state, ...(condition && { if: condition }), ...(answer !== undefined && { answer }) }];
  });
}

function readTransition(name: string, source: Source): Transition {
  const arrow = source.isMap ? undefined : readArrow(source);
  if (arrow) return { name, at: source.at, ...arrow };
  const from = source.get('from').words();
  const condition = source.get('if');
  const guarded = condition.isMap ? condition.get('if').expression() : condition.expression();
  const ifElse = condition.isMap ? condition.get('else').text() : undefined;
  const orElse = source.get('else').text();
  const after = source.get('after');
  const ms = durationMs(after.text() ?? '');
  const atTime = source.get('at').expression();
  return {
    name,
    at: source.at,
    from: from.length === 1 && from[0] === '*' ? '*' : from,
    to: readTargets(source.get('to')),
    ...(guarded && { if: guarded }),
    ...(ifElse !== undefined && { ifElse }),
    ...(orElse !== undefined && { else: orElse }),
    ...(ms !== undefined && { after: { ms, source: after.text() ?? '', at: after.at } }),
    ...(atTime && { atTime }),
    ...(source.has('on') && { on: source.get('on').words() }),
    ...(source.get('by').text() === 'service' && { by: 'service' as const }),
    ...(source.has('then') && { following: readFollowing(source.get('then')) }),
  };
}

/** `draft -> bought`, `draft, bought -> cancelled` or `* -> lost`. */
function readArrow(source: Source): Pick<Transition, 'from' | 'to'> {
  const [left = '', right = ''] = (source.text() ?? '').split('->').map((side) => side.trim());
  const from = left
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  return {
    from: left === '*' ? '*' : from,
    to: right === '' ? [] : [{ at: source.at, state: right }],
  };
}

/** The state that a deleted row is in for the transition that brings it back: the one that this leaves. No other row is ever in it. */
export function stateOfDeleted({ states }: { readonly states: States }, { name, kept }: Resource): string | undefined {
  const transition = kept?.restore === undefined ? undefined : transitionNamed(states, name, kept.restore);
  return transition && transition.from !== '*' && transition.from.length === 1 ? transition.from[0] : undefined;
}

/** What has to hold for a transition to be fired, and what decides where it leads. */
export function conditionsOfTransition({ if: condition, to }: Transition): Expression[] {
  return [condition, ...to.map((target) => target.if)].flatMap((one) => one ?? []);
}
