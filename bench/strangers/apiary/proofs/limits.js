import { connect } from 'node:net';
import { code, delay, want } from './kit.js';

const times = async (count, work) => {
  const answers = [];
  for (let i = 0; i < count; i++) answers.push(await work(i));
  return answers;
};
const busy = async (who, count) => {
  for (let i = 0; i < count; i += 50) await Promise.all(Array.from({ length: Math.min(50, count - i) }, () => who.get('/yards')));
};
const harvests = async (w, hive, count) => {
  for (let i = 0; i < count; i += 20) await Promise.all(Array.from({ length: 20 }, () => w.harvest(hive)));
};
const take = (w, hive) => w.anna.post(`/hives/${hive.id}/harvests`, w.harvestBody());
const yards = (w, count) => times(count, () => w.yard());
const spend = (w, { id }) => w.greg.post(`/harvests/${id}/reservations`, {});

/** What comes of a socket within a time: text, and whether it is closed. */
async function talk(w, text, ms) {
  const socket = connect(w.port, '127.0.0.1');
  const state = { text: '', closed: false };
  socket
    .on('data', (chunk) => (state.text += chunk))
    .on('close', () => (state.closed = true))
    .on('error', () => {});
  socket.write(text);
  await delay(ms);
  socket.destroy();
  return state;
}

export const limits = [
  [
    'li-rate',
    'rate limits',
    'service',
    'A caller has 601 requests a minute.',
    async (w) => {
      await busy(w.carl, 600);
      code(await w.carl.get('/yards'), 429, 'too_many');
    },
  ],
  [
    'li-rate-shared',
    'rate limits',
    'service',
    'All keepers share one rate.',
    async (w) => {
      await busy(w.carl, 600);
      want((await w.bert.get('/yards')).status, 200);
    },
  ],
  [
    'li-refused-counts',
    'rate limits',
    'service',
    'A request that is refused by the rate counts in it.',
    async (w) => {
      await busy(w.carl, 600);
      await w.move('50s');
      await busy(w.carl, 600);
      await w.move('15s');
      want((await w.carl.get('/yards')).status, 200);
    },
  ],
  [
    'li-burst',
    'rate limits',
    'service',
    'The bucket of reservations holds 30 instead of 40.',
    async (w) => {
      const harvest = await w.released();
      want((await times(40, () => spend(w, harvest))).filter(({ status }) => status === 429).length, 0);
    },
  ],
  [
    'li-refill',
    'rate limits',
    'service',
    'The bucket of reservations is filled at half the speed.',
    async (w) => {
      const harvest = await w.released();
      for (let i = 0, answer; i < 60 && answer?.status !== 429; i++) answer = await spend(w, harvest);
      await w.move('20s');
      want((await times(10, () => spend(w, harvest))).filter(({ status }) => status === 429).length, 0);
    },
  ],
  [
    'li-quota',
    'quotas',
    'service',
    'A keeper may log 61 harvests a day.',
    async (w) => {
      const hive = await w.active();
      await harvests(w, hive, 60);
      code(await take(w, hive), 429, 'quota_spent');
    },
  ],
  [
    'li-quota-shared',
    'quotas',
    'service',
    'All keepers share one quota.',
    async (w) => {
      const { id } = await w.hive(await w.yard({}, w.bert), {}, w.bert);
      await w.bert.change(`/hives/${id}`, { state: 'active' });
      await harvests(w, await w.active(), 60);
      want((await w.bert.post(`/hives/${id}/harvests`, w.harvestBody())).status, 201);
    },
  ],
  [
    'li-quota-never-again',
    'quotas',
    'service',
    'The quota does not begin anew with the day.',
    async (w) => {
      const hive = await w.active();
      await harvests(w, hive, 60);
      await w.move('25h');
      want((await take(w, hive)).status, 201);
    },
  ],
  [
    'li-quota-refused',
    'quotas',
    'service',
    'A harvest that is refused uses up quota, too.',
    async (w) => {
      const hive = await w.active();
      await w.anna.post(`/hives/${hive.id}/harvests`, {});
      await harvests(w, hive, 60);
    },
  ],
  [
    'li-url',
    'size limits',
    'service',
    'The length of the address is not looked at.',
    async (w) => code(await w.anna.get(`/yards?${'a'.repeat(2100)}`), 413, 'too_large'),
  ],
  [
    'li-headers',
    'size limits',
    'service',
    'The size of the headers is not looked at.',
    async (w) => code(await w.anna.get('/yards', { 'x-filler': 'a'.repeat(17_000) }), 413, 'too_large'),
  ],
  [
    'li-body',
    'size limits',
    'service',
    'Bodies of up to 64 KiB are read.',
    async (w) => code(await w.anna.post('/yards', w.yardBody({ name: 'n'.repeat(33_000) })), 413, 'too_large'),
  ],
  [
    'li-timeout',
    'time-outs',
    'service',
    'A request may take a minute to arrive.',
    async (w) => {
      const { text } = await talk(w, 'POST /api/yards HTTP/1.1\r\nHost: apiary\r\nContent-Length: 10\r\n', 11_500);
      want(/^HTTP\/1\.1 503/.test(text), true);
    },
  ],
  [
    'li-idle',
    'time-outs',
    'service',
    'An idle connection is closed after some two seconds.',
    async (w) => want((await talk(w, 'GET /api/remedies HTTP/1.1\r\nHost: apiary\r\n\r\n', 5000)).closed, false),
  ],
  [
    'li-page-default',
    'pagination bounds',
    'GET /yards',
    'A page has 20 rows unless told otherwise.',
    async (w) => {
      await yards(w, 11);
      want((await w.anna.get('/yards')).body.rows.length, 10);
    },
  ],
  [
    'li-page-max',
    'pagination bounds',
    'GET /yards',
    'A page may have 100 rows.',
    async (w) => code(await w.anna.get('/yards?per_page=51'), 400, 'bad_page'),
  ],
  [
    'li-page-clamp',
    'pagination bounds',
    'GET /harvests',
    'A page that is too large is cut down instead of refused.',
    async (w) => code(await w.greg.get('/harvests?per_page=500'), 400, 'bad_page'),
  ],
  [
    'li-page-zero',
    'pagination bounds',
    'GET /yards',
    'Pages are counted from zero.',
    async (w) => {
      await yards(w, 2);
      want((await w.anna.get('/yards?page=1&per_page=2')).body.rows.length, 2);
    },
  ],
  [
    'li-more',
    'pagination bounds',
    'GET /yards',
    'A last page that is full says that there are more.',
    async (w) => {
      await yards(w, 2);
      want((await w.anna.get('/yards?per_page=2')).body.more, false);
    },
  ],
  [
    'li-total',
    'pagination bounds',
    'GET /yards',
    'The total is that of the page.',
    async (w) => {
      await yards(w, 3);
      want((await w.anna.get('/yards?per_page=2')).body.total, 3);
    },
  ],
];
