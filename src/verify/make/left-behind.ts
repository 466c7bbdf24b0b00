import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { type Control, type FactName, type Judgement, moot } from '../exchange/claim.ts';
import { isDone, isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { Done } from '../exchange/step.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { ifTestable } from '../exchange/untestable.ts';
import { idIn, isMaking, rowsShown, type ShownFields, unexpanded } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/at-path.ts';
import { callersFor } from './callers-for.ts';
import { hasNextPage, walkingPages, widest } from './pages.ts';
import { rowFrom } from './row-made.ts';
import { remove } from './walk.ts';

export interface RefusedExchange {
  readonly resource: string;
  readonly request: RequestPlan;
  readonly done: Done<TrialExchange>;
  /** The fields by whose values the row would be told from all others. */
  readonly marks: readonly string[];
  readonly fact: FactName;
  /** What is taken, beside what was refused. */
  readonly control?: Control;
}

/** Claims that a creation that was refused made nothing: no list shows a row with its marks. Where there is no such list, it claims nothing. */
export async function claimNothingLeft(session: Session, refused: RefusedExchange): Promise<void> {
  const { resource, done, fact } = refused;
  const { model } = session;
  // Any row may have a value of which there are few.
  const marks = refused.marks.filter((name) => model.tellsApart(resource, name));
  const plan = marks.length === 0 ? undefined : listFor(session, { ...refused, marks });
  if (!plan) return;
  // What was made on the way may have the same marks: a booking that has spent the voucher.
  const before = creationsIn(session, resource);
  const pages = await session.do(walkingPages(model, plan));
  session.claim<readonly [TrialExchange, readonly TrialExchange[], ...TrialExchange[]]>({
    fact,
    reason: 'refused, nothing left',
    control: refused.control,
    of: [done, pages, ...before],
    judge(tried, all, ...creations): Judgement {
      if (tried.status < 400) return moot('it was not refused');
      const wanted = marksIn(tried, marks);
      const last = all.at(-1);
      if (wanted.length === 0 || !last || !all.every(isDone)) return moot('it could not be looked for');
      const rows = all.flatMap((page) => rowsShown(model, page)?.rows ?? []).map((row) => unexpanded(model, resource, row));
      const field = model.identifierField(resource);
      const known = new Set(creations.map((one) => textOf(idIn(model, one))));
      const isMarked = (row: ShownFields) => wanted.every(([name, value]) => textOf(row[name]) === textOf(value));
      const left = rows.find((row) => isMarked(row) && !known.has(textOf(row[field])));
      if (left) return { promised: `a ${resource} that is refused is not kept`, seen: JSON.stringify(left) };
      return hasNextPage(model, last) ? moot('the list was not gone through to its end') : undefined;
    },
  });
}

/** The exchanges that have made rows of a resource in this session. */
function creationsIn({ model, run }: Session, resource: string): Done<TrialExchange>[] {
  return run.results.flatMap((value, step) => {
    const isOf = isExchange(value) && resourceOfEffect(value.endpoint && statedValue(value.endpoint.does)) === resource;
    return isOf && isMaking(value) && isDone(value) && idIn(model, value) !== undefined ? [{ step, value }] : [];
  });
}

/** What was sent in a path is a text, whatever it is in the row; and a service may show anything. */
function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function marksIn({ sent }: TrialExchange, marks: readonly string[]): [string, Json][] {
  const body: ShownFields = isMap(sent.json) ? sent.json : {};
  return marks.flatMap((name): [string, Json][] => {
    const value = body[name] ?? sent.path[name];
    return value === undefined ? [] : [[name, value]];
  });
}

/** The list that would show the row to whoever asked for it, narrowed as far as it can be. */
function listFor(session: Session, { resource, request, marks }: RefusedExchange): RequestPlan | undefined {
  const { model } = session;
  const body = membersOf(request);
  const caller: TrialCaller | undefined = request.caller;
  for (const endpoint of model.endpointsThat('list', resource)) {
    const path: Record<string, Symbolic> = bareMap({});
    for (const name of pathParameters(endpoint.path)) {
      const value = request.path[name] ?? body[name];
      if (value !== undefined) path[name] = value;
    }
    const isWhole = endpoint.response.standing === 'open' && endpoint.produces === undefined;
    const mayCall =
      model.access.isPublic(model.operationOf(endpoint)) || callersFor(session, endpoint).some((one) => one === caller);
    if (!isWhole || !mayCall || pathParameters(endpoint.path).some((name) => !Object.hasOwn(path, name))) continue;
    const query = { ...widest(model, endpoint), ...filtersFor(endpoint, marks, body) };
    return { ...model.request(endpoint, { path, query, ...(caller && { caller }) }), isWhole: true };
  }
  return undefined;
}

function filtersFor(
  endpoint: Endpoint,
  marks: readonly string[],
  body: Readonly<Record<string, Symbolic>>,
): Record<string, Symbolic> {
  const query: Record<string, Symbolic> = {};
  for (const [name, { in: place, op, filters }] of entriesOf(endpoint.parameters)) {
    const value = filters === undefined || !marks.includes(filters) ? undefined : body[filters];
    if (place === 'query' && op === '=' && value !== undefined) query[name] = value;
  }
  return query;
}

function membersOf({ body }: RequestPlan): Readonly<Record<string, Symbolic>> {
  const value = body && 'value' in body ? body.value : undefined;
  // The cast holds: a body that is a map is a map of what may be sent.
  return isMap(value as Json) ? (value as Readonly<Record<string, Symbolic>>) : {};
}

/** Takes away what was made, where that can be, so that another may be made in its place: there may be no more of them than so many. */
export async function makePlace(session: Session, endpoint: Endpoint, made: Done<TrialExchange>): Promise<void> {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  if (resource === undefined || session.model.endpointsThat('delete', resource).length === 0) return;
  const gone = async () => remove(session, rowFrom(session, resource, endpoint, made));
  await ifTestable(gone());
}
