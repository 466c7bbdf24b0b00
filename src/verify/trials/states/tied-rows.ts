import type { Json } from '../../../document/document.ts';
import type { Following, FollowingEffect } from '../../../parts/effects.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { type Followed, fieldNaming, referringRows } from '../../../parts/followed.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { hasNextPage, widest } from '../../make/pages.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowIn, rowsShown, rowWith, type ShownFields, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';

/** An act that follows from what a caller does. */
export interface Chain {
  readonly followed: Followed;
  readonly act: Following;
  readonly does: FollowingEffect;
  readonly endpoint: Endpoint;
}

/** How rows are tied to what changed: by a field that names it, or that names what a field of it, `by`, names too. */
export interface Tie {
  readonly field: string;
  readonly by?: string;
}

/** What the field of a tie holds of the row that an exchange shows. */
export function tiedId(model: Model, { by }: Tie, shown: TrialExchange): Json | undefined {
  const id = idIn(model, shown);
  if (by === undefined) return id;
  const row = rowWith(model, shown, id) ?? rowIn(shown);
  const resource = rowsShown(model, shown)?.resource;
  return row && (resource === undefined ? row : unexpanded(model, resource, row))[by];
}

/** How rows that are made, or that something is done to, are tied to what changed: by a field that names it, or what a field of it names, too. */
export function tieOf(model: Model, { followed, act, does }: Chain): Tie | undefined {
  if (does.verb !== 'create') {
    const field = act.each && !act.to ? referringRows(model.spec, act.each)?.field : undefined;
    return field === undefined ? undefined : { field };
  }
  const own = model.identifierField(followed.resource);
  const refOf = (resource: string, name: string) => entryOf(model.resource(resource)?.fields, name)?.ref;
  const ties = Object.entries(act.set).flatMap(([field, { source }]): Tie[] => {
    const by = fieldNaming(source);
    const to = refOf(does.resource, field);
    if (by === undefined || to === undefined) return [];
    if (by === own) return to === followed.resource ? [{ field }] : [];
    return to === refOf(followed.resource, by) ? [{ field, by }] : [];
  });
  const tied = ties.find(({ by }) => by === undefined) ?? ties[0];
  if (!tied) throw new Untestable(`nothing of a new ${does.resource} says from which ${followed.resource} it came`);
  return tied;
}

/** The row by which a list is narrowed to those that are tied to one. @throws {Untestable} */
export function tiedTo(session: Session, { field, by }: Tie, row: TrialRow, { does }: Chain): TrialRow {
  if (by === undefined) return row;
  const id = row.known[by];
  session.need(id !== undefined, `the ${by} of a ${row.resource} is not shown`);
  const resource = entryOf(session.model.resource(does.resource)?.fields, field)?.ref ?? '';
  return { resource, id, known: {}, caller: row.caller, shown: undefined, fields: undefined };
}

/**
 * Asks a list for the rows that refer to another by a field, on one page, as somebody who is meant where they may; nothing where no list shows
 * them so.
 */
export async function listReferring(
  session: Session,
  resource: string,
  field: string,
  to: TrialRow,
  asking?: TrialCaller,
): Promise<Done<TrialExchange> | undefined> {
  const { model } = session;
  for (const endpoint of model.endpointsThat('list', resource)) {
    const bound = pathParameters(endpoint.path);
    if (bound.some((name) => name !== field)) continue;
    const filter = entriesOf(endpoint.parameters).find(([, { filters, op }]) => filters === field && op === '=');
    const query = { ...widest(model, endpoint), ...(bound.length === 0 && filter && { [filter[0]]: to.id }) };
    const able = callersFor(session, endpoint);
    const meant = able.filter((caller) => caller === asking);
    for (const caller of [...new Set([...meant, ...able])].slice(0, callersMost)) {
      const path = bound.length === 0 ? {} : { [field]: to.id };
      const done = await session.send(model.request(endpoint, { path, query, caller }));
      if (isDone(done.value) && !hasNextPage(model, done.value)) return done;
    }
  }
  return undefined;
}

const callersMost = 3;

/** Whether what comes of a change is surely shown to whoever looks: to all who may list such rows, or to whoever brought it about. */
export function isShownTo(model: Model, changed: TrialExchange, list: TrialExchange): boolean {
  const { endpoint, caller } = list;
  if (caller !== undefined && caller === changed.caller) return true;
  const rules = endpoint && model.access.rules(model.operationOf(endpoint), caller);
  return !rules?.some((rule) => rule.if);
}

export function rowsListed(model: Model, exchange: TrialExchange, resource: string): readonly ShownFields[] | undefined {
  const shown = rowsShown(model, exchange);
  return shown?.resource === resource ? shown.rows.map((row) => unexpanded(model, resource, row)) : undefined;
}

/** The rows of a list that refer to one by a field, or may do so where the field is not shown. */
export function rowsTiedTo(
  model: Model,
  exchange: TrialExchange,
  resource: string,
  field: string,
  id: Json | undefined,
): readonly ShownFields[] | undefined {
  const stated = entryOf(model.resource(resource)?.fields, field);
  const isHidden =
    stated?.visible?.length === 0 ||
    model.unseenBy(resource, model.readerOf(exchange)).has(field) ||
    Object.hasOwn(exchange.sent.path, field);
  // What may be left out and is not shown refers to nothing.
  const refersToNone = !isHidden && stated !== undefined && statedValue(stated.required) !== true;
  return rowsListed(model, exchange, resource)?.filter((row) =>
    row[field] === undefined ? !refersToNone : asText(row[field]) === asText(id),
  );
}
