import { createHash } from 'node:crypto';
import { DAY, HOUR } from '../keeping/clock.js';
import { Refusal, refuse } from '../keeping/errors.js';
import { broken } from '../keeping/faults.js';
import { plugin } from '../keeping/plugin.js';

/** One answer for one key: `app.once(request, reply, work)` does the work, or tells again what came of it. */
export const idempotency = plugin(async (app) => {
  const { clock } = app.deps;
  const kept = new Map();

  app.decorate('once', async (request, reply, work) => {
    const key = request.headers['idempotency-key'];
    const send = ({ status, headers, body }) => reply.code(status).headers(headers).send(body);
    if (key === undefined || key === '') return send(await work());
    const { op } = request.routeOptions.config;
    const of = (id, name) => broken(id) && op === name;
    const keepFor = of('en-key-forgotten', 'create harvest') ? HOUR : DAY;
    const who = of('en-key-shared', 'create reservation') ? '' : `${request.caller.users.join()} ${request.caller.id}`;
    const slot = JSON.stringify([who, op, key]);
    const print = createHash('sha256')
      .update(JSON.stringify([of('en-key-path', 'create harvest') ? '' : request.raw.url, request.version, request.json]))
      .digest('hex');
    const before = kept.get(slot);
    if (before && before.until > clock.now()) {
      if (before.print !== print && !of('en-key-reused', 'create harvest')) refuse('key_reused');
      if (of('en-replay-runs', 'create reservation')) return send(await work());
      const { refusal } = before;
      if (refusal) throw refusal;
      return send({ ...before, ...(of('en-replay-status', 'create harvest') && { status: 200 }) });
    }
    const keep = (answer) => kept.set(slot, { ...answer, print, until: clock.now() + keepFor });
    try {
      const { status, headers, body, again } = await work();
      keep({ status, headers, body: of('en-replay-once', 'create reservation') ? body : again });
      return send({ status, headers, body });
    } catch (error) {
      if (error instanceof Refusal && error.own && !of('en-error-not-kept', 'create reservation')) keep({ refusal: error });
      throw error;
    }
  });
});
