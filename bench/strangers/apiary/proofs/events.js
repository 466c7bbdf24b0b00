import { delay, signatureOf, want } from './kit.js';

const fails = (count) => (n) => (n <= count ? 500 : 200);

export const events = [
  [
    'ev-yard-update',
    'emitting operations',
    'yard.created',
    'An update of a yard tells yard.created again.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created']);
      const { id } = await w.yard();
      await w.anna.change(`/yards/${id}`, { name: 'Meadow' });
      await w.told(sink, 1);
    },
  ],
  [
    'ev-update-nothing',
    'emitting operations',
    'hive.updated',
    'An update that changes nothing tells hive.updated.',
    async (w) => {
      const hive = await w.active();
      const sink = await w.subscribe(w.anna, ['hive.updated']);
      want((await w.anna.change(`/hives/${hive.id}`, { label: hive.label })).status, 200);
      await w.told(sink, 0);
    },
  ],
  [
    'ev-payload-reason',
    'payload shapes',
    'hive.quarantined',
    'The reason is missing from the payload.',
    async (w) => {
      const hive = await w.active();
      const sink = await w.subscribe(w.anna, ['hive.quarantined']);
      await w.ines.post(`/hives/${hive.id}/quarantine`, { reason: 'foulbrood' });
      const [{ body }] = await w.told(sink, 1);
      want([body.hive.id, body.reason], [hive.id, 'foulbrood']);
    },
  ],
  [
    'ev-lifted-silent',
    'emitting operations',
    'hive.lifted',
    'What the clock does is not told: hive.lifted never comes.',
    async (w) => {
      const { id } = await w.active();
      const sink = await w.subscribe(w.anna, ['hive.lifted']);
      await w.ines.post(`/hives/${id}/quarantine`, { reason: 'foulbrood' });
      await w.move('22d');
      await w.told(sink, 1);
    },
  ],
  [
    'ev-filed-on-update',
    'emitting operations',
    'inspection.filed',
    'A change of an inspection is told as a filing.',
    async (w) => {
      const hive = await w.active();
      const sink = await w.subscribe(w.ines, ['inspection.*']);
      const { id } = await w.inspection(hive);
      await w.ines.patch(`/inspections/${id}`, { mood: 'angry' });
      await w.told(sink, 1);
    },
  ],
  [
    'ev-cleared-on-cancel',
    'emitting operations',
    'treatment.cleared',
    'A cancelled treatment is told as cleared.',
    async (w) => {
      const hive = await w.active();
      const sink = await w.subscribe(w.anna, ['treatment.cleared']);
      await w.anna.post(`/treatments/${(await w.treatment(hive)).id}/cancel`);
      await w.told(sink, 0);
    },
  ],
  [
    'ev-big-bound',
    'emitting operations',
    'harvest.big',
    'A harvest of exactly 20000 grams is not big.',
    async (w) => {
      const hive = await w.active();
      const sink = await w.subscribe(w.anna, ['harvest.big']);
      await w.harvest(hive, { weight_g: 20_000 });
      await w.told(sink, 1);
    },
  ],
  [
    'ev-twice',
    'emitting operations',
    'harvest.released',
    'A release is told twice, as two events.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['harvest.released']);
      await w.released();
      await w.told(sink, 1);
    },
  ],
  [
    'ev-before-commit',
    'emitting operations',
    'harvest.released',
    'A release is told before it is checked, so one that is refused is told, too.',
    async (w) => {
      const { id } = await w.harvest(await w.active(), { moisture: 25 });
      const sink = await w.subscribe(w.anna, ['harvest.released']);
      await w.anna.post(`/harvests/${id}/release`);
      await w.told(sink, 0);
    },
  ],
  [
    'ev-spoiled-grocer',
    'kinds of event',
    'service',
    'Grocers are told of spoiled harvests, which they may not read.',
    async (w) => {
      const sink = await w.subscribe(w.greg, ['harvest.*']);
      const { id } = await w.released();
      await w.told(sink, 1);
      await w.anna.post(`/harvests/${id}/spoil`);
      await w.told(sink, 1);
    },
  ],
  [
    'ev-placed-to-all',
    'emitting operations',
    'reservation.placed',
    'Reservations are told to every subscriber, not to the owner of the yard alone.',
    async (w) => {
      const sink = await w.subscribe(w.carl, ['reservation.placed']);
      await w.reservation(await w.released());
      await w.told(sink, 0);
    },
  ],
  [
    'ev-code-told',
    'payload shapes',
    'reservation.placed',
    'The payload shows the code, which is revealed once.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['reservation.placed']);
      await w.reservation(await w.released());
      want('code' in (await w.told(sink, 1))[0].body, false);
    },
  ],
  [
    'ev-payload-hidden',
    'payload shapes',
    'hive.updated',
    'The note, which inspectors may not see, is told to them.',
    async (w) => {
      const hive = await w.active(undefined, { note: 'shy' });
      const sink = await w.subscribe(w.ines, ['hive.updated']);
      await w.anna.change(`/hives/${hive.id}`, { label: 'West' });
      want('note' in (await w.told(sink, 1))[0].body, false);
    },
  ],
  [
    'ev-version',
    'payload shapes',
    'yard.created',
    'A subscriber of the old version is told in the new one.',
    async (w) => {
      const sink = await w.subscribe(w.anna.old(), ['yard.created']);
      await w.yard();
      const [{ body }] = await w.told(sink, 1);
      want([body.places, 'capacity' in body], [20, false]);
    },
  ],
  [
    'ev-absent-none',
    'delivery mechanism',
    'service',
    'A hook without events is told nothing.',
    async (w) => {
      const sink = await w.subscribe(w.anna);
      await w.yard();
      await w.told(sink, 1);
    },
  ],
  [
    'ev-disabled',
    'delivery mechanism',
    'service',
    'A hook that is not enabled is told all the same.',
    async (w) => {
      const sink = await w.subscribe(w.anna, undefined, undefined, { enabled: false });
      await w.yard();
      await w.told(sink, 0);
    },
  ],
  [
    'ev-signature',
    'delivery mechanism',
    'service',
    'The time is left out of what is signed.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created']);
      await w.yard();
      const [delivery] = await w.told(sink, 1);
      want(delivery.headers['webhook-signature'], signatureOf(delivery, sink.hook.secret));
    },
  ],
  [
    'ev-header',
    'delivery mechanism',
    'service',
    'The header X-Apiary-Event is missing.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created']);
      await w.yard();
      want((await w.told(sink, 1))[0].headers['x-apiary-event'], 'yard.created');
    },
  ],
  [
    'ev-envelope-at',
    'delivery mechanism',
    'service',
    'The time in the envelope is a number.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created']);
      await w.yard();
      want(typeof (await w.told(sink, 1))[0].at, 'string');
    },
  ],
  [
    'ev-retry-never',
    'delivery mechanism',
    'service',
    'What fails is not tried again.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created'], fails(1));
      await w.yard();
      await w.told(sink, 1);
      await w.move('11s');
      await w.told(sink, 2);
    },
  ],
  [
    'ev-retry-late',
    'delivery mechanism',
    'service',
    'The first retry comes after 40 seconds.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created'], fails(1));
      await w.yard();
      await w.told(sink, 1);
      await w.move('15s');
      await w.told(sink, 2);
    },
  ],
  [
    'ev-retry-fewer',
    'delivery mechanism',
    'service',
    'The last of the four retries is not made.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created'], fails(9));
      await w.yard();
      await w.told(sink, 1);
      for (const [wait, count] of [
        ['11s', 2],
        ['61s', 3],
        ['601s', 4],
        ['3601s', 5],
      ]) {
        await w.move(wait);
        await w.told(sink, count);
      }
    },
  ],
  [
    'ev-retry-id',
    'delivery mechanism',
    'service',
    'Each try has an id of its own.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created'], fails(1));
      await w.yard();
      await w.told(sink, 1);
      await w.move('11s');
      const [first, second] = await w.told(sink, 2);
      want([second.id, second.headers['webhook-id']], [first.id, first.id]);
    },
  ],
  [
    'ev-accept-any',
    'delivery mechanism',
    'service',
    'A 404 of the subscriber counts as accepted.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created'], (n) => (n === 1 ? 404 : 200));
      await w.yard();
      await w.told(sink, 1);
      await w.move('11s');
      await w.told(sink, 2);
    },
  ],
  [
    'ev-order',
    'delivery mechanism',
    'service',
    'An event overtakes an earlier one of the same hive that is not accepted yet.',
    async (w) => {
      const hive = await w.active();
      const sink = await w.subscribe(w.anna, ['hive.updated'], fails(1));
      await w.anna.change(`/hives/${hive.id}`, { label: 'West' });
      await w.told(sink, 1);
      await w.anna.change(`/hives/${hive.id}`, { label: 'North' });
      await w.told(sink, 1);
      await w.move('11s');
      want(
        (await w.told(sink, 3)).map(({ body }) => body.label),
        ['West', 'West', 'North'],
      );
    },
  ],
  [
    'ev-timeout',
    'delivery mechanism',
    'service',
    'A subscriber has twenty seconds to answer instead of five.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created'], async (n) => {
        if (n === 1) await delay(8000);
        return 200;
      });
      await w.yard();
      await delay(6500);
      await w.move('12s');
      await w.told(sink, 2);
    },
  ],
  [
    'ev-disable-never',
    'delivery mechanism',
    'service',
    'A subscriber that fails for more than two days is not disabled.',
    async (w) => {
      const sink = await w.subscribe(w.anna, ['yard.created'], fails(99));
      await w.yard();
      await w.told(sink, 1);
      for (const wait of ['11s', '61s', '601s', '3601s', '49h']) {
        await w.move(wait);
        await delay(150);
      }
      await w.yard();
      await delay(300);
      want((await w.anna.get(`/hooks/${sink.hook.id}`)).body.enabled, false);
    },
  ],
];
