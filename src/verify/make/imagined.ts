import type { Json } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { Read } from '../../parts/expressions/compile.ts';
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
import { type ConditionEdge, sharpened, sharpenedInTime } from './edges.ts';
import { keepingRules, otherErrors, readsBeside } from './refused-besides.ts';
import { type ConditionSubject, conditionSubjectsOf, contextOf, type Scene, sceneWith } from './scene.ts';

/** Bodies and rows for which a condition holds, and the nearest to them that were found for which it does not. */
export interface Imagined extends ConditionEdge {
  readonly slots: readonly ConditionSubject[];
}

/** What is to hold, and for whom. */
interface Imagining {
  readonly rule: Pick<StatedRefusal['rule'], 'if'>;
  readonly within?: Expression | undefined;
  /** Who asks; else whoever may. */
  readonly as?: TrialCaller;
}

const draws = 240;
/** In so many of them no other error holds: what differs from them in the condition alone is refused by none. */
const drawsAlone = 120;

/**
 * Looks for bodies and rows for which a condition holds, such as an own error's, without sending anything: one for each of the states that they may be in.
 * `within` holds for all of them, for those too for which the condition does not hold.
 */
export function* imagine(session: Session, endpoint: Endpoint, { rule, within, as }: Imagining): Iterable<Imagined> {
  const { model } = session;
  const condition = rule.if;
  if (!condition) return;
  const all = within ? [condition, within] : [condition];
  const reads = all.flatMap((one) => model.expressions.readsOf(one, endpoint.operation));
  const led = conditionSubjectsOf(session, endpoint, reads);
  const beside = led.some(({ from }) => from) ? readsBeside(session, endpoint, led, condition) : [];
  const slots = beside.length === 0 ? led : conditionSubjectsOf(session, endpoint, [...reads, ...beside]);
  const callers = callersFor(session, endpoint);
  const asking = as ? [as] : reads.some(({ root }) => root === 'caller') ? callers : [];
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
  const hints = [...all.flatMap((one) => hintsIn(one.source)), ...saidOf(asking, reads)];
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

/** What conditions read of those who ask: a row may be given to one of them. */
function saidOf(asking: readonly TrialCaller[], reads: readonly Read[]): Json[] {
  const names = new Set(reads.flatMap(({ root, path: [name] }) => (root === 'caller' && name !== undefined ? [name] : [])));
  return asking.flatMap(({ id, user, attributes }) =>
    [...names].flatMap((name) => ({ ...attributes, ...(id !== undefined && { id }), user })[name] ?? []),
  );
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
  const sent = { ...slot.drafts[session.chance.whole(slot.drafts.length)], ...inState };
  const draft = { ...sent, ...made };
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
  // What its maker makes of it is not sent.
  return isFit(session, slot, { ...sent, [name]: hint }) ? { ...draft, [name]: hint } : draft;
}

/** Whether a member may be so; what else is missing, such as references, comes later. */
function isFit(session: Session, { shape, machine }: ConditionSubject, body: ShownFields): boolean {
  if (!shape) return false;
  const misfits = session.model.schemas.of(shape, 'sent')(body);
  return misfits.every(({ keyword, member }) => keyword === 'required' || (member !== undefined && member === machine?.field));
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
    (machine?.states ?? []).map((state) => sceneWith(met, key, machine?.field ?? '', state)),
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
    const scene = sceneWith(met, slot.key, name, value);
    return isFit(session, slot, scene.values.get(slot.key) ?? {}) ? [scene] : [];
  });
}
