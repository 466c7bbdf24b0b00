import { entriesOf, isStated, statedValue } from '../fact.ts';
import { named } from '../source.ts';
import type { Spec } from '../spec.ts';
import type { Machine } from '../states.ts';
import type { Carries } from './carries.ts';
import type { FieldChange } from './earlier-shape.ts';
import { endpointInVersion, isServed } from './endpoint-in-version.ts';
import type { History } from './history.ts';
import { olderValue } from './older-values.ts';

/**
 * The document as it was in one of its versions: its resources, the names and states of their machines, its endpoints and
 * what their parameters are called. Expressions stay as they are: they speak of the newest shape, in which everything is done.
 */
export function specInVersion(spec: Spec, history: History, carries: Carries): Spec {
  const level = history.levelOf(carries.version);
  const { resources, states, endpoints } = spec;
  return {
    ...spec,
    resources: isStated(resources.all)
      ? {
          ...resources,
          all: {
            ...resources.all,
            value: named(
              Object.entries(resources.all.value).map(
                ([name, resource]) => [name, carries.resources.at(name, level) ?? resource] as const,
              ),
            ),
          },
        }
      : resources,
    states: isStated(states.all)
      ? {
          ...states,
          all: {
            ...states.all,
            value: named(
              Object.entries(states.all.value).map(
                ([name, machine]) =>
                  [
                    name,
                    isStated(machine) ? { ...machine, value: earlierMachine(machine.value, history, carries) } : machine,
                  ] as const,
              ),
            ),
          },
        }
      : states,
    endpoints: isStated(endpoints.all)
      ? {
          ...endpoints,
          all: {
            ...endpoints.all,
            value: named(
              Object.entries(endpoints.all.value)
                .filter(([key]) => isServed(history, carries.version, key))
                .map(([key, endpoint]) => [key, endpointInVersion(endpoint, carries)] as const),
            ),
          },
        }
      : endpoints,
  };
}

/** The state field may have had another name, and the states too. */
function earlierMachine(machine: Machine, history: History, carries: Carries): Machine {
  const changes = carries.resources.changes(machine.resource, history.newest, history.levelOf(carries.version));
  let { field } = machine;
  const names = new Map((statedValue(machine.states) ?? []).map((state) => [state, state]));
  for (const { change } of changes) {
    if (change.kind === 'rename' && change.to === field) field = change.field;
    else if (change.kind === 'enum' && change.field === field)
      for (const [newest, name] of names) names.set(newest, olderState(change, name));
  }
  const older = (state: string) => names.get(state) ?? state;
  return {
    ...machine,
    field,
    initial: machine.initial.map((target) => ({ ...target, state: older(target.state) })),
    states: isStated(machine.states) ? { ...machine.states, value: machine.states.value.map(older) } : machine.states,
    transitions: isStated(machine.transitions)
      ? {
          ...machine.transitions,
          value: named(
            entriesOf(machine.transitions).map(([name, transition]) => [
              name,
              {
                ...transition,
                from: transition.from === '*' ? transition.from : transition.from.map(older),
                to: transition.to.map((target) => ({ ...target, state: older(target.state) })),
              },
            ]),
          ),
        }
      : machine.transitions,
  };
}

function olderState(change: Extract<FieldChange, { kind: 'enum' }>, state: string): string {
  const found = Object.entries(change.values).find(([, value]) => value === state);
  return found ? String(olderValue(found[0], state)) : state;
}
