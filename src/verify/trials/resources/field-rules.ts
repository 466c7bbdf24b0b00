import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { FieldRule, Resource } from '../../../parts/resources.ts';
import { type FactName, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { type Begun, beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { imagine } from '../../make/imagined.ts';
import { lookAt } from '../../make/look.ts';
import { stage } from '../../make/staged.ts';
import {
  changeKeepsRules,
  changesFixed,
  fieldOfRule,
  isThere,
  type KeepsRules,
  keepsRules,
  ruledEndpoints,
  sentKeepsRules,
} from '../../model/field-rules.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { membersOf } from '../../values/at-path.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf } from '../../values/values.ts';

/** Rows whose fields break a rule together are not made; those just beside it are. */
export const rulesOverFields: Trial = {
  name: 'resources/rules',
  part: 'resources',
  about:
    'A body that breaks a rule over several fields is refused, and one just beside it is not, when a row is made and when it is changed.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      for (const rule of Object.values(resource.rules)) {
        const fact = factOf(resource, rule.field);
        for (const endpoint of ruledEndpoints(model, name))
          yield {
            name: `${rule.name} at ${endpoint.key}`,
            facts: [fact],
            run: (session) => breakRule(session, endpoint, { resource, rule, fact }),
          };
      }
      yield* changedChoices(model, resource);
      for (const endpoint of model.endpointsThat('create', name)) {
        if (isStated(endpoint.request)) continue;
        for (const { fields, at } of resource.choices) {
          const fact = factOf(resource, fields.at(-1));
          yield {
            name: `one of ${fields.join(', ')} at ${endpoint.key}`,
            facts: [fact],
            run: (session) => chooseWrong(session, endpoint, { resource, fields, at, fact }),
          };
        }
      }
    }
  },
};

function factOf(resource: Resource, field: string | undefined): FactName {
  return { kind: 'allowed values', subject: `${resource.name}.${fieldOfRule(resource, field)}` };
}

async function breakRule(
  session: Session,
  endpoint: Endpoint,
  { resource, rule, fact }: { readonly resource: Resource; readonly rule: FieldRule; readonly fact: FactName },
): Promise<void> {
  const { model } = session;
  const [imagined] = imagine(session, endpoint, { rule });
  session.need(imagined !== undefined, `nothing was found for which ${rule.if.source} holds`);
  const { slots, met, unmet } = imagined;
  const { request, row, beside } = await stage(session, endpoint, slots, { scene: met, resource: resource.name });
  const done = await session.send(request);
  claimRefused(session, done, {
    by: { when: 'request.invalid' },
    fact,
    reason: `${rule.name}, refused`,
    at: rule.at,
    beside: row ? beside.slice(0, 1) : [],
    isSo: (exchange, was) => isWhole(model, exchange) && keptBy(model, exchange, was) === 'no',
    what: rule.if.source,
    ...(unmet && {
      control: async () => (await stage(session, endpoint, slots, { scene: unmet, resource: resource.name })).request,
    }),
  });
  if (!unmet) return;
  const spared = await stage(session, endpoint, slots, { scene: unmet, resource: resource.name });
  const before = spared.row ? spared.beside.slice(0, 1) : [];
  claimTaken(session, await session.send(spared.request), before, { rule, fact });
}

/** Whether what was sent keeps the rules: by itself, or put onto the row as it was shown before. */
function keptBy(model: Model, exchange: TrialExchange, was: TrialExchange | undefined): KeepsRules {
  const { endpoint, sent } = exchange;
  const verb = statedValue(endpoint?.does)?.verb;
  if (verb === 'create' || verb === 'upsert') return sentKeepsRules(model, endpoint, sent.json);
  const row = was && rowWith(model, was, idIn(model, exchange));
  return endpoint && row ? changeKeepsRules(model, endpoint, row, sent.json) : 'unknown';
}

/** Whatever else may be in the way: it is not refused as invalid. */
function claimTaken(
  session: Session,
  done: Done<TrialExchange>,
  before: readonly Done<TrialExchange>[],
  { rule, fact }: { readonly rule: FieldRule; readonly fact: FactName },
): void {
  const { model } = session;
  session.claim({
    fact,
    reason: `${rule.name}, spared`,
    at: rule.at,
    of: [done, ...before] as const,
    judge(exchange: TrialExchange, ...[was]: readonly TrialExchange[]) {
      if (!isWhole(model, exchange) || keptBy(model, exchange, was) !== 'yes') return moot('it may break a rule');
      if (changesFixed(model, exchange, was && rowWith(model, was, idIn(model, exchange))))
        return moot('it changes what is fixed once a row is made');
      const operation = exchange.endpoint && model.operationOf(exchange.endpoint);
      const code = model.refusals.codeIn(exchange);
      if (isDone(exchange) || code === undefined || !model.refusals.codesFor('request.invalid', operation).includes(code))
        return undefined;
      return { promised: `refused only where ${rule.if.source}`, seen: `${exchange.status}${briefly(exchange)}` };
    },
  });
}

/** Whether a body fits its shape, so that nothing but the rules speaks against it. */
function isWhole(model: Model, { endpoint, sent }: TrialExchange): boolean {
  const shape = endpoint && statedValue(model.requestShape(endpoint));
  return shape !== undefined && sent.json !== undefined && model.schemas.of(shape, 'sent')(sent.json).length === 0;
}

async function chooseWrong(
  session: Session,
  endpoint: Endpoint,
  {
    resource,
    fields,
    at,
    fact,
  }: { readonly resource: Resource; readonly fields: readonly string[]; readonly at: string; readonly fact: FactName },
): Promise<void> {
  const { model } = session;
  const begun = await beginBody(session, endpoint, 'plain');
  const json = membersOf(begun.json);
  const without = Object.fromEntries(Object.entries(json).filter(([name]) => !fields.includes(name)));
  const all = { ...json };
  for (const name of fields) {
    const shape = statedValue(entryOf(resource.fields, name)?.shape);
    if (!shape || isThere(all[name])) continue;
    try {
      all[name] = session.chance.value(arbitraryValuesOf(model.spec, shape, 'plain')) as (typeof all)[string];
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
    }
  }
  for (const [what, body] of [
    ['none of them', without],
    ['all of them', all],
  ] as const) {
    const done = await session.send(begun.request(body));
    claimRefused(session, done, {
      by: { when: 'request.invalid' },
      fact,
      reason: `choice, ${what}`,
      at,
      what: `${what}: ${fields.join(', ')}`,
      control: begun.valid,
      isSo: (exchange) => isWhole(model, exchange) && keepsRules(model, { ...resource, rules: {} }, membersIn(exchange)) === 'no',
    });
  }
}

function membersIn({ sent }: TrialExchange) {
  return (typeof sent.json === 'object' && sent.json !== null && !Array.isArray(sent.json) ? sent.json : {}) as Record<
    string,
    never
  >;
}

/** Of several fields of which a row has one, no change takes away the one that is there, and none gives another beside it. */
function* changedChoices(model: Model, resource: Resource): Iterable<Case> {
  for (const { fields, at } of resource.choices)
    for (const endpoint of choosingEndpoints(model, resource.name, fields))
      yield {
        name: `one of ${fields.join(', ')} at ${endpoint.key}`,
        facts: fields.map((field) => flagsOf(resource.name, field)),
        run: (session) => changeChoice(session, endpoint, { resource, fields, at }),
      };
}

interface Choosing {
  readonly resource: Resource;
  readonly fields: readonly string[];
  readonly at: string;
}

/** The operations that change a row and take each of these fields. */
export function choosingEndpoints(model: Model, resource: string, fields: readonly string[]): readonly Endpoint[] {
  return ['update', 'replace']
    .flatMap((verb) => model.endpointsThat(verb, resource))
    .filter((endpoint) => {
      const properties = statedValue(model.requestShape(endpoint))?.properties;
      const taken = typeof properties === 'object' && properties !== null ? properties : {};
      const isFree = (name: string) => entryOf(model.resource(resource)?.fields, name)?.immutable !== true;
      return !isStated(endpoint.request) && fields.every((name) => Object.hasOwn(taken, name) && isFree(name));
    });
}

/** The reason of a claim that the one of these fields that a row has is not taken away at an endpoint. */
export const leftNone = (key: string): string => `none is left at ${key}, refused`;

const flagsOf = (resource: string, field: string): FactName => ({ kind: 'required flags', subject: `${resource}.${field}` });

/** For each of the fields: a row that has it, from which it is taken, and to which another is given. */
async function changeChoice(session: Session, endpoint: Endpoint, choosing: Choosing): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const { row } = begun;
  session.need(row !== undefined, 'no row is changed');
  const values = valuesOf(session, choosing);
  const names = choosing.fields.filter((name) => isThere(values[name]));
  const isPatch = statedValue(endpoint.does)?.verb === 'update';
  const without = Object.fromEntries(
    Object.entries(membersOf(begun.json)).filter(([name]) => !isPatch && !choosing.fields.includes(name)),
  );
  for (const name of names) {
    // A patch takes the others away by null, a replacement by leaving them out.
    const others = isPatch ? Object.fromEntries(choosing.fields.map((one) => [one, null])) : {};
    const good = begun.request({ ...without, ...others, [name]: values[name] as Symbolic });
    const headers = await session.preconditions(endpoint, row, begun.caller);
    const given = await session.send({ ...good, headers: { ...good.headers, ...headers } });
    const shown = (await lookAt(session, row, begun.caller)).done;
    if (!isDone(given.value)) continue;
    const other = names.find((one) => one !== name);
    await refuse(session, begun, { choosing, shown, name, what: 'none of them', json: isPatch ? { [name]: null } : without });
    if (other === undefined) continue;
    const both = { [name]: values[name] as Symbolic, [other]: values[other] as Symbolic };
    await refuse(session, begun, { choosing, shown, name: other, what: 'two of them', json: { ...without, ...both } });
  }
}

async function refuse(
  session: Session,
  begun: Begun,
  refusal: {
    readonly choosing: Choosing;
    /** The row as it is. */
    readonly shown: Done<TrialExchange>;
    readonly name: string;
    readonly what: string;
    readonly json: Readonly<Record<string, Symbolic>>;
  },
): Promise<void> {
  const { model } = session;
  const { choosing, shown, name, what, json } = refusal;
  const { endpoint } = begun.valid;
  session.need(endpoint !== undefined && begun.row !== undefined, 'no row is changed');
  const plan = begun.request(json);
  const headers = await session.preconditions(endpoint, begun.row, begun.caller);
  const done = await session.send({ ...plan, headers: { ...plan.headers, ...headers } });
  claimRefused(session, done, {
    by: { when: 'request.invalid' },
    fact: flagsOf(choosing.resource.name, name),
    reason: what === 'none of them' ? leftNone(endpoint.key) : `two at ${endpoint.key}, refused`,
    at: choosing.at,
    what: `${what}: ${choosing.fields.join(', ')}`,
    beside: [shown],
    isSo: (exchange, was) => {
      const row = was && rowWith(model, was, idIn(model, was));
      return row !== undefined && changeKeepsRules(model, endpoint, row, exchange.sent.json) === 'no';
    },
    // What keeps the row as it is, in all but that.
    control: async () => (await beginBody(session, endpoint, 'plain')).valid,
  });
}

/** A value for each of the fields that has one. */
function valuesOf({ model, chance }: Session, { resource, fields }: Choosing): Record<string, Symbolic> {
  const out: Record<string, Symbolic> = {};
  for (const name of fields) {
    const shape = statedValue(entryOf(resource.fields, name)?.shape);
    try {
      // A reference is none of these values.
      if (shape) out[name] = chance.value(arbitraryValuesOf(model.spec, shape, 'plain')) as Symbolic;
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
    }
  }
  return out;
}
