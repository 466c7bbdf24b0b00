import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../../../parts/operations.ts';
import type { Version } from '../../../parts/versioning.ts';
import { isServed } from '../../../parts/versions/spec-in-version.ts';
import type { FactName } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { doneJudgement } from '../../make/done-judgement.ts';
import { ready } from '../../make/readied.ts';
import { carriesTo, inVersion, isOver, needServed, olderBody, type RequestVersions, versionsOf } from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

const versionFact: FactName = { kind: 'version identifiers', subject: 'service' };
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
  },
};

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
