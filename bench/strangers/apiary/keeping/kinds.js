import { broken } from './faults.js';

/** The kinds of event: the operations that emit one, the resource it is about, when, what it carries, and to whom. */
export const EVENTS = [
  { kind: 'yard.created', on: broken('ev-yard-update') ? ['create yard', 'update yard'] : ['create yard'], resource: 'yard' },
  { kind: 'hive.updated', on: ['update hive'], resource: 'hive' },
  {
    kind: 'hive.quarantined',
    on: ['quarantine hive'],
    resource: 'hive',
    wrap: (hive, request) => (broken('ev-payload-reason') ? { hive } : { hive, reason: request.reason }),
  },
  { kind: 'hive.lifted', on: broken('ev-lifted-silent') ? [] : ['lift hive'], resource: 'hive' },
  {
    kind: 'inspection.filed',
    on: broken('ev-filed-on-update') ? ['create inspection', 'update inspection'] : ['create inspection'],
    resource: 'inspection',
  },
  { kind: 'treatment.applied', on: ['apply treatment'], resource: 'treatment' },
  {
    kind: 'treatment.cleared',
    on: broken('ev-cleared-on-cancel') ? ['clear treatment', 'cancel treatment'] : ['clear treatment'],
    resource: 'treatment',
  },
  {
    kind: 'harvest.big',
    on: ['create harvest'],
    resource: 'harvest',
    if: (next) => (broken('ev-big-bound') ? next.weight_g > 20_000 : next.weight_g >= 20_000),
  },
  { kind: 'harvest.released', on: ['release harvest'], resource: 'harvest' },
  { kind: 'harvest.spoiled', on: ['spoil harvest'], resource: 'harvest' },
  {
    kind: 'reservation.placed',
    on: ['create reservation'],
    resource: 'reservation',
    to: (hook, next, store) =>
      broken('ev-placed-to-all') || hook.owner === store.up('reservation', next, 'harvest', 'hive', 'yard').owner,
  },
  { kind: 'reservation.confirmed', on: ['confirm reservation'], resource: 'reservation' },
  { kind: 'reservation.lapsed', on: ['lapse reservation'], resource: 'reservation' },
];

/** Whether a subscriber's pattern is `*`, `hive.*` or a kind that is there. */
export const knownKind = (pattern) =>
  pattern === '*' ||
  EVENTS.some(({ kind }) => kind === pattern || (pattern.endsWith('.*') && kind.startsWith(pattern.slice(0, -1))));

export const wants = (patterns, kind) =>
  patterns === undefined
    ? !broken('ev-absent-none')
    : patterns.some(
        (pattern) => pattern === '*' || pattern === kind || (pattern.endsWith('.*') && kind.startsWith(pattern.slice(0, -1))),
      );
