import type { Endpoint } from '../../../parts/endpoints.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { isWritable } from '../../../parts/payload.ts';
import { briefly, isDone } from '../../exchange/exchange.ts';
import { ifTestable, Untestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { imagine } from '../../make/imagined.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { stage } from '../../make/staged.ts';
import type { Model } from '../../model/model.ts';
import { mayHold, writesFields } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { endAll } from './ear.ts';
import { withLittle } from './emitting.ts';
import { kindsOn } from './expected.ts';
import { kindsAbout } from './heard.ts';
import { listenTo } from './listened.ts';
import { canListen, changing, everybody } from './reached.ts';

/** What was told once is told again where the condition holds again, and not because it had held before. */
export const alreadySo: Trial = {
  name: 'events/already so',
  part: 'events',
  about: 'A change of something else of a row of which a condition was told already is told of as that condition says.',
  noise: 'alone',
  *cases(model) {
    if (!canListen(model)) return;
    for (const operation of changing(model)) {
      const { endpoint } = operation;
      for (const kind of endpoint ? kindsOn(model, operation) : []) {
        if (!endpoint || !isOfSomethingElse(model, endpoint, kind)) continue;
        yield {
          name: `${operation.name}, ${kind.name}`,
          facts: [{ kind: 'emitting operations', subject: kind.name }],
          run: (session) => changeAgain(session, operation, endpoint, kind),
        };
      }
    }
  },
};

/** The reason of what is claimed of such a change. */
const somethingElse = (operation: string): string => `emitted by ${operation}, of something else`;

/** Of each update that a condition decides about, whether it is told of where it changes something else. */
export function looksAtSomethingElse(model: Model, kind: EventKind): readonly string[] {
  return changing(model).flatMap((operation) => {
    const { endpoint } = operation;
    const isOf = endpoint && kindsOn(model, operation).includes(kind) && isOfSomethingElse(model, endpoint, kind);
    return isOf ? [somethingElse(operation.name)] : [];
  });
}

/** Whether an update may change something that the condition of a kind does not read. */
function isOfSomethingElse(model: Model, endpoint: Endpoint, { if: condition, each }: EventKind): boolean {
  const effect = statedValue(endpoint.does);
  if (!condition || each || effect?.verb !== 'update' || !writesFields(model, endpoint)) return false;
  const resource = model.resource(effect.resource);
  const read = new Set(
    model.expressions
      .readsOf(condition, endpoint.operation)
      .flatMap(({ root, path }) => (root === 'next' || root === 'resource' || root === 'request' ? [path[0] ?? ''] : [])),
  );
  return entriesOf(resource?.fields).some(
    ([name, field]) =>
      resource !== undefined &&
      !read.has(name) &&
      !field.immutable &&
      field.ref === undefined &&
      isWritable(model.spec, resource, field) &&
      mayHold(model, endpoint, name),
  );
}

/** How often a row is imagined of which the condition holds. */
const scenesMost = 4;

async function changeAgain(session: Session, operation: Operation, endpoint: Endpoint, kind: EventKind): Promise<void> {
  const { resource = '' } = operation;
  let tries = 0;
  for (const { slots, met } of imagine(session, endpoint, { rule: kind })) {
    if (tries === scenesMost) break;
    tries += 1;
    const staged = await ifTestable(stage(session, endpoint, slots, { scene: met, resource }));
    if (!staged?.row) continue;
    const { row, request } = staged;
    const kinds = kindsAbout(session.model, operation);
    const before = await lookAt(session, row);
    // That it is told of once shows that what does not come afterwards would have come by then.
    const hearing = await everybody(session);
    const first = await session.send(request);
    if (isDone(first.value)) await listenTo(session, { operation, kinds, shown: before, acted: first }, hearing);
    await endAll(session);
    if (!isDone(first.value)) continue;
    const shown = await lookAt(session, row);
    const able = callersFor(session, endpoint, row);
    const caller = able.find((one) => one === request.caller) ?? able[0];
    const headers = await session.preconditions(endpoint, row, caller);
    const whole = await requestAbout(session, row, endpoint, { caller, headers, style: 'whole' });
    const ears = await everybody(session);
    const acted = await session.send(withLittle(session, operation, { request: whole, row }));
    session.need(isDone(acted.value), `${operation.name} was answered ${acted.value.status}${briefly(acted.value)}`);
    await listenTo(session, { operation, kinds, shown, acted, reason: somethingElse(operation.name) }, ears);
    await endAll(session);
    return;
  }
  throw new Untestable(`no ${resource} could be made of which ${kind.if?.source ?? 'the condition'} was told`);
}
