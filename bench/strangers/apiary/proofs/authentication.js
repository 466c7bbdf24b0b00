import { CREDENTIALS, code, token, want } from './kit.js';

const mine = 'partner of a yard';
const shared = async (w) => {
  const yard = await w.yard({ partner: 'bert' });
  return { yard, hive: await w.active(yard) };
};
const bearing = (w, claims) =>
  w.nobody.get('/yards', { authorization: `Bearer ${token({ sub: 'tess', role: 'keeper', ...claims })}` });

export const authentication = [
  [
    'au-inspector-yards',
    'permission rules',
    'create yard',
    'Inspectors may make yards.',
    async (w) => code(await w.ines.post('/yards', w.yardBody()), 403, 'not_allowed'),
  ],
  [
    'au-partner-yard',
    'permission rules',
    'read yard',
    `The ${mine} does not see it.`,
    async (w) => want((await w.bert.get(`/yards/${(await shared(w)).yard.id}`)).status, 200),
  ],
  [
    'au-update-yard-partner',
    'permission rules',
    'update yard',
    `The ${mine} may change it.`,
    async (w) => code(await w.bert.change(`/yards/${(await shared(w)).yard.id}`, { name: 'Ours' }), 403, 'not_allowed'),
  ],
  [
    'au-delete-yard-partner',
    'permission rules',
    'delete yard',
    `The ${mine} may delete it.`,
    async (w) => code(await w.bert.del(`/yards/${(await w.yard({ partner: 'bert' })).id}`), 403, 'not_allowed'),
  ],
  [
    'au-create-hive-partner',
    'permission rules',
    'create hive',
    `The ${mine} may put hives into it.`,
    async (w) =>
      code(await w.bert.post(`/yards/${(await shared(w)).yard.id}/hives`, { kind: 'dadant', label: 'X' }), 403, 'not_allowed'),
  ],
  [
    'au-list-hive-partner',
    'permission rules',
    'list hive',
    `The ${mine} finds its list of hives empty.`,
    async (w) => want((await w.bert.get(`/yards/${(await shared(w)).yard.id}/hives`)).body.total, 1),
  ],
  [
    'au-survey-keeper',
    'permission rules',
    'survey hives',
    'Keepers may survey hives, too.',
    async (w) => code(await w.anna.get('/hives'), 403, 'not_allowed'),
  ],
  [
    'au-quarantine-scope',
    'permission rules',
    'quarantine hive',
    'The scope vet is not asked for.',
    async (w) =>
      code(await w.ivan.post(`/hives/${(await w.active()).id}/quarantine`, { reason: 'foulbrood' }), 403, 'not_allowed'),
  ],
  [
    'au-diary-partner',
    'permission rules',
    'list entry',
    `The ${mine} finds the diary empty.`,
    async (w) => {
      const { hive } = await shared(w);
      await w.anna.post(`/treatments/${(await w.treatment(hive)).id}/apply`);
      want((await w.bert.get(`/hives/${hive.id}/diary`)).body.total, 1);
    },
  ],
  [
    'au-update-inspection',
    'permission rules',
    'update inspection',
    'An inspector may change what another filed.',
    async (w) =>
      code(
        await w.ivan.patch(`/inspections/${(await w.inspection(await w.active())).id}`, { mood: 'angry' }),
        403,
        'not_allowed',
      ),
  ],
  [
    'au-delete-inspection',
    'permission rules',
    'delete inspection',
    'An inspector may delete what another filed.',
    async (w) => code(await w.ivan.del(`/inspections/${(await w.inspection(await w.active())).id}`), 403, 'not_allowed'),
  ],
  [
    'au-treatment-partner',
    'permission rules',
    'create treatment',
    `The ${mine} may not plan a treatment.`,
    async (w) => void (await w.treatment((await shared(w)).hive, {}, w.bert)),
  ],
  [
    'au-apply-by',
    'permission rules',
    'apply treatment',
    'Who planned a treatment as a partner may not apply it.',
    async (w) => {
      const { id } = await w.treatment((await shared(w)).hive, {}, w.bert);
      want((await w.bert.post(`/treatments/${id}/apply`)).status, 200);
    },
  ],
  [
    'au-cancel-owner',
    'permission rules',
    'cancel treatment',
    'The owner may cancel what a partner planned.',
    async (w) => {
      const { id } = await w.treatment((await shared(w)).hive, {}, w.bert);
      code(await w.anna.post(`/treatments/${id}/cancel`), 403, 'not_allowed');
    },
  ],
  [
    'au-release-partner',
    'permission rules',
    'release harvest',
    `The ${mine} may release its honey.`,
    async (w) => {
      const { id } = await w.harvest((await shared(w)).hive);
      code(await w.bert.post(`/harvests/${id}/release`), 403, 'not_allowed');
    },
  ],
  [
    'au-spoil-inspector',
    'permission rules',
    'spoil harvest',
    'An inspector with the scope vet may not call honey spoiled.',
    async (w) => {
      const { id } = await w.harvest(await w.active());
      want((await w.ines.post(`/harvests/${id}/spoil`)).status, 200);
    },
  ],
  [
    'au-grocer-fresh',
    'permission rules',
    'read harvest',
    'A grocer can read a harvest that is not released.',
    async (w) => code(await w.greg.get(`/harvests/${(await w.harvest(await w.active())).id}`), 404, 'not_found'),
  ],
  [
    'au-browse-fresh',
    'permission rules',
    'browse harvests',
    'Fresh harvests are among those that grocers browse.',
    async (w) => {
      await w.harvest(await w.active());
      want((await w.greg.get('/harvests')).body.total, 0);
    },
  ],
  [
    'au-own-all',
    'permission rules',
    'own reservations',
    'A grocer sees the reservations of others in the list.',
    async (w) => {
      await w.reservation(await w.released());
      want((await w.gina.get('/reservations')).body.total, 0);
    },
  ],
  [
    'au-reservations-partner',
    'permission rules',
    'list reservation',
    `The ${mine} sees the reservations of its harvests in the list.`,
    async (w) => {
      const harvest = await w.released((await shared(w)).hive);
      await w.reservation(harvest);
      want((await w.bert.get(`/harvests/${harvest.id}/reservations`)).body.total, 0);
    },
  ],
  [
    'au-read-hook',
    'permission rules',
    'read hook',
    'Hooks of others can be read.',
    async (w) => {
      const { hook } = await w.subscribe(w.anna);
      code(await w.bert.get(`/hooks/${hook.id}`), 404, 'not_found');
    },
  ],
  [
    'au-missing-hidden',
    'permission rules',
    'read yard',
    'A yard that one may not read is forbidden instead of missing.',
    async (w) => code(await w.carl.get(`/yards/${(await w.yard()).id}`), 404, 'not_found'),
  ],
  [
    'au-parent-unread',
    'permission rules',
    'list hive',
    'The yard in the path need not be one that the caller may read.',
    async (w) => code(await w.carl.get(`/yards/${(await w.yard()).id}/hives`), 404, 'not_found'),
  ],
  [
    'au-public',
    'schemes',
    'service',
    'The list of remedies asks for a credential.',
    async (w) => want((await w.nobody.get('/remedies')).status, 200),
  ],
  [
    'au-both',
    'schemes',
    'service',
    'With a key, the token beside it is not looked at.',
    async (w) => code(await w.anna.get('/yards', { authorization: 'Bearer no.thing.good' }), 401, 'who_are_you'),
  ],
  [
    'au-key-case',
    'token formats',
    'key',
    'Keys are compared without regard to case.',
    async (w) =>
      code(
        await w.nobody.get('/yards', { 'x-apiary-key': CREDENTIALS.anna['x-apiary-key'].toUpperCase().replace('APK', 'apk') }),
        401,
        'who_are_you',
      ),
  ],
  [
    'au-token-signature',
    'token formats',
    'token',
    'The signature of a token is not checked.',
    async (w) => {
      const good = CREDENTIALS.tess.authorization;
      const bad = good.slice(0, -8) + (good.at(-8) === 'A' ? 'B' : 'A') + good.slice(-7);
      code(await w.nobody.get('/yards', { authorization: bad }), 401, 'who_are_you');
    },
  ],
  [
    'au-token-issuer',
    'token formats',
    'token',
    'The issuer of a token is not checked.',
    async (w) => code(await bearing(w, { iss: 'https://id.other.example' }), 401, 'who_are_you'),
  ],
  [
    'au-token-audience',
    'token formats',
    'token',
    'The audience of a token is not checked.',
    async (w) => code(await bearing(w, { aud: 'orchard' }), 401, 'who_are_you'),
  ],
  [
    'au-token-expired',
    'token formats',
    'token',
    'Expired tokens are taken.',
    async (w) => code(await bearing(w, { exp: 1_600_000_000 }), 401, 'who_are_you'),
  ],
  [
    'au-token-scope',
    'token formats',
    'token',
    'The scopes of a token are lost.',
    async (w) => want((await w.theo.post(`/hives/${(await w.active()).id}/quarantine`, { reason: 'foulbrood' })).status, 200),
  ],
];
