import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { claimRefused } from '../errors/claim-refused.ts';
import type { Exchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Trial } from '../trial.ts';
import { breaksOf, edgesOf, type Variant } from '../values/variants.ts';
import { isBrokenWritten, isWritten } from './as-written.ts';
import { type Ask, beginAsking, queryOf } from './asking.ts';
import { beginRequest } from './begin-body.ts';
import { compareDefaults } from './parameter-defaults.ts';
import { pathOfParameters, sendPaths } from './path-parameters.ts';
import { taken } from './taken.ts';

/** Parameters take what their shape admits and refuse the rest; one that is not stated is refused, one that is required is missed. */
export const parameters: Trial = {
  name: 'endpoints/parameters',
  part: 'endpoints',
  about: 'Query parameters take what their shape admits, and nothing else.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const verb = statedValue(endpoint.does)?.verb;
      if (verb === undefined || verb === 'reply' || endpoint.parameters.standing === 'any' || isOpen(endpoint)) continue;
      const facts = [{ kind: 'parameters', subject: endpoint.key }];
      const isAsking =
        verb === 'list' || (verb === 'read' && !endpoint.identity) || (verb === 'handler' && endpoint.method === 'GET');
      if (pathOfParameters(model, endpoint).length > 0)
        yield { name: `${endpoint.key} in the path`, facts, run: (session) => sendPaths(session, endpoint) };
      if (isAsking) yield { name: endpoint.key, facts, run: (session) => sendParameters(session, endpoint) };
      else if (verb !== 'handler' && verb !== 'read') {
        yield { name: `${endpoint.key} with more`, facts, run: (session) => sendMore(session, endpoint) };
      }
    }
  },
};

function isOpen({ parameters: { standing }, parameters: stated }: Endpoint): boolean {
  return standing === 'open' && 'question' in stated && stated.question !== undefined;
}

/** A change with a query parameter that is not stated. */
async function sendMore(session: Session, endpoint: Endpoint): Promise<void> {
  const plan = await beginRequest(session, endpoint);
  const done = await session.send({ ...plan, query: { ...plan.query, nf_not_stated: 'x' } });
  claimRefused(session, done, {
    ...{ by: { when: 'request.parameter' }, fact: { kind: 'parameters', subject: endpoint.key }, reason: 'unstated refused' },
    ...{ what: 'a query parameter nf_not_stated', isSo: ({ sent }) => 'nf_not_stated' in sent.query },
  });
}

async function sendParameters(session: Session, endpoint: Endpoint): Promise<void> {
  const { ask, valid } = await beginAsking(session, endpoint);
  const fact = { kind: 'parameters', subject: endpoint.key };
  const plain = await ask(valid);
  session.claim({ fact, reason: 'taken', of: [plain] as const, judge: (exchange: Exchange) => taken(session, exchange) });
  const unknown = await ask({ ...valid, nf_not_stated: 'x' });
  claimRefused(session, unknown, {
    ...{ by: { when: 'request.parameter' }, fact, reason: 'unstated refused', what: 'a query parameter nf_not_stated' },
    isSo: ({ sent }) => 'nf_not_stated' in sent.query,
  });
  await compareDefaults(session, endpoint, ask, valid);
  for (const { name, shape, isNeeded } of queryOf(session, endpoint)) {
    if (isNeeded) {
      const { [name]: _left, ...rest } = valid;
      const done = await ask(rest);
      claimRefused(session, done, {
        by: { when: 'request.parameter' },
        fact,
        reason: `${name} missed`,
        what: `no ${name}`,
        isSo: ({ sent }) => !(name in sent.query),
      });
    }
    for (const edge of edgesOf(shape)) if (isWritten(edge)) await sendEdge(session, endpoint, ask, valid, name, edge);
    for (const broken of breaksOf(shape))
      if (isWritten(broken) && isBrokenWritten(shape, broken)) await sendBreak(session, endpoint, ask, valid, name, broken);
  }
}

async function sendEdge(
  session: Session,
  endpoint: Endpoint,
  ask: Ask,
  valid: Readonly<Record<string, Symbolic>>,
  name: string,
  edge: Variant,
): Promise<void> {
  const done = await ask({ ...valid, [name]: edge.value });
  const fact = { kind: 'parameters', subject: endpoint.key };
  session.claim({
    fact,
    reason: `${name} taken`,
    of: [done] as const,
    judge: (exchange: Exchange) => taken(session, exchange, `${name} ${edge.label}`),
  });
}

async function sendBreak(
  session: Session,
  endpoint: Endpoint,
  ask: Ask,
  valid: Readonly<Record<string, Symbolic>>,
  name: string,
  broken: Variant,
): Promise<void> {
  const done = await ask({ ...valid, [name]: broken.value });
  const fact = { kind: 'parameters', subject: endpoint.key };
  const isSo = ({ sent }: Exchange) => String(sent.query[name]) === String(broken.value);
  claimRefused(session, done, {
    by: { when: 'request.parameter' },
    fact,
    reason: `${name} refused`,
    what: `${name} ${broken.label}`,
    isSo,
  });
}
