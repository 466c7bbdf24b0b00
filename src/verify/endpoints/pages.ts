import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { pathParameters } from '../../parts/payload.ts';
import { hasNextPage, nextPage, paginationOf } from '../make/pages.ts';
import { itemsOf } from '../model/row-shown.ts';
import { moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import type { Trial } from '../trial.ts';
import { beginList } from './lists.ts';
import { rowsOf } from './order.ts';

const rowCount = 5;
const pagesMax = 30;

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
  const pagination = paginationOf(model, endpoint);
  const list = await beginList(session, endpoint, rowCount);
  const { size } = pagination ?? {};
  const narrow = size === undefined ? {} : { [size]: pathParameters(endpoint.path).length > 0 ? 2 : 7 };
  const seen: Done<Exchange>[] = [];
  let page: Done<Exchange> | undefined = await list.ask(narrow);
  for (let at = 0; page && at < pagesMax; at++) {
    seen.push(page);
    if (size !== undefined) claimSize(session, endpoint, page, size);
    if (adds && at === 0) await session.make(list.resource, { parents: list.parents });
    const next = nextPage(model, page);
    page = next && (await list.ask({ ...narrow, ...next }));
  }
  session.need(page === undefined, `the list has more than ${pagesMax} pages`);
  const made = list.rows.flatMap((row) => (row.made ? [row.made] : []));
  const field = model.identifierField(list.resource);
  session.claim({
    ...{
      fact: { kind: 'pagination bounds', subject: endpoint.key },
      reason: adds ? 'once, while rows are added' : 'once',
      of: [...seen, ...made],
    },
    judge(...exchanges: readonly Exchange[]) {
      const shown = exchanges.slice(0, seen.length);
      const last = shown.at(-1);
      if (shown.some((one) => !isDone(one)) || !last || hasNextPage(model, last)) return moot('not all pages were shown');
      const ids = shown.flatMap((one) => (rowsOf(session, one) ?? []).map((row) => String(row[field])));
      const twice = ids.find((id, at) => ids.indexOf(id) !== at);
      if (twice !== undefined) return { promised: 'every row once', seen: `${twice} twice` };
      const wanted = exchanges
        .slice(seen.length)
        .filter(isDone)
        .flatMap(({ body }) => idIn(body, field));
      const lost = wanted.find((id) => !ids.includes(id));
      return lost === undefined ? undefined : { promised: `every row, ${lost} too`, seen: `${ids.length} rows without it` };
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

function claimSize(session: Session, endpoint: Endpoint, page: Done<Exchange>, size: string): void {
  session.claim({
    ...{ fact: { kind: 'pagination bounds', subject: endpoint.key }, reason: 'size', of: [page] as const },
    judge(exchange: Exchange) {
      const asked = Number(exchange.sent.query[size]);
      const items = isDone(exchange) ? itemsOf(session.model, exchange) : undefined;
      if (!items || !Number.isFinite(asked)) return moot('no page was shown');
      return items.length <= asked ? undefined : { promised: `at most ${asked} rows`, seen: String(items.length) };
    },
  });
}
