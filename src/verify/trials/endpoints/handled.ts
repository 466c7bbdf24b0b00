import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { repliedWith } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import { asText } from '../../exchange/as-text.ts';
import { type FactName, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { arrange, beginRequest } from '../../make/begin-body.ts';
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
  const fits = (variant: Variant) => isWritten(variant) && isCarried(asText(variant.value));
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
      isSo: ({ sent }) => asText(sent.headers[name.toLowerCase()]) === asText(broken.value),
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
      if (!isDone(exchange) || asText(exchange.status) !== status) return moot('it is not the answer of the example');
      const flaws = values.map((value) => difference(value, exchange.body ?? null, 'an example that is stated'));
      return flaws.includes(undefined) ? undefined : flaws[0];
    },
  });
}

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
