import { broken } from '../keeping/faults.js';
import { like, of } from '../keeping/replies.js';

export async function inspections(app) {
  const { service, replies } = app.deps;

  app.post('/hives/:hive/inspections', { config: { op: 'create inspection', body: true } }, async (request, reply) => {
    const { hive } = request.params;
    service.parent(request, 'hive', hive);
    const { row } = service.create(request, 'inspection', request.json, { bound: { hive } });
    const { status, headers, body } = replies.made(request, 'inspection', row);
    return reply.code(status).headers(headers).send(body);
  });

  const query = { visited_from: of({ type: 'string', format: 'date' }), mood: like('inspection', 'mood') };
  app.get('/hives/:hive/inspections', { config: { op: 'list inspection', list: true, query } }, async (request) => {
    const { hive } = request.params;
    const { visited_from: from, mood } = request.parameters;
    service.parent(request, 'hive', hive);
    const since = (day) => (broken('en-visited-from') ? day <= from : day >= from);
    const keep = (row) =>
      row.hive === hive && (from === undefined || since(row.visited_on)) && (mood === undefined || row.mood === mood);
    return replies.page(request, 'inspection', service.list(request, 'list inspection', 'inspection', keep), ['visited_on', -1]);
  });

  app.get('/inspections/:id', { config: { op: 'read inspection' } }, async (request) =>
    replies.shown(request, 'inspection', service.load(request, 'read inspection', 'inspection', request.params.id)),
  );

  app.patch('/inspections/:id', { config: { op: 'update inspection', body: true, merge: true } }, async (request) =>
    replies.shown(request, 'inspection', service.update(request, 'inspection', request.params.id, request.json)),
  );

  if (!broken('pu-no-delete-inspection'))
    app.delete('/inspections/:id', { config: { op: 'delete inspection' } }, async (request, reply) => {
      service.remove(request, 'inspection', request.params.id);
      return reply.code(204).send();
    });
}
