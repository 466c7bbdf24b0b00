import { code, want } from './kit.js';

const state = async (who, path) => (await who.get(path)).body.state;
const retire = (w, hive) => w.anna.change(`/hives/${hive.id}`, { state: 'retired' });

export const states = [
  [
    'st-hive-initial',
    'states',
    'hive',
    'A hive is active from the start.',
    async (w) => want((await w.hive(await w.yard())).state, 'building'),
  ],
  [
    'st-winter-building',
    'transitions',
    'hive',
    'A hive that is still building can go into winter.',
    async (w) =>
      code(await w.anna.change(`/hives/${(await w.hive(await w.yard())).id}`, { state: 'wintering' }), 409, 'wrong_state'),
  ],
  [
    'st-winter-guard',
    'transitions',
    'hive',
    'A hive under treatment can go into winter.',
    async (w) => {
      const hive = await w.active();
      await w.anna.post(`/treatments/${(await w.treatment(hive)).id}/apply`);
      code(await w.anna.change(`/hives/${hive.id}`, { state: 'wintering' }), 409, 'under_treatment');
    },
  ],
  [
    'st-retire-building',
    'transitions',
    'hive',
    'A hive that is building cannot be retired.',
    async (w) => want((await retire(w, await w.hive(await w.yard()))).status, 200),
  ],
  [
    'st-retire-then',
    'transitions',
    'hive',
    'Planned treatments of a retired hive stay planned.',
    async (w) => {
      const hive = await w.active();
      const { id } = await w.treatment(hive);
      want((await retire(w, hive)).body.state, 'retired');
      want(await state(w.anna, `/treatments/${id}`), 'cancelled');
    },
  ],
  [
    'st-quarantine-again',
    'transitions',
    'hive',
    'A hive under quarantine can be put under quarantine again.',
    async (w) => {
      const { id } = await w.active();
      want((await w.ines.post(`/hives/${id}/quarantine`, { reason: 'foulbrood' })).status, 200);
      code(await w.ines.post(`/hives/${id}/quarantine`, { reason: 'foulbrood' }), 409, 'wrong_state');
    },
  ],
  [
    'st-quarantine-then',
    'transitions',
    'hive',
    'Honey of a hive under quarantine is not spoiled.',
    async (w) => {
      const hive = await w.active();
      const { id } = await w.harvest(hive);
      await w.ines.post(`/hives/${hive.id}/quarantine`, { reason: 'foulbrood' });
      want(await state(w.anna, `/harvests/${id}`), 'spoiled');
    },
  ],
  [
    'st-quarantine-diary',
    'transitions',
    'hive',
    'A quarantine leaves no line in the diary.',
    async (w) => {
      const { id } = await w.active();
      await w.ines.post(`/hives/${id}/quarantine`, { reason: 'foulbrood' });
      want(
        (await w.anna.get(`/hives/${id}/diary`)).body.rows.map(({ topic, text }) => [topic, text]),
        [['quarantine', 'foulbrood']],
      );
    },
  ],
  [
    'st-lift-building',
    'transitions',
    'hive',
    'A hive comes out of quarantine as building.',
    async (w) => {
      const { id } = await w.active();
      await w.ines.post(`/hives/${id}/quarantine`, { reason: 'foulbrood' });
      await w.move('22d');
      want(await state(w.anna, `/hives/${id}`), 'active');
    },
  ],
  [
    'st-lift-after',
    'transitions',
    'hive',
    'A quarantine ends after 20 days.',
    async (w) => {
      const { id } = await w.active();
      await w.ines.post(`/hives/${id}/quarantine`, { reason: 'foulbrood' });
      await w.move('495h');
      want(await state(w.anna, `/hives/${id}`), 'quarantined');
    },
  ],
  [
    'st-apply-retired',
    'transitions',
    'treatment',
    'A treatment can be applied to a retired hive.',
    async (w) => {
      const hive = await w.active();
      await retire(w, hive);
      const { id } = await w.treatment(hive);
      code(await w.anna.post(`/treatments/${id}/apply`), 409, 'hive_retired');
    },
  ],
  [
    'st-apply-topic',
    'transitions',
    'treatment',
    'A treatment is written into the diary as a quarantine.',
    async (w) => {
      const hive = await w.active();
      await w.anna.post(`/treatments/${(await w.treatment(hive)).id}/apply`);
      want(
        (await w.anna.get(`/hives/${hive.id}/diary`)).body.rows.map(({ topic }) => topic),
        ['treatment'],
      );
    },
  ],
  [
    'st-clear-never',
    'transitions',
    'treatment',
    'A treatment is never cleared by the clock.',
    async (w) => {
      const { id } = await w.treatment(await w.active());
      await w.anna.post(`/treatments/${id}/apply`);
      await w.move('15d');
      want(await state(w.anna, `/treatments/${id}`), 'cleared');
    },
  ],
  [
    'st-cancel-applied',
    'transitions',
    'treatment',
    'A treatment that was applied can be cancelled.',
    async (w) => {
      const { id } = await w.treatment(await w.active());
      await w.anna.post(`/treatments/${id}/apply`);
      code(await w.anna.post(`/treatments/${id}/cancel`), 409, 'already_applied');
    },
  ],
  [
    'st-release-spoiled',
    'transitions',
    'harvest',
    'A spoiled harvest can be released.',
    async (w) => {
      const { id } = await w.harvest(await w.active());
      await w.anna.post(`/harvests/${id}/spoil`);
      code(await w.anna.post(`/harvests/${id}/release`), 409, 'wrong_state');
    },
  ],
  [
    'st-release-bound',
    'transitions',
    'harvest',
    'Honey of exactly 20 percent water is not released.',
    async (w) => void (await w.released(undefined, { moisture: 20 })),
  ],
  [
    'st-spoil-then',
    'transitions',
    'harvest',
    'Reservations of a spoiled harvest stay held.',
    async (w) => {
      const harvest = await w.released();
      const { id } = await w.reservation(harvest);
      await w.anna.post(`/harvests/${harvest.id}/spoil`);
      want(await state(w.greg, `/reservations/${id}`), 'dropped');
    },
  ],
  [
    'st-drop-confirmed',
    'transitions',
    'reservation',
    'A confirmed reservation of a spoiled harvest stays confirmed.',
    async (w) => {
      const harvest = await w.released();
      const { id } = await w.reservation(harvest);
      await w.anna.post(`/reservations/${id}/confirm`);
      await w.anna.post(`/harvests/${harvest.id}/spoil`);
      want(await state(w.greg, `/reservations/${id}`), 'dropped');
    },
  ],
  [
    'st-confirm-lapsed',
    'transitions',
    'reservation',
    'A lapsed reservation can be confirmed.',
    async (w) => {
      const { id } = await w.reservation(await w.released());
      await w.move('49h');
      code(await w.anna.post(`/reservations/${id}/confirm`), 409, 'not_held');
    },
  ],
  [
    'st-withdraw-force',
    'transitions',
    'reservation',
    'A confirmed reservation is withdrawn without force.',
    async (w) => {
      const { id } = await w.reservation(await w.released());
      await w.anna.post(`/reservations/${id}/confirm`);
      code(await w.greg.post(`/reservations/${id}/withdraw`), 409, 'not_held');
    },
  ],
  [
    'st-lapse-confirmed',
    'transitions',
    'reservation',
    'A confirmed reservation lapses like one that is held.',
    async (w) => {
      const { id } = await w.reservation(await w.released());
      await w.anna.post(`/reservations/${id}/confirm`);
      await w.move('60h');
      want(await state(w.greg, `/reservations/${id}`), 'confirmed');
    },
  ],
  [
    'st-lapse-after',
    'transitions',
    'reservation',
    'A reservation lapses an hour late.',
    async (w) => {
      const { id } = await w.reservation(await w.released());
      await w.move('48h');
      await w.move('2s');
      want(await state(w.greg, `/reservations/${id}`), 'lapsed');
    },
  ],
  [
    'st-update-retired',
    'transitions',
    'hive',
    'A retired hive can still be changed.',
    async (w) => {
      const hive = await w.active();
      await retire(w, hive);
      code(await w.anna.change(`/hives/${hive.id}`, { note: 'gone' }), 409, 'wrong_state');
    },
  ],
  [
    'st-delete-active',
    'transitions',
    'hive',
    'An active hive can be deleted.',
    async (w) => code(await w.anna.del(`/hives/${(await w.active()).id}`), 409, 'wrong_state'),
  ],
  [
    'st-update-released',
    'transitions',
    'harvest',
    'A released harvest can still be changed.',
    async (w) => code(await w.anna.patch(`/harvests/${(await w.released()).id}`, { weight_g: 9000 }), 409, 'wrong_state'),
  ],
];
