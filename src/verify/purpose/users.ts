import { entriesOf } from '../../parts/fact.ts';
import { pathParameters } from '../../parts/payload.ts';
import { isUnknownCaller } from '../authentication/carriers.ts';
import { type Door, guardedDoors, knocking } from '../authentication/knocking.ts';
import type { Model } from '../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../model/refused-as.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { isDone, type TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Case, Trial } from '../trial.ts';

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
        .filter(({ operation, endpoint }) => endpoint.method === 'GET' && model.access.allows(operation, caller) === 'yes')
        .sort((one, other) => pathParameters(one.endpoint.path).length - pathParameters(other.endpoint.path).length);
      session.need(doors.length > 0, `no operation that changes nothing is allowed to a ${user}`);
      const tried: Done<TrialExchange>[] = [];
      const asked: Door[] = doors.slice(0, triesMost);
      for (const { endpoint } of asked) {
        const done = await session.send(knocking(model, endpoint, caller));
        tried.push(done);
        if (isDone(done.value)) break;
      }
      session.claim({
        fact,
        reason: user,
        of: tried,
        judge: (...all: readonly TrialExchange[]): Judgement => {
          if (all.some(isDone)) return undefined;
          const isLeftOut = (seen: TrialExchange, at: number) => isNobody(model, asked[at] as Door, seen);
          if (!all.every(isLeftOut)) return moot('what it asked for was refused for something else');
          return {
            promised: `a ${user} can call ${asked.map(({ operation }) => operation.name).join(', ')}`,
            seen: 'it is not known at any of them',
          };
        },
      });
    },
  };
}

/** Whether an answer says that it is not known who is calling, or that whoever it is may not do this. */
function isNobody(model: Model, { operation }: Door, seen: TrialExchange): boolean {
  if (!isRefused(model, seen)) return false;
  const forbidden = refusalFor(model, 'caller.forbidden', operation);
  return isUnknownCaller(model, operation, seen) || (forbidden !== undefined && isRefusal(model, seen, forbidden));
}
