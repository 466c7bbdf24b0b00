import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { pathParameters } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { isDone } from '../../exchange/exchange.ts';
import { callersFor } from '../../make/callers-for.ts';
import { nextPage, paginationOf } from '../../make/pages.ts';
import { pathValues } from '../../make/request-about.ts';
import { isNeverShown } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { rowsShown } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { oneLine } from '../../values/difference.ts';
import { fillingMaker, usersGiven } from './shown-to.ts';

/** What is hidden from a user is on no page of a list: those after the first are often made by other code. */
export const shownLater: Trial = {
  name: 'resources/shown on later pages',
  part: 'resources',
  about: 'What is hidden from a user is not shown on the pages after the first either.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      if (!statedValue(resource.identifier)) continue;
      for (const user of usersGiven(model)) {
        const hidden = entriesOf(resource.fields).filter(([, field]) => isNeverShown(model.spec, field, { name: user, user }));
        if (hidden.length === 0) continue;
        const facts = hidden.map(([field]) => ({ kind: 'required flags', subject: `${name}.${field}` }));
        for (const endpoint of pagedLists(model, name)) {
          if (!mayBeCalled(model, endpoint, user)) continue;
          const run = (session: Session) => showLaterPage(session, resource, endpoint, user, hidden);
          yield { name: `${endpoint.key} to ${user}`, facts: [...facts, { kind: 'field names', subject: name }], run };
        }
      }
    }
  },
};

/** The reason of a claim that a field is hidden on the pages after the first. */
export const hiddenLater = (key: string): string => `hidden from a user on later pages of ${key}`;

/** The lists that are cut into pages whose size can be asked for. */
export function pagedLists(model: Model, resource: string): readonly Endpoint[] {
  return model.endpointsThat('list', resource).filter((endpoint) => {
    const isWhole = endpoint.response.standing === 'open' && endpoint.produces === undefined;
    return isWhole && paginationOf(model, endpoint)?.size !== undefined;
  });
}

function mayBeCalled(model: Model, endpoint: Endpoint, user: string): boolean {
  const operation = model.operationOf(endpoint);
  return model.callers.some((caller) => caller.user === user && model.access.allows(operation, caller) !== 'no');
}

/** Two rows, and the second page of a list that has one on each: what is hidden is not shown there either. */
async function showLaterPage(
  session: Session,
  resource: Resource,
  endpoint: Endpoint,
  user: string,
  hidden: readonly (readonly [string, Field])[],
): Promise<void> {
  const { model } = session;
  const size = paginationOf(model, endpoint)?.size;
  const maker = fillingMaker(session, resource, user);
  const row = await session.make(resource.name, { style: 'whole', ...(maker && { caller: maker }) });
  await session.make(resource.name, { style: 'whole', ...(maker && { caller: maker }) });
  const reader = callersFor(session, endpoint, row).find((one) => one.user === user);
  session.need(reader !== undefined && size !== undefined, `no ${user} may ${endpoint.key}`);
  const path = pathValues(model, endpoint, row);
  session.need(
    pathParameters(endpoint.path).every((name) => Object.hasOwn(path, name)),
    `a row does not say below what ${endpoint.key} is`,
  );
  const first = await session.send(model.request(endpoint, { path, caller: reader, query: { [size]: 1 } }));
  const next = nextPage(model, first);
  session.need(next !== undefined, 'there is no other page');
  const second = await session.send(model.request(endpoint, { path, caller: reader, query: { [size]: 1, ...next } }));
  for (const [name, field] of hidden) {
    if (!isNeverShown(model.spec, field, reader)) continue;
    session.claim({
      fact: { kind: 'required flags', subject: `${resource.name}.${name}` },
      reason: hiddenLater(endpoint.key),
      of: [first, second] as const,
      judge(before: TrialExchange, exchange: TrialExchange) {
        const rows = isDone(before) && isDone(exchange) ? rowsShown(model, exchange)?.rows : undefined;
        if (!rows?.length) return moot('there is no other page');
        const wrong = rows.find((one) => one[name] !== undefined);
        return wrong
          ? { promised: `${name} is not shown to ${reader.user || 'whoever asks'}`, seen: oneLine(wrong[name]) }
          : undefined;
      },
    });
  }
}
