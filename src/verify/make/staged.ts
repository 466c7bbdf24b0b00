import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { boundByPath, identifierParameter, isWritable } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Done } from '../exchange/step.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { derivedElsewhere } from '../model/derived.ts';
import type { Session } from '../session/session.ts';
import { draftBody } from './body.ts';
import { callersFor } from './callers-for.ts';
import { answering } from './demands.ts';
import { lookAt } from './look.ts';
import { requestAbout } from './request-about.ts';
import type { ConditionSubject, Scene } from './scene.ts';

/** A request that is ready, with everything made that an imagined scene has. */
export interface Staged {
  readonly request: RequestPlan;
  /** What showed the rows that the condition reads. */
  readonly beside: readonly Done<TrialExchange>[];
  /** The row that the request is about; nothing where it makes one. */
  readonly row: TrialRow | undefined;
  /** The rows that were made for it to refer to. */
  readonly followed: readonly TrialRow[];
  /** The fields of a new row by whose values it could be told from all others. */
  readonly marks: readonly string[];
}

/** Makes the rows of a scene, and the request, which nothing but what is meant to is to refuse. @throws {Untestable} */
export async function stage(
  session: Session,
  endpoint: Endpoint,
  slots: readonly ConditionSubject[],
  { scene, resource, meant }: { readonly scene: Scene; readonly resource: string; readonly meant?: Expression | undefined },
): Promise<Staged> {
  const { model } = session;
  const made = new Map<string, TrialRow>();
  const beside: Done<TrialExchange>[] = [];
  const show = async (row: TrialRow): Promise<TrialRow> => {
    beside.push(row.shown ?? (await lookAt(session, row)).done);
    return row;
  };
  // What is referred to by what is referred to comes first.
  const followed = slots.filter(({ from }) => from).sort((one, other) => depthOf(other) - depthOf(one));
  for (const slot of followed) {
    const asked = otherwise(session, endpoint, slot, slots, scene);
    const wanted = wantedOf(session, slot, slots, scene, made);
    made.set(
      slot.key,
      await show(await session.make(slot.resource, { ...asked, ...wanted, body: { ...asked.body, ...wanted.body } })),
    );
  }
  const body = slots.find(({ key }) => key === 'body');
  const own = body && wantedOf(session, body, slots, scene, made);
  const verb = statedValue(endpoint.does)?.verb;
  if (verb === 'create' || verb === 'upsert') {
    const caller = scene.caller ?? callersFor(session, endpoint)[0];
    const mark = markOf(session, endpoint, resource, caller, own?.body ?? {});
    const parts = await session.parts(endpoint, { ...own, body: { ...mark, ...own?.body }, caller, ...(meant && { meant }) });
    const request = model.request(endpoint, {
      path: parts.path,
      caller,
      ...(parts.json !== undefined && { json: parts.json }),
    });
    const fromHere = followed.filter(({ from }) => from?.key === 'body').map(({ from }) => from?.field ?? '');
    const identifier = identifierParameter(endpoint) === undefined ? [] : [model.identifierField(resource)];
    return {
      request,
      beside,
      row: undefined,
      followed: [...made.values()],
      marks: [...identifier, ...Object.keys(mark), ...fromHere],
    };
  }
  const ofRow = slots.find(({ key }) => key === 'row');
  const row = await session.make(resource, {
    ...(ofRow && wantedOf(session, ofRow, slots, scene, made)),
    ...(scene.state !== undefined && { state: scene.state }),
  });
  beside.unshift((await lookAt(session, row)).done);
  const callers = callersFor(session, endpoint, row);
  const caller = scene.caller ?? callers.find((one) => writesAll(session, resource, one, own?.body ?? {})) ?? callers[0];
  const headers = await session.preconditions(endpoint, row, caller);
  const drafting = { bound: new Set<string>(), make: (target: string) => session.make(target).then(({ id }) => id) };
  const json = await draftBody(session, endpoint, { ...drafting, changes: row, ...own, ...(meant && { meant }) });
  const request = await requestAbout(session, row, endpoint, { caller, headers, ...(json !== undefined && { json }) });
  return { request, beside, row, followed: [...made.values()], marks: [] };
}

/** What shows the rows that the condition reads as they are now: what is derived of those that the row refers to has changed with it. */
export async function besideNow(session: Session, { beside, followed }: Staged): Promise<readonly Done<TrialExchange>[]> {
  const now: Done<TrialExchange>[] = [];
  for (const row of followed)
    if (derivedElsewhere(session.model.spec, row.resource).size > 0) now.push((await lookAt(session, row)).done);
  return [...beside, ...now];
}

/**
 * How what a new row refers to is to be where the condition says nothing of it: so that nothing else of the service's own refuses that row. Bookings are
 * taken for sessions that are put up.
 */
function otherwise(
  session: Session,
  endpoint: Endpoint,
  { key, from, machine }: ConditionSubject,
  slots: readonly ConditionSubject[],
  scene: Scene,
): WantedRow {
  const { model } = session;
  const referring = slots.find(({ key }) => key === from?.key)?.resource;
  if (from === undefined || referring === undefined) return {};
  const isAsked = from.key === 'body' && statedValue(endpoint.does)?.verb === 'create';
  const [way] = isAsked ? [endpoint] : from.key === 'body' ? [] : model.endpointsThat('create', referring);
  if (!way) return {};
  const caller = (isAsked ? scene.caller : undefined) ?? callersFor(session, way)[0];
  const { state, machine: asked, asked: further = [], ...others } = answering(session, way, from.field, { caller }) ?? {};
  // What the condition reads further on is as the scene has it.
  const besides = further.filter(({ field }) => !slots.some((one) => one.from?.key === key && one.from.field === field));
  return { ...others, asked: besides, ...(state !== undefined && !machine && { state, ...(asked && { machine: asked }) }) };
}

/** Whether somebody may write each of some members of a row. */
function writesAll(
  { model }: Session,
  resource: string,
  { user }: TrialCaller,
  body: Readonly<Record<string, Symbolic>>,
): boolean {
  const fields = model.resource(resource)?.fields;
  return Object.keys(body).every((name) => entryOf(fields, name)?.writable?.includes(user) !== false);
}

function depthOf({ key }: ConditionSubject): number {
  return key.split('/').length;
}

/** What is wanted of a row or body: the members that the condition reads as they were imagined, and references to what was made. */
function wantedOf(
  session: Session,
  slot: ConditionSubject,
  slots: readonly ConditionSubject[],
  { values }: Scene,
  made: ReadonlyMap<string, TrialRow>,
) {
  const own = values.get(slot.key) ?? {};
  const body: Record<string, Symbolic> = {};
  const { machine } = slot;
  const maker = slot.makers.find(({ fields }) => Object.entries(fields).every(([name, value]) => own[name] === value));
  const referring = new Set(slots.flatMap(({ from }) => (from?.key === slot.key ? [from.field] : [])));
  const isSaid = (name: string) =>
    name !== machine?.field && !referring.has(name) && !(maker && Object.hasOwn(maker.fields, name));
  const ahead: Record<string, Json> = {};
  for (const name of slot.reads)
    if (own[name] !== undefined && isSaid(name)) (slot.bySent.has(name) ? ahead : body)[name] = own[name];
  const parents: Record<string, TrialRow> = {};
  const stated = session.model.resource(slot.resource);
  const inPath = session.model.endpointsThat('create', slot.resource).flatMap((one) => boundByPath(session.model.spec, one));
  for (const { key, from } of slots) {
    const row = made.get(key);
    if (!row || from?.key !== slot.key) continue;
    parents[from.field] = row;
    const field = stated && entryOf(stated.fields, from.field);
    if (field && stated && isWritable(session.model.spec, stated, field) && !inPath.includes(from.field))
      body[from.field] = row.id;
  }
  const state = machine && own[machine.field];
  return { body, ahead, parents, ...(maker && { caller: maker.caller }), ...(typeof state === 'string' && { state }) };
}

/** A text that no other row has, in a field in which it is seen again. */
function markOf(
  session: Session,
  endpoint: Endpoint,
  resource: string,
  caller: TrialCaller | undefined,
  taken: Readonly<Record<string, Symbolic>>,
): Record<string, Symbolic> {
  const stated = session.model.resource(resource);
  const bound = boundByPath(session.model.spec, endpoint);
  const hidden = session.model.unseenBy(resource, caller);
  const isOwn = endpoint.request.standing !== 'open' || endpoint.request.question !== undefined;
  for (const [name, field] of stated && !isOwn ? entriesOf(stated.fields) : []) {
    const shape = statedValue(field.shape);
    const isText = shape?.type === 'string' && !['enum', 'const', 'pattern', 'format'].some((word) => word in shape);
    const isLong = typeof shape?.maxLength !== 'number' || shape.maxLength >= 20;
    const isOurs = field.writable === undefined || (caller !== undefined && field.writable.includes(caller.user));
    if (!stated || !isText || !isLong || !isOurs || field.ref !== undefined || hidden.has(name) || bound.includes(name)) continue;
    const value =
      Object.hasOwn(taken, name) || !isWritable(session.model.spec, stated, field)
        ? undefined
        : session.model.freshValue(resource, name);
    if (value !== undefined) return { [name]: value };
  }
  return {};
}
