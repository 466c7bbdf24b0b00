import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { claimRefused } from '../errors/claim-refused.ts';
import { moot } from '../script/claim.ts';
import type { TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';
import { type Begun, beginBody } from './begin-body.ts';
import { isBodyPromised, taken } from './bodies.ts';

/** Bodies that cannot be read, or come in a type that is not taken, are refused as such. */
export const media: Trial = {
  name: 'endpoints/media',
  part: 'endpoints',
  about: 'Bodies that are no JSON, or come in another media type, are refused as such.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      for (const type of endpoint.consumes?.slice(1) ?? []) {
        if (!isForm(type) || !isBodyPromised(model, endpoint)) continue;
        const facts = [{ kind: 'request payload shapes', subject: endpoint.key }];
        yield { name: `${endpoint.key} as ${type}`, facts, run: (session) => sendAs(session, endpoint, type) };
      }
      const isJson = endpoint.consumes === undefined || endpoint.consumes.every((type) => type === 'application/json');
      if (!isJson || !isBodyPromised(model, endpoint)) continue;
      const facts = [{ kind: 'request payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => sendUnreadable(session, endpoint) };
    }
  },
};

function isForm(type: string): boolean {
  return type === 'application/x-www-form-urlencoded' || type.startsWith('multipart/form-data') || type.endsWith('json');
}

/** What is valid is taken in every media type that is stated. */
async function sendAs(session: Session, endpoint: Endpoint, type: string): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const done = await session.send({ ...begun.request({}), body: { value: begun.json, type } });
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  session.claim({
    fact,
    reason: `taken as ${type}`,
    of: [done] as const,
    judge: (exchange: TrialExchange) =>
      !type.endsWith('json') && isLostInForms(exchange.sent.json)
        ? moot('a form cannot say that')
        : taken(session.model, exchange, `a body of ${type}`),
  });
}

/** Whether a form has no pairs for something in a value: what is null, and lists and maps without anything in them. */
function isLostInForms(value: Json | undefined): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== 'object') return false;
  const inner: readonly Json[] = Object.values(value);
  return inner.length === 0 || inner.some(isLostInForms);
}

const unreadable = [
  { what: 'a body that ends too soon', text: '{"nf":' },
  { what: 'a body that is no JSON', text: 'nf=1' },
] as const;

async function sendUnreadable(session: Session, endpoint: Endpoint): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  for (const { what, text } of unreadable) {
    const done = await session.send({ ...begun.request({}), body: { text, type: 'application/json' } });
    claimRefused(session, done, { by: { when: 'request.malformed' }, fact, reason: 'malformed', what, control: begun.valid });
  }
  const isSo = ({ sent }: TrialExchange) => sent.text === undefined || sent.text === '';
  if (endpoint.body !== 'optional') {
    const empty = await session.send(bodiless(begun));
    claimRefused(session, empty, {
      by: { when: 'request.malformed' },
      fact,
      reason: 'missing',
      what: 'no body at all',
      isSo,
      control: begun.valid,
    });
  }
  if (!session.model.isHeld('a body of another media type', endpoint)) return;
  const text = await session.send({ ...begun.request({}), body: { value: begun.json, type: 'text/html' } });
  const isForeign = ({ sent }: TrialExchange) => sent.headers['content-type'] === 'text/html';
  claimRefused(session, text, {
    by: { when: 'request.media' },
    fact,
    reason: 'media type',
    what: 'a body of text/html',
    isSo: isForeign,
    control: begun.valid,
  });
}

function bodiless(begun: Begun) {
  const { body: _body, ...plan } = begun.request({});
  return plan;
}
