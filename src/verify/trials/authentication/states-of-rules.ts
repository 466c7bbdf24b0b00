import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import { type Machine, machinesOf } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { contextOfRow, identified } from '../../make/callers-for.ts';
import type { Door } from '../../make/knocking.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { type Allowed, callerContext } from '../../model/access.ts';
import { movedByClock } from '../../model/clock-changes.ts';
import { partsOfCondition } from '../../model/guards.ts';
import type { Model } from '../../model/model.ts';
import { rowKnown } from '../../model/row-known.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { ownJudgement } from './row-rules.ts';
import { doorsTo } from './rows.ts';

/** What rules say of the states of a row: who may read a call-out while it goes on may no longer once it is closed. */
export const statesOfRules: Trial = {
  name: 'authentication/states',
  part: 'authentication',
  about: 'A rule that asks for states of a row lets somebody in where the row is in one of them, and nowhere else.',
  noise: 'quiet',
  *cases(model) {
    for (const [resource] of entriesOf(model.spec.resources.all)) {
      const decided = doorsTo(model, resource).flatMap((door) => decidedAt(model, door));
      for (const machine of machinesOf(model.spec.states, resource))
        for (const state of statedValue(machine.states) ?? []) {
          const here = decided.filter((one) => one.machine === machine && one.state === state);
          if (here.length === 0) continue;
          const facts = here.map(({ door }) => ({ kind: 'permission rules', subject: door.operation.name }));
          yield { name: `${resource} in ${state}`, facts, run: (session) => askIn(session, machine, state, here) };
        }
    }
  },
};

/** A state in which what somebody may do is decided by the state. */
interface DecidedState {
  readonly door: Door;
  readonly caller: TrialCaller;
  readonly machine: Machine;
  readonly state: string;
  readonly isLetIn: boolean;
}

/** So many states of one machine are asked in. */
const statesMost = 8;

/** The states in which the rules let one caller of each user in, where they say otherwise in another state. */
function decidedAt(model: Model, door: Door): DecidedState[] {
  const { operation, endpoint } = door;
  // Where it may be done is a matter of its states before it is one of rules.
  if (operation.transition || endpoint.in || identifierParameter(endpoint) === undefined) return [];
  const users = new Map(model.callers.filter(({ credential }) => credential).map((caller) => [caller.user, caller]));
  return [...users.values()].flatMap((caller) =>
    machinesOf(model.spec.states, operation.resource ?? '').flatMap((machine) => {
      const states = (statedValue(machine.states) ?? []).slice(0, statesMost);
      const said = states.map((state) => ({ state, isLetIn: !isShut(model, operation, caller, machine, state) }));
      const isDecided = new Set(said.map(({ isLetIn }) => isLetIn)).size > 1;
      return (isDecided ? said : []).flatMap(({ state, isLetIn }) => {
        // What is let in is done: it is asked for where that changes nothing.
        return isLetIn && endpoint.method !== 'GET' ? [] : [{ door, caller, machine, state, isLetIn }];
      });
    }),
  );
}

/** Whether no rule lets somebody in where a row is in a state, whatever else it has. */
function isShut(model: Model, operation: Operation, caller: TrialCaller, { resource, field }: Machine, state: string): boolean {
  const others = entriesOf(model.resource(resource)?.fields).flatMap(([name]) => (name === field ? [] : [name]));
  const known = { context: { ...callerContext(caller), resource: { [field]: state } }, unseen: { resource: new Set(others) } };
  const rules = model.access.rules(operation, caller) ?? [];
  return rules.every((rule) =>
    (rule.if ? partsOfCondition(model, rule.if) : []).some((part) => {
      const evaluated = model.expressions.evaluate(part, operation.name, known);
      return typeof evaluated === 'object' && evaluated.value === false;
    }),
  );
}

/** What there is to be seen of an operation, by the reasons of the claims. */
export function statesLooks(model: Model, door: Door): readonly string[] {
  return decidedAt(model, door).map((one) => reasonOf(one));
}

function reasonOf({ caller, state, isLetIn }: Pick<DecidedState, 'caller' | 'state' | 'isLetIn'>): string {
  return `a ${caller.user}, ${isLetIn ? 'let in' : 'refused'} in ${state}`;
}

async function askIn(session: Session, machine: Machine, state: string, all: readonly DecidedState[]): Promise<void> {
  let asked = 0;
  for (const [, here] of Map.groupBy(all, ({ caller }) => caller.user)) {
    const [first] = here;
    if (!first) continue;
    const who = await identified(session, first.caller);
    const row = await ifTestable(session.make(machine.resource, { machine, state, named: who }));
    for (const one of row ? here : []) if (row && (await ifTestable(askOf(session, row, one)))) asked += 1;
  }
  session.need(asked > 0, `no ${machine.resource} was come to in ${state} of which the state alone decides`);
}

/** Whether it was asked for: the state alone decides, as far as it can be known. @throws {Untestable} */
async function askOf(session: Session, row: TrialRow, { door, caller, machine, state, isLetIn }: DecidedState): Promise<boolean> {
  const { model } = session;
  const { operation, endpoint } = door;
  const before = (await lookAt(session, row)).done;
  const asking = callersOf(model, caller).find((one) => isDecidedByState(session, row, { machine, operation, isLetIn }, one));
  if (!asking) return false;
  const headers = endpoint.ifMatch === 'required' ? { 'If-Match': '*' } : {};
  const plan = await requestAbout(session, row, endpoint, { caller: asking, headers });
  const done = await session.send(plan);
  session.claim({
    fact: { kind: 'permission rules', subject: operation.name },
    reason: reasonOf({ caller, state, isLetIn }),
    control: row.caller && { ...plan, caller: row.caller },
    of: [done, before, row.made ?? before] as const,
    judge: (seen: TrialExchange, was: TrialExchange, made: TrialExchange): Judgement => {
      if (movedByClock(model, machine, seen, was)) return moot('the clock may have moved it meanwhile');
      const allowed = allowedAt(model, operation, asking, { seen, was, made });
      if (allowed === 'yes' && isLetIn) return ownJudgement(model, operation, asking, seen, undefined);
      if (allowed !== 'no' || isLetIn) return moot('whether it is allowed cannot be told');
      const promised = `no rule allows ${operation.name} to ${asking.user} while ${machine.field} is ${state}`;
      return isDone(seen) ? { promised, seen: `it was answered ${seen.status}` } : undefined;
    },
  });
  return true;
}

const callersOf = ({ callers }: Model, { user }: TrialCaller) => callers.filter((one) => one.credential && one.user === user);

/** Whether the rules decide as they are expected to, and would decide otherwise were the row in another state. */
function isDecidedByState(
  session: Session,
  row: TrialRow,
  { machine, operation, isLetIn }: { readonly machine: Machine; readonly operation: Operation; readonly isLetIn: boolean },
  caller: TrialCaller,
): boolean {
  const { model } = session;
  const known = contextOfRow(session, row);
  if (!known) return false;
  const allowedWith = (fields: object) =>
    model.access.allows(operation, caller, { ...known, context: { ...known.context, ...fields } });
  if (allowedWith({}) !== (isLetIn ? 'yes' : 'no')) return false;
  const others = (statedValue(machine.states) ?? []).map((state) => ({ resource: { ...row.fields, [machine.field]: state } }));
  return others.some((fields) => allowedWith(fields) === (isLetIn ? 'no' : 'yes'));
}

interface Shown {
  readonly seen: TrialExchange;
  readonly was: TrialExchange;
  readonly made: TrialExchange;
}

/** What the rules say of a row as it was shown before. */
function allowedAt(model: Model, operation: Operation, caller: TrialCaller, { seen, was, made }: Shown): Allowed {
  const fields = rowWith(model, was, idIn(model, seen));
  if (!fields) return 'unknown';
  const resource = operation.resource ?? '';
  const unseen = model.unseenBy(resource, model.readerOf(was));
  const known = rowKnown(model, resource, { fields, unseen, creation: made === was ? undefined : made });
  return model.access.allows(operation, caller, { context: { resource: known.fields }, unseen: { resource: known.unseen } });
}
