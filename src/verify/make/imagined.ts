import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { machineAsked } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { callerContext } from '../model/access.ts';
import { hintsIn } from '../model/expressions.ts';
import type { StatedRefusal } from '../model/refusals.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { callersFor } from './callers-for.ts';
import { keepingRules, otherErrors, readsBeside } from './refused-besides.ts';
import { type ConditionSubject, conditionSubjectsOf, contextOf, type Scene } from './scene.ts';
import { spansIn } from './timely.ts';

/** Bodies and rows for which a condition holds, and the nearest to them that were found for which it does not. */
export interface Imagined {
  readonly slots: readonly ConditionSubject[];
  readonly met: Scene;
  readonly unmet: Scene | undefined;
}

const draws = 240;
/** In so many of them no other error holds: what differs from them in the condition alone is refused by none. */
const drawsAlone = 120;

/**
 * Looks for bodies and rows for which a condition holds, such as an own error's, without sending anything: one for each of the states that they may be in.
 * `within` holds for all of them, for those too for which the condition does not hold.
 */
export function* imagine(
  session: Session,
  endpoint: Endpoint,
  { rule, within }: { readonly rule: Pick<StatedRefusal['rule'], 'if'>; readonly within?: Expression | undefined },
): Iterable<Imagined> {
  const { model } = session;
  const condition = rule.if;
  if (!condition) return;
  const all = within ? [condition, within] : [condition];
  const reads = all.flatMap((one) => model.expressions.readsOf(one, endpoint.operation));
  const led = conditionSubjectsOf(session, endpoint, reads);
  const beside = led.some(({ from }) => from) ? readsBeside(session, endpoint, led, condition) : [];
  const slots = beside.length === 0 ? led : conditionSubjectsOf(session, endpoint, [...reads, ...beside]);
  const callers = callersFor(session, endpoint);
  const asking = reads.some(({ root }) => root === 'caller') ? callers : [];
  const contextIn = (scene: Scene, some: readonly ConditionSubject[] = slots) => ({
    ...contextOf(session, endpoint, some, scene),
    ...callerContext(scene.caller ?? callers[0]),
  });
  const holds = (scene: Scene, some: readonly ConditionSubject[] = slots): boolean | undefined => {
    const context = contextIn(scene, some);
    const evaluate = (one: Expression) => {
      const evaluated = model.expressions.evaluate(one, endpoint.operation, { context });
      return typeof evaluated === 'object' && typeof evaluated.value === 'boolean' ? evaluated.value : undefined;
    };
    return within && evaluate(within) !== true ? undefined : evaluate(condition);
  };
  const states = statesFor(session, endpoint);
  const hints = all.flatMap((one) => hintsIn(one.source));
  const seen = new Set<string>();
  // What the body refers to anew is not what the row refers to.
  const stored = slots.filter(({ from }) => from?.key !== 'body');
  const isMakeable = makeable(endpoint, (scene) => holds(scene, stored));
  const keepsRules = keepingRules(session, endpoint, slots, condition);
  const others = otherErrors(session, endpoint, slots, condition);
  const canBe = (scene: Scene): boolean => keepsRules(scene) && isMakeable(scene);
  for (let draw = 0; draw < draws; draw++) {
    const values = new Map(slots.map((slot) => [slot.key, drawn(session, slot, draw, hints)]));
    const caller = asking.length > 0 ? session.chance.pick(asking) : undefined;
    const scene: Scene = { values, state: states[draw % states.length], ...(caller && { caller }) };
    const inStates = JSON.stringify([
      scene.state,
      ...slots.map(({ key, machine }) => machine && values.get(key)?.[machine.field]),
    ]);
    // What another error refuses shows nothing of this one, and is no control.
    const asked = (one: Scene) => {
      const isSo = canBe(one) ? holds(one) : undefined;
      return isSo !== undefined && others(contextIn(one), isSo, draw < drawsAlone) ? undefined : isSo;
    };
    if (seen.has(inStates) || asked(scene) !== true) continue;
    seen.add(inStates);
    const numbered = sharpened(slots, scene, asked, hints);
    const { met, unmet } = numbered.unmet ? numbered : sharpenedInTime(session, all, slots, scene, asked);
    yield { slots, met, unmet: unmet ?? sparedByAnother(met, asking, asked) ?? spared(session, slots, met, states, asked) };
  }
}

/** Whether the row of a scene can be there before it is changed: one for which a condition on what is stored holds was refused already. */
function makeable(endpoint: Endpoint, holds: (scene: Scene) => boolean | undefined): (scene: Scene) => boolean {
  const verb = statedValue(endpoint.does)?.verb;
  if (verb !== 'update' && verb !== 'replace') return () => true;
  return ({ values, state }) => {
    const row = values.get('row');
    const body = values.get('body');
    return !row || !body || holds({ state, values: new Map(values).set('body', row) }) !== true;
  };
}

/** The states in which the endpoint may be asked for. */
function statesFor(session: Session, endpoint: Endpoint): readonly (string | undefined)[] {
  const effect = statedValue(endpoint.does);
  const { states } = session.model.spec;
  const resource = resourceOfEffect(effect) ?? '';
  const machine = machineAsked(states, endpoint, resource);
  if (!machine || effect?.verb === 'create' || effect?.verb === 'upsert') return [undefined];
  const transition = effect?.verb === 'transition' ? entryOf(machine.transitions, effect.transition) : undefined;
  const from = endpoint.in ?? (transition && transition.from !== '*' ? transition.from : undefined);
  return from ?? statedValue(machine.states) ?? [undefined];
}

/** One of a slot's bodies; now and then with a member that the condition compares, as it compares it. */
function drawn(session: Session, slot: ConditionSubject, draw: number, hints: readonly Json[]): ShownFields {
  const { machine } = slot;
  const state = machine?.states[draw % machine.states.length];
  const inState = machine && state !== undefined ? { [machine.field]: state } : {};
  const made = slot.makers.length > 0 ? session.chance.pick(slot.makers)?.fields : undefined;
  const draft = { ...slot.drafts[session.chance.whole(slot.drafts.length)], ...inState, ...made };
  const name = session.chance.pick([...slot.reads]);
  const hint = session.chance.pick(hints);
  if (
    session.chance.whole(2) === 0 ||
    name === undefined ||
    name === machine?.field ||
    (made && Object.hasOwn(made, name)) ||
    hint === undefined
  )
    return draft;
  const hinted = { ...draft, [name]: hint };
  return isFit(session, slot, hinted) ? hinted : draft;
}

/** Whether a member may be so; what else is missing, such as references, comes later. */
function isFit(session: Session, { shape, machine }: ConditionSubject, body: ShownFields): boolean {
  if (!shape) return false;
  const misfits = session.model.schemas.of(shape, 'sent')(body);
  return misfits.every(({ keyword, member }) => keyword === 'required' || (member !== undefined && member === machine?.field));
}

/** The scene moved to the edge of its condition, one number at a time, with the one just beyond the edge. */
function sharpened(
  slots: readonly ConditionSubject[],
  met: Scene,
  holds: (scene: Scene) => boolean | undefined,
  hints: readonly Json[],
): Pick<Imagined, 'met' | 'unmet'> {
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
        const near = withMember(met, key, name, inside);
        const beyond = withMember(met, key, name, outside);
        if (holds(near) === true && holds(beyond) === false) return { met: near, unmet: beyond };
      }
    }
  }
  return { met, unmet: undefined };
}

/** A second, and an hour where what a condition compares with is the time itself, which goes on meanwhile; a day where it reads days. */
const besideMs = { second: 1_000, hour: 3_600_000, day: 86_400_000 };

/** The scene moved to the edge of its condition by one of its times, with the one just beyond the edge: as far from another of them, or from now, as the condition says. */
function sharpenedInTime(
  { model, run }: Session,
  conditions: readonly Expression[],
  slots: readonly ConditionSubject[],
  met: Scene,
  holds: (scene: Scene) => boolean | undefined,
): Pick<Imagined, 'met' | 'unmet'> {
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
      const step = isDay ? besideMs.day : isNow ? besideMs.hour : besideMs.second;
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
            return withMember(met, key, name, isDay ? text.slice(0, 10) : text);
          }) as [Scene, Scene];
          if (holds(near) === true && holds(beyond) === false) return { met: near, unmet: beyond };
        }
    }
  }
  return { met, unmet: undefined };
}

/** The scene with somebody else who asks, for whom its condition does not hold. */
function sparedByAnother(
  met: Scene,
  asking: readonly TrialCaller[],
  holds: (scene: Scene) => boolean | undefined,
): Scene | undefined {
  return asking.map((caller) => ({ ...met, caller })).find((scene) => holds(scene) === false);
}

/** The scene with one state or member otherwise, so that its condition does not hold. */
function spared(
  session: Session,
  slots: readonly ConditionSubject[],
  met: Scene,
  states: readonly (string | undefined)[],
  holds: (scene: Scene) => boolean | undefined,
): Scene | undefined {
  const inStates = slots.flatMap(({ key, machine }) =>
    (machine?.states ?? []).map((state) => withMember(met, key, machine?.field ?? '', state)),
  );
  const ofRow = states.map((state) => ({ ...met, state }));
  const members = slots.flatMap((slot) =>
    [...slot.reads].filter((name) => name !== slot.machine?.field).flatMap((name) => withOthers(session, slot, name, met)),
  );
  return [...inStates, ...ofRow, ...members].find((scene) => holds(scene) === false);
}

/** A member's other values are those of so many bodies. */
const othersMost = 20;

/** The scene with a member of one slot as other bodies have it. */
function withOthers(session: Session, slot: ConditionSubject, name: string, met: Scene): Scene[] {
  return slot.drafts.slice(0, othersMost).flatMap((draft) => {
    const value = draft[name];
    if (value === undefined || isSame(value, met.values.get(slot.key)?.[name])) return [];
    const scene = withMember(met, slot.key, name, value);
    return isFit(session, slot, scene.values.get(slot.key) ?? {}) ? [scene] : [];
  });
}

function withMember({ values, state }: Scene, key: string, name: string, value: Json): Scene {
  return { state, values: new Map(values).set(key, { ...values.get(key), [name]: value }) };
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
