import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { callersFor } from '../../make/callers-for.ts';
import { requestAbout } from '../../make/request-about.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** What is answered as made is there to be read (RFC 9110 section 15.3.2). */
export const available: Trial = {
  name: 'endpoints/available',
  part: 'endpoints',
  about: 'What an operation of a document of others says that it made is there when it is read.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const resource = resourceOfEffect(statedValue(endpoint.does));
      if (isByRule(endpoint) || statedValue(endpoint.does)?.verb !== 'create' || resource === undefined) continue;
      const [read] = model.endpointsThat('read', resource).filter(({ method, identity }) => method === 'GET' && !identity);
      if (!read) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => makeAndRead(session, endpoint, read, resource) };
    }
  },
};

async function makeAndRead(session: Session, endpoint: Endpoint, read: Endpoint, resource: string): Promise<void> {
  const row = await session.make(resource);
  const { made } = row;
  session.need(made?.value.endpoint?.key === endpoint.key, `no ${resource} was made by ${endpoint.key}`);
  const [caller = row.caller] = callersFor(session, read, row);
  const seen = await session.send(await requestAbout(session, row, read, { caller }));
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'is there',
    of: [made, seen] as const,
    judge(making: TrialExchange, reading: TrialExchange) {
      // What is only accepted may take its time (RFC 9110 section 15.3.3).
      if (!isDone(making) || making.status === 202) return moot('it was not made, or is to be made later');
      if (reading.status !== 404 && reading.status !== 410) return isDone(reading) ? undefined : moot('it may not be read');
      return { promised: `${making.status} says that it was made`, seen: `${reading.status}${briefly(reading)}` };
    },
  });
}
