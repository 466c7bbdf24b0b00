import type { Json } from '../../../document/document.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import { type Machine, machinesOf, stateOfDeleted } from '../../../parts/states.ts';
import { statesOf } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';

/** So many states of rows that are counted are come to where the expression reads none. */
const statesMost = 6;

/** The states in which rows are counted: all of a machine that the expression reads, and those that callers bring a row to. */
export function statesCounted(
  model: Model,
  from: string,
  reads: ReadonlySet<string>,
): readonly { readonly machine: Machine; readonly state: string }[] {
  const resource = model.resource(from);
  const deleted = resource && stateOfDeleted(model.spec, resource);
  return machinesOf(model.spec.states, from).flatMap((machine) => {
    const states = reads.has(machine.field) ? statesOf(machine) : firedStates(model, machine).slice(0, statesMost);
    return states.filter((state) => state !== deleted).map((state) => ({ machine, state }));
  });
}

/** The states that callers can fire a row to. */
export function firedStates(model: Model, machine: Machine): string[] {
  const legs = entriesOf(machine.transitions).filter(
    ([name, transition]) =>
      model.endpointOfTransition(machine.resource, name) ?? model.updatesOf(machine.resource, transition)[0],
  );
  const reached = new Set<string>(machine.initial.map(({ state }) => state));
  // Entries that are added while the set is gone through are gone through as well.
  for (const state of reached)
    for (const [, { from, to }] of legs)
      if (from === '*' || from.includes(state)) for (const target of to) reached.add(target.state);
  return [...reached];
}

/** So many values of one field are told apart. */
const wordsMost = 4;

/** The values of yes or no, and the words of a list, that decide what is derived of a row, as far as whoever makes one may say them. */
export function wordsRead(
  model: Model,
  from: string,
  reads: ReadonlySet<string>,
): readonly { readonly name: string; readonly value: Json; readonly says: string }[] {
  const resource = model.resource(from);
  const bound = new Set(model.endpointsThat('create', from).flatMap((endpoint) => boundByPath(model.spec, endpoint)));
  return (resource ? entriesOf(resource.fields) : []).flatMap(([name, field]) => {
    const { type, enum: words } = statedValue(field.shape) ?? {};
    const isSaid = resource && isWritable(model.spec, resource, field) && !field.writable && !bound.has(name);
    if (!reads.has(name) || !isSaid) return [];
    const values = type === 'boolean' ? [true, false] : Array.isArray(words) ? (words as readonly Json[]) : [];
    const told = values.filter((value) => value !== null).slice(0, wordsMost);
    return told.map((value) => ({ name, value, says: `with ${name} ${JSON.stringify(value)}` }));
  });
}
