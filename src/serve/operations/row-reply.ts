/** How one row is answered: what an act on it has made of it, and what reading it shows. */

import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Reader, Row } from '../../store/store.ts';
import { type Exchange, type Fields, type OperationRun, type Refusal, refusalReply } from '../exchange/exchange.ts';
import type { Reply } from '../http/call.ts';
import { contentTag, evaluateConditions } from '../http/conditions.ts';
import { type AnsweredOutcome, changeFor, readFor, type Work, workFor } from '../resources/act.ts';
import type { DeletedRow } from '../resources/kept-row.ts';
import { compileLocator } from '../resources/locate.ts';
import type { RowModel } from '../resources/model.ts';
import { compileAddress } from '../resources/path-rows.ts';
import { compileOwnErrors, compileRowTag, tagAs, tagWithin } from '../resources/precondition.ts';
import { compileRepresentation, type Representation } from '../resources/representation.ts';
import type { Drawn } from '../resources/setters.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';
import { compileAnswers, type MakeAnswer } from './answers.ts';
import type { Engine } from './engine.ts';

/** Makes the answer of an act on one row. `again` is the answer that is kept for a replay: without what is revealed once. */
type MakeRowReply = (
  work: Work<Reader>,
  exchange: Exchange,
  outcome: AnsweredOutcome,
) => { readonly reply: Reply; readonly again: Reply } | { readonly refusal: Refusal };

/**
 * Compiles the answers of an endpoint that is about one row: 201 with `Location`, 200, 204, or what it states. Who changes a row that it
 * may not read is answered 204, unless the endpoint states an answer; what somebody makes is told to it.
 */
export function compileRowReply(endpoint: Endpoint, model: RowModel, engine: Engine): MakeRowReply {
  const { compilation, models } = engine;
  const { standIn } = compilation;
  const reveals = statedValue(endpoint.does)?.verb !== 'read';
  const revealing = compileRepresentation(model, endpoint, models, compilation, true);
  const usual = compileRepresentation(model, endpoint, models, compilation, false);
  const answers: MakeAnswer | undefined = compileAnswers(endpoint, compilation);
  const address = compileAddress(model, models, compilation);
  const reading = compilation.access.reading(model.name, compilation.user);
  const { etag } = endpoint;
  const ownTag = compileRowTag(model, compilation, compilation.user);
  const isRowTold = (statedValue(endpoint.response) ?? []).some(({ shape, data }) => isStated(shape) && data === undefined);
  const differs = reveals && [...model.fields.values()].some((field) => field.reveal === 'once');

  function build(
    work: Work<Reader>,
    exchange: Exchange,
    outcome: AnsweredOutcome,
    isRevealed: boolean,
  ): { readonly reply: Reply } | { readonly refusal: Refusal } {
    const representation = isRevealed ? revealing : usual;
    const { row, fields, did } = outcome;
    const status = did === 'created' ? 201 : did === 'deleted' ? 204 : 200;
    const at = did === 'created' ? (address?.(work, fields)?.path ?? atTarget(endpoint, exchange)) : undefined;
    const headers = firstHeaders(endpoint, at);
    if (did !== 'deleted') standIn?.tellRow(exchange, work.rows, model, row.id, work.sampled);
    if (answers) {
      // What is told of a deletion, where nothing else is said, is what the row was.
      const isTold = did !== 'deleted' || standIn !== undefined || isRowTold;
      const shown = isTold ? representation.show(work, exchange, row.doc) : undefined;
      const made = answers(exchange, { status, scope: { ...work.scope, result: shown, resource: fields, next: fields }, work });
      if ('refusal' in made) return made;
      if (etag && did !== 'deleted') headers.etag = tagAs(etag, tagWithin(ownTag(row, work.scope), made.reply.body));
      return { reply: { ...made.reply, headers: { ...headers, ...made.reply.headers } } };
    }
    if (did === 'deleted') return { reply: { status, headers, body: undefined } };
    const isChange = did === 'changed' || did === 'unchanged';
    if (isChange && !reading.isFree && !reading.allows(work.scope, fields))
      return { reply: { status: 204, headers, body: undefined } };
    headers['content-type'] = 'application/json';
    const body = representation.isPlain ? row.doc : representation.text(work, exchange, row.doc);
    if (etag) {
      const isOwn = !isRevealed && !representation.mayDiffer;
      const own = isOwn ? contentTag(body) : ownTag(row, work.scope);
      headers.etag = tagAs(etag, representation.differs(exchange) ? tagWithin(own, body) : own);
    }
    return { reply: { status, headers, body } };
  }

  return (work, exchange, outcome) => {
    const isMaking =
      differs && (outcome.did === 'created' || outcome.did === 'changed') && revealsNow(model, exchange, outcome.did);
    const first = build(work, exchange, outcome, isMaking);
    if ('refusal' in first) return first;
    if (!isMaking) return { reply: first.reply, again: first.reply };
    const second = build(work, exchange, outcome, false);
    return 'refusal' in second ? second : { reply: first.reply, again: second.reply };
  };
}

/** What a PUT makes is at the address that it was sent to (RFC 9110 section 9.3.4), also where no field of the row says that. */
function atTarget({ method, does, identity }: Endpoint, { call }: Exchange): string | undefined {
  return method === 'PUT' && identity && statedValue(does)?.verb === 'upsert' ? call.path : undefined;
}

function firstHeaders({ cache }: Endpoint, location: string | undefined): Record<string, string> {
  return { ...(cache !== undefined && { 'cache-control': cache }), ...(location !== undefined && { location }) };
}

/** A secret is shown where it is made: on creation, and by an operation that sets it anew. */
function revealsNow(model: RowModel, exchange: Exchange, did: 'created' | 'changed'): boolean {
  if (did === 'created') return true;
  const { operation } = exchange.plan;
  const words = [operation.name, operation.transition?.name ?? ''];
  return [...model.fields.values()].some(
    (field) => field.reveal === 'once' && words.some((word) => field.set[word] !== undefined),
  );
}

/** Compiles `read RESOURCE`. Where nothing asks for more, the stored text is the answer. */
export function compileRead(operation: Operation, endpoint: Endpoint, model: RowModel, engine: Engine): OperationRun {
  const { compilation, models } = engine;
  const locator = compileLocator(endpoint, model, models, compilation);
  const ownErrors = compileOwnErrors(operation, compilation);
  const reply = compileRowReply(endpoint, model, engine);
  const representation = compileRepresentation(model, endpoint, models, compilation, false);
  const { lowered } = representation;
  // A stand-in makes what nothing makes when it is first asked for.
  const isGiven = compilation.standIn?.given.has(model.name) ?? false;
  const isDirect =
    !isGiven && (representation.isPlain || lowered) && locator.isDirect && !ownErrors && endpoint.response.standing === 'open';
  const { cache, etag } = endpoint;
  const tellDeleted = compileDeletedAnswer(endpoint, model, representation, compilation);

  function direct(rows: Reader, exchange: Exchange, draw: Drawn): Reply {
    const found = locator.isGuarded ? guarded(rows, exchange, draw) : plainly(rows, exchange);
    if ('refusal' in found) return refusalReply(exchange, found.refusal);
    const { row } = found;
    compilation.standIn?.tellRow(exchange, rows, model, idIn(exchange));
    const body = lowered ? lowered(found.fields ?? model.parse(row)) : row.doc;
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (etag) headers.etag = tagAs(etag, contentTag(body));
    if (cache !== undefined) headers['cache-control'] = cache;
    return unlessFresh(exchange, { status: 200, headers, body });
  }

  /** The path says it all where a read is direct. */
  const idIn = ({ pathParams }: Exchange): string => pathParams[locator.parameter as string] as string;

  function plainly(
    rows: Reader,
    exchange: Exchange,
  ): { readonly row: Pick<Row, 'doc' | 'rev'>; readonly fields?: Fields } | { readonly refusal: Refusal } {
    const row = rows.text(model.name, idIn(exchange));
    return row ? { row } : { refusal: { when: 'resource.missing' } };
  }

  function guarded(rows: Reader, exchange: Exchange, draw: Drawn): ReturnType<typeof locator.find> {
    return locator.find(workFor(rows, models, exchange, draw), exchange);
  }

  function whole(rows: Reader, exchange: Exchange, draw: Drawn): Reply {
    const work: Work<Reader> = workFor(rows, models, exchange, draw);
    const found = locator.find(work, exchange);
    if ('refusal' in found)
      return (found.deleted && tellDeleted?.(work, exchange, found.deleted)) ?? refusalReply(exchange, found.refusal);
    const own = ownErrors?.({ ...work.scope, resource: found.fields });
    if (own) return refusalReply(exchange, own);
    const made = reply(work, exchange, { did: 'read', row: found.row, fields: found.fields });
    return 'refusal' in made ? refusalReply(exchange, made.refusal) : unlessFresh(exchange, made.reply);
  }

  const read = isDirect ? direct : whole;
  if (isGiven) return (exchange) => changeFor(engine, exchange, (rows, draw) => whole(rows, exchange, draw));
  return (exchange) => readFor(engine, exchange, (rows, draw) => read(rows, exchange, draw));
}

/** What tells of a row that was deleted and is kept; nothing where it is refused as gone. */
function compileDeletedAnswer(
  endpoint: Endpoint,
  { resource: { kept } }: RowModel,
  representation: Representation,
  compilation: ViewCompilation,
): ((work: Work<Reader>, exchange: Exchange, deleted: DeletedRow) => Reply) | undefined {
  if (!kept?.answers) return undefined;
  const answers = compileAnswers(
    { ...endpoint, response: { standing: 'stated', value: kept.answers, at: kept.at } },
    compilation,
  );
  return (
    answers &&
    ((work, exchange, { row, fields }) => {
      const result = representation.show(work, exchange, row.doc);
      const made = answers(exchange, { status: 200, scope: { ...work.scope, result, resource: fields }, work });
      return 'refusal' in made ? refusalReply(exchange, made.refusal) : made.reply;
    })
  );
}

/** 304 where the caller has it already (RFC 9110 section 13.1.2). */
export function unlessFresh(exchange: Exchange, reply: Reply): Reply {
  const noneMatch = exchange.call.headers['if-none-match'];
  const tag = reply.headers.etag;
  if (noneMatch === undefined || tag === undefined) return reply;
  const verdict = evaluateConditions({ method: 'GET', ifMatch: undefined, ifNoneMatch: String(noneMatch), current: [tag] });
  if (verdict !== 'not-modified') return reply;
  const { 'content-type': _type, ...headers } = reply.headers;
  return { status: 304, headers, body: undefined };
}
