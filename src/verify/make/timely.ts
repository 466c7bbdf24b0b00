import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { machineIn, machinesOf } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import { isSendable } from '../model/own-body.ts';
import { ownRulesAt } from '../model/own-condition.ts';
import { timeOf } from '../model/reckoned.ts';
import type { Session } from '../session/session.ts';
import { membersOf, withMember } from '../values/at-path.ts';
import { membersSent } from './fields-sent.ts';

/** What transitions, and errors of the service's own, ask of a new row by the clock: on its way to the state that it is wanted in, and out of that; that the clock does not move it on at once, and that a transition is shut that is to be. */
export interface Timely {
  /** So often a body is drawn at the most. */
  readonly draws: number;
  /** Whether there are times to go through, so that one body is drawn for several of them. */
  readonly hasTimes: boolean;
  /** Where its times lie, by turns: each of its fields of times, as it is to be for a draw; about the times that are wanted of it, where some are. */
  times(draw: number, wanted?: Readonly<Record<string, unknown>>): Readonly<Record<string, Json>>;
  /** The same of the times inside of its values, but for those of what is wanted: `window: { opens_at, closes_at }`. */
  inside(body: Symbolic, draw: number, wanted?: Readonly<Record<string, unknown>>): Symbolic;
  /** Whether some condition is known not to hold of a row of this body; of those on its way alone where it is drawn for long. */
  closes(json: Json | undefined, draw: number): boolean;
}

/** From now: soon, later, on another day, what is over, and something in between; of several times the first is soon, the next later. */
const offsetsMs = [5 * 60_000, 2 * 3_600_000, 86_400_000, -86_400_000, 40 * 60_000];
/** So often the ways out of its state are asked for too at the most: with each of these for each of two times. */
const eagerMost = 90;
/** So often a body is drawn beyond that. */
const moreDraws = 7;
/** So many spans of time that conditions name are gone by. */
const spansMost = 3;
/** When the clock moves a row on, if it may be then: no sooner than trials wait for what tells of a change, or for a quota, so that rows stay as they were brought meanwhile. */
const endsInMs = 72 * 3_600_000;
/** For so long at least the clock is to leave a row in the states that it is brought through. */
const soonMs = 10 * 60_000;

/** Nothing where no condition reads what time it is, and the clock moves no row at a time of its own. */
export function timelyFor(
  session: Session,
  endpoint: Endpoint,
  { state, blocking, meant }: Pick<WantedRow, 'state' | 'blocking' | 'meant'>,
): Timely | undefined {
  const { model, run } = session;
  const effect = statedValue(endpoint.does);
  const name = resourceOfEffect(effect) ?? '';
  const resource = model.resource(name);
  if (!resource || (effect?.verb !== 'create' && effect?.verb !== 'upsert') || endpoint.request.standing !== 'open')
    return undefined;
  const { way, out, shut, ends } = conditionsOf(model, name, state, blocking);
  const own = timedErrors(model, endpoint).filter((one) => one !== meant);
  const asking = [...way, ...out, ...shut, ...own].filter((one) => model.expressions.reads(one, undefined, 'now'));
  const offsets = [...spansIn(asking).flatMap((ms) => [1.1 * ms, 0.9 * ms, -1.1 * ms]), ...offsetsMs];
  const eagerDraws = Math.min(offsets.length ** 2, eagerMost);
  if (asking.length === 0 && ends.length === 0) return undefined;
  const fields = timesSent(model, resource, asking.length > 0);
  const inner = innerTimes(model, endpoint);
  const isEnd = endsIn(model, ends);
  // No two are the same: a time may have to be unique.
  const timeAt = (path: readonly string[], draw: number, at: number, aboutMs: number): string => {
    const turn = Math.floor(draw / offsets.length ** at);
    const offsetMs = turn === 0 && isEnd(path) ? endsInMs : (offsets[(turn + at) % offsets.length] ?? 0);
    return new Date(aboutMs + Math.round(offsetMs) + session.chance.whole(60_000)).toISOString();
  };
  const defaults = Object.fromEntries(
    entriesOf(resource.fields).flatMap(([field, one]) => (one.default ? [[field, one.default.value]] : [])),
  );
  const now = run.clock.toService(Date.now());
  const begun = begunIn(model, name);
  return {
    draws: eagerDraws + moreDraws,
    hasTimes: fields.length + inner.length > 0,
    times: (draw, wanted = {}) => {
      // What may be left out is, where no time was found that is taken.
      if (draw === eagerDraws + moreDraws - 1) return {};
      const given = fields.flatMap((field) => Date.parse(asText(wanted[field])) || []);
      const aboutMs = given.length > 0 ? Math.min(...given) : now;
      return Object.fromEntries(fields.map((field, at) => [field, timeAt([field], draw, at, aboutMs)]));
    },
    inside: (body, draw, wanted = {}) =>
      inner.reduce(
        (whole, path, at) =>
          path[0] in wanted || !isThere(whole, path)
            ? whole
            : withMember(whole, path, timeAt(path, draw, fields.length + at, now)),
        body,
      ),
    closes: (json, draw) =>
      closesAt(model, endpoint, json, {
        asked: draw < eagerDraws ? [...way, ...out] : way,
        shut: [...own, ...shut],
        ends,
        defaults,
        begun,
        now,
      }),
  };
}

interface Closing {
  /** What has to hold of the row. */
  readonly asked: readonly Expression[];
  /** What may not. */
  readonly shut: readonly Expression[];
  /** When the clock moves it on. */
  readonly ends: readonly Expression[];
  readonly defaults: Readonly<Record<string, Json>>;
  readonly begun: Readonly<Record<string, Json>>;
  readonly now: number;
}

/** Whether some condition is known not to hold of a row of this body. */
function closesAt(
  { expressions }: Model,
  { operation }: Endpoint,
  json: Json | undefined,
  { asked, shut, ends, defaults, begun, now }: Closing,
): boolean {
  if (!isMap(json)) return false;
  const row = { ...defaults, ...json };
  const context = { resource: row, next: { ...row, ...begun }, now };
  const comesTo = (condition: Expression, value: boolean): boolean => {
    const evaluated = expressions.evaluate(condition, operation, { context });
    return typeof evaluated === 'object' && evaluated.value === value;
  };
  const isOver = (end: Expression): boolean => {
    const evaluated = expressions.evaluate(end, operation, { context });
    return typeof evaluated === 'object' && Date.parse(asText(evaluated.value)) <= now + soonMs;
  };
  return asked.some((one) => comesTo(one, false)) || shut.some((one) => comesTo(one, true)) || ends.some(isOver);
}

/** The conditions of the service's own errors that read the row and the time. */
function timedErrors(model: Model, endpoint: Endpoint): Expression[] {
  return ownRulesAt(model, endpoint).flatMap(({ rule }) => (rule.if && readsRowAndTime(model, rule.if) ? [rule.if] : []));
}

/** The fields of moments that may be sent. What the clock alone asks for is that it does not move a row on at once: what need not be sent is left as it is drawn. */
function timesSent(model: Model, resource: Resource, isAll: boolean): string[] {
  const isAsked = ({ required }: Field) => isAll || statedValue(required) === true;
  return entriesOf(resource.fields)
    .filter(([field, stated]) => isTime(stated) && isAsked(stated) && isSendable(model, resource.name, field))
    .map(([field]) => field);
}

/** Whether a member is one of the moments at which the clock moves a row on. */
function endsIn({ expressions }: Model, ends: readonly Expression[]): (path: readonly string[]) => boolean {
  const read = ends.flatMap((end) => expressions.readsOf(end, undefined).map((one) => one.path.join('/')));
  return (path) => read.includes(path.join('/'));
}

/** The moments in the values that may be sent, one step in. */
function innerTimes(model: Model, endpoint: Endpoint): (readonly [string, string])[] {
  return membersSent(model, endpoint, undefined).flatMap(({ path: [name, inner, ...further], shape }) =>
    name !== undefined && inner !== undefined && further.length === 0 && isMoment(shape.format) ? [[name, inner] as const] : [],
  );
}

function isMoment(format: Json | undefined): boolean {
  return typeof format === 'string' && formatNamed(format)?.time?.readMs(new Date(0).toISOString()) === 0;
}

function isThere(body: Symbolic, [name, inner]: readonly [string, string]): boolean {
  return membersOf(membersOf(body)[name] ?? null)[inner] !== undefined;
}

/** The states that a new row has, as far as that is plain. */
function begunIn({ spec }: Model, resource: string): Readonly<Record<string, Json>> {
  const machines = machinesOf(spec.states, resource);
  return Object.fromEntries(machines.flatMap(({ field, initial }) => (initial[0] ? [[field, initial[0].state]] : [])));
}

/** A span that is longer leads to no moment that can be written. */
const longestMs = 100 * 366 * 86_400_000;

/** The spans of time that conditions name, in milliseconds, up to a hundred years: `now + duration('48h')`. */
export function spansIn(conditions: readonly Expression[]): readonly number[] {
  const named = conditions.flatMap(({ source }) => [...source.matchAll(/\bduration\(\s*(['"])([\d.hms]{1,20})\1\s*\)/g)]);
  const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
  const spans = named.map(([, , text = '']) =>
    [...text.matchAll(/([\d.]+)(ms|h|m|s)/g)].reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0), 0),
  );
  return [...new Set(spans)].filter((ms) => ms > 0 && ms <= longestMs).slice(0, spansMost);
}

/** Whether a field holds a moment as a text. */
export function isTime(field: Field): boolean {
  return timeOf(new Date(0).toISOString(), field) === 0;
}

/** Whether a condition reads nothing but the row itself and the time. */
function readsRowAndTime({ expressions }: Model, condition: Expression): boolean {
  return expressions
    .readsOf(condition, undefined)
    .every(({ root, follows }) => !follows && (root === 'resource' || root === 'next' || root === 'now'));
}

/** The conditions of transitions on the shortest way to a state, and of those out of it, and when the clock moves a row on from there, that read nothing but the row itself and the time. */
function conditionsOf(model: Model, resource: string, state: string | undefined, blocking: string | undefined) {
  const machine = machineIn(model.spec.states, resource, state);
  const all = machine ? entriesOf(machine.transitions).map(([, transition]) => transition) : [];
  const ifs = (transitions: typeof all): Expression[] =>
    transitions.flatMap((one) => one.if ?? []).filter((one) => readsRowAndTime(model, one));
  const ways = new Map<string, typeof all>((machine?.initial ?? []).map((target) => [target.state, []]));
  // Entries that are added while the map is gone through are gone through as well: breadth first.
  for (const [from, way] of ways)
    for (const one of all)
      if (one.from === '*' || one.from.includes(from))
        for (const target of one.to) if (!ways.has(target.state)) ways.set(target.state, [...way, one]);
  const wanted = state ?? machine?.initial[0]?.state ?? '';
  const leaving = all.filter(({ from, by, after, atTime }) => from !== '*' && from.includes(wanted) && !by && !after && !atTime);
  const through = new Set([wanted, ...(ways.get(wanted) ?? []).flatMap(({ from }) => from)]);
  const ends = all.flatMap(({ from, atTime }) =>
    atTime && from !== '*' && from.some((one) => through.has(one)) && readsRowAndTime(model, atTime) ? [atTime] : [],
  );
  const isShut = ({ name }: (typeof all)[number]) => name === blocking;
  const out = ifs(leaving.filter((one) => !isShut(one)));
  return { way: ifs(ways.get(wanted) ?? []), out, shut: ifs(leaving.filter(isShut)), ends };
}
