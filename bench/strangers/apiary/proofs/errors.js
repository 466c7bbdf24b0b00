import { code, want } from './kit.js';

const treated = async (w) => {
  const hive = await w.active();
  want((await w.anna.post(`/treatments/${(await w.treatment(hive)).id}/apply`)).status, 200);
  return hive;
};
const reserve = (w, harvest, weight_g) => w.greg.post(`/harvests/${harvest.id}/reservations`, { weight_g });
const full = async (w, capacity = 1) => {
  const yard = await w.yard({ capacity });
  for (let i = 0; i < capacity; i++) await w.hive(yard);
  return w.anna.post(`/yards/${yard.id}/hives`, { kind: 'dadant', label: 'One more' });
};
const bad = (w) => w.anna.post('/yards', { register: 'X', name: 'a', capacity: 0 });

export const errors = [
  [
    'er-status-too-wet',
    'status codes',
    'too_wet',
    'too_wet is a 409.',
    async (w) =>
      code(await w.anna.post(`/harvests/${(await w.harvest(await w.active(), { moisture: 25 })).id}/release`), 422, 'too_wet'),
  ],
  [
    'er-status-exists',
    'status codes',
    'exists',
    'exists is a 400.',
    async (w) => {
      const body = w.yardBody();
      await w.anna.post('/yards', body);
      code(await w.carl.post('/yards', body), 409, 'exists');
    },
  ],
  [
    'er-status-in-use',
    'status codes',
    'in_use',
    'in_use is a 422.',
    async (w) => {
      const yard = await w.yard();
      await w.hive(yard);
      code(await w.anna.del(`/yards/${yard.id}`), 409, 'in_use');
    },
  ],
  [
    'er-status-precondition',
    'status codes',
    'changed_meanwhile',
    'A failed precondition is a 409.',
    async (w) =>
      code(
        await w.anna.patch(`/yards/${(await w.yard()).id}`, { name: 'Meadow' }, { 'if-match': '"old"' }),
        412,
        'changed_meanwhile',
      ),
  ],
  [
    'er-status-too-much',
    'status codes',
    'too_much',
    'too_much is a 422.',
    async (w) => code(await reserve(w, await w.released(), 20_000), 409, 'too_much'),
  ],
  [
    'er-family-quota',
    'error codes',
    'service',
    'too_many says that it is of the family state.',
    async (w) => {
      const harvest = await w.released();
      let answer;
      for (let i = 0; i < 50; i++) answer = await w.greg.post(`/harvests/${harvest.id}/reservations`, {});
      want([answer.status, answer.body.family], [429, 'limit']);
    },
  ],
  [
    'er-code-yard-full',
    'error codes',
    'service',
    'A full yard is told as a wrong state.',
    async (w) => code(await full(w), 409, 'yard_full'),
  ],
  [
    'er-code-not-held',
    'error codes',
    'service',
    'A reservation that is not held is told as a wrong state.',
    async (w) => {
      const { id } = await w.reservation(await w.released());
      await w.anna.post(`/reservations/${id}/confirm`);
      code(await w.anna.post(`/reservations/${id}/confirm`), 409, 'not_held');
    },
  ],
  [
    'er-payload-request',
    'error payload shapes',
    'service',
    'The id of the request is missing from errors.',
    async (w) => want(typeof (await w.anna.get('/nothing')).body.request, 'string'),
  ],
  [
    'er-payload-status',
    'error payload shapes',
    'service',
    'The status in an error is a text.',
    async (w) => want((await w.anna.get('/nothing')).body.status, 404),
  ],
  [
    'er-payload-expected',
    'error payload shapes',
    'service',
    'A problem says `reason` where it should say `expected`.',
    async (w) =>
      want(
        (await bad(w)).body.problems.every(({ expected }) => typeof expected === 'string'),
        true,
      ),
  ],
  [
    'er-first-problem',
    'error payload shapes',
    'service',
    'Only the first of several problems is told.',
    async (w) => want((await bad(w)).body.problems.map(({ path }) => path).sort(), ['/capacity', '/name', '/register']),
  ],
  [
    'er-yard-full-bound',
    'conditions',
    'yard_full',
    'A yard takes one hive more than its capacity.',
    async (w) => code(await full(w, 2), 409, 'yard_full'),
  ],
  [
    'er-under-treatment',
    'conditions',
    'under_treatment',
    'Honey can be taken of a hive under treatment.',
    async (w) => code(await w.anna.post(`/hives/${(await treated(w)).id}/harvests`, w.harvestBody()), 409, 'under_treatment'),
  ],
  [
    'er-at-rest-building',
    'conditions',
    'hive_at_rest',
    'Honey can be taken of a hive that is building.',
    async (w) =>
      code(await w.anna.post(`/hives/${(await w.hive(await w.yard())).id}/harvests`, w.harvestBody()), 409, 'hive_at_rest'),
  ],
  [
    'er-too-much-bound',
    'conditions',
    'too_much',
    'All that is left cannot be reserved.',
    async (w) => want((await reserve(w, await w.released(), 10_000)).status, 201),
  ],
  [
    'er-race',
    'conditions',
    'too_much',
    'What is left is looked at before another wait: of two at once, both get it.',
    async (w) => {
      const harvest = await w.released();
      const answers = await Promise.all([reserve(w, harvest, 6000), reserve(w, harvest, 6000)]);
      want(answers.map(({ status }) => status).sort(), [201, 409]);
    },
  ],
  [
    'er-forbidden-missing',
    'conditions',
    'not_allowed',
    'An inspection that may be read and not changed is told as missing.',
    async (w) =>
      code(
        await w.ivan.patch(`/inspections/${(await w.inspection(await w.active())).id}`, { mood: 'angry' }),
        403,
        'not_allowed',
      ),
  ],
];
