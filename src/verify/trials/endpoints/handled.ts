import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { repliedWith } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { FactName } from '../../exchange/facts.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { arrange } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { ready } from '../../make/readied.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { difference } from '../../values/difference.ts';
import { edgesOf, type Variant } from '../../values/variants.ts';
import { isBrokenWritten, isWritten, takenAsValid } from './asking.ts';
import { breaksHeld } from './members-begun.ts';

/** What handlers and replies are asked with beside a path and a query: headers, and what is not stated. */
export const handled: Trial = {
  name: 'endpoints/handled',
  part: 'endpoints',
  about: 'What handlers and replies are asked with in headers keeps its bounds, and parameters that are not stated are refused.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const { parameters } = endpoint;
      const verb = statedValue(endpoint.does)?.verb;
      const isUnsure = parameters.standing === 'any' || (parameters.standing === 'open' && parameters.question !== undefined);
      if ((isByRule(endpoint) && verb !== 'handler' && verb !== 'reply') || isUnsure) continue;
      const facts = [{ kind: 'parameters', subject: endpoint.key }];
      const isClosed = model.isHeld('a query parameter that is not stated', endpoint);
      if (isByRule(endpoint) && isClosed && (verb === 'reply' || endpoint.method !== 'GET'))
        yield { name: `${endpoint.key} with more`, facts, run: (session) => sendMore(session, endpoint) };
      for (const [name, parameter] of entriesOf(parameters)) {
        if (isStated(parameter.shape) && parameter.in === 'header')
          yield { name: `${endpoint.key}, ${name}`, facts, run: (session) => sendValues(session, endpoint, parameter) };
      }
    }
  },
};

async function requestTo(session: Session, endpoint: Endpoint): Promise<RequestPlan> {
  if (!isByRule(endpoint)) return arrange(session, endpoint);
  const { request } = await ready(session, endpoint);
  const { json } = await session.parts(endpoint);
  return json === undefined ? request : { ...request, body: { value: json, type: endpoint.consumes?.[0] ?? 'application/json' } };
}

async function sendMore(session: Session, endpoint: Endpoint): Promise<void> {
  const request = await requestTo(session, endpoint);
  const done = await session.send({ ...request, query: { ...request.query, nf_not_stated: 'x' } });
  claimRefused(session, done, {
    by: { when: 'request.parameter' },
    fact: { kind: 'parameters', subject: endpoint.key },
    reason: 'unstated refused',
    what: 'a query parameter nf_not_stated',
    control: request,
    isSo: ({ sent }) => 'nf_not_stated' in sent.query,
  });
}

/** A parameter of a header at each edge of its shape, and just beyond. */
async function sendValues(session: Session, endpoint: Endpoint, parameter: Parameter): Promise<void> {
  const { name, at } = parameter;
  const fact = { kind: 'parameters', subject: endpoint.key };
  const request = await requestTo(session, endpoint);
  const { properties } = paramsShape(session.model.spec, endpoint);
  const shape = isMap(properties) ? properties[name] : undefined;
  session.need(isMap(shape), `${name} has no shape`);
  if (parameter.required && !parameter.default) await sendWithout(session, request, parameter, fact);
  if (!isByRule(endpoint)) {
    const plain = await session.send(request);
    session.need(isDone(plain.value), `it is answered ${plain.value.status} as it is`);
  }
  const fits = (variant: Variant) => isWritten(variant) && isCarried(String(variant.value));
  for (const edge of edgesOf(shape)) {
    if (!fits(edge)) continue;
    const done = await session.send(withValue(request, name, edge));
    const judge = (exchange: TrialExchange) => takenAsValid(session, exchange, `${name} ${edge.label}`);
    session.claim({ fact, reason: `${name} taken`, at, of: [done] as const, judge });
  }
  for (const broken of breaksHeld(session.model, endpoint, shape)) {
    if (!fits(broken) || !isBrokenWritten(shape, broken)) continue;
    const done = await session.send(withValue(request, name, broken));
    claimRefused(session, done, {
      by: { when: 'request.parameter' },
      fact,
      reason: `${name} refused`,
      what: `${name} ${broken.label}`,
      at,
      isSo: ({ sent }) => String(sent.headers[name.toLowerCase()]) === String(broken.value),
    });
  }
}

/** A header that has to be sent is missed. */
async function sendWithout(session: Session, request: RequestPlan, { name, at }: Parameter, fact: FactName): Promise<void> {
  const { [name]: _left, ...headers } = request.headers;
  const done = await session.send({ ...request, headers });
  claimRefused(session, done, {
    by: { when: 'request.parameter' },
    fact,
    reason: `${name} missed`,
    what: `no ${name}`,
    at,
    isSo: ({ sent }) => !(name.toLowerCase() in sent.headers),
  });
}

function withValue(request: RequestPlan, name: string, { value }: Variant): RequestPlan {
  return { ...request, headers: { ...request.headers, [name]: value } };
}

/** Whether a value arrives as it was sent: headers take no blanks at their ends, and not every letter. */
function isCarried(text: string): boolean {
  return text !== '' && text.length <= 200 && text.trim() === text && /^[\x20-\x7e]*$/.test(text);
}

/** What `reply` answers is the example that is stated for its answer, or one of them, to the letter. */
export const replies: Trial = {
  name: 'endpoints/replies',
  part: 'endpoints',
  about: 'An operation that replies answers with the example that is stated for it.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const example = exampleOf(endpoint);
      if (example === undefined) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => ask(session, endpoint, example) };
    }
  },
};

/**
 * The examples that an operation can answer with. Nothing where its answer depends on something, is no JSON, or has a resource in it
 * of which its reader may not see all; and nothing where a tool has read off that the operation replies with it.
 */
function exampleOf({
  does,
  response,
  produces,
}: Endpoint): { readonly status: string; readonly values: readonly Json[] } | undefined {
  if (does.standing !== 'stated' || does.value.verb !== 'reply' || response.standing !== 'stated' || produces !== undefined)
    return undefined;
  const [answer, ...more] = response.value.filter(({ status }) => status !== '204' && /^2\d\d$/.test(status));
  const values = answer ? repliedWith(answer) : [];
  if (!answer || values.length === 0 || more.length > 0 || answer.data !== undefined || answer.if !== undefined) return undefined;
  if (/"(?:resource|ref)":/.test(JSON.stringify(statedValue(answer.shape) ?? {}))) return undefined;
  return { status: answer.status, values };
}

async function ask(
  session: Session,
  endpoint: Endpoint,
  { status, values }: { readonly status: string; readonly values: readonly Json[] },
): Promise<void> {
  const { request } = await ready(session, endpoint);
  const done = await session.send(request);
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'example',
    of: [done] as const,
    judge(exchange: TrialExchange) {
      if (!isDone(exchange) || String(exchange.status) !== status) return moot('it is not the answer of the example');
      const flaws = values.map((value) => difference(value, exchange.body ?? null, 'an example that is stated'));
      return flaws.includes(undefined) ? undefined : flaws[0];
    },
  });
}
