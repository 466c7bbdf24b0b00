import { code, want } from './kit.js';

const oldHarvest = async (w, hive, price = 9.5) =>
  (await w.anna.old().post(`/hives/${hive.id}/harvests`, { weight_g: 5000, price })).body;

export const versioning = [
  [
    've-header-name',
    'version selection',
    'service',
    'The version is read off X-Apiary-Version.',
    async (w) => want((await w.anna.old().get('/remedies')).headers.has('deprecation'), true),
  ],
  [
    've-default-old',
    'version selection',
    'service',
    'Who names no version gets the oldest.',
    async (w) => want((await w.yard()).capacity, 20),
  ],
  [
    've-unknown-current',
    'version selection',
    'service',
    'A version that there is not is served as the current one.',
    async (w) => code(await w.anna.get('/yards', { 'apiary-version': '2024-01' }), 400, 'unknown_version'),
  ],
  [
    've-vary',
    'version selection',
    'service',
    'Vary does not name the header of the version.',
    async (w) => want(/apiary-version/i.test((await w.anna.get('/yards')).headers.get('vary')), true),
  ],
  [
    've-deprecation',
    'deprecation rules',
    '2025-09',
    'The header Deprecation is missing.',
    async (w) => want((await w.anna.old().get('/yards')).headers.get('deprecation'), `@${Date.UTC(2026, 2, 1) / 1000}`),
  ],
  [
    've-sunset-header',
    'deprecation rules',
    '2025-09',
    'The header Sunset is missing.',
    async (w) => want((await w.anna.old().get('/yards')).headers.get('sunset'), 'Sat, 01 Mar 2031 00:00:00 GMT'),
  ],
  [
    've-link',
    'deprecation rules',
    '2025-09',
    'The header Link is missing.',
    async (w) => want((await w.anna.old().get('/yards')).headers.get('link')?.includes('<https://apiary.example/upgrade>'), true),
  ],
  [
    've-sunset-served',
    'deprecation rules',
    '2025-09',
    'The version is served beyond its sunset.',
    async (w) => {
      await w.moveTo('2031-03-01T00:00:01Z');
      code(await w.anna.old().get('/yards'), 410, 'version_gone');
    },
  ],
  [
    've-rename',
    'version identifiers',
    'service',
    'The old version has capacity instead of places.',
    async (w) => want((await w.anna.old().get(`/yards/${(await w.yard()).id}`)).body.places, 20),
  ],
  [
    've-violation-name',
    'version identifiers',
    'service',
    'A problem of the old version names the field of the new one.',
    async (w) => {
      const { body } = await w.anna.old().post('/yards', { register: w.register(), name: 'Orchard' });
      want(
        body.problems.map(({ path }) => path),
        ['/places'],
      );
    },
  ],
  [
    've-added-shown',
    'version identifiers',
    'service',
    'The old version shows the moisture, which was added later.',
    async (w) => {
      const { id } = await w.harvest(await w.active());
      want('moisture' in (await w.anna.old().get(`/harvests/${id}`)).body, false);
    },
  ],
  [
    've-added-default',
    'version identifiers',
    'service',
    'What the old version makes has a moisture of 18 instead of 18.5.',
    async (w) => {
      const { id } = await oldHarvest(w, await w.active());
      want((await w.anna.get(`/harvests/${id}`)).body.moisture, 18.5);
    },
  ],
  [
    've-colour',
    'version identifiers',
    'service',
    'The colour of a hive is missing from the old version.',
    async (w) => want((await w.anna.old().get(`/hives/${(await w.active()).id}`)).body.colour, 'white'),
  ],
  [
    've-price-down',
    'version identifiers',
    'service',
    'The old version shows the price in cents.',
    async (w) => {
      const { id } = await w.harvest(await w.active(), { price: 950 });
      want((await w.anna.old().get(`/harvests/${id}`)).body.price, 9.5);
    },
  ],
  [
    've-price-up',
    'version identifiers',
    'service',
    'The price of the old version is cut off instead of rounded.',
    async (w) => {
      const { id } = await oldHarvest(w, await w.active(), 9.876);
      want((await w.anna.get(`/harvests/${id}`)).body.price, 988);
    },
  ],
  [
    've-remedy',
    'version identifiers',
    'service',
    'The old version says oxalic instead of oxalic_acid.',
    async (w) =>
      want((await w.anna.old().get(`/treatments/${(await w.treatment(await w.active())).id}`)).body.remedy, 'oxalic_acid'),
  ],
  [
    've-endpoint-early',
    'version identifiers',
    'service',
    'The old version has GET /hives, which was added later.',
    async (w) => code(await w.ines.old().get('/hives'), 404, 'no_such_path'),
  ],
];
