import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { lookAt } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** A deletion that says that it is done has been done: the row is not shown any more. */
export const deleting: Trial = {
  name: 'endpoints/deleting',
  part: 'endpoints',
  about: 'What is answered as deleted is not there afterwards.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (statedValue(endpoint.does)?.verb !== 'delete' || endpoint.identity) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => removeAndLook(session, endpoint) };
    }
  },
};

async function removeAndLook(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const { request, row } = await ready(session, endpoint);
  session.need(row !== undefined, `${endpoint.key} is about no row`);
  const headers = await session.preconditions(endpoint, row, request.caller);
  const { done: before } = await lookAt(session, row);
  const done = await session.send({ ...request, headers: { ...request.headers, ...headers } });
  session.need(isDone(done.value), `it was answered ${done.value.status}${briefly(done.value)}`);
  const { done: after } = await lookAt(session, row);
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'deleted',
    of: [before, done, after] as const,
    judge(was: TrialExchange, deletion: TrialExchange, is: TrialExchange): Judgement {
      // What is only accepted may take its time (RFC 9110 section 15.3.3).
      if (deletion.status === 202) return moot('it is to be deleted later');
      const id = idIn(model, deletion);
      if (!isDone(deletion) || rowWith(model, was, id) === undefined) return moot('it was not there, or not deleted');
      return rowWith(model, is, id) === undefined
        ? undefined
        : { promised: `${deletion.status} says that the ${resource} is deleted`, seen: `it is there: ${is.text.slice(0, 160)}` };
    },
  });
}
