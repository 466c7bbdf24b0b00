import { DAY, HOUR } from './clock.js';
import { broken } from './faults.js';

const under = (treated) => (treated ? 'under_treatment' : undefined);

/** The machines: what leads where, by whom, and what follows. `else` is the error of a wrong state, `guard` gives one or none. */
export const MACHINES = {
  hive: {
    initial: broken('st-hive-initial') ? 'active' : 'building',
    transitions: {
      settle: { from: ['building'], to: 'active', on: 'update hive' },
      winter: {
        from: broken('st-winter-building') ? ['active', 'building'] : ['active'],
        to: 'wintering',
        on: 'update hive',
        guard: ({ derived }) => (broken('st-winter-guard') ? undefined : under(derived('treated'))),
      },
      wake: { from: ['wintering'], to: 'active', on: 'update hive' },
      retire: {
        from: broken('st-retire-building') ? ['active', 'wintering'] : ['building', 'active', 'wintering'],
        to: 'retired',
        on: 'update hive',
        follows: broken('st-retire-then') ? [] : [{ do: 'cancel', each: ['treatment', 'hive'], skip: true }],
      },
      quarantine: {
        from: broken('st-quarantine-again')
          ? ['building', 'active', 'wintering', 'quarantined']
          : ['building', 'active', 'wintering'],
        to: 'quarantined',
        follows: [
          ...(broken('st-quarantine-then') ? [] : [{ do: 'spoil', each: ['harvest', 'hive'], skip: true }]),
          ...(broken('st-quarantine-diary')
            ? []
            : [{ create: 'entry', set: (next, request) => ({ hive: next.id, topic: 'quarantine', text: request.reason }) }]),
        ],
      },
      lift: {
        from: ['quarantined'],
        to: broken('st-lift-building') ? 'building' : 'active',
        after: (broken('st-lift-after') ? 20 : 21) * DAY,
      },
    },
  },
  treatment: {
    initial: 'planned',
    transitions: {
      apply: {
        from: ['planned'],
        to: 'applied',
        guard: ({ up }) => (up('hive').state === 'retired' && !broken('st-apply-retired') ? 'hive_retired' : undefined),
        follows: [
          {
            create: 'entry',
            set: (next) => ({ hive: next.hive, topic: broken('st-apply-topic') ? 'quarantine' : 'treatment', text: next.remedy }),
          },
        ],
      },
      clear: {
        from: ['applied'],
        to: 'cleared',
        at: (row) => (broken('st-clear-never') ? undefined : Date.parse(row.clears_at)),
      },
      cancel: {
        from: broken('st-cancel-applied') ? ['planned', 'applied'] : ['planned'],
        to: 'cancelled',
        else: 'already_applied',
      },
    },
  },
  harvest: {
    initial: 'fresh',
    transitions: {
      release: {
        from: broken('st-release-spoiled') ? ['fresh', 'spoiled'] : ['fresh'],
        to: 'released',
        guard: ({ row }) => ((broken('st-release-bound') ? row.moisture < 20 : row.moisture <= 20) ? undefined : 'too_wet'),
      },
      spoil: {
        from: ['fresh', 'released'],
        to: 'spoiled',
        follows: broken('st-spoil-then') ? [] : [{ do: 'drop', each: ['reservation', 'harvest'], skip: true }],
      },
    },
  },
  reservation: {
    initial: 'held',
    transitions: {
      confirm: { from: broken('st-confirm-lapsed') ? ['held', 'lapsed'] : ['held'], to: 'confirmed', else: 'not_held' },
      withdraw: {
        from: ['held', 'confirmed'],
        to: 'withdrawn',
        guard: ({ row, request }) =>
          row.state === 'held' || request?.force === true || broken('st-withdraw-force') ? undefined : 'not_held',
      },
      lapse: {
        from: broken('st-lapse-confirmed') ? ['held', 'confirmed'] : ['held'],
        to: 'lapsed',
        after: (broken('st-lapse-after') ? 49 : 48) * HOUR,
      },
      drop: { from: broken('st-drop-confirmed') ? ['held'] : ['held', 'confirmed'], to: 'dropped' },
    },
  },
};

/** The transition that an update to a state is, if one leads there from here. */
export const moveTo = (resource, from, to) =>
  Object.entries(MACHINES[resource].transitions).find(
    ([, move]) => move.on === `update ${resource}` && move.from.includes(from) && move.to === to,
  )?.[0];
