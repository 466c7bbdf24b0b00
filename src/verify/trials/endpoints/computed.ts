import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Answer } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { type Expression, isStated, type Named, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { lookAt } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import { callerContext } from '../../model/access.ts';
import type { Evaluated } from '../../model/expressions.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { headerSays, oneLine } from '../../values/difference.ts';

const verbs: ReadonlySet<string> = new Set(['create', 'read', 'update', 'replace', 'transition']);

/** What a stated answer reckons of a row is what it comes to, by the row as it is shown where it is shown whole. */
export const computed: Trial = {
  name: 'endpoints/computed',
  part: 'endpoints',
  about: 'The members that a stated answer makes by expressions are what these come to of the row.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const data = effect && verbs.has(effect.verb) ? dataOf(endpoint) : undefined;
      const resource = resourceOfEffect(effect);
      if (!data || resource === undefined || endpoint.identity) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      yield { name: endpoint.key, facts, run: (session) => compare(session, endpoint, resource, data) };
    }
  },
};

/** The members of the one answer of success that is made by expressions. */
function dataOf({ does, response }: Endpoint): Named<Expression> | undefined {
  if (does.standing !== 'stated' || response.standing !== 'stated') return undefined;
  const [answer, ...more] = response.value.filter(({ status }) => /^2/.test(status));
  const data = answer?.data;
  return more.length > 0 || answer?.if || !data || isExpression(data) ? undefined : data;
}

function isExpression(data: NonNullable<Answer['data']>): data is Expression {
  return typeof data.source === 'string';
}

async function compare(session: Session, endpoint: Endpoint, resource: string, data: Named<Expression>): Promise<void> {
  const { model } = session;
  const { row, done } = await doneAbout(session, endpoint, resource);
  const look = await lookAt(session, row);
  session.need(look.fields !== undefined, `the ${resource} is not shown whole`);
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'computed',
    of: [done, look.done] as const,
    judge(acted: TrialExchange, seen: TrialExchange): Judgement {
      const body = isDone(acted) ? bodyFields(acted) : undefined;
      const shown = rowWith(model, seen, idIn(model, acted));
      if (!body || !shown) return moot('the row is not shown');
      const unseen = new Set([
        ...model.unseenBy(resource, model.readerOf(seen)),
        ...model.unseenBy(resource, model.readerOf(acted)),
      ]);
      for (const [name, expression] of Object.entries(data)) {
        const evaluated = evaluate(model, endpoint, expression, acted, shown, unseen);
        if (typeof evaluated === 'string' || evaluated.value === null || isSame(evaluated.value, body[name])) continue;
        return { promised: `${name} is \`${expression.source}\`: ${oneLine(evaluated.value)}`, seen: oneLine(body[name]) };
      }
      return undefined;
    },
  });
}

async function doneAbout(
  session: Session,
  endpoint: Endpoint,
  resource: string,
): Promise<{ readonly row: TrialRow; readonly done: Done<TrialExchange> }> {
  if (statedValue(endpoint.does)?.verb === 'create') {
    const row = await session.make(resource, { style: 'full' });
    session.need(row.made?.value.endpoint?.key === endpoint.key, `no ${resource} was made by ${endpoint.key}`);
    return { row, done: row.made };
  }
  const { row, request } = await ready(session, endpoint, { style: 'full' });
  session.need(row !== undefined, `${endpoint.key} is about no row`);
  return { row, done: await session.send(request) };
}

function evaluate(
  model: Model,
  endpoint: Endpoint,
  expression: Expression,
  { sent, caller }: TrialExchange,
  result: Readonly<Record<string, Json>> | undefined,
  unseen: ReadonlySet<string>,
): Evaluated {
  const context = {
    ...callerContext(caller),
    params: { ...sent.path, ...sent.query },
    ...(sent.json !== undefined && { request: sent.json }),
    ...(result && { result }),
  };
  return model.expressions.evaluate(expression, endpoint.operation, { context, unseen: { result: unseen } });
}

/** What is wrong with a header that an expression makes, as far as that can be reckoned from the answer and its request. */
export function computedHeaderFlaw(
  model: Model,
  exchange: TrialExchange,
  endpoint: Endpoint,
  { name, answer, expression }: { readonly name: string; readonly answer: Answer; readonly expression: Expression },
): Judgement {
  const value = exchange.headers[name.toLowerCase()];
  // An answer that is not made by expressions is what came out, narrowed to what its shape lists.
  const body = answer.data === undefined && isStated(answer.shape) ? bodyFields(exchange) : undefined;
  const reads = model.expressions.readsOf(expression, endpoint.operation).filter(({ root }) => root === 'result');
  const unseen = new Set(
    reads.flatMap(({ path: [first] }) => (first !== undefined && body?.[asText(first)] === undefined ? [asText(first)] : [])),
  );
  const evaluated = evaluate(model, endpoint, expression, exchange, body, unseen);
  if (typeof evaluated === 'string' || evaluated.value === null || isMap(evaluated.value)) return undefined;
  const promised = Array.isArray(evaluated.value) ? JSON.stringify(evaluated.value) : asText(evaluated.value);
  const isSaid = headerSays(value, promised);
  if (isSaid === 'unknown') return moot('how a header has such a text is not said');
  return isSaid ? undefined : { promised: `${name}: ${promised}, which is \`${expression.source}\``, seen: value ?? 'none' };
}
