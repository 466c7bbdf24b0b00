import { pageStyle } from '../../../kinds/pages/all.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { isCut } from '../../../parts/limits.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { directorOf } from '../../../parts/parameters.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { beginList, canBeOwn, type OwnList } from '../../make/own-list.ts';
import { mayGoOn, paginationOf, walkingPages } from '../../make/pages.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { OwnText, valuesApart } from '../../values/apart.ts';
import { goThroughEvenly, lastPage, rowsMost } from './full-pages.ts';
import { pagesOf, sortWords } from './order.ts';
import { judgeLast, judgeLinks, judgeOnce, judgeSelf, judgeShown, judgeSize, judgeTotal, totalCases } from './totals.ts';

/** As many as fill three pages of a list in which nothing else is, or two of one in which there may be more. */
const rowCount = 6;

/** The pages of a list show every row once, also while rows are added where the style allows that to be seen. */
export const completePages: Trial = {
  name: 'endpoints/pages',
  part: 'endpoints',
  about:
    'Going through the pages shows every row once, and each page says rightly whether there is another and how many rows there are.',
  noise: 'quiet',
  cases: (model) => casesOf(model, true),
};

/** The same of lists that cannot be narrowed to rows that nobody else makes. */
export const sharedPages: Trial = {
  ...completePages,
  name: 'endpoints/shared pages',
  noise: 'alone',
  cases: (model) => casesOf(model, false),
};

function* casesOf(model: Model, isOwn: boolean): Iterable<Case> {
  for (const endpoint of model.endpoints) {
    const stated = statedValue(endpoint.pagination ?? model.spec.limits.pagination);
    if (statedValue(endpoint.does)?.verb !== 'list' || !stated || endpoint.response.standing !== 'open') continue;
    if (!isOwn) yield* totalCases(model, endpoint);
    const facts = [{ kind: 'pagination bounds', subject: endpoint.key }];
    // Nobody removes the rows of another case, so these are there whatever else is.
    const isPaged = isCut(stated);
    if (!isPaged && isOwn) yield { name: `${endpoint.key} on one page`, facts, run: (session) => showAll(session, endpoint) };
    if (!isPaged || canBeOwn(model, endpoint) !== isOwn) continue;
    yield { name: endpoint.key, facts, run: (session) => goThrough(session, endpoint, isOwn) };
    if (pageStyle(stated.style).isSteady)
      yield { name: `${endpoint.key} while rows are added`, facts, run: (session) => goThroughAdding(session, endpoint) };
  }
}

/** A list without pages is not cut off. */
async function showAll(session: Session, endpoint: Endpoint): Promise<void> {
  const list = await beginList(session, endpoint, { bodies: Array(rowCount).fill({}), narrowedBut: [] });
  const seen = await list.ask({});
  claimShown(session, endpoint, list, seen, 'all on one page');
  session.claim({
    fact: { kind: 'pagination bounds', subject: endpoint.key },
    reason: 'once on one page',
    of: [seen] as const,
    judge: (answer: TrialExchange) => judgeOnce(session, [answer]),
  });
}

/** Pages of which the last is exactly full, so that it takes knowing that it is the last. */
async function goThrough(session: Session, endpoint: Endpoint, isOwn: boolean): Promise<void> {
  const { model } = session;
  const fact = { kind: 'pagination bounds', subject: endpoint.key };
  const { size, default: usual = rowsMost } = paginationOf(model, endpoint) ?? {};
  const count = size === undefined ? 2 * usual : rowCount;
  session.need(count <= rowsMost, `${count} rows are too many to make, and a smaller page cannot be asked for`);
  const list = await beginList(session, endpoint, { bodies: Array(count).fill({}), narrowedBut: [] });
  session.need(list.isOwn || !isOwn, `others make a ${list.resource} at the same time`);
  await addForeign(session, endpoint, list);
  const walk = await session.do(walkingPages(model, list.plan(sizeFor(model, endpoint, list))));
  const of = [walk] as const;
  session.claim({ fact, reason: 'once', of, judge: (seen: readonly TrialExchange[]) => judgeOnce(session, seen) });
  claimShown(session, endpoint, list, walk, 'every row');
  session.claim({ fact, reason: lastPage, of, judge: (seen: readonly TrialExchange[]) => judgeLast(session, seen) });
  await goThroughEvenly(session, endpoint, list, walk);
  session.claim({ fact, reason: 'link', of, judge: (seen: readonly TrialExchange[]) => judgeLinks(session, seen) });
  // Of a list of others' rows the smallest pages are more than are gone through.
  const whole = list.isOwn || !mayGoOn(walk.value) ? walk : await list.all({});
  session.claim<readonly [TrialExchange | readonly TrialExchange[]]>({
    fact,
    reason: 'total',
    of: [whole],
    judge: (seen) => judgeTotal(session, pagesOf(seen)),
  });
  session.claim({ fact, reason: 'size', of, judge: (seen: readonly TrialExchange[]) => judgeSize(session, seen) });
  session.claim({ fact, reason: 'its own path', of, judge: (seen: readonly TrialExchange[]) => judgeSelf(session, seen) });
}

/** Pages between which a row is added, before those that were shown where the list has an order in which that can be. */
async function goThroughAdding(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const own = new OwnText();
  const { bodies, added, query } = addingTo(session, endpoint, own);
  const list = await beginList(session, endpoint, { own, bodies, narrowedBut: [] });
  const addition = await session.creation(list.resource, list.wanted(rowCount, added));
  // Rows of one moment have the order in which they were made, and then the new one would be the last.
  const between = { ...addition, afterMs: 20 };
  const first = list.plan({ ...query, ...sizeFor(model, endpoint, list) });
  const walk = await session.do(walkingPages(model, first, between));
  session.claim({
    fact: { kind: 'pagination bounds', subject: endpoint.key },
    reason: 'once, while rows are added',
    of: [walk] as const,
    judge: (seen: readonly TrialExchange[]) => judgeOnce(session, seen),
  });
  claimShown(session, endpoint, list, walk, 'every row, while rows are added');
}

/** Each row that was made, so that what is lost needs no others to be shown; all at once where chance says which comes first. */
function claimShown(
  session: Session,
  endpoint: Endpoint,
  { rows, resource }: OwnList,
  seen: Done<TrialExchange | readonly TrialExchange[]>,
  reason: string,
): void {
  if (endpoint.order.some(({ field }) => isSendable(session.model, resource, field))) {
    const made = rows.flatMap((row) => (row.made ? [row.made] : []));
    session.claim<readonly [TrialExchange | readonly TrialExchange[], ...TrialExchange[]]>({
      fact: { kind: 'pagination bounds', subject: endpoint.key },
      reason,
      of: [seen, ...made],
      judge: (answer, ...creations) => judgeShown(session, pagesOf(answer), creations),
    });
    return;
  }
  for (const { made } of rows) {
    if (!made) continue;
    const isHeld = session.claim({
      fact: { kind: 'pagination bounds', subject: endpoint.key },
      reason,
      of: [seen, made] as const,
      judge: (answer: TrialExchange | readonly TrialExchange[], creation: TrialExchange) =>
        judgeShown(session, pagesOf(answer), [creation]),
    });
    if (!isHeld) return;
  }
}

type Query = Readonly<Record<string, Symbolic>>;

function addingTo(
  { model }: Session,
  endpoint: Endpoint,
  own: OwnText,
): { readonly bodies: readonly Query[]; readonly added: Query; readonly query: Query } {
  const plain = { bodies: Array<Query>(rowCount).fill({}), added: {}, query: {} };
  if (endpoint.order[0]?.descending || directorOf(endpoint)?.default) return plain;
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const resource = model.resource(name);
  for (const [parameter, stated] of entriesOf(endpoint.parameters)) {
    if (!stated.sorts || stated.in !== 'query') continue;
    for (const [field, [word]] of sortWords({ model }, endpoint, stated)) {
      const shape = statedValue(resource && entryOf(resource.fields, field)?.shape);
      const isNumber = shape?.type === 'integer' || shape?.type === 'number';
      const [low, , high] = shape && isNumber && isSendable(model, name, field) ? valuesApart(shape, own) : [];
      const isUnique = resource?.unique.some(({ fields }) => fields.includes(field));
      if (low === undefined || high === undefined || word === undefined || isUnique) continue;
      const [of, added] = word.startsWith('-') ? [low, high] : [high, low];
      return { bodies: Array<Query>(rowCount).fill({ [field]: of }), added: { [field]: added }, query: { [parameter]: word } };
    }
  }
  return plain;
}

function sizeFor(model: Model, endpoint: Endpoint, { isOwn }: OwnList): Readonly<Record<string, number>> {
  const { size, max } = paginationOf(model, endpoint) ?? {};
  return size === undefined ? {} : { [size]: Math.min(isOwn ? rowCount / 3 : rowCount / 2, max ?? rowCount) };
}

/** A row that the reader may not see, where there are such: it is not counted either. */
async function addForeign(session: Session, endpoint: Endpoint, { caller, resource, wanted, row, rows }: OwnList): Promise<void> {
  const { model } = session;
  const rules = caller && model.access.rules(model.operationOf(endpoint), caller);
  if (!rules || rules.length === 0 || !rules.every((rule) => rule.if)) return;
  for (const other of model.callers) {
    if (other === caller || other === row.caller) continue;
    try {
      await session.make(resource, { ...wanted(rows.length), caller: other });
      return;
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
    }
  }
}
