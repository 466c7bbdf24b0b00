export async function hooks(app) {
  const { service, replies } = app.deps;

  app.post('/hooks', { config: { op: 'create hook', body: true } }, async (request, reply) => {
    const { row } = service.create(request, 'hook', request.json);
    const { status, headers, body } = replies.made(request, 'hook', row);
    return reply.code(status).headers(headers).send(body);
  });

  app.get('/hooks', { config: { op: 'list hook', list: true } }, async (request) =>
    replies.page(request, 'hook', service.list(request, 'list hook', 'hook')),
  );

  app.get('/hooks/:id', { config: { op: 'read hook' } }, async (request) =>
    replies.shown(request, 'hook', service.load(request, 'read hook', 'hook', request.params.id)),
  );

  app.patch('/hooks/:id', { config: { op: 'update hook', body: true, merge: true } }, async (request) =>
    replies.shown(request, 'hook', service.update(request, 'hook', request.params.id, request.json)),
  );

  app.delete('/hooks/:id', { config: { op: 'delete hook' } }, async (request, reply) => {
    service.remove(request, 'hook', request.params.id);
    return reply.code(204).send();
  });
}
