import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Parameter } from '../../parts/parameters.ts';
import { claimRefused } from '../errors/claim-refused.ts';
import { ready } from '../make/readied.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { type Exchange, fieldsOf, isDone } from '../script/exchange.ts';
import type { RequestPlan } from '../script/plan.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';
import { isSame, shown } from '../values/difference.ts';
import { breaksOf, edgesOf, type Variant } from '../values/variants.ts';
import { isBrokenWritten, isWritten, taken } from './parameters.ts';

/** The parameters of handlers and replies wherever they stand: in the path and in headers as in the query. */
export const handled: Trial = {
  name: 'endpoints/handled',
  part: 'endpoints',
  about: 'What handlers and replies are asked with, in the path and in headers, keeps its bounds; defaults are what is not said.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const { parameters } = endpoint;
      const verb = statedValue(endpoint.does)?.verb;
      const isUnsure = parameters.standing === 'any' || (parameters.standing === 'open' && parameters.question !== undefined);
      if ((verb !== 'handler' && verb !== 'reply') || isUnsure) continue;
      const facts = [{ kind: 'parameters', subject: endpoint.key }];
      if (verb === 'reply' || endpoint.method !== 'GET')
        yield { name: `${endpoint.key} with more`, facts, run: (session) => sendMore(session, endpoint) };
      for (const [name, parameter] of entriesOf(parameters)) {
        const isThere = isStated(parameter.shape) && (parameter.in === 'path' || parameter.in === 'header');
        if (isThere)
          yield { name: `${endpoint.key}, ${name}`, facts, run: (session) => sendValues(session, endpoint, parameter) };
        const isToldBack = parameter.in === 'query' && parameter.default && endpoint.method === 'GET' && tells(endpoint, name);
        if (isToldBack)
          yield { name: `${endpoint.key} without ${name}`, facts, run: (session) => sendWithout(session, endpoint, parameter) };
      }
    }
  },
};

/** Whether every answer of success has a member that is named as a parameter is. */
function tells({ response }: Endpoint, name: string): boolean {
  const answers = (statedValue(response) ?? []).filter(({ status }) => /^2/.test(status));
  return answers.length > 0 && answers.every(({ shape }) => Object.hasOwn(membersOf(statedValue(shape)), name));
}

function membersOf(shape: JsonMap | undefined): JsonMap {
  return isMap(shape?.properties) ? shape.properties : {};
}

async function requestTo(session: Session, endpoint: Endpoint): Promise<RequestPlan> {
  const { request } = await ready(session, endpoint);
  const { json } = await session.parts(endpoint);
  return json === undefined ? request : { ...request, body: { value: json, type: endpoint.consumes?.[0] ?? 'application/json' } };
}

async function sendMore(session: Session, endpoint: Endpoint): Promise<void> {
  const request = await requestTo(session, endpoint);
  const done = await session.send({ ...request, query: { ...request.query, nf_not_stated: 'x' } });
  claimRefused(session, done, {
    ...{ by: { when: 'request.parameter' }, fact: { kind: 'parameters', subject: endpoint.key }, reason: 'unstated refused' },
    ...{ what: 'a query parameter nf_not_stated', isSo: ({ sent }) => 'nf_not_stated' in sent.query },
  });
}

/** A parameter of the path or of a header at each edge of its shape, and just beyond. */
async function sendValues(session: Session, endpoint: Endpoint, { name, in: place, at }: Parameter): Promise<void> {
  const fact = { kind: 'parameters', subject: endpoint.key };
  const request = await requestTo(session, endpoint);
  const { properties } = paramsShape(session.model.spec, endpoint);
  const shape = isMap(properties) ? properties[name] : undefined;
  session.need(isMap(shape), `${name} has no shape`);
  const fits = (variant: Variant) => isWritten(variant) && isCarried(place, String(variant.value));
  for (const edge of edgesOf(shape)) {
    if (!fits(edge)) continue;
    const done = await session.send(withValue(request, name, place, edge));
    const judge = (exchange: Exchange) => taken(session, exchange, `${name} ${edge.label}`);
    session.claim({ ...{ fact, reason: `${name} taken`, at }, of: [done] as const, judge });
  }
  for (const broken of breaksOf(shape)) {
    if (!fits(broken) || !isBrokenWritten(shape, broken)) continue;
    const done = await session.send(withValue(request, name, place, broken));
    claimRefused(session, done, {
      ...{ by: { when: 'request.parameter' }, fact, reason: `${name} refused`, what: `${name} ${broken.label}`, at },
      isSo: ({ sent }) => String(place === 'path' ? sent.path[name] : sent.headers[name.toLowerCase()]) === String(broken.value),
    });
  }
}

function withValue(request: RequestPlan, name: string, place: Parameter['in'], { value }: Variant): RequestPlan {
  return place === 'path'
    ? { ...request, path: { ...request.path, [name]: value } }
    : { ...request, headers: { ...request.headers, [name]: value } };
}

/** Whether a value arrives as it was sent: steps of a path and headers take no blanks at their ends, and no address is endless. */
function isCarried(place: Parameter['in'], text: string): boolean {
  const isSound = text !== '' && text.length <= 200 && text.trim() === text;
  return isSound && (place === 'path' ? !/[/\\]|^\.+$/.test(text) : /^[\x20-\x7e]*$/.test(text));
}

/** Where an answer tells a parameter by its name, it tells the default of one that was not sent. */
async function sendWithout(session: Session, endpoint: Endpoint, parameter: Parameter): Promise<void> {
  const { name, at } = parameter;
  const value = parameter.default?.value ?? null;
  const request = await requestTo(session, endpoint);
  const without = await session.send(request);
  const told = await session.send({ ...request, query: { ...request.query, [name]: value } });
  session.claim({
    ...{ fact: { kind: 'parameters', subject: endpoint.key }, reason: `${name} told by default`, at },
    of: [without, told] as const,
    judge(one: Exchange, other: Exchange): Judgement {
      if (!isDone(one) || !isDone(other) || name in one.sent.query || !isSame(other.sent.query[name], value))
        return moot('it was not asked with and without');
      if (!isSame(fieldsOf(other)?.[name], value)) return moot(`${name} of the answer is another`);
      const seen = fieldsOf(one)?.[name];
      return isSame(seen, value) ? undefined : { promised: `${name} is ${shown(value)} where it is not sent`, seen: shown(seen) };
    },
  });
}
