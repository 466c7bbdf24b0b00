import type { Json } from '../../../document/document.ts';
import { isSame } from '../../../document/values.ts';
import { entriesOf } from '../../../parts/fact.ts';
import type { Resource, Unique } from '../../../parts/resources.ts';
import { type Machine, machinesOf, type Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { shortestWays } from '../../make/legs.ts';
import { lookAt } from '../../make/look.ts';
import { isOfMaker } from '../../make/of-maker.ts';
import { requestAbout } from '../../make/request-about.ts';
import { uniqueValues } from '../../make/row-where.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import { statesOf } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowIn, rowsShown, rowWith, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { uniqueFact } from '../resources/unique.ts';

/** A row that has to be unique in some states alone keeps its values from others in these, and is not let back into one of them once another has them. */
export const takenAgain: Trial = {
  name: 'errors/taken again',
  part: 'errors',
  about:
    'What is unique in some states alone is free in the others, and a transition back is refused where another row has it by now.',
  noise: 'quiet',
  cases: (model) => casesFor(model, false),
};

/** The same where a row is unique by who makes it: whoever makes one meanwhile would be in the way. */
export const takenByMaker: Trial = {
  name: 'errors/taken by its maker',
  part: 'errors',
  about: 'The same of what is unique by who makes it, with nothing beside it.',
  noise: 'alone',
  cases: (model) => casesFor(model, true),
};

/** The same of states to which the clock alone brings a row. */
export const takenInTime: Trial = {
  name: 'errors/taken in time',
  part: 'errors',
  about: 'A row that the clock has moved keeps what is unique in its state from others.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all))
      for (const machine of machinesOf(model.spec.states, name))
        for (const rule of resource.unique) yield* keptCases(model, { resource, machine, rule }, true);
  },
};

function* casesFor(model: Model, areOfMaker: boolean): Iterable<Case> {
  for (const [name, resource] of entriesOf(model.spec.resources.all)) {
    const rules = resource.unique.filter(({ fields }) => isOfMaker(resource, fields) === areOfMaker);
    for (const machine of machinesOf(model.spec.states, name)) {
      for (const rule of rules) {
        yield* freedCases(model, { resource, machine, rule });
        yield* keptCases(model, { resource, machine, rule }, false);
        for (const [, transition] of entriesOf(machine.transitions))
          yield* casesOf(model, { resource, machine, rule, transition });
      }
    }
  }
}

interface Again {
  readonly resource: Resource;
  readonly machine: Machine;
  readonly rule: Unique;
  readonly transition: Transition;
}

function* casesOf(model: Model, again: Again): Iterable<Case> {
  const { resource, machine, rule, transition } = again;
  const endpoint = model.endpointOfTransition(resource.name, transition.name);
  const code = endpoint && model.refusals.of('resource.exists', model.operationOf(endpoint))?.code.name;
  const leadsIn = transition.to.length === 1 && isUniqueIn(model, machine, rule, transition.to[0]?.state) === true;
  const states = transition.from === '*' ? statesOf(machine) : transition.from;
  const from = states.find((state) => isUniqueIn(model, machine, rule, state) === false);
  if (!endpoint || code === undefined || !leadsIn || from === undefined) return;
  yield {
    name: `${transition.name} ${resource.name} from ${from}, by ${rule.fields.join(' and ')}`,
    facts: [{ kind: 'conditions', subject: code }],
    run: (session) => moveBack(session, again, from),
  };
}

type Freed = Pick<Again, 'resource' | 'machine' | 'rule'>;

/** So many states are tried in which a row no longer has to be unique. */
const freedMost = 6;

function* freedCases(model: Model, { resource, machine, rule }: Freed): Iterable<Case> {
  const code = takenCode(model, resource);
  if (code === undefined) return;
  for (const state of statesFreed(model, { resource, machine, rule })) {
    yield {
      name: `${resource.name} after one that is ${state}, by ${rule.fields.join(' and ')}`,
      facts: [{ kind: 'conditions', subject: code }, uniqueFact(resource.name, rule.fields)],
      run: (session) => takeFreed(session, { resource, machine, rule }, state, code),
    };
  }
}

/** The states that a row has to be unique in as well, and is tried in; of `byClock` those that no caller brings it to. */
function statesKept(model: Model, { machine, rule }: Freed, byClock: boolean): readonly string[] {
  if (!rule.while || machine.initial.some(({ state }) => isUniqueIn(model, machine, rule, state) !== true)) return [];
  const ways = shortestWays(model, machine);
  return statesOf(machine)
    .filter((state) => isUniqueIn(model, machine, rule, state) === true && !machine.initial.some((one) => one.state === state))
    .filter((state) => ways.has(state) !== byClock)
    .slice(0, freedMost);
}

function* keptCases(model: Model, { resource, machine, rule }: Freed, byClock: boolean): Iterable<Case> {
  const code = takenCode(model, resource);
  if (code === undefined) return;
  for (const state of statesKept(model, { resource, machine, rule }, byClock)) {
    yield {
      name: `${resource.name} beside one that is ${state}, by ${rule.fields.join(' and ')}`,
      facts: [uniqueFact(resource.name, rule.fields)],
      run: (session) => takeKept(session, { resource, machine, rule }, { state, code, byClock }),
    };
  }
}

function keptIn({ fields }: Unique, state: string): string {
  return `${fields.join(' and ')}, taken while it is ${state}`;
}

/** What a row in such a state has is not there for another. */
async function takeKept(
  session: Session,
  { resource, machine, rule }: Freed,
  { state, code, byClock }: { readonly state: string; readonly code: string; readonly byClock: boolean },
): Promise<void> {
  const { model } = session;
  const { name } = resource;
  const values = await uniqueValues(session, resource, rule.fields);
  const row = await session.make(name, { body: values, machine, state, ...(byClock && { byClock }) });
  const { made } = row;
  session.need(made !== undefined, `rows of ${name} are given, not made`);
  const before = (await lookAt(session, row)).done;
  const done = await session.send(await session.creation(name, { body: values, caller: row.caller }));
  const judge = (exchange: TrialExchange, creation: TrialExchange, was: TrialExchange): Judgement => {
    const old = rowWith(model, was, idIn(model, creation));
    if (old?.[machine.field] !== state || !isDone(creation)) return moot('it was in another state');
    if (model.refusals.codeIn(exchange) === code) return undefined;
    const next = isDone(exchange) ? rowIn(exchange) : undefined;
    const isSecond =
      next !== undefined && rule.fields.every((field) => old[field] !== undefined && isSame(old[field], next[field]));
    return isSecond
      ? { promised: `the ${rule.fields.join(' and ')} of a ${name} that is ${state} is taken`, seen: `${exchange.status}` }
      : moot('something else stood in its way');
  };
  session.claim({
    fact: uniqueFact(name, rule.fields),
    reason: keptIn(rule, state),
    at: rule.at,
    of: [done, made, before] as const,
    judge,
  });
}

/** The code which says that a row of a resource is there already; nothing where nobody makes one. */
function takenCode(model: Model, { name }: Resource): string | undefined {
  const [endpoint] = model.endpointsThat('create', name);
  return endpoint && model.refusals.of('resource.exists', model.operationOf(endpoint))?.code.name;
}

/** The states in which a row that was unique as it was made no longer has to be, and is tried in. */
function statesFreed(model: Model, { machine, rule }: Freed): readonly string[] {
  if (machine.initial.some(({ state }) => isUniqueIn(model, machine, rule, state) !== true)) return [];
  return statesOf(machine)
    .filter((state) => isUniqueIn(model, machine, rule, state) === false)
    .slice(0, freedMost);
}

/** By the reasons of their claims, what has to be seen of a rule that rows are unique in some states alone: what they had is free in each other one, and taken in each that counts. */
export function freedLooks(model: Model, resource: Resource, rule: Unique): readonly string[] {
  if (takenCode(model, resource) === undefined) return [];
  return machinesOf(model.spec.states, resource.name).flatMap((machine) => [
    ...statesFreed(model, { resource, machine, rule }).map((state) => freedIn(rule, state)),
    ...[false, true].flatMap((byClock) =>
      statesKept(model, { resource, machine, rule }, byClock).map((state) => keptIn(rule, state)),
    ),
  ]);
}

function freedIn({ fields }: Unique, state: string): string {
  return `${fields.join(' and ')}, free once it is ${state}`;
}

/** What a row in such a state had is there for another. */
async function takeFreed(session: Session, { resource, machine, rule }: Freed, state: string, code: string): Promise<void> {
  const { model } = session;
  const { name } = resource;
  const values = await uniqueValues(session, resource, rule.fields);
  const row = await session.make(name, { body: values, machine, state });
  const { made } = row;
  session.need(made !== undefined, `rows of ${name} are given, not made`);
  const before = (await lookAt(session, row)).done;
  const done = await session.send(await session.creation(name, { body: values, caller: row.caller }));
  const judge = (exchange: TrialExchange, creation: TrialExchange, was: TrialExchange): Judgement => {
    const old = rowWith(model, was, idIn(model, creation));
    if (old?.[machine.field] !== state || !isDone(creation)) return moot('it was in another state');
    if (isDone(exchange)) return undefined;
    return model.refusals.codeIn(exchange) === code
      ? {
          promised: `the ${rule.fields.join(' and ')} of a ${name} that is ${state} can be taken`,
          seen: `${exchange.status} ${code}`,
        }
      : moot('something else stood in its way');
  };
  const of = [done, made, before] as const;
  session.claim({ fact: { kind: 'conditions', subject: code }, reason: 'freed', at: rule.at, of, judge });
  session.claim({ fact: uniqueFact(name, rule.fields), reason: freedIn(rule, state), at: rule.at, of, judge });
}

/** Whether a row has to be unique in a state; nothing where that depends on more than its state. */
function isUniqueIn(
  model: Model,
  { field }: Machine,
  { while: condition }: Unique,
  state: string | undefined,
): boolean | undefined {
  const reads = condition ? model.expressions.readsOf(condition, undefined) : [];
  if (!condition || state === undefined || reads.some(({ root, path }) => root !== 'next' || path[0] !== field)) return undefined;
  const holds = model.expressions.evaluate(condition, undefined, { context: { next: { [field]: state } } });
  return typeof holds === 'object' && typeof holds.value === 'boolean' ? holds.value : undefined;
}

async function moveBack(session: Session, { resource, machine, rule, transition }: Again, from: string): Promise<void> {
  const { model } = session;
  const { name } = resource;
  const endpoint = model.endpointOfTransition(name, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const values = await uniqueValues(session, resource, rule.fields);
  const row = await session.make(name, { body: values, machine, state: from });
  // What is unique in some states alone is taken by a row that is in one of them.
  const [initial] = machine.initial;
  const isNewUnique = machine.initial.length === 1 && isUniqueIn(model, machine, rule, initial?.state) === true;
  const state = isNewUnique ? undefined : transition.to[0]?.state;
  const other = await session.make(name, { body: values, caller: row.caller, ...(state !== undefined && { machine, state }) });
  const before = (await lookAt(session, row)).done;
  const beside = (await lookAt(session, other)).done;
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const done = await session.send(await requestAbout(session, row, endpoint, { caller, headers, transition }));
  const code = model.refusals.of('resource.exists', model.operationOf(endpoint))?.code.name ?? '';
  const fact = { kind: 'conditions', subject: code };
  const free = async () => {
    const alone = await session.make(name, { machine, state: from, caller: row.caller });
    const tags = await session.preconditions(endpoint, alone, caller);
    return requestAbout(session, alone, endpoint, { caller, headers: tags, transition });
  };
  const isSo = (exchange: TrialExchange, was?: TrialExchange, taken?: TrialExchange): boolean => {
    const id = idIn(model, exchange);
    const old = was && rowWith(model, was, id);
    if (!old || !taken || old[machine.field] !== from) return false;
    const others = (rowsShown(model, taken)?.rows ?? []).map((one) => unexpanded(model, name, one));
    return others.some((one) => {
      const isOther = asText(one[model.identifierField(name)]) !== asText(id);
      const isUnique = isUniqueIn(model, machine, rule, asText(one[machine.field])) === true;
      return isOther && isUnique && rule.fields.every((field) => isThere(old[field]) && isSame(old[field], one[field]));
    });
  };
  claimRefused(session, done, {
    by: { when: 'resource.exists' },
    fact,
    reason: `${transition.name} into what is taken`,
    at: rule.at,
    beside: [before, beside],
    control: free,
    isSo,
    what: `${transition.name} of a ${name} with the ${rule.fields.join(' and ')} of another`,
  });
  await claimUnchanged(session, row, { before, attempt: done, fact });
}

function isThere(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}
