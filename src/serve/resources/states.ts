/** Machines compiled, and what the clock tells of rows. */

import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Machine, Target, Transition } from '../../parts/states.ts';
import { instantMicroseconds } from '../exchange/column.ts';
import { type Compilation, type Evaluate, isFailed } from '../exchange/compilation.ts';
import type { Fields, Refusal, Value } from '../exchange/exchange.ts';

/** A machine compiled: which state a row starts in, what leads where, and what the clock has to do. */
export interface CompiledMachine {
  readonly field: string;
  /** Whether a transition is one of this machine. */
  has(transition: string): boolean;
  readonly states: ReadonlySet<string>;
  /** Whether it is stated what a row starts in, and what leads from one state to another. */
  readonly hasInitial: boolean;
  readonly hasTransitions: boolean;
  /** The state of a row that an operation makes, with the error that this is answered with; nothing where no target holds. */
  initial(operation: string): (scope: StateScope) => Pick<Target, 'state' | 'answer'> | undefined;
  /** A transition as one operation fires it. */
  transition(name: string, operation: string): CompiledTransition | undefined;
  /** The transitions that an update is, where it sends their state; nothing where none is. */
  moves(operation: string): readonly CompiledTransition[] | undefined;
  /** The transitions that the clock fires, with when. */
  readonly timed: readonly TimedTransition[];
}

export interface CompiledTransition {
  readonly name: string;
  readonly by: 'service' | undefined;
  leaves(state: Value): boolean;
  leadsTo(state: Value): boolean;
  /** The state it leads to from this one, or why not. */
  apply(
    state: Value,
    scope: StateScope,
  ): { readonly to: string; readonly answer?: string | undefined } | { readonly refusal: Refusal };
}

export interface TimedTransition {
  readonly name: string;
  /** The field of the state whose entering it is counted from, where it is counted so. */
  readonly since?: string;
  /** Whether the row is in a state that it leaves. */
  leaves(fields: Fields): boolean;
  /** When it is due for a row that entered its state then, and what it is due for; nothing where its time is absent. */
  due(fields: Fields, enteredMs: number, scope: StateScope): { readonly ms: number; readonly token: string } | undefined;
}

type StateScope = Readonly<Record<string, Value>>;

export function compileMachine(machine: Machine, compilation: Compilation): CompiledMachine {
  const all = statedValue(machine.transitions) ?? {};
  return {
    field: machine.field,
    has: (transition) => Object.hasOwn(all, transition),
    states: new Set(statedValue(machine.states)),
    hasInitial: machine.initial.length > 0,
    hasTransitions: isStated(machine.transitions),
    initial(operation) {
      return compileTargets(machine.initial, compilation, operation);
    },
    transition(name, operation) {
      const transition = all[name];
      return transition && compileTransition(transition, compilation, operation);
    },
    moves(operation) {
      const moving = Object.values(all).filter(({ on }) => on !== undefined);
      if (moving.length === 0) return undefined;
      return moving.filter(({ on }) => on?.includes(operation)).map((one) => compileTransition(one, compilation, operation));
    },
    timed: Object.values(all).flatMap((transition) => compileTimed(machine, transition, compilation)),
  };
}

function compileTargets(
  targets: readonly Target[],
  compilation: Compilation,
  operation: string,
): (scope: StateScope) => Target | undefined {
  const compiled = targets.map((target) => ({
    target,
    holds: target.if && compilation.expression(target.if, operation),
  }));
  return (scope) => compiled.find(({ holds }) => holds === undefined || holds(scope) === true)?.target;
}

function compileTransition(transition: Transition, compilation: Compilation, operation: string): CompiledTransition {
  const leaves = compileFrom(transition);
  const holds = transition.if && compilation.expression(transition.if, operation);
  const target = compileTargets(transition.to, compilation, operation);
  const illegal = (code: string | undefined, by: 'state' | 'condition'): { refusal: Refusal } => ({
    refusal: code === undefined ? { when: `transition.illegal.${by}` } : { code },
  });
  return {
    name: transition.name,
    by: transition.by,
    leaves,
    leadsTo: (state) => transition.to.some((one) => one.state === state),
    apply(state, scope) {
      if (!leaves(state)) return illegal(transition.else, 'state');
      if (holds && holds(scope) !== true) return illegal(transition.ifElse, 'condition');
      const to = target(scope);
      return to === undefined ? illegal(transition.ifElse, 'condition') : { to: to.state, answer: to.answer };
    },
  };
}

function compileFrom({ from }: Transition): (state: Value) => boolean {
  if (from === '*') return () => true;
  const states = new Set<Value>(from);
  return (state) => states.has(state);
}

function compileTimed({ field }: Machine, transition: Transition, compilation: Compilation): TimedTransition[] {
  const { name, after, atTime } = transition;
  const leavesState = compileFrom(transition);
  const leaves = (fields: Fields) => leavesState(fields[field]);
  if (after) {
    const due: TimedTransition['due'] = (_fields, enteredMs) => ({ ms: enteredMs + after.ms, token: String(enteredMs) });
    return [{ name, since: field, leaves, due }];
  }
  if (!atTime) return [];
  const evaluate: Evaluate = compilation.expression(atTime);
  return [
    {
      name,
      leaves,
      due(_fields, _enteredMs, scope) {
        const value = evaluate(scope);
        if (isFailed(value) || value === undefined || value === null) return undefined;
        const ms = typeof value === 'string' ? instantMicroseconds(value) : null;
        return ms === null ? undefined : { ms: Math.ceil(ms / 1000), token: String(value) };
      },
    },
  ];
}

/** An event that the clock tells of a row at its time. */
export interface EventAlarm extends TimedTransition {
  /** Its kind. */
  readonly kind: string;
}

/** Compiles when the clock tells of the rows of a resource. */
export function compileAlarms(resource: string, compilation: Compilation): EventAlarm[] {
  return entriesOf(compilation.spec.events.kinds).flatMap(([kind, { clock }]) => {
    if (clock?.of !== resource) return [];
    const evaluate = compilation.expression(clock.at);
    return [
      {
        kind,
        // No transition has a blank in its name.
        name: `event ${kind}`,
        leaves: () => true,
        due(_fields, _enteredMs, scope) {
          const value = evaluate(scope);
          if (isFailed(value) || typeof value !== 'string') return undefined;
          const ms = instantMicroseconds(value);
          return ms === null ? undefined : { ms: Math.ceil(ms / 1000), token: value };
        },
      },
    ];
  });
}
