import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../../../parts/operations.ts';
import type { Version } from '../../../parts/versioning.ts';
import { isServed } from '../../../parts/versions/spec-in-version.ts';
import { type FactName, isFlaw, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { doneJudgement } from '../../make/done-judgement.ts';
import { ready } from '../../make/readied.ts';
import { carriesTo, inVersion, isOver, needServed, olderBody, type RequestVersions, versionsOf } from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { taken } from '../endpoints/bodies.ts';

const versionFact: FactName = { kind: 'version identifiers', subject: 'service' };
const selectionFact: FactName = { kind: 'version selection', subject: 'service' };
const functionsFact: FactName = { kind: 'functions', subject: 'service' };

/** The reason of a claim that an operation is there in an older version. */
export const thereIn = (operation: Operation, version: string): string => `${operation.name} is there in ${version}`;

/** What the newest version has is there in those before it, too, unless it is stated to have come since. */
export const stillThere: Trial = {
  name: 'versioning/there',
  part: 'versioning',
  about: 'Each operation is there in each older version that has it.',
  noise: 'quiet',
  *cases(model) {
    for (const { operation, endpoint, version, isFunction } of olderDoors(model)) {
      yield {
        name: `${operation.name} in ${version}`,
        facts: isFunction ? [functionsFact, versionFact] : [versionFact],
        run: (session) => askIn(session, { operation, endpoint, version, isFunction }),
      };
    }
    for (const { operation, endpoint } of changesInNone(model))
      yield {
        name: `${operation.name} in no version`,
        facts: [selectionFact],
        run: (session) => askInNone(session, operation, endpoint),
      };
  },
};

/** The reason of a claim that what changes something and names no version is in the newest. */
const changedInNone = 'a change in no version';

/** What changes something and may name no version, which is the newest then. */
function changesInNone(model: Model): readonly { readonly operation: Operation; readonly endpoint: Endpoint }[] {
  const select = statedValue(model.spec.versioning.select);
  const isNewest = (select?.by === 'header' || select?.by === 'query') && select.default === 'current';
  if (!isNewest || (versionsOf(model)?.all.length ?? 0) < 2) return [];
  return model.operations.flatMap((operation) => {
    const { endpoint } = operation;
    return endpoint && endpoint.method !== 'GET' && isByRule(endpoint) ? [{ operation, endpoint }] : [];
  });
}

/** What is done without a version is done as in the newest, where such a request is taken, and answered in its words. */
async function askInNone(session: Session, operation: Operation, endpoint: Endpoint): Promise<void> {
  const { model, run } = session;
  session.need(!run.isReadOnly, 'it would change something');
  const named = await session.send((await ready(session, endpoint)).request);
  const { request, row } = await ready(session, endpoint);
  const done = await session.send({ ...inVersion(model, request, undefined), endpoint });
  session.claim<readonly [TrialExchange, TrialExchange, ...TrialExchange[]]>({
    fact: selectionFact,
    reason: changedInNone,
    of: [done, named, ...(row?.made ? [row.made] : [])],
    judge(seen, like, made) {
      if (!isDone(like)) return moot('it is not taken in the newest version either');
      const lost = doneJudgement(model, operation, seen, made);
      return isFlaw(lost) || seen.sent.json === undefined ? lost : taken(model, seen, 'a body of the newest version');
    },
  });
}

interface OlderDoor {
  readonly operation: Operation;
  readonly endpoint: Endpoint;
  readonly version: string;
  /** Whether a function names it. */
  readonly isFunction: boolean;
}

/** Each operation in each version before the newest that serves it. */
export function olderDoors(model: Model): readonly OlderDoor[] {
  const versions = versionsOf(model);
  const named = entriesOf(model.spec.purpose.functions).flatMap(([, names]) => names);
  // What is over is looked at as such.
  const isServedStill = (version: Version) => isOver(version, Date.now()) === false;
  const older = (versions?.all ?? []).filter((one) => one.name !== versions?.history.current && isServedStill(one));
  return older.flatMap(({ name: version }) =>
    model.operations.flatMap((operation): OlderDoor[] => {
      const { endpoint } = operation;
      if (!versions || !endpoint || !isServed(versions.history, version, endpoint.key)) return [];
      return [{ operation, endpoint, version, isFunction: namesOperation(named, operation) }];
    }),
  );
}

async function askIn(session: Session, { operation, endpoint, version, isFunction }: OlderDoor): Promise<void> {
  const { model, run } = session;
  const versions = versionsOf(model);
  session.need(versions !== undefined, 'there are no versions');
  needServed(session, versions, version);
  session.need(endpoint.method === 'GET' || !run.isReadOnly, 'it would change something');
  const { request, row } = await ready(session, endpoint);
  const done = await session.send(olderPlan(session, versions, request, version));
  for (const fact of isFunction ? [functionsFact, versionFact] : [versionFact]) {
    session.claim<readonly [TrialExchange, ...TrialExchange[]]>({
      fact,
      reason: thereIn(operation, version),
      of: [done, ...(row?.made ? [row.made] : [])],
      judge: (seen, made) => doneJudgement(model, operation, { ...seen, endpoint }, made),
    });
  }
}

/** The same request in the words of an older version. */
function olderPlan(session: Session, versions: RequestVersions, plan: RequestPlan, version: string): RequestPlan {
  const { endpoint, ...rest } = inVersion(session.model, plan, version);
  const { body } = rest;
  const resource = endpoint && resourceOfEffect(statedValue(endpoint.does));
  const carry = resource && carriesTo(session.model, versions, version)?.resource(resource);
  const older = carry && body && 'value' in body ? olderBody(session, carry, body.value, {}) : undefined;
  // Its shapes are those of the newest version, and so is the tag of a row.
  const headers = rest.headers?.['If-Match'] === undefined ? rest.headers : { ...rest.headers, 'If-Match': '*' };
  return { ...rest, headers, ...(older && body && { body: { ...body, value: older } }) };
}
