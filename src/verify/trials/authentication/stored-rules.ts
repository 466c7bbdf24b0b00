import type { Endpoint } from '../../../parts/endpoints.ts';
import { type Expression, entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, isExchange, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor, identified } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { imagine } from '../../make/imagined.ts';
import { stage } from '../../make/staged.ts';
import type { Allowed } from '../../model/access.ts';
import { expectedAfter } from '../../model/expected.ts';
import { sentKeepsRules } from '../../model/field-rules.ts';
import type { Model } from '../../model/model.ts';
import { followedIn } from '../../model/row-known.ts';
import { isMaking } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { isValid } from '../endpoints/bodies.ts';
import { ownCode, ownJudgement } from './row-rules.ts';

/** The reason of a claim that what no rule allows to make is refused. */
export const storedRefused = 'what no rule allows to make, refused';

/** What rules say of a row that is still to be: a warden furnishes the huts of its own section, and no other. */
export const storedRules: Trial = {
  name: 'authentication/stored',
  part: 'authentication',
  about: 'What a rule over `next` allows somebody to make is made, and the nearest that none allows is refused.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints)
      for (const caller of storingUsers(model, endpoint)) yield caseOf(model, endpoint, caller);
  },
};

/** One caller of each user of whom every rule for a creation reads what would be stored. */
export function storingUsers(model: Model, endpoint: Endpoint): TrialCaller[] {
  const verb = statedValue(endpoint.does)?.verb;
  const operation = model.operationOf(endpoint);
  if ((verb !== 'create' && verb !== 'upsert') || endpoint.takes || model.access.isPublic(operation)) return [];
  const known = new Map<string, TrialCaller>();
  for (const caller of callersAt(model, endpoint)) {
    const rules = model.access.rules(operation, caller) ?? [];
    const conditions = rules.flatMap((rule) => rule.if ?? []);
    const isDecided = rules.length > 0 && conditions.length === rules.length;
    const reads = conditions.flatMap((one) => model.expressions.readsOf(one, operation.name));
    // A row that is there already has a word in whether it may be replaced.
    const isOfNew = reads.some(({ root }) => root === 'next') && !reads.some(({ root }) => root === 'resource');
    if (isDecided && isOfNew && !known.has(caller.user)) known.set(caller.user, caller);
  }
  return [...known.values()];
}

function callersAt(model: Model, endpoint: Endpoint): readonly TrialCaller[] {
  const operation = model.operationOf(endpoint);
  return model.callers.filter((caller) => caller.credential && model.access.allows(operation, caller) === 'unknown');
}

function caseOf(model: Model, endpoint: Endpoint, caller: TrialCaller): Case {
  const operation = model.operationOf(endpoint);
  const fact = { kind: 'permission rules', subject: operation.name };
  return {
    name: `${endpoint.key} as ${caller.name}, by what would be stored`,
    facts: [fact],
    async run(session: Session) {
      const who = await identified(session, caller);
      const condition = anyCondition(model, endpoint, caller);
      const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
      session.need(condition !== undefined && callersFor(session, endpoint).includes(caller), `${caller.name} shows nothing`);
      for (const { slots, met, unmet } of imagine(session, endpoint, { rule: { if: condition }, as: who })) {
        const ready = (scene: typeof met) => stage(session, endpoint, slots, { scene: { ...scene, caller: who }, resource });
        const allowed = await ifTestable(ready(met));
        if (!allowed) continue;
        const done = await session.send(allowed.request);
        claimLetIn(session, endpoint, who, { done, beside: allowed.beside });
        const shut = unmet && (await ifTestable(ready(unmet)));
        if (!shut) return;
        const code = ownCode(model, operation, caller);
        const refused = await session.send(shut.request);
        claimRefused(session, refused, {
          by: code === undefined ? { when: 'caller.forbidden', or: hidden } : { code },
          fact,
          reason: storedRefused,
          what: `${operation.name} by ${caller.name} of what no rule allows`,
          beside: shut.beside,
          control: async () => (await ready(met)).request,
          isSo: (sent, ...beside) =>
            mayStore(model, endpoint, who, sent, beside) === 'no' &&
            isValid(model, sent) &&
            sentKeepsRules(model, endpoint, sent.sent.json) !== 'no',
        });
        return;
      }
      // What a rule looks up, such as a membership, is made along with what it lets somebody make.
      const made = (await ifTestable(session.make(resource, { caller: who })))?.made;
      session.need(made !== undefined, `nothing was drawn that ${caller.name} may make`);
      claimLetIn(session, endpoint, who, { done: made, beside: creationsIn(session).filter(({ step }) => step !== made.step) });
    },
  };
}

interface Storing {
  readonly done: Done<TrialExchange>;
  /** What showed the rows that the rule reads. */
  readonly beside: readonly Done<TrialExchange>[];
}

function claimLetIn(session: Session, endpoint: Endpoint, caller: TrialCaller, { done, beside }: Storing): void {
  const { model } = session;
  const operation = model.operationOf(endpoint);
  session.claim({
    fact: { kind: 'permission rules', subject: operation.name },
    reason: 'stored, let in',
    of: [done, ...beside],
    judge: (seen, ...shown) =>
      mayStore(model, endpoint, caller, seen, shown) === 'yes'
        ? ownJudgement(model, operation, caller, seen, undefined)
        : moot('whether it is allowed cannot be told'),
  });
}

/** Everything that was made in this session. */
function creationsIn({ run }: Session): Done<TrialExchange>[] {
  return run.results.flatMap((value, step) => (isExchange(value) && isMaking(value) && isDone(value) ? [{ step, value }] : []));
}

/** What refers to a row that may not be read is refused for that. */
const hidden = ['resource.missing', 'reference.missing'] as const;

/** Any of the conditions under which somebody may make a row. */
function anyCondition(model: Model, endpoint: Endpoint, caller: TrialCaller): Expression | undefined {
  const rules = model.access.rules(model.operationOf(endpoint), caller) ?? [];
  const conditions = rules.flatMap((rule) => rule.if ?? []);
  const [first] = conditions;
  if (!first || conditions.length === 1) return first;
  return model.expressions.composed(first, conditions.map(({ source }) => `(${source})`).join(' || '));
}

/** Whether the rules allow to make what a request would have stored, as far as that can be reckoned beside what was shown. */
function mayStore(
  model: Model,
  endpoint: Endpoint,
  caller: TrialCaller,
  sent: TrialExchange,
  beside: readonly TrialExchange[],
): Allowed {
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  if (!resource) return 'unknown';
  const follow = followedIn(model, beside);
  const expected = expectedAfter(model, { ...sent, status: 201 }, undefined, follow);
  const next = Object.fromEntries([...expected].flatMap(([name, one]) => (one.is === 'value' ? [[name, one.value]] : [])));
  const isKnown = (name: string) => next[name] !== undefined || expected.get(name)?.is === 'absent';
  const unknown = entriesOf(resource.fields).flatMap(([name]) => (isKnown(name) ? [] : [name]));
  return model.access.allows(model.operationOf(endpoint), caller, {
    context: { next, follow, ...(sent.sent.json !== undefined && { request: sent.sent.json }) },
    unseen: { next: new Set(unknown) },
  });
}
