/** Numbers of a row that its acts set: a stock is filled by a delivery before anything is drawn of it. */
import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf } from '../../parts/fact.ts';
import { conditionsOfTransition, machineWith, type Transition, transitionsOf } from '../../parts/states.ts';
import { isDone } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { ifTestable } from '../exchange/untestable.ts';
import { type Aim, isAimedAt, targetTaken } from '../model/access.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/at-path.ts';
import { draftBody } from './body.ts';
import { callersFor } from './callers-for.ts';
import { lookAt } from './look.ts';
import { membersFor } from './members-sent.ts';
import { requestAbout } from './request-about.ts';

/** So many acts are carried out for one condition. */
const actsMost = 3;

/** A transition, and the endpoint that fires it. */
interface Act {
  readonly transition: Transition;
  readonly endpoint: Endpoint;
}

/** Carries out acts that set what a transition's conditions read, where nothing that could be sent with it would open it to the row as it is. */
export async function setByActs(session: Session, row: TrialRow, transition: Transition, target: Aim): Promise<void> {
  const { model } = session;
  const endpoint = model.endpointOfTransition(row.resource, transition.name);
  const acts = endpoint ? actsThatSet(session, row, transition) : [];
  if (!endpoint || acts.length === 0) return;
  const own: Act = { transition, endpoint };
  for (let count = 0; count < actsMost; count++) {
    const bodies = await bodiesFor(session, row, own);
    const isOpenIn = (fields: ShownFields) =>
      bodies(fields).some((body) => {
        const taken = takenWith(session, row, own, fields, sentIn(session, body));
        return taken === 'unknown' || isAimedAt(taken, target);
      });
    if (!row.fields || isOpenIn(row.fields)) return;
    const chosen = await chosenAct(session, row, acts, isOpenIn);
    if (!chosen || !(await ifTestable(carryOut(session, row, chosen.act, chosen.body)))) return;
  }
}

/** The acts that set what the conditions of another one read, and leave a row in the state in which it is. */
function actsThatSet(session: Session, row: TrialRow, transition: Transition): readonly Act[] {
  const { model } = session;
  const fields = model.resource(row.resource)?.fields;
  const read = conditionsOfTransition(transition).flatMap((one) =>
    model.expressions.readsOf(one, undefined).flatMap(({ root, path: [name] }) => (root === 'resource' && name ? [name] : [])),
  );
  return transitionsOf(model.spec.states, row.resource).flatMap(([name, other]): Act[] => {
    const machine = machineWith(model.spec.states, row.resource, name);
    const now = machine && row.fields?.[machine.field];
    const isHere =
      typeof now === 'string' &&
      (other.from === '*' || other.from.includes(now)) &&
      other.to.length > 0 &&
      other.to.every(({ state }) => state === now);
    const sets = read.some((field) => entryOf(fields, field)?.set[name] !== undefined);
    const endpoint = model.endpointOfTransition(row.resource, name);
    return name !== transition.name && isHere && sets && endpoint ? [{ transition: other, endpoint }] : [];
  });
}

/** An act with a body after which the condition can be met: neither with the least nor with the most that does. */
async function chosenAct(session: Session, row: TrialRow, acts: readonly Act[], isOpenIn: (fields: ShownFields) => boolean) {
  for (const act of acts) {
    const { fields = {} } = row;
    const bodies = (await bodiesFor(session, row, act))(fields);
    const able = bodies.filter((body) => {
      const sent = sentIn(session, body);
      const taken = takenWith(session, row, act, fields, sent);
      return typeof taken === 'object' && isOpenIn({ ...fields, ...setBy(session, row, act, sent) });
    });
    const body = able[Math.floor(able.length / 2)];
    if (able.length > 0) return { act, body };
  }
  return undefined;
}

function takenWith({ model, run }: Session, row: TrialRow, act: Act, fields: ShownFields, request: Json | undefined) {
  return targetTaken(model.expressions, act.transition, {
    operation: act.endpoint.operation ?? '',
    row: fields,
    unseen: model.unseenIn(row.resource, row.caller, fields),
    request,
    caller: row.caller,
    nowMs: run.clock.toService(Date.now()),
  });
}

/** What an act sets of a row, as far as that can be reckoned. */
function setBy({ model, run }: Session, row: TrialRow, { transition, endpoint }: Act, request: Json | undefined): ShownFields {
  const context = {
    resource: row.fields ?? {},
    next: row.fields ?? {},
    now: run.clock.toService(Date.now()),
    operation: endpoint.operation ?? '',
    ...(request !== undefined && { request }),
  };
  return Object.fromEntries(
    entriesOf(model.resource(row.resource)?.fields).flatMap(([name, { set }]) => {
      const expression = set[transition.name];
      const told = expression && model.expressions.evaluate(expression, endpoint.operation, { context });
      return typeof told === 'object' && told.value !== undefined ? [[name, told.value]] : [];
    }),
  );
}

/** The bodies that are tried for an act on a row with some fields, those with small numbers first: one that is drawn, with its numbers otherwise. */
async function bodiesFor(
  session: Session,
  row: TrialRow,
  { transition, endpoint }: Act,
): Promise<(fields: ShownFields) => readonly (Symbolic | undefined)[]> {
  const make = (resource: string) => session.make(resource).then(({ id }) => id);
  const body = await ifTestable(draftBody(session, endpoint, { bound: new Set(), make, changes: row }));
  const drawn = sentIn(session, body);
  const conditions = conditionsOfTransition(transition);
  return (fields) => [
    body,
    ...membersFor(session, endpoint, conditions, { fields, drawn }).map((members) =>
      bareMap({ ...(body as Readonly<Record<string, Symbolic>>), ...members }),
    ),
  ];
}

function sentIn({ run }: Session, body: Symbolic | undefined): Json | undefined {
  return body === undefined ? undefined : resolve(body, run);
}

/** Whether an act was carried out; the row is as it is shown after it. */
async function carryOut(session: Session, row: TrialRow, { endpoint }: Act, body: Symbolic | undefined): Promise<boolean> {
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const request = await requestAbout(session, row, endpoint, { caller, headers, ...(body !== undefined && { json: body }) });
  const done = await session.send(request);
  if (!isDone(done.value)) return false;
  await lookAt(session, row);
  return true;
}
