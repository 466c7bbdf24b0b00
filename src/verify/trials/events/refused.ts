import { statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { isDone } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { anEar, canListen, changing } from './changing.ts';
import { kindsOn } from './expected.ts';
import { behind, fenceBeside } from './fence.ts';
import { silenceJudgement, silenceShown } from './heard.ts';
import { hear } from './reached.ts';

const quietMs = 250;

/** What is refused emits nothing: neither exists without the other. */
export const refused: Trial = {
  name: 'events/refused',
  part: 'events',
  about: 'A request that is refused, for its state, its body or because the row has gone, emits no event.',
  noise: 'alone',
  *cases(model) {
    if (!canListen(model)) return;
    for (const operation of changing(model)) if (kindsOn(model, operation).length > 0) yield caseOf(model, operation);
  },
};

function caseOf(model: Model, operation: Operation): Case {
  const kinds = kindsOn(model, operation);
  const facts = kinds.map(({ name: subject }) => ({ kind: 'emitting operations', subject }));
  return {
    name: `${operation.name}, refused`,
    facts,
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(endpoint !== undefined, `no caller reaches ${operation.name}`);
      const { request } = await ready(session, endpoint, { style: 'full' });
      const verb = statedValue(endpoint.does)?.verb;
      // What was done once cannot be done again: the state is another, or the row has gone.
      if (verb === 'transition' || verb === 'delete') await session.send(request);
      const bad = verb === 'transition' || verb === 'delete' ? request : withoutSense(request);
      session.need(bad !== undefined, `no wrong body is known for ${operation.name}`);
      const fence = await fenceBeside(session, kinds, request.caller);
      const ear = await anEar(session, request.caller);
      const acted = await session.send(bad);
      session.need(!isDone(acted.value), `${operation.name} was not refused`);
      const { waiting, isSilence } = await behind(session, fence, ear, quietMs);
      const heard = await hear(session, ear, [acted], waiting);
      const isShown = isSilence(heard.value);
      for (const [at, fact] of facts.entries()) {
        const kind = kinds[at];
        if (!kind) continue;
        session.claim({
          shrinkingRuns: 2,
          fact,
          reason: 'refused',
          control: request,
          of: [ear.opened, acted, heard],
          judge: (opened, act, come) =>
            silenceShown(silenceJudgement(model, kind, { created: opened, acted: act, heard: come }), isShown),
        });
      }
    },
  };
}

/** The request with a list of lists where its body has something else. */
function withoutSense(request: RequestPlan): RequestPlan | undefined {
  const { body } = request;
  if (!body || !('value' in body) || !body.type.includes('json') || typeof body.value !== 'object' || body.value === null)
    return undefined;
  const members = body.value as Readonly<Record<string, Symbolic>>;
  const [name] = Object.entries(members).find(([, value]) => !Array.isArray(value)) ?? [];
  if (name === undefined) return undefined;
  return { ...request, body: { ...body, value: { ...members, [name]: [['ninefold-verify']] } } };
}
