import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf } from '../../../parts/fact.ts';
import type { Choosing, Operator, Parameter } from '../../../parts/parameters.ts';
import type { Reach } from '../../../parts/reach.ts';
import type { Field } from '../../../parts/resources.ts';
import { asText } from '../../exchange/as-text.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { beginList, type OwnList } from '../../make/own-list.ts';
import { hasNextPage } from '../../make/pages.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { type Candidate, choosableOf, isFree, makeCandidate } from './chosen-rows.ts';
import { matchesFilter } from './compared.ts';
import { pagesOf, rowsOf } from './order.ts';

/** A list that is chosen by more than one field as it is shows the rows that fit, and no row that does not. */
export async function listChosen(session: Session, endpoint: Endpoint, parameter: Parameter): Promise<void> {
  const { bodies, asks, reach } = choosableOf(session, endpoint, parameter);
  const list = await beginList(session, endpoint, { bodies: [{}] });
  const [through] = reach?.steps ?? [];
  const unseen = session.model.unseenBy(reach?.resource ?? list.resource, list.caller);
  session.need(!(reach?.names ?? []).some((name) => unseen.has(name)), `what ${parameter.name} goes by is not shown`);
  const candidates: Candidate[] = [];
  for (const [at, body] of bodies.entries()) candidates.push(await makeCandidate(session, list, at + 1, { reach, body }));
  for (const asked of asks) {
    const seen = await list.all({ [parameter.name]: asked });
    const claiming = { session, endpoint, parameter, list, reach };
    for (const candidate of candidates) {
      const isKnown = !through || candidate.read !== undefined || isFree(session, candidate.holder.resource, list.caller);
      if (isKnown) claimChosen(claiming, seen, candidate);
    }
  }
}

interface Claiming {
  readonly session: Session;
  readonly endpoint: Endpoint;
  readonly parameter: Parameter;
  readonly list: OwnList;
  readonly reach: Reach | undefined;
}

type Listed = TrialExchange | readonly TrialExchange[];

/** A row that fits what was asked is on one of the pages; one that does not is on none. */
function claimChosen(claiming: Claiming, seen: Done<Listed>, { row, holder, read }: Candidate): void {
  const { session, endpoint, parameter } = claiming;
  const { model } = session;
  const { made } = row;
  const held = holder.made;
  if (!made || !held) return;
  session.claim({
    fact: { kind: 'parameters', subject: endpoint.key },
    reason: `chosen by ${parameter.name}`,
    at: parameter.at,
    of: read ? ([seen, made, held, read] as const) : ([seen, made, held] as const),
    judge(answer: Listed, creation: TrialExchange, holding: TrialExchange, reading?: TrialExchange) {
      const pages = pagesOf(answer);
      const last = pages.at(-1);
      const sent = last?.sent.query[parameter.name];
      const id = isDone(creation) ? idIn(model, creation) : undefined;
      const fields = isDone(holding) ? rowWith(model, holding, idIn(model, holding)) : undefined;
      const isWhole = pages.every((page) => isDone(page) && rowsOf(session, page)) && last && !hasNextPage(model, last);
      if (!isWhole || sent === undefined || id === undefined || !fields) return moot('not all of it was shown');
      if (reading && !isDone(reading)) return moot('the caller does not read what it goes by');
      const fits = fitsAsked(claiming, fields, sent);
      if (fits === undefined) return moot('whether it fits cannot be said');
      const isShown = pages.some((page) => rowWith(model, page, id) !== undefined);
      if (isShown === fits) return undefined;
      const asked = `${parameter.name} = ${JSON.stringify(sent)}`;
      return fits
        ? { promised: `the row that fits ${asked}`, seen: 'rows without it' }
        : { promised: `no row that does not fit ${asked}`, seen: JSON.stringify(fields) };
    },
  });
}

/** Whether a row is chosen, or the row that has the value; nothing where that cannot be said. */
function fitsAsked(claiming: Claiming, fields: ShownFields, sent: Json): boolean | undefined {
  const { session, endpoint, parameter, reach } = claiming;
  const { chooses, op } = parameter;
  if (chooses?.by === 'keeps') {
    const context = { resource: fields, value: sent };
    const kept = session.model.expressions.evaluate(chooses.condition, endpoint.operation, { context });
    return kept === 'unknown' ? undefined : kept !== 'failed' && kept.value === true;
  }
  if (chooses?.by === 'search') {
    const words = asText(sent).toLowerCase().split(/\s+/).filter(Boolean);
    const texts = chooses.fields.map((name) => asText(fields[name] ?? '').toLowerCase());
    return words.every((word) => texts.some((text) => text.includes(word)));
  }
  if (!chooses || !reach) return undefined;
  const values = valuesAlong(fields, reach.names);
  const field = fieldFor(session.model, reach, chooses.ignoreCase);
  if (!field) return undefined;
  const asked: readonly Json[] = Array.isArray(sent) ? sent : [sent];
  const one = (ask: Json) =>
    some(values.map((value) => fitsOne(value, ask, chooses, reach.isList && op === 'contains' ? '=' : op, field)));
  const each = asked.map(one);
  return chooses.isAll ? every(each) : some(each);
}

function fitsOne(
  value: Json,
  asked: Json,
  { zone, ignoreCase }: Extract<Choosing, { by: 'path' }>,
  op: Operator,
  field: Field,
): boolean | undefined {
  // Where the parameter itself minds no case, pieces of texts are compared without it.
  const fold = (one: Json): Json => (ignoreCase && (op === 'prefix' || op === 'contains') ? asText(one).toLowerCase() : one);
  if (zone === undefined) return matchesFilter(fold(value), op === 'in' ? '=' : op, fold(asked), field);
  const ms = Date.parse(asText(value));
  if (Number.isNaN(ms)) return undefined;
  // Swedish writes dates as ISO 8601 does.
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(ms);
  if (op === '=' || op === '!=') return (day === asked) === (op === '=');
  if (day === asked) return op === '<=' || op === '>=';
  return day < asText(asked) === op.startsWith('<');
}

function fieldFor(model: Model, { resource, names: [first = ''], shape }: Reach, ignoreCase: boolean): Field | undefined {
  const stated = model.resource(resource);
  const field = stated && entryOf(stated.fields, first);
  return (
    field && { ...field, ignoreCase: field.ignoreCase || ignoreCase, shape: { standing: 'stated', value: shape, at: field.at } }
  );
}

function valuesAlong(fields: ShownFields, names: readonly string[]): readonly Json[] {
  let values: readonly Json[] = [fields as Json];
  for (const name of names)
    values = values.flatMap((value) => {
      const inner = isMap(value) ? value[name] : undefined;
      return Array.isArray(inner) ? (inner as readonly Json[]) : inner === undefined || inner === null ? [] : [inner];
    });
  return values;
}

function some(each: readonly (boolean | undefined)[]): boolean | undefined {
  return each.includes(true) ? true : each.includes(undefined) ? undefined : false;
}

function every(each: readonly (boolean | undefined)[]): boolean | undefined {
  return each.includes(false) ? false : each.includes(undefined) ? undefined : true;
}
