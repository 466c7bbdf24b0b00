import type { ErrorCondition } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { type Begun, beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { bodyMedia } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { isForm, isLostInForms } from '../../values/forms.ts';
import { isBodyPromised, taken } from './bodies.ts';

/** Bodies that cannot be read, or come in a type that is not taken, are refused as such. */
export const media: Trial = {
  name: 'endpoints/media',
  part: 'endpoints',
  about: 'Bodies that are no JSON, or no UTF-8, or come in another media type, are refused as such.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      for (const type of endpoint.consumes?.slice(1) ?? []) {
        if (!isReadable(type) || !isBodyPromised(model, endpoint)) continue;
        const facts = [{ kind: 'request payload shapes', subject: endpoint.key }];
        yield { name: `${endpoint.key} as ${type}`, facts, run: (session) => sendAs(session, endpoint, type) };
      }
      const media = bodyMedia(endpoint);
      const isOne = media !== undefined && (endpoint.consumes?.length ?? 1) === 1;
      if (!isOne || !isBodyPromised(model, endpoint)) continue;
      const facts = [{ kind: 'request payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => sendUnreadable(session, endpoint) };
    }
  },
};

function isReadable(type: string): boolean {
  return isForm(type) || type.endsWith('json');
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

const unreadable = [
  { what: 'a body that ends too soon', text: '{"nf":' },
  { what: 'a body that is no JSON', text: 'nf=1' },
  // In ISO 8859-1, the last letter of a text is an octet that begins nothing in UTF-8 (RFC 8259 section 8.1).
  { what: 'a body that is no UTF-8', text: '{"nf":"\u00e9"}', octets: 'latin1' },
] as const;

/** What a lenient reader of octets that are no UTF-8 finds in them: a body, which is not right. */
const readLeniently = ['request.invalid', 'request.invalid.unknown', 'request.invalid.missing'] as const;

async function sendUnreadable(session: Session, endpoint: Endpoint): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const fact = { kind: 'request payload shapes', subject: endpoint.key };
  // Whatever text there is says something as a form.
  for (const { what, ...body } of bodyMedia(endpoint) === 'json' ? unreadable : []) {
    const done = await session.send({ ...begun.request({}), body: { ...body, type: 'application/json' } });
    const by = { when: 'request.malformed', ...('octets' in body && { or: readLeniently }) } as const;
    claimRefused(session, done, { by, fact, reason: 'malformed', what, control: begun.valid });
  }
  const isSo = ({ sent }: TrialExchange) => sent.text === undefined || sent.text === '';
  await sendUntyped(session, endpoint, begun);
  if (endpoint.body !== 'optional' && session.model.refusals.standingOf('request.missing') === 'refused') {
    const empty = await session.send(bodiless(begun));
    claimRefused(session, empty, {
      by: { when: 'request.missing' },
      fact,
      reason: 'missing',
      what: 'no body at all',
      isSo,
      control: begun.valid,
    });
  }
  if (!session.model.isHeld('a body of another media type', endpoint)) return;
  const text = await session.send({ ...begun.request({}), body: { value: begun.json, type: 'text/html' } });
  const standing = session.model.refusals.standingOf('request.media');
  if (standing === 'never') claimTaken(session, text, 'request.media', 'a body of text/html');
  if (standing !== 'refused') return;
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

/** A body that does not say what it is: refused where there is a code for just that, and read where that never is. HTTP lets a service guess (RFC 9110 section 8.3). */
async function sendUntyped(session: Session, endpoint: Endpoint, begun: Begun): Promise<void> {
  const { refusals } = session.model;
  const standing = refusals.standingOf('request.untyped');
  const own = refusals.of('request.untyped', session.model.operationOf(endpoint))?.rule.when;
  const hasCode = own !== undefined && (statedValue(own) ?? []).includes('request.untyped');
  if (standing === 'left open' || (standing === 'refused' && !hasCode)) return;
  const body = { value: begun.json, type: endpoint.consumes?.[0] ?? 'application/json', isUntold: true } as const;
  const done = await session.send({ ...begun.request({}), body });
  if (standing === 'never') {
    claimTaken(session, done, 'request.untyped', 'a body without a type');
    return;
  }
  claimRefused(session, done, {
    by: { when: 'request.untyped' },
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: 'without a type',
    what: 'a body without a type',
    isSo: ({ sent }) => sent.headers['content-type'] === undefined,
    control: begun.valid,
  });
}

/** What a condition that never arises would refuse is taken. */
function claimTaken(session: Session, done: Done<TrialExchange>, condition: ErrorCondition, what: string): void {
  session.claim({
    fact: { kind: 'conditions', subject: condition },
    reason: `${what} taken`,
    of: [done] as const,
    judge: (exchange: TrialExchange) => taken(session.model, exchange, what),
  });
}

function bodiless(begun: Begun) {
  const { body: _body, ...plan } = begun.request({});
  return plan;
}
