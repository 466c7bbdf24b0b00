import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { Clock } from './keeping/clock.js';
import { Refusal } from './keeping/errors.js';
import { Events } from './keeping/events.js';
import { broken } from './keeping/faults.js';
import { BASE, repliesFor } from './keeping/replies.js';
import { Service } from './keeping/service.js';
import { Store } from './keeping/store.js';
import { Timers } from './keeping/timers.js';
import { bodies } from './plugins/bodies.js';
import { callers } from './plugins/callers.js';
import { clientError, edge } from './plugins/edge.js';
import { idempotency } from './plugins/idempotency.js';
import { limits } from './plugins/limits.js';
import { harvests } from './routes/harvests.js';
import { hives } from './routes/hives.js';
import { hooks } from './routes/hooks.js';
import { inspections } from './routes/inspections.js';
import { reservations } from './routes/reservations.js';
import { treatments } from './routes/treatments.js';
import { yards } from './routes/yards.js';

const KIB = 1024;

export async function buildApp({ clock = new Clock() } = {}) {
  const store = new Store();
  const timers = new Timers(clock);
  const events = new Events({ store, clock, timers });
  const service = new Service({ store, clock, timers, events });

  const app = Fastify({
    logger: false,
    genReqId: () => randomUUID(),
    bodyLimit: (broken('li-body') ? 64 : 32) * KIB,
    routerOptions: { maxParamLength: 4 * KIB },
    exposeHeadRoutes: false,
    requestTimeout: broken('li-timeout') ? 60_000 : 10_000,
    keepAliveTimeout: broken('li-idle') ? 2_000 : 30_000,
    http: { maxHeaderSize: 64 * KIB, connectionsCheckingInterval: 500 },
    clientErrorHandler: clientError,
    frameworkErrors: (_error, request, reply) => {
      const refusal = new Refusal('no_such_path');
      return reply.code(refusal.statusCode).type('application/json').send(refusal.body(request.id));
    },
  });
  app.decorate('deps', { store, clock, timers, events, service, replies: repliesFor({ store }) });
  for (const plugin of [edge, callers, limits, bodies, idempotency]) await app.register(plugin);
  const prefix = broken('pu-base') ? '/v1' : BASE;
  for (const routes of [yards, hives, inspections, treatments, harvests, reservations, hooks])
    await app.register(routes, { prefix });
  timers.start();
  return app;
}
