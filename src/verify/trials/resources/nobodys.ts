import type { JsonMap } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { paramsShape } from '../../../parts/expressions/operation-scope.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { identifierParameter, pathParameters } from '../../../parts/payload.ts';
import { moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { Fresh, freshText } from '../../exchange/symbol.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { arrange } from '../../make/begin-body.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';

/**
 * Asks about a thing that is not there where nobody knows that it is a row: a thing of a document of others, or of a handler. Where that
 * document lists 404, reading it is no success, and nothing fails.
 */
export function* askingForNobodys(model: Model): Iterable<Case> {
  for (const endpoint of model.endpoints) {
    const name = pathParameters(endpoint.path).at(-1);
    const isOfRow = identifierParameter(endpoint) !== undefined && statedValue(endpoint.does)?.verb !== 'handler';
    if (name === undefined || endpoint.identity || (isByRule(endpoint) && isOfRow)) continue;
    const facts = isByRule(endpoint) ? [] : [{ kind: 'response payload shapes', subject: endpoint.key }];
    yield { name: endpoint.key, facts, run: (session) => ask(session, endpoint, name) };
  }
}

async function ask(session: Session, endpoint: Endpoint, name: string): Promise<void> {
  const { model } = session;
  const plan = await arrangedOrDrawn(session, endpoint);
  const { properties } = paramsShape(model.spec, endpoint);
  const shape = isMap(properties) ? properties[name] : undefined;
  const done = await session.send({ ...plan, path: { ...plan.path, [name]: nobodys(isMap(shape) ? shape : {}) } });
  if (!model.isHeld('success where 404 is listed', endpoint)) return;
  const listed = isStated(endpoint.response) ? endpoint.response.value.map(({ status }) => status) : [];
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'not there',
    of: [done] as const,
    judge(exchange: TrialExchange) {
      const isRead = endpoint.method === 'GET' && statedValue(endpoint.does)?.verb === 'read';
      if (!isRead || !listed.includes('404')) return exchange.status >= 500 ? moot('the service failed') : undefined;
      return isDone(exchange)
        ? { promised: '404, for what is not there', seen: `${exchange.status}${briefly(exchange)}` }
        : undefined;
    },
  });
}

/** The request with what it is about made before; where that cannot be, with whatever fits its path. */
async function arrangedOrDrawn(session: Session, endpoint: Endpoint): Promise<RequestPlan> {
  try {
    return await arrange(session, endpoint);
  } catch (error) {
    if (!(error instanceof Untestable)) throw error;
    const { model } = session;
    const { properties } = paramsShape(model.spec, endpoint);
    const path = pathParameters(endpoint.path).map((name) => {
      const shape = isMap(properties) ? properties[name] : undefined;
      return [name, nobodys(isMap(shape) ? shape : {})] as const;
    });
    const [caller] = model.callers;
    return model.request(endpoint, { path: Object.fromEntries(path), caller });
  }
}

/** A value of the shape that nothing is called by. */
function nobodys(shape: JsonMap): Fresh {
  if (shape.type === 'integer' || shape.type === 'number') {
    const most = typeof shape.maximum === 'number' ? shape.maximum : 2_000_000_000;
    return new Fresh((draw) => most - (draw.bytes(1)[0] ?? 0));
  }
  if (shape.format === 'uuid') {
    return new Fresh((draw) => {
      const hex = Buffer.from(draw.bytes(16)).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
    });
  }
  return freshText('nf-');
}
