import { setTimeout as delay } from 'node:timers/promises';
import { refuse } from '../keeping/errors.js';
import { broken } from '../keeping/faults.js';
import { MODEL } from '../keeping/model.js';
import { like } from '../keeping/replies.js';

const FORCE = { force: { type: 'boolean' } };

export async function reservations(app) {
  const { service, replies, store } = app.deps;

  app.post('/harvests/:harvest/reservations', { config: { op: 'create reservation', body: true } }, async (request, reply) =>
    app.once(request, reply, async () => {
      const { harvest } = request.params;
      const row = service.parent(request, 'harvest', harvest);
      let unchecked = false;
      if (broken('er-race') && Number.isInteger(request.json?.weight_g)) {
        if (MODEL.harvest.fields.left_g.derive(row, store) < request.json.weight_g) refuse('too_much');
        await delay(30);
        unchecked = true;
      }
      const made = service.create(request, 'reservation', request.json, { bound: { harvest }, unchecked });
      return replies.made(request, 'reservation', made.row);
    }),
  );

  app.get('/harvests/:harvest/reservations', { config: { op: 'list reservation', list: true } }, async (request) => {
    const { harvest } = request.params;
    service.parent(request, 'harvest', harvest);
    return replies.page(
      request,
      'reservation',
      service.list(request, 'list reservation', 'reservation', (row) => row.harvest === harvest),
    );
  });

  app.get(
    '/reservations',
    { config: { op: 'own reservations', list: true, query: { state: like('reservation', 'state') } } },
    async (request) => {
      const { state } = request.parameters;
      return replies.page(
        request,
        'reservation',
        service.list(request, 'own reservations', 'reservation', (row) => state === undefined || row.state === state),
        ['created_at', -1],
      );
    },
  );

  app.get('/reservations/:id', { config: { op: 'read reservation' } }, async (request) =>
    replies.shown(request, 'reservation', service.load(request, 'read reservation', 'reservation', request.params.id)),
  );

  app.post('/reservations/:id/confirm', { config: { op: 'confirm reservation' } }, async (request) =>
    replies.shown(request, 'reservation', service.move(request, 'reservation', request.params.id, 'confirm')),
  );

  app.post(
    '/reservations/:id/withdraw',
    { config: { op: 'withdraw reservation', body: broken('en-withdraw-body') ? true : 'optional' } },
    async (request) =>
      replies.shown(
        request,
        'reservation',
        service.move(request, 'reservation', request.params.id, 'withdraw', request.json, FORCE),
      ),
  );
}
