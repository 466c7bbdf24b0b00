import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { pathParameters } from '../../parts/payload.ts';
import { hasNextPage, paginationOf } from '../make/pages.ts';
import { walkingPages } from '../make/walk-pages.ts';
import { itemsOf } from '../model/row-shown.ts';
import { moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';
import { beginList } from './lists.ts';
import { rowsOf } from './order.ts';

const rowCount = 5;

/** The pages of a list show every row once, also while rows are added where the style allows that to be seen. */
export const pages: Trial = {
  name: 'endpoints/pages',
  part: 'endpoints',
  about: 'Going through the pages shows every row once.',
  noise: 'alone',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const pagination = paginationOf(model, endpoint);
      if (statedValue(endpoint.does)?.verb !== 'list' || !pagination || endpoint.response.standing !== 'open') continue;
      const facts = [{ kind: 'pagination bounds', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => goThrough(session, endpoint, false) };
      const isStable = pagination.style === 'cursor' || pagination.style === 'after';
      if (isStable)
        yield { name: `${endpoint.key} while rows are added`, facts, run: (session) => goThrough(session, endpoint, true) };
    }
  },
};

async function goThrough(session: Session, endpoint: Endpoint, adds: boolean): Promise<void> {
  const { model } = session;
  const list = await beginList(session, endpoint, rowCount);
  const size = paginationOf(model, endpoint)?.size;
  // Below a parent there are only the rows that were made here.
  const pageSize = pathParameters(endpoint.path).length > 0 ? 2 : 7;
  const first = list.plan(size === undefined ? {} : { [size]: pageSize });
  const between = adds ? await session.creation(list.resource, { parents: list.parents }) : undefined;
  const walk = await session.do(walkingPages(model, first, between));
  const made = list.rows.flatMap((row) => (row.made ? [row.made] : []));
  const field = model.identifierField(list.resource);
  const fact = { kind: 'pagination bounds', subject: endpoint.key };
  session.claim<readonly [readonly Exchange[], ...Exchange[]]>({
    ...{ fact, reason: adds ? 'once, while rows are added' : 'once', of: [walk, ...made] },
    judge(pages, ...creations) {
      const last = pages.at(-1);
      if (pages.some((one) => !isDone(one)) || !last || hasNextPage(model, last)) return moot('not all pages were shown');
      const ids = pages.flatMap((one) => (rowsOf(session, one) ?? []).map((row) => String(row[field])));
      const twice = ids.find((id, at) => ids.indexOf(id) !== at);
      if (twice !== undefined) return { promised: 'every row once', seen: `${twice} twice` };
      const lost = creations
        .filter(isDone)
        .flatMap(({ body }) => idIn(body, field))
        .find((id) => !ids.includes(id));
      return lost === undefined ? undefined : { promised: `every row, ${lost} too`, seen: `${ids.length} rows without it` };
    },
  });
  if (size === undefined) return;
  session.claim({
    ...{ fact, reason: 'size', of: [walk] as const },
    judge(pages: readonly Exchange[]) {
      const large = pages.find((one) => (itemsOf(model, one)?.length ?? 0) > Number(one.sent.query[size]));
      return large
        ? { promised: `at most ${String(large.sent.query[size])} rows`, seen: String(itemsOf(model, large)?.length) }
        : undefined;
    },
  });
}

function idIn(body: Exchange['body'], field: string): string[] {
  const value =
    typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Readonly<Record<string, unknown>>)[field]
      : undefined;
  return value === undefined ? [] : [String(value)];
}
