import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Shape } from '../../parts/shape.ts';
import { type Machine, machineOn, machinesOf } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { Demand, DemandThrough, WantedRow } from '../exchange/row.ts';
import { isSendable } from '../model/own-body.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { beginningDemands, firingDemands, leadingDemands, ownDemands, permittingDemands, readingDemands } from './demand.ts';
import { givenBefore } from './entrusted.ts';
import { imaginedOf, valuesThatFit } from './fitting-values.ts';
import { movedAlong, movedDemands } from './moved-along.ts';
import { toldOfMaker } from './newcomers.ts';
import { roomyDemands } from './roomy.ts';

/** What a row is to be made with. */
interface Answering {
  readonly state?: string;
  readonly machine?: Machine;
  readonly body: Readonly<Record<string, Json>>;
  /** Who is to make it, where it may not be whoever refers to it. */
  readonly caller?: TrialCaller;
  readonly isMovedAlong?: boolean;
  readonly asked?: readonly DemandThrough[];
  readonly named?: TrialCaller;
}

/** Of so many rows that will do the roomiest is looked for. */
const roomiestMost = 40;

/**
 * How a row is to be that a new one refers to by a field, as far as what is asked of it reads nothing but that row: nothing where nothing is
 * asked, or where it cannot be brought about.
 */
export function answering(session: Session, endpoint: Endpoint, field: string, wanted: WantedRow): Answering | undefined {
  const { model } = session;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const target = model.resource(resource) && entryOf(model.resource(resource)?.fields, field)?.ref;
  if (target === undefined) return undefined;
  const asking = wanted.caller ?? wanted.for;
  const moved = movedAlong(session, resource, field);
  const all: readonly Demand[] = [
    ...ownDemands(session, endpoint, field, asking),
    ...permittingDemands(session, endpoint, field, asking),
    ...readingDemands(session, target, asking),
    ...beginningDemands(session, { resource, operation: endpoint.operation, field }, wanted, asking),
    ...firingDemands(session, resource, field, wanted),
    ...leadingDemands(session, resource, field, wanted),
    ...movedDemands(session, moved),
    ...roomyDemands(model, endpoint, field),
    ...(wanted.asked ?? []).flatMap((one) => (one.field === field ? [one.demand] : [])),
  ];
  // What is asked of rows further on is for what this one refers to to see to.
  const further = all.flatMap(({ way: [first, ...way] = [], ...demand }) =>
    first === undefined ? [] : [{ field: first, demand: { ...demand, way } }],
  );
  const demands = all.filter(({ way = [] }) => way.length === 0);
  const own = answeringAll(session, target, asking, demands);
  const given = own?.state === undefined ? givenBefore(session, resource, field, { asking, meant: wanted.named }) : undefined;
  if (!given && moved.length === 0 && further.length === 0) return own;
  return {
    body: {},
    ...own,
    ...given,
    ...(moved.length > 0 && { isMovedAlong: true }),
    ...(further.length > 0 && { asked: further }),
  };
}

/** The least that a row has to have for all that is asked of it, or for what has to be. */
export function answeringAll(
  session: Session,
  target: string,
  asking: TrialCaller | undefined,
  demands: readonly Demand[],
): Answering | undefined {
  const { model } = session;
  const makes = asking !== undefined && mayMake(session, target, asking);
  const own = makes ? toldOfMaker(model, target, asking) : {};
  const found = answeringAs(session, target, { known: own, asking }, demands);
  // Who may not make it depends on what it has of whoever does.
  const isOthers = !makes && demands.some(({ members }) => members.some((member) => isOfItsMaker(session, target, member)));
  if (found === 'as it is' && !isOthers) return undefined;
  if (found && found !== 'as it is' && !isOthers) return found;
  if (Object.keys(own).length === 0 && !isOthers) return undefined;
  // What nobody may refer to who made it, somebody else makes.
  for (const caller of model.callers) {
    if ((caller.id !== undefined && caller.id === asking?.id) || !mayMake(session, target, caller)) continue;
    const others = answeringAs(session, target, { known: toldOfMaker(model, target, caller), asking }, demands);
    if (others) return { ...(others === 'as it is' ? { body: {} } : others), caller };
  }
  return found === 'as it is' ? undefined : found;
}

/** Whether a row has a field of whoever makes it. */
function isOfItsMaker({ model }: Session, target: string, name: string): boolean {
  const set = entryOf(model.resource(target)?.fields, name)?.set.create;
  return set !== undefined && model.expressions.readsOf(set, `create ${target}`).some(({ root }) => root === 'caller');
}

/** The same where a row has these fields, of whoever makes it: nothing where it cannot be brought about. */
function answeringAs(
  session: Session,
  target: string,
  { known, asking }: { readonly known: ShownFields; readonly asking: TrialCaller | undefined },
  demands: readonly Demand[],
): Omit<Answering, 'caller'> | 'as it is' | undefined {
  const machines = machinesOf(session.model.spec.states, target);
  const choices = new Map<string, readonly (Json | undefined)[]>();
  const answerable = demands.filter(({ members, source }) =>
    members.every((member) => {
      const values = valuesFor(session, target, member, { source, asking });
      const more = [...(choices.get(member) ?? []), ...values];
      if (values.length > 0) choices.set(member, [...new Set(more)]);
      return values.length > 0 || Object.hasOwn(known, member);
    }),
  );
  if (answerable.length === 0) return 'as it is';
  const defaults = defaultsOf(session, target);
  const rowOf = (chosen: ShownFields): ShownFields => ({ ...defaults, ...known, ...chosen });
  const meets = (chosen: ShownFields, isFirmAlone: boolean) =>
    answerable.every((demand) => (isFirmAlone && !demand.isFirm) || demand.isMet(rowOf(chosen)));
  const imagined = [...imaginedOf([...choices])];
  const found = roomiest(answerable, rowOf, imagined, (one) => meets(one, false)) ?? imagined.find((one) => meets(one, true));
  if (!found) return undefined;
  // Of several machines a row is brought into a state of one.
  const machine =
    machines.find(({ field: held, initial }) => found[held] !== undefined && initial[0]?.state !== found[held]) ?? machines[0];
  const states = new Set(machines.map(({ field: held }) => held));
  const state = found[machine?.field ?? ''];
  const body = Object.fromEntries(Object.entries(found).filter(([name]) => !states.has(name)));
  const [initial, ...others] = machine?.initial ?? [];
  const isBegunIn = state === undefined || (others.length === 0 && initial?.state === state);
  if (isBegunIn && Object.keys(body).length === 0) return 'as it is';
  return { body, ...(!isBegunIn && { state: asText(state), ...(machine && { machine }) }) };
}

/** The first of the rows that will do, or that which has the most room of so many of them, where any demand asks for room. */
function roomiest(
  demands: readonly Demand[],
  rowOf: (chosen: ShownFields) => ShownFields,
  imagined: readonly ShownFields[],
  isMet: (chosen: ShownFields) => boolean,
): ShownFields | undefined {
  const wishes = demands.flatMap((demand) => (demand.room ? [demand.room] : []));
  if (wishes.length === 0) return imagined.find(isMet);
  const roomOf = (chosen: ShownFields) => wishes.reduce((sum, room) => sum + room(rowOf(chosen)), 0);
  const able = imagined.filter(isMet).slice(0, roomiestMost);
  return able
    .map((one) => ({ one, room: roomOf(one) }))
    .reduce<{ one: ShownFields; room: number } | undefined>(
      (best, each) => (best && best.room >= each.room ? best : each),
      undefined,
    )?.one;
}

function mayMake({ model }: Session, target: string, caller: TrialCaller | undefined): boolean {
  const ways = [...model.endpointsThat('create', target), ...model.endpointsThat('upsert', target)];
  return ways.some((way) => model.access.allows(model.operationOf(way), caller) !== 'no');
}

function defaultsOf({ model }: Session, target: string): ShownFields {
  const fields = entriesOf(model.resource(target)?.fields);
  return Object.fromEntries(fields.flatMap(([name, field]) => (field.default ? [[name, field.default.value]] : [])));
}

/** The values that a member can be given, the least trouble first; nothing where it is for the service to say. */
function valuesFor(
  session: Session,
  target: string,
  member: string,
  { source, asking }: { readonly source: string; readonly asking: TrialCaller | undefined },
): readonly (Json | undefined)[] {
  const { model } = session;
  const machine = machineOn(model.spec.states, target, member);
  if (machine) {
    const initial = machine.initial.map(({ state }) => state);
    return [...new Set([...initial, ...(statedValue(machine.states) ?? [])])];
  }
  const stated = entryOf(model.resource(target)?.fields, member);
  const shape = stated && statedValue(stated.shape);
  if (!stated || !shape || stated.ref !== undefined || !isSendable(model, target, member)) return [];
  return [...(stated.default ? [undefined] : []), ...valuesThatFit(session, shape, source), ...heldBy(session, shape, asking)];
}

/** What is known of whoever asks that a field could have: a hut is of its section. */
function heldBy({ model }: Session, shape: Shape, asking: TrialCaller | undefined): readonly Json[] {
  const fits = model.schemas.of(shape, 'sent');
  const all = asking ? [asking.id, ...Object.values(asking.attributes ?? {})] : [];
  return all.flatMap((value) => (value !== undefined && fits(value).length === 0 ? [value] : []));
}
