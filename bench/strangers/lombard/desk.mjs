// What each operation does. Everything is looked at first and changed last, without a pause between: a refusal leaves nothing behind.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { orRefuse, readSent } from './fields.mjs';
import { DAY, iso } from './house.mjs';
import { listPledges, listRacks } from './lists.mjs';
import { Problem } from './problems.mjs';

const OPEN = ['brought', 'offered', 'pawned'];
const without = (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined));
const isSame = (a, b) => JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
/** The Monday, in UTC, on which the week of a moment begins. */
const mondayOf = (ms) => {
  const day = Math.floor(ms / DAY);
  return (day - ((day + 3) % 7)) * DAY;
};

export class Desk {
  #spent = new Map();
  constructor(house) {
    this.house = house;
  }

  do(call) {
    const [verb, resource] = call.operation.split(' ');
    const row = this.#find(call, verb, resource);
    const own = this[`${verb}_${resource}`];
    if (own) return own.call(this, call, row);
    if (verb === 'read') return { status: 200, json: this.#view(call, resource, row, this.house.fault === 'secret-again' ? 'created' : 'read') };
    throw new Error(`nobody does ${call.operation}`);
  }
  #view({ version, caller }, resource, row, where = '') {
    return this.house.view(resource, row, { version, user: caller.user, where });
  }
  #find({ at, caller }, verb, resource) {
    const { house } = this;
    const { fault } = house;
    let row;
    if (at.pledge !== undefined) {
      row = house.pledges.get(at.pledge);
      if (!row || !(house.mayRead(caller, 'pledge', row) || (fault === 'pays-for-anyone' && verb === 'create') || (fault === 'payments-of-anyone' && verb === 'list'))) throw new Problem('not_found');
      return row;
    }
    if (at.code === undefined && at.id === undefined) return undefined;
    if (resource === 'rack') row = house.racks.get(at.code);
    else if (resource === 'hook') row = /^[1-9]\d{0,15}$/.test(at.id) ? house.hooks.get(Number(at.id)) : undefined;
    else row = house[`${resource}s`].get(fault === 'ids-any-case' && resource === 'pledge' ? at.id.toLowerCase() : at.id);
    if (!row) throw new Problem('not_found');
    if (!house.mayRead(caller, resource, row)) {
      if (fault === 'foreign-403' && verb === 'update') throw new Problem('forbidden');
      if (!(fault === 'hooks-of-anyone' && resource === 'hook' && verb === 'delete') && !(fault === 'redeems-anyones' && verb === 'redeem')) throw new Problem('not_found');
    }
    if (verb === 'void' && row.taken_by !== caller.id && fault !== 'any-clerk-voids') throw new Problem('forbidden');
    return row;
  }

  // ---- racks
  #refuseLabel(label, but) {
    const { fault } = this.house;
    const lower = (text) => (fault === 'labels-by-case' ? text : text.toLowerCase());
    for (const rack of this.house.racks.values()) {
      if (rack.code !== but && lower(rack.label) === lower(label)) throw new Problem('duplicate', { at: ['label'] });
    }
  }
  create_rack(call) {
    const values = orRefuse(readSent(this.house, 'rack', call.json, { mode: 'create', version: call.version, user: call.caller.user }));
    if (this.house.racks.has(values.code)) throw new Problem(this.house.fault === 'code-taken-422' ? 'invalid' : 'duplicate', { at: ['code'] });
    this.#refuseLabel(values.label, values.code);
    this.house.racks.set(values.code, values);
    this.house.tellRow('rack.changed', 'rack', values);
    return { status: 201, json: this.#view(call, 'rack', values), headers: { Location: `/api/${call.version}/racks/${values.code}` } };
  }
  list_rack(call) {
    return listRacks(call, this.house);
  }
  replace_rack(call, rack) {
    const { fault } = this.house;
    const sent = typeof call.json === 'object' && call.json !== null && !Array.isArray(call.json) && !('code' in call.json) ? { ...call.json, code: rack.code } : call.json;
    const read = readSent(this.house, 'rack', sent, { mode: 'replace', version: call.version, user: call.caller.user });
    if (read.values.code !== undefined && read.values.code !== rack.code) read.wrong.push({ at: 'code', kind: 'invalid' });
    const values = orRefuse(read);
    this.#refuseLabel(values.label, rack.code);
    if (fault === 'note-survives') values.note ??= rack.note;
    if (fault === 'locked-survives' && !('locked' in call.json)) values.locked = rack.locked;
    const next = without(values);
    const isChanged = !isSame(rack, next);
    if (isChanged) this.house.racks.set(rack.code, next);
    // A map keeps the place of a key that is set again.
    if ((isChanged && fault !== 'replace-unheard') || fault === 'told-for-nothing') this.house.tellRow('rack.changed', 'rack', next);
    return { status: 200, json: this.#view(call, 'rack', next) };
  }
  delete_rack(_call, rack) {
    for (const pledge of this.house.pledges.values()) {
      if (pledge.rack === rack.code && (this.house.fault !== 'held-if-pawned' || pledge.status === 'pawned')) throw new Problem('rack_in_use');
    }
    this.house.racks.delete(rack.code);
    return { status: 204 };
  }

  // ---- pledges
  refuseTaken(owner, item, but) {
    const { fault } = this.house;
    for (const one of this.house.pledges.values()) {
      const holds = fault === 'items-stay-taken' || OPEN.includes(one.status);
      if (one.id !== but && (one.owner === owner || fault === 'items-of-all') && one.item === item && holds) throw new Problem('duplicate', { at: ['item'] });
    }
  }
  /** What is wrong with the row as it would be, and with what it refers to. */
  #consider(read, next, version, operation) {
    const { fault } = this.house;
    const told = version === 'v1' ? 'weight_kg' : 'weight_g';
    const heavy = next.category === 'jewel' && next.weight_g > 5000;
    if (heavy && !read.wrong.some(({ at }) => at === told) && !(fault === 'heavy-on-update' && operation === 'update')) read.wrong.push({ at: told, kind: 'invalid' });
    orRefuse(read);
    const { rack } = read.values;
    if (rack != null && !this.house.racks.has(rack)) throw new Problem(fault === 'ref-as-404' ? 'not_found' : 'unknown_ref', { at: ['rack'] });
  }
  #unlocked(next) {
    if (next.rack !== undefined && this.house.racks.get(next.rack)?.locked && this.house.fault !== 'locked-racks-take') throw new Problem('rack_locked');
  }
  #spend(caller, isOnly) {
    const { clock, fault } = this.house;
    const now = clock.now();
    const start = fault === 'week-from-sunday' ? mondayOf(now + DAY) - DAY : mondayOf(now);
    const who = `${fault === 'quota-of-all' ? '' : caller.id} ${start}`;
    const used = this.#spent.get(who) ?? 0;
    if (used >= 80) throw new Problem('quota_used', { headers: { 'Retry-After': String(Math.ceil((start + 7 * DAY - now) / 1000)) } });
    if (!isOnly) this.#spent.set(who, used + 1);
  }
  create_pledge(call) {
    const { house, house: { fault } } = this;
    const read = readSent(house, 'pledge', call.json, { mode: 'create', version: call.version, user: call.caller.user });
    this.#consider(read, read.values, call.version, 'create');
    const { values } = read;
    this.#unlocked(values);
    if (fault === 'refused-use-quota') this.#spend(call.caller);
    if (!call.isUnchecked) this.refuseTaken(call.caller.id, values.item);
    if (fault === 'numbers-with-gaps') house.lastNumber += call.json.marks ? 2 : 1;
    if (fault !== 'refused-use-quota') this.#spend(call.caller);
    const now = house.clock.now();
    if (fault !== 'numbers-with-gaps') house.lastNumber += 1;
    const pledge = {
      id: `plg_${randomBytes(fault === 'long-ids' && house.lastNumber % 3 === 0 ? 7 : 6).toString('hex')}`,
      number: `L-${String(house.lastNumber).padStart(fault === 'number-unpadded' ? 1 : 6, '0')}`,
      ...values,
      status: values.status ?? 'brought',
      renewals: 0,
      owner: call.caller.id,
      brought_at: iso(now),
      touched_at: iso(now),
      $brought: now,
    };
    house.pledges.set(pledge.id, pledge);
    house.tellRow('pledge.brought', 'pledge', pledge);
    return { status: fault === 'created-200' ? 200 : 201, json: this.#view(call, 'pledge', pledge), headers: fault === 'location-of-v2' ? { Location: `/api/v2/pledges/${pledge.id}` } : { Location: `/api/${call.version}/pledges/${pledge.id}` } };
  }
  list_pledge(call) {
    return listPledges(call, this.house);
  }
  #tag(call, pledge) {
    const seen = this.#view(call, 'pledge', pledge);
    if (this.house.fault === 'tag-without-paid') delete seen.paid;
    return `"${createHash('sha256').update(JSON.stringify([call.version, seen])).digest('base64url').slice(0, 22)}"`;
  }
  #names(header, tag, isWeak) {
    if (header.trim() === '*') return true;
    return [...header.matchAll(/(W\/)?("[^"]*")/g)].some(([, weak, one]) => one === tag && (isWeak || !weak || this.house.fault === 'weak-is-strong'));
  }
  read_pledge(call, pledge) {
    const ETag = this.#tag(call, pledge);
    const none = call.headers['if-none-match'];
    if (none !== undefined && this.#names(none, ETag, true) && this.house.fault !== 'never-304') return { status: 304, headers: { ETag } };
    return { status: 200, json: this.#view(call, 'pledge', pledge), headers: { ETag } };
  }
  update_pledge(call, pledge) {
    const { house, house: { fault } } = this;
    const wanted = call.headers['if-match'];
    if (wanted !== undefined && fault !== 'if-match-unread' && !this.#names(wanted, this.#tag(call, pledge))) throw new Problem('etag_mismatch');
    const read = readSent(house, 'pledge', call.json, { mode: 'update', version: call.version, user: call.caller.user, before: pledge });
    const next = without({ ...pledge, ...read.values });
    this.#consider(read, next, call.version, 'update');
    if (!OPEN.includes(pledge.status) && !(fault === 'forfeited-edits' && pledge.status === 'forfeited')) throw new Problem('wrong_status');
    this.#unlocked(next);
    this.refuseTaken(pledge.owner, next.item, pledge.id);
    if (fault === 'v1-uninsures' && call.version === 'v1') next.insured = false;
    if (fault === 'marks-reset' && 'item' in read.values) delete next.marks;
    if (fault === 'update-reclocks' && next.$until) next.$until = house.clock.now() + (next.status === 'pawned' ? 30 : 7) * DAY;
    if (!isSame(pledge, next) || fault === 'touched-for-nothing') {
      const was = pledge.asking;
      for (const name of Object.keys(pledge)) if (!(name in next)) delete pledge[name];
      Object.assign(pledge, next, fault === 'update-untouched' ? {} : { touched_at: iso(house.clock.now()) });
      if (was !== pledge.asking || fault === 'always-repriced') {
        house.tell('pledge.repriced', 'pledge', pledge, () => ({ pledge: pledge.id, was: fault === 'was-is-is' ? pledge.asking : was, is: pledge.asking }));
      }
    }
    return { status: 200, json: this.#view(call, 'pledge', pledge, 'update') };
  }
  delete_pledge(call, pledge) {
    const { house, house: { fault } } = this;
    const wanted = call.headers['if-match'];
    if (wanted === undefined && fault !== 'delete-without-tag') throw new Problem('etag_required');
    if (wanted !== undefined && !this.#names(wanted, this.#tag(call, pledge))) throw new Problem('etag_mismatch');
    if (!['withdrawn', 'redeemed', 'sold'].includes(pledge.status) && !(fault === 'deletes-forfeited' && pledge.status === 'forfeited')) throw new Problem('wrong_status');
    if (fault !== 'erased-unheard') house.tell('pledge.erased', 'pledge', pledge, () => ({ pledge: pledge.id, number: pledge.number }));
    if (fault !== 'payments-orphaned') for (const one of [...house.payments.values()]) if (one.pledge === pledge.id) house.payments.delete(one.id);
    house.pledges.delete(pledge.id);
    return { status: 204 };
  }
  #from(pledge, ...statuses) {
    if (!statuses.includes(pledge.status)) throw new Problem('wrong_status');
  }
  #moved(call, pledge, status, set, how) {
    this.house.move(pledge, status, set, how);
    return { status: 200, json: this.#view(call, 'pledge', pledge) };
  }
  offer_pledge(call, pledge) {
    const { json } = call;
    if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Problem('invalid', { at: [''] });
    const wrong = [];
    for (const [key, value] of Object.entries(json)) {
      if (key !== 'loan') wrong.push({ at: key, kind: 'unknown' });
      else if (!(Number.isInteger(value) && value >= 100 && value <= (this.house.fault === 'loan-without-bound' ? 5_000_000 : 4_000_000))) wrong.push({ at: 'loan', kind: 'invalid' });
    }
    if (!('loan' in json)) wrong.push({ at: 'loan', kind: 'invalid' });
    orRefuse({ wrong });
    this.#from(pledge, 'brought');
    return this.#moved(call, pledge, 'offered', { loan: this.house.fault === 'loan-rounded' ? Math.round(json.loan / 10) * 10 : json.loan });
  }
  accept_pledge(call, pledge) {
    const { house, house: { fault } } = this;
    if (!(fault === 'accepts-twice' && pledge.status === 'pawned')) this.#from(pledge, 'offered');
    if (pledge.rack === undefined) {
      if (fault === 'half-accepted') Object.assign(pledge, { status: 'pawned' });
      throw new Problem('no_rack');
    }
    return this.#moved(call, pledge, 'pawned', { due_at: iso(house.clock.now() + (fault === 'due-in-31' ? 31 : 30) * DAY) });
  }
  renew_pledge(call, pledge) {
    const { house, house: { fault } } = this;
    this.#from(pledge, 'pawned');
    if (pledge.renewals >= (fault === 'four-renewals' ? 4 : 3)) throw new Problem('renewed_enough');
    const due = fault === 'due-not-renewed' ? pledge.due_at : iso(house.clock.now() + 30 * DAY);
    return this.#moved(call, pledge, 'pawned', { renewals: pledge.renewals + 1, due_at: due }, { silent: fault === 'renew-unheard' });
  }
  redeem_pledge(call, pledge) {
    this.#from(pledge, 'pawned');
    const least = this.house.fault === 'redeem-one-short' ? pledge.loan - 1 : pledge.loan;
    if (this.house.paid(pledge) < least) throw new Problem('unpaid');
    return this.#moved(call, pledge, 'redeemed');
  }
  sell_pledge(call, pledge) {
    this.#from(pledge, 'forfeited', ...(this.house.fault === 'sells-pawned' ? ['pawned'] : []));
    return this.#moved(call, pledge, 'sold');
  }
  withdraw_pledge(call, pledge) {
    const { fault } = this.house;
    if (!['brought', 'offered', ...(fault === 'withdraws-pawned' ? ['pawned'] : [])].includes(pledge.status)) throw new Problem(fault === 'withdrawn-again' && pledge.status === 'withdrawn' ? 'wrong_status' : 'too_late');
    return this.#moved(call, pledge, 'withdrawn');
  }

  // ---- payments
  create_payment(call, pledge) {
    const { house, house: { fault } } = this;
    const { json } = call;
    if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Problem('invalid', { at: [''] });
    if (json.payment === undefined && !(fault === 'payment-bare' && 'amount' in json)) throw new Problem('invalid', { at: ['payment'] });
    const read = readSent(house, 'payment', json.payment ?? json, { mode: 'create', version: call.version, user: call.caller.user, prefix: 'payment.' });
    if (read.values.pledge !== undefined && read.values.pledge !== pledge.id) read.wrong.push({ at: 'payment.pledge', kind: 'invalid' });
    const values = orRefuse(read);
    if (pledge.status !== 'pawned' && !(fault === 'pays-forfeited' && pledge.status === 'forfeited')) throw new Problem('not_pawned');
    if (pledge.loan !== undefined && values.amount > pledge.loan) throw new Problem('too_much');
    const payment = { id: randomUUID(), ...values, pledge: pledge.id, status: 'booked', taken_by: fault === 'taken-by-owner' ? pledge.owner : call.caller.id, taken_at: iso(house.clock.now()) };
    house.payments.set(payment.id, payment);
    house.tellRow('payment.booked', 'payment', payment);
    return { status: 201, json: this.#view(call, 'payment', payment), headers: { Location: `/api/${call.version}${fault === 'payment-location-nested' ? `/pledges/${pledge.id}` : ''}/payments/${payment.id}` } };
  }
  list_payment(call, pledge) {
    const rows = [...this.house.payments.values()].filter((one) => one.pledge === pledge.id || this.house.fault === 'payments-of-all');
    if (this.house.fault === 'newest-payment-first') rows.reverse();
    return { status: 200, json: rows.map((row) => this.#view(call, 'payment', row, 'list')) };
  }
  void_payment(call, payment) {
    const { fault } = this.house;
    if (payment.status !== 'booked' && fault !== 'voids-again') throw new Problem('wrong_status');
    payment.status = 'voided';
    if (fault !== 'void-unheard') this.house.tellRow(fault === 'void-as-booked' ? 'payment.booked' : 'payment.voided', 'payment', payment);
    return { status: 200, json: this.#view(call, 'payment', payment) };
  }

  // ---- hooks
  create_hook(call) {
    const { house, house: { fault } } = this;
    const values = orRefuse(readSent(house, 'hook', call.json, { mode: 'create', version: call.version, user: call.caller.user }));
    const own = [...house.hooks.values()].filter(({ keeper, $keeperUser }) => fault === 'hooks-of-user-counted' ? $keeperUser === call.caller.user : keeper === call.caller.id);
    if (own.length >= (fault === 'six-hooks' ? 6 : 5)) throw new Problem('quota_used');
    house.lastHook += 1;
    const hook = { id: house.lastHook, ...values, secret: house.secret(), keeper: call.caller.id, $keeperUser: call.caller.user, $version: call.version };
    house.hooks.set(hook.id, hook);
    return { status: 201, json: this.#view(call, 'hook', hook, 'created'), headers: { Location: `/api/${call.version}/hooks/${hook.id}` } };
  }
  list_hook(call) {
    const rows = [...this.house.hooks.values()].filter((row) => this.house.mayRead(call.caller, 'hook', row) || (this.house.fault === 'hooks-of-role' && row.$keeperUser === call.caller.user));
    return { status: 200, json: rows.map((row) => this.#view(call, 'hook', row, 'list')) };
  }
  update_hook(call, hook) {
    const read = readSent(this.house, 'hook', call.json, { mode: 'update', version: call.version, user: call.caller.user, before: hook });
    const values = orRefuse(read);
    const next = without({ ...hook, ...values });
    if (this.house.fault === 'url-stays') next.url = hook.url;
    this.house.hooks.set(hook.id, next);
    return { status: 200, json: this.#view(call, 'hook', next) };
  }
  delete_hook(_call, hook) {
    this.house.hooks.delete(hook.id);
    return { status: 204 };
  }
}
