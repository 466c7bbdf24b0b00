// What the house keeps: rows, their timers, and the news that is sent about them.
import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { request } from 'node:http';
import { Clock } from './clock.mjs';
import { downCategory, downName, shapes } from './fields.mjs';

export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;
export const iso = (ms) => new Date(ms).toISOString();
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
export const random = (length) => Array.from({ length }, () => ALPHABET[randomInt(62)]).join('');

export class House {
  clock = new Clock();
  racks = new Map();
  pledges = new Map();
  payments = new Map();
  hooks = new Map();
  lastNumber = 0;
  lastHook = 0;
  #queues = new Map();
  #running = new Set();
  #isMoving = false;

  constructor(fault) {
    this.fault = fault;
    this.shapes = shapes(fault);
    this.waits = fault === 'two-retries' ? [MINUTE, 10 * MINUTE] : [MINUTE, 10 * MINUTE, 60 * MINUTE];
    setInterval(() => {
      if (this.#isMoving) return;
      this.runTimers();
      this.#deliverDue();
    }, 25).unref();
  }

  // ---- reading
  paid(pledge) {
    let sum = 0;
    for (const one of this.payments.values()) {
      if (one.pledge === pledge.id && (one.status === 'booked' || this.fault === 'voided-still-paid')) sum += one.amount;
    }
    return sum;
  }
  stored(rack) {
    let count = 0;
    for (const one of this.pledges.values()) {
      if (one.rack === rack.code && (one.status === 'pawned' || this.fault === 'stored-counts-all')) count += 1;
    }
    return count;
  }
  mayRead(caller, resource, row) {
    if (resource === 'hook') return row.keeper === caller.id && row.$keeperUser === caller.user;
    if (resource === 'rack') return caller.user !== 'auditor';
    if (caller.user === 'clerk') return true;
    if (caller.user === 'auditor') return resource === 'pledge';
    return (resource === 'payment' ? this.pledges.get(row.pledge) : row)?.owner === caller.id;
  }
  /** A row as its reader sees it. */
  view(resource, row, { version, user, where = '' }) {
    const { fault } = this;
    const shown = {};
    const only = user === 'auditor' && resource === 'pledge' && fault !== 'auditor-sees-all' ? ['id', 'number', 'category', 'status', 'loan', 'brought_at', 'due_at'] : undefined;
    for (const [name, field] of Object.entries(this.shapes[resource])) {
      if (only && !only.includes(name)) continue;
      if (field.out === false && !(fault === 'secret-mark-told' && name === 'secret_mark' && where === 'update') && !(fault === 'secret-mark-in-news' && name === 'secret_mark' && where === 'news') && !(fault === 'owner-in-lists' && name === 'owner' && where === 'list')) continue;
      if (field.once && where !== 'created' && !(fault === 'secret-in-hook-list' && where === 'list')) continue;
      if (field.seenBy && field.seenBy !== user && !(fault === 'remark-in-lists' && where === 'list')) continue;
      let value = row[name];
      if (name === 'paid') value = this.paid(row);
      if (name === 'stored') value = this.stored(row);
      if (value === undefined) continue;
      if (resource === 'pledge' && version === 'v1') {
        if (name === 'insured' && fault !== 'insured-in-v1') continue;
        if (name === 'category') value = fault === 'jewel-in-v1-lists' && where === 'list' ? value : downCategory(value, version);
        if (name === 'weight_g') value = fault === 'kilos-are-grams' && where === 'list' ? value : value / 1000;
      }
      if (name === 'touched_at' && fault === 'no-milliseconds') value = value.replace(/\.\d+Z$/, 'Z');
      shown[downName(resource, name, version)] = value;
    }
    return shown;
  }

  // ---- changing
  /** Moves a pledge to a status, with what is set then. */
  move(pledge, status, set = {}, { silent = false, touch = true } = {}) {
    const from = pledge.status;
    const now = this.clock.now();
    Object.assign(pledge, set, { status });
    if (touch) pledge.touched_at = iso(now);
    delete pledge.$until;
    if (status === 'offered') pledge.$until = now + (this.fault === 'lapse-after-eight' ? 8 : 7) * DAY;
    if (status === 'pawned') pledge.$until = this.fault === 'renew-keeps-term' && from === 'pawned' ? pledge.$term : now + 30 * DAY;
    pledge.$term = pledge.$until;
    if (!silent) this.tell('pledge.moved', 'pledge', pledge, () => ({ pledge: pledge.id, from: this.fault === 'from-is-to' && status === 'redeemed' ? status : from, to: status }));
  }
  runTimers() {
    for (;;) {
      let first;
      for (const one of this.pledges.values()) if (one.$until !== undefined && (!first || one.$until < first.$until)) first = one;
      if (!first || first.$until > this.clock.now()) return first?.$until;
      if (first.status === 'offered') this.move(first, 'withdrawn', {}, { silent: this.fault === 'lapse-unheard', touch: this.fault !== 'lapse-untouched' });
      else this.move(first, this.fault === 'forfeit-withdraws' ? 'withdrawn' : 'forfeited');
    }
  }

  // ---- news
  tell(topic, resource, row, payload, queueNow = true) {
    const { fault } = this;
    const event = `evt_${random(22)}`;
    for (const hook of this.hooks.values()) {
      const asked = hook.events;
      const wants = !asked || asked.some((one) => one === '*' || one === topic || (one.endsWith('.*') && topic.startsWith(one.slice(0, -1))));
      if (!wants && !(fault === 'pledge-star-is-all' && asked.includes('pledge.*'))) continue;
      if (!hook.active && fault !== 'inactive-told') continue;
      if (!this.mayRead({ user: hook.$keeperUser, id: hook.keeper }, resource, row) && !(fault === 'payments-to-all' && resource === 'payment')) continue;
      const version = fault === 'hooks-in-v2' ? 'v2' : hook.$version;
      const json = { event, topic, happened: iso(this.clock.now()), payload: payload({ version, user: hook.$keeperUser, where: 'news' }) };
      const lane = fault === 'overtaking' ? `${hook.id} ${random(8)}` : `${hook.id} ${resource} ${row.id ?? row.code}`;
      if (!this.#queues.has(lane)) this.#queues.set(lane, []);
      this.#queues.get(lane).push({ lane, hook: hook.id, topic, json, tries: 0, due: this.clock.now() });
    }
    if (queueNow) this.#deliverDue();
  }
  tellRow(topic, resource, row) {
    this.tell(topic, resource, row, (reader) => this.view(resource, row, reader));
  }
  #deliverDue() {
    let next;
    for (const [first] of this.#queues.values()) {
      if (first.busy) continue;
      if (first.due > this.clock.now()) next = Math.min(next ?? first.due, first.due);
      else {
        first.busy = true;
        const run = this.#attempt(first).finally(() => this.#running.delete(run));
        this.#running.add(run);
      }
    }
    return next;
  }
  async #attempt(item) {
    const hook = this.hooks.get(item.hook);
    const queue = this.#queues.get(item.lane);
    if (!hook) return void this.#queues.delete(item.lane);
    if (this.fault === 'new-event-each-try' && item.tries > 0) item.json.event = `evt_${random(22)}`;
    const body = Buffer.from(JSON.stringify(item.json));
    const stamp = Math.floor(this.clock.now() / (this.fault === 'stamp-in-ms' ? 1 : 1000));
    const secret = this.fault === 'secret-not-decoded' ? hook.secret : Buffer.from(hook.secret.slice('whsec_'.length), 'base64');
    const signed = this.fault === 'signs-latin' ? body.toString('latin1') : body.toString();
    const mac = createHmac('sha256', secret).update(`${item.json.event}.${stamp}.${signed}`).digest('base64');
    const answer = await post(hook.url, body, {
      'webhook-id': this.fault === 'try-numbered' ? `${item.json.event}-${item.tries + 1}` : item.json.event,
      'webhook-timestamp': String(stamp),
      'webhook-signature': this.fault === 'signature-unversioned' ? mac : `v1,${mac}`,
      ...(this.fault === 'no-topic-header' ? {} : { 'X-Lombard-Topic': item.topic }),
    });
    item.busy = false;
    item.tries += 1;
    const isTaken = answer.status >= 200 && answer.status < (this.fault === 'redirect-is-taken' ? 400 : 300);
    if (isTaken || item.tries > this.waits.length) queue.shift();
    else item.due = this.clock.now() + Math.max(this.waits[item.tries - 1], Math.min(DAY, (Number(answer.retryAfter) || 0) * 1000));
    if (queue.length === 0) this.#queues.delete(item.lane);
  }
  /** Moves the clock, doing on the way what is due. */
  async moveTo(target) {
    this.#isMoving = true;
    try {
      for (;;) {
        const timer = this.runTimers();
        const delivery = this.#deliverDue();
        if (this.#running.size > 0) {
          await Promise.all(this.#running);
          continue;
        }
        const next = Math.min(timer ?? Number.POSITIVE_INFINITY, delivery ?? Number.POSITIVE_INFINITY);
        if (next > target) break;
        this.clock.set(next);
      }
      this.clock.set(target);
      this.runTimers();
      this.#deliverDue();
    } finally {
      this.#isMoving = false;
    }
  }
  secret() {
    return `whsec_${randomBytes(32).toString('base64')}`;
  }
}

function post(url, body, headers) {
  return new Promise((resolve) => {
    const failed = { status: 0 };
    try {
      const sent = request(url, { method: 'POST', agent: false, headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': body.length } });
      const late = setTimeout(() => sent.destroy(new Error('late')), 5000);
      const end = (told) => {
        clearTimeout(late);
        resolve(told);
      };
      sent.on('response', (answer) => {
        answer.resume();
        end({ status: answer.statusCode, retryAfter: answer.headers['retry-after'] });
      });
      sent.on('error', () => end(failed));
      sent.end(body);
    } catch {
      resolve(failed);
    }
  });
}
