import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { claimRefused } from '../errors/claim-refused.ts';
import { idIn } from '../model/row-shown.ts';
import { moot } from '../script/claim.ts';
import { briefly, type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import { freshText } from '../script/symbol.ts';
import type { Trial } from '../trial.ts';
import { isSame } from '../values/difference.ts';
import { type Begun, beginBody } from './begin-body.ts';

/** One key does a thing once: the second request is answered as the first was, and one with another body is refused. */
export const idempotency: Trial = {
  name: 'endpoints/idempotency',
  part: 'endpoints',
  about: 'A request that comes twice with one key is carried out once.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (!endpoint.idempotency || statedValue(endpoint.does)?.verb !== 'create') continue;
      const facts = [{ kind: 'request payload shapes', subject: endpoint.key }];
      yield { name: `${endpoint.key} twice`, facts, run: (session) => sendTwice(session, endpoint) };
      yield { name: `${endpoint.key} with another body`, facts, run: (session) => sendAnother(session, endpoint) };
      if (endpoint.idempotency.required)
        yield { name: `${endpoint.key} without a key`, facts, run: (session) => sendWithout(session, endpoint) };
    }
  },
};

function withKey(begun: Begun, endpoint: Endpoint, key: ReturnType<typeof freshText>, json = begun.json) {
  const plan = begun.request(json);
  return { ...plan, headers: { ...plan.headers, [endpoint.idempotency?.header ?? '']: key } };
}

async function sendTwice(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const begun = await beginBody(session, endpoint, 'plain');
  const key = freshText('nf-key-');
  const first = await session.send(withKey(begun, endpoint, key));
  session.need(isDone(first.value), `${endpoint.key} was answered ${first.value.status}${briefly(first.value)}`);
  const second = await session.send(withKey(begun, endpoint, key));
  const at = endpoint.idempotency?.at;
  session.claim({
    ...{
      fact: { kind: 'request payload shapes', subject: endpoint.key },
      reason: 'key once',
      of: [first, second] as const,
      ...(at !== undefined && { at }),
    },
    judge(one: Exchange, other: Exchange) {
      const header = endpoint.idempotency?.header.toLowerCase() ?? '';
      if (!isDone(one) || one.sent.headers[header] !== other.sent.headers[header]) return moot('it was not sent twice');
      if (!isSame(one.sent.json, other.sent.json) || one.sent.target !== other.sent.target) return moot('it was not sent twice');
      if (model.refusals.isHurried(other)) return moot('the service had too much to do');
      const isAgain = other.status === one.status && isSame(idIn(model, one), idIn(model, other));
      return isAgain
        ? undefined
        : {
            promised: `the first answer again: ${one.status} ${String(idIn(model, one) ?? '')}`,
            seen: `${other.status}${briefly(other)}`,
          };
    },
  });
}

async function sendAnother(session: Session, endpoint: Endpoint): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const other = await beginBody(session, endpoint, 'full');
  const key = freshText('nf-key-');
  const first = await session.send(withKey(begun, endpoint, key));
  session.need(isDone(first.value), `${endpoint.key} was answered ${first.value.status}${briefly(first.value)}`);
  const second = await session.send(withKey(begun, endpoint, key, other.json));
  const at = endpoint.idempotency?.at;
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  const header = endpoint.idempotency?.header.toLowerCase() ?? '';
  claimRefused(session, second, {
    ...{
      by: { when: 'idempotency.reused' },
      fact,
      reason: 'key reused',
      what: 'a key that was used for another body',
      beside: [first],
      ...(at !== undefined && { at }),
    },
    isSo: (exchange, before) =>
      before !== undefined &&
      isDone(before) &&
      exchange.sent.headers[header] === before.sent.headers[header] &&
      !isSame(exchange.sent.json, before.sent.json),
  });
}

async function sendWithout(session: Session, endpoint: Endpoint): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const plan = begun.request(begun.json);
  const headers = Object.fromEntries(Object.entries(plan.headers).filter(([name]) => name !== endpoint.idempotency?.header));
  const done = await session.send({ ...plan, headers });
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  const at = endpoint.idempotency?.at;
  claimRefused(session, done, {
    by: { when: 'request.parameter' },
    fact,
    reason: 'key required',
    what: 'no idempotency key',
    ...(at !== undefined && { at }),
  });
}
