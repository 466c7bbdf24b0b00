import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundRows } from '../../parts/path-keys.ts';
import { isWritable, pathParameters } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Done } from '../exchange/step.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import { isSendable } from '../model/own-body.ts';
import type { Session } from '../session/session.ts';
import { isFreeText, OwnText } from '../values/apart.ts';
import { callersFor } from './callers-for.ts';
import { hasNextPage, walkingPages, widest } from './pages.ts';
import { tiedRows } from './path-keys.ts';
import { pathValues } from './request-about.ts';
import { rowFor } from './row-where.ts';

type Query = Readonly<Record<string, Symbolic>>;

/** What is wanted of a list of rows that are made for it. */
export interface OwnListing {
  /** Members of the bodies, one body for each row; where the service's own rules do not take them, rows as they are drawn will do. */
  readonly bodies: readonly Query[];
  readonly style?: 'plain' | 'full';
  /** What the texts of the rows are made of. */
  readonly own?: OwnText;
  /** Whether the list is narrowed, by one of its filters, to rows that nobody else makes; another filter than these. */
  readonly narrowedBut?: readonly string[];
}

/** A list that shows some rows that were made for it. */
export interface OwnList {
  readonly resource: string;
  readonly rows: readonly TrialRow[];
  readonly row: TrialRow;
  readonly caller: TrialCaller | undefined;
  /** Whether hardly anything else is in it: it is that of a parent, or narrowed. */
  readonly isOwn: boolean;
  /** What one more row of it has to be. */
  wanted(at: number, body?: Query): WantedRow;
  /** The request for it, with more in its query. */
  plan(query: Query): RequestPlan;
  ask(query: Query): Promise<Done<TrialExchange>>;
  /** The whole of it: one page where all stands on it, else page after page. */
  all(query: Query): Promise<Done<TrialExchange | readonly TrialExchange[]>>;
}

/** Makes rows that a list shows, and gives what its requests have in common. @throws {Untestable} */
export async function beginList(session: Session, endpoint: Endpoint, listing: OwnListing): Promise<OwnList> {
  const { model } = session;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const own = listing.own ?? new OwnText();
  const parents: Record<string, TrialRow> = {};
  for (const name of pathParameters(endpoint.path)) {
    const target = model.parentOf(endpoint, name);
    if (target !== undefined) parents[name] = await rowFor(session, resource, name, target);
  }
  for (const name of Object.keys(parents))
    session.need(isMadeBelow(model, resource, name), `no ${resource} is made below a row of its ${name}`);
  // Rows that one path names stand below each other.
  for (const { row, field } of boundRows(model.spec, endpoint))
    parents[field] = await session.make(row.resource, { parents: tiedRows(model, row.resource, parents) });
  const narrowing = listing.narrowedBut && (await narrow(session, endpoint, listing.narrowedBut, own));
  const makers: TrialCaller[] = [];
  const wanted = (at: number, body: Query = {}): WantedRow => ({
    // Who sees the first of them sees all of them.
    ...(makers[0] && { caller: makers[0] }),
    style: listing.style ?? 'plain',
    parents: { ...parents, ...narrowing?.parents },
    body: { ...(narrowing?.field !== undefined && { [narrowing.field]: own.with('', `r${at}`) }), ...body },
  });
  const rows = await makeRows(session, resource, listing.bodies, { wanted, makers });
  const [row] = rows;
  session.need(row !== undefined, `no ${resource} is there`);
  const isPublic = model.access.isPublic(model.operationOf(endpoint)) && model.callers[0]?.credential !== undefined;
  const [caller] = isPublic ? [undefined] : callersFor(session, endpoint, row);
  session.need(caller !== undefined || isPublic, `nobody may call ${endpoint.key}`);
  const path: Record<string, Symbolic> = {
    ...pathValues(model, endpoint, row),
    ...Object.fromEntries(Object.entries(parents).map(([name, { id }]) => [name, id])),
  };
  // A row that was given, and not made, need not be among those that the filter leaves.
  const isNarrowed = narrowing !== undefined && rows.every(({ made }) => made !== undefined);
  const asked = askedFor(endpoint, row);
  const plan = (query: Query) => ({
    ...model.request(endpoint, { path, caller, query: { ...asked, ...(isNarrowed && narrowing.query), ...query } }),
    isWhole: true,
  });
  const ask = (query: Query) => session.send(plan(query));
  const all = async (query: Query) => {
    const wide = { ...widest(model, endpoint), ...query };
    const first = await ask(wide);
    return hasNextPage(model, first.value) ? session.do(walkingPages(model, plan(wide))) : first;
  };
  const isOwn = isNarrowed || Object.keys(parents).length > 0;
  return { resource, rows, row, caller, isOwn, wanted, plan, ask, all };
}

/** The parameters without which a list shows nothing, such that it shows a row. */
function askedFor(endpoint: Endpoint, row: TrialRow): Query {
  return Object.fromEntries(
    entriesOf(endpoint.parameters).flatMap(([name, { in: place, required, default: usual, filters: field = name, op }]) => {
      const value = place === 'query' && required && !usual && (op ?? '=') === '=' ? row.known[field] : undefined;
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** Whether some creation says what a row refers to: in its body, by its path, or by what it sets. */
function isMadeBelow(model: Model, resource: string, field: string): boolean {
  const stated = model.resource(resource);
  const own = stated && entryOf(stated.fields, field);
  if (!stated || !own || isWritable(model.spec, stated, own) || own.set.create !== undefined || own.set.write !== undefined)
    return true;
  const creations = [...model.endpointsThat('create', resource), ...model.endpointsThat('upsert', resource)];
  return creations.length === 0 || creations.some(({ path }) => pathParameters(path).includes(field));
}

async function makeRows(
  session: Session,
  resource: string,
  bodies: readonly Query[],
  { wanted, makers }: { readonly wanted: OwnList['wanted']; readonly makers: TrialCaller[] },
): Promise<readonly TrialRow[]> {
  const rows: TrialRow[] = [];
  let isAsWanted = true;
  for (const [at, body] of bodies.entries()) {
    try {
      rows.push(await session.make(resource, wanted(at, isAsWanted ? body : {})));
    } catch (error) {
      if (!(error instanceof Untestable) || !isAsWanted || Object.keys(body).length === 0) throw error;
      isAsWanted = false;
      rows.push(await session.make(resource, wanted(at)));
    }
    makers.push(...rows.slice(-1).flatMap(({ caller }) => caller ?? []));
  }
  return rows;
}

/** A filter that leaves the rows that are made for it: by what they refer to, or by a text of theirs. */
interface Narrowing {
  readonly query: Query;
  readonly parents: Readonly<Record<string, TrialRow>>;
  /** The field that holds the text. */
  readonly field?: string;
}

async function narrow(
  session: Session,
  endpoint: Endpoint,
  but: readonly string[],
  own: OwnText,
): Promise<Narrowing | undefined> {
  const filter = narrowingFilter(session.model, endpoint, but);
  if (!filter) return undefined;
  const { parameter, field, ref } = filter;
  if (ref === undefined) return { query: { [parameter]: own.with() }, parents: {}, field };
  const parent = await rowFor(session, resourceOfEffect(statedValue(endpoint.does)) ?? '', field, ref);
  return parent.made && { query: { [parameter]: parent.id }, parents: { [field]: parent } };
}

/** Whether a list can be one in which hardly anything is but what is made for it: below a parent, or narrowed. */
export function canBeOwn(model: Model, endpoint: Endpoint): boolean {
  const isBelow = pathParameters(endpoint.path).some((name) => model.parentOf(endpoint, name) !== undefined);
  return isBelow || boundRows(model.spec, endpoint).length > 0 || narrowingFilter(model, endpoint, []) !== undefined;
}

interface NarrowingFilter {
  readonly parameter: string;
  readonly field: string;
  /** The resource whose rows the field refers to; absent for a text. */
  readonly ref?: string | undefined;
}

function narrowingFilter(model: Model, endpoint: Endpoint, but: readonly string[]): NarrowingFilter | undefined {
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const resource = model.resource(name);
  const found = entriesOf(endpoint.parameters).flatMap(
    ([parameter, { in: place, filters: field = '', op }]): NarrowingFilter[] => {
      const stated = resource && entryOf(resource.fields, field);
      if (place !== 'query' || but.includes(parameter) || !stated || !isSendable(model, name, field)) return [];
      const shape = statedValue(stated.shape);
      const isAlone = resource.unique.some(({ fields }) => fields.every((one) => one === field));
      const isText = (op === 'prefix' || op === 'contains') && shape !== undefined && isFreeText(shape);
      const isReference = op === '=' && stated.ref !== undefined && !isAlone && statedValue(stated.required) === true;
      return isReference ? [{ parameter, field, ref: stated.ref }] : isText ? [{ parameter, field }] : [];
    },
  );
  return found.find(({ ref }) => ref !== undefined) ?? found[0];
}
