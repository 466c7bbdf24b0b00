import { isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { pathParameters } from '../../parts/payload.ts';
import { machineIn } from '../../parts/states.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Done } from '../exchange/step.ts';
import { Captured, resolve, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import { itemsOf, rowsShown, unexpanded } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/at-path.ts';
import { callersFor } from './callers-for.ts';
import { paginationOf, widest } from './pages.ts';
import { keyValues } from './path-keys.ts';

/** Rows below others that are below others are not looked for any deeper. */
const depthMax = 3;
/** How many lists are gone through for one row, by whoever may. */
const listsMost = 4;

/** A row that is there already, from a list that somebody may read: where nothing may be made. @throws {Untestable} where none is shown. */
export async function findRow(session: Session, resource: string, wanted: WantedRow, depth = 0): Promise<TrialRow> {
  const { model } = session;
  let why = `no list of ${resource} may be read`;
  let left = listsMost;
  for (const endpoint of model.endpointsThat('list', resource)) {
    for (const caller of wanted.caller ? [wanted.caller] : callersOrNobody(session, endpoint)) {
      if (left-- <= 0) break;
      const path = await pathOfList(session, endpoint, wanted, depth);
      const query = path && (await queryOfList(session, endpoint, wanted, depth));
      if (!path || !query) continue;
      const done = await session.send(model.request(endpoint, { path, query: { ...widest(model, endpoint), ...query }, caller }));
      if (!isDone(done.value)) continue;
      const rows = rowsIn(session, done).filter(({ fields }) => fits(session, resource, fields, wanted));
      why = `${endpoint.key} shows no such ${resource}`;
      const row = session.chance.pick(rows);
      if (row) return { ...row, resource, caller, shown: done };
    }
  }
  throw new Untestable(session.run.isReadOnly ? `${why}, and none is made with --read-only` : why);
}

function callersOrNobody(session: Session, endpoint: Endpoint) {
  const callers = callersFor(session, endpoint);
  return callers.length > 0 ? callers : [undefined];
}

/** The path of a list, with the rows that it is below found first; nothing where one of its parameters cannot be known. */
async function pathOfList(
  session: Session,
  endpoint: Endpoint,
  wanted: WantedRow,
  depth: number,
): Promise<Readonly<Record<string, Symbolic>> | undefined> {
  // What names rows by their keys is known of those that it is wanted below.
  const path: Record<string, Symbolic> = bareMap(keyValues(session.model, endpoint, wanted.parents ?? {}));
  for (const name of pathParameters(endpoint.path)) {
    if (path[name] !== undefined) continue;
    const parent = session.model.parentOf(endpoint, name);
    if (parent === undefined || depth >= depthMax) return undefined;
    path[name] = (wanted.parents?.[name] ?? (await findRow(session, parent, {}, depth + 1))).id;
  }
  return path;
}

/** The parameters without which a list shows nothing, where they are rows that it is below; nothing where one of them cannot be known. */
async function queryOfList(
  session: Session,
  endpoint: Endpoint,
  wanted: WantedRow,
  depth: number,
): Promise<Readonly<Record<string, Symbolic>> | undefined> {
  const query: Record<string, Symbolic> = bareMap({});
  for (const [name, stated] of entriesOf(endpoint.parameters)) {
    if (stated.in !== 'query' || !stated.required || stated.default) continue;
    const parent = session.model.parentOf(endpoint, name);
    const known = wanted.parents?.[name];
    if (!known && (parent === undefined || depth >= depthMax)) return undefined;
    query[name] = (known ?? (await findRow(session, parent ?? '', {}, depth + 1))).id;
  }
  return query;
}

/** The rows of a list, each value of which can be taken for later requests. */
function rowsIn(session: Session, done: Done<TrialExchange>): Pick<TrialRow, 'id' | 'known' | 'fields'>[] {
  const { model } = session;
  const shown = rowsShown(model, done.value);
  const items = itemsOf(model, done.value);
  const { endpoint, body } = done.value;
  if (!shown || !items || !endpoint) return [];
  const name = paginationOf(model, endpoint)?.items ?? statedValue(endpoint.pagination ?? model.spec.limits.pagination)?.items;
  const within = Array.isArray(body) || name === undefined ? [] : [name];
  const identifier = model.identifierField(shown.resource);
  return items.flatMap((item, at) => {
    if (item[identifier] === undefined) return [];
    const fields = unexpanded(model, shown.resource, item);
    const taken = (field: string) => new Captured(done.step, { in: 'body', pointer: [...within, at, field] });
    const plain = Object.keys(item).filter((field) => isSame(item[field], fields[field]));
    return [{ id: taken(identifier), known: Object.fromEntries(plain.map((field) => [field, taken(field)])), fields }];
  });
}

/** Whether a row is as it is wanted. */
function fits(
  session: Session,
  resource: string,
  fields: TrialRow['fields'],
  { state, body, parents, machine: wantedOf }: WantedRow,
): boolean {
  const machine = wantedOf ?? machineIn(session.model.spec.states, resource, state);
  if (state !== undefined && machine && fields?.[machine.field] !== state) return false;
  const wanted = Object.entries({
    ...body,
    ...Object.fromEntries(Object.entries(parents ?? {}).map(([name, { id }]) => [name, id])),
  });
  return wanted.every(([name, value]) => {
    const has = fields?.[name];
    return has !== undefined && isSame(has, resolve(value, session.run));
  });
}
