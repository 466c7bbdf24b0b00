// From a request to its answer: route, caller, rates, parameters, body; then what the operation does.
import { createHash, randomUUID } from 'node:crypto';
import { callerOf } from './callers.mjs';
import { Desk } from './desk.mjs';
import { DAY } from './house.mjs';
import { readQuery } from './lists.mjs';
import { broken, OWN, Problem } from './problems.mjs';
import { Rates } from './rates.mjs';

const BASE = '/api';
const ROUTES = [
  ['GET', '/terms', 'terms'],
  ['POST', '/racks', 'create rack'],
  ['GET', '/racks', 'list rack'],
  ['GET', '/racks/:code', 'read rack'],
  ['PUT', '/racks/:code', 'replace rack'],
  ['DELETE', '/racks/:code', 'delete rack'],
  ['POST', '/pledges', 'create pledge'],
  ['GET', '/pledges', 'list pledge'],
  ['GET', '/pledges/:id', 'read pledge'],
  ['PATCH', '/pledges/:id', 'update pledge'],
  ['DELETE', '/pledges/:id', 'delete pledge'],
  ['POST', '/pledges/:id/offer', 'offer pledge'],
  ['POST', '/pledges/:id/accept', 'accept pledge'],
  ['POST', '/pledges/:id/renew', 'renew pledge'],
  ['POST', '/pledges/:id/redeem', 'redeem pledge'],
  ['POST', '/pledges/:id/sell', 'sell pledge'],
  ['POST', '/pledges/:id/withdraw', 'withdraw pledge'],
  ['POST', '/pledges/:pledge/payments', 'create payment'],
  ['GET', '/pledges/:pledge/payments', 'list payment'],
  ['GET', '/payments/:id', 'read payment'],
  ['POST', '/payments/:id/void', 'void payment'],
  ['POST', '/hooks', 'create hook'],
  ['GET', '/hooks', 'list hook'],
  ['GET', '/hooks/:id', 'read hook'],
  ['PATCH', '/hooks/:id', 'update hook'],
  ['DELETE', '/hooks/:id', 'delete hook'],
].map(([method, path, operation]) => ({ method, operation, steps: path.slice(1).split('/') }));

const PLEDGERS = 'create pledge|list pledge|read pledge|update pledge|accept pledge|renew pledge|redeem pledge|withdraw pledge|create payment|list payment|read payment|list rack|read rack|create hook|list hook|read hook|update hook|delete hook';
const CLERKS = 'list pledge|read pledge|update pledge|renew pledge|redeem pledge|delete pledge|offer pledge|sell pledge|create payment|list payment|read payment|void payment|list rack|read rack|create rack|replace rack|delete rack|create hook|list hook|read hook|update hook|delete hook';
const MAY = { pledger: new Set(PLEDGERS.split('|')), clerk: new Set(CLERKS.split('|')), auditor: new Set(['read pledge']) };
const TAKES_BODY = new Set(['create rack', 'replace rack', 'create pledge', 'update pledge', 'offer pledge', 'create payment', 'create hook', 'update hook']);
const KEYED = new Set(['create pledge', 'create payment']);
const SUNSET = Date.UTC(2028, 5, 30);

function unescaped(step) {
  try {
    return decodeURIComponent(step);
  } catch {
    return '\uFFFF';
  }
}
function matching(steps) {
  return ROUTES.filter((route) => route.steps.length === steps.length && route.steps.every((one, at) => one === steps[at] || (one.startsWith(':') && steps[at] !== '')));
}

export class Gate {
  #kept = new Map();
  constructor(house) {
    this.house = house;
    this.desk = new Desk(house);
    this.rates = new Rates(house);
  }

  async answer(request) {
    const { house } = this;
    const call = { ...request, requestId: `req_${randomUUID().replaceAll('-', '')}`, told: {} };
    house.runTimers();
    let answer;
    try {
      answer = this.#route(call) ?? (await this.#serve(call));
    } catch (error) {
      if (!(error instanceof Problem)) console.error(error);
      answer = broken(error instanceof Problem ? error : new Problem('broken'), call.requestId);
    }
    if (house.fault === 'id-differs' && answer.json?.error) answer.json = { ...answer.json, request_id: `${answer.json.request_id}x` };
    if (house.fault === 'status-422-as-400' && answer.headers?.['X-Error-Code'] === 'too_much') answer.status = 400;
    if (house.fault === 'at-missing-on-404' && answer.headers?.['X-Error-Code'] === 'not_found') answer.json = { ...answer.json, error: { code: 'not_found', message: answer.json.error.message } };
    const headers = { 'X-Request-Id': call.requestId, Vary: 'X-Lombard-Key, Authorization', ...call.told, ...answer.headers };
    if (house.fault === 'no-error-header' && call.operation?.startsWith('list')) delete headers['X-Error-Code'];
    if (/^\/api\/v1(?:[/?]|$)/.test(call.target) && !(house.fault === 'reads-not-deprecated' && call.operation?.startsWith('read'))) {
      headers.Deprecation = house.fault === 'deprecation-as-text' ? new Date(Date.UTC(2026, 1, 1)).toUTCString() : `@${Date.UTC(2026, 1, 1) / 1000}`;
      headers.Sunset = new Date(house.fault === 'sunset-a-year-late' ? Date.UTC(2029, 5, 30) : SUNSET).toUTCString();
      const links = ['<https://lombard.example/docs/v2>; rel="deprecation"', `<${call.target.replace('/v1/', '/v2/')}>; rel="successor-version"`];
      headers.Link = [...(answer.headers?.Link ? [answer.headers.Link] : []), ...links].join(', ');
    }
    return { ...answer, headers };
  }

  #route(call) {
    const { fault } = this.house;
    if (Buffer.byteLength(call.target) > 2048 && fault !== 'any-url') throw new Problem('too_large');
    if (call.headerBytes > 16_384) throw new Problem('too_large');
    const [path, search] = call.target.split(/\?(.*)/s);
    Object.assign(call, { path, search: search ?? '' });
    if (!path.startsWith(`${BASE}/`) && !(fault === 'no-base' && path.startsWith('/v2/hooks'))) throw new Problem('no_route');
    const [version, ...steps] = path.slice(path.startsWith(`${BASE}/`) ? BASE.length + 1 : 1).split('/').map(unescaped);
    let found = matching(steps);
    let isVersioned = true;
    if (found.length === 0) {
      found = matching([version, ...steps]);
      isVersioned = false;
    }
    if (version === 'v1' && isVersioned && fault !== 'terms-in-v1') found = found.filter(({ operation }) => operation !== 'terms');
    if (found.length === 0) throw new Problem('no_route');
    const Allow = [...found.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ');
    if (call.method === 'OPTIONS') return { status: 204, headers: { Allow } };
    const wanted = call.method === 'HEAD' && fault !== 'head-unknown' ? 'GET' : call.method;
    const route = found.find(({ method }) => method === wanted);
    if (!route) throw new Problem('no_method', { headers: { Allow: fault === 'allow-get-only' ? 'GET' : Allow } });
    const known = isVersioned && (version === 'v1' || version === 'v2');
    if (!known && !(fault === 'any-version' && isVersioned && /^v\d+$/.test(version)) && !(fault === 'version-optional' && !isVersioned)) throw new Problem('no_version');
    call.version = version === 'v1' ? 'v1' : 'v2';
    call.operation = route.operation;
    call.at = {};
    for (const [at, step] of route.steps.entries()) if (step.startsWith(':')) call.at[step.slice(1)] = (isVersioned ? steps : [version, ...steps])[at];
    if (call.version === 'v1' && this.house.clock.now() >= SUNSET && fault !== 'never-gone') throw new Problem('version_gone');
    return undefined;
  }

  async #serve(call) {
    const { house } = this;
    call.caller = call.operation === 'terms' ? undefined : callerOf(call, house);
    call.told = this.rates.count(call);
    this.#permit(call);
    call.query = readQuery(call, house);
    if (KEYED.has(call.operation)) {
      call.key = call.headers['idempotency-key'];
      if (call.operation === 'create payment' && !call.key && house.fault !== 'key-optional') throw new Problem('bad_parameter', { at: ['Idempotency-Key'] });
    }
    this.#negotiate(call);
    this.#parse(call);
    return await this.#once(call);
  }

  #permit({ operation, caller }) {
    if (operation === 'terms') return;
    const { fault } = this.house;
    if (fault === 'auditor-lists' && caller.user === 'auditor' && operation === 'list pledge') return;
    if (!MAY[caller.user].has(operation)) throw new Problem('forbidden');
    const asks = operation === 'offer pledge' || operation === 'sell pledge';
    if (asks && !caller.scopes.includes('lend') && !(fault === 'sell-unscoped' && operation === 'sell pledge')) throw new Problem(fault === 'scope-as-forbidden' ? 'forbidden' : 'scope_missing');
  }

  #negotiate({ headers }) {
    if (headers.accept === undefined || this.house.fault === 'accept-ignored') return;
    const fits = headers.accept.split(',').some((one) => {
      const [type, ...rest] = one.split(';').map((part) => part.trim().toLowerCase());
      return ['*/*', 'application/*', 'application/json'].includes(type) && !rest.some((part) => /^q=0(\.0*)?$/.test(part));
    });
    if (!fits) throw new Problem('not_acceptable');
  }

  #parse(call) {
    const { fault } = this.house;
    if (call.body.length > (fault === 'body-17k' ? 17_408 : 16_384) && !(fault === 'chunked-unbounded' && call.chunked)) {
      if (TAKES_BODY.has(call.operation)) this.#media(call);
      throw new Problem('too_large');
    }
    if (!TAKES_BODY.has(call.operation)) return;
    this.#media(call);
    try {
      call.json = JSON.parse(new TextDecoder('utf-8', { fatal: fault !== 'bad-utf8-taken' }).decode(call.body));
    } catch {
      throw new Problem(fault === 'torn-as-500' && call.operation === 'update pledge' ? 'broken' : 'bad_json');
    }
  }
  #media(call) {
    const type = (call.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
    const isPatch = call.operation.startsWith('update') && type === 'application/merge-patch+json' && this.house.fault !== 'no-merge-patch';
    const isSent = call.body.length > 0;
    if (isSent && type !== 'application/json' && !isPatch && !(this.house.fault === 'text-as-json' && type === 'text/plain')) throw new Problem('bad_type');
  }

  /** Does it once for each idempotency key. */
  async #once(call) {
    const { house } = this;
    const { fault } = house;
    if (!call.key) return await this.#act(call);
    const who = fault === 'keys-shared' ? call.operation : `${call.caller.user} ${call.caller.id} ${call.operation}`;
    const place = `${who} ${call.key}`;
    const print = createHash('sha256').update(`${call.path}\n${call.search}\n${call.version}\n`).update(fault === 'key-any-body' ? '' : call.body).digest('hex');
    const kept = this.#kept.get(place);
    if (kept && kept.until > house.clock.now()) {
      if (kept.print !== print) throw new Problem('key_reused');
      return kept.answer;
    }
    if (fault === 'key-races') await new Promise((resolve) => setTimeout(resolve, 120));
    let answer;
    try {
      answer = await this.#act(call);
    } catch (error) {
      if (!OWN.has(error.code) || fault === 'own-errors-forgotten') throw error;
      answer = broken(error, call.requestId);
      answer.headers['X-Request-Id'] = call.requestId;
    }
    this.#kept.set(place, { print, answer, until: house.clock.now() + (fault === 'key-for-an-hour' ? DAY / 24 : DAY) });
    return answer;
  }

  async #act(call) {
    if (call.operation === 'terms') return { status: 200, json: { house: 'Lombard on the Hill', monthly_rate: 2.5, days: this.house.fault === 'days-as-text' ? '30' : 30 } };
    if (this.house.fault === 'items-race' && call.operation === 'create pledge') {
      this.desk.refuseTaken(call.caller.id, call.json?.item);
      await new Promise((resolve) => setTimeout(resolve, 120));
      call.isUnchecked = true;
    }
    if (this.house.fault === 'sell-breaks' && call.operation === 'sell pledge') throw new Error('sell');
    return this.desk.do(call);
  }
}
