import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import type { Following, FollowingEffect } from '../../../parts/effects.ts';
import type { Expression } from '../../../parts/fact.ts';
import { comingOf, type Followed, followingName, transitionOf } from '../../../parts/followed.ts';
import { machineWith, type Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { lookAt } from '../../make/look.ts';
import { hasNextPage } from '../../make/pages.ts';
import { callerContext, outcomeOf } from '../../model/access.ts';
import type { Evaluated } from '../../model/expressions.ts';
import type { Model } from '../../model/model.ts';
import { followedIn } from '../../model/row-known.ts';
import { idIn, rowIn, rowWith, type ShownFields, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { isShownTo, rowsListed, rowsTiedTo, type Tie, tiedId } from './tied-rows.ts';

/** An act of which something is claimed. */
interface Named {
  readonly model: Model;
  readonly followed: Followed;
  readonly act: Following;
  readonly does: FollowingEffect;
  readonly fact: FactName;
  readonly reason: string;
}

/** The rows that refer to what changed by a field, before and after. */
interface SeenRows {
  readonly tie: Tie;
  readonly change: Done<TrialExchange>;
  /** What changed, as it was before. */
  readonly was: Done<TrialExchange> | undefined;
  readonly before: Done<TrialExchange> | undefined;
  readonly after: Done<TrialExchange>;
}

/** Claims that what was to be made was, as often as it was to be, and with what it was given. */
export function claimMade(session: Session, named: Named, { tie, change, was, before, after }: SeenRows): void {
  const { model, does, act, fact, reason } = named;
  session.claim({
    fact,
    reason,
    at: act.at,
    of: [change, after, ...(was && before ? [was, before] : [])] as const,
    judge(changed: TrialExchange, seen: TrialExchange, ...earlier: readonly TrialExchange[]): Judgement {
      if (!isDone(changed)) return moot('the change was not made');
      const id = tiedId(model, tie, changed);
      const rows = rowsTiedTo(model, seen, does.resource, tie.field, id);
      const old = earlier[1] ? rowsTiedTo(model, earlier[1], does.resource, tie.field, id) : [];
      if (!rows || !old) return moot('the rows are not shown');
      const key = model.identifierField(does.resource);
      const fresh = rows.filter((row) => !old.some((one) => isSame(one[key], row[key])));
      const wanted = wantedOf(named, changed, earlier[0]);
      if (!wanted) return moot('how often it is done cannot be reckoned');
      const promised = `${wanted.length} ${does.resource} after ${changed.endpoint?.operation}`;
      const isAlone = timesMade(model, named) === 1;
      if (fresh.length < wanted.length && hasNextPage(model, seen)) return moot('what is new may be on another page');
      if (fresh.length < wanted.length && !isShownTo(model, changed, seen))
        return moot('what is new may not be shown to whoever looks');
      if (isAlone ? fresh.length !== wanted.length : fresh.length < wanted.length) return { promised, seen: `${fresh.length}` };
      // What a rule keeps from whoever looks is in no row that is shown.
      const unseen = model.unseenBy(does.resource, model.readerOf(seen));
      for (const given of wanted) {
        const shown = Object.entries(given).filter(([name]) => !unseen.has(name));
        if (!fresh.some((row) => shown.every(([name, value]) => isSame(row[name] ?? null, value))))
          return {
            promised: `a ${does.resource} with ${JSON.stringify(Object.fromEntries(shown))}`,
            seen: JSON.stringify(fresh),
          };
      }
      return undefined;
    },
  });
}

/** How many acts that come of the change make rows of the resource. */
function timesMade({ spec }: Model, { followed, does }: Named): number {
  return comingOf(spec, followed.acts).filter((act) => act.does?.verb === 'create' && act.does.resource === does.resource).length;
}

/** Claims that every row that something was to be done to is where the transition leads, or is gone. */
export function claimMoved(
  session: Session,
  named: Named,
  { tie, change, was, before, after }: SeenRows & { readonly before: Done<TrialExchange> },
): void {
  const { model, does, act, fact, reason } = named;
  const transition = transitionOf(model.spec, does);
  const machine = transition && machineWith(model.spec.states, does.resource, transition.name);
  session.need(does.verb === 'delete' || (transition !== undefined && machine !== undefined), 'what is changed is not told');
  session.claim({
    fact,
    reason,
    at: act.at,
    of: [change, before, after, ...(was ? [was] : [])] as const,
    judge(changed: TrialExchange, then: TrialExchange, seen: TrialExchange, ...earlier: readonly TrialExchange[]): Judgement {
      if (!isDone(changed)) return moot('the change was not made');
      const id = tiedId(model, tie, changed);
      const old = rowsTiedTo(model, then, does.resource, tie.field, id);
      const key = model.identifierField(does.resource);
      if (!old) return moot('there was nothing to do it to');
      let count = 0;
      for (const row of old) {
        const holds = act.if ? evaluate(named, act.if, changed, earlier[0], row) : true;
        const isLeft = !transition || !machine || transition.from === '*' || transition.from.includes(asText(row[machine.field]));
        if (holds === 'unknown' || holds === 'failed' || !isLeft) return moot('whether it is done cannot be told');
        if (typeof holds === 'object' && holds.value !== true) continue;
        const leads = transition ? leadsFrom(named, transition, { changed, then, row }) : '';
        if (leads === 'unknown' || (leads === 'blocked' && !act.skips)) return moot('whether it is done cannot be told');
        if (leads === 'blocked') continue;
        count += 1;
        const now = rowsListed(model, seen, does.resource)?.find((one) => isSame(one[key], row[key]));
        const state = machine && now?.[machine.field];
        const isSo = transition ? transition.to.some((target) => target.state === state) : now === undefined;
        // A transition may have let it go of what changed, so that the list does not show it any more.
        if (!isSo && (now !== undefined || does.verb !== 'transition'))
          return { promised: `${followingName(does)} after ${changed.endpoint?.operation}`, seen: JSON.stringify(now ?? null) };
      }
      return count === 0 ? moot('there was nothing to do it to') : undefined;
    },
  });
}

/** Where a transition leads from a row as it was shown before, as far as its conditions can be reckoned. */
function leadsFrom(
  { model, does }: Named,
  transition: Transition,
  { changed, then, row }: { readonly changed: TrialExchange; readonly then: TrialExchange; readonly row: ShownFields },
): string {
  return outcomeOf(model.expressions, transition, {
    operation: '',
    row,
    unseen: model.unseenIn(does.resource, model.readerOf(then), row),
    request: undefined,
    caller: changed.caller,
    nowMs: changed.toMs,
  });
}

/** The values that each new row has to have, as far as they can be reckoned; nothing where it is not known how many there are. */
function wantedOf(
  named: Named,
  changed: TrialExchange,
  was: TrialExchange | undefined,
): readonly Readonly<Record<string, Json>>[] | undefined {
  const { act } = named;
  const list = act.each && evaluate(named, act.each, changed, was);
  if (list === 'unknown' || list === 'failed') return undefined;
  const items: readonly (Json | undefined)[] = list ? (Array.isArray(list.value) ? list.value : []) : [undefined];
  const wanted: Readonly<Record<string, Json>>[] = [];
  for (const item of items) {
    const holds = act.if ? evaluate(named, act.if, changed, was, item) : { value: true };
    if (typeof holds === 'string') return undefined;
    if (holds.value !== true) continue;
    const given = Object.entries(act.set).flatMap(([name, expression]): [string, Json][] => {
      const value = evaluate(named, expression, changed, was, item);
      return typeof value === 'string' ? [] : [[name, value.value]];
    });
    wanted.push(Object.fromEntries(given));
  }
  return wanted;
}

/** What an expression of the act comes to; unknown where it reads the time. `before` shows what is followed, as it was before the act. */
function evaluate(
  { model, followed }: Named,
  expression: Expression,
  changed: TrialExchange,
  was: TrialExchange | undefined,
  item?: Json,
  before: readonly TrialExchange[] = [],
): Evaluated {
  const { endpoint, sent, caller } = changed;
  const id = idIn(model, changed);
  const next = rowIn(changed);
  const resource = was && rowWith(model, was, id);
  return model.expressions.evaluate(expression, endpoint?.operation, {
    context: {
      ...callerContext(caller),
      operation: endpoint?.operation ?? '',
      params: { ...sent.path, ...sent.query },
      ...(sent.json !== undefined && { request: sent.json }),
      ...(next && { next: unexpanded(model, followed.resource, next) }),
      ...(resource && { resource }),
      ...(item !== undefined && { item }),
      ...(before.length > 0 && { follow: followedIn(model, before) }),
    },
    unseen: {
      next: model.unseenIn(followed.resource, model.readerOf(changed), next),
      ...(was && { resource: model.unseenIn(followed.resource, model.readerOf(was), resource) }),
    },
  });
}

/** Claims of what something was to be done to that it is where the transition leads; nothing where it was in no state for it, and may be passed over. */
export async function claimTarget(
  session: Session,
  { model, act, does, fact, reason }: Named,
  {
    change,
    target,
    then,
  }: {
    readonly change: Done<TrialExchange>;
    readonly target: TrialRow;
    readonly then: Done<TrialExchange> | undefined;
  },
): Promise<void> {
  const transition = transitionOf(model.spec, does);
  const machine = transition && machineWith(model.spec.states, does.resource, transition.name);
  session.need(transition !== undefined && machine !== undefined && act.if === undefined, 'whether it is done cannot be told');
  const after = (await lookAt(session, target)).done;
  const targets = transition.to.map(({ state }) => state);
  const stateIn = (shown: TrialExchange) => rowWith(model, shown, idIn(model, shown))?.[machine.field];
  session.claim({
    fact,
    reason,
    at: act.at,
    of: [change, after, ...(then ? [then] : [])] as const,
    judge(changed: TrialExchange, seen: TrialExchange, ...earlier: readonly TrialExchange[]) {
      if (!isDone(changed)) return moot('the change was not made');
      const row = rowWith(model, seen, idIn(model, seen));
      const state = row?.[machine.field];
      const old = earlier[0] && stateIn(earlier[0]);
      if (row === undefined || state === undefined) return moot(`the ${does.resource} is not shown`);
      if (transition.if && !allows(model, transition.if, row)) return moot(`${followingName(does)} has a condition of its own`);
      const isPassedOver = act.skips && transition.from !== '*' && !transition.from.includes(asText(old));
      if (isPassedOver) return moot(`the ${does.resource} is in no state for it`);
      if (targets.includes(asText(state))) return undefined;
      return {
        promised: `${followingName(does)} after ${changed.endpoint?.operation}: ${targets.join(' or ')}`,
        seen: asText(state),
      };
    },
  });
}

/** Claims of what was to be changed by what follows that it has what it was set to, as far as that can be reckoned. */
export async function claimSet(
  session: Session,
  named: Named,
  {
    change,
    target,
    was,
    then,
  }: {
    readonly change: Done<TrialExchange>;
    readonly target: TrialRow;
    readonly was: Done<TrialExchange> | undefined;
    readonly then: Done<TrialExchange> | undefined;
  },
): Promise<void> {
  const { model, followed, act, does, fact, reason } = named;
  const after = (await lookAt(session, target)).done;
  const isOnlyOne = comingOf(model.spec, followed.acts).filter((one) => one.does?.resource === does.resource).length === 1;
  session.claim({
    fact,
    reason,
    at: act.at,
    of: [change, after, ...(was ? [was] : []), ...(then ? [then] : [])] as const,
    judge(changed: TrialExchange, seen: TrialExchange, ...earlier: readonly TrialExchange[]) {
      const shownBefore = then ? earlier.slice(-1) : [];
      const old = was && earlier[0];
      if (!isDone(changed)) return moot('the change was not made');
      if (!isOnlyOne) return moot(`something else is done to the ${does.resource} as well`);
      const row = rowWith(model, seen, idIn(model, seen));
      if (!row) return moot(`the ${does.resource} is not shown`);
      const holds = act.if ? evaluate(named, act.if, changed, old, undefined, shownBefore) : { value: true };
      if (typeof holds === 'string' || holds.value !== true) return moot('whether it is done cannot be told');
      const shown = unexpanded(model, does.resource, row);
      const unseen = model.unseenIn(does.resource, model.readerOf(seen), shown);
      const wanted = Object.entries(act.set).flatMap(([name, expression]) => {
        const value = unseen.has(name) ? 'unknown' : evaluate(named, expression, changed, old, undefined, shownBefore);
        return typeof value === 'string' ? [] : [{ name, value: value.value }];
      });
      if (wanted.length === 0) return moot('what it is set to cannot be reckoned');
      const other = wanted.find(({ name, value }) => !isSame(shown[name] ?? null, value));
      if (!other) return undefined;
      const promised = `${other.name} of the ${does.resource} after ${changed.endpoint?.operation}: ${JSON.stringify(other.value)}`;
      return { promised, seen: JSON.stringify(shown[other.name] ?? null) };
    },
  });
}

/** Whether a condition of a transition holds for a row, as it is shown after what could have fired it. */
function allows(model: Model, condition: Expression, row: ShownFields): boolean {
  const told = model.expressions.evaluate(condition, undefined, { context: { resource: row as Json, next: row as Json } });
  return typeof told === 'object' && told.value === true;
}
