import { knocking } from '../authentication/knocking.ts';
import { callersFor } from '../make/callers-for.ts';
import type { Model } from '../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../model/refused-as.ts';
import type { Judgement } from '../script/claim.ts';
import type { Exchange } from '../script/exchange.ts';
import type { RequestPlan } from '../script/plan.ts';
import type { Session } from '../script/session.ts';
import type { Case } from '../trial.ts';
import { inVersion, isOver, type Versions } from './versions.ts';

const fact = { kind: 'version identifiers', subject: 'service' };

/** An endpoint that a version does not have is not there in it. */
export function absentCase(model: Model, versions: Versions, version: string, key: string): Case {
  return {
    name: `${key}, which is not in ${version}`,
    facts: [fact],
    async run(session: Session) {
      needServed(session, versions, version);
      const endpoint = model.endpoints.find((one) => one.key === key);
      session.need(endpoint !== undefined, 'it is no endpoint');
      const operation = model.operationOf(endpoint);
      const [caller] = callersFor(session, endpoint);
      const done = await session.send(bare(inVersion(model, knocking(model, endpoint, caller), version)));
      session.claim({
        ...{ fact, reason: `${key} is not there`, of: [done] },
        judge: (seen: Exchange): Judgement => {
          const refusals = (['route.unknown', 'method.unsupported'] as const).flatMap(
            (when) => refusalFor(model, when, operation) ?? [],
          );
          const isGone =
            isRefused(model, seen) && (refusals.length === 0 || refusals.some((refusal) => isRefusal(model, seen, refusal)));
          return isGone ? undefined : { promised: `there is no ${key} in ${version}`, seen: `it was answered ${seen.status}` };
        },
      });
    },
  };
}

/** Without its endpoint, whose shapes are those of the newest version. */
export function bare(plan: RequestPlan): RequestPlan {
  const { endpoint: _endpoint, ...rest } = plan;
  return rest;
}

export function needServed(session: Session, { all }: Versions, version: string): void {
  const stated = all.find(({ name }) => name === version);
  if (stated && isOver(stated, session.run.clock.toService(Date.now())) !== false) session.need(false, `${version} is over`);
}
