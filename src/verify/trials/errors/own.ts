import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { namesOperation } from '../../../parts/operations.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, type TrialExchange } from '../../exchange/exchange.ts';
import type { FactName } from '../../exchange/facts.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { type Imagined, imagine } from '../../make/imagined.ts';
import { claimNothingLeft } from '../../make/left-behind.ts';
import { stage } from '../../make/staged.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import type { Model } from '../../model/model.ts';
import { ownErrorOf } from '../../model/own-condition.ts';
import type { StatedRefusal } from '../../model/refusals.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

/** The service's own errors arise where their condition holds, and nowhere else; what they refuse changes nothing. */
export const ownErrors: Trial = {
  name: 'errors/own',
  part: 'errors',
  about:
    'An error with a condition of its own arises where that holds, changes nothing, and does not arise just beyond the edge of it.',
  noise: 'quiet',
  *cases(model) {
    for (const stated of model.refusals.all()) {
      for (const endpoint of stated.rule.if ? model.endpoints : []) {
        const operation = model.operationOf(endpoint);
        const effect = statedValue(endpoint.does);
        if (stated.rule.on !== undefined && !namesOperation(stated.rule.on, operation)) continue;
        if (!effect || !('resource' in effect) || effect.verb === 'list') continue;
        yield caseOf(stated, endpoint, effect.resource);
      }
    }
  },
};

function caseOf(stated: StatedRefusal, endpoint: Endpoint, resource: string): Case {
  const fact: FactName = { kind: 'conditions', subject: stated.code.name };
  return {
    name: `${stated.code.name} at ${endpoint.key}`,
    facts: [fact],
    async run(session: Session) {
      const own = { stated, endpoint, resource, fact };
      let why: unknown = new Untestable(`nothing was found for which ${stated.rule.if?.source} holds`);
      let tries = 0;
      for (const imagined of imagine(session, endpoint, stated)) {
        if (tries === triesMost) break;
        tries += 1;
        try {
          await provoke(session, own, imagined);
          if (imagined.unmet) await spare(session, own, imagined);
          return;
        } catch (error) {
          if (!(error instanceof Untestable)) throw error;
          why = error;
        }
      }
      throw why;
    },
  };
}

/** States of what a condition reads that are tried, since not every state can be brought about. */
const triesMost = 4;

interface Own {
  readonly stated: StatedRefusal;
  readonly endpoint: Endpoint;
  readonly resource: string;
  readonly fact: FactName;
}

/** Asks for what the error refuses. */
async function provoke(
  session: Session,
  { stated, endpoint, resource, fact }: Own,
  { slots, met, unmet }: Imagined,
): Promise<void> {
  const { model } = session;
  const { request, beside, row, marks } = await stage(session, endpoint, slots, { scene: met, resource });
  const done = await session.send(request);
  const isSo = (exchange: TrialExchange, ...seen: readonly TrialExchange[]) =>
    ownErrorOf(model, stated, exchange, seen, true) === 'yes';
  const seen = beside.map(({ value }) => value);
  session.need(isSo(done.value, ...seen), `whether ${stated.rule.if?.source} holds cannot be seen from outside`);
  claimRefused(session, done, {
    by: { code: stated.code.name },
    fact,
    reason: `arises at ${endpoint.key}`,
    at: stated.rule.at,
    beside,
    isSo,
    what: stated.rule.if?.source ?? '',
    ...(unmet && { control: async () => (await stage(session, endpoint, slots, { scene: unmet, resource })).request }),
  });
  const [before] = beside;
  if (row && before) await claimUnchanged(session, row, { before, attempt: done, fact });
  else if (!row) await claimNothingLeft(session, { resource, request, done, marks, fact });
}

/** Asks for what is just beyond the edge of its condition: whatever comes of that, it is not this error. */
async function spare(session: Session, { stated, endpoint, resource, fact }: Own, { slots, unmet }: Imagined): Promise<void> {
  const { model } = session;
  const { name } = stated.code;
  if (!unmet || !isOwnAlone(model, name)) return;
  const { request, beside } = await stage(session, endpoint, slots, { scene: unmet, resource });
  const done = await session.send(request);
  session.claim({
    fact,
    reason: `not else at ${endpoint.key}`,
    at: stated.rule.at,
    of: [done, ...beside],
    judge(exchange: TrialExchange, ...seen: readonly TrialExchange[]): Judgement {
      if (ownErrorOf(model, stated, exchange, seen, true) !== 'no') return moot('its condition holds, or may hold');
      return model.refusals.codeIn(exchange) === name
        ? { promised: `${name} only where ${stated.rule.if?.source}`, seen: `${exchange.status}${briefly(exchange)}` }
        : undefined;
    },
  });
}

/** Whether a code has no other use than one condition of its own: another rule may have meant it. */
function isOwnAlone(model: Model, name: string): boolean {
  const rules = model.refusals.all().filter(({ code }) => code.name === name);
  const isElse = JSON.stringify([model.spec.states, model.spec.authentication.permissions]).includes(`"${name}"`);
  return rules.length === 1 && !isElse;
}
