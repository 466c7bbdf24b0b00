import { broken } from '../keeping/faults.js';
import { like, of, sorting } from '../keeping/replies.js';

const REASON = {
  reason: { type: 'string', minLength: broken('en-reason-min') ? 0 : 3, maxLength: 120, required: !broken('en-reason-optional') },
};

export async function hives(app) {
  const { service, replies } = app.deps;

  app.post('/yards/:yard/hives', { config: { op: 'create hive', body: true } }, async (request, reply) => {
    const { yard } = request.params;
    service.parent(request, 'yard', yard);
    const { row } = service.create(request, 'hive', request.json, { bound: { yard } });
    const { status, headers, body } = replies.made(request, 'hive', row);
    return reply.code(status).headers(headers).send(body);
  });

  app.get(
    '/yards/:yard/hives',
    { config: { op: 'list hive', list: true, query: { state: like('hive', 'state'), kind: like('hive', 'kind') } } },
    async (request) => {
      const { yard } = request.params;
      const { state, kind } = request.parameters;
      service.parent(request, 'yard', yard);
      const keep = (row) =>
        (row.yard === yard || broken('en-list-all-yards')) &&
        (state === undefined || (row.state === state) !== broken('en-filter-state')) &&
        (kind === undefined || row.kind === kind);
      return replies.page(request, 'hive', service.list(request, 'list hive', 'hive', keep), ['number']);
    },
  );

  const survey = {
    state: like('hive', 'state'),
    queen_from: of({ type: 'integer' }),
    sort: of({ type: 'string', enum: ['created_at', '-created_at', 'number', '-number'] }),
  };
  if (!broken('pu-no-survey'))
    app.get('/hives', { config: { op: 'survey hives', list: true, query: survey } }, async (request) => {
      const { state, queen_from: from, sort } = request.parameters;
      const young = (year) => year !== undefined && (broken('en-queen-from') ? year > from : year >= from);
      const keep = (row) => (state === undefined || row.state === state) && (from === undefined || young(row.queen_year));
      return replies.page(
        request,
        'hive',
        service.list(request, 'survey hives', 'hive', keep),
        sorting(sort, ['created_at', -1]),
      );
    });

  app.get('/hives/:id', { config: { op: 'read hive' } }, async (request, reply) =>
    replies.tagged(request, reply, 'hive', service.load(request, 'read hive', 'hive', request.params.id)),
  );

  app.patch('/hives/:id', { config: { op: 'update hive', body: true, merge: true } }, async (request) => {
    const ifMatch = { header: request.headers['if-match'], mode: 'required' };
    const states = ['building', 'active', 'wintering', ...(broken('st-update-retired') ? ['retired'] : [])];
    return replies.shown(request, 'hive', service.update(request, 'hive', request.params.id, request.json, { ifMatch, states }));
  });

  app.delete('/hives/:id', { config: { op: 'delete hive' } }, async (request, reply) => {
    service.remove(request, 'hive', request.params.id, {
      states: ['building', 'retired', ...(broken('st-delete-active') ? ['active'] : [])],
    });
    return reply.code(204).send();
  });

  app.post('/hives/:id/quarantine', { config: { op: 'quarantine hive', body: true } }, async (request) =>
    replies.shown(request, 'hive', service.move(request, 'hive', request.params.id, 'quarantine', request.json, REASON)),
  );

  app.get(
    '/hives/:hive/diary',
    { config: { op: 'list entry', list: true, query: { topic: like('entry', 'topic') } } },
    async (request) => {
      const { hive } = request.params;
      const { topic } = request.parameters;
      service.parent(request, 'hive', hive);
      return replies.page(
        request,
        'entry',
        service.list(request, 'list entry', 'entry', (row) => row.hive === hive && (topic === undefined || row.topic === topic)),
      );
    },
  );
}
