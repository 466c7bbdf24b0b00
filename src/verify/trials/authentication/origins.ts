import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated } from '../../../parts/fact.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { type Door, guardedDoors, publicDoors } from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

const fact = { kind: 'schemes', subject: 'service' };
const stranger = 'https://stranger.example';

/** Pages of the stated origins may call, and pages of no other. */
export const origins: Trial = {
  name: 'authentication/origins',
  part: 'authentication',
  about: 'CORS: answers and preflights let the stated origins in and nobody else (Fetch section 3.2).',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    const { origins: stated } = model.spec.authentication;
    if (stated.standing === 'open' || stated.standing === 'any') return;
    const named = isStated(stated) ? stated.value : [];
    const [door] = [...publicDoors(model), ...guardedDoors(model)].filter(({ endpoint }) => endpoint.method === 'GET');
    if (!door) return;
    if (!named.includes('*')) yield refusedCase(model, door, stranger);
    for (const origin of named) yield letInCase(model, door, origin === '*' ? stranger : origin);
  },
};

function refusedCase(model: Model, { endpoint }: Door, origin: string): Case {
  return {
    name: `${endpoint.key} from a page of ${origin}`,
    facts: [fact],
    async run(session: Session) {
      const path = {};
      const plain = await session.send(model.request(endpoint, { path, headers: { origin } }));
      session.claim({ fact, reason: 'origins', of: [plain], judge: notLetIn });
      const asked = await session.send(preflight(model, endpoint, origin));
      session.claim({ fact, reason: 'origins', of: [asked], judge: notLetIn });
    },
  };
}

function notLetIn(seen: TrialExchange): Judgement {
  const allowed = seen.headers['access-control-allow-origin'];
  const origin = seen.sent.headers.origin ?? '';
  if (allowed === undefined || (allowed !== '*' && allowed !== origin)) return undefined;
  return {
    promised: `pages of ${origin} are not among the origins that may call`,
    seen: `Access-Control-Allow-Origin: ${allowed}`,
  };
}

function letInCase(model: Model, { endpoint, operation }: Door, origin: string): Case {
  return {
    name: `${endpoint.key} from a page of ${origin}`,
    facts: [fact],
    async run(session: Session) {
      const caller = model.callers.find((one) => model.access.allows(operation, one) !== 'no');
      const plain = await session.send(model.request(endpoint, { caller, headers: { origin } }));
      session.claim({ fact, reason: 'origins let in', of: [plain], judge: letIn });
      const asked = await session.send(preflight(model, endpoint, origin));
      session.claim({ fact, reason: 'preflights let in', of: [asked], judge: preflightLetIn });
    },
  };
}

function letIn(seen: TrialExchange): Judgement {
  const allowed = seen.headers['access-control-allow-origin'];
  const origin = seen.sent.headers.origin ?? '';
  if (allowed === '*' || allowed === origin) return undefined;
  return { promised: `pages of ${origin} may call`, seen: `Access-Control-Allow-Origin: ${allowed ?? 'none'}` };
}

function preflightLetIn(seen: TrialExchange): Judgement {
  const own = letIn(seen);
  if (own) return own;
  if (!isDone(seen))
    return { promised: 'a preflight is answered with a status of success', seen: `it was answered ${seen.status}` };
  const methods = (seen.headers['access-control-allow-methods'] ?? '').split(',').map((word) => word.trim().toUpperCase());
  const method = seen.sent.headers['access-control-request-method'] ?? '';
  // GET, HEAD and POST need not be named (Fetch section 2.2.1).
  if (['GET', 'HEAD', 'POST'].includes(method)) return undefined;
  if (methods.includes(method) || methods.includes('*')) return undefined;
  return methods.length === 0
    ? moot('no methods')
    : { promised: `pages may use ${method}`, seen: `Access-Control-Allow-Methods: ${methods.join(', ')}` };
}

/** What a browser asks before it calls: no stated operation. */
function preflight(model: Model, endpoint: Endpoint, origin: string): RequestPlan {
  const headers = { origin, 'access-control-request-method': endpoint.method };
  const { endpoint: _endpoint, ...plan } = model.request(endpoint, { headers });
  return { ...plan, method: 'OPTIONS' };
}
