import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { FactName } from '../../exchange/facts.ts';
import { arrange, beginRequest } from '../../make/begin-body.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

const styles = ['plain', 'whole', 'full', 'full'] as const;

/** Every operation whose answers are stated is called with what fits its schemas, whether or not it is known what it does. */
export const called: Trial = {
  name: 'endpoints/called',
  part: 'endpoints',
  about: 'Operations of documents of others are called with what fits their schemas; what every answer is held to does the rest.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (isByRule(endpoint) || !isStated(endpoint.response)) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => call(session, endpoint) };
    }
  },
};

/** With little, with everything, and with what is drawn; one that is never done says nothing of what success looks like. */
async function call(session: Session, endpoint: Endpoint): Promise<void> {
  const isBare = endpoint.request.standing !== 'stated' && endpoint.request.standing !== 'inferred';
  const statuses: number[] = [];
  for (const style of isBare ? styles.slice(0, 1) : styles) {
    // What is deleted has to be made again, and is by each arrangement.
    const { value } = await session.send(await arrange(session, endpoint, style));
    if (isDone(value)) statuses.length = 0;
    if (isDone(value) && statedValue(endpoint.does)?.verb === 'delete') return;
    statuses.push(value.status);
  }
  session.need(
    statuses.some((status) => status < 300),
    `it was answered ${statuses.join(', ')}`,
  );
}

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
