import { code, want, wants } from './kit.js';

const yards = (w, more) => w.anna.post('/yards', w.yardBody(more));
const body = (w, more) => ({ kind: 'dadant', label: `L${w.register()}`, ...more });
const file = (w, hive, more) =>
  w.ines.post(`/hives/${hive.id}/inspections`, { visited_on: '2026-05-01', mites: 3, sample: 300, ...more });

export const resources = [
  [
    're-register-pattern',
    'allowed values',
    'yard.register',
    'The pattern has no end, so R1234567 passes.',
    async (w) => code(await yards(w, { register: 'R1234567' }), 422, 'invalid'),
  ],
  [
    're-name-min',
    'allowed values',
    'yard.name',
    'A name of one character is taken.',
    async (w) => code(await yards(w, { name: 'a' }), 422, 'invalid'),
  ],
  [
    're-name-max',
    'allowed values',
    'yard.name',
    'The longest name has 59 characters instead of 60.',
    async (w) => want((await yards(w, { name: 'n'.repeat(60) })).status, 201),
  ],
  [
    're-partner-null',
    'types',
    'yard.partner',
    'A partner that is null is refused.',
    async (w) => want((await yards(w, { partner: null })).status, 201),
  ],
  [
    're-capacity-zero',
    'allowed values',
    'yard.capacity',
    'A yard may have a capacity of 0.',
    async (w) => code(await yards(w, { capacity: 0 }), 422, 'invalid'),
  ],
  [
    're-capacity-max',
    'allowed values',
    'yard.capacity',
    'The greatest capacity is 61, one too many.',
    async (w) => code(await yards(w, { capacity: 61 }), 422, 'invalid'),
  ],
  [
    're-hives-kept-retired',
    'types',
    'yard.hives_kept',
    'Retired hives are counted among those that are kept.',
    async (w) => {
      const yard = await w.yard();
      const hive = await w.hive(yard);
      want((await w.anna.change(`/hives/${hive.id}`, { state: 'retired' })).status, 200);
      want((await w.anna.get(`/yards/${yard.id}`)).body.hives_kept, 0);
    },
  ],
  [
    're-spot-lat',
    'allowed values',
    'spot.lat',
    'A latitude may go up to 180.',
    async (w) => code(await yards(w, { spot: { lat: 91, lon: 0 } }), 422, 'invalid'),
  ],
  [
    're-spot-lon-optional',
    'required flags',
    'spot.lon',
    'A spot may lack its longitude.',
    async (w) => code(await yards(w, { spot: { lat: 1 } }), 422, 'invalid'),
  ],
  [
    're-number-everywhere',
    'types',
    'hive.number',
    'Hives are numbered over all yards instead of within their own.',
    async (w) => {
      await w.hive(await w.yard());
      want((await w.hive(await w.yard())).number, 1);
    },
  ],
  [
    're-kind-enum',
    'allowed values',
    'hive.kind',
    'A kind that is not stated, warre, is taken.',
    async (w) => code(await w.anna.post(`/yards/${(await w.yard()).id}/hives`, body(w, { kind: 'warre' })), 422, 'invalid'),
  ],
  [
    're-label-optional',
    'required flags',
    'hive.label',
    'A hive can be made without a label.',
    async (w) => code(await w.anna.post(`/yards/${(await w.yard()).id}/hives`, { kind: 'dadant' }), 422, 'invalid'),
  ],
  [
    're-queen-year',
    'allowed values',
    'hive.queen_year',
    'A queen of 2035 is refused.',
    async (w) => void (await w.hive(await w.yard(), { queen_year: 2035 })),
  ],
  [
    're-note-seen',
    'field names',
    'hive',
    'An inspector sees the note, which is for keepers.',
    async (w) => {
      const hive = await w.hive(await w.yard(), { note: 'shy' });
      want(hive.note, 'shy');
      want('note' in (await w.ines.get(`/hives/${hive.id}`)).body, false);
    },
  ],
  [
    're-honey-spoiled',
    'types',
    'hive.honey_g',
    'Spoiled harvests are counted in the honey of a hive.',
    async (w) => {
      const hive = await w.active();
      const { id } = await w.harvest(hive);
      await w.anna.post(`/harvests/${id}/spoil`);
      want((await w.anna.get(`/hives/${hive.id}`)).body.honey_g, 0);
    },
  ],
  [
    're-mites-most-zero',
    'required flags',
    'hive.mites_most',
    'A hive that was never inspected shows 0 mites instead of none.',
    async (w) => want('mites_most' in (await w.hive(await w.yard())), false),
  ],
  [
    're-mites-most-last',
    'types',
    'hive.mites_most',
    'The last number of mites is shown instead of the greatest.',
    async (w) => {
      const hive = await w.active();
      await w.inspection(hive, { mites: 9 });
      await w.inspection(hive, { mites: 2 });
      want((await w.anna.get(`/hives/${hive.id}`)).body.mites_most, 9);
    },
  ],
  [
    're-treated-planned',
    'types',
    'hive.treated',
    'A hive counts as treated as soon as a treatment is planned.',
    async (w) => {
      const hive = await w.active();
      await w.treatment(hive);
      want((await w.anna.get(`/hives/${hive.id}`)).body.treated, false);
    },
  ],
  [
    're-label-unique-all',
    'field names',
    'hive',
    'Labels have to be unique over all yards.',
    async (w) => {
      await w.hive(await w.yard(), { label: 'East' });
      await w.hive(await w.yard(), { label: 'East' });
    },
  ],
  [
    're-label-unique-retired',
    'field names',
    'hive',
    'A retired hive keeps its label from being used again.',
    async (w) => {
      const yard = await w.yard();
      const hive = await w.hive(yard, { label: 'East' });
      await w.anna.change(`/hives/${hive.id}`, { state: 'retired' });
      await w.hive(yard, { label: 'East' });
    },
  ],
  [
    're-cascade-inspections',
    'field names',
    'inspection',
    'A hive with inspections cannot be deleted: they do not go with it.',
    async (w) => {
      const hive = await w.hive(await w.yard());
      await w.inspection(hive);
      want((await w.anna.del(`/hives/${hive.id}`)).status, 204);
    },
  ],
  [
    're-visited-format',
    'formats',
    'inspection.visited_on',
    'The day of a visit is not held to the format of a date.',
    async (w) => code(await file(w, await w.active(), { visited_on: '1 May' }), 422, 'invalid'),
  ],
  [
    're-mood-default',
    'allowed values',
    'inspection.mood',
    'The mood that is not sent becomes nervous.',
    async (w) => want((await w.inspection(await w.active())).mood, 'calm'),
  ],
  [
    're-percent-whole',
    'types',
    'inspection.percent',
    'The percentage is rounded to a whole number.',
    async (w) => want((await w.inspection(await w.active(), { mites: 1, sample: 8 })).percent, 12.5),
  ],
  [
    're-mites-rule',
    'field names',
    'inspection',
    'As many mites as bees are refused: the rule is off by one.',
    async (w) => want((await file(w, await w.active(), { mites: 300 })).status, 201),
  ],
  [
    're-mites-rule-update',
    'field names',
    'inspection',
    'The rule over mites and sample is forgotten on an update.',
    async (w) => {
      const { id } = await w.inspection(await w.active());
      code(await w.ines.patch(`/inspections/${id}`, { sample: 2 }), 422, 'invalid');
    },
  ],
  [
    're-clears-at',
    'types',
    'treatment.clears_at',
    'A treatment clears after 13 days.',
    async (w) => {
      const { id } = await w.treatment(await w.active());
      const { applied_at, clears_at } = (await w.anna.post(`/treatments/${id}/apply`)).body;
      want(Date.parse(clears_at) - Date.parse(applied_at), 14 * 86_400_000);
    },
  ],
  [
    're-batch-width',
    'types',
    'harvest.batch',
    'The number of a batch has four digits.',
    async (w) => want((await w.harvest(await w.active())).batch, 'H-00001'),
  ],
  [
    're-moisture-min',
    'allowed values',
    'harvest.moisture',
    'Honey of 10 percent water is refused.',
    async (w) => void (await w.harvest(await w.active(), { moisture: 10 })),
  ],
  [
    're-price-seen',
    'field names',
    'harvest',
    'An inspector sees the price.',
    async (w) => {
      const { id } = await w.harvest(await w.active());
      const answer = await w.ines.get(`/harvests/${id}`);
      want([answer.status, 'price' in answer.body], [200, false]);
    },
  ],
  [
    're-left-confirmed',
    'types',
    'harvest.left_g',
    'Honey of a confirmed reservation counts as left again.',
    async (w) => {
      const harvest = await w.released();
      const { id } = await w.reservation(harvest, 1000);
      want((await w.anna.post(`/reservations/${id}/confirm`)).status, 200);
      want((await w.anna.get(`/harvests/${harvest.id}`)).body.left_g, 9000);
    },
  ],
  [
    're-left-lapsed',
    'types',
    'harvest.left_g',
    'Honey of a lapsed reservation is not left again.',
    async (w) => {
      const harvest = await w.released();
      await w.reservation(harvest, 1000);
      await w.move('49h');
      want((await w.anna.get(`/harvests/${harvest.id}`)).body.left_g, 10_000);
    },
  ],
  [
    're-reservation-step',
    'allowed values',
    'reservation.weight_g',
    'Reservations go by 25 grams.',
    async (w) => code(await w.greg.post(`/harvests/${(await w.released()).id}/reservations`, { weight_g: 75 }), 422, 'invalid'),
  ],
  [
    're-code-again',
    'field names',
    'reservation',
    'The code is shown whenever a reservation is read.',
    async (w) => {
      const { id, code: secret } = await w.reservation(await w.released());
      want([typeof secret, 'code' in (await w.greg.get(`/reservations/${id}`)).body], ['string', false]);
    },
  ],
  [
    're-code-length',
    'types',
    'reservation.code',
    'The code has six characters.',
    async (w) => want(/^[A-Z0-9]{8}$/.test((await w.reservation(await w.released())).code), true),
  ],
  [
    're-secret-again',
    'field names',
    'hook',
    'The secret of a hook is shown in lists.',
    async (w) => {
      const { hook } = await w.subscribe(w.anna);
      want(hook.secret.startsWith('whsec_'), true);
      want(
        (await w.anna.get('/hooks')).body.rows.some((row) => 'secret' in row),
        false,
      );
    },
  ],
  [
    're-secret-length',
    'types',
    'hook.secret',
    'A secret has 24 bytes.',
    async (w) => want(Buffer.from((await w.subscribe(w.anna)).hook.secret.slice(6), 'base64').length, 32),
  ],
  [
    're-events-max',
    'allowed values',
    'hook.events',
    'A hook may list 21 kinds.',
    async (w) => code(await w.anna.post('/hooks', { url: 'http://127.0.0.1:9/', events: Array(21).fill('*') }), 422, 'invalid'),
  ],
  [
    're-events-unknown',
    'allowed values',
    'hook.events',
    'A kind of event that there is not is taken.',
    async (w) => code(await w.anna.post('/hooks', { url: 'http://127.0.0.1:9/', events: ['hive.swarmed'] }), 422, 'invalid'),
  ],
  [
    're-integer-text',
    'types',
    'yard.capacity',
    'Digits in a text are taken for a number.',
    async (w) => code(await yards(w, { capacity: '12' }), 422, 'invalid'),
  ],
  [
    're-unknown-field',
    'field names',
    'yard',
    'A field that there is not is passed over in silence.',
    async (w) => code(await yards(w, { colour: 'red' }), 422, 'invalid'),
  ],
  [
    're-read-only-owner',
    'field names',
    'yard',
    'The owner that is sent is stored.',
    async (w) => want((await yards(w, { owner: 'carl' })).body.owner, 'anna'),
  ],
  [
    're-immutable-register',
    'field names',
    'yard',
    'The register can be changed.',
    async (w) => {
      const { id } = await w.yard();
      code(await w.anna.change(`/yards/${id}`, { register: w.register() }), 422, 'invalid');
    },
  ],
  [
    're-restrict-retired',
    'field names',
    'hive',
    'A yard whose hives are all retired is deleted with them.',
    async (w) => {
      const yard = await w.yard();
      const hive = await w.hive(yard);
      await w.anna.change(`/hives/${hive.id}`, { state: 'retired' });
      code(await w.anna.del(`/yards/${yard.id}`), 409, 'in_use');
    },
  ],
  [
    're-updated-at',
    'types',
    'harvest.updated_at',
    'The time of the last change of a harvest stays that of its making.',
    async (w) => {
      const harvest = await w.harvest(await w.active());
      await w.move('5m');
      const { body: after } = await w.anna.patch(`/harvests/${harvest.id}`, { weight_g: 9000 });
      want(Date.parse(after.updated_at) - Date.parse(harvest.updated_at) >= 300_000, true);
    },
  ],
  [
    're-released-at',
    'types',
    'harvest.released_at',
    'The time of the release is not stored.',
    async (w) => wants({ ok: typeof (await w.released()).released_at }, { ok: 'string' }),
  ],
];
