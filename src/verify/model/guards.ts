/** What the conditions of transitions are made of, and the states that a row of several machines can be in at once. */
import { type Node, parseExpression } from '../../parts/expressions/node.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { followsOthers } from '../../parts/followed.ts';
import { type Machine, machinesOf, type Transition } from '../../parts/states.ts';
import type { Model } from './model.ts';

/** The parts of a condition all of which have to hold: `a && b`. */
export function partsOfCondition({ expressions }: Model, condition: Expression): readonly Expression[] {
  return piecesOf(condition).map(({ start, end }) => expressions.composed(condition, condition.source.slice(start, end)));
}

function piecesOf({ source }: Expression): readonly Node[] {
  const parsed = parseExpression(source);
  return 'node' in parsed ? flattened(parsed.node) : [];
}

function flattened(node: Node): readonly Node[] {
  return node.op === 'and' ? [...flattened(node.left), ...flattened(node.right)] : [node];
}

/** A part of a transition's condition that can fail while all others hold, and the transition with the condition that it does not do so. */
export interface PartAlone {
  readonly part: Expression;
  /** Holds where the part fails alone. */
  readonly alone: Expression;
  readonly as: Transition;
}

/** Each part of a transition's condition, alone, where it has several; whether there is something is not apart from what reads it. */
export function partsAlone({ expressions }: Model, transition: Transition): readonly PartAlone[] {
  const { if: condition } = transition;
  const pieces = condition ? piecesOf(condition) : [];
  if (!condition || pieces.length < 2) return [];
  const sources = pieces.map(({ start, end }) => condition.source.slice(start, end));
  return sources.flatMap((source, at): PartAlone[] => {
    const others = sources.filter((_, other) => other !== at);
    if (pieces[at]?.op === 'has' && others.some((other) => other.includes(source.trim().slice('has('.length, -1).trim())))
      return [];
    const held = [`!(${source})`, ...others.map((other) => `(${other})`)].join(' && ');
    const alone = expressions.composed(condition, held);
    const as = { ...transition, if: expressions.composed(condition, `!(${held})`) };
    return [{ part: expressions.composed(condition, source), alone, as }];
  });
}

/** The states of a row, by the field of each of its machines. */
type States = Readonly<Record<string, string>>;

/** So many are gone through. */
const togetherMost = 2_000;

/** The states that the machines of a resource can be in together, as far as conditions on these states alone say; by callers, or with the clock and the service too. */
function statesTogether(model: Model, resource: string, byCallers: boolean): readonly States[] {
  const machines = machinesOf(model.spec.states, resource);
  let begun: readonly States[] = [Object.create(null)];
  for (const { field, initial } of machines)
    begun = begun.flatMap((states) => initial.map(({ state }) => ({ ...states, [field]: state })));
  const known = new Map(begun.map((states) => [keyOf(states), states]));
  // Entries that are added while the map is gone through are gone through as well.
  for (const [, states] of known) {
    for (const machine of machines) {
      for (const [, transition] of entriesOf(machine.transitions)) {
        const isFrom = transition.from === '*' || transition.from.includes(states[machine.field] ?? '');
        if (!isFrom || (byCallers && !isCallers(model, machine, transition)) || excludes(model, machine, transition, states))
          continue;
        for (const { state } of transition.to) {
          const next = { ...states, [machine.field]: state };
          if (known.size < togetherMost && !known.has(keyOf(next))) known.set(keyOf(next), next);
        }
      }
    }
  }
  return [...known.values()];
}

const keyOf = (states: States): string => JSON.stringify(Object.entries(states).sort());

/** Whether callers bring it about: they fire it, send its state, or do what it follows from. */
function isCallers(model: Model, { resource }: Machine, transition: Transition): boolean {
  if (model.endpointOfTransition(resource, transition.name) ?? model.updatesOf(resource, transition)[0]) return true;
  if (transition.after ?? transition.atTime ?? transition.by) return false;
  return followsOthers(model.spec, resource, transition.name);
}

/** Whether the condition of a transition fails in these states, whatever else the row has. */
function excludes(model: Model, { resource }: Machine, { if: condition }: Transition, states: States): boolean {
  if (!condition) return false;
  const fields = Object.keys(statedValue(model.resource(resource)?.fields) ?? {});
  const unseen = new Set(fields.filter((name) => states[name] === undefined));
  const known = { context: { resource: states, next: states }, unseen: { resource: unseen, next: unseen } };
  return partsOfCondition(model, condition).some((part) => {
    const evaluated = model.expressions.evaluate(part, undefined, known);
    return typeof evaluated === 'object' && evaluated.value === false;
  });
}

/** A state of another machine of the row in which a transition's condition keeps it from being fired, and from which of its own states. */
export interface StateExcluded {
  readonly other: Machine;
  readonly state: string;
  readonly from: readonly string[];
}

/** The states of other machines that a transition's condition excludes, where rows can be in them when it would be fired. */
export function statesExcluded(
  model: Model,
  machine: Machine,
  transition: Transition,
  byCallers: boolean,
): readonly StateExcluded[] {
  const { resource, field } = machine;
  const others = machinesOf(model.spec.states, resource).filter((other) => other !== machine);
  if (!transition.if || others.length === 0) return [];
  const reads = model.expressions.readsOf(transition.if, undefined);
  const read = new Set(reads.flatMap(({ root, path, follows }) => (follows || !isOfRow(root) ? [] : [path[0]])));
  const together = statesTogether(model, resource, byCallers).filter(
    (states) => transition.from === '*' || transition.from.includes(states[field] ?? ''),
  );
  return others.flatMap((other) => {
    if (!read.has(other.field)) return [];
    return (statedValue(other.states) ?? []).flatMap((state): StateExcluded[] => {
      if (!excludes(model, machine, transition, { [other.field]: state })) return [];
      const from = together.filter((states) => states[other.field] === state).map((states) => states[field] ?? '');
      return from.length > 0 ? [{ other, state, from: [...new Set(from)] }] : [];
    });
  });
}

/** Whether a variable of a transition's condition is the row. */
export function isOfRow(root: string): boolean {
  return root === 'resource' || root === 'next';
}
