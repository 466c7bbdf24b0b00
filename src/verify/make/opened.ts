import type { Json } from '../../document/document.ts';
import type { Aggregate } from '../../parts/derived/aggregates.ts';
import { derivationsOf } from '../../parts/derived/derivations.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { isWritable } from '../../parts/payload.ts';
import type { Field } from '../../parts/resources.ts';
import { conditionsOfTransition, type Machine, machineWith, statesNamed, type Transition } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialRow } from '../exchange/row.ts';
import { ifTestable } from '../exchange/untestable.ts';
import { type Aim, isAimedAt, targetTaken } from '../model/access.ts';
import { mayHold, writesFields } from '../model/own-body.ts';
import type { Session } from '../session/session.ts';
import { callersFor } from './callers-for.ts';
import { sendChange, toNewRow } from './change-sent.ts';
import { changeBehind } from './changed-behind.ts';
import { staysWithin } from './ends.ts';
import { imaginedOf, valuesThatFit } from './fitting-values.ts';
import { lookAt } from './look.ts';
import { provideBehind } from './provided-behind.ts';
import { moveReferring, type Walking } from './referring.ts';
import { setByActs } from './set-by-acts.ts';
import { spansIn } from './timely.ts';

/** So many rows that refer to it are made for a condition that reads what is derived of them. */
const providedMost = 3;

/**
 * Brings about what a transition asks of a row before it is fired, as far as that is for callers to bring about: rows that refer to it where it
 * reads what is derived of them, and else a change of the row by whoever may write what it reads.
 */
export async function openTo(
  session: Session,
  row: TrialRow,
  transition: Transition,
  { target, walking }: { readonly target: Aim | undefined; readonly walking: Walking },
): Promise<void> {
  const machine = machineWith(session.model.spec.states, row.resource, transition.name);
  if (!machine || conditionsOfTransition(transition).length === 0) return;
  const opening: Opening = { row, transition, machine, to: target ?? transition.to[0] ?? '' };
  if (!row.fields) await ifTestable(lookAt(session, row));
  await provide(session, opening, walking);
  await provideBehind(session, row, transition);
  await changeBehind(session, row, transition, opening.to);
  await setByActs(session, row, transition, opening.to);
  await change(session, opening);
  await waitUntilOpen(session, opening);
}

/** The fewest members of a new row with which a transition of it leads where it is to, as far as callers may send what its conditions read. */
export function bodyToward(
  session: Session,
  resource: string,
  transition: Transition,
  target: Aim,
): Readonly<Record<string, Json>> | undefined {
  const { model } = session;
  const stated = model.resource(resource);
  const creates = model.endpointsThat('create', resource).filter((endpoint) => writesFields(model, endpoint));
  const reads = [...readOf(session, transition)];
  const sent = reads.filter((name) => {
    const field = entryOf(stated?.fields, name);
    return (
      stated &&
      field &&
      !field.writable &&
      isWritable(model.spec, stated, field) &&
      creates.some((one) => mayHold(model, one, name))
    );
  });
  const row = { resource, caller: undefined };
  const unknown = reads.filter((name) => !sent.includes(name));
  const taken = (fields: Readonly<Record<string, Json>>) => leadsFrom(session, { row, transition }, fields, unknown);
  const bodies = [...imaginedOf(choicesOf(session, resource, transition, sent))].sort(byMembers);
  return bodies.find((one) => isAimedAt(taken(one), target));
}

interface Opening {
  readonly row: TrialRow;
  readonly transition: Transition;
  readonly machine: Machine;
  readonly to: Aim;
}

/** How long after a moment a condition on it is asked: clocks are read to the second. */
const afterMs = 2_000;

/** Lets the time go by until a condition that reads it is open, where it will be: fireworks are lit an hour before they start. */
async function waitUntilOpen(session: Session, opening: Opening): Promise<void> {
  const { row, transition, to } = opening;
  const { model, run } = session;
  const timed = conditionsOfTransition(transition).filter((one) => model.expressions.reads(one, undefined, 'now'));
  if (timed.length === 0 || !run.goneBy || !row.fields || isOpen(leadsFrom(session, opening, row.fields), to)) return;
  const nowMs = run.clock.toService(Date.now());
  const known = [...readOf(session, transition)].flatMap((name) => {
    const ms = Date.parse(asText(row.fields?.[name] ?? ''));
    return Number.isFinite(ms) ? [ms] : [];
  });
  const shifts = spansIn(timed).flatMap((span) => [span, -span]);
  const moments = known.flatMap((ms) => [0, ...shifts].map((shift) => ms + shift + afterMs)).filter((ms) => ms > nowMs);
  const until = moments
    .sort((one, other) => one - other)
    .find((ms) => isAimedAt(leadsFrom(session, opening, row.fields, [], ms), to));
  if (until === undefined || !staysWithin(model, session, until - nowMs + 60_000)) return;
  await session.waitTogether(until - nowMs);
  await ifTestable(lookAt(session, row));
}

/** The fields of the row itself that the conditions read. */
export function readOf({ model }: Session, transition: Transition): ReadonlySet<string> {
  const reads = conditionsOfTransition(transition).flatMap((one) => model.expressions.readsOf(one, undefined));
  return new Set(reads.flatMap(({ root, path }) => (root === 'resource' || root === 'next' ? (path[0] ?? []) : [])));
}

/** What the transition would take, if the row had these fields, and nothing were known of some. */
export function leadsFrom(
  { model, run }: Session,
  { row, transition }: { readonly row: Pick<TrialRow, 'resource' | 'caller'>; readonly transition: Transition },
  fields: TrialRow['fields'],
  unknown: Iterable<string> = [],
  nowMs = run.clock.toService(Date.now()),
): Taken {
  return targetTaken(model.expressions, transition, {
    operation: '',
    row: fields ?? {},
    unseen: new Set([...model.unseenIn(row.resource, row.caller, fields), ...unknown]),
    request: undefined,
    caller: row.caller,
    nowMs,
  });
}

type Taken = ReturnType<typeof targetTaken>;

const isOpen = (taken: Taken, to: Aim) => taken === 'unknown' || isAimedAt(taken, to);

/** Makes rows that refer to a row where the state that a transition is to lead to depends on what is derived of them. */
async function provide(session: Session, opening: Opening, walking: Walking): Promise<void> {
  const { row, transition, machine, to } = opening;
  const reads = readOf(session, transition);
  const derivations = derivationsOf(session.model.spec).of(row.resource);
  const aggregates = derivations
    .filter(({ field }) => reads.has(field.name))
    .flatMap(({ field, aggregates }) => aggregates.map((aggregate) => ({ field, aggregate })));
  const was = row.fields?.[machine.field];
  const kin = aggregates.map(({ aggregate }) => aggregate);
  const isWanted = (fields: TrialRow['fields']) => isOpen(leadsFrom(session, opening, fields), to);
  for (let made = 0; aggregates.length > 0; made++) {
    if (isWanted(row.fields) || (await moveReferring(session, row, kin, { walking, isWanted })) || made === providedMost) return;
    const vain = new Set<string>();
    for (const { field, aggregate } of aggregates) {
      const { from, by } = aggregate;
      if (vain.has(`${from}.${by}`)) continue;
      const body = made % 2 === 0 ? lacking(session, opening, field, aggregate) : {};
      const style = made > 0 ? ({ style: 'whole' } as const) : {};
      const one = await ifTestable(session.make(from, { parents: { [by]: row }, for: row.caller, body, ...style }));
      if (!one && Object.keys(body).length === 0) vain.add(`${from}.${by}`);
    }
    if (aggregates.every(({ aggregate: { from, by } }) => vain.has(`${from}.${by}`))) return;
    await lookAt(session, row);
    if (row.fields?.[machine.field] !== was) return;
  }
}

/** What is added up of a new row: as much as the sum lacks of a number that the same conditions read of the row. */
function lacking(session: Session, { row, transition }: Opening, sum: Field, { word, from, value = '' }: Aggregate) {
  const { model } = session;
  const [, added = ''] = /^\s*item\.(\w+)\s*$/.exec(value) ?? [];
  const shape = statedValue(entryOf(model.resource(from)?.fields, added)?.shape);
  if (word !== 'sum' || !shape) return {};
  const fits = model.schemas.of(shape, 'sent');
  const numberIn = (name: string) => (typeof row.fields?.[name] === 'number' ? row.fields[name] : 0);
  const wanted = [...readOf(session, transition)].filter((name) => name !== sum.name);
  const missing = wanted.map((name) => numberIn(name) - numberIn(sum.name)).sort((one, other) => other - one);
  const most = missing.find((one) => one > 0 && fits(one).length === 0);
  return most === undefined ? {} : { [added]: most };
}

/** Changes the row as little as it takes for its conditions to hold, where a caller may write what they read in the state that it is in. */
async function change(session: Session, opening: Opening): Promise<void> {
  const { row, transition, to } = opening;
  const { model } = session;
  if (!row.fields || isOpen(leadsFrom(session, opening, row.fields), to)) return;
  for (const endpoint of model.endpointsThat('update', row.resource)) {
    if (endpoint.identity || !writesFields(model, endpoint) || !isTakenNow(session, opening, endpoint)) continue;
    for (const caller of callersFor(session, endpoint, row)) {
      const writable = [...readOf(session, transition)].filter((name) => mayWrite(session, row, endpoint, caller, name));
      const changes = changesOf(session, opening, writable);
      const taken = (one: Readonly<Record<string, Json>>) => leadsFrom(session, opening, withChanges(row, one));
      // What cannot be said before it is tried is more than what is known not to hold.
      const chosen = changes.find((one) => isAimedAt(taken(one), to)) ?? changes.find((one) => taken(one) === 'unknown');
      if (chosen && (await ifTestable(sendChange(session, row, { endpoint, caller, chosen })))) return;
    }
  }
}

function isTakenNow({ model }: Session, { row, machine }: Opening, endpoint: Endpoint): boolean {
  const allowed = statesNamed(model.spec.states, machine, endpoint.in ?? []);
  return allowed.length === 0 || allowed.includes(asText(row.fields?.[machine.field]));
}

function mayWrite(
  { model }: Session,
  { resource: name }: TrialRow,
  endpoint: Endpoint,
  caller: TrialCaller | undefined,
  field: string,
): boolean {
  const resource = model.resource(name);
  const stated = resource && entryOf(resource.fields, field);
  if (!resource || !stated || stated.immutable || !isWritable(model.spec, resource, stated)) return false;
  const isOurs = stated.writable === undefined || stated.writable.includes(caller?.user ?? '');
  return isOurs && mayHold(model, endpoint, field);
}

/** The changes of some fields, those of few fields first. */
function changesOf(
  session: Session,
  { row, transition }: Opening,
  writable: readonly string[],
): readonly Readonly<Record<string, Json>>[] {
  const fields = session.model.resource(row.resource)?.fields;
  const choices = choicesOf(session, row.resource, transition, writable).map(([name, values]): Choice => {
    const stated = entryOf(fields, name);
    const removed = stated && statedValue(stated.required) !== true ? [null] : [];
    return [name, [...(stated?.ref === undefined ? values : [undefined, toNewRow]), ...removed]];
  });
  return [...imaginedOf(choices)].filter((one) => Object.keys(one).length > 0).sort(byMembers);
}

type Choice = readonly [string, readonly (Json | undefined)[]];

/** What fields may be for the conditions of a transition: left out, or a value that may make them hold. */
function choicesOf(session: Session, resource: string, transition: Transition, names: readonly string[]): readonly Choice[] {
  const source = conditionsOfTransition(transition)
    .map((one) => one.source)
    .join(' ');
  return names.map((name) => {
    const stated = entryOf(session.model.resource(resource)?.fields, name);
    const shape = stated?.ref === undefined ? stated && statedValue(stated.shape) : undefined;
    return [name, [undefined, ...(shape ? valuesThatFit(session, shape, source) : [])]];
  });
}

const byMembers = (one: object, other: object) => Object.keys(one).length - Object.keys(other).length;

function withChanges({ fields }: TrialRow, changes: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries({ ...fields, ...changes }).filter(([, value]) => value !== null));
}
