import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { identifierParameter, pathParameters } from '../../../parts/payload.ts';
import { asText } from '../../exchange/as-text.ts';
import { moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { arrange, beginRequest } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { oneLine } from '../../values/difference.ts';
import { edgesOf, type Variant } from '../../values/variants.ts';
import { type Ask, beginAsking, isBrokenWritten, isWritten, queryOf, takenAsValid } from './asking.ts';
import { breaksHeld } from './members-begun.ts';

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
      const isRead = isByRule(endpoint);
      if ((isRead && (verb === undefined || verb === 'reply')) || endpoint.parameters.standing === 'any' || isOpen(endpoint))
        continue;
      const facts = [{ kind: 'parameters', subject: endpoint.key }];
      const isAsking =
        (!isRead && hasQuery(endpoint)) ||
        verb === 'list' ||
        (verb === 'read' && !endpoint.identity) ||
        (verb === 'handler' && endpoint.method === 'GET');
      if (pathOfParameters(model, endpoint).length > 0)
        yield { name: `${endpoint.key} in the path`, facts, run: (session) => sendPaths(session, endpoint) };
      if (isAsking) yield { name: endpoint.key, facts, run: (session) => sendParameters(session, endpoint) };
      else if (verb !== 'handler' && verb !== 'read' && model.isHeld('a query parameter that is not stated', endpoint)) {
        yield { name: `${endpoint.key} with more`, facts, run: (session) => sendMore(session, endpoint) };
      }
    }
  },
};

function hasQuery({ parameters: stated }: Endpoint): boolean {
  return entriesOf(stated).some(([, parameter]) => parameter.in === 'query');
}

function isOpen({ parameters: { standing }, parameters: stated }: Endpoint): boolean {
  return standing === 'open' && 'question' in stated && stated.question !== undefined;
}

/** A change with a query parameter that is not stated. */
async function sendMore(session: Session, endpoint: Endpoint): Promise<void> {
  const plan = await beginRequest(session, endpoint);
  const done = await session.send({ ...plan, query: { ...plan.query, nf_not_stated: 'x' } });
  claimRefused(session, done, {
    by: { when: 'request.parameter' },
    fact: { kind: 'parameters', subject: endpoint.key },
    reason: 'unstated refused',
    what: 'a query parameter nf_not_stated',
    isSo: ({ sent }) => 'nf_not_stated' in sent.query,
    control: plan,
  });
}

async function sendParameters(session: Session, endpoint: Endpoint): Promise<void> {
  const { ask, valid, without } = await beginAsking(session, endpoint);
  const fact = { kind: 'parameters', subject: endpoint.key };
  const plain = await ask(valid);
  session.claim({
    fact,
    reason: 'taken',
    of: [plain] as const,
    judge: (exchange: TrialExchange) => takenAsValid(session, exchange),
  });
  if (session.model.isHeld('a query parameter that is not stated', endpoint)) {
    const unknown = await ask({ ...valid, nf_not_stated: 'x' });
    claimRefused(session, unknown, {
      by: { when: 'request.parameter' },
      fact,
      reason: 'unstated refused',
      what: 'a query parameter nf_not_stated',
      isSo: ({ sent }) => 'nf_not_stated' in sent.query,
    });
  }
  // What is refused as it is says nothing of the values of its parameters.
  if (!isByRule(endpoint) && !isDone(plain.value)) return;
  await compareDefaults(session, endpoint, ask, valid);
  for (const { name, shape, isNeeded } of queryOf(session, endpoint)) {
    if (isNeeded) {
      const done = await without(name);
      claimRefused(session, done, {
        by: { when: 'request.parameter' },
        fact,
        reason: `${name} missed`,
        what: `no ${name}`,
        isSo: ({ sent }) => !Object.hasOwn(sent.query, name),
      });
    }
    for (const edge of edgesOf(shape)) if (isWritten(edge)) await sendEdge(session, endpoint, ask, valid, name, edge);
    for (const broken of breaksHeld(session.model, endpoint, shape)) {
      if (!isWritten(broken) || !isBrokenWritten(shape, broken) || isOfField(endpoint, name, broken)) continue;
      await sendBreak(session, endpoint, ask, valid, name, broken);
    }
  }
}

/** Whether a bound is that of the field that a parameter filters by, which the parameter does not state: what lies beyond it may be asked for. */
function isOfField(endpoint: Endpoint, name: string, { kind }: Variant): boolean {
  const stated = entryOf(endpoint.parameters, name);
  return stated?.filters !== undefined && stated.shape.standing === 'open' && kind !== 'types';
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
    judge: (exchange: TrialExchange) => takenAsValid(session, exchange, `${name} ${edge.label}`),
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
  const isSo = ({ sent }: TrialExchange) => asText(sent.query[name]) === asText(broken.value);
  claimRefused(session, done, {
    by: { when: 'request.parameter' },
    fact,
    reason: `${name} refused`,
    what: `${name} ${broken.label}`,
    isSo,
  });
}

/** Leaving a parameter out is the same as sending its default, as far as the answers stand still by themselves. */
async function compareDefaults(
  session: Session,
  endpoint: Endpoint,
  ask: Ask,
  valid: Readonly<Record<string, Symbolic>>,
): Promise<void> {
  // A list may have grown in between.
  if (statedValue(endpoint.does)?.verb === 'list') return;
  for (const [name, parameter] of entriesOf(endpoint.parameters)) {
    if (!parameter.default || parameter.in !== 'query' || Object.hasOwn(valid, name)) continue;
    const told = { ...valid, [name]: parameter.default.value };
    // By turns, so that what others change in the meantime is not taken for a difference.
    const of = [await ask(valid), await ask(told), await ask(valid), await ask(told)] as const;
    session.claim({
      fact: { kind: 'parameters', subject: endpoint.key },
      reason: `${name} by default`,
      at: parameter.at,
      of,
      judge(...seen: readonly [TrialExchange, TrialExchange, TrialExchange, TrialExchange]) {
        const isMeant = seen.every((one, at) => isDone(one) && Object.hasOwn(one.sent.query, name) === (at % 2 === 1));
        if (!isMeant) return moot('it cannot be compared');
        const [without, withIt, again, onceMore] = seen.map(({ body }) => partsOf(body)) as [Parts, Parts, Parts, Parts];
        const still = [...without].filter(
          ([key, one]) => isSame(one, again.get(key)) && isSame(withIt.get(key), onceMore.get(key)),
        );
        const other = still.find(([key, one]) => !isSame(one, withIt.get(key)));
        const sent = JSON.stringify(seen[1].sent.query[name]);
        return other
          ? { promised: `the same as with ${name} of ${sent}: ${oneLine(withIt.get(other[0]))}`, seen: oneLine(other[1]) }
          : still.length > 0
            ? undefined
            : moot('it never stands still');
      },
    });
  }
}

type Parts = ReadonlyMap<string, Json>;

/** The members of an answer, which may stand still one by one. */
function partsOf(body: Json | undefined): Parts {
  if (body === undefined) return new Map();
  return new Map(isMap(body) ? Object.entries(body) : [['', body]]);
}

/** The parameters of a path that are values with a shape of their own, and name no row. */
function pathOfParameters(model: Model, endpoint: Endpoint) {
  const { properties } = paramsShape(model.spec, endpoint);
  return pathParameters(endpoint.path).flatMap((name) => {
    const stated = entryOf(endpoint.parameters, name);
    const shape = isMap(properties) ? properties[name] : undefined;
    const isRow = name === identifierParameter(endpoint) || model.parentOf(endpoint, name) !== undefined;
    return stated && isStated(stated.shape) && isMap(shape) && !isRow ? [{ name, shape, at: stated.at }] : [];
  });
}

/** Values of a path at the edges of their shapes, which are taken, and beyond them, which are not. @throws {Untestable} */
async function sendPaths(session: Session, endpoint: Endpoint): Promise<void> {
  const request = isByRule(endpoint) ? (await ready(session, endpoint)).request : await arrange(session, endpoint);
  const fact = { kind: 'parameters', subject: endpoint.key };
  for (const { name, shape, at } of pathOfParameters(session.model, endpoint)) {
    const send = (value: Symbolic) => session.send({ ...request, path: { ...request.path, [name]: value } });
    for (const edge of edgesOf(shape)) {
      if (!isWritten(edge)) continue;
      session.claim({
        fact,
        at,
        reason: `${name} taken`,
        of: [await send(edge.value)] as const,
        judge: (exchange: TrialExchange) => takenAsValid(session, exchange, `${name} ${edge.label}`),
      });
    }
    for (const broken of breaksHeld(session.model, endpoint, shape)) {
      if (!isWritten(broken) || !isBrokenWritten(shape, broken)) continue;
      session.claim({
        fact,
        at,
        reason: `${name} refused`,
        control: request,
        of: [await send(broken.value)] as const,
        judge(exchange: TrialExchange) {
          if (asText(exchange.sent.path[name]) !== asText(broken.value)) return moot('it is not what has to be refused');
          if (exchange.status >= 500 || exchange.status === 429) return moot('the service failed, or had too much to do');
          // Whether such an address is wrong, or is none, is a matter of taste.
          return exchange.status < 400
            ? { promised: `${name} ${broken.label} is refused`, seen: `${exchange.status}${briefly(exchange)}` }
            : undefined;
        },
      });
    }
  }
}
