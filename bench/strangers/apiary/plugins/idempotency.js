import { createHash } from 'node:crypto';
import fp from '../lib/plugin.js';
import { DAY, HOUR } from '../lib/clock.js';
import { Refusal, refuse } from '../lib/errors.js';
import { broken } from '../lib/faults.js';

const KEEP = broken('en-key-forgotten') ? HOUR : DAY;

/** One answer for one key: `app.once(request, reply, work)` does the work, or tells again what came of it. */
export default fp(async (app) => {
  const { clock } = app.deps;
  const kept = new Map();

  app.decorate('once', async (request, reply, work) => {
    const key = request.headers['idempotency-key'];
    const send = ({ status, headers, body }) => reply.code(status).headers(headers).send(body);
    if (key === undefined || key === '') return send(await work());
    const { op } = request.routeOptions.config;
    const who = broken('en-key-shared') ? '' : `${request.caller.users.join()} ${request.caller.id}`;
    const slot = JSON.stringify([who, op, key]);
    const print = createHash('sha256')
      .update(JSON.stringify([broken('en-key-path') ? '' : request.raw.url, request.version, request.json]))
      .digest('hex');
    const before = kept.get(slot);
    if (before && before.until > clock.now()) {
      if (before.print !== print && !broken('en-key-reused')) refuse('key_reused');
      if (broken('en-replay-runs') && op === 'create reservation') return send(await work());
      const { refusal } = before;
      if (refusal) throw refusal;
      return send({ ...before, ...(broken('en-replay-status') && { status: 200 }) });
    }
    const keep = (answer) => kept.set(slot, { ...answer, print, until: clock.now() + KEEP });
    try {
      const { status, headers, body, again } = await work();
      keep({ status, headers, body: broken('en-replay-once') ? body : again });
      return send({ status, headers, body });
    } catch (error) {
      if (error instanceof Refusal && error.own && !broken('en-error-not-kept')) keep({ refusal: error });
      throw error;
    }
  });
});
