import { broken } from '../keeping/faults.js';
import { of } from '../keeping/replies.js';

export async function yards(app) {
  const { service, replies } = app.deps;

  app.get('/remedies', { config: { op: 'list remedies', public: true } }, async () =>
    broken('en-remedies') ? { remedies: ['oxalic', 'formic'] } : { remedies: ['oxalic', 'formic', 'thymol'] },
  );

  if (!broken('pu-no-create-yard'))
    app.post('/yards', { config: { op: 'create yard', body: true } }, async (request, reply) => {
      const { row, made } = service.create(request, 'yard', request.json, { exists: true });
      if (!made) return reply.send(replies.shown(request, 'yard', row));
      const { status, headers, body } = replies.made(request, 'yard', row);
      return reply
        .code(broken('en-exists-status') ? 200 : status)
        .headers(headers)
        .send(body);
    });

  app.get(
    '/yards',
    { config: { op: 'list yard', list: true, query: broken('en-extra-parameter') ? { name: of({ type: 'string' }) } : {} } },
    async (request) =>
      replies.page(request, 'yard', service.list(request, 'list yard', 'yard'), [
        'created_at',
        broken('en-order-yards') ? 1 : -1,
      ]),
  );

  app.get('/yards/:id', { config: { op: 'read yard' } }, async (request, reply) => {
    const row = service.load(request, 'read yard', 'yard', request.params.id);
    if (!broken('en-cache')) reply.header('cache-control', 'private, no-cache');
    return replies.tagged(request, reply, 'yard', row);
  });

  app.patch('/yards/:id', { config: { op: 'update yard', body: true, merge: true } }, async (request) => {
    const ifMatch = { header: request.headers['if-match'], mode: broken('en-if-match-yard') ? 'accepted' : 'required' };
    return replies.shown(request, 'yard', service.update(request, 'yard', request.params.id, request.json, { ifMatch }));
  });

  app.delete('/yards/:id', { config: { op: 'delete yard' } }, async (request, reply) => {
    service.remove(request, 'yard', request.params.id);
    return broken('en-delete-200') ? reply.code(200).send({}) : reply.code(204).send();
  });
}
