import type { ErrorCondition } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { beginBody } from '../../make/begin-body.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { membersSent } from '../../make/fields-sent.ts';
import type { Model } from '../../model/model.ts';
import { bodyMedia } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { bareMap, membersOf } from '../../values/at-path.ts';
import { conditionOfBreak } from '../../values/variants.ts';
import { isBodyPromised } from './bodies.ts';
import { breaksHeld } from './breaks.ts';

/** Of several things that are wrong in a body, the first that was sent names the refusal. */
export const firstViolation: Trial = {
  name: 'errors/first violation',
  part: 'errors',
  about: 'Where several things are wrong in a body and have codes of their own, the first that was sent says which one answers.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const codes = model.refusals.codesFor('request.invalid', model.operationOf(endpoint));
      const pair =
        bodyMedia(endpoint) === 'json' && codes.length > 1 && isBodyPromised(model, endpoint)
          ? pairOf(model, endpoint)
          : undefined;
      if (!pair) continue;
      const facts = pair.map(({ code }) => ({ kind: 'conditions', subject: code }));
      yield { name: endpoint.key, facts, run: (session) => sendBoth(session, endpoint, pair) };
    }
  },
};

/** A member that is wrong by itself, what it comes to, and the code of that. */
interface WrongMember {
  readonly name: string;
  readonly value: Symbolic;
  readonly when: ErrorCondition;
  readonly code: string;
}

type Pair = readonly [WrongMember, WrongMember];

async function sendBoth(session: Session, endpoint: Endpoint, [one, other]: Pair): Promise<void> {
  const begun = await beginBody(session, endpoint, 'plain');
  const { [one.name]: _one, [other.name]: _other, ...rest } = membersOf(begun.json);
  for (const [first, second] of [
    [one, other],
    [other, one],
  ] as const) {
    const json = bareMap({ [first.name]: first.value, ...rest, [second.name]: second.value });
    const done = await session.send(begun.request(json));
    const what = `a body in which ${first.name} is wrong before ${second.name}`;
    claimRefusedAs(session, done, { by: { when: first.when }, what, control: begun.valid });
  }
}

/** Two members that can be wrong in ways that have codes of their own; nothing where there are none. */
function pairOf(model: Model, endpoint: Endpoint): Pair | undefined {
  const operation = model.operationOf(endpoint);
  const wrong = wrongMembers(model, endpoint).flatMap((member) => {
    const code = model.refusals.of(member.when, operation)?.code.name;
    return code === undefined ? [] : [{ ...member, code }];
  });
  const pairs = wrong.flatMap((one) =>
    wrong.filter((other) => other.name !== one.name && other.code !== one.code).map((other): Pair => [one, other]),
  );
  // A name that is not stated tells less than two ways of being wrong in what is.
  return pairs.find((pair) => pair.every(({ when }) => when !== 'request.invalid.unknown')) ?? pairs[0];
}

/** A name that is not stated, where none is let pass, and each member in each way that its shape tells. */
function wrongMembers(model: Model, endpoint: Endpoint): Omit<WrongMember, 'code'>[] {
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const isClosed = resource !== undefined && !resource.additionalProperties && !isStated(endpoint.request);
  const strange = { name: 'nf_not_stated', value: 'x', when: 'request.invalid.unknown' as const };
  const members = membersSent(model, endpoint, model.callers[0]).filter(
    ({ path, within, isUnknown, isImmutable }) => path.length === 1 && !within && !isUnknown && !isImmutable,
  );
  const known = members.flatMap(({ path: [name = ''], shape }) =>
    breaksHeld(model, endpoint, shape)
      .map(({ value }) => ({ name, value, when: conditionOfBreak(shape, value) }))
      .filter(({ when }) => when !== 'request.invalid'),
  );
  return [...(isClosed ? [strange] : []), ...known].slice(0, membersMost);
}

/** So many ways of being wrong are put beside each other. */
const membersMost = 40;
