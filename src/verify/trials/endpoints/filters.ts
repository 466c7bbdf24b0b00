import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import type { Field } from '../../../parts/resources.ts';
import { machineOn } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { type FactName, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { Fresh, resolve, type Symbolic } from '../../exchange/symbol.ts';
import { beginList, type OwnList } from '../../make/own-list.ts';
import { hasNextPage } from '../../make/pages.ts';
import { statesOf } from '../../make/walk.ts';
import { isSendable } from '../../model/own-body.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { isFreeText, OwnText, sameOtherwise, valuesApart } from '../../values/apart.ts';
import { listChosen } from './chosen.ts';
import { matchesFilter } from './compared.ts';
import { listInOrder, listSorted, pagesOf, rowsOf, sortWords } from './order.ts';

/** What is asked of a filter, and the rows that are made for it: some that fit and some that do not. */
interface Filtering {
  readonly bodies: readonly Readonly<Record<string, Symbolic>>[];
  /** Nothing where what the rows came to be says what to ask for. */
  readonly asks?: readonly Symbolic[];
}

/** A filter lets through the rows that fit it, all of them and no other: at its bound, below and above it, with several values. */
async function listFiltered(session: Session, endpoint: Endpoint, parameter: Parameter): Promise<void> {
  const { model } = session;
  const own = new OwnText();
  const field = parameter.filters ?? parameter.name;
  const { bodies, asks } = filteringOf(session, endpoint, parameter, own);
  const list = await beginList(session, endpoint, {
    own,
    bodies,
    style: asks || isAlwaysThere(session, endpoint, field) ? 'plain' : 'full',
    narrowedBut: [parameter.name],
  });
  const resource = model.resource(list.resource);
  const stated = resource && entryOf(resource.fields, field);
  session.need(stated !== undefined, `the ${list.resource} has no ${field}`);
  session.need(!model.unseenBy(list.resource, list.caller).has(field), `${field} is not shown`);
  const filter = { session, fact: { kind: 'parameters', subject: endpoint.key }, parameter, field: stated };
  const made = list.rows.flatMap((row) => (row.made ? [row.made] : []));
  for (const asked of asks ?? asksOf(session, list, parameter, own)) {
    const seen = await list.all({ [parameter.name]: asked });
    claimNoOther(filter, seen);
    for (const creation of made) claimShown(filter, seen, creation);
  }
}

/** A filter that claims are made about. */
interface ClaimedFilter {
  readonly session: Session;
  readonly fact: FactName;
  readonly parameter: Parameter;
  /** The field that its rows are told apart by. */
  readonly field: Field;
}

type Listed = TrialExchange | readonly TrialExchange[];

/** No row comes that does not fit what was asked. */
function claimNoOther({ session, fact, parameter, field }: ClaimedFilter, seen: Done<Listed>): void {
  session.claim({
    fact,
    reason: `filter ${parameter.name}`,
    at: parameter.at,
    of: [seen] as const,
    judge(answer: Listed) {
      const pages = pagesOf(answer);
      const sent = pages[0]?.sent.query[parameter.name];
      const rows = pages.flatMap((page) => (isDone(page) ? (rowsOf(session, page) ?? []) : []));
      if (sent === undefined) return moot('it was not asked for');
      const wrong = rows.find((row) => matchesFilter(row[field.name], parameter.op, sent, field) === false);
      return wrong
        ? {
            promised: `rows whose ${field.name} ${parameter.op} ${JSON.stringify(sent)}`,
            seen: JSON.stringify(wrong[field.name] ?? null),
          }
        : undefined;
    },
  });
}

/** A row that was made and fits what was asked is on one of the pages. */
function claimShown({ session, fact, parameter, field }: ClaimedFilter, seen: Done<Listed>, creation: Done<TrialExchange>): void {
  const { model } = session;
  session.claim({
    fact,
    reason: `filter ${parameter.name} shows`,
    at: parameter.at,
    of: [seen, creation] as const,
    judge(answer: Listed, creator: TrialExchange) {
      const pages = pagesOf(answer);
      const last = pages.at(-1);
      const id = isDone(creator) ? idIn(model, creator) : undefined;
      const isWhole = pages.every((page) => isDone(page) && rowsOf(session, page)) && last && !hasNextPage(model, last);
      const sent = last?.sent.query[parameter.name];
      if (!isWhole || id === undefined || sent === undefined) return moot('not all pages were shown');
      if (matchesFilter(rowWith(model, creator, id)?.[field.name], parameter.op, sent, field) !== true)
        return moot('it does not fit');
      return pages.some((page) => rowWith(model, page, id) !== undefined)
        ? undefined
        : { promised: `the row whose ${field.name} ${parameter.op} ${JSON.stringify(sent)}`, seen: 'rows without it' };
    },
  });
}

/** Values of the field that lie apart, where whoever makes a row may choose them: a row for each, and what is asked of them. */
function filteringOf(session: Session, endpoint: Endpoint, parameter: Parameter, own: OwnText): Filtering {
  const { model } = session;
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const field = parameter.filters ?? parameter.name;
  const resource = model.resource(name);
  const shape = statedValue(resource && entryOf(resource.fields, field)?.shape);
  const drawn = { bodies: [{}, {}] };
  if (!shape || shape.ref !== undefined || !isSendable(model, name, field)) return drawn;
  const { op } = parameter;
  const rows = (...values: readonly Symbolic[]) => values.map((value) => ({ [field]: value }));
  if (op === 'prefix' || op === 'contains') {
    if (!isFreeText(shape)) return drawn;
    const other = new OwnText();
    const [fits, not] = op === 'prefix' ? [own.with('', 'a'), own.with('m', 'a')] : [own.with('m', 'a'), other.with('m', 'a')];
    const otherCase = new Fresh((_draw, run) => asText(resolve(own.with(), run)).toUpperCase());
    return { bodies: rows(fits, not, otherCase), asks: [own.with()] };
  }
  const [low, middle, high] = valuesApart(shape, own).filter((value) => isAskable(session, endpoint, parameter, value));
  if (low === undefined || middle === undefined) return drawn;
  if (op === '=' || op === '!=') return { bodies: rows(low, middle), asks: [sameOtherwise(shape, low), middle] };
  if (op === 'in') {
    const bodies = rows(low, middle, ...(high === undefined ? [] : [high]));
    return { bodies, asks: [[low, middle], [middle]] };
  }
  return high === undefined || Array.isArray(shape.enum) ? drawn : { bodies: rows(low, middle, high), asks: [middle] };
}

/** Whether every row has the field, however little of it is sent. */
function isAlwaysThere({ model }: Session, endpoint: Endpoint, field: string): boolean {
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const stated = resource && entryOf(resource.fields, field);
  return stated !== undefined && statedValue(stated.required) === true;
}

/** Whether a parameter that has a shape of its own takes a value. */
function isAskable(session: Session, endpoint: Endpoint, { name, op }: Parameter, value: Symbolic): boolean {
  const { properties } = paramsShape(session.model.spec, endpoint);
  const stated = isMap(properties) ? properties[name] : undefined;
  const shape = isMap(stated) && op === 'in' && isMap(stated.items) ? stated.items : stated;
  if (!isMap(shape)) return true;
  const { minimum, maximum } = shape;
  if (Array.isArray(shape.enum)) return (shape.enum as readonly Json[]).includes(value as Json);
  if (typeof value !== 'number') return true;
  return !(typeof minimum === 'number' && value < minimum) && !(typeof maximum === 'number' && value > maximum);
}

/** A piece of a text that it does not begin with; nothing where there is none. */
function withinText(text: string): string {
  const pieces = Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at + 1));
  return pieces.find((piece) => !text.toLowerCase().startsWith(piece.toLowerCase()) && piece.length <= 4) ?? '';
}

/** What a row that was made has in the field, and what none of them has, where there is such. @throws {Untestable} */
function asksOf(
  session: Session,
  { row, resource }: OwnList,
  { filters, name, op }: Parameter,
  own: OwnText,
): readonly Symbolic[] {
  const field = filters ?? name;
  const value = row.fields?.[field];
  session.need(value !== undefined && value !== null, `the ${resource} that was made has no ${field}`);
  const captured = isMap(value) || row.made ? row.known[field] : value;
  session.need(captured !== undefined && !Array.isArray(value), `${field} cannot be asked for`);
  const machine = machineOn(session.model.spec.states, resource, field);
  const stated = session.model.resource(resource);
  const shape = statedValue(stated && entryOf(stated.fields, field)?.shape);
  const foreign = shape && shape.ref === undefined && isFreeText(shape) ? own.with() : undefined;
  const other = machine ? statesOf(machine).find((state) => state !== value) : foreign;
  // What does not stand at the beginning of a text is not what it begins with.
  if (op === 'prefix' && typeof value === 'string' && withinText(value) !== '')
    return [captured, new Fresh((_draw, run) => withinText(asText(resolve(captured, run))))];
  if (op !== 'in') return op === '=' && other !== undefined ? [captured, other] : [captured];
  return other === undefined
    ? [[captured]]
    : [
        [other, captured],
        [captured, other],
      ];
}

/** Filters let through what they say, and sorted lists are sorted. */
export const narrowedLists: Trial = {
  name: 'endpoints/lists',
  part: 'endpoints',
  about: 'Filters show what fits them and nothing else; lists come in the order that is asked for.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      if (statedValue(endpoint.does)?.verb !== 'list') continue;
      const facts = [{ kind: 'parameters', subject: endpoint.key }];
      const response = [{ kind: 'response payload shapes', subject: endpoint.key }];
      if (endpoint.order.length > 0 || endpoint.ties === 'newest')
        yield { name: `${endpoint.key}, in order`, facts: response, run: (session) => listInOrder(session, endpoint) };
      for (const [name, stated] of entriesOf(endpoint.parameters)) {
        if (stated.in !== 'query') continue;
        if (stated.sorts) {
          for (const field of sortWords({ model }, endpoint, stated).keys())
            yield {
              name: `${endpoint.key} by ${name}: ${field}`,
              facts,
              run: (session) => listSorted(session, endpoint, stated, field),
            };
        } else if (stated.chooses)
          yield { name: `${endpoint.key} chosen by ${name}`, facts, run: (session) => listChosen(session, endpoint, stated) };
        else if (stated.filters !== undefined)
          yield { name: `${endpoint.key} with ${name}`, facts, run: (session) => listFiltered(session, endpoint, stated) };
      }
    }
  },
};
