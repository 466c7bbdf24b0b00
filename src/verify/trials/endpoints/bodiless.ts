import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { FactName } from '../../exchange/facts.ts';
import { beginRequest } from '../../make/begin-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** A transition that takes no body is carried out without one, and ignores one that is sent. */
export const bodiless: Trial = {
  name: 'endpoints/bodiless',
  part: 'endpoints',
  about: 'What takes no body needs none, and ignores one that is sent.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const isTransition = statedValue(endpoint.does)?.verb === 'transition';
      if (!isTransition || endpoint.method !== 'POST' || model.requestShape(endpoint).standing !== 'none') continue;
      const fact = { kind: 'request payload shapes', subject: endpoint.key };
      yield { name: `${endpoint.key} without a body`, facts: [fact], run: (session) => send(session, endpoint, fact, false) };
      yield { name: `${endpoint.key} with a body`, facts: [fact], run: (session) => send(session, endpoint, fact, true) };
    }
  },
};

async function send(session: Session, endpoint: Endpoint, fact: FactName, hasBody: boolean): Promise<void> {
  const { model } = session;
  const plan = await beginRequest(session, endpoint);
  const done = await session.send(
    hasBody ? { ...plan, body: { value: { nf: 'x' }, type: 'application/json' }, isWhole: true } : plan,
  );
  session.claim({
    fact,
    reason: hasBody ? 'ignored' : 'not needed',
    of: [done] as const,
    judge(exchange: TrialExchange) {
      if (isDone(exchange)) return undefined;
      const operation = model.operationOf(endpoint);
      const code = model.refusals.codeIn(exchange);
      const conditions = ['request.malformed', 'request.media', 'request.invalid'] as const;
      const codes = conditions.flatMap((when) => model.refusals.codesFor(when, operation));
      const isForBody = code === undefined ? [400, 415, 422].includes(exchange.status) : codes.includes(code);
      if (!isForBody) return moot('something else stood in its way');
      return { promised: hasBody ? 'a body is ignored' : 'no body is needed', seen: `${exchange.status}${briefly(exchange)}` };
    },
  });
}
