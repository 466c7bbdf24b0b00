import { entriesOf } from '../../../parts/fact.ts';
import { pathParameters } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { acceptable, type Door, guardedDoors, knocking } from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { isUnknownCaller } from '../authentication/carriers.ts';

const fact = { kind: 'users', subject: 'service' };

/** How many operations a user tries. */
const triesMost = 6;

/** Every user can do something. */
export const purposeUsers: Trial = {
  name: 'purpose/users',
  part: 'purpose',
  about: 'Each stated user is known and can call at least one operation.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const [user] of entriesOf(model.spec.purpose.users)) yield caseOf(model, user);
  },
};

function caseOf(model: Model, user: string): Case {
  return {
    name: user,
    facts: [fact],
    async run(session: Session) {
      const caller = model.callers.find((one) => one.user === user);
      session.need(caller !== undefined, `no credential of a ${user} was given`);
      const doors = guardedDoors(model)
        .filter(({ operation, endpoint }) => isOpenTo(session, { operation, endpoint }, caller))
        .sort((one, other) => effortOf(model, one, caller) - effortOf(model, other, caller));
      session.need(doors.length > 0, `no operation is allowed to a ${user}`);
      const tried: Done<TrialExchange>[] = [];
      const asked: Door[] = doors.slice(0, triesMost);
      for (const door of asked) {
        const isPlain = door.endpoint.method === 'GET' && pathParameters(door.endpoint.path).length === 0;
        const request = isPlain ? undefined : await acceptable(session, door, caller);
        const done = await session.send(request ?? knocking(model, door.endpoint, caller));
        tried.push(done);
        if (isDone(done.value)) break;
      }
      session.claim({
        fact,
        reason: user,
        of: tried.filter(({ value }) => isDone(value) || !tried.some((one) => isDone(one.value))),
        judge: (...all: readonly TrialExchange[]): Judgement => {
          if (all.some(isDone)) return undefined;
          const outcomes = new Set(all.map((seen) => outcomeOf(model, seen, caller)));
          if (!outcomes.has('left out') || outcomes.has('something else'))
            return moot('what it asked for was refused for something else');
          return {
            promised: `a ${user} can call ${asked.map(({ operation }) => operation.name).join(', ')}`,
            seen: 'it is not known at any of them',
          };
        },
      });
    },
  };
}

/** What is allowed whatever the row comes first, then what changes nothing, and what needs no row. */
function effortOf(model: Model, { operation, endpoint }: Door, caller: TrialCaller): number {
  const isSure = model.access.allows(operation, caller) === 'yes';
  return (isSure ? 0 : 100) + (endpoint.method === 'GET' ? 0 : 10) + pathParameters(endpoint.path).length;
}

/** Whether a caller may be let in, and is asked for no more than may be sent. */
function isOpenTo({ model, run }: Session, { operation, endpoint }: Door, caller: TrialCaller): boolean {
  return model.access.allows(operation, caller) !== 'no' && (endpoint.method === 'GET' || !run.isReadOnly);
}

/** What an answer says of who asked: not known, or known and not let in; or something about what was asked. */
function outcomeOf(model: Model, seen: TrialExchange, caller: TrialCaller): 'left out' | 'row' | 'something else' {
  const operation = seen.endpoint && model.operationOf(seen.endpoint);
  if (!operation || !isRefused(model, seen)) return 'something else';
  if (isUnknownCaller(model, operation, seen)) return 'left out';
  const forbidden = refusalFor(model, 'caller.forbidden', operation);
  if (!forbidden || !isRefusal(model, seen, forbidden)) return 'something else';
  return model.access.allows(operation, caller) === 'yes' ? 'left out' : 'row';
}
