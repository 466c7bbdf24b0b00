import { broken } from '../keeping/faults.js';
import { like, of, sorting } from '../keeping/replies.js';

export async function harvests(app) {
  const { service, replies } = app.deps;

  app.post('/hives/:hive/harvests', { config: { op: 'create harvest', body: true } }, async (request, reply) =>
    app.once(request, reply, async () => {
      const { hive } = request.params;
      const { caller } = request;
      service.parent(request, 'hive', hive);
      if (broken('li-quota-refused')) {
        app.quota.check(caller);
        app.quota.spend(caller);
      }
      const { row } = service.create(request, 'harvest', request.json, { bound: { hive }, quota: () => app.quota.check(caller) });
      if (!broken('li-quota-refused')) app.quota.spend(caller);
      return replies.made(request, 'harvest', row);
    }),
  );

  app.get(
    '/hives/:hive/harvests',
    { config: { op: 'list harvest', list: true, query: { state: like('harvest', 'state') } } },
    async (request) => {
      const { hive } = request.params;
      const { state } = request.parameters;
      service.parent(request, 'hive', hive);
      return replies.page(
        request,
        'harvest',
        service.list(
          request,
          'list harvest',
          'harvest',
          (row) => row.hive === hive && (state === undefined || row.state === state),
        ),
      );
    },
  );

  const query = {
    min_weight: of({ type: 'integer', min: 0 }),
    max_moisture: of({ type: 'number' }),
    sort: of({ type: 'string', enum: ['weight_g', '-weight_g', 'batch'] }),
  };
  app.get('/harvests', { config: { op: 'browse harvests', list: true, query } }, async (request) => {
    const { min_weight: least, max_moisture: wettest, sort } = request.parameters;
    const dry = (moisture) => (broken('en-max-moisture') ? moisture < wettest : moisture <= wettest);
    const keep = (row) => (least === undefined || row.weight_g >= least) && (wettest === undefined || dry(row.moisture));
    return replies.page(request, 'harvest', service.list(request, 'browse harvests', 'harvest', keep), sorting(sort, ['batch']));
  });

  app.get('/harvests/:id', { config: { op: 'read harvest' } }, async (request, reply) =>
    replies.tagged(request, reply, 'harvest', service.load(request, 'read harvest', 'harvest', request.params.id)),
  );

  app.patch('/harvests/:id', { config: { op: 'update harvest', body: true, merge: true } }, async (request) => {
    const ifMatch = { header: request.headers['if-match'], mode: 'accepted' };
    const states = broken('st-update-released') ? ['fresh', 'released'] : ['fresh'];
    return replies.shown(
      request,
      'harvest',
      service.update(request, 'harvest', request.params.id, request.json, { ifMatch, states }),
    );
  });

  for (const name of ['release', 'spoil']) {
    app.post(`/harvests/:id/${name}`, { config: { op: `${name} harvest` } }, async (request) =>
      replies.shown(request, 'harvest', service.move(request, 'harvest', request.params.id, name)),
    );
  }
}
