import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Resource, Unique } from '../../../parts/resources.ts';
import { machineWith, transitionNamed } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { shortestWays } from '../../make/legs.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { claimUnchanged } from '../../make/transitions.ts';

import { beforeFrom } from '../../model/expected.ts';
import type { Model } from '../../model/model.ts';
import { writesFields } from '../../model/own-body.ts';
import { idIn, isMaking, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { isValid } from '../endpoints/bodies.ts';
import { areAlike, freshValues, isChangeable, rowAfter, rowMeant, uniqueFact } from './unique.ts';

/** So many want one value at once. */
const rivals = 3;

/** Of several that would have one unique value, and are sent at once, one gets it. */
export const uniqueRaced: Trial = {
  name: 'resources/unique raced',
  part: 'resources',
  about: 'Of several requests at once that would give rows the same unique values, one is carried out.',
  noise: 'quiet',
  cases: (model) => casesOf(model, false),
};

/** The same in states that the clock alone leads to. */
export const uniqueRacedLater: Trial = {
  ...uniqueRaced,
  name: 'resources/unique raced later',
  noise: 'loud',
  movesClock: true,
  cases: (model) => casesOf(model, true),
};

function* casesOf(model: Model, byClock: boolean) {
  for (const [name, resource] of entriesOf(model.spec.resources.all)) {
    if (!statedValue(resource.identifier)) continue;
    for (const rule of resource.unique) {
      const facts = [uniqueFact(name, rule.fields)];
      for (const endpoint of racers(model, resource, rule)) {
        if (needsClock(model, endpoint) !== byClock) continue;
        const by = `${endpoint.key} by ${rule.fields.join(' and ')}, at once`;
        yield { name: by, facts, run: (session: Session) => race(session, endpoint, resource, rule) };
      }
    }
  }
}

/** Whether no caller can bring a row to where a transition may be fired. */
function needsClock(model: Model, { does }: Endpoint): boolean {
  const effect = statedValue(does);
  const transition =
    effect?.verb === 'transition' ? transitionNamed(model.spec.states, effect.resource, effect.transition) : undefined;
  const machine = effect?.verb === 'transition' ? machineWith(model.spec.states, effect.resource, effect.transition) : undefined;
  if (!machine || !transition || transition.from === '*') return false;
  const ways = shortestWays(model, machine);
  return !transition.from.some((state) => ways.has(state));
}

/** What can give a row all values of a rule that another does not have yet: creations, changes of such a field, and transitions that set one by what is sent. */
function racers(model: Model, { name, fields }: Resource, { fields: named }: Unique): Endpoint[] {
  const resource = model.resource(name);
  const isWritten = resource !== undefined && named.some((field) => isChangeable(model, resource, field));
  const changes = isWritten ? [...model.endpointsThat('update', name), ...model.endpointsThat('replace', name)] : [];
  const moves = model.endpointsThat('transition', name).filter((endpoint) => {
    const effect = statedValue(endpoint.does);
    const set =
      effect?.verb === 'transition' ? named.flatMap((field) => entryOf(fields, field)?.set[effect.transition] ?? []) : [];
    return set.some((expression) => model.expressions.reads(expression, endpoint.operation, 'request'));
  });
  const makes = named.every((field) => !entryOf(fields, field)?.readOnly || isCallers(fields, field));
  const creations = makes ? model.endpointsThat('create', name) : [];
  return [...creations, ...changes, ...moves].filter(
    (one) => one.ifMatch !== 'required' && (isTransition(one) || !isStated(one.request)),
  );
}

function isTransition({ does }: Endpoint): boolean {
  return statedValue(does)?.verb === 'transition';
}

function isCallers(fields: Resource['fields'], field: string): boolean {
  return entryOf(fields, field)?.set.create?.source.trim() === 'caller.id';
}

async function race(session: Session, endpoint: Endpoint, resource: Resource, rule: Unique): Promise<void> {
  const { model } = session;
  const isNew = statedValue(endpoint.does)?.verb === 'create';
  const requests = isNew ? await creations(session, endpoint, resource, rule) : await changes(session, endpoint, resource, rule);
  const done = await session.together(requests.map((plan) => ({ ...plan, headers: withoutKey(plan, endpoint) })));
  session.claim({
    fact: uniqueFact(resource.name, rule.fields),
    reason: 'unique, raced',
    at: rule.at,
    of: done,
    tries: 8,
    judge(...exchanges: readonly TrialExchange[]) {
      const rows = exchanges
        .filter((exchange) => isDone(exchange) && (!isNew || isMaking(exchange)))
        .map((exchange) => rowAfter(model, resource, exchange));
      const [first, ...others] = rows;
      if (!first) return moot('none was carried out');
      const like = others.filter((other) => areAlike(model, resource, rule, { one: first, other }));
      return like.length === 0
        ? undefined
        : {
            promised: `of ${rivals} at once with one ${rule.fields.join(' and ')}, one is carried out`,
            seen: `${like.length + 1} were`,
          };
    },
  });
}

/** With one key of idempotency all of them would be one. */
function withoutKey({ headers }: RequestPlan, { idempotency }: Endpoint): RequestPlan['headers'] {
  return idempotency?.required
    ? headers
    : Object.fromEntries(Object.entries(headers).filter(([name]) => name !== idempotency?.header));
}

async function creations(session: Session, endpoint: Endpoint, resource: Resource, rule: Unique): Promise<RequestPlan[]> {
  const { body, parents } = await freshValues(session, resource, rule.fields);
  const [caller] = callersFor(session, endpoint);
  const plans: RequestPlan[] = [];
  for (let at = 0; at < rivals; at++) {
    const { path, json } = await session.parts(endpoint, { body, parents, caller });
    plans.push(session.model.request(endpoint, { path, caller, ...(json !== undefined && { json }) }));
  }
  return plans;
}

/** Rows that are alike in all of the rule but what is changed, and the same change for each. */
async function changes(session: Session, endpoint: Endpoint, resource: Resource, rule: Unique): Promise<RequestPlan[]> {
  const { model } = session;
  const effect = statedValue(endpoint.does);
  const transition =
    effect?.verb === 'transition' ? transitionNamed(model.spec.states, resource.name, effect.transition) : undefined;
  const [state] = endpoint.in ?? (transition && transition.from !== '*' ? transition.from : []);
  const shared = await freshValues(session, resource, rule.fields);
  const free = rule.fields.filter((field) => isChangeable(model, resource, field));
  const plans: RequestPlan[] = [];
  const makers: TrialCaller[] = [];
  let json: RequestPlan['body'];
  for (let at = 0; at < rivals; at++) {
    const own = await freshValues(session, resource, free);
    const row = await session.make(resource.name, {
      style: 'whole',
      body: { ...shared.body, ...own.body },
      parents: { ...shared.parents, ...own.parents },
      caller: makers[0],
      byClock: session.run.clock.advance !== undefined && needsClock(model, endpoint),
      ...(state !== undefined && { state }),
    });
    if (row.caller) makers.push(row.caller);
    const [caller] = callersFor(session, endpoint, row);
    const plan = await requestAbout(session, row, endpoint, { caller, ...(transition && { transition }) });
    const drawn = plan.body && 'value' in plan.body ? (plan.body.value as object) : {};
    const wanted = Object.fromEntries(free.map((field) => [field, shared.body[field] ?? null]));
    const members = effect?.verb === 'update' ? wanted : { ...drawn, ...wanted };
    json ??= { value: transition ? (drawn as never) : members, type: plan.body?.type ?? 'application/json' };
    plans.push({ ...plan, body: json });
  }
  return plans;
}

/** A row cannot be changed into one that is not unique. */
export const uniqueChanged: Trial = {
  name: 'resources/unique changed',
  part: 'resources',
  about: 'A change that would give a row the unique values of another is refused, and changes nothing.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      if (!statedValue(resource.identifier)) continue;
      for (const endpoint of [...model.endpointsThat('update', name), ...model.endpointsThat('replace', name)]) {
        for (const rule of resource.unique) {
          const changing = rule.fields.filter((field) => isChangeable(model, resource, field));
          if (!writesFields(model, endpoint) || changing.length === 0) continue;
          const facts = [uniqueFact(name, rule.fields)];
          const by = `${endpoint.key} by ${rule.fields.join(' and ')}`;
          yield { name: by, facts, run: (session) => changeIntoOther(session, endpoint, { resource, rule, changing }) };
        }
      }
    }
  },
};

interface Changing {
  readonly resource: Resource;
  readonly rule: Unique;
  /** The fields of the rule that a change can write; in the others the two rows are alike from the beginning. */
  readonly changing: readonly string[];
}

async function changeIntoOther(session: Session, endpoint: Endpoint, { resource, rule, changing }: Changing): Promise<void> {
  const { model } = session;
  const { name } = resource;
  const taken = await freshValues(session, resource, rule.fields);
  const one = await session.make(name, taken);
  session.need(one.shown !== undefined, `a ${name} that was made is not shown`);
  const free = await freshValues(session, resource, changing);
  const [state] = endpoint.in ?? [];
  const other = await session.make(name, {
    body: { ...taken.body, ...free.body },
    parents: { ...taken.parents, ...free.parents },
    ...(state !== undefined && { state }),
  });
  const before = (await lookAt(session, other)).done;
  const values = Object.fromEntries(
    changing.flatMap((field) => (Object.hasOwn(taken.body, field) ? [[field, taken.body[field] ?? null]] : [])),
  );
  const done = await session.send(await changeTo(session, endpoint, other, values));
  const fact = uniqueFact(name, rule.fields);
  claimRefused(session, done, {
    by: { when: 'resource.exists' },
    fact,
    reason: 'unique, changed',
    at: rule.at,
    beside: [one.shown, before],
    control: () => changeTo(session, endpoint, other, free.body),
    what: `${endpoint.key} with the ${changing.join(' and ')} of another ${name}`,
    isSo: (exchange, first, was) => {
      const old = was && rowWith(model, was, idIn(model, exchange));
      if (!first || !old || !isValid(model, exchange)) return false;
      const next = rowMeant(model, exchange, beforeFrom(model, name, was, old));
      // A replay may be of one row alone.
      const isAnother = !rowWith(model, first, idIn(model, exchange));
      return isAnother && areAlike(model, resource, rule, { one: rowAfter(model, resource, first), other: next });
    },
  });
  await claimUnchanged(session, other, { before, attempt: done, fact });
}

async function changeTo(
  session: Session,
  endpoint: Endpoint,
  row: TrialRow,
  values: Readonly<Record<string, Symbolic>>,
): Promise<RequestPlan> {
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const plan = await requestAbout(session, row, endpoint, { caller, headers });
  const drawn = plan.body && 'value' in plan.body ? plan.body.value : {};
  // A patch says what it changes and nothing else.
  const json = statedValue(endpoint.does)?.verb === 'update' ? values : { ...(drawn as Record<string, Symbolic>), ...values };
  return { ...plan, body: { value: json, type: plan.body?.type ?? 'application/json' } };
}
