import { broken } from './faults.js';

const id = { type: 'string', readOnly: true, required: true };
const time = { type: 'string', format: 'date-time', readOnly: true, required: true };
const text = (minLength, maxLength, more) => ({ type: 'string', minLength, maxLength, ...more });
const whole = (min, max, more) => ({ type: 'integer', min, max, ...more });
const derived = (type, derive, more) => ({ type, derive, readOnly: true, required: true, ...more });
const parent = (resource, onDelete, more) => ({
  type: 'string',
  ref: resource,
  onDelete,
  immutable: true,
  bound: true,
  required: true,
  ...more,
});
const sum = (rows, of) => rows.reduce((total, row) => total + of(row), 0);

/** What the service keeps. A derived field is reckoned of its row and of the rows that refer to it. */
export const MODEL = {
  yard: {
    prefix: 'yrd_',
    path: '/yards',
    fields: {
      id,
      owner: { ...id, set: { create: ({ caller }) => caller.id } },
      register: {
        type: 'string',
        pattern: broken('re-register-pattern') ? /^R[0-9]{6}/ : /^R[0-9]{6}$/,
        immutable: true,
        required: true,
      },
      name: text(broken('re-name-min') ? 1 : 2, broken('re-name-max') ? 59 : 60, { required: true }),
      partner: text(1, 40, { nullable: !broken('re-partner-null') }),
      spot: { type: 'object', of: 'spot' },
      capacity: whole(broken('re-capacity-zero') ? 0 : 1, broken('re-capacity-max') ? 61 : 60, { required: true }),
      hives_kept: derived(
        'integer',
        (row, store) =>
          store.children('hive', 'yard', row.id).filter((hive) => broken('re-hives-kept-retired') || hive.state !== 'retired')
            .length,
      ),
      honey_g: derived('integer', (row, store) =>
        sum(store.children('hive', 'yard', row.id), (hive) => MODEL.hive.fields.honey_g.derive(hive, store)),
      ),
      created_at: { ...time, set: { create: ({ now }) => now } },
      updated_at: { ...time, set: { write: ({ now }) => now } },
    },
    unique: [{ fields: ['register'] }],
  },
  spot: {
    fields: {
      lat: { type: 'number', min: -90, max: broken('re-spot-lat') ? 180 : 90, required: true },
      lon: { type: 'number', min: -180, max: 180, required: !broken('re-spot-lon-optional') },
    },
  },
  hive: {
    prefix: 'hiv_',
    path: '/hives',
    fields: {
      id,
      yard: parent('yard', 'restrict'),
      number: { type: 'integer', readOnly: true, required: true, counted: broken('re-number-everywhere') ? 'all' : 'yard' },
      kind: {
        type: 'string',
        enum: ['langstroth', 'dadant', 'topbar', ...(broken('re-kind-enum') ? ['warre'] : [])],
        required: true,
      },
      label: text(1, 30, { required: !broken('re-label-optional') }),
      queen_year: whole(2015, broken('re-queen-year') ? 2034 : 2035),
      note: text(undefined, 200, { visible: broken('re-note-seen') ? ['keeper', 'inspector'] : ['keeper'] }),
      state: {
        type: 'string',
        enum: ['building', 'active', 'wintering', 'quarantined', 'retired'],
        required: true,
        state: true,
        writableOn: 'update',
      },
      reason: { type: 'string', readOnly: true, set: { quarantine: ({ request }) => request.reason } },
      honey_g: derived('integer', (row, store) =>
        sum(
          store
            .children('harvest', 'hive', row.id)
            .filter((harvest) => broken('re-honey-spoiled') || harvest.state !== 'spoiled'),
          (harvest) => harvest.weight_g,
        ),
      ),
      mites_most: derived(
        'integer',
        (row, store) => {
          const mites = store.children('inspection', 'hive', row.id).map((inspection) => inspection.mites);
          if (broken('re-mites-most-zero')) return Math.max(0, ...mites);
          if (broken('re-mites-most-last')) return mites.at(-1);
          return mites.length > 0 ? Math.max(...mites) : undefined;
        },
        { required: false },
      ),
      treated: derived('boolean', (row, store) =>
        store
          .children('treatment', 'hive', row.id)
          .some(({ state }) => state === 'applied' || (broken('re-treated-planned') && state === 'planned')),
      ),
      created_at: { ...time, set: { create: ({ now }) => now } },
      updated_at: { ...time, set: { write: ({ now }) => now } },
    },
    unique: [
      {
        fields: broken('re-label-unique-all') ? ['label'] : ['yard', 'label'],
        while: broken('re-label-unique-retired') ? undefined : (row) => row.state !== 'retired',
      },
    ],
  },
  inspection: {
    prefix: 'ins_',
    path: '/inspections',
    fields: {
      id,
      hive: parent('hive', broken('re-cascade-inspections') ? 'restrict' : 'cascade'),
      inspector: { ...id, set: { create: ({ caller }) => caller.id } },
      visited_on: { type: 'string', format: broken('re-visited-format') ? undefined : 'date', required: true },
      mood: {
        type: 'string',
        enum: ['calm', 'nervous', 'angry'],
        default: broken('re-mood-default') ? 'nervous' : 'calm',
        required: true,
      },
      mites: whole(0, 1000, { required: true }),
      sample: whole(1, 1000, { required: true }),
      percent: derived('number', (row) => {
        const percent = (row.mites * 100) / row.sample;
        return broken('re-percent-whole') ? Math.round(percent) : percent;
      }),
      remark: text(undefined, 300, { nullable: true }),
      created_at: { ...time, set: { create: ({ now }) => now } },
    },
    rules: [
      {
        field: 'mites',
        if: (next) => (broken('re-mites-rule') ? next.mites >= next.sample : next.mites > next.sample),
        on: broken('re-mites-rule-update') ? ['create'] : ['create', 'update'],
        message: 'no more than the bees of the sample',
      },
    ],
  },
  treatment: {
    prefix: 'trt_',
    path: '/treatments',
    fields: {
      id,
      hive: parent('hive', 'restrict'),
      by: { ...id, set: { create: ({ caller }) => caller.id } },
      remedy: { type: 'string', enum: ['oxalic', 'formic', 'thymol'], required: true },
      dose_ml: whole(1, 500, { required: true }),
      state: {
        type: 'string',
        readOnly: true,
        required: true,
        state: true,
        enum: ['planned', 'applied', 'cleared', 'cancelled'],
      },
      applied_at: { ...time, required: false, set: { apply: ({ now }) => now } },
      clears_at: {
        ...time,
        required: false,
        set: { apply: ({ at }) => new Date(at + (broken('re-clears-at') ? 13 : 14) * 86_400_000).toISOString() },
      },
      created_at: { ...time, set: { create: ({ now }) => now } },
    },
  },
  harvest: {
    prefix: 'hrv_',
    path: '/harvests',
    fields: {
      id,
      hive: parent('hive', 'restrict'),
      batch: {
        type: 'string',
        readOnly: true,
        required: true,
        counted: 'all',
        as: (number) => `H-${String(number).padStart(broken('re-batch-width') ? 4 : 5, '0')}`,
      },
      weight_g: whole(100, 50_000, { required: true }),
      moisture: { type: 'number', min: broken('re-moisture-min') ? 10.5 : 10, max: 30, required: true },
      price: whole(0, 100_000, { required: true, visible: broken('re-price-seen') ? undefined : ['keeper', 'grocer'] }),
      state: { type: 'string', readOnly: true, required: true, state: true, enum: ['fresh', 'released', 'spoiled'] },
      left_g: derived('integer', (row, store) => {
        const counted = broken('re-left-confirmed')
          ? ['held']
          : ['held', 'confirmed', ...(broken('re-left-lapsed') ? ['lapsed'] : [])];
        return (
          row.weight_g -
          sum(
            store.children('reservation', 'harvest', row.id).filter(({ state }) => counted.includes(state)),
            (one) => one.weight_g,
          )
        );
      }),
      released_at: { ...time, required: false, set: { release: ({ now }) => now } },
      created_at: { ...time, set: { create: ({ now }) => now } },
      updated_at: { ...time, set: { write: ({ now }) => now } },
    },
  },
  reservation: {
    prefix: 'rsv_',
    path: '/reservations',
    fields: {
      id,
      harvest: parent('harvest', 'restrict'),
      grocer: { ...id, set: { create: ({ caller }) => caller.id } },
      weight_g: whole(50, 50_000, { multipleOf: broken('re-reservation-step') ? 25 : 50, required: true }),
      code: {
        type: 'string',
        readOnly: true,
        required: true,
        once: !broken('re-code-again'),
        random: broken('re-code-length') ? 6 : 8,
      },
      state: {
        type: 'string',
        readOnly: true,
        required: true,
        state: true,
        enum: ['held', 'confirmed', 'withdrawn', 'lapsed', 'dropped'],
      },
      created_at: { ...time, set: { create: ({ now }) => now } },
    },
  },
  entry: {
    prefix: 'ent_',
    fields: {
      id,
      hive: parent('hive', 'cascade', { readOnly: true }),
      topic: { type: 'string', enum: ['treatment', 'quarantine'], readOnly: true, required: true },
      text: { ...id },
      at: { ...time, set: { create: ({ now }) => now } },
    },
  },
  hook: {
    prefix: 'hk_',
    path: '/hooks',
    fields: {
      id,
      owner: { ...id, set: { create: ({ caller }) => caller.id } },
      url: { type: 'string', format: 'uri', required: true },
      events: { type: 'array', maxItems: broken('re-events-max') ? 21 : 20, items: { type: 'string' }, kinds: true },
      enabled: { type: 'boolean', default: true, required: true },
      secret: { type: 'string', readOnly: true, required: true, once: !broken('re-secret-again'), secret: true },
      created_at: { ...time, set: { create: ({ now }) => now } },
    },
  },
};

/** Who refers to a resource: [resource, field, what a deletion does]. */
export const referrers = (resource) =>
  Object.entries(MODEL).flatMap(([name, { fields }]) =>
    Object.entries(fields)
      .filter(([, field]) => field.ref === resource)
      .map(([field, { onDelete }]) => [name, field, onDelete]),
  );
