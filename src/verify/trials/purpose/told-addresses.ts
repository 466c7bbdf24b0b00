import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { beginList } from '../../make/own-list.ts';
import { nextPage, paginationOf } from '../../make/pages.ts';
import { doorOf, inVersion, linksIn, needServed, type RequestVersions, versionsOf } from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { addressOf, tellsLocation } from '../endpoints/locations.ts';

const fact = { kind: 'base address', subject: 'service' };

/** So many rows are made for a list whose pages cannot be made smaller. */
const rowsMost = 40;

/** The addresses of the service that its answers tell lead below its base address. */
export const toldAddresses: Trial = {
  name: 'purpose/told addresses',
  part: 'purpose',
  about: 'A Location of what was made and the links of a list to its other pages lead below the path of the base address.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of tellingEndpoints(model))
      yield {
        name: toldBy(endpoint),
        facts: [fact],
        run: (session) => (tellsPages(model, endpoint) ? lookAtLinks : lookAtLocation)(session, endpoint),
      };
    const versions = model.basePath === '' ? undefined : versionsOf(model);
    for (const { name, deprecation } of versions?.all ?? [])
      if (versions && statedValue(deprecation))
        yield { name: `links of ${name}`, facts: [fact], run: (session) => lookAtVersion(session, versions, name) };
  },
};

/** What has to be looked at of the addresses that a service tells. */
export function addressLooks(model: Model): readonly string[] {
  return tellingEndpoints(model).map(toldBy);
}

/** The endpoints whose answers tell addresses of the service, where its base address has a path that these may lack. */
function tellingEndpoints(model: Model): Endpoint[] {
  if (model.basePath === '') return [];
  return model.endpoints.filter(
    (endpoint) => isByRule(endpoint) && (tellsLocation(model, endpoint) || tellsPages(model, endpoint)),
  );
}

function tellsPages(model: Model, endpoint: Endpoint): boolean {
  const isList = statedValue(endpoint.does)?.verb === 'list' && endpoint.response.standing === 'open';
  return isList && paginationOf(model, endpoint)?.isToldInLink === true;
}

function toldBy({ key, does }: Endpoint): string {
  return statedValue(does)?.verb === 'list' ? `links of ${key} to other pages` : `Location of ${key}`;
}

async function lookAtLocation(session: Session, endpoint: Endpoint): Promise<void> {
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const { made } = await session.make(resource);
  session.need(made?.value.endpoint?.key === endpoint.key, `no ${resource} was made by ${endpoint.key}`);
  session.claim({
    fact,
    reason: toldBy(endpoint),
    of: [made] as const,
    judge: (seen: TrialExchange) => belowJudgement(session.model, [seen], ({ headers }) => [headers.location ?? '']),
  });
}

/** The links of a first page and of the one after it, which has others. */
async function lookAtLinks(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const { size, default: usual = rowsMost } = paginationOf(model, endpoint) ?? {};
  const count = size === undefined ? usual + 1 : 2;
  session.need(count <= rowsMost, `${count} rows are too many to make, and a smaller page cannot be asked for`);
  const list = await beginList(session, endpoint, { bodies: Array<Record<string, Json>>(count).fill({}), narrowedBut: [] });
  const smallest = size === undefined ? {} : { [size]: 1 };
  const first = await list.ask(smallest);
  const next = nextPage(model, first);
  const pages: Done<TrialExchange>[] = [first, ...(next === undefined ? [] : [await list.ask({ ...smallest, ...next })])];
  session.claim({
    fact,
    reason: toldBy(endpoint),
    of: pages,
    judge: (...seen: readonly TrialExchange[]) =>
      belowJudgement(model, seen, ({ headers }) =>
        linksIn(headers.link ?? '').flatMap(({ href, rel }) => (rel.some((word) => pageWords.has(word)) ? [href] : [])),
      ),
  });
}

/** What a deprecated version tells of what takes its place, where that is in this service. */
async function lookAtVersion(session: Session, versions: RequestVersions, version: string): Promise<void> {
  const { model } = session;
  const door = doorOf(model);
  session.need(door !== undefined, 'no operation can be asked in every version');
  needServed(session, versions, version);
  const { endpoint: _endpoint, ...plan } = inVersion(model, model.request(door.endpoint, { caller: door.caller }), version);
  const done = await session.send(plan);
  session.claim({
    fact,
    reason: `links of ${version}`,
    of: [done] as const,
    judge: (seen: TrialExchange) =>
      belowJudgement(model, [seen], ({ headers }) =>
        linksIn(headers.link ?? '').flatMap(({ href, rel }) => (rel.includes('successor-version') ? [href] : [])),
      ),
  });
}

const pageWords: ReadonlySet<string> = new Set(['next', 'prev', 'previous', 'first', 'last']);

/** Whether the addresses of the service that answers tell lead below its base address, seen from the requests that they answer. */
function belowJudgement(
  model: Model,
  seen: readonly TrialExchange[],
  told: (exchange: TrialExchange) => readonly string[],
): Judgement {
  if (!seen.every(isDone)) return moot('it was refused');
  let isTold = false;
  for (const exchange of seen) {
    for (const address of told(exchange)) {
      const path = address === '' ? undefined : addressOf(model, address, exchange.sent.target);
      if (path === undefined) continue;
      isTold = true;
      if (!path.startsWith(`${model.basePath}/`))
        return { promised: `an address below ${model.basePath}`, seen: asText(address) };
    }
  }
  return isTold ? undefined : moot('no address of this service was told');
}
