import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Expression } from '../../parts/fact.ts';
import type { Session } from '../session/session.ts';
import { type ConditionSubject, type Scene, sceneWith } from './scene.ts';
import { spansIn } from './timely.ts';

/** A scene for which a condition holds, and the nearest to it that was found for which it does not. */
export interface ConditionEdge {
  readonly met: Scene;
  readonly unmet: Scene | undefined;
}

/** The scene moved to the edge of its condition, one number at a time, with the one just beyond the edge. */
export function sharpened(
  slots: readonly ConditionSubject[],
  met: Scene,
  holds: (scene: Scene) => boolean | undefined,
  hints: readonly Json[],
): ConditionEdge {
  const numbers = slots.flatMap(({ key, reads, defaults }) =>
    [...reads].flatMap((name) => {
      const value = met.values.get(key)?.[name] ?? defaults[name];
      return typeof value === 'number' && Number.isInteger(value) ? [{ key, name, value }] : [];
    }),
  );
  const edges = new Set([...hints.filter((hint) => Number.isInteger(hint)), ...numbers.map(({ value }) => value)].map(Number));
  for (const { key, name } of numbers) {
    const slot = slots.find((one) => one.key === key);
    const bounds = slot && boundsIn(slot, name);
    for (const value of edges) {
      for (const [inside, outside] of [
        [value + 1, value],
        [value - 1, value],
        [value, value + 1],
        [value, value - 1],
      ] as const) {
        if (!bounds || Math.min(inside, outside) < bounds[0] || Math.max(inside, outside) > bounds[1]) continue;
        const near = sceneWith(met, key, name, inside);
        const beyond = sceneWith(met, key, name, outside);
        if (holds(near) === true && holds(beyond) === false) return { met: near, unmet: beyond };
      }
    }
  }
  for (const { key, name, value } of numbers) {
    const slot = slots.find((one) => one.key === key);
    const bounds = slot && boundsIn(slot, name);
    const edge = bounds && crossing((number) => sceneWith(met, key, name, number), value, bounds, holds);
    if (edge) return edge;
  }
  return { met, unmet: undefined };
}

/** Where a condition turns between a number for which it holds and one of the ends for which it does not, found by halving. */
function crossing(
  withNumber: (number: number) => Scene,
  value: number,
  ends: readonly [number, number],
  holds: (scene: Scene) => boolean | undefined,
): ConditionEdge | undefined {
  for (const end of ends) {
    if (end === value || holds(withNumber(end)) !== false) continue;
    let [inside, outside] = [value, end];
    while (Math.abs(outside - inside) > 1) {
      const middle = Math.trunc((inside + outside) / 2);
      const isMet = holds(withNumber(middle));
      if (isMet === undefined) break;
      if (isMet) inside = middle;
      else outside = middle;
    }
    const met = withNumber(inside);
    const unmet = withNumber(outside);
    if (Math.abs(outside - inside) === 1 && holds(met) === true) return { met, unmet };
  }
  return undefined;
}

/** A second, and two minutes where what a condition compares with is the time itself, which goes on meanwhile; a day where it reads days. */
const besideMs = { second: 1_000, now: 120_000, day: 86_400_000 };

/** The scene moved to the edge of its condition by one of its times, with the one just beyond the edge: as far from another of them, or from now, as the condition says. */
export function sharpenedInTime(
  { model, run }: Session,
  conditions: readonly Expression[],
  slots: readonly ConditionSubject[],
  met: Scene,
  holds: (scene: Scene) => boolean | undefined,
): ConditionEdge {
  const times = slots.flatMap(({ key, reads, defaults }) =>
    [...reads].flatMap((name) => {
      const value = met.values.get(key)?.[name] ?? defaults[name];
      const ms = typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
      return typeof value === 'string' && Number.isFinite(ms) ? [{ key, name, ms, isDay: value.length === 10 }] : [];
    }),
  );
  const spans = [0, ...spansIn(conditions)].flatMap((ms) => [ms, -ms]);
  const readsNow = conditions.some((one) => model.expressions.reads(one, undefined, 'now'));
  const nowMs = readsNow ? run.clock.toService(Date.now()) : undefined;
  for (const { key, name, isDay } of times) {
    const others = times.filter((one) => one.key !== key || one.name !== name).map(({ ms }) => ms);
    for (const base of nowMs === undefined ? others : [...others, nowMs]) {
      // The moment itself is over by the time that it is asked about.
      const isNow = base === nowMs;
      const step = isDay ? besideMs.day : isNow ? besideMs.now : besideMs.second;
      const pairs = isNow
        ? [1, -1].map((one) => [one, -one] as const)
        : [1, -1].flatMap(
            (one) =>
              [
                [one, 0],
                [0, one],
              ] as const,
          );
      for (const ms of spans.map((span) => base + span))
        for (const [inside, outside] of pairs) {
          const [near, beyond] = [inside, outside].map((by) => {
            const text = new Date(ms + by * step).toISOString();
            return sceneWith(met, key, name, isDay ? text.slice(0, 10) : text);
          }) as [Scene, Scene];
          if (holds(near) === true && holds(beyond) === false) return { met: near, unmet: beyond };
        }
    }
  }
  return { met, unmet: undefined };
}

/** The whole numbers that a member may be; nothing where it has a shape of more than bounds. */
function boundsIn({ shape }: ConditionSubject, name: string): readonly [number, number] | undefined {
  const member = isMap(shape?.properties) ? shape.properties[name] : undefined;
  if (!isMap(member) || member.type !== 'integer' || member.enum !== undefined || member.multipleOf !== undefined)
    return undefined;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = member;
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : minimum;
  const most = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 1 : maximum;
  return [typeof least === 'number' ? least : -(2 ** 31), typeof most === 'number' ? most : 2 ** 31 - 1];
}
