import type { ErrorCondition } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { type FactName, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { type Begun, beginBody } from '../../make/begin-body.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { showsWhole } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import { bodyMedia } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { isForm, isLostInForms } from '../../values/forms.ts';
import { isBodyPromised, taken } from './bodies.ts';
import { askAfterChange, askAgain, rowRead } from './read-again.ts';

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

/** What a reader asks for and already has: media types, and entity tags. */
export const accepts: Trial = {
  name: 'endpoints/accepts',
  part: 'endpoints',
  about:
    'A media type that cannot be given is refused, and what a reader already has is not sent again, however it says so, and what it has not is.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of reads(model)) {
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      if (isAcceptPromised(model, endpoint))
        yield {
          name: `${endpoint.key} as an image`,
          facts: [factOfAccept(model, endpoint)],
          run: (session) => askForImage(session, endpoint),
        };
      if (isAcceptIgnored(model, endpoint))
        yield {
          name: `${endpoint.key} as an image, which is not looked at`,
          facts: [factOfIgnored(model, endpoint)],
          run: (session) => askForAnything(session, endpoint),
        };
      const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
      const [update] = model.endpointsThat('update', resource);
      if (endpoint.etag === 'strong' && update) {
        yield { name: `${endpoint.key} once it has changed`, facts, run: (session) => askAfterChange(session, endpoint, update) };
      }
      if (endpoint.etag !== undefined)
        yield { name: `${endpoint.key} again`, facts, run: (session) => askAgain(session, endpoint) };
    }
  },
};

/** Whether it is said what becomes of an `Accept` that cannot be met: HTTP lets a service answer as it can (RFC 9110 section 12.5.1). */
function isAcceptPromised(model: Model, endpoint: Endpoint): boolean {
  if (endpoint.acceptIgnored || model.refusals.standingOf('request.accept') !== 'refused') return false;
  const stated = model.refusals.of('request.accept', model.operationOf(endpoint));
  return model.isHeld('Accept of what cannot be given', endpoint) && (model.conventions || stated !== undefined);
}

function isAcceptIgnored(model: Model, { acceptIgnored }: Endpoint): boolean {
  return acceptIgnored === true || model.refusals.standingOf('request.accept') === 'never';
}

function factOfIgnored(model: Model, endpoint: Endpoint): FactName {
  return model.refusals.standingOf('request.accept') === 'never'
    ? { kind: 'conditions', subject: 'request.accept' }
    : { kind: 'response payload shapes', subject: endpoint.key };
}

/** Whatever is asked for, the answer is what it is. */
async function askForAnything(session: Session, endpoint: Endpoint): Promise<void> {
  const row = await rowRead(session, endpoint);
  const [caller] = callersFor(session, endpoint, row);
  const plain = await requestAbout(session, row, endpoint, { caller });
  const first = await session.send(plain);
  const again = await session.send({ ...plain, headers: { ...plain.headers, Accept: 'image/png' } });
  session.claim({
    fact: factOfIgnored(session.model, endpoint),
    reason: 'Accept is not looked at',
    of: [first, again] as const,
    judge(had: TrialExchange, got: TrialExchange) {
      if (!isDone(had) || session.model.refusals.isHurried(got)) return moot('it was not read');
      const isSame = isDone(got) && got.headers['content-type'] === had.headers['content-type'];
      if (isSame) return undefined;
      const promised = `${had.status} as ${had.headers['content-type'] ?? 'it is'}, whatever Accept says`;
      return { promised, seen: `${got.status} as ${got.headers['content-type'] ?? 'nothing'}` };
    },
  });
}

function reads(model: Model): readonly Endpoint[] {
  return model.endpoints.filter((endpoint) => statedValue(endpoint.does)?.verb === 'read' && showsWhole(endpoint));
}

function factOfAccept(model: Model, endpoint: Endpoint): FactName {
  const stated = model.refusals.of('request.accept', model.operationOf(endpoint));
  return stated ? { kind: 'conditions', subject: stated.code.name } : { kind: 'response payload shapes', subject: endpoint.key };
}

async function askForImage(session: Session, endpoint: Endpoint): Promise<void> {
  const row = await rowRead(session, endpoint);
  const [caller] = callersFor(session, endpoint, row);
  const control = await requestAbout(session, row, endpoint, { caller });
  const done = await session.send({ ...control, headers: { ...control.headers, Accept: 'image/png' } });
  const fact = factOfAccept(session.model, endpoint);
  claimRefused(session, done, { by: { when: 'request.accept' }, fact, reason: 'Accept', what: 'Accept: image/png', control });
}
