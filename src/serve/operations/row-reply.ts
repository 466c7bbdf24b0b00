import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import type { Reader } from '../../store/store.ts';
import type { Exchange, Refusal } from '../exchange/exchange.ts';
import type { Reply } from '../http/call.ts';
import { contentTag } from '../http/conditions.ts';
import type { AnsweredOutcome, Work } from '../resources/act.ts';
import type { RowModel } from '../resources/model.ts';
import { compileAddress } from '../resources/path-rows.ts';
import { compileRowTag, tagAs, tagWithin } from '../resources/precondition.ts';
import { compileRepresentation } from '../resources/representation.ts';
import { compileAnswers, type MakeAnswer } from './answers.ts';
import type { Engine } from './engine.ts';

/** Makes the answer of an act on one row. `again` is the answer that is kept for a replay: without what is revealed once. */
export type MakeRowReply = (
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
    const headers = firstHeaders(endpoint, did === 'created' ? address?.(work, fields)?.path : undefined);
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
