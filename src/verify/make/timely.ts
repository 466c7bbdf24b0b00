import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Field } from '../../parts/resources.ts';
import { machineOf } from '../../parts/states.ts';
import type { Model } from '../model/model.ts';
import { timeOf } from '../model/reckoned.ts';
import { isSendable } from '../model/sendable.ts';
import type { Session } from '../script/session.ts';

/** What transitions ask of a new row by the clock: on its way to the state that it is wanted in, and out of that. */
export interface Timely {
  /** Where its times lie, by turns: each of its fields of times, as it is to be for a draw. */
  times(draw: number): Readonly<Record<string, Json>>;
  /** Whether some condition is known not to hold of a row of this body; of those on its way alone where it is drawn for long. */
  closes(json: Json | undefined, draw: number): boolean;
}

/** From now: soon, later, on another day, and what is over. */
const offsetsMs = [30 * 60_000, 2 * 3_600_000, 86_400_000, -86_400_000];
/** So often the ways out of its state are asked for too. */
const eagerDraws = 12;

/** Nothing where no condition reads what time it is. */
export function timelyFor(session: Session, endpoint: Endpoint, state: string | undefined): Timely | undefined {
  const { model, run } = session;
  const effect = statedValue(endpoint.does);
  const name = resourceOfEffect(effect) ?? '';
  const resource = model.resource(name);
  if (!resource || (effect?.verb !== 'create' && effect?.verb !== 'upsert') || endpoint.request.standing !== 'open')
    return undefined;
  const { way, out } = conditionsOf(model, name, state);
  if (![...way, ...out].some((one) => model.expressions.reads(one, undefined, 'now'))) return undefined;
  const fields = entriesOf(resource.fields).filter(([field, stated]) => isTime(stated) && isSendable(model, name, field));
  const defaults = Object.fromEntries(
    entriesOf(resource.fields).flatMap(([field, one]) => (one.default ? [[field, one.default.value]] : [])),
  );
  const now = run.clock.toService(Date.now());
  return {
    times: (draw) =>
      Object.fromEntries(
        fields.map(([field], at) => {
          const offsetMs = offsetsMs[Math.floor(draw / offsetsMs.length ** at) % offsetsMs.length] ?? 0;
          // No two are the same: a time may have to be unique.
          return [field, new Date(now + offsetMs + session.chance.whole(60_000)).toISOString()];
        }),
      ),
    closes(json, draw) {
      if (!isMap(json)) return false;
      const row = { ...defaults, ...json };
      const asked = draw < eagerDraws ? [...way, ...out] : way;
      return asked.some((condition) => {
        const evaluated = model.expressions.evaluate(condition, undefined, { context: { resource: row, next: row, now } });
        return typeof evaluated === 'object' && evaluated.value === false;
      });
    },
  };
}

/** Whether a field holds a moment as a text. */
function isTime(field: Field): boolean {
  return timeOf(new Date(0).toISOString(), field) === 0;
}

/** The conditions of transitions on the shortest way to a state, and of those out of it, that read nothing but the row itself and the time. */
function conditionsOf(model: Model, resource: string, state: string | undefined) {
  const machine = machineOf(model.spec.states, resource);
  const all = machine ? entriesOf(machine.transitions).map(([, transition]) => transition) : [];
  const isOwn = (condition: Expression): boolean =>
    model.expressions
      .readsOf(condition, undefined)
      .every(({ root, follows }) => !follows && (root === 'resource' || root === 'next' || root === 'now'));
  const ifs = (transitions: typeof all): Expression[] => transitions.flatMap((one) => one.if ?? []).filter(isOwn);
  const ways = new Map<string, typeof all>((machine?.initial ?? []).map((target) => [target.state, []]));
  // Entries that are added while the map is gone through are gone through as well: breadth first.
  for (const [from, way] of ways)
    for (const one of all)
      if (one.from === '*' || one.from.includes(from))
        for (const target of one.to) if (!ways.has(target.state)) ways.set(target.state, [...way, one]);
  const wanted = state ?? machine?.initial[0]?.state ?? '';
  const leaving = all.filter(({ from, by, after, atTime }) => from !== '*' && from.includes(wanted) && !by && !after && !atTime);
  return { way: ifs(ways.get(wanted) ?? []), out: ifs(leaving) };
}
