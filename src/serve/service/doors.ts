import { statedValue } from '../../parts/fact.ts';
import { fetchDoor } from '../http/fetch.ts';
import { type DoorRefusal, doorRefusals, type RefuseRaw } from '../http/refusals.ts';
import { createListener, listen } from '../http/socket.ts';
import { statedBounds } from '../limits/stated-bounds.ts';
import { connectionKey } from '../limits/whom.ts';
import type { Engine } from '../operations/engine.ts';
import type { AnswerCall } from '../serve.ts';
import type { NewestDocument } from './newest.ts';
import type { ServeOptions, Service } from './service.ts';
import { compileUnroutedRefusals, refuseCall } from './unrouted.ts';

/** What doors need of a document that is served. */
export interface DoorsServed {
  readonly engine: Engine;
  readonly road: AnswerCall;
  readonly refuseRaw: RefuseRaw;
}

/** The doors that calls come in by, whatever document is served at the time. */
export function doorsOf(
  served: () => DoorsServed,
  newest: NewestDocument | undefined,
  turnAway: ServeOptions['turnAway'],
): Pick<Service, 'listener' | 'fetch' | 'listen'> {
  const road: AnswerCall = (call) => served().road(call);
  const newestRoad = newest ? newest.answering(road) : road;
  const answer: AnswerCall = turnAway ? (call) => turnAway(call) ?? newestRoad(call) : newestRoad;
  const options = {
    refuseRaw: (kind: DoorRefusal, path: string) => served().refuseRaw(kind, path),
    onFailure: (failure: unknown) => served().engine.onFailure(failure, 'door'),
  };
  const bounds = () => statedBounds(served().engine.compilation.spec.limits);
  return {
    listener: createListener(answer, { ...bounds(), ...options }),
    fetch: fetchDoor(answer),
    listen: (at) => {
      const countedAs = connectionKey(statedValue(served().engine.compilation.spec.limits.trustProxies) ?? []);
      return listen(answer, { ...bounds(), ...options, countedAs, host: '127.0.0.1', ...at });
    },
  };
}

/** Refusals of what never becomes a call: the parser's own, in the stated shape. */
export function compileRawRefusals(engine: Engine): RefuseRaw {
  const table = compileUnroutedRefusals(engine);
  return (kind, path) => refuseCall(table, { path }, doorRefusals[kind], `req_${engine.chance.uuid()}`);
}
