import type { Credential, TrialCaller } from '../../exchange/callers.ts';
import { isSamePerson } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { FactName } from '../../exchange/facts.ts';
import { acceptable, type Door, guardedDoors, inventedFor } from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

const fact: FactName = { kind: 'schemes', subject: 'service' };

/** The reasons of such claims. */
export const badBeside = 'a bad credential beside a good one';
const otherBeside = 'credentials of two callers';

/** Several credentials on one request are all good and name one caller, or its caller is unknown. */
export const besideOthers: Trial = {
  name: 'authentication/beside',
  part: 'authentication',
  about: 'A request with two credentials is refused where one of them is not good, or is of somebody else.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const pair of pairsOf(model)) yield caseOf(model, pair);
  },
};

/** Two callers who show who they are by different headers, and what the first may ask for. */
interface CredentialPair {
  readonly door: Door;
  readonly first: TrialCaller & { readonly credential: Credential };
  readonly second: TrialCaller & { readonly credential: Credential };
}

/** One pair for each two schemes, each way round; none where only both together will do. */
export function pairsOf(model: Model): CredentialPair[] {
  const given = model.callers.filter((one): one is CredentialPair['first'] => one.credential?.in === 'header');
  const doors = guardedDoors(model).filter(({ endpoint }) => endpoint.method === 'GET' && endpoint.accept === undefined);
  const seen = new Set<string>();
  return given.flatMap((first) =>
    given.flatMap((second): CredentialPair[] => {
      const [one, other] = [first, second].map(({ credential }) => credential);
      const isApart = one && other && one.carrier.toLowerCase() !== other.carrier.toLowerCase();
      const key = `${one?.scheme.name} ${other?.scheme.name}`;
      if (!isApart || isSamePerson(first, second) || seen.has(key)) return [];
      const door = doors.find(({ operation }) => model.access.allows(operation, first) === 'yes');
      if (!door) return [];
      seen.add(key);
      return [{ door, first, second }];
    }),
  );
}

function caseOf(model: Model, { door, first, second }: CredentialPair): Case {
  const { operation } = door;
  return {
    name: `${door.endpoint.key} by ${first.credential.scheme.name}, with ${second.credential.scheme.name} beside`,
    facts: [fact],
    async run(session: Session) {
      const plan = await acceptable(session, door, first);
      session.need(plan !== undefined, `${first.name} may not ask for it`);
      const good = await session.send(plan);
      session.need(isDone(good.value), `it was answered ${good.value.status}`);
      const { carrier, scheme, value } = second.credential;
      const invented = inventedFor(scheme);
      const shown = [...(invented ? [[badBeside, invented.value] as const] : []), [otherBeside, value] as const];
      for (const [reason, other] of shown) {
        const done = await session.send({ ...plan, headers: { ...plan.headers, [carrier]: other } });
        session.claim({
          fact,
          reason,
          of: [good, done],
          control: plan,
          judge: (one: TrialExchange, seen: TrialExchange): Judgement => {
            if (!isDone(one) || seen.status >= 500 || model.refusals.isHurried(seen)) return moot('it was refused anyhow');
            const unknown = refusalFor(model, 'caller.unknown', operation);
            const isSo = unknown ? isRefused(model, seen) && isRefusal(model, seen, unknown) : seen.status >= 400;
            return isSo ? undefined : { promised: `${reason}: the caller is unknown`, seen: `it was answered ${seen.status}` };
          },
        });
      }
    },
  };
}
