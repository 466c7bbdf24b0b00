// Goes through the document with the service: `node smoke.mjs` (must be all right), `node smoke.mjs FAULT…`, or `node smoke.mjs all` (each must be seen).
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import http from 'node:http';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const here = import.meta.dirname;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const K = { lu: 'sk_LuPlaysHamletTwice000001', mo: 'sk_MoKnowsEveryCue000000002', pip: 'sk_PipSweepsTheStage0000003', ines: 'sk_InesHasTheStoreKeys00011', joss: 'sk_JossCountsTheChairs00012', kit: 'sk_KitOnlyLooksAround000013', former: 'sk_FormerHandHasLeft0000099' };
const basic = (s) => `Basic ${Buffer.from(s).toString('base64')}`;
async function free() {
  const s = http.createServer().listen(0, '127.0.0.1');
  await once(s, 'listening');
  const { port } = s.address();
  s.close();
  await once(s, 'close');
  return port;
}

async function run(fault) {
  const port = await free(), clockPort = await free();
  const child = spawn(process.execPath, ['service.mjs', '--port', port, '--clock-port', clockPort, ...(fault ? ['--fault', fault] : [])], { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
  for (let i = 0; ; i++) {
    try {
      await fetch(`http://127.0.0.1:${clockPort}/`);
      await fetch(`http://127.0.0.1:${port}/`);
      break;
    } catch (e) {
      if (i > 200) throw e;
      await sleep(20);
    }
  }
  const failed = [];
  const call = async (method, path, { as, body, raw, headers = {}, base = '/gr' } = {}) => {
    const h = { ...headers };
    if (as) h['Stage-Key'] = K[as];
    if (body !== undefined && !h['Content-Type']) h['Content-Type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const res = await fetch(`http://127.0.0.1:${port}${base}${path}`, { method, headers: h, body: raw ?? (body === undefined ? undefined : JSON.stringify(body)), redirect: 'manual' });
    const text = await res.text();
    let json;
    try {
      json = JSON.parse(text);
    } catch {}
    return { status: res.status, h: (n) => res.headers.get(n), j: json, text };
  };
  const is = (name, got, want) => {
    const ok = typeof want === 'function' ? want(got) : JSON.stringify(got) === JSON.stringify(want);
    if (!ok) failed.push(`${name}: ${JSON.stringify(got)?.slice(0, 200)}${typeof want === 'function' ? '' : ` not ${JSON.stringify(want)?.slice(0, 200)}`}`);
  };
  const advance = async (by) => (await fetch(`http://127.0.0.1:${clockPort}/`, { method: 'POST', body: JSON.stringify({ advance: by }) })).json();
  let n = 0;
  const troupe = async (as = 'lu', more = {}, headers) => (await call('POST', '/troupes', { as, body: { name: `Troupe ${++n}`, ...more }, headers })).j;
  const production = async (t, more = {}, as = 'lu') => (await call('POST', `/troupes/${t.id}/productions`, { as, body: { title: `Play ${++n}`, opens_on: '2027-03-01', ...more } })).j;
  const cue = async (p, more = {}, as = 'lu') => (await call('POST', `/productions/${p.id}/cues`, { as, body: { kind: 'light', length_s: 30, ...more } })).j;
  const prop = async (more = {}) => (await call('POST', '/props', { as: 'ines', body: { code: `ab-${String(++n).padStart(3, '0')}`, name: `Prop ${n}`, weight_g: 100, ...more } })).j;
  const loan = async (p, q, as = 'lu') => (await call('POST', `/productions/${p.id}/loans`, { as, body: { prop: q.code } })).j;
  const act = (kind, row, name, as, more = {}) => call('POST', `/${kind}/${row.id}/${name}`, { as, ...more });
  const see = async (kind, row, as = 'lu', headers) => (await call('GET', `/${kind}/${row.code ?? row.id}`, { as, headers })).j;
  const patch = (kind, row, body, as = 'lu', headers = { 'If-Match': '*' }) => call('PATCH', `/${kind}/${row.code ?? row.id}`, { as, body, headers });
  const OLD = { 'Greenroom-Edition': '2025-09' };
  const sections = {
    async people() {
      is('401', (await call('GET', '/troupes')).status, 401);
      const r = await call('GET', '/troupes');
      is('challenge', r.h('www-authenticate'), (v) => /ApiKey.*Basic/.test(v));
      is('fault header', r.h('greenroom-fault'), 'who_is_there');
      is('ref', r.h('greenroom-ref'), r.j.ref);
      is('former', (await call('GET', '/troupes', { as: 'former' })).status, 401);
      is('basic', (await call('GET', '/troupes', { headers: { Authorization: basic('ha-lu:curtain-4') } })).status, 200);
      is('basic bad', (await call('GET', '/troupes', { headers: { Authorization: basic('ha-lu:curtain-5') } })).status, 401);
      is('two', (await call('GET', '/troupes', { as: 'lu', headers: { Authorization: basic('wa-ines:lantern-9') } })).status, 401);
      is('two same', (await call('GET', '/troupes', { as: 'ines', headers: { Authorization: basic('wa-ines:lantern-9') } })).status, 200);
      is('warden', (await call('GET', '/troupes', { as: 'ines' })).status, 200);
      is('house', (await call('GET', '/house')).j, { name: 'The Greenroom', stages: 3 });
      is('bare', (await call('GET', '/house', { base: '' })).status, 404);
      is('nowhere', (await call('GET', '/nowhere')).j?.oops, 'no_such_place');
      is('nowhere header', (await call('GET', '/nowhere')).h('greenroom-fault'), 'no_such_place');
      const m = await call('DELETE', '/house');
      is('405', [m.status, m.h('allow')], [405, 'GET, HEAD, OPTIONS']);
      is('options', (await call('OPTIONS', '/house')).status, 204);
      is('406', (await call('GET', '/house', { headers: { Accept: 'text/html' } })).status, 406);
      is('parameters before user', (await call('GET', '/props/ab-000/loans?x=1', { as: 'lu' })).status, 400);
    },
    async troupes() {
      const r = await call('POST', '/troupes', { as: 'lu', body: { name: 'Ære', founder: 'nobody', leads: 'x' } });
      is('troupe', [r.status, r.j.founder, r.j.leads, r.j.productions, r.h('location')], [201, 'ha-lu', 1, 0, `/gr/troupes/${r.j.id}`]);
      is('id', r.j.id, (v) => /^tr_[a-z0-9]{12}$/.test(v));
      const t = r.j;
      is('letters', (await call('POST', '/troupes', { as: 'lu', body: { name: 'é'.repeat(40) } })).status, 201);
      is('too many letters', (await call('POST', '/troupes', { as: 'lu', body: { name: 'é'.repeat(41) } })).status, 422);
      is('warden not', (await call('POST', '/troupes', { as: 'ines', body: { name: 'Xx' } })).j?.oops, 'not_yours');
      is('hidden', (await call('GET', `/troupes/${t.id}`, { as: 'mo' })).status, 404);
      const members = await call('GET', `/troupes/${t.id}/members`, { as: 'lu' });
      is('founder joined', members.j.rows.map((m) => [m.person, m.role]), [['ha-lu', 'lead']]);
      const pl = await call('POST', `/troupes/${t.id}/members`, { as: 'lu', body: { person: 'ha-mo' } });
      is('player', [pl.status, pl.j.role], [201, 'player']);
      is('leads', (await see('troupes', t)).leads, 1);
      is('twice', (await call('POST', `/troupes/${t.id}/members`, { as: 'lu', body: { person: 'ha-mo' } })).j?.oops, 'taken');
      is('player invites', (await call('POST', `/troupes/${t.id}/members`, { as: 'mo', body: { person: 'ha-pip' } })).status, 403);
      is('player changes', (await patch('troupes', t, { town: 'X' }, 'mo')).status, 403);
      await troupe('mo');
      is('lead elsewhere', (await patch('troupes', t, { town: 'X' }, 'mo')).status, 403);
      is('last lead', (await call('DELETE', `/members/${members.j.rows[0].id}`, { as: 'lu' })).j?.oops, 'last_lead');
      is('player leaves', (await call('DELETE', `/members/${pl.j.id}`, { as: 'lu' })).status, 204);
      await production(t);
      is('held', (await call('DELETE', `/troupes/${t.id}`, { as: 'lu' })).j?.oops, 'in_use');
      const u = await troupe();
      is('delete', (await call('DELETE', `/troupes/${u.id}`, { as: 'lu' })).status, 204);
      is('gone', (await call('GET', `/troupes/${u.id}`, { as: 'lu' })).status, 404);
      await troupe('pip', { name: 'Zeta one' });
      await troupe('pip', { name: 'zeta two' });
      const l = await call('GET', '/troupes?name_starts=Zeta', { as: 'pip' });
      is('prefix', [l.j.total, l.j.rows.length], [1, 1]);
      const tag = (await call('GET', `/troupes/${t.id}`, { as: 'lu' })).h('etag');
      is('precondition before body', (await patch('troupes', t, { nope: 1 }, 'lu', { 'If-Match': '"x"' })).j?.oops, 'stale');
      is('304', (await call('GET', `/troupes/${t.id}`, { as: 'lu', headers: { 'If-None-Match': `"x", ${tag}` } })).status, 304);
      const old = await see('troupes', t, 'lu', OLD);
      is('motto', old.motto, 'ad astra');
    },
    async productions() {
      const t = await troupe(), other = await troupe('mo');
      await call('POST', `/troupes/${t.id}/members`, { as: 'lu', body: { person: 'ha-pip' } });
      const r = await call('POST', `/troupes/${t.id}/productions`, { as: 'lu', body: { title: 'Hamlet', opens_on: '2027-01-05', closes_on: '2027-01-05', tags: ['a', 'b'], door_code: '1234', rating: 'a', stage: 'closed' } });
      const p = r.j;
      is('made', [r.status, p.stage, p.seats, p.rating, p.door_code, p.cue_count, p.running_s, p.longest_s, p.borrowing], [201, 'draft', 120, undefined, undefined, 0, 0, undefined, false]);
      is('rating ignored', (await see('productions', p, 'ines')).rating, undefined);
      is('bad dates', (await call('POST', `/troupes/${t.id}/productions`, { as: 'lu', body: { title: 'A', opens_on: '2027-02-29' } })).status, 422);
      is('backwards', (await call('POST', `/troupes/${t.id}/productions`, { as: 'lu', body: { title: 'A', opens_on: '2027-02-02', closes_on: '2027-02-01' } })).j.spots[0].path, '/closes_on');
      is('tags', (await call('POST', `/troupes/${t.id}/productions`, { as: 'lu', body: { title: 'A', opens_on: '2027-02-02', tags: ['x', 'x'] } })).status, 422);
      is('spots', (await call('POST', `/troupes/${t.id}/productions`, { as: 'lu', body: { what: 1 } })).j.spots.length, 3);
      is('title taken', (await call('POST', `/troupes/${t.id}/productions`, { as: 'pip', body: { title: 'Hamlet', opens_on: '2027-02-02' } })).j?.oops, 'taken');
      is('title by case', (await call('POST', `/troupes/${t.id}/productions`, { as: 'pip', body: { title: 'hamlet', opens_on: '2027-02-02' } })).status, 201);
      const q = await production(t);
      is('retitle', (await patch('productions', q, { title: 'Hamlet' })).j?.oops, 'taken');
      is('unmatched', (await patch('productions', q, { seats: 3 }, 'lu', {})).status, 428);
      is('moves', (await patch('productions', q, { troupe: (await troupe()).id })).status, 422);
      is('hidden', (await call('GET', `/productions/${p.id}`, { as: 'mo' })).j?.oops, 'not_here');
      is('hidden list', (await call('GET', '/productions', { as: 'mo' })).j.total, 0);
      const before = await see('productions', q);
      await sleep(5);
      const same = await patch('productions', q, { seats: 120, title: q.title });
      is('touched', same.j.touched_at, before.touched_at);
      const ch = await patch('productions', q, { door_code: '9999', tags: null });
      is('changed', [ch.status, ch.j.touched_at !== before.touched_at, ch.j.door_code], [200, true, undefined]);
      is('rated', (await patch('productions', q, { rating: 'b' }, 'ines')).j.rating, 'b');
      is('rated list', (await call('GET', `/productions?troupe=${t.id}`, { as: 'lu' })).j.rows.some((x) => 'rating' in x), false);
      const tag = (await call('GET', `/productions/${q.id}`, { as: 'lu' })).h('etag');
      is('cues missing', (await act('productions', q, 'rehearse', 'lu')).j?.oops, 'no_cues');
      is('premiere early', (await act('productions', q, 'premiere', 'lu')).j?.oops, 'wrong_moment');
      const c1 = await cue(q, { length_s: 40 }), c2 = await cue(q, { kind: 'blackout', length_s: 50 });
      is('numbers', [c1.number, c2.number], [1, 2]);
      is('number of another', (await cue(p)).number, 1);
      const now = await call('GET', `/productions/${q.id}`, { as: 'lu' });
      is('reckoned', [now.j.cue_count, now.j.running_s, now.j.longest_s], [2, 40, 50]);
      is('tag moved', now.h('etag') !== tag, true);
      is('cache', now.h('cache-control'), 'private, no-cache');
      await call('DELETE', `/cues/${c2.id}`, { as: 'lu' });
      is('count', (await see('productions', q)).cue_count, 1);
      is('never again', (await cue(q)).number, 3);
      is('rehearse', (await act('productions', q, 'rehearse', 'pip')).j.stage, 'rehearsing');
      is('player', (await act('productions', q, 'cancel', 'pip')).j?.oops, 'not_a_lead');
      is('premiere', (await act('productions', q, 'premiere', 'lu')).j.stage, 'running');
      is('cancel', (await act('productions', q, 'cancel', 'lu')).j?.oops, 'too_late');
      is('change', (await patch('productions', q, { seats: 4 })).j?.oops, 'wrong_moment');
      is('delete', (await call('DELETE', `/productions/${q.id}`, { as: 'lu' })).j?.oops, 'wrong_moment');
      await act('productions', q, 'close', 'lu');
      is('delete stale', (await call('DELETE', `/productions/${q.id}`, { as: 'lu', headers: { 'If-Match': '"x"' } })).status, 412);
      is('deleted', (await call('DELETE', `/productions/${q.id}`, { as: 'lu' })).status, 204);
      is('cue gone', (await call('GET', `/cues/${c1.id}`, { as: 'lu' })).status, 404);
      is('forbidden parent', (await call('GET', `/productions/${p.id}/cues`, { as: 'mo' })).status, 404);
      void other;
    },
    async lists() {
      const t = await troupe('pip');
      const ps = [];
      for (let i = 0; i < 7; i++) ps.push(await production(t, { opens_on: i < 5 ? '2027-05-05' : '2027-06-06' }, 'pip'));
      await cue(ps[1], {}, 'pip');
      await cue(ps[1], {}, 'pip');
      await cue(ps[2], { length_s: 999 }, 'pip');
      await act('productions', ps[1], 'rehearse', 'pip');
      const get = (qs, as = 'pip', headers) => call('GET', `/productions?troupe=${t.id}&${qs}`, { as, headers });
      const order = [ps[5], ps[6], ps[0], ps[1], ps[2], ps[3], ps[4]].map((p) => p.id);
      is('order', (await get('')).j.rows.map((r) => r.id), order);
      const found = [];
      let from = '', page;
      do {
        page = await get(`take=3${from && `&from=${encodeURIComponent(from)}`}`);
        found.push(...(page.j.rows ?? []).map((r) => r.id));
        from = page.j.next_from;
      } while (from && found.length < 20);
      is('pages', found, order);
      is('last', [page.j.more, page.j.next_from, page.j.total], [false, null, 7]);
      is('exact', (await get('take=7')).j.more, false);
      const c = (await get('take=3')).j.next_from;
      is('cursor of another', (await get(`take=3&sort=title&from=${encodeURIComponent(c)}`)).j?.oops, 'bad_page');
      is('take 0', (await get('take=0')).j?.oops, 'bad_page');
      is('take 50', (await get('take=50')).status, 200);
      is('take 51', (await get('take=51')).status, 400);
      is('min_cues', (await get('min_cues=2')).j.total, 1);
      is('stages', (await get('stages=draft,rehearsing')).j.total, 7);
      is('stage', (await get('stage=rehearsing')).j.total, 1);
      is('stage bad', (await get('stage=x')).status, 400);
      is('sort', (await get('sort=-running_s')).j.rows.slice(0, 2).map((r) => r.id), [ps[2].id, ps[1].id]);
      is('total hidden', (await call('GET', '/productions', { as: 'pip' })).j.total, (await call('GET', '/productions?take=50', { as: 'pip' })).j.rows.length);
      is('unknown', (await call('GET', '/loans?what=1', { as: 'pip' })).j?.oops, 'bad_question');
      is('opens', (await get('opens=2027-06-06', 'pip', OLD)).j.rows.map((r) => r.opens), ['2027-06-06', '2027-06-06']);
      is('opens new', (await get('opens=2027-06-06')).status, 400);
      for (let i = 0; i < 12; i++) await prop({ weight_g: 7000 + (i % 2) });
      await prop({ weight_g: 7000, displayed: false });
      const pr = (qs, as) => call('GET', `/props?max_weight=7001&sort=-weight_g&${qs}`, { as });
      is('props take', (await pr('take=400', 'lu')).status, 200);
      is('props anon', (await call('GET', '/props?max_weight=7001&take=40')).j.rows.some((r) => !r.displayed || 'value_cents' in r), false);
      const all = (await pr('take=40', 'ines')).j, anon = (await pr('take=40')).j;
      is('props hidden', all.total - anon.total, (d) => d >= 1);
      is('props skip', (await pr('skip=2&take=3', 'ines')).j.rows.map((r) => r.code), all.rows.slice(2, 5).map((r) => r.code));
      is('props past', (await pr('skip=900', 'ines')).j.rows, []);
    },
    async store() {
      const t = await troupe();
      const p = await production(t), p2 = await production(t);
      const q = await prop({ fragile: true, value_cents: 900, note: 'n' });
      is('value', q.value_cents, 900);
      is('value for hands', 'value_cents' in (await see('props', q, 'lu')), false);
      is('value for anyone', 'value_cents' in (await call('GET', `/props/${q.code}`)).j, false);
      is('code taken', (await call('POST', '/props', { as: 'ines', body: { code: q.code, name: 'x', weight_g: 1 } })).j?.oops, 'taken');
      is('read only', (await patch('props', q, { away: true }, 'ines')).status, 422);
      is('put', (await call('PUT', `/props/${q.code}`, { as: 'ines', body: { name: 'x', weight_g: 5, fragile: true } })).j, { code: q.code, name: 'x', weight_g: 5, fragile: true, displayed: true, away: false });
      const hidden = await prop({ displayed: false });
      is('hidden', (await call('GET', `/props/${hidden.code}`, { as: 'lu' })).status, 404);
      const putOld = await call('PUT', `/props/${hidden.code}`, { as: 'ines', body: { name: 'y', weight_g: 5 }, headers: OLD });
      is('put old', [putOld.status, 'displayed' in putOld.j, (await see('props', hidden, 'ines')).displayed], [200, false, false]);
      const dang = await call('POST', `/productions/${p.id}/loans`, { as: 'lu', body: { prop: hidden.code } });
      is('dangling', [dang.status, dang.j.oops], [422, 'dangling']);
      const l = await loan(p, q);
      is('loan', [l.status, l.fee_cents, l.extended, l.slip], (v) => v[0] === 'asked' && v[1] === 500 && v[2] === 0 && /^S-\d{4}$/.test(v[3]));
      is('held', (await call('DELETE', `/props/${q.code}`, { as: 'ines' })).j?.oops, 'in_use');
      is('scope', (await act('loans', l, 'hand-over', 'kit')).status, 403);
      const l2 = await loan(p2, q);
      const out = await act('loans', l, 'hand-over', 'ines');
      is('out', [out.status, out.j?.status, !!out.j?.out_at], [200, 'out', true]);
      is('lent', (await act('loans', l2, 'hand-over', 'ines')).j?.oops, 'already_lent');
      is('away', [(await see('props', q, 'lu')).away, (await see('productions', p)).borrowing], [true, true]);
      is('away filter', (await call('GET', '/props?away=true', { as: 'ines' })).j.rows.map((r) => r.code), [q.code]);
      await advance('P6D');
      const l6 = await act('loans', l, 'extend', 'kit');
      is('extend', l6.j.extended, 1);
      await advance('P6D');
      is('still out', (await see('loans', l)).status, 'out');
      is('not scope', (await act('loans', l, 'give-back', 'kit')).status, 403);
      is('lapsed', (await see('loans', l2)).status, 'lapsed');
      const l3 = await loan(p2, q);
      is('extend 2', (await act('loans', l, 'extend', 'kit')).status, 200);
      is('extend 3', (await act('loans', l, 'extend', 'kit')).j?.oops, 'wrong_moment');
      await advance('PT47H30M');
      is('asked', (await see('loans', l3)).status, 'asked');
      await advance('PT31M');
      is('lapsed', (await see('loans', l3)).status, 'lapsed');
      await advance('P5DT1H');
      const late = await see('loans', l);
      is('overdue', late.status, 'overdue');
      const spare = await prop(), ls = await loan(p, spare);
      await act('loans', ls, 'hand-over', 'ines');
      await advance('P7DT1H');
      is('extend late', (await act('loans', ls, 'extend', 'kit')).j?.oops, 'wrong_moment');
      is('extend overdue', (await act('loans', l, 'extend', 'kit')).status, 409);
      is('late is away', [(await see('props', q, 'lu')).away, (await see('productions', p)).borrowing], [true, true]);
      const l4 = await loan(p2, q);
      is('late is lent', (await act('loans', l4, 'hand-over', 'ines')).j?.oops, 'already_lent');
      await call('POST', `/troupes/${t.id}/members`, { as: 'lu', body: { person: 'ha-pip' } });
      is('not asked by', (await act('loans', l4, 'withdraw', 'pip')).status, 403);
      is('withdraw', (await act('loans', l4, 'withdraw', 'lu')).j.status, 'lapsed');
      is('back', (await act('loans', l, 'give-back', 'joss')).j.status, 'back');
      is('still held', (await call('DELETE', `/props/${q.code}`, { as: 'ines' })).j?.oops, 'in_use');
      const heavy = await prop({ weight_g: 50001 }), edge = await prop({ weight_g: 50000 });
      const lh = await loan(p, heavy), le = await loan(p, edge);
      const dolly = await act('loans', lh, 'hand-over', 'ines');
      is('dolly', [dolly.status, dolly.j.oops, dolly.h('greenroom-hint'), dolly.h('greenroom-fault')], [422, 'needs_dolly', 'dolly', 'needs_dolly']);
      is('dolly yes', (await act('loans', lh, 'hand-over', 'ines', { body: { dolly: true } })).status, 200);
      is('edge', (await act('loans', le, 'hand-over', 'ines')).status, 200);
      const la = await loan(p2, edge);
      const got = await call('GET', `/loans?prop=${edge.code}`, { as: 'mo' });
      is('loans of others', [got.j.total, got.j.rows], [0, []]);
      is('loans of prop', (await call('GET', `/props/${edge.code}/loans`, { as: 'kit' })).j.total, 2);
      is('loans of prop old', (await call('GET', `/props/${edge.code}/loans`, { as: 'kit', headers: OLD })).j?.oops, 'no_such_place');
      is('requested', (await see('loans', la, 'lu', OLD)).status, 'requested');
      const lo = await call('GET', `/loans?status=requested&production=${p2.id}`, { as: 'lu', headers: OLD });
      is('requested list', [lo.status, lo.j.rows?.map((r) => r.status)], [200, ['requested']]);
      is('cancel', (await act('productions', p2, 'cancel', 'lu')).j.stage, 'cancelled');
      is('withdrawn', (await see('loans', la)).status, 'lapsed');
      const dark = await call('POST', `/productions/${p2.id}/loans`, { as: 'lu', body: { prop: q.code } });
      is('dark', [dark.status, dark.j.oops], [409, 'house_dark']);
      const p3 = await production(t);
      await advance('P29DT12H');
      const l5 = await loan(p3, q);
      await patch('productions', p3, { seats: 9 });
      const before = await see('productions', p3);
      is('still draft', before.stage, 'draft');
      await advance('PT13H');
      const after = await see('productions', p3);
      is('lapse', [after.stage, after.touched_at !== before.touched_at], ['cancelled', true]);
      is('lapse withdraws', (await see('loans', l5)).status, 'lapsed');
    },
    async cues() {
      const t = await troupe(), p = await production(t);
      const c = await cue(p, { mark: { act: 1, page: 2 }, length_s: 90 });
      is('merge', (await patch('cues', c, { mark: { page: 3 } }, 'lu', {})).j.mark, { act: 1, page: 3 });
      is('mark', (await call('POST', `/productions/${p.id}/cues`, { as: 'lu', body: { kind: 'light', length_s: 1, mark: { act: 1, verse: 2 } } })).j.spots?.[0].path, '/mark/verse');
      is('minutes', (await see('cues', c, 'lu', OLD)).length_s, 1.5);
      is('minutes up', [(await patch('cues', c, { length_s: 0.0333 }, 'lu', OLD)).status, (await see('cues', c)).length_s], [200, 2]);
      await patch('cues', c, { length_s: 1.5 }, 'lu', OLD);
      is('filter minutes', (await call('GET', `/productions/${p.id}/cues?length_s=1.5`, { as: 'lu', headers: OLD })).j.total, 1);
      is('sort old', (await call('GET', `/productions/${p.id}/cues?sort=length_s`, { as: 'lu', headers: OLD })).status, 400);
      is('malformed', (await call('POST', `/productions/${p.id}/cues`, { as: 'lu', raw: '{', headers: { 'Content-Type': 'application/json' } })).j?.oops, 'unreadable');
      is('media', (await call('POST', `/productions/${p.id}/cues`, { as: 'lu', raw: '{}', headers: { 'Content-Type': 'text/plain' } })).status, 415);
      is('missing', (await call('POST', `/productions/${p.id}/cues`, { as: 'lu' })).status, 400);
      const big = (size) => call('POST', `/productions/${p.id}/cues`, { as: 'lu', raw: `{"kind":"light","length_s":1}`.padEnd(size), headers: { 'Content-Type': 'application/json' } });
      is('body 16384', (await big(16384)).status, 201);
      is('body 16385', (await big(16385)).status, 413);
      is('target 2048', (await call('GET', `/house?${'x'.repeat(2048 - 10)}`)).j?.oops, 'bad_question');
      is('target 2049', (await call('GET', `/house?${'x'.repeat(2049 - 10)}`)).status, 413);
      const post = (key, as = 'lu', body = { kind: 'light', length_s: 5 }, headers) => call('POST', `/productions/${p.id}/cues`, { as, body, headers: { 'Attempt-Key': key, ...headers } });
      await call('POST', `/troupes/${t.id}/members`, { as: 'lu', body: { person: 'ha-mo' } });
      const one = await post('k1'), again = await post('k1'), mo = await post('k1', 'mo');
      is('replay', [again.status, again.j.id === one.j.id, mo.j.id !== one.j.id], [201, true, true]);
      is('reused', (await post('k1', 'lu', { kind: 'sound', length_s: 5 })).j?.oops, 'other_attempt');
      is('reused in edition', (await post('k1', 'lu', undefined, OLD)).j?.oops, 'other_attempt');
      is('other operation', (await call('POST', '/troupes', { as: 'lu', body: { name: 'abc' }, headers: { 'Attempt-Key': 'k1' } })).status, 201);
      await advance('PT2H');
      is('kept', (await post('k1')).j.id, one.j.id);
      await advance('PT10H1M');
      is('forgotten', (await post('k1')).j.id !== one.j.id, true);
      const hook = (key) => call('POST', '/hooks', { as: 'pip', body: { url: 'http://127.0.0.1:1/' }, headers: { 'Attempt-Key': key } });
      const h1 = await hook('h'), h2 = await hook('h');
      is('secret once', [!!h1.j.secret, h2.j.id === h1.j.id, 'secret' in h2.j], [true, true, false]);
      is('secret never', 'secret' in (await patch('hooks', h1.j, { live: false }, 'pip')).j, false);
      is('hooks of others', (await call('GET', `/hooks/${h1.j.id}`, { as: 'mo' })).status, 404);
      const q = await prop(), heavy = await prop({ weight_g: 60000 });
      const l = await loan(p, heavy);
      is('own error', (await act('loans', l, 'hand-over', 'ines', { headers: { 'Attempt-Key': 'd' } })).j?.oops, 'needs_dolly');
      await patch('props', heavy, { weight_g: 5 }, 'ines');
      is('own error kept', (await act('loans', l, 'hand-over', 'ines', { headers: { 'Attempt-Key': 'd' } })).j?.oops, 'needs_dolly');
      const lq = await call('POST', `/productions/${p.id}/loans`, { as: 'lu', body: { prop: q.code } });
      is('location', lq.h('location'), `/gr/loans/${lq.j.id}`);
    },
    async events() {
      const heard = [];
      let answer = () => 204;
      const sink = http.createServer((req, res) => {
        let text = '';
        req.on('data', (d) => (text += d));
        req.on('end', () => {
          const e = { path: req.url, kind: req.headers['greenroom-event'], seal: req.headers['greenroom-seal'], text, j: JSON.parse(text) };
          heard.push(e);
          const status = answer(e);
          res.writeHead(status, status === 302 ? { Location: '/' } : {});
          res.end();
        });
      }).listen(0, '127.0.0.1');
      await once(sink, 'listening');
      const base = `http://127.0.0.1:${sink.address().port}`;
      const hook = async (as, path, more = {}, headers) => (await call('POST', '/hooks', { as, body: { url: base + path, ...more }, headers })).j;
      const settle = async (done, ms = 700) => {
        for (let i = 0; i < ms / 10 && !done(); i++) await sleep(10);
        await sleep(15);
      };
      const to = (path, kind) => heard.filter((e) => e.path === path && (!kind || e.kind === kind));
      is('kinds', (await call('POST', '/hooks', { as: 'lu', body: { url: base, kinds: ['nope'] } })).status, 422);
      const lu = await hook('lu', '/lu'), mo = await hook('mo', '/mo'), loans = await hook('lu', '/loans', { kinds: ['loan.*'] }), dead = await hook('lu', '/dead', { live: false }), old = await hook('ines', '/old', {}, OLD);
      const stream = new AbortController();
      const got = [];
      const listen = async (headers, into, signal) => {
        const res = await fetch(`http://127.0.0.1:${port}/gr/happenings`, { headers: { ...headers }, signal });
        (async () => {
          try {
            for await (const d of res.body) into.push(Buffer.from(d).toString());
          } catch {}
        })();
      };
      await listen({ 'Stage-Key': K.lu }, got, stream.signal);
      const moGot = [];
      await listen({ 'Stage-Key': K.mo }, moGot, stream.signal);
      const t = await troupe();
      await settle(() => to('/lu').length >= 2);
      is('founded', to('/lu').map((e) => e.kind), ['troupe.founded', 'member.joined']);
      const e = to('/lu')[0];
      is('envelope', e && Object.keys(e.j), ['ref', 'kind', 'at', 'about']);
      const [, ts, mac] = /^t=(\d+),s=([0-9a-f]+)$/.exec(e?.seal ?? '') ?? [];
      is('seal', mac, createHmac('sha256', lu.secret).update(`${e?.j.ref}.${ts}.${e?.text}`).digest('hex'));
      const p = await production(t);
      const c = await cue(p, { length_s: 30 });
      await patch('cues', c, { length_s: 30 });
      await settle(() => to('/old', 'cue.written').length);
      is('old event', to('/old', 'cue.written').map((x) => x.j.about.length_s), [0.5]);
      is('nothing', to('/lu', 'cue.written').length, 1);
      await act('productions', p, 'rehearse', 'lu');
      await act('productions', p, 'premiere', 'lu');
      await settle(() => to('/lu', 'production.moved').length >= 2);
      is('moved', to('/lu', 'production.moved').map((x) => [x.j.about.was, x.j.about.is]), [['draft', 'rehearsing'], ['rehearsing', 'running']]);
      const p2 = await production(t), q = await prop({ value_cents: 3 });
      await cue(p2);
      const l = await loan(p2, q);
      await settle(() => to('/loans').length >= 1);
      is('wildcard', to('/loans').map((x) => x.kind), ['loan.asked']);
      await patch('props', q, { note: 'z' }, 'ines');
      await call('PUT', `/props/${q.code}`, { as: 'ines', body: { name: 'w', weight_g: 3, value_cents: 4 } });
      await settle(() => to('/lu', 'prop.changed').length >= 2);
      is('prop', to('/lu', 'prop.changed').map((x) => [x.j.about.note, x.j.about.value_cents]), [['z', undefined], [undefined, undefined]]);
      await advance('PT48H1M');
      await settle(() => to('/loans', 'loan.moved').some((x) => x.j.about.id === l.id));
      is('clock', to('/loans', 'loan.moved').filter((x) => x.j.about.id === l.id).map((x) => x.j.about.status), ['lapsed']);
      is('to mo', to('/mo').filter((x) => !x.kind.startsWith('prop') && (x.j.about.id === l.id || x.kind !== 'loan.moved')).map((x) => x.kind), []);
      await call('DELETE', `/productions/${p2.id}`, { as: 'lu' });
      await settle(() => to('/lu', 'cue.cut').length);
      is('cut', to('/lu', 'cue.cut').length, 1);
      is('dead', to('/dead').length, 0);
      is('stream', got.join('').match(/^event: .*/gm)?.slice(0, 3), ['event: troupe.founded', 'event: member.joined', 'event: production.planned']);
      is('stream of mo', moGot.join('').includes(p.id), false);
      const ids = got.join('').match(/^id: .*/gm).map((s) => s.slice(4));
      const again = [];
      await listen({ 'Stage-Key': K.lu, 'Last-Event-ID': ids.at(-2) }, again, stream.signal);
      await sleep(60);
      is('resume', again.join('').match(/^id: .*/gm)?.map((s) => s.slice(4)) ?? [], (v) => !v.includes(ids.at(-2)) && v.at(-1) === ids.at(-1));
      stream.abort();
      // retries
      heard.length = 0;
      for (const h of [mo, loans, dead, old]) await call('DELETE', `/hooks/${h.id}`, { as: h === mo ? 'mo' : h === old ? 'ines' : 'lu' });
      answer = () => 503;
      const p4 = await production(t);
      await patch('productions', p4, { seats: 4 });
      await settle(() => heard.length >= 1);
      await sleep(40);
      is('waits', heard.map((x) => x.kind), ['production.planned']);
      await advance('PT13S');
      await settle(() => heard.length >= 2);
      is('again', heard.map((x) => x.j.ref), (v) => v.length === 2 && v[0] === v[1]);
      const seal2 = /^t=(\d+),s=([0-9a-f]+)$/.exec(heard[1]?.seal ?? '');
      is('seal again', seal2?.[2], createHmac('sha256', lu.secret).update(`${heard[1]?.j.ref}.${seal2?.[1]}.${heard[1]?.text}`).digest('hex'));
      await advance('PT2M30S');
      await settle(() => heard.length >= 3);
      answer = () => 302;
      await advance('PT37M');
      await settle(() => heard.length >= 5);
      is('tries', heard.map((x) => x.kind), ['production.planned', 'production.planned', 'production.planned', 'production.planned', 'production.changed']);
      answer = () => 204;
      await advance('PT20S');
      await settle(() => heard.length >= 6);
      is('redirect is a failure', heard.map((x) => x.kind).filter((k) => k === 'production.changed').length, 2);
      answer = () => 410;
      await patch('productions', p4, { seats: 5 });
      await settle(() => heard.length >= 7);
      is('gone', (await see('hooks', lu)).live, false);
      sink.close();
      sink.closeAllConnections();
    },
    async corners() {
      const t = await troupe('lu', { town: 'Ghent' }), p = await production(t, { closes_on: '2027-03-09' });
      is('null required', (await patch('productions', p, { title: null, seats: null })).j.spots?.map((s) => s.path), ['/title', '/seats']);
      is('null optional', 'closes_on' in (await patch('productions', p, { closes_on: null })).j, false);
      is('null at creation', (await call('POST', '/troupes', { as: 'lu', body: { name: 'ab', town: null } })).j.spots?.map((s) => s.path), ['/town']);
      is('no map', (await call('POST', '/troupes', { as: 'lu', body: [] })).j.spots?.map((s) => s.path), ['']);
      is('other parent', (await call('POST', `/troupes/${t.id}/productions`, { as: 'lu', body: { title: 'x', opens_on: '2027-01-01', troupe: 'tr_other' } })).j.spots?.map((s) => s.path), ['/troupe']);
      is('same parent', (await call('POST', `/troupes/${t.id}/productions`, { as: 'lu', body: { title: 'x', opens_on: '2027-01-01', troupe: t.id } })).status, 201);
      is('old names', (await call('POST', `/troupes/${t.id}/productions`, { as: 'lu', body: { title: 'y', opens_on: '2027-01-01' }, headers: OLD })).j.spots?.map((s) => s.path), ['/opens_on', '/opens']);
      const o = await call('POST', `/troupes/${t.id}/productions`, { as: 'lu', body: { title: 'y', opens: '2027-01-01' }, headers: OLD });
      is('old made', [o.status, o.j.opens, 'opens_on' in o.j], [201, '2027-01-01', false]);
      const q = await prop(), anon = (await call('GET', `/props/${q.code}`)).h('etag');
      is('anonymous tag', (await patch('props', q, { value_cents: 5 }, 'ines', { 'If-Match': anon })).status, 200);
      is('weak tag', (await patch('props', q, { value_cents: 6 }, 'ines', { 'If-Match': `W/${anon}` })).status, 412);
      is('another code', (await patch('props', q, { code: 'zz-000' }, 'ines')).status, 422);
      is('put code', (await call('PUT', `/props/${q.code}`, { as: 'ines', body: { code: 'zz-000', name: 'x', weight_g: 1 } })).status, 422);
      is('put nowhere', (await call('PUT', `/props/zz-000`, { as: 'ines', body: { name: 'x', weight_g: 1 } })).status, 404);
      is('displayed in old', (await call('POST', '/props', { as: 'ines', body: { code: 'zz-001', name: 'x', weight_g: 1, displayed: false }, headers: OLD })).status, 422);
      is('code shape', (await call('POST', '/props', { as: 'ines', body: { code: 'zz-1', name: 'x', weight_g: 1 } })).status, 422);
      is('hand makes prop', (await call('POST', '/props', { as: 'lu', body: {} })).j?.oops, 'not_yours');
      is('no key for list', (await call('GET', '/loans')).status, 401);
      is('007', (await call('GET', '/cues/007', { as: 'lu' })).status, 404);
      is('proto', (await call('POST', '/troupes', { as: 'lu', raw: '{"name":"abc","__proto__":{"x":1}}', headers: { 'Content-Type': 'application/json' } })).status, 422);
      is('options', (await call('OPTIONS', `/props/${q.code}`)).h('allow'), 'GET, HEAD, PATCH, PUT, DELETE, OPTIONS');
      is('twice', (await call('GET', '/loans?status=out&status=back', { as: 'lu' })).j?.oops, 'bad_question');
      is('warden cannot cue', (await call('POST', `/productions/${p.id}/cues`, { as: 'ines', body: {} })).j?.oops, 'not_yours');
      is('dolly type', (await act('loans', await loan(p, q), 'hand-over', 'ines', { body: { dolly: 1 } })).j.spots?.map((s) => s.path), ['/dolly']);
      const m = await call('GET', `/productions/${p.id}`, { as: 'lu' });
      is('tag by edition', (await call('GET', `/productions/${p.id}`, { as: 'lu', headers: { ...OLD, 'If-None-Match': m.h('etag') } })).status, 200);
      is('304 cache', (await call('GET', `/productions/${p.id}`, { as: 'lu', headers: { 'If-None-Match': m.h('etag') } })).h('cache-control'), 'private, no-cache');
      const cursor = (await call('GET', '/loans?take=1', { as: 'lu' })).j.next_from;
      is('cursor by edition', (await call('GET', `/loans?take=1&from=${encodeURIComponent(cursor)}`, { as: 'lu', headers: OLD })).j?.oops, 'bad_page');
      is('cursor by size', (await call('GET', `/loans?take=2&from=${encodeURIComponent(cursor)}`, { as: 'lu' })).status, 200);
    },
    async pace() {
      await advance('PT1M');
      const t = await troupe('mo');
      const get = () => call('GET', `/troupes/${t.id}/members`, { as: 'mo' });
      const first = await get();
      is('pace', [first.h('x-pace-limit'), first.h('x-pace-left')], ['40', '39']);
      for (let i = 0; i < 19; i++) await get();
      await advance('PT12S');
      for (let i = 0; i < 20; i++) is('within', (await get()).status, 200);
      const over = await get();
      is('over', [over.status, over.j?.oops, over.h('x-pace-left')], [429, 'slow_down', '0']);
      is('wait', Number(over.h('retry-after')), (v) => v >= 7 && v <= 8);
      await get();
      await advance('PT9S');
      let ok = 0;
      for (let i = 0; i < 40; i++) ok += (await get()).status === 200 ? 1 : 0;
      is('sliding', ok, 20);
      let deep = 0;
      for (let i = 0; i < 45; i++) deep += (await call('GET', '/loans', { as: 'mo' })).status === 200 ? 1 : 0;
      is('bucket', deep, (v) => v >= 30 && v <= 31);
      await advance('P1D');
      let made = 0, last;
      for (let i = 0; i < 5; i++) await call('POST', '/hooks', { as: 'mo', body: {} });
      for (let i = 0; i < 62; i++) (last = await call('POST', '/hooks', { as: 'mo', body: { url: 'http://127.0.0.1:1/' } })).status === 201 && made++;
      is('quota', [made, last.j.oops, Number(last.h('retry-after')) > 0], [60, 'enough_today', true]);
      is('quota of others', (await call('POST', '/hooks', { as: 'pip', body: { url: 'http://127.0.0.1:1/' } })).status, 201);
      is('no retry on 404', (await call('GET', '/troupes/x', { as: 'mo' })).status, 404);
    },
    async editions() {
      const r = await call('GET', '/troupes', { as: 'lu', headers: OLD });
      is('deprecated', [r.h('deprecation'), r.h('sunset'), r.h('greenroom-edition')], ['@1780272000', 'Thu, 01 Jun 2028 00:00:00 GMT', '2025-09']);
      is('link', r.h('link'), '<https://greenroom.example/moving>; rel="deprecation", </gr/troupes>; rel="successor-version"');
      is('refusal deprecated', (await call('GET', '/troupes', { headers: OLD })).h('deprecation'), '@1780272000');
      is('current', (await call('GET', '/troupes', { as: 'lu' })).h('greenroom-edition'), '2026-02');
      is('unknown', (await call('GET', '/troupes', { as: 'lu', headers: { 'Greenroom-Edition': 'x' } })).j?.oops, 'unknown_edition');
      await fetch(`http://127.0.0.1:${clockPort}/`, { method: 'POST', body: JSON.stringify({ now: '2028-06-01T00:00:01Z' }) });
      is('over', (await call('GET', '/troupes', { as: 'lu', headers: OLD })).status, 410);
      is('past', (await fetch(`http://127.0.0.1:${clockPort}/`, { method: 'POST', body: JSON.stringify({ now: '2027-06-01T00:00:01Z' }) })).status, 422);
    },
  };
  for (const [name, section] of Object.entries(sections)) {
    try {
      await section();
    } catch (error) {
      failed.push(`${name}: ${error.stack?.split('\n').slice(0, 3).join(' ')}`);
    }
    if (fault && failed.length > 0 && !process.argv.includes('--more')) break;
  }
  child.kill('SIGKILL');
  return failed;
}

const names = process.argv.slice(2).filter((a) => !a.startsWith('--'));
if (names.length === 0) {
  const failed = await run();
  console.log(failed.length ? failed.join('\n') : 'all right');
  process.exit(failed.length ? 1 : 0);
}
const todo = names[0] === 'all' ? [...new Set([...readFileSync(`${here}/service.mjs`, 'utf8').matchAll(/\bf\('([a-z0-9-]+)'\)/g)].map((m) => m[1]))].sort() : names;
let unseen = 0;
for (const fault of todo) {
  const failed = await run(fault);
  if (failed.length === 0) unseen++;
  console.log(`${failed.length ? 'seen  ' : 'UNSEEN'} ${fault}: ${failed[0] ?? ''}`);
}
console.log(`${todo.length - unseen} of ${todo.length} seen`);
process.exit(unseen ? 1 : 0);
