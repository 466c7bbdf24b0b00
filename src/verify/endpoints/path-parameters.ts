import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import { identifierParameter, pathParameters } from '../../parts/payload.ts';
import { ready } from '../make/readied.ts';
import type { Model } from '../model/model.ts';
import { moot } from '../script/claim.ts';
import { briefly, type Exchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import { breaksOf, edgesOf } from '../values/variants.ts';
import { isBrokenWritten, isWritten } from './as-written.ts';
import { taken } from './taken.ts';

/** The parameters of a path that are values with a shape of their own, and name no row. */
export function pathOfParameters(model: Model, endpoint: Endpoint) {
  const { properties } = paramsShape(model.spec, endpoint);
  return pathParameters(endpoint.path).flatMap((name) => {
    const stated = entryOf(endpoint.parameters, name);
    const shape = isMap(properties) ? properties[name] : undefined;
    const isRow = name === identifierParameter(endpoint) || model.parentOf(endpoint, name) !== undefined;
    return stated && isStated(stated.shape) && isMap(shape) && !isRow ? [{ name, shape, at: stated.at }] : [];
  });
}

/** Values of a path at the edges of their shapes, which are taken, and beyond them, which are not. @throws {Untestable} */
export async function sendPaths(session: Session, endpoint: Endpoint): Promise<void> {
  const { request } = await ready(session, endpoint);
  const fact = { kind: 'parameters', subject: endpoint.key };
  for (const { name, shape, at } of pathOfParameters(session.model, endpoint)) {
    const send = (value: Symbolic) => session.send({ ...request, path: { ...request.path, [name]: value } });
    for (const edge of edgesOf(shape)) {
      if (!isWritten(edge)) continue;
      session.claim({
        ...{ fact, at, reason: `${name} taken`, of: [await send(edge.value)] as const },
        judge: (exchange: Exchange) => taken(session, exchange, `${name} ${edge.label}`),
      });
    }
    for (const broken of breaksOf(shape)) {
      if (!isWritten(broken) || !isBrokenWritten(shape, broken)) continue;
      session.claim({
        ...{ fact, at, reason: `${name} refused`, of: [await send(broken.value)] as const },
        judge(exchange: Exchange) {
          if (String(exchange.sent.path[name]) !== String(broken.value)) return moot('it is not what has to be refused');
          if (exchange.status >= 500 || exchange.status === 429) return moot('the service failed, or had too much to do');
          // Whether such an address is wrong, or is none, is a matter of taste.
          return exchange.status < 400
            ? { promised: `${name} ${broken.label} is refused`, seen: `${exchange.status}${briefly(exchange)}` }
            : undefined;
        },
      });
    }
  }
}
