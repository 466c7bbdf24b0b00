import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { FactName } from '../../exchange/facts.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { beginBody } from '../../make/begin-body.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { showsWhole } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** What a reader asks for and already has: media types, and entity tags. */
export const accepts: Trial = {
  name: 'endpoints/accepts',
  part: 'endpoints',
  about: 'A media type that cannot be given is refused, and what a reader already has is not sent again.',
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
  const row = await rowOf(session, endpoint);
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

async function rowOf(session: Session, endpoint: Endpoint): Promise<TrialRow> {
  return session.make(resourceOfEffect(statedValue(endpoint.does)) ?? '');
}

function factOfAccept(model: Model, endpoint: Endpoint): FactName {
  const stated = model.refusals.of('request.accept', model.operationOf(endpoint));
  return stated ? { kind: 'conditions', subject: stated.code.name } : { kind: 'response payload shapes', subject: endpoint.key };
}

async function askForImage(session: Session, endpoint: Endpoint): Promise<void> {
  const row = await rowOf(session, endpoint);
  const [caller] = callersFor(session, endpoint, row);
  const control = await requestAbout(session, row, endpoint, { caller });
  const done = await session.send({ ...control, headers: { ...control.headers, Accept: 'image/png' } });
  const fact = factOfAccept(session.model, endpoint);
  claimRefused(session, done, { by: { when: 'request.accept' }, fact, reason: 'Accept', what: 'Accept: image/png', control });
}

async function askAgain(session: Session, endpoint: Endpoint): Promise<void> {
  const row = await rowOf(session, endpoint);
  const [caller] = callersFor(session, endpoint, row);
  const first = await session.send(await requestAbout(session, row, endpoint, { caller }));
  session.need(isDone(first.value) && first.value.headers.etag !== undefined, 'it shows no ETag');
  const headers = { 'If-None-Match': session.capturedHeader(first, 'etag') };
  const again = await session.send(await requestAbout(session, row, endpoint, { caller, headers }));
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'If-None-Match',
    at: `${endpoint.at}/etag`,
    of: [first, again] as const,
    judge(had: TrialExchange, got: TrialExchange) {
      if (!isDone(had) || got.status >= 400) return moot('it was not read');
      return got.status === 304
        ? undefined
        : { promised: '304, for what the reader already has (RFC 9110 section 13.1.2)', seen: String(got.status) };
    },
  });
}

/** What has changed has another tag: a strong one tells every two representations apart (RFC 9110 section 8.8.1). */
async function askAfterChange(session: Session, endpoint: Endpoint, update: Endpoint): Promise<void> {
  const begun = await beginBody(session, update, 'full');
  const { row } = begun;
  session.need(row !== undefined, `${update.key} is about no row`);
  const [caller] = callersFor(session, endpoint, row);
  const first = await session.send(await requestAbout(session, row, endpoint, { caller }));
  const change = await session.send(begun.request(begun.json));
  const again = await session.send(await requestAbout(session, row, endpoint, { caller }));
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'ETag of a change',
    at: `${endpoint.at}/etag`,
    of: [first, change, again] as const,
    judge(before: TrialExchange, changed: TrialExchange, after: TrialExchange) {
      if (![before, changed, after].every(isDone) || before.text === after.text) return moot('nothing has changed');
      const { etag } = before.headers;
      if (etag === undefined || after.headers.etag !== etag) return undefined;
      return { promised: 'another ETag for another representation', seen: `${etag} for both` };
    },
  });
}
