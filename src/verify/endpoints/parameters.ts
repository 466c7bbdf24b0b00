import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { claimRefused } from '../errors/claim-refused.ts';
import { callersFor } from '../make/callers-for.ts';
import { pathOf } from '../make/request-about.ts';
import type { Caller } from '../model/callers.ts';
import { moot } from '../script/claim.ts';
import type { Exchange } from '../script/exchange.ts';
import { isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Trial } from '../trial.ts';
import { NoValue } from '../values/no-value.ts';
import { Reference, valuesOf } from '../values/values.ts';
import { breaksOf, edgesOf, type Variant } from '../values/variants.ts';
import { beginRequest } from './begin-body.ts';
import { beginList } from './lists.ts';

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

type Ask = (query: Readonly<Record<string, Symbolic>>) => ReturnType<Session['send']>;

async function sendParameters(session: Session, endpoint: Endpoint): Promise<void> {
  const { ask, valid } = await begin(session, endpoint);
  const fact = { kind: 'parameters', subject: endpoint.key };
  const plain = await ask(valid);
  session.claim({ fact, reason: 'taken', of: [plain] as const, judge: (exchange: Exchange) => taken(session, exchange) });
  const unknown = await ask({ ...valid, nf_not_stated: 'x' });
  claimRefused(session, unknown, {
    ...{ by: { when: 'request.parameter' }, fact, reason: 'unstated refused', what: 'a query parameter nf_not_stated' },
    isSo: ({ sent }) => 'nf_not_stated' in sent.query,
  });
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
  const operation = exchange.endpoint && model.operationOf(exchange.endpoint);
  const code = model.refusals.codeIn(exchange);
  const parameter = model.refusals.of('request.parameter', operation)?.code.name;
  const isRefused = code === undefined ? exchange.status === 400 : code === parameter;
  if (!isRefused && exchange.status !== 500) return moot('something else stood in its way');
  return { promised: `${what} is taken`, seen: `${exchange.status} ${exchange.text}` };
}

/** The query parameters of an endpoint that have a shape of one word, and whether each is needed. */
function queryOf(session: Session, endpoint: Endpoint) {
  const { properties } = paramsShape(session.model.spec, endpoint);
  return entriesOf(endpoint.parameters).flatMap(([name, parameter]) => {
    const shape = isMap(properties) ? properties[name] : undefined;
    if (parameter.in !== 'query' || !isMap(shape) || parameter.op === 'contains' || parameter.op === 'prefix') return [];
    return [{ name, shape, isNeeded: parameter.required }];
  });
}

async function begin(
  session: Session,
  endpoint: Endpoint,
): Promise<{ readonly ask: Ask; readonly valid: Record<string, Symbolic> }> {
  const { model } = session;
  const verb = statedValue(endpoint.does)?.verb;
  const valid = await neededQuery(session, endpoint);
  if (verb === 'list') return { ask: (await beginList(session, endpoint, 1)).ask, valid };
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const row = resource === undefined ? undefined : await session.make(resource);
  const isPublic = model.access.isPublic(model.operationOf(endpoint)) && model.callers[0]?.credential !== undefined;
  const caller: Caller | undefined = isPublic ? undefined : callersFor(session, endpoint, row)[0];
  session.need(
    caller !== undefined || isPublic || model.callers.every(({ credential }) => !credential),
    `nobody may call ${endpoint.key}`,
  );
  const path = row ? pathOf(endpoint, row) : (await session.parts(endpoint)).path;
  return { ask: (query) => session.send(model.request(endpoint, { path, caller, query })), valid };
}

async function neededQuery(session: Session, endpoint: Endpoint): Promise<Record<string, Symbolic>> {
  const { model } = session;
  const { properties } = paramsShape(model.spec, endpoint);
  const query: Record<string, Symbolic> = {};
  for (const [name, parameter] of entriesOf(endpoint.parameters)) {
    const shape = isMap(properties) ? properties[name] : undefined;
    if (parameter.in !== 'query' || !parameter.required || !isMap(shape)) continue;
    try {
      const draft = session.chance.value(valuesOf(model.spec, shape, 'plain'));
      query[name] = draft instanceof Reference ? (await session.make(draft.resource)).id : (draft as Symbolic);
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
      session.need(false, `no ${name} could be made`);
    }
  }
  return query;
}
