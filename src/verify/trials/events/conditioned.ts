import type { Endpoint } from '../../../parts/endpoints.ts';
import type { EventKind } from '../../../parts/events.ts';
import type { Operation } from '../../../parts/operations.ts';
import { briefly, isDone } from '../../exchange/exchange.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { imagine } from '../../make/imagined.ts';
import type { ConditionSubject, Scene } from '../../make/scene.ts';
import { stage } from '../../make/staged.ts';
import type { Model } from '../../model/model.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';
import { everybody } from './changing.ts';
import { endAll } from './ear.ts';
import { kindsOn } from './expected.ts';
import { kindsAbout } from './heard.ts';
import { listenTo } from './listened.ts';

/** So many states of what a condition reads are tried, since not every one can be brought about. */
const triesMost = 4;

/** Events that come of an operation under a condition of their own: where it holds, to the very edge of it, and where it just does not. */
export function* conditionedCases(model: Model, operation: Operation): Iterable<Case> {
  const { endpoint } = operation;
  for (const kind of endpoint ? kindsOn(model, operation) : []) {
    if (!kind.if || !endpoint) continue;
    yield {
      name: `${operation.name}, for ${kind.name}`,
      facts: [
        { kind: 'emitting operations', subject: kind.name },
        { kind: 'payload shapes', subject: kind.name },
      ],
      run: (session) => tellUnder(session, operation, endpoint, kind),
    };
  }
}

async function tellUnder(session: Session, operation: Operation, endpoint: Endpoint, kind: EventKind): Promise<void> {
  let why: unknown = new Untestable(`nothing was found for which ${kind.if?.source} holds`);
  let tries = 0;
  for (const { slots, met, unmet } of imagine(session, endpoint, { rule: kind })) {
    if (tries === triesMost) break;
    tries += 1;
    try {
      await tell(session, operation, endpoint, slots, met);
      if (unmet) await tell(session, operation, endpoint, slots, unmet);
      return;
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
      why = error;
    }
  }
  throw why;
}

async function tell(
  session: Session,
  operation: Operation,
  endpoint: Endpoint,
  slots: readonly ConditionSubject[],
  scene: Scene,
): Promise<void> {
  const { resource = '' } = operation;
  const { request, beside, row } = await stage(session, endpoint, slots, { scene, resource });
  const [before] = row ? beside : [];
  const ears = await everybody(session);
  const acted = await session.send(request);
  if (!isDone(acted.value)) {
    await endAll(session);
    throw new Untestable(`${operation.name} was answered ${acted.value.status}${briefly(acted.value)}`);
  }
  const shown = before && { done: before, fields: rowIn(before.value) };
  await listenTo(session, { operation, kinds: kindsAbout(session.model, operation), shown, acted }, ears);
  await endAll(session);
}
