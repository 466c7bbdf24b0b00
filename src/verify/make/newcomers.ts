import type { Json } from '../../document/document.ts';
import { entriesOf } from '../../parts/fact.ts';
import { type Machine, machineIn, machinesOf } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Newcomer } from '../exchange/step.ts';
import { callerContext } from '../model/access.ts';
import type { Model } from '../model/model.ts';
import type { ShownFields } from '../model/row-shown.ts';
import { ownIdentifier } from './entrusted.ts';

const told = new WeakMap<Model, Map<string, Record<string, Json>>>();

/** What a row has of whoever makes it, as far as that is told. */
export function toldOfMaker(model: Model, resource: string, maker: TrialCaller): Readonly<Record<string, Json>> {
  const all = told.get(model) ?? new Map<string, Record<string, Json>>();
  told.set(model, all);
  const key = JSON.stringify([resource, maker.name, maker.id]);
  const known = all.get(key) ?? toldNow(model, resource, maker);
  all.set(key, known);
  return known;
}

function toldNow(model: Model, resource: string, maker: TrialCaller): Record<string, Json> {
  const values = entriesOf(model.resource(resource)?.fields).flatMap(([name, { set }]) => {
    const value = set.create && model.expressions.evaluate(set.create, `create ${resource}`, { context: callerContext(maker) });
    return typeof value === 'object' ? [[name, value.value] as const] : [];
  });
  return Object.fromEntries(values);
}

/** A row as somebody makes it, as far as that is told: what it has of its maker, and the states in which all such rows begin. */
export function newcomerOf(model: Model, resource: string, maker: TrialCaller | undefined): Newcomer {
  const states = machinesOf(model.spec.states, resource).flatMap(({ field, initial: [first, ...others] }) =>
    first && others.length === 0 ? [[field, first.state] as const] : [],
  );
  const own = ownIdentifier(model, resource, maker);
  const named = own !== undefined && { [model.identifierField(resource)]: own };
  return { resource, fields: { ...(maker && toldOfMaker(model, resource, maker)), ...named, ...Object.fromEntries(states) } };
}

/** A row that is wanted in a state, as it begins and as it is to be in the end. */
export function newcomersFor(
  model: Model,
  resource: string,
  caller: TrialCaller | undefined,
  { state, machine: stated }: WantedRow,
): readonly Newcomer[] {
  const first = newcomerOf(model, resource, caller);
  const machine = stated ?? machineIn(model.spec.states, resource, state);
  return machine && state !== undefined ? [first, { ...first, fields: { ...first.fields, [machine.field]: state } }] : [first];
}

/** A row as it is to be. */
export function changedRow({ resource, fields: was }: TrialRow, fields: ShownFields): Newcomer {
  return { resource, fields: { ...was, ...fields }, was };
}

/** A row as somebody leaves it who fires a transition, as far as that is told. */
export function firedRow(
  model: Model,
  row: TrialRow,
  { name, state, machine }: { readonly name: string; readonly state: string; readonly machine: Machine | undefined },
  caller: TrialCaller,
): Newcomer {
  const set = entriesOf(model.resource(row.resource)?.fields).flatMap(([field, { set }]) => {
    const value =
      set[name] && model.expressions.evaluate(set[name], `${name} ${row.resource}`, { context: callerContext(caller) });
    return typeof value === 'object' ? [[field, value.value] as const] : [];
  });
  return changedRow(row, { ...Object.fromEntries(set), ...(machine && { [machine.field]: state }) });
}
