import { isSame } from '../../../document/values.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { type OpenDoor, openDoors } from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

const fact = { kind: 'base address', subject: 'service' };

/** The endpoints stand below the path of the base address, and nowhere else. */
export const baseAddress: Trial = {
  name: 'purpose/base address',
  part: 'purpose',
  about: 'Endpoints are served below the path of the base address, and not without it.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    const doors = openDoors(model, true);
    // One of each collection: each may be mounted by itself.
    const first = new Map(doors.map((door) => [door.endpoint.path.split('/')[1], door] as const).toReversed());
    const asked = [...first.values()].toReversed().slice(0, doorsMost);
    for (const door of asked.length > 0 ? asked : [undefined]) {
      yield {
        name:
          door === undefined || door === asked[0]
            ? 'with its path and without'
            : `with its path and without, ${door.endpoint.key}`,
        facts: [fact],
        run: (session) => askBelow(session, door),
      };
    }
  },
};

const doorsMost = 8;

async function askBelow(session: Session, door: OpenDoor | undefined): Promise<void> {
  const { model } = session;
  session.need(door !== undefined, 'no operation can be asked without a row');
  const { endpoint, caller } = door;
  const plan = model.request(endpoint, { caller });
  const below = await session.send(plan);
  session.claim({
    fact,
    reason: 'below it',
    of: [below],
    judge: (seen: TrialExchange) => belowJudgement(model, door, seen),
  });
  if (model.basePath === '') return;
  const { endpoint: _endpoint, ...bare } = plan;
  const without = await session.send({ ...bare, prefix: model.prefix.slice(model.basePath.length) });
  session.claim({
    fact,
    reason: 'nowhere else',
    of: [below, without],
    judge: (one: TrialExchange, other: TrialExchange): Judgement => {
      if (!isDone(one)) return moot('it is not answered below the base address');
      if (!isDone(other) || !isSame(one.body ?? one.text, other.body ?? other.text)) return undefined;
      return {
        promised: `endpoints stand below ${model.basePath}, and nothing without it`,
        seen: `${other.sent.target} gave the same answer`,
      };
    },
  });
}

function belowJudgement(model: Model, { operation }: OpenDoor, seen: TrialExchange): Judgement {
  if (isDone(seen)) return undefined;
  const unknown = refusalFor(model, 'route.unknown', operation);
  const isUnknown = unknown ? isRefused(model, seen) && isRefusal(model, seen, unknown) : seen.status === 404;
  return isUnknown
    ? { promised: `${operation.name} is served at ${seen.sent.target}`, seen: `it was answered ${seen.status}` }
    : moot('it was refused');
}
