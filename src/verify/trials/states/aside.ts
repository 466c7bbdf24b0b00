import { entriesOf } from '../../../parts/fact.ts';
import { type Machine, machinesOf, type Transition } from '../../../parts/states.ts';
import { isDone } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { fireOnRow } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';

/** For each other machine of the row a transition of callers from the state that it begins in: it is another machine's time that begins anew. */
export function waysAside(model: Model, { resource, key }: Machine): Transition[] {
  return machinesOf(model.spec.states, resource).flatMap((other) => {
    const [initial] = other.initial;
    const way = entriesOf(other.transitions).find(
      ([name, { from, if: condition }]) =>
        !condition && initial && (from === '*' || from.includes(initial.state)) && model.endpointOfTransition(resource, name),
    );
    return other.key !== key && way ? [way[1]] : [];
  });
}

/** Fires it. @throws {Untestable} where it is refused. */
export async function moveAside(session: Session, row: TrialRow, transition: Transition): Promise<void> {
  const endpoint = session.model.endpointOfTransition(row.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const done = await fireOnRow(session, row, endpoint, transition);
  session.need(isDone(done.value), `${transition.name} was answered ${done.value.status}`);
}
