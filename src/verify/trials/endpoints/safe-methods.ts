import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { arrange } from '../../make/begin-body.ts';
import { lookAt } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

const facts = [{ kind: 'methods', subject: 'service' }];

/** The reasons of claims about what goes with the stated methods by itself. */
export const goesWith = { head: 'HEAD goes with GET', options: 'OPTIONS tells the methods' } as const;

/** HEAD is answered as GET is, without a body, and OPTIONS tells the methods of a path. */
export const safeMethods: Trial = {
  name: 'endpoints/safe methods',
  part: 'endpoints',
  about: 'HEAD is answered as GET is, but for the body; OPTIONS is 204, with the methods in `Allow`.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    if (!hasSafeMethods(model)) return;
    for (const endpoint of endpointsWithHead(model))
      yield { name: `HEAD with ${endpoint.key}`, facts, run: (session) => askForHead(session, endpoint) };
    for (const path of new Set(model.endpoints.map((endpoint) => endpoint.path)))
      if (isPlain(path)) yield { name: `OPTIONS ${path}`, facts, run: (session) => askForOptions(session, path) };
  },
};

/** Whether a list of methods is stated that is closed but for these. */
export function hasSafeMethods(model: Model): boolean {
  return !model.spec.endpoints.others && model.isHeld('a method that is not stated');
}

/** What can be read with GET and no more than a path: what HEAD goes with. */
export function endpointsWithHead(model: Model): readonly Endpoint[] {
  return model.endpoints.filter(({ method, does, identity, path }) => {
    const verb = statedValue(does)?.verb;
    return method === 'GET' && (verb === 'read' || verb === 'list') && !identity && !/[?#]/.test(path);
  });
}

function isPlain(path: string): boolean {
  return pathParameters(path).length === 0 && /^\/[\w/-]*\w$/.test(path);
}

async function askForHead(session: Session, endpoint: Endpoint): Promise<void> {
  const plan = await arrange(session, endpoint);
  const done = await session.send(plan);
  const { endpoint: _stated, body: _none, ...bare } = plan;
  const head = await session.send({ ...bare, method: 'HEAD' });
  const { model } = session;
  session.claim({
    fact: facts[0]!,
    reason: goesWith.head,
    of: [done, head] as const,
    judge(read: TrialExchange, seen: TrialExchange) {
      if (!isDone(read) || read.sent.target !== seen.sent.target) return moot('it cannot be read');
      if (model.refusals.isHurried(seen) || seen.status === 501) return moot('it could not be done now');
      return seen.status === read.status && seen.text === ''
        ? undefined
        : { promised: `HEAD ${endpoint.path} is ${read.status}, without a body`, seen: `${seen.status}${briefly(seen)}` };
    },
  });
}

async function askForOptions(session: Session, path: string): Promise<void> {
  const { model } = session;
  const stated = model.endpoints.filter((one) => one.path === path);
  const [first] = stated;
  session.need(first !== undefined, 'there is no such path');
  const { endpoint: _stated, ...bare } = model.request(first, { caller: model.callers[0] });
  const done = await session.send({ ...bare, method: 'OPTIONS' });
  session.claim({
    fact: facts[0]!,
    reason: goesWith.options,
    of: [done] as const,
    judge(seen: TrialExchange) {
      if (model.refusals.isHurried(seen) || seen.status === 501) return moot('it could not be done now');
      const told = new Set((seen.headers.allow ?? '').split(',').map((word) => word.trim().toUpperCase()));
      const methods = stated.map(({ method }) => method);
      return seen.status === 204 && methods.every((method) => told.has(method))
        ? undefined
        : { promised: `204, with Allow: ${methods.join(', ')}`, seen: `${seen.status} ${seen.headers.allow ?? 'without Allow'}` };
    },
  });
}

/** A deletion that says that it is done has been done: the row is not shown any more. */
export const deleting: Trial = {
  name: 'endpoints/deleting',
  part: 'endpoints',
  about: 'What is answered as deleted is not there afterwards.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (statedValue(endpoint.does)?.verb !== 'delete' || endpoint.identity) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => removeAndLook(session, endpoint) };
    }
  },
};

async function removeAndLook(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const { request, row } = await ready(session, endpoint);
  session.need(row !== undefined, `${endpoint.key} is about no row`);
  const headers = await session.preconditions(endpoint, row, request.caller);
  const { done: before } = await lookAt(session, row);
  const done = await session.send({ ...request, headers: { ...request.headers, ...headers } });
  session.need(isDone(done.value), `it was answered ${done.value.status}${briefly(done.value)}`);
  const { done: after } = await lookAt(session, row);
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'deleted',
    of: [before, done, after] as const,
    judge(was: TrialExchange, deletion: TrialExchange, is: TrialExchange): Judgement {
      // What is only accepted may take its time (RFC 9110 section 15.3.3).
      if (deletion.status === 202) return moot('it is to be deleted later');
      const id = idIn(model, deletion);
      if (!isDone(deletion) || rowWith(model, was, id) === undefined) return moot('it was not there, or not deleted');
      return rowWith(model, is, id) === undefined
        ? undefined
        : { promised: `${deletion.status} says that the ${resource} is deleted`, seen: `it is there: ${is.text.slice(0, 160)}` };
    },
  });
}
