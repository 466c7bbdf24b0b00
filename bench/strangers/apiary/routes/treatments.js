import { like } from '../keeping/replies.js';

export async function treatments(app) {
  const { service, replies } = app.deps;

  app.post('/hives/:hive/treatments', { config: { op: 'create treatment', body: true } }, async (request, reply) => {
    const { hive } = request.params;
    service.parent(request, 'hive', hive);
    const { row } = service.create(request, 'treatment', request.json, { bound: { hive } });
    const { status, headers, body } = replies.made(request, 'treatment', row);
    return reply.code(status).headers(headers).send(body);
  });

  const query = { remedy: like('treatment', 'remedy'), state: like('treatment', 'state') };
  app.get('/hives/:hive/treatments', { config: { op: 'list treatment', list: true, query } }, async (request) => {
    const { hive } = request.params;
    const { remedy, state } = request.parameters;
    service.parent(request, 'hive', hive);
    const keep = (row) =>
      row.hive === hive && (remedy === undefined || row.remedy === remedy) && (state === undefined || row.state === state);
    return replies.page(request, 'treatment', service.list(request, 'list treatment', 'treatment', keep));
  });

  app.get('/treatments/:id', { config: { op: 'read treatment' } }, async (request) =>
    replies.shown(request, 'treatment', service.load(request, 'read treatment', 'treatment', request.params.id)),
  );

  for (const name of ['apply', 'cancel']) {
    app.post(`/treatments/:id/${name}`, { config: { op: `${name} treatment` } }, async (request) =>
      replies.shown(request, 'treatment', service.move(request, 'treatment', request.params.id, name)),
    );
  }
}
