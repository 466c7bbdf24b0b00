import { isMap, isSame } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import { type NamedParameter, parametersOf } from '../../../kinds/pages/kind.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { sortKeyOf } from '../../../parts/sorting.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { beginList } from '../../make/own-list.ts';
import { nextPage, paginationOf } from '../../make/pages.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf, Reference } from '../../values/values.ts';
import { sortWords } from './sorted.ts';

/** A cursor is bound to the query that it was given for. */
export const cursors: Trial = {
  name: 'endpoints/cursors',
  part: 'endpoints',
  about: 'A cursor of another query, or of none, is refused.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const pagination = paginationOf(model, endpoint);
      if (statedValue(endpoint.does)?.verb !== 'list' || !pagination) continue;
      if (pageStyle(pagination.style).tells !== 'token') continue;
      if (endpoint.response.standing !== 'open') continue;
      const facts = [{ kind: 'pagination bounds', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => sendCursors(session, endpoint) };
    }
  },
};

async function sendCursors(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const pagination = paginationOf(model, endpoint);
  session.need(pagination !== undefined, 'the list has no pages');
  const [place] = parametersOf(pageStyle(pagination.style), pagination);
  session.need(place !== undefined, 'no parameter says which page is meant');
  const { name: cursor } = place;
  const list = await beginList(session, endpoint, { bodies: [{}, {}], narrowedBut: [] });
  const fact = { kind: 'pagination bounds', subject: endpoint.key };
  const by = { when: 'limit.page' } as const;
  const { nearMisses } = place.parameter;
  for (const missed of nearMisses) {
    claimRefused(session, await list.ask({ [cursor]: missed }), {
      by,
      fact,
      reason: 'a cursor that is none',
      what: 'a cursor that the service never gave',
      isSo: ({ sent }) => sent.query[cursor] === missed,
    });
  }
  const size = pagination.size === undefined ? {} : { [pagination.size]: 1 };
  const first = await list.ask(size);
  const next = nextPage(model, first);
  session.need(next !== undefined, 'no page of the list told of another');
  for (const other of otherQueries(session, endpoint)) {
    // A value that was drawn may be refused for itself.
    const plain = await list.ask({ ...size, ...other });
    claimRefused(session, await list.ask({ ...size, ...other, ...next }), {
      by,
      fact,
      reason: 'a cursor of another query',
      what: `a cursor that was given without ${Object.keys(other).join()}`,
      beside: [first, plain],
      isSo: ({ sent }, page, alone) =>
        page !== undefined && isDone(page) && alone !== undefined && isDone(alone) && isOfAnother(sent, page, place),
    });
  }
}

/** Whether a request goes on from a page with another query than that of the page. */
function isOfAnother(sent: TrialExchange['sent'], page: TrialExchange, { name, parameter }: NamedParameter): boolean {
  const { [name]: given, ...query } = sent.query;
  const isMissed = parameter.nearMisses.some((missed) => missed === given);
  return given !== undefined && !isMissed && !isSame(query, page.sent.query);
}

/** Queries of the same list that are not the first one: with another order, with a filter. */
function* otherQueries(session: Session, endpoint: Endpoint): Iterable<Readonly<Record<string, Symbolic>>> {
  const { model } = session;
  const parameters = entriesOf(endpoint.parameters).filter(([, stated]) => stated.in === 'query');
  for (const [name, stated] of parameters.filter(([, one]) => one.sorts)) {
    const usual = endpoint.order.map(({ field, descending }) => `${descending ? '-' : ''}${field}`);
    const words = [...sortWords(session, endpoint, stated).values()].flat();
    const named = (one: string) => `${one.startsWith('-') ? '-' : ''}${sortKeyOf(stated, one).field}`;
    const word = words.find((one) => !usual.includes(named(one)) && one !== stated.default?.value);
    if (word === undefined) continue;
    yield { [name]: word };
    break;
  }
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const { properties } = paramsShape(model.spec, endpoint);
  for (const [name, stated] of parameters.filter(([, one]) => one.filters !== undefined && one.op !== 'in')) {
    const own = isMap(properties) ? properties[name] : undefined;
    const shape = isMap(own) ? own : statedValue(resource && entryOf(resource.fields, stated.filters ?? name)?.shape);
    const value = shape && shape.ref === undefined ? drawn(session, shape) : undefined;
    if (value === undefined) continue;
    yield { [name]: value };
    break;
  }
}

function drawn(session: Session, shape: Parameters<typeof arbitraryValuesOf>[1]): Symbolic | undefined {
  try {
    const draft = session.chance.value(arbitraryValuesOf(session.model.spec, shape, 'plain'));
    return draft instanceof Reference ? undefined : (draft as Symbolic);
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}
