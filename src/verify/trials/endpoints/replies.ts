import type { Json } from '../../../document/document.ts';
import { repliedWith } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { ready } from '../../make/readied.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { difference } from '../../values/difference.ts';

/** What `reply` answers is the example that is stated for its answer, or one of them, to the letter. */
export const replies: Trial = {
  name: 'endpoints/replies',
  part: 'endpoints',
  about: 'An operation that replies answers with the example that is stated for it.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const example = exampleOf(endpoint);
      if (example === undefined) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => ask(session, endpoint, example) };
    }
  },
};

/**
 * The examples that an operation can answer with. Nothing where its answer depends on something, is no JSON, or has a resource in it
 * of which its reader may not see all; and nothing where a tool has read off that the operation replies with it.
 */
function exampleOf({
  does,
  response,
  produces,
}: Endpoint): { readonly status: string; readonly values: readonly Json[] } | undefined {
  if (does.standing !== 'stated' || does.value.verb !== 'reply' || response.standing !== 'stated' || produces !== undefined)
    return undefined;
  const [answer, ...more] = response.value.filter(({ status }) => status !== '204' && /^2\d\d$/.test(status));
  const values = answer ? repliedWith(answer) : [];
  if (!answer || values.length === 0 || more.length > 0 || answer.data !== undefined || answer.if !== undefined) return undefined;
  if (/"(?:resource|ref)":/.test(JSON.stringify(statedValue(answer.shape) ?? {}))) return undefined;
  return { status: answer.status, values };
}

async function ask(
  session: Session,
  endpoint: Endpoint,
  { status, values }: { readonly status: string; readonly values: readonly Json[] },
): Promise<void> {
  const { request } = await ready(session, endpoint);
  const done = await session.send(request);
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'example',
    of: [done] as const,
    judge(exchange: TrialExchange) {
      if (!isDone(exchange) || String(exchange.status) !== status) return moot('it is not the answer of the example');
      const flaws = values.map((value) => difference(value, exchange.body ?? null, 'an example that is stated'));
      return flaws.includes(undefined) ? undefined : flaws[0];
    },
  });
}
