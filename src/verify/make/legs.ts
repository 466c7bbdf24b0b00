import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf } from '../../parts/fact.ts';
import type { Machine, Transition } from '../../parts/states.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';
import { type Brings, bringing } from './brought.ts';
import { callersFor } from './callers-for.ts';

/** One step of a row's way from state to state. */
export interface Leg {
  readonly transition: Transition;
  /** Absent where the clock fires it, or it follows from something else. */
  readonly endpoint: Endpoint | undefined;
  /** What it follows from, where nobody fires it on the row itself. */
  readonly brings?: Brings;
  readonly to: string;
}

/** What else may help where callers alone bring a row nowhere. */
interface Help {
  readonly byOthers: boolean;
  readonly byClock: boolean;
}

/** What tells one way out of a state from another. */
export function legKey(from: string, { transition, to, brings }: Leg): string {
  return [from, transition.name, to, brings?.resource, brings?.transition?.name].join(' ');
}

/** The shortest way between two states over transitions that callers can fire. */
function wayTo(
  session: Session,
  machine: Machine,
  from: string,
  to: string,
  tried: ReadonlySet<string>,
  help: Help,
): readonly Leg[] {
  const ways = new Map<string, readonly Leg[]>([[from, []]]);
  // Entries that are added while the map is gone through are gone through as well: breadth first.
  for (const [state, way] of ways) {
    if (state === to) return way;
    for (const leg of legsFrom(session, machine, state, help)) {
      if (!tried.has(legKey(state, leg)) && !ways.has(leg.to)) ways.set(leg.to, [...way, leg]);
    }
  }
  return [];
}

/** As `wayTo`: over what callers can fire, else what follows from what they do to others, and else with the clock too, if long times can go by. */
export function wayFor(
  session: Session,
  machine: Machine,
  from: string,
  to: string,
  { tried, byClock }: { readonly tried: ReadonlySet<string>; readonly byClock: boolean },
): readonly Leg[] {
  const helps = [false, true].map((byOthers) => ({ byOthers, byClock }));
  if (!byClock && session.run.goneBy) helps.push({ byOthers: false, byClock: true }, { byOthers: true, byClock: true });
  for (const help of helps) {
    const way = wayTo(session, machine, from, to, tried, help);
    if (way.length > 0) return way;
  }
  return [];
}

/** Whether callers, or the clock where it may help, may bring a row from one state to another. */
export function leadsTo(session: Session, machine: Machine, from: string, to: string, byClock = false): boolean {
  return from === to || wayFor(session, machine, from, to, { tried: new Set(), byClock }).length > 0;
}

function legsFrom(session: Session, machine: Machine, state: string, { byOthers, byClock }: Help): Leg[] {
  return entriesOf(machine.transitions).flatMap(([name, transition]): Leg[] => {
    if (transition.from !== '*' && !transition.from.includes(state)) return [];
    const endpoint =
      session.model.endpointOfTransition(machine.resource, name) ?? session.model.updatesOf(machine.resource, transition)[0];
    const [target] = transition.to;
    if (byClock && (transition.after ?? transition.atTime) && !transition.if && target && !target.if && session.run.clock.advance)
      return [{ transition, endpoint: undefined, to: target.state }];
    if (endpoint && callersFor(session, endpoint).length > 0)
      return transition.to.map(({ state: to }) => ({ transition, endpoint, to }));
    const others = byOthers ? bringing(session, machine.resource, transition) : [];
    return others.flatMap((brings) => transition.to.map(({ state: to }) => ({ transition, endpoint: undefined, brings, to })));
  });
}

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
