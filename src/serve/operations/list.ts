import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import type { FoundRow, Reader, Transaction } from '../../store/store.ts';
import { acceptedSchemes } from '../callers/accepted-schemes.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import { type Exchange, type OperationRun, refusalReply } from '../exchange/exchange.ts';
import type { Reply } from '../http/call.ts';
import { contentTag } from '../http/conditions.ts';
import { changeFor, readFor, type Work, workFor } from '../resources/act.ts';
import {
  compileEnvelope,
  compileLinks,
  envelopeOf,
  type LongPage,
  type Page,
  type PageEnvelope,
  pageTold,
} from '../resources/lists/envelope.ts';
import type { CompiledList, RowsUse } from '../resources/lists/list.ts';
import { boundFields, compileLocator } from '../resources/locate.ts';
import type { RowModel } from '../resources/model.ts';
import { compileOwnErrors } from '../resources/precondition.ts';
import { compileRepresentation, type Representation } from '../resources/representation.ts';
import type { Drawn } from '../resources/setters.ts';
import { compileAnswers } from './answers.ts';
import type { Engine } from './engine.ts';
import { LongLists, type ShowRows } from './long-list.ts';
import { unlessFresh } from './row-reply.ts';

/** Compiles the answering of a list. Where nothing hides or expands, the stored texts are joined as they are. */
export function compileListRun(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  list: CompiledList,
  engine: Engine,
): OperationRun {
  const { compilation, models } = engine;
  const representation = compileRepresentation(model, endpoint, models, compilation, false);
  const { pagination } = list.paging;
  const envelope = compileEnvelope(pagination);
  const secrets = acceptedSchemes(compilation.spec).flatMap((one) => (one.in === 'query' ? [one.carrier] : []));
  const links = compileLinks(pagination, secrets, compilation.standIn !== undefined);
  const answers = compileAnswers(endpoint, compilation);
  const ownErrors = compileOwnErrors(operation, compilation);
  const { standIn } = compilation;
  // A stand-in names what was made up of each row.
  const use: RowsUse = answers || standIn ? 'whole' : representation.isPlain ? 'joined' : 'shown';
  const openPages = compilation.facts.about('pagination bounds', endpoint.key);

  function page(rows: Reader, exchange: Exchange, draw: Drawn): Reply | LongPage {
    const work: Work<Reader> = workFor(rows, models, exchange, draw);
    const found = list.run(work, exchange, use);
    if ('tooMany' in found) return refusalReply(exchange, { open: openPages });
    if ('refusal' in found) return refusalReply(exchange, found.refusal);
    const own = ownErrors?.(work.scope);
    if (own) return refusalReply(exchange, own);
    if (found.isInDoubt) exchange.accepted = [...(exchange.accepted ?? []), ...openPages];
    if ('long' in found) return found;
    if (exchange.cost) exchange.cost.rows = typeof found.items === 'string' ? undefined : found.items.length;
    const headers = headersOf(endpoint, links.header(found, exchange.call));
    if (answers && typeof found.items !== 'string') return stated(work, exchange, found, found.items, headers);
    const { items } = found;
    if (standIn && typeof items !== 'string') for (const row of items) standIn.tellRow(exchange, rows, model, idOf(model, row));
    const texts = typeof items === 'string' ? items : items.map(({ doc }) => representation.text(work, exchange, doc)).join(',');
    return unlessFresh(exchange, pageReply(endpoint, headers, texts, envelope(found, exchange.call)));
  }

  function stated(
    work: Work<Reader>,
    exchange: Exchange,
    found: Page,
    rows: readonly FoundRow[],
    headers: Record<string, string>,
  ): Reply {
    const items = rows.map(({ doc }) => representation.show(work, exchange, doc));
    const told = { ...toldOf(found), items, next_url: links.next(found, exchange.call) };
    const scope = { ...work.scope, ...told, result: envelopeOf(pagination, items, found, exchange.call) };
    if (standIn) for (const row of rows) standIn.tellRow(exchange, work.rows, model, idOf(model, row));
    const page = standIn && pageTold(found, rows.length, exchange.call, links);
    const made = answers?.(exchange, { status: 200, scope, work, ...(page && { page }) });
    if (!made || 'refusal' in made) return refusalReply(exchange, made?.refusal ?? { when: 'internal' });
    return unlessFresh(exchange, { ...made.reply, headers: { ...headers, ...made.reply.headers } });
  }

  const write = compileWriting(endpoint, representation, engine, envelope);
  const begin = compileBeginning(endpoint, model, engine);
  return (exchange) => after(findPage(exchange, engine, begin, page), (made) => ('long' in made ? write(exchange, made) : made));
}

/** Finds a page in a read, or in the change that makes what a stand-in's list begins with. */
function findPage<T>(
  exchange: Exchange,
  engine: Engine,
  begin: ReturnType<typeof compileBeginning>,
  page: (rows: Reader, exchange: Exchange, draw: Drawn) => T,
): PromiseOrValue<T> {
  if (!begin) return readFor(engine, exchange, (rows, draw) => page(rows, exchange, draw));
  return changeFor(engine, exchange, (rows, draw) => {
    begin(rows, exchange, draw);
    return page(rows, exchange, draw);
  });
}

/** Compiles the answering of a list that has too many rows to be read at once: it is written as it is read, or held to be told the tag of. */
function compileWriting(endpoint: Endpoint, representation: Representation, engine: Engine, envelope: PageEnvelope) {
  const longLists = new LongLists(engine);
  const { models } = engine;
  return (exchange: Exchange, page: LongPage): PromiseOrValue<Reply> => {
    const { long } = page;
    const ends = envelope(page, exchange.call);
    const show: ShowRows = (rows, draw, numbers) => {
      const work: Work<Reader> = workFor(rows, models, exchange, draw);
      return long
        .rowsOf(rows, numbers)
        .map(({ doc }) => representation.text(work, exchange, doc))
        .join(',');
    };
    const headers = headersOf(endpoint, undefined);
    const stream = (): Reply => ({
      status: 200,
      headers: { ...headers, 'content-type': 'application/json' },
      body: undefined,
      stream: longLists.stream(exchange, long, show, ends),
    });
    if (!endpoint.etag) return stream();
    return longLists
      .text(exchange, long, show, taggedMost)
      .then((text) => (text === undefined ? stream() : unlessFresh(exchange, pageReply(endpoint, headers, text, ends))));
  };
}

/** A list with a longer text than that is not held to be told a tag of. */
const taggedMost = 16 * 2 ** 20;

/** Compiles the making of the rows that a list of a stand-in begins with; nothing where it begins with none. */
function compileBeginning(endpoint: Endpoint, model: RowModel, { compilation, models }: Engine) {
  const { standIn } = compilation;
  if (!standIn?.given.has(model.name)) return undefined;
  const { bound } = compileLocator(endpoint, model, models, compilation);
  return (rows: Transaction, exchange: Exchange, draw: Drawn): void =>
    standIn.given.list(workFor(rows, models, exchange, draw), model, boundFields(model, bound, exchange));
}

/** A page of rows in the text of its envelope. */
function pageReply({ etag }: Endpoint, headers: Record<string, string>, texts: string, [head, tail]: readonly [string, string]) {
  const body = head + texts + tail;
  // Of three texts the long one is whole: the three together would be copied to be counted.
  const bodyLength = Buffer.byteLength(head) + Buffer.byteLength(texts) + Buffer.byteLength(tail);
  headers['content-type'] = 'application/json';
  if (etag) headers.etag = etag === 'weak' ? `W/${contentTag(body)}` : contentTag(body);
  return { status: 200, headers, body, bodyLength };
}

function headersOf({ cache }: Endpoint, link: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (link) headers.link = link;
  if (cache !== undefined) headers['cache-control'] = cache;
  return headers;
}

/** The identifier of a row of a page, of which nothing but its text is read. */
function idOf(model: RowModel, row: FoundRow): string {
  return String(model.parse(row)[model.identifier.field]);
}

/** What expressions read of a page, besides its rows. */
function toldOf({ next, hasMore, total }: Page) {
  return { next_cursor: textOf(next), has_more: hasMore, total };
}

/** A cursor as expressions have it: some styles of pages count in numbers. */
function textOf(cursor: Page['next']): string | null {
  return typeof cursor === 'number' ? String(cursor) : cursor;
}
