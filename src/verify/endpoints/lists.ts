import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Parameter } from '../../parts/parameters.ts';
import { pathParameters } from '../../parts/payload.ts';
import { callersFor } from '../make/callers-for.ts';
import { hasNextPage, widest } from '../make/pages.ts';
import { pathOf } from '../make/request-about.ts';
import type { Row } from '../make/row.ts';
import { walkingPages } from '../make/walk-pages.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import { moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import type { Trial } from '../trial.ts';
import { matchesFilter } from './compare.ts';
import { judgeOrder, rowsOf } from './order.ts';

/** Filters let through what they say, and sorted lists are sorted. */
export const lists: Trial = {
  name: 'endpoints/lists',
  part: 'endpoints',
  about: 'Filters show what fits them and nothing else; lists come in the order that is asked for.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (statedValue(endpoint.does)?.verb !== 'list') continue;
      const parameter = [{ kind: 'parameters', subject: endpoint.key }];
      const response = [{ kind: 'response payload shapes', subject: endpoint.key }];
      if (endpoint.order.length > 0)
        yield { name: `${endpoint.key}, in order`, facts: response, run: (session) => listInOrder(session, endpoint) };
      for (const [name, stated] of entriesOf(endpoint.parameters)) {
        if (stated.in !== 'query') continue;
        if (stated.sorts)
          yield { name: `${endpoint.key} by ${name}`, facts: parameter, run: (session) => listSorted(session, endpoint, stated) };
        else if (stated.filters !== undefined) {
          for (const round of [1, 2])
            yield {
              name: `${endpoint.key} with ${name} ${round}`,
              facts: parameter,
              run: (session) => listFiltered(session, endpoint, stated),
            };
        }
      }
    }
  },
};

/** Makes rows that a list shows, and gives what its requests have in common. @throws {Untestable} */
export async function beginList(session: Session, endpoint: Endpoint, count: number) {
  const { model } = session;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const rows: Row[] = [];
  const parents: Record<string, Row> = {};
  for (const name of pathParameters(endpoint.path)) {
    const target = model.parentOf(endpoint, name);
    if (target !== undefined) parents[name] = await session.make(target);
  }
  for (let at = 0; at < count; at++) rows.push(await session.make(resource, { style: 'full', parents }));
  const [row] = rows;
  session.need(row !== undefined, `no ${resource} is there`);
  const isPublic = model.access.isPublic(model.operationOf(endpoint)) && model.callers[0]?.credential !== undefined;
  const [caller] = isPublic ? [undefined] : callersFor(session, endpoint, row);
  session.need(caller !== undefined || isPublic, `nobody may call ${endpoint.key}`);
  const path: Record<string, Symbolic> = {
    ...pathOf(endpoint, row),
    ...Object.fromEntries(Object.entries(parents).map(([name, { id }]) => [name, id])),
  };
  const plan = (query: Readonly<Record<string, Symbolic>>) => ({
    ...model.request(endpoint, { path, caller, query }),
    isWhole: true,
  });
  return { resource, rows, row, parents, plan, ask: (query: Readonly<Record<string, Symbolic>>) => session.send(plan(query)) };
}

async function listInOrder(session: Session, endpoint: Endpoint): Promise<void> {
  const list = await beginList(session, endpoint, 3);
  const done = await list.ask({});
  session.claim({
    ...{
      fact: { kind: 'response payload shapes', subject: endpoint.key },
      reason: 'order',
      at: `${endpoint.at}/order`,
      of: [done] as const,
    },
    judge: (exchange: Exchange) => judgeOrder(session, [exchange], endpoint.order),
  });
}

async function listSorted(session: Session, endpoint: Endpoint, parameter: Parameter): Promise<void> {
  const list = await beginList(session, endpoint, 3);
  const shape = paramsShape(session.model.spec, endpoint).properties;
  const stated = isMap(shape) ? shape[parameter.name] : undefined;
  const words: readonly Json[] = isMap(stated) && Array.isArray(stated.enum) ? stated.enum : [];
  for (const word of words) {
    const done = await session.do(
      walkingPages(session.model, list.plan({ ...widest(session.model, endpoint), [parameter.name]: word })),
    );
    session.claim({
      ...{
        fact: { kind: 'parameters', subject: endpoint.key },
        reason: `sorted by ${String(word)}`,
        at: parameter.at,
        of: [done] as const,
      },
      judge(pages: readonly Exchange[]) {
        const asked = pages[0]?.sent.query[parameter.name];
        if (typeof asked !== 'string') return moot('it was not asked for');
        return judgeOrder(session, pages, [{ field: asked.replace(/^[-+]/, ''), descending: asked.startsWith('-') }]);
      },
    });
  }
}

async function listFiltered(session: Session, endpoint: Endpoint, parameter: Parameter): Promise<void> {
  const { model } = session;
  const list = await beginList(session, endpoint, 2);
  const field = parameter.filters ?? parameter.name;
  const resource = model.resource(list.resource);
  const stated = resource && entryOf(resource.fields, field);
  const value = list.row.fields?.[field];
  session.need(
    value !== undefined && value !== null && stated !== undefined,
    `the ${list.resource} that was made has no ${field}`,
  );
  const captured = isMap(value) ? list.row.known[field] : list.row.made ? list.row.known[field] : value;
  session.need(captured !== undefined && !Array.isArray(value), `${field} cannot be asked for`);
  const asked = parameter.op === 'in' ? [captured] : captured;
  const done = await list.ask({ [parameter.name]: asked as Symbolic });
  const made = list.row.made;
  session.claim({
    ...{
      fact: { kind: 'parameters', subject: endpoint.key },
      reason: `filter ${parameter.name}`,
      at: parameter.at,
      of: [done] as const,
    },
    judge(exchange: Exchange) {
      const sent = exchange.sent.query[parameter.name];
      const rows = isDone(exchange) ? rowsOf(session, exchange) : undefined;
      if (sent === undefined || !rows) return moot('nothing was listed');
      const wrong = rows.find((row) => matchesFilter(row[field], parameter.op, sent, stated) === false);
      return wrong
        ? { promised: `rows whose ${field} ${parameter.op} ${JSON.stringify(sent)}`, seen: JSON.stringify(wrong[field] ?? null) }
        : undefined;
    },
  });
  if (!made || !ownOperators.has(parameter.op)) return;
  const walk = await session.do(
    walkingPages(model, list.plan({ ...widest(model, endpoint), [parameter.name]: asked as Symbolic })),
  );
  session.claim({
    ...{
      fact: { kind: 'parameters', subject: endpoint.key },
      reason: `filter ${parameter.name} shows`,
      at: parameter.at,
      of: [walk, made] as const,
    },
    judge(pages: readonly Exchange[], creation: Exchange) {
      const last = pages.at(-1);
      const id = isDone(creation) ? idIn(model, creation) : undefined;
      if (
        !last ||
        id === undefined ||
        pages.some((page) => !isDone(page) || !rowsOf(session, page)) ||
        hasNextPage(model, last)
      ) {
        return moot('not all pages were shown');
      }
      const sent = last.sent.query[parameter.name];
      if (sent === undefined || matchesFilter(rowWith(model, creation, id)?.[field], parameter.op, sent, stated) !== true)
        return moot('it does not fit');
      const isShown = pages.some((page) => rowWith(model, page, id) !== undefined);
      return isShown
        ? undefined
        : { promised: `the row whose ${field} ${parameter.op} ${JSON.stringify(sent)}`, seen: 'rows without it' };
    },
  });
}

/** The operators under which a row fits its own value. */
const ownOperators: ReadonlySet<string> = new Set(['=', 'in', '>=', '<=', 'prefix', 'contains']);
