import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done, Step } from '../../exchange/step.ts';
import { type Captured, resolve } from '../../exchange/symbol.ts';
import { callersFor, contextOfRow } from '../../make/callers-for.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import { idIn, rowIn } from '../../model/row-shown.ts';
import { sending } from '../../session/request.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { oneLine } from '../../values/difference.ts';

/** What a `Location` says of a row that was made is where the row is (RFC 9110 section 10.2.2). */
export const locations: Trial = {
  name: 'endpoints/locations',
  part: 'endpoints',
  about: 'Who follows the Location of what was made finds it there.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (!tellsLocation(model, endpoint)) continue;
      const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => follow(session, endpoint.key, resource) };
    }
  },
};

/** The reason of a claim that a row that was made is where its `Location` says. */
export const leadsThere = 'Location leads there';

/** Whether an endpoint makes a row that can be read, and tells where it is. */
export function tellsLocation(model: Model, { does, response }: Endpoint): boolean {
  const effect = statedValue(does);
  if (effect?.verb !== 'create' || response.standing !== 'open') return false;
  return model.endpointsThat('read', effect.resource).some(({ identity }) => !identity);
}

async function follow(session: Session, key: string, resource: string): Promise<void> {
  const { model } = session;
  const row = await session.make(resource);
  const { made } = row;
  session.need(made?.value.endpoint?.key === key, `no ${resource} was made by ${key}`);
  const known = contextOfRow(session, row) ?? { context: {}, unseen: {} };
  const reads = model.endpointsThat('read', resource).filter(({ identity }) => !identity);
  const mayRead = (one: TrialCaller | undefined) =>
    reads.some((read) => model.access.allows(model.operationOf(read), one, known) === 'yes');
  const reader = [row.caller, ...model.callers].find(mayRead);
  session.need(reader !== undefined || mayRead(undefined), `nobody who surely may read a ${resource} is known`);
  const { location } = made.value.headers;
  session.need(location !== undefined, 'no Location was told');
  const { target } = made.value.sent;
  session.need(addressOf(model, location, target) !== undefined, 'the Location is at another service');
  const found = await session.do(following(model, { made, location: session.capturedHeader(made, 'location'), caller: reader }));
  session.claim({
    fact: { kind: 'response payload shapes', subject: key },
    reason: leadsThere,
    of: [made, found] as const,
    judge: (creation: TrialExchange, there: TrialExchange) => locationJudgement(model, resource, creation, there),
  });
}

/** The step that asks for what a `Location` names, as it is written there. */
function following(
  model: Model,
  {
    made,
    location,
    caller,
  }: { readonly made: Done<TrialExchange>; readonly location: Captured; readonly caller: TrialCaller | undefined },
): Step<TrialExchange> {
  const { query, headers } = model.version();
  const asking = (value: Json) => {
    const template = addressOf(model, asText(value), made.value.sent.target) ?? '/';
    return sending({ method: 'GET', template, path: {}, query, headers, ...(caller && { caller }) });
  };
  return {
    says: 'GET what the Location names',
    isRequest: true,
    takes: [location],
    act: (run) => asking(resolve(location, run)).act(run),
    tell: ({ status, text, trouble }) => (trouble ? trouble.message : `${status}${text === '' ? '' : ` ${text}`}`),
    shell: (names) => asking(names.valueOf(location)).shell(names),
  };
}

/** The path that a `Location` comes to, seen from the request that it answers; nothing where it names another service. */
export function addressOf({ spec }: Model, location: string, target: string): string | undefined {
  const here = 'http://service.invalid';
  const url = URL.parse(location, here + target);
  const own = (statedValue(spec.purpose.baseUrls) ?? []).map((base) => URL.parse(base)?.host);
  const isOurs = url && (url.origin === here || own.includes(url.host) || loopback.test(url.hostname));
  return isOurs ? `${url.pathname}${url.search}` : undefined;
}

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

function locationJudgement(model: Model, resource: string, made: TrialExchange, there: TrialExchange): Judgement {
  const { location } = made.headers;
  const isTold = made.status === 201 && location !== undefined && addressOf(model, location, made.sent.target) !== undefined;
  if (!isTold) return moot('no Location of this service was told');
  const isOtherwise = model.refusals.isHurried(there) || [0, 401, 403, 501].includes(there.status);
  if (isOtherwise) return moot('something else stood in its way');
  const promised = `${location} is where the ${resource} that was made is`;
  if (!isDone(there)) return { promised, seen: `${there.status}${briefly(there)}` };
  const id = idIn(model, made);
  const found = rowIn(there)?.[model.identifierField(resource)];
  if (id === undefined || found === undefined) return undefined;
  return isSame(asText(id), asText(found)) ? undefined : { promised, seen: oneLine(found) };
}

/** What is answered as made is there to be read (RFC 9110 section 15.3.2). */
export const available: Trial = {
  name: 'endpoints/available',
  part: 'endpoints',
  about: 'What an operation of a document of others says that it made is there when it is read.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const resource = resourceOfEffect(statedValue(endpoint.does));
      if (isByRule(endpoint) || statedValue(endpoint.does)?.verb !== 'create' || resource === undefined) continue;
      const [read] = model.endpointsThat('read', resource).filter(({ method, identity }) => method === 'GET' && !identity);
      if (!read) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => makeAndRead(session, endpoint, read, resource) };
    }
  },
};

async function makeAndRead(session: Session, endpoint: Endpoint, read: Endpoint, resource: string): Promise<void> {
  const row = await session.make(resource);
  const { made } = row;
  session.need(made?.value.endpoint?.key === endpoint.key, `no ${resource} was made by ${endpoint.key}`);
  const [caller = row.caller] = callersFor(session, read, row);
  const seen = await session.send(await requestAbout(session, row, read, { caller }));
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'is there',
    of: [made, seen] as const,
    judge(making: TrialExchange, reading: TrialExchange) {
      // What is only accepted may take its time (RFC 9110 section 15.3.3).
      if (!isDone(making) || making.status === 202) return moot('it was not made, or is to be made later');
      if (reading.status !== 404 && reading.status !== 410) return isDone(reading) ? undefined : moot('it may not be read');
      return { promised: `${making.status} says that it was made`, seen: `${reading.status}${briefly(reading)}` };
    },
  });
}
