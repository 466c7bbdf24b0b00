import { broken } from './faults.js';

const owns =
  (path, { partner = false } = {}) =>
  ({ store, resource, row, caller }) => {
    const yard = store.up(resource, row, ...path);
    return yard.owner === caller.id || (partner && yard.partner === caller.id);
  };
const partnerToo = { partner: true };
const mine =
  (field) =>
  ({ row, caller }) =>
    row[field] === caller.id;

const rule = (allow, to, when, scopes = []) => ({ allow, to: [to].flat(), scopes, when });

export const RULES = [
  rule(['create yard'], broken('au-inspector-yards') ? ['keeper', 'inspector'] : 'keeper'),
  rule(['read yard'], 'keeper', owns([], { partner: !broken('au-partner-yard') })),
  rule(['list yard'], 'keeper', owns([], partnerToo)),
  rule(
    ['update yard', ...(broken('au-delete-yard-partner') ? [] : ['delete yard'])],
    'keeper',
    owns([], { partner: broken('au-update-yard-partner') }),
  ),
  ...(broken('au-delete-yard-partner') ? [rule(['delete yard'], 'keeper', owns([], partnerToo))] : []),
  rule(['read yard', 'list yard'], 'inspector'),
  rule(['create hive'], 'keeper', broken('au-create-hive-partner') ? undefined : owns(['yard'])),
  rule(['read hive', ...(broken('au-list-hive-partner') ? [] : ['list hive'])], 'keeper', owns(['yard'], partnerToo)),
  ...(broken('au-list-hive-partner') ? [rule(['list hive'], 'keeper', owns(['yard']))] : []),
  rule(['update hive', 'delete hive'], 'keeper', owns(['yard'])),
  rule(['read hive', 'list hive', 'survey hives'], 'inspector'),
  ...(broken('au-survey-keeper') ? [rule(['survey hives'], 'keeper', owns(['yard']))] : []),
  rule(['quarantine hive'], 'inspector', undefined, broken('au-quarantine-scope') ? [] : ['vet']),
  rule(['list entry'], 'keeper', owns(['hive', 'yard'], { partner: !broken('au-diary-partner') })),
  rule(['list entry'], 'inspector'),
  rule(['create inspection', 'read inspection', 'list inspection'], 'inspector'),
  rule(['update inspection'], 'inspector', broken('au-update-inspection') ? undefined : mine('inspector')),
  rule(['delete inspection'], 'inspector', broken('au-delete-inspection') ? undefined : mine('inspector')),
  rule(['read inspection', 'list inspection'], 'keeper', owns(['hive', 'yard'], partnerToo)),
  rule(['create treatment'], 'keeper', owns(['hive', 'yard'], { partner: !broken('au-treatment-partner') })),
  rule(['read treatment', 'list treatment'], 'keeper', owns(['hive', 'yard'], partnerToo)),
  rule(
    ['apply treatment'],
    'keeper',
    (about) => owns(['hive', 'yard'])(about) || (about.row.by === about.caller.id && !broken('au-apply-by')),
  ),
  rule(['cancel treatment'], 'keeper', broken('au-cancel-owner') ? owns(['hive', 'yard'], partnerToo) : mine('by')),
  rule(['read treatment', 'list treatment'], 'inspector'),
  rule(['create harvest'], 'keeper', owns(['hive', 'yard'])),
  rule(['read harvest', 'list harvest'], 'keeper', owns(['hive', 'yard'], partnerToo)),
  rule(['update harvest', 'spoil harvest'], 'keeper', owns(['hive', 'yard'])),
  rule(['release harvest'], 'keeper', owns(['hive', 'yard'], { partner: broken('au-release-partner') })),
  rule(['read harvest', 'list harvest', ...(broken('au-spoil-inspector') ? [] : ['spoil harvest'])], 'inspector', undefined, [
    'vet',
  ]),
  rule(['read harvest'], 'grocer', broken('au-grocer-fresh') ? undefined : ({ row }) => row.state === 'released'),
  rule(
    ['browse harvests'],
    'grocer',
    broken('au-browse-fresh') ? ({ row }) => row.state !== 'spoiled' : ({ row }) => row.state === 'released',
  ),
  rule(['create reservation'], 'grocer'),
  rule(['read reservation', 'withdraw reservation'], 'grocer', mine('grocer')),
  rule(['own reservations'], 'grocer', broken('au-own-all') ? undefined : mine('grocer')),
  rule(['read reservation', 'confirm reservation'], 'keeper', owns(['harvest', 'hive', 'yard'])),
  rule(['list reservation'], 'keeper', owns(['harvest', 'hive', 'yard'], { partner: broken('au-reservations-partner') })),
  rule(['create hook'], ['keeper', 'inspector', 'grocer']),
  rule(['read hook'], ['keeper', 'inspector', 'grocer'], broken('au-read-hook') ? undefined : mine('owner')),
  rule(['update hook', 'delete hook'], ['keeper', 'inspector', 'grocer'], mine('owner')),
  rule(['list hook'], ['keeper', 'inspector', 'grocer'], mine('owner')),
];

/** The rules for this caller and operation, whatever the row. */
export const rulesFor = (caller, operation) =>
  RULES.filter(
    ({ allow, to, scopes }) =>
      allow.includes(operation) &&
      to.some((user) => caller.users.includes(user)) &&
      scopes.every((scope) => caller.scopes.includes(scope)),
  );

export const may = (store, caller, operation, resource, row) =>
  rulesFor(caller, operation).some(({ when }) => when === undefined || when({ store, resource, row, caller }));

/** Whether a caller may read a row: by its read rule, or its list rule where nothing reads it. */
export const mayRead = (store, caller, resource, row) =>
  may(store, caller, resource === 'entry' ? 'list entry' : `read ${resource}`, resource, row);
