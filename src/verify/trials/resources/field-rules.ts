import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { FieldRule, Resource } from '../../../parts/resources.ts';
import { type FactName, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { imagine } from '../../make/imagined.ts';
import { lookAt } from '../../make/look.ts';
import { putThere } from '../../make/put-there.ts';
import { stage } from '../../make/staged.ts';
import { claimUnchanged } from '../../make/transitions.ts';
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
import type { Trial } from '../../session/trial.ts';
import { membersOf } from '../../values/at-path.ts';
import { NoValue } from '../../values/scalars.ts';
import { arbitraryValuesOf } from '../../values/values.ts';
import { changedChoices } from './field-choices.ts';

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
        for (const endpoint of model.endpointsThat('upsert', name).filter(({ request }) => !isStated(request)))
          yield {
            name: `${rule.name} at ${endpoint.key}, of what is there`,
            facts: [fact],
            run: (session) => breakThere(session, endpoint, { resource, rule, fact }),
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

interface Breaking {
  readonly resource: Resource;
  readonly rule: FieldRule;
  readonly fact: FactName;
}

async function breakRule(session: Session, endpoint: Endpoint, { resource, rule, fact }: Breaking): Promise<void> {
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

/** The reason of the claims that an upsert holds what is there to a rule too. */
export const refusedThere = ({ name }: FieldRule): string => `${name}, refused of what is there`;

/** A row that an upsert has made breaks a rule no more than a new one, when it is put again. */
async function breakThere(session: Session, endpoint: Endpoint, { resource, rule, fact }: Breaking): Promise<void> {
  const { model } = session;
  const [imagined] = imagine(session, endpoint, { rule });
  session.need(imagined?.unmet !== undefined, `nothing was found just beside which ${rule.if.source} holds`);
  const { slots, met, unmet } = imagined;
  const good = await stage(session, endpoint, slots, { scene: unmet, resource: resource.name });
  const { row, about } = await putThere(session, good.request);
  const { request } = await stage(session, endpoint, slots, { scene: met, resource: resource.name });
  const before = (await lookAt(session, row)).done;
  const done = await session.send(about(request));
  claimRefused(session, done, {
    by: { when: 'request.invalid' },
    fact,
    reason: refusedThere(rule),
    at: rule.at,
    beside: [before],
    isSo: (exchange, was) =>
      was !== undefined &&
      isDone(was) &&
      isWhole(model, exchange) &&
      sentKeepsRules(model, endpoint, exchange.sent.json) === 'no',
    what: rule.if.source,
    control: about(good.request),
  });
  await claimUnchanged(session, row, { before, attempt: done, fact });
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
