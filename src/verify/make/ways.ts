import { entriesOf } from '../../parts/fact.ts';
import type { Machine } from '../../parts/states.ts';
import type { Model } from '../model/model.ts';

/** The last transition of the shortest way of callers into each state. */
export function shortestWays(model: Model, machine: Machine): ReadonlyMap<string, string | undefined> {
  const ways = new Map<string, string | undefined>(machine.initial.map(({ state }) => [state, undefined]));
  // Entries that are added while the map is gone through are gone through as well: breadth first.
  for (const [state] of ways) {
    for (const [name, { from, to }] of entriesOf(machine.transitions)) {
      if ((from !== '*' && !from.includes(state)) || !model.endpointOfTransition(machine.resource, name)) continue;
      for (const target of to) if (!ways.has(target.state)) ways.set(target.state, name);
    }
  }
  return ways;
}
