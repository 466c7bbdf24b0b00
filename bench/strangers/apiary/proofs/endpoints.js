import { code, want, wants } from './kit.js';

const keyed = (key) => ({ 'idempotency-key': key });
const reserve = (w, { id }, weight_g, key, who = w.greg) => who.post(`/harvests/${id}/reservations`, { weight_g }, keyed(key));
const harvested = (w, { id }, key, more, who = w.anna) => who.post(`/hives/${id}/harvests`, w.harvestBody(more), keyed(key));
const visits = async (w) => {
  const hive = await w.active();
  for (const visited_on of ['2026-05-01', '2026-06-01', '2026-07-01']) await w.inspection(hive, { visited_on });
  return hive;
};

export const endpoints = [
  [
    'en-remedies',
    'response payload shapes',
    'GET /remedies',
    'Thymol is left out of the remedies.',
    async (w) => want((await w.nobody.get('/remedies')).body, { remedies: ['oxalic', 'formic', 'thymol'] }),
  ],
  [
    'en-created-200',
    'response payload shapes',
    'POST /hives/{hive}/inspections',
    'An inspection that was made is answered with 200.',
    async (w) => void (await w.inspection(await w.active())),
  ],
  [
    'en-delete-200',
    'response payload shapes',
    'DELETE /yards/{id}',
    'A deletion is answered with 200 and an empty map.',
    async (w) => want((await w.anna.del(`/yards/${(await w.yard()).id}`)).status, 204),
  ],
  [
    'en-location',
    'response payload shapes',
    'POST /hives/{hive}/treatments',
    'The Location of a new treatment is missing.',
    async (w) => {
      const { headers, body } = await w.anna.post(`/hives/${(await w.active()).id}/treatments`, { remedy: 'oxalic', dose_ml: 1 });
      want(headers.get('location'), `/api/treatments/${body.id}`);
    },
  ],
  [
    'en-cache',
    'response payload shapes',
    'GET /yards/{id}',
    'Cache-Control is missing.',
    async (w) => want((await w.anna.get(`/yards/${(await w.yard()).id}`)).headers.get('cache-control'), 'private, no-cache'),
  ],
  [
    'en-etag-missing',
    'response payload shapes',
    'GET /harvests/{id}',
    'A harvest is told without its ETag.',
    async (w) =>
      want(/^"[^"]+"$/.test((await w.anna.get(`/harvests/${(await w.harvest(await w.active())).id}`)).headers.get('etag')), true),
  ],
  [
    'en-etag-derived',
    'response payload shapes',
    'GET /hives/{id}',
    'The ETag stays as it was when derived numbers change.',
    async (w) => {
      const hive = await w.active();
      const tag = async () => (await w.anna.get(`/hives/${hive.id}`)).headers.get('etag');
      const before = await tag();
      await w.harvest(hive);
      want((await tag()) === before, false);
    },
  ],
  [
    'en-if-match-yard',
    'parameters',
    'PATCH /yards/{id}',
    'If-Match may be left out.',
    async (w) => code(await w.anna.patch(`/yards/${(await w.yard()).id}`, { name: 'Meadow' }), 428, 'if_match_missing'),
  ],
  [
    'en-if-match-hive',
    'parameters',
    'PATCH /hives/{id}',
    'If-Match may be left out.',
    async (w) => code(await w.anna.patch(`/hives/${(await w.active()).id}`, { label: 'West' }), 428, 'if_match_missing'),
  ],
  [
    'en-if-match-harvest',
    'parameters',
    'PATCH /harvests/{id}',
    'An If-Match that is sent is not looked at.',
    async (w) =>
      code(
        await w.anna.patch(`/harvests/${(await w.harvest(await w.active())).id}`, { weight_g: 9000 }, { 'if-match': '"old"' }),
        412,
        'changed_meanwhile',
      ),
  ],
  [
    'en-exists-refused',
    'response payload shapes',
    'POST /yards',
    'A register that is there already is refused, though the yard is the caller’s own.',
    async (w) => {
      const body = w.yardBody();
      const { id } = (await w.anna.post('/yards', body)).body;
      const again = await w.anna.post('/yards', body);
      want([again.status, again.body.id], [200, id]);
    },
  ],
  [
    'en-exists-overwrites',
    'response payload shapes',
    'POST /yards',
    'A creation that finds its yard changes the name of it.',
    async (w) => {
      const body = w.yardBody();
      await w.anna.post('/yards', body);
      want((await w.anna.post('/yards', { ...body, name: 'Another' })).body.name, 'Orchard');
    },
  ],
  [
    'en-exists-status',
    'response payload shapes',
    'POST /yards',
    'A yard that was made is answered with 200 like one that was found.',
    async (w) => void (await w.yard()),
  ],
  [
    'en-order-yards',
    'response payload shapes',
    'GET /yards',
    'The oldest yards come first.',
    async (w) => {
      const first = await w.yard();
      await w.move('5s');
      const second = await w.yard();
      want(
        (await w.anna.get('/yards')).body.rows.map(({ id }) => id),
        [second.id, first.id],
      );
    },
  ],
  [
    'en-extra-parameter',
    'parameters',
    'GET /yards',
    'A parameter `name` that is not stated is taken.',
    async (w) => code(await w.anna.get('/yards?name=Orchard'), 400, 'bad_parameter'),
  ],
  [
    'en-unknown-parameter',
    'parameters',
    'GET /hives',
    'Parameters that there are not are passed over.',
    async (w) => code(await w.ines.get('/hives?colour=red'), 400, 'bad_parameter'),
  ],
  [
    'en-filter-state',
    'parameters',
    'GET /yards/{yard}/hives',
    'The filter of states is turned round.',
    async (w) => {
      const yard = await w.yard();
      const { id } = await w.hive(yard);
      await w.active(yard);
      want(
        (await w.anna.get(`/yards/${yard.id}/hives?state=building`)).body.rows.map((row) => row.id),
        [id],
      );
    },
  ],
  [
    'en-list-all-yards',
    'response payload shapes',
    'GET /yards/{yard}/hives',
    'The hives of all yards are listed at each.',
    async (w) => {
      const yard = await w.yard();
      await w.hive(await w.yard());
      want((await w.anna.get(`/yards/${yard.id}/hives`)).body.total, 0);
    },
  ],
  [
    'en-queen-from',
    'parameters',
    'GET /hives',
    'queen_from leaves out the very year.',
    async (w) => {
      await w.hive(await w.yard(), { queen_year: 2024 });
      want((await w.ines.get('/hives?queen_from=2024')).body.total, 1);
    },
  ],
  [
    'en-sort-down',
    'parameters',
    'GET /harvests',
    'Sorting downwards sorts upwards.',
    async (w) => {
      const hive = await w.active();
      for (const weight_g of [5000, 9000]) await w.released(hive, { weight_g });
      want(
        (await w.greg.get('/harvests?sort=-weight_g')).body.rows.map((row) => row.weight_g),
        [9000, 5000],
      );
    },
  ],
  [
    'en-max-moisture',
    'parameters',
    'GET /harvests',
    'max_moisture leaves out the bound itself.',
    async (w) => {
      await w.released(undefined, { moisture: 18 });
      want((await w.greg.get('/harvests?max_moisture=18')).body.total, 1);
    },
  ],
  [
    'en-visited-from',
    'parameters',
    'GET /hives/{hive}/inspections',
    'visited_from gives the visits up to that day.',
    async (w) =>
      want(
        (await w.ines.get(`/hives/${(await visits(w)).id}/inspections?visited_from=2026-06-01`)).body.rows.map(
          (row) => row.visited_on,
        ),
        ['2026-07-01', '2026-06-01'],
      ),
  ],
  [
    'en-reason-min',
    'request payload shapes',
    'POST /hives/{id}/quarantine',
    'An empty reason is taken.',
    async (w) => code(await w.ines.post(`/hives/${(await w.active()).id}/quarantine`, { reason: '' }), 422, 'invalid'),
  ],
  [
    'en-reason-optional',
    'request payload shapes',
    'POST /hives/{id}/quarantine',
    'The reason may be left out.',
    async (w) => code(await w.ines.post(`/hives/${(await w.active()).id}/quarantine`, {}), 422, 'invalid'),
  ],
  [
    'en-withdraw-body',
    'request payload shapes',
    'POST /reservations/{id}/withdraw',
    'The body, which is optional, must be there.',
    async (w) => want((await w.greg.post(`/reservations/${(await w.reservation(await w.released())).id}/withdraw`)).status, 200),
  ],
  [
    'en-parent-in-body',
    'request payload shapes',
    'POST /yards/{yard}/hives',
    'Another yard in the body than in the path is passed over.',
    async (w) => {
      const [yard, other] = [await w.yard(), await w.yard()];
      code(await w.anna.post(`/yards/${yard.id}/hives`, { kind: 'dadant', label: 'East', yard: other.id }), 422, 'invalid');
    },
  ],
  [
    'en-null-required',
    'request payload shapes',
    'PATCH /inspections/{id}',
    'Null takes away a required field.',
    async (w) =>
      code(await w.ines.patch(`/inspections/${(await w.inspection(await w.active())).id}`, { mood: null }), 422, 'invalid'),
  ],
  [
    'en-merge-nested',
    'request payload shapes',
    'PATCH /yards/{id}',
    'A map within the patch replaces that of the row instead of being merged.',
    async (w) => {
      const { id } = await w.yard({ spot: { lat: 1, lon: 2 } });
      wants((await w.anna.change(`/yards/${id}`, { spot: { lat: 5 } })).body, { spot: { lat: 5, lon: 2 } });
    },
  ],
  [
    'en-merge-type',
    'request payload shapes',
    'PATCH /harvests/{id}',
    'application/merge-patch+json is refused.',
    async (w) => {
      const { id } = await w.harvest(await w.active());
      want(
        (await w.anna.patch(`/harvests/${id}`, { weight_g: 9000 }, { 'content-type': 'application/merge-patch+json' })).status,
        200,
      );
    },
  ],
  [
    'en-media',
    'request payload shapes',
    'POST /yards',
    'A body of text/plain is read as JSON.',
    async (w) => code(await w.anna.post('/yards', w.yardBody(), { 'content-type': 'text/plain' }), 415, 'unsupported_type'),
  ],
  [
    'en-accept',
    'response payload shapes',
    'GET /yards',
    'Who accepts XML alone gets JSON.',
    async (w) => code(await w.anna.get('/yards', { accept: 'text/xml' }), 406, 'not_acceptable'),
  ],
  [
    'en-method-missing',
    'methods',
    'service',
    'A method that a path has not is answered like a path that is not there.',
    async (w) => code(await w.raw('PUT', '/api/yards', {}), 405, 'no_such_method'),
  ],
  [
    'en-update-nothing',
    'response payload shapes',
    'PATCH /yards/{id}',
    'An update that changes nothing moves updated_at.',
    async (w) => {
      const yard = await w.yard();
      await w.move('5s');
      want((await w.anna.change(`/yards/${yard.id}`, { name: 'Orchard' })).body.updated_at, yard.updated_at);
    },
  ],
  [
    'en-key-forgotten',
    'parameters',
    'POST /hives/{hive}/harvests',
    'Idempotency keys are forgotten after an hour.',
    async (w) => {
      const hive = await w.active();
      const { id } = (await harvested(w, hive, 'k')).body;
      await w.move('20h');
      want((await harvested(w, hive, 'k')).body.id, id);
    },
  ],
  [
    'en-key-shared',
    'parameters',
    'POST /harvests/{harvest}/reservations',
    'Keys of all callers are kept together.',
    async (w) => {
      const harvest = await w.released();
      const first = (await reserve(w, harvest, 500, 'k')).body;
      const second = (await reserve(w, harvest, 500, 'k', w.gina)).body;
      want([second.grocer, second.id === first.id], ['gina', false]);
    },
  ],
  [
    'en-key-path',
    'parameters',
    'POST /hives/{hive}/harvests',
    'The path is no part of the fingerprint: a key for another hive is replayed.',
    async (w) => {
      const yard = await w.yard();
      await harvested(w, await w.active(yard), 'k');
      code(await harvested(w, await w.active(yard), 'k'), 422, 'key_reused');
    },
  ],
  [
    'en-key-reused',
    'parameters',
    'POST /hives/{hive}/harvests',
    'A key that comes with another body is answered with what was before.',
    async (w) => {
      const hive = await w.active();
      await harvested(w, hive, 'k');
      code(await harvested(w, hive, 'k', { weight_g: 7000 }), 422, 'key_reused');
    },
  ],
  [
    'en-replay-runs',
    'parameters',
    'POST /harvests/{harvest}/reservations',
    'A replay makes another reservation.',
    async (w) => {
      const harvest = await w.released();
      await reserve(w, harvest, 500, 'k');
      await reserve(w, harvest, 500, 'k');
      want((await w.greg.get('/reservations')).body.total, 1);
    },
  ],
  [
    'en-replay-status',
    'response payload shapes',
    'POST /hives/{hive}/harvests',
    'A replay is answered with 200 instead of 201.',
    async (w) => {
      const hive = await w.active();
      await harvested(w, hive, 'k');
      want((await harvested(w, hive, 'k')).status, 201);
    },
  ],
  [
    'en-replay-once',
    'response payload shapes',
    'POST /harvests/{harvest}/reservations',
    'A replay shows the code again.',
    async (w) => {
      const harvest = await w.released();
      await reserve(w, harvest, 500, 'k');
      want('code' in (await reserve(w, harvest, 500, 'k')).body, false);
    },
  ],
  [
    'en-error-not-kept',
    'parameters',
    'POST /harvests/{harvest}/reservations',
    'An error of the service’s own is not kept under its key.',
    async (w) => {
      const harvest = await w.released(undefined, { weight_g: 1000 });
      const { id } = await w.reservation(harvest, 1000);
      code(await reserve(w, harvest, 500, 'k'), 409, 'too_much');
      await w.greg.post(`/reservations/${id}/withdraw`);
      code(await reserve(w, harvest, 500, 'k'), 409, 'too_much');
    },
  ],
];
