import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { freshText, type Symbolic } from '../../exchange/symbol.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import type { Observed, Observer } from '../../session/observer.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const facts = [
  { kind: 'methods', subject: 'service' },
  { kind: 'path shapes', subject: 'service' },
];

/** What is not stated is not there: other methods of a path, and other paths. */
export const routes: Trial = {
  name: 'endpoints/routes',
  part: 'endpoints',
  about: 'Methods and paths that are not stated are refused as such.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    if (model.spec.endpoints.others) return;
    const patterns = patternsOf(model);
    for (const [path, endpoints] of model.isHeld('a method that is not stated') ? byPath(model) : []) {
      for (const method of methods) {
        if (endpoints.some((one) => one.method === method) || isMatched(patterns, method, path)) continue;
        yield {
          name: `${method} ${path}, which is not stated`,
          facts: facts.slice(0, 1),
          run: (session) => sendMethod(session, method, endpoints),
        };
      }
    }
    if (!model.isHeld('a path that is not stated')) return;
    for (const endpoint of model.endpoints) {
      const isPlain =
        endpoint.method === 'GET' && pathParameters(endpoint.path).length === 0 && /^\/[\w/-]*\w$/.test(endpoint.path);
      if (!isPlain || isMatched(patterns, 'GET', `${endpoint.path}/`)) continue;
      // Where a row stands below it, what ends with a slash may as well be a row with an empty name, which there is not either.
      const isRow = isMatched(patterns, 'GET', `${endpoint.path}/{}`);
      yield { name: `${endpoint.key}/`, facts: facts.slice(1), run: (session) => sendSlash(session, endpoint, isRow) };
    }
    for (const method of ['GET', 'POST']) {
      yield {
        name: `${method} of a path that is not stated`,
        facts: facts.slice(1),
        run: (session) => sendPath(session, method),
      };
    }
  },
};

/** The endpoints of each path; parameters are one whatever their names. */
function byPath(model: Model): Map<string, Endpoint[]> {
  const paths = new Map<string, Endpoint[]>();
  for (const endpoint of model.endpoints) {
    if (/[?#]/.test(endpoint.path)) continue;
    const key = endpoint.path.replaceAll(/\{[^{}]+\}/g, '{}');
    paths.set(key, [...(paths.get(key) ?? []), endpoint]);
  }
  return paths;
}

interface Pattern {
  readonly method: string;
  readonly fits: RegExp;
}

/** What the path of each endpoint looks like. */
function patternsOf(model: Model): Pattern[] {
  return model.endpoints.map(({ method, path }) => {
    const pieces = path.split(/\{[^{}]+\}/).map((piece) => piece.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'));
    return { method, fits: new RegExp(`^${pieces.join('[^/]+')}$`) };
  });
}

/** Whether another path takes a request to this one as well, since a parameter may be any word. */
function isMatched(patterns: readonly Pattern[], method: string, path: string): boolean {
  const sample = path.replaceAll('{}', 'nf-word');
  return patterns.some((pattern) => pattern.method === method && pattern.fits.test(sample));
}

async function sendMethod(session: Session, method: string, endpoints: readonly Endpoint[]): Promise<void> {
  const { model } = session;
  const [endpoint] = endpoints;
  session.need(endpoint !== undefined, 'there is no such path');
  const begun =
    (await aboutRow(session, method, endpoints)) ?? model.request(endpoint, { path: words(endpoint), caller: model.callers[0] });
  const { endpoint: _stated, ...plan } = begun;
  const done = await session.send({ ...plan, method });
  const what = `${method} ${endpoint.path}`;
  const fact = { kind: 'methods', subject: 'service' };
  const standing = model.refusals.standingOf('method.unsupported');
  const when = standing === 'never' ? 'route.unknown' : 'method.unsupported';
  claimRefused(session, done, { by: { when }, fact, reason: `${what} refused`, what, control: begun });
  if (standing === 'never') claimUnknown(session, done, what);
  if (!model.isHeld('Allow with 405')) return;
  const allowed = endpoints.map((one) => one.method);
  const judge = ({ status, headers }: TrialExchange): Judgement => {
    if (status !== 405) return moot('it is no 405');
    const told = new Set((headers.allow ?? '').split(',').map((word) => word.trim().toUpperCase()));
    const isTrue = allowed.every((word) => told.has(word)) && !told.has(method);
    return isTrue
      ? undefined
      : { promised: `Allow: ${allowed.join(', ')} (RFC 9110 section 15.5.6)`, seen: headers.allow ?? 'none' };
  };
  // What comes with a refusal is said of the refusal as well.
  const codes = model.refusals.codesFor('method.unsupported', undefined);
  const refusing = codes.map((subject) => ({ kind: 'conditions', subject }));
  for (const one of [fact, ...refusing]) session.claim({ fact: one, reason: allowReason, of: [done] as const, judge });
}

/** The reason of a claim that a 405 tells the methods that there are. */
export const allowReason = 'Allow';

/** Where a method is never unsupported, its path is unknown to it. */
function claimUnknown(session: Session, done: Done<TrialExchange>, what: string): void {
  session.claim({
    fact: { kind: 'conditions', subject: 'method.unsupported' },
    reason: 'no 405',
    of: [done] as const,
    judge(exchange: TrialExchange) {
      const { status } = exchange;
      if (session.model.refusals.isHurried(exchange) || session.model.refusals.isOpen(exchange))
        return moot('it was not done now');
      const isUnknown = !isDone(exchange) && status < 500 && status !== 405;
      return isUnknown ? undefined : { promised: `${what} is a path that there is not`, seen: `${status}${briefly(exchange)}` };
    },
  });
}

function words(endpoint: Endpoint): Record<string, Symbolic> {
  return Object.fromEntries(pathParameters(endpoint.path).map((name) => [name, 'nf-word']));
}

/**
 * A request that a stated method of the path would take, about a row that is there: a method that is routed to where another one
 * goes would take it too. Nothing where the path names no row, or none can be made.
 */
async function aboutRow(session: Session, method: string, endpoints: readonly Endpoint[]): Promise<RequestPlan | undefined> {
  const changing = endpoints.filter((one) => rowVerbs.has(statedValue(one.does)?.verb ?? '') && !one.identity);
  const [alike] = changing.sort((one, other) => Number(other.method === kin[method]) - Number(one.method === kin[method]));
  if (!alike) return undefined;
  try {
    const { request, row } = await ready(session, alike);
    const headers = row ? await session.preconditions(alike, row, request.caller) : {};
    const { body, ...bare } = { ...request, headers: { ...request.headers, ...headers } };
    return body && method !== 'GET' && method !== 'DELETE' ? { ...bare, body } : bare;
  } catch (error) {
    if (error instanceof Untestable) return undefined;
    throw error;
  }
}

const rowVerbs: ReadonlySet<string> = new Set(['update', 'replace', 'upsert', 'delete']);

/** The method that each is most easily taken for. */
const kin: Readonly<Record<string, string>> = { PUT: 'PATCH', PATCH: 'PUT', POST: 'PUT', GET: 'DELETE', DELETE: 'PATCH' };

async function sendPath(session: Session, method: string): Promise<void> {
  const { model } = session;
  const plain = model.endpoints.find((one) => one.method === method && pathParameters(one.path).length === 0);
  const control = plain && method === 'GET' ? model.request(plain, { caller: model.callers[0] }) : undefined;
  const version = model.version();
  const done = await session.send({
    method,
    template: '/nf-not-stated/{word}',
    prefix: model.prefix,
    path: { word: freshText('nf-') },
    query: version.query,
    headers: version.headers,
    ...(model.callers[0] && { caller: model.callers[0] }),
  });
  const fact = { kind: 'path shapes', subject: 'service' };
  claimRefused(session, done, {
    by: { when: 'route.unknown' },
    fact,
    reason: `${method} elsewhere`,
    what: 'a path that is not stated',
    ...(control && { control }),
  });
}

/** A slash at the end makes another path, which is not stated. */
async function sendSlash(session: Session, endpoint: Endpoint, isRow: boolean): Promise<void> {
  const { model } = session;
  const [caller = model.callers[0]] = callersFor(session, endpoint);
  const { endpoint: _stated, ...plan } = model.request(endpoint, { caller });
  const done = await session.send({ ...plan, template: `${endpoint.path}/` });
  const fact = { kind: 'path shapes', subject: 'service' };
  const what = `${endpoint.key}/`;
  if (!isRow) {
    claimRefused(session, done, { by: { when: 'route.unknown' }, fact, reason: 'slash', what, control: plan });
    return;
  }
  session.claim({
    fact,
    reason: 'slash',
    of: [done] as const,
    control: plan,
    judge: (seen: TrialExchange) =>
      isDone(seen) ? { promised: `${what} is a path that there is not`, seen: `${seen.status}${briefly(seen)}` } : undefined,
  });
}

/** A stated method of a stated path is never answered as if it were none. */
export const statedRoutes: Observer = {
  name: 'endpoints/stated routes',
  *observe(exchange, model) {
    const { endpoint, status } = exchange;
    if (!endpoint || exchange.trouble) return;
    yield* observeRoute(exchange, endpoint, model, status);
  },
};

function* observeRoute(exchange: TrialExchange, endpoint: Endpoint, model: Model, status: number): Iterable<Observed> {
  const [method, path] = facts as [(typeof facts)[number], (typeof facts)[number]];
  const flaw = { promised: `${endpoint.key} is there`, seen: `${status}${briefly(exchange)}` };
  const reason = `${endpoint.key} stated`;
  if (isDone(exchange) || status === 405) yield { fact: method, reason, judgement: status === 405 ? flaw : undefined };
  const code = model.refusals.codeIn(exchange);
  const unknown = model.refusals.of('route.unknown', undefined)?.code.name;
  const missing = model.refusals.of('resource.missing', model.operationOf(endpoint))?.code.name;
  // Where one code says both, it says neither for certain, but of a path without parameters.
  const isUnknown =
    status === 404 && code !== undefined && code === unknown && (code !== missing || pathParameters(endpoint.path).length === 0);
  const isPlain = endpoint.identity === undefined && exchange.sent.json === undefined;
  if (isDone(exchange) || (isUnknown && isPlain)) yield { fact: path, reason, judgement: isDone(exchange) ? undefined : flaw };
}
