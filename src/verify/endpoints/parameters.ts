import type { JsonMap } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { claimRefused } from '../errors/claim-refused.ts';
import { pathFits } from '../model/path-fits.ts';
import { moot } from '../script/claim.ts';
import type { Exchange } from '../script/exchange.ts';
import { isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Trial } from '../trial.ts';
import { isSame } from '../values/difference.ts';
import { breaksOf, edgesOf, type Variant } from '../values/variants.ts';
import { type Ask, beginAsking, queryOf } from './asking.ts';
import { beginRequest } from './begin-body.ts';

/** Parameters take what their shape admits and refuse the rest; one that is not stated is refused, one that is required is missed. */
export const parameters: Trial = {
  name: 'endpoints/parameters',
  part: 'endpoints',
  about: 'Query parameters take what their shape admits, and nothing else.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const verb = statedValue(endpoint.does)?.verb;
      if (verb === undefined || verb === 'reply' || endpoint.parameters.standing === 'any' || isOpen(endpoint)) continue;
      const facts = [{ kind: 'parameters', subject: endpoint.key }];
      const isAsking =
        verb === 'list' || (verb === 'read' && !endpoint.identity) || (verb === 'handler' && endpoint.method === 'GET');
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

/** Leaving a parameter out is the same as sending its default. */
async function compareDefaults(
  session: Session,
  endpoint: Endpoint,
  ask: Ask,
  valid: Readonly<Record<string, Symbolic>>,
): Promise<void> {
  // A list may have grown in between.
  if (statedValue(endpoint.does)?.verb === 'list') return;
  for (const [name, parameter] of entriesOf(endpoint.parameters)) {
    if (!parameter.default || parameter.in !== 'query' || name in valid) continue;
    const [one, again, told] = [await ask(valid), await ask(valid), await ask({ ...valid, [name]: parameter.default.value })];
    session.claim({
      ...{
        fact: { kind: 'parameters', subject: endpoint.key },
        reason: `${name} by default`,
        at: parameter.at,
        of: [one, again, told] as const,
      },
      judge(first: Exchange, second: Exchange, third: Exchange) {
        const isSent = name in third.sent.query && !(name in first.sent.query) && !(name in second.sent.query);
        if (!isSent || ![first, second, third].every(isDone) || !isSame(first.body, second.body))
          return moot('it cannot be compared');
        return isSame(first.body, third.body)
          ? undefined
          : {
              promised: `the same as with ${name} of ${JSON.stringify(third.sent.query[name])}: ${third.text}`,
              seen: first.text,
            };
      },
    });
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

/** What a query can carry: no null, nothing empty, nothing that is written like something else. */
function isWritten({ value }: Variant): boolean {
  return value !== null && value !== '' && typeof value !== 'object';
}

/** A word is a word in a query, whatever it was meant to be: only what no reading of the text admits is broken. */
function isBrokenWritten(shape: JsonMap, { value }: Variant): boolean {
  const types = typeof shape.type === 'string' ? [shape.type] : Array.isArray(shape.type) ? shape.type.map(String) : [];
  if (types.includes('string')) return typeof value === 'string';
  // In a query 7 and "7" are one.
  return !(
    typeof value === 'string' &&
    /^-?\d+(?:\.\d+)?$/.test(value) &&
    types.some((type) => type === 'integer' || type === 'number')
  );
}

function taken(session: Session, exchange: Exchange, what = 'what is valid') {
  const { model } = session;
  if (isDone(exchange)) return undefined;
  if (!pathFits(model, exchange)) return moot('the row is called what no row may be called');
  const operation = exchange.endpoint && model.operationOf(exchange.endpoint);
  const code = model.refusals.codeIn(exchange);
  const parameter = model.refusals.of('request.parameter', operation)?.code.name;
  const isRefused = code === undefined ? exchange.status === 400 : code === parameter;
  if (!isRefused && exchange.status !== 500) return moot('something else stood in its way');
  return { promised: `${what} is taken`, seen: `${exchange.status} ${exchange.text}` };
}
