// Query parameters and pages.
import { CATEGORIES, instant, STATUSES, upCategory } from './fields.mjs';
import { Problem } from './problems.mjs';

const KNOWN = {
  'list rack': ['locked', 'after', 'before', 'count'],
  'list pledge': ['category', 'status', 'insured', 'min_asking', 'since', 'number', 'q', 'sort', 'way', 'offset', 'limit'],
};

export function readQuery(call, house) {
  const { fault } = house;
  const query = {};
  for (const [name, value] of new URLSearchParams(call.search)) {
    const known = KNOWN[call.operation] ?? [];
    if (!known.includes(name) || (name === 'insured' && call.version === 'v1')) {
      if (fault === 'payments-any-query' && call.operation === 'list payment') continue;
      throw new Problem('bad_parameter', { at: [name] });
    }
    if (name in query && fault !== 'last-one-wins') throw new Problem('bad_parameter', { at: [name] });
    query[name] = value;
  }
  const bad = (name) => {
    throw new Problem('bad_parameter', { at: [name] });
  };
  const q = { ...query };
  for (const name of ['insured', 'locked']) {
    if (!(name in q)) continue;
    if (q[name] !== 'true' && q[name] !== 'false') bad(name);
    q[name] = q[name] === 'true';
  }
  if ('category' in q) {
    const words = q.category.split(',').map((word) => (fault === 'gem-unknown-filter' ? word : upCategory(word, call.version)));
    if (words.length > 100 || !words.every((word) => CATEGORIES.includes(word))) bad('category');
    q.category = words;
  }
  if ('status' in q && !STATUSES.includes(q.status)) {
    if (fault !== 'any-status-filter') bad('status');
  }
  if ('min_asking' in q) {
    q.min_asking = /^\d{1,9}$/.test(q.min_asking) ? Number(q.min_asking) : Number.NaN;
    if (!(q.min_asking >= 100 && q.min_asking <= 5_000_000)) bad('min_asking');
  }
  if ('since' in q) {
    q.since = instant(q.since);
    if (Number.isNaN(q.since)) bad('since');
  }
  if ('q' in q && (q.q.length < 1 || [...q.q].length > 60)) bad('q');
  if ('sort' in q && !/^-?(brought|asking|item)$/.test(q.sort)) bad('sort');
  if ('way' in q && q.way !== 'asc' && q.way !== 'desc') bad('way');
  for (const [name, least, most] of [['offset', 0, 1e9], ['limit', 1, fault === 'limit-clamped' ? 1e9 : 30], ['count', 1, 1e9]]) {
    if (!(name in q)) continue;
    if (!/^\d{1,9}$/.test(q[name]) || Number(q[name]) < least || Number(q[name]) > most) throw new Problem('bad_page', { at: [name] });
    q[name] = Number(q[name]);
  }
  return q;
}

const bytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const COMPARE = {
  brought: (a, b) => a.$brought - b.$brought,
  asking: (a, b) => a.asking - b.asking,
  item: (a, b) => bytes(a.item, b.item),
};
export function listPledges(call, house) {
  const { query: q, caller, version } = call;
  const { fault } = house;
  let rows = [...house.pledges.values()].filter((row) => house.mayRead(caller, 'pledge', row) || (fault === 'number-finds-all' && 'number' in q));
  if ('category' in q) rows = rows.filter((row) => (fault === 'first-category-only' ? q.category[0] === row.category : q.category.includes(row.category)));
  if ('status' in q) rows = rows.filter((row) => row.status === q.status);
  if ('insured' in q) rows = rows.filter((row) => row.insured === q.insured || (fault === 'insured-false-finds-all' && !q.insured));
  if ('min_asking' in q) rows = rows.filter((row) => (fault === 'above-only' ? row.asking > q.min_asking : row.asking >= q.min_asking));
  if ('since' in q) rows = rows.filter((row) => row.$brought >= q.since);
  if ('number' in q) rows = rows.filter((row) => row.number === q.number);
  if ('q' in q) {
    const lower = (text) => (fault === 'search-case' ? text : text.toLowerCase());
    const words = lower(q.q).split(/\s+/).filter((word) => word !== '');
    const has = (row, word) => lower(row.item).includes(word) || (fault !== 'search-item-only' && lower(row.maker ?? '').includes(word));
    rows = rows.filter((row) => (fault === 'search-any-word' ? words.some((word) => has(row, word)) : words.every((word) => has(row, word))));
  }
  const sort = q.sort ?? '-brought';
  let sign = sort.startsWith('-') ? -1 : 1;
  if (q.way === 'desc' && fault !== 'way-unread') sign = -sign;
  const compare = COMPARE[sort.replace('-', '')];
  rows.sort((a, b) => compare(a, b) * sign);
  const { offset = 0 } = q;
  const limit = Math.min(30, q.limit ?? 5);
  const from = fault === 'offset-in-pages' ? offset * limit : offset;
  const page = rows.slice(from, from + limit);
  const link = (at, rel) => {
    const told = new URLSearchParams(call.search);
    if (fault === 'link-loses-filter') for (const name of [...told.keys()]) told.delete(name);
    told.set('offset', String(at));
    told.set('limit', String(limit));
    return `<${call.path}?${told}>; rel="${rel}"`;
  };
  const links = [link(0, 'first')];
  if (offset > 0) links.push(link(Math.max(0, offset - limit), 'prev'));
  if (rows.length > offset + limit || (fault === 'next-on-last' && rows.length === offset + limit)) links.push(link(offset + limit, 'next'));
  const total = fault === 'total-of-page' ? page.length : fault === 'total-of-all' ? house.pledges.size : rows.length;
  return {
    status: 200,
    json: { pledges: page.map((row) => house.view('pledge', row, { version, user: caller.user, where: 'list' })), total },
    headers: { Link: links.join(', ') },
  };
}

export function listRacks(call, house) {
  const { query: q, caller, version } = call;
  const { fault } = house;
  const all = [...house.racks.values()].sort((a, b) => bytes(a.code, b.code));
  for (const name of ['after', 'before']) if (name in q && !house.racks.has(q[name]) && fault !== 'after-nothing') throw new Problem('bad_page', { at: [name] });
  if ('after' in q && 'before' in q) throw new Problem('bad_page', { at: ['before'] });
  const count = Math.min(fault === 'count-to-50' ? 50 : 20, q.count ?? 4);
  let rows = all.filter((row) => !('locked' in q) || row.locked === q.locked);
  let more;
  if ('before' in q) {
    rows = rows.filter((row) => bytes(row.code, q.before) < 0);
    more = rows.length > count;
    rows = fault === 'before-from-start' ? rows.slice(0, count) : rows.slice(-count);
  } else {
    if ('after' in q) rows = rows.filter((row) => bytes(row.code, q.after) > (fault === 'after-repeats' ? -1 : 0));
    more = fault === 'more-on-full' ? rows.length >= count : rows.length > count;
    rows = rows.slice(0, count);
  }
  return { status: 200, json: { racks: rows.map((row) => house.view('rack', row, { version, user: caller.user, where: 'list' })), more } };
}
