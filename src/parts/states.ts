import type { Pointer } from '../document/document.ts';
import { durationMs } from '../kinds/durations.ts';
import { type Expression, entriesOf, type Fact, type Named, type Unstated } from './fact.ts';
import { type Following, readFollowing } from './following.ts';
import { named, type Source } from './source.ts';

/** Part 3: the machine of each resource. */
export interface States {
  readonly at: Pointer;
  /** The whole part: `none` promises that no resource has a machine. */
  readonly all: Fact<Named<Fact<Machine>>>;
  readonly others?: Unstated;
}

export interface Machine {
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

/** The machine of a resource, where one is stated. */
export function machineOf(states: States, resource: string): Machine | undefined {
  if (states.all.standing !== 'stated' && states.all.standing !== 'inferred') return undefined;
  const machine = states.all.value[resource];
  return machine && (machine.standing === 'stated' || machine.standing === 'inferred') ? machine.value : undefined;
}

/** Whether some transition of a resource is an update that sends its state. */
export function isMovedByUpdate(states: States, resource: string): boolean {
  const machine = machineOf(states, resource);
  return machine !== undefined && entriesOf(machine.transitions).some(([, { on }]) => on !== undefined);
}

/** The transitions of a resource that an update is, where it sends their state, by their names. */
export function transitionsOn(states: States, resource: string, operation: string | undefined): readonly [string, Transition][] {
  if (operation === undefined) return [];
  return entriesOf(machineOf(states, resource)?.transitions).filter(([, { on }]) => on?.includes(operation));
}

export function readStates(source: Source): States {
  const all = source.fact((value) =>
    named(
      value
        .entries()
        .filter(([name]) => name !== 'others')
        .map(([name, machine]) => [name, machine.fact((entry) => readMachine(name, entry))] as const),
    ),
  );
  const others = source.has('others') ? source.get('others').unstated() : undefined;
  return { at: source.at, all, ...(others && { others }) };
}

function readMachine(resource: string, source: Source): Machine | undefined {
  if (!source.isMap) return undefined;
  const transitions = source.get('transitions');
  const others = transitions.has('others') ? transitions.get('others').unstated() : undefined;
  return {
    resource,
    at: source.at,
    field: source.get('field').text() ?? '',
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
