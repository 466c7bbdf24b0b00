import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Reader, Row } from '../../store/store.ts';
import { type Exchange, type Fields, type OperationRun, type Refusal, refusalReply } from '../exchange/exchange.ts';
import type { Reply } from '../http/call.ts';
import { contentTag, evaluateConditions } from '../http/conditions.ts';
import { changeFor, readFor, type Work, workFor } from '../resources/act.ts';
import type { DeletedRow } from '../resources/kept-row.ts';
import { compileLocator } from '../resources/locate.ts';
import type { RowModel } from '../resources/model.ts';
import { compileOwnErrors } from '../resources/own-errors.ts';
import { tagAs } from '../resources/precondition.ts';
import { compileRepresentation, type Representation } from '../resources/representation.ts';
import type { Drawn } from '../resources/setters.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';
import { compileAnswers } from './answers.ts';
import type { Engine } from './engine.ts';
import { compileRowReply } from './row-reply.ts';

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
