import type { Json } from '../../../document/document.ts';
import { sentAs } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf } from '../../../parts/fact.ts';
import { isWritable } from '../../../parts/payload.ts';
import { type Machine, statesNamed, type Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { isDone } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { leadsTo } from '../../make/legs.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { isTime } from '../../make/timely.ts';
import { dueIn, fireOnRow, statesOf, walkTo } from '../../make/walk.ts';
import { changeKeepsRules } from '../../model/field-rules.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import { bareMap } from '../../values/at-path.ts';

/** How the time is changed at which the clock moves a row: by an update of a member that says it, or by a transition that sets this. */
export interface PuttingOff {
  /** What is said of it: `PATCH /loans/{id}`, `extend`. */
  readonly by: string;
  readonly member: string;
  readonly endpoint: Endpoint;
  readonly transition?: Transition;
  /** The states in which it may be done. */
  readonly states: readonly string[];
}

/** The ways of callers to put off what is due at a time that a row has, before it is due in a state. */
export function waysToPutOff(model: Model, machine: Machine, timed: Transition, state: string): readonly PuttingOff[] {
  const resource = model.resource(machine.resource);
  const names = new Set([...(timed.atTime?.source ?? '').matchAll(/\bresource\.(\w+)/g)].map(([, name = '']) => name));
  if (!resource) return [];
  return [...names].flatMap((member): PuttingOff[] => {
    const field = entryOf(resource.fields, member);
    if (!field) return [];
    const updates = model.endpointsThat('update', machine.resource).flatMap((endpoint): PuttingOff[] => {
      const isFree = isWritable(model.spec, resource, field) && !field.immutable && field.writable === undefined;
      const stated = statesNamed(model.spec.states, machine, endpoint.in ?? []);
      return isFree ? [{ by: endpoint.key, member, endpoint, states: stated.length > 0 ? stated : statesOf(machine) }] : [];
    });
    const transitions = entriesOf(machine.transitions).flatMap(([, transition]): PuttingOff[] => {
      const endpoint = model.endpointOfTransition(machine.resource, transition.name);
      const isSet = field.set[transition.name]?.source.includes('request.') ?? false;
      const isBack =
        transition.from !== '*' && transition.from.includes(state) && transition.to.every((one) => one.state === state);
      return endpoint && isSet && isBack ? [{ by: transition.name, member, endpoint, transition, states: [state] }] : [];
    });
    return [...updates.slice(0, 1), ...transitions];
  });
}

/** The reason of a claim that a transition of the clock waits for the time that was set last. */
export function putOffBy(timed: Transition, { by }: Pick<PuttingOff, 'by'>): string {
  return `${timed.name}, put off by ${by}`;
}

/** A row in a state, whose time was put off to twice as long. @throws {Untestable} where it cannot be */
export async function putOff(
  session: Session,
  machine: Machine,
  { timed, state }: { readonly timed: Transition; readonly state: string },
  way: PuttingOff,
): Promise<TrialRow> {
  const at = way.states.includes(state) ? state : way.states.find((one) => leadsTo(session, machine, one, state));
  session.need(at !== undefined, `${way.by} is for no state that leads to ${state}`);
  const row = await timedRow(session, machine, at, way);
  await lookAt(session, row);
  const before = dueIn(session, row, timed);
  session.need(before !== undefined && before > 0, `when ${timed.name} is due is not shown`);
  const done = await (way.transition
    ? fireOnRow(session, row, way.endpoint, way.transition)
    : changeTime(session, row, way, before));
  session.need(isDone(done.value), `${way.by} was answered ${done.value.status}`);
  if (at !== state) await walkTo(session, row, state, { machine });
  await lookAt(session, row);
  const after = dueIn(session, row, timed) ?? 0;
  session.need(Math.abs(after - before) > before / 3, `${way.by} did not change when ${timed.name} is due`);
  return row;
}

/** When a row is due before that is put off, where a body may say so. */
const usualMs = 6 * 3_600_000;

/** A row whose time is still to come: as whoever makes it says, where that may be said, else as it is drawn. */
async function timedRow(
  session: Session,
  machine: Machine,
  state: string,
  { member, transition }: PuttingOff,
): Promise<TrialRow> {
  const wanted = { machine, state };
  const body = { [member]: momentAt(session, usualMs) };
  const said = transition ? undefined : await ifTestable(session.make(machine.resource, { ...wanted, body }));
  return said ?? session.make(machine.resource, wanted);
}

/** So long from now, as a date and time. */
function momentAt({ run }: Session, ms: number): string {
  return new Date(run.clock.toService(Date.now()) + ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

async function changeTime(session: Session, row: TrialRow, { endpoint, member }: PuttingOff, dueMs: number) {
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const sent: Symbolic = bareMap({ ...sentAs<Symbolic>(endpoint, timesPutOff(session, row, endpoint, member, dueMs)) });
  const path = endpoint.takes?.path ?? [];
  const json = path.reduceRight<Symbolic>((inner, name) => bareMap({ [name]: inner }), sent);
  return session.send(await requestAbout(session, row, endpoint, { caller, headers, json }));
}

/** The time of a row twice as far from now; where that alone breaks a rule of the row, such as an end that comes before its beginning, with its later times as much later. */
function timesPutOff(
  session: Session,
  { resource, fields = {} }: TrialRow,
  endpoint: Endpoint,
  member: string,
  dueMs: number,
): Readonly<Record<string, Json>> {
  const { model, run } = session;
  const alone = { [member]: momentAt(session, 2 * dueMs) };
  if (changeKeepsRules(model, endpoint, fields, alone) !== 'no') return alone;
  const wasMs = Date.parse(asText(fields[member] ?? ''));
  const nowMs = run.clock.toService(Date.now());
  const later = entriesOf(model.resource(resource)?.fields).flatMap(([name, field]) => {
    const ms = Date.parse(asText(fields[name] ?? ''));
    const isMoved = name !== member && isTime(field) && !field.immutable && isSendable(model, resource, name) && ms >= wasMs;
    return isMoved ? [[name, momentAt(session, ms - nowMs + dueMs)] as const] : [];
  });
  return { ...alone, ...Object.fromEntries(later) };
}
