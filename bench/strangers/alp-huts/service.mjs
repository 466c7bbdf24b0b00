// Alp Huts: the mountain huts of an alpine club. One file, node:* modules only.
//   node service.mjs --port N --clock-port M [--fault ID]
import http from 'node:http';
import https from 'node:https';
import { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';

// ---------------------------------------------------------------- command line

const argument = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const FAULT = argument('fault') ?? '';
const bug = (id) => FAULT === id;

const BASE = '/api';
const TITLE = 'Alp Huts';
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

// ---------------------------------------------------------------- the clock

/** The service's own time, which a door can move forward, and what is to be done at its times. */
class Clock {
  #offset = 0;
  #tasks = [];
  #order = 0;
  #wake = null;
  #busy = false;

  now() { return Date.now() + this.#offset; }
  iso(ms = this.now()) { return new Date(ms).toISOString(); }

  at(due, run) {
    const task = { due, order: this.#order++, run, off: false };
    let low = 0, high = this.#tasks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#tasks[middle].due <= due) low = middle + 1; else high = middle;
    }
    this.#tasks.splice(low, 0, task);
    if (low === 0) this.#arm();
    return task;
  }

  #arm() {
    if (this.#busy) return;
    clearTimeout(this.#wake);
    if (!this.#tasks.length) return;
    this.#wake = setTimeout(() => this.runDue(), Math.min(Math.max(this.#tasks[0].due - this.now(), 0), 2 ** 30));
    this.#wake.unref?.();
  }

  /** What is due by now is done at once: also before a request looks at rows. */
  runDue() {
    while (this.#tasks.length && this.#tasks[0].due <= this.now()) this.#perform(this.#tasks.shift());
    this.#arm();
  }

  #perform(task) {
    if (task.off) return;
    try { task.run(); } catch (error) { console.error(error); }
  }

  async moveTo(target, settle) {
    this.#busy = true;
    clearTimeout(this.#wake);
    try {
      let waits = 0;
      while (this.#tasks.length && this.#tasks[0].due <= target) {
        const due = this.#tasks[0].due;
        if (due > this.now()) this.#offset = due - Date.now();
        while (this.#tasks.length && this.#tasks[0].due <= due) this.#perform(this.#tasks.shift());
        if (waits < 60 && (await settle())) waits++; else waits = 60;
      }
      if (target > this.now()) this.#offset = target - Date.now();
    } finally {
      this.#busy = false;
      this.#arm();
    }
  }
}

const clock = new Clock();

/** The door of the clock: GET tells the time, POST moves it. */
class Door {
  static plus(text, from) {
    const found = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
    if (!found) return null;
    const [years, months, weeks, days, hours, minutes, seconds] = found.slice(1).map((part) => Number(part ?? 0));
    const date = new Date(from);
    const day = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + years * 12 + months);
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    date.setUTCDate(Math.min(day, last));
    return date.getTime() + (weeks * 7 + days) * DAY + hours * HOUR + minutes * MINUTE + Math.round(seconds * SECOND);
  }

  static open(port, courier) {
    http.createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', async () => {
        const answer = (status, body) => {
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(JSON.stringify(body));
        };
        const tell = () => answer(200, { now: clock.iso() });
        if (request.method === 'GET') return tell();
        if (request.method !== 'POST') return answer(400, { error: 'GET or POST' });
        let body;
        try { body = JSON.parse(Buffer.concat(chunks).toString('utf8')); } catch { return answer(400, { error: 'no JSON' }); }
        let target = null;
        if (typeof body?.advance === 'string') target = Door.plus(body.advance, clock.now());
        else if (typeof body?.now === 'string' && Formats['date-time'](body.now)) target = Date.parse(body.now);
        if (target === null || Number.isNaN(target)) return answer(400, { error: 'advance or now' });
        if (target < clock.now()) return answer(422, { error: 'the clock goes forward alone' });
        await courier.settle(250);
        await clock.moveTo(target, () => courier.settle(250));
        courier.pumpAll();
        await courier.settle(250);
        tell();
      });
    }).listen(port, '127.0.0.1');
  }
}

// ---------------------------------------------------------------- texts and values

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SMALL = 'abcdefghijklmnopqrstuvwxyz0123456789';
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

class Make {
  static letters(length, alphabet = ALPHABET) {
    let text = '';
    for (let i = 0; i < length; i++) text += alphabet[randomInt(alphabet.length)];
    return text;
  }
  static ulid() {
    let time = clock.now(), head = '';
    for (let i = 0; i < 10; i++) { head = CROCKFORD[time % 32] + head; time = Math.floor(time / 32); }
    return head + Make.letters(16, CROCKFORD);
  }
  static hex(length) { return randomBytes(length / 2).toString('hex'); }
}

const isDate = (text) => {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!found) return false;
  const [year, month, day] = found.slice(1).map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
};

const Formats = {
  date: isDate,
  'date-time': (text) => {
    const found = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-](\d{2}):(\d{2}))$/.exec(text);
    if (!found || !isDate(found[1])) return false;
    return found[2] < 24 && found[3] < 60 && found[4] < 60 && (found[7] === undefined || (found[7] < 24 && found[8] < 60));
  },
  uri: (text) => {
    if (!/^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(text) || /%(?![0-9A-Fa-f]{2})/.test(text)) return false;
    try { new URL(text); return true; } catch { return false; }
  },
};
const instant = (text) => Date.parse(text);
const same = (a, b) => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
};
const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const characters = (text) => { let count = 0; for (const _ of text) count++; return count; };

/** One thing that is wrong in what was sent. */
class Violation {
  constructor(place, path, found, expected, kind = 'value') { Object.assign(this, { place, path, found, expected, kind }); }
  told() { return { in: this.place, path: this.path, found: String(this.found).slice(0, 200), expected: this.expected }; }
}
const shown = (value) => value === undefined ? 'nothing' : JSON.stringify(value) ?? String(value);
const PATH_MARK = () => (bug('er-details-pointer') ? '/' : '.');
const below = (path, key) => (path === '' ? String(key) : `${path}${PATH_MARK()}${key}`);

/** Holds a value to a schema and gathers what is wrong, in the order in which it was sent. */
class Check {
  static value(schema, value, path, wrong) {
    const say = (expected, kind) => { wrong.push(new Violation('body', path, shown(value), expected, kind)); };
    if (schema.fields) return Check.map(schema, value, path, wrong);
    switch (schema.type) {
      case 'string': if (typeof value !== 'string') return say('a text', 'type'); break;
      case 'integer': if (typeof value !== 'number' || !Number.isInteger(value)) return say('a whole number', 'type'); break;
      case 'number': if (typeof value !== 'number') return say('a number', 'type'); break;
      case 'boolean': if (typeof value !== 'boolean') return say('true or false', 'type'); break;
      case 'array':
        if (!Array.isArray(value)) return say('a list', 'type');
        if (schema.minItems !== undefined && value.length < schema.minItems) return say(`at least ${schema.minItems} items`);
        if (schema.maxItems !== undefined && value.length > schema.maxItems) return say(`at most ${schema.maxItems} items`);
        value.forEach((item, index) => Check.value(schema.items, item, below(path, index), wrong));
        return;
    }
    if (schema.enum && !schema.enum.includes(value)) return say(`one of ${schema.enum.join(', ')}`);
    if (typeof value === 'string') {
      const length = bug('res-name-bytes') && schema.maxLength === 60 ? Buffer.byteLength(value) : characters(value);
      if (schema.minLength !== undefined && length < schema.minLength) return say(`at least ${schema.minLength} characters`);
      if (schema.maxLength !== undefined && length > schema.maxLength) return say(`at most ${schema.maxLength} characters`);
      if (schema.pattern && !schema.pattern.test(value)) return say(`a text like ${schema.pattern.source}`);
      if (schema.format && !Formats[schema.format](value)) return say(`a ${schema.format}`);
      if (schema.also && !schema.also(value)) return say(schema.alsoSays);
    } else if (typeof value === 'number') {
      if (schema.minimum !== undefined && value < schema.minimum) return say(`at least ${schema.minimum}`);
      if (schema.maximum !== undefined && value > schema.maximum) return say(`at most ${schema.maximum}`);
    }
  }

  static map(schema, value, path, wrong) {
    if (!isMap(value)) return void wrong.push(new Violation('body', path, shown(value), 'a map', 'type'));
    for (const [key, item] of Object.entries(value)) {
      const field = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
      if (!field) {
        if (!schema.loose && !bug('res-place-unknown')) wrong.push(new Violation('body', below(path, key), shown(item), 'no such field', 'unknown'));
      } else Check.value(field, item, below(path, key), wrong);
    }
    for (const key of schema.required) {
      if (!Object.hasOwn(value, key)) wrong.push(new Violation('body', below(path, key), 'nothing', 'a value', 'missing'));
    }
  }
}

const mergePatch = (target, patch) => {
  if (!isMap(patch)) return patch;
  const result = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
};

// ---------------------------------------------------------------- refusals

const CODES = {
  incomplete: [400, 'Something is missing in what was sent.'],
  invalid: [422, 'Something in what was sent does not fit.'],
  unreadable: [400, 'The body cannot be read.'],
  wrong_type: [415, 'Send JSON.'],
  bad_query: [400, 'A parameter does not fit.'],
  bad_page: [400, 'There is no such page.'],
  no_such_path: [404, 'There is no such path.'],
  not_found: [404, 'There is no such thing here.'],
  withdrawn: [410, 'It was taken back.'],
  no_such_reference: [422, 'What it refers to is not there.'],
  wrong_method: [405, 'That cannot be done here.'],
  who_are_you: [401, 'Show a card or a pass or log in.'],
  not_known: [401, 'What you showed is not good.'],
  scope_missing: [403, 'Your card does not cover that.'],
  not_yours: [403, 'That is not for you.'],
  taken: [409, 'There is one already.'],
  in_use: [409, 'Others refer to it.'],
  not_now: [409, 'That cannot be done in this state.'],
  no_room: [409, 'There is no room yet.'],
  wrong_amount: [422, 'That is not the deposit.'],
  too_late: [409, 'It is too late for that.'],
  hut_is_shut: [409, 'The hut is not open.'],
  more_than_beds: [422, 'There are not so many beds.'],
  too_soon: [422, 'That time is over.'],
  changed_meanwhile: [412, 'It was changed meanwhile.'],
  tag_missing: [428, 'Say which state of it you have read.'],
  key_reused: [422, 'That key was used for something else.'],
  slow_down: [429, 'Not so fast.'],
  enough: [429, 'That was enough for now.'],
  hooks_full: [409, 'There are enough hooks.'],
  too_large: [413, 'That is too large.'],
  too_slow: [408, 'That took too long.'],
  old_version: [410, 'That version is no more.'],
  no_such_version: [400, 'There is no such version.'],
  broken: [500, 'Something broke here.'],
};
/** The service's own errors: what is answered under a key is answered again. */
const OWN = new Set(['no_room', 'wrong_amount', 'too_late', 'hut_is_shut', 'more_than_beds', 'too_soon']);

class Refusal extends Error {
  constructor(code, { violations = [], headers = {} } = {}) {
    super(code);
    this.code = code;
    this.violations = violations;
    this.headers = headers;
    this.status = bug('er-late-status') && code === 'too_late' ? 422 : CODES[code][0];
  }
  body(trace) {
    const error = { reason: this.code, says: CODES[this.code][1], trace };
    if (this.violations.length) error.details = this.violations.map((violation) => violation.told());
    return { error };
  }
  static invalid(violations) {
    const missing = violations[0].kind === 'missing' && !bug('er-missing-as-invalid');
    return new Refusal(missing ? 'incomplete' : 'invalid', { violations });
  }
  static query(name, found, expected) {
    return new Refusal('bad_query', { violations: [new Violation('query', name, found, expected)] });
  }
}

// ---------------------------------------------------------------- versions

const OLD = '2024-05', MIDDLE = '2025-05', CURRENT = '2026-05';
const VERSIONS = [OLD, MIDDLE, CURRENT];
const SUNSET = Date.UTC(2032, 0, 1);
const before = (version, other) => VERSIONS.indexOf(version) < VERSIONS.indexOf(other);
const DEPRECATED = { Deprecation: `@${Date.UTC(2025, 5, 1) / 1000}`, Sunset: new Date(SUNSET).toUTCString() };

// ---------------------------------------------------------------- resources

/** A kind of thing: its fields as they are stored (the newest shape), and how each version names and shapes them. */
class Kind {
  rows = new Map();
  deleted = new Map();
  #indexes = new Map();
  #views = new Map();

  constructor(name, id, fields, more = {}) {
    Object.assign(this, { name, id, fields, unique: [], changes: [], keepDeleted: 0, ...more });
    for (const [field, schema] of Object.entries(fields)) if (schema.ref) this.#indexes.set(field, new Map());
    for (const version of VERSIONS) this.#views.set(version, this.#view(version));
  }

  /** The fields of one version, by the names that they have there. */
  #view(version) {
    const view = {};
    for (const [name, schema] of Object.entries(this.fields)) {
      let seen = { ...schema, stored: name, down: (value) => value, up: (value) => value }, called = name;
      for (const change of this.changes) {
        if (change.field !== name || !before(version, change.since)) continue;
        if (change.rename) called = change.rename;
        if (change.added) seen = bug('ve-old-board') && name === 'board' ? seen : null;
        if (change.was) seen = { ...seen, ...change.was, down: change.down, up: change.up };
        if (seen === null) break;
      }
      if (seen) view[called] = seen;
    }
    return view;
  }
  view(version) { return this.#views.get(version); }

  insert(row) {
    this.rows.set(row[this.id], row);
    for (const [field, index] of this.#indexes) {
      if (!index.has(row[field])) index.set(row[field], new Set());
      index.get(row[field]).add(row);
    }
  }
  remove(row) {
    this.rows.delete(row[this.id]);
    for (const [field, index] of this.#indexes) index.get(row[field])?.delete(row);
  }
  referring(field, id) { return [...(this.#indexes.get(field).get(id) ?? [])].sort((a, b) => a.$order - b.$order); }
  all() { return [...this.rows.values()]; }
  required(name) { return this.requiredFields.includes(name); }
}

const CONDITIONS = ['good', 'snow', 'ice', 'blocked'];
const swap = (from, to) => (value) => (value === from ? to : value);

class Club {
  #order = 0;
  #bookingNumber = 0;
  #supplyNumber = 0;
  courier = null;

  constructor() {
    const place = {
      fields: { lat: { type: 'number', minimum: 45, maximum: 48 }, lon: { type: 'number', minimum: 5, maximum: 11 } },
      required: ['lat', 'lon'],
    };
    this.hut = new Kind('hut', 'code', {
      code: { type: 'string', pattern: /^[a-z]{3,12}$/u, immutable: true },
      name: { type: 'string', minLength: 3, maxLength: 60 },
      section: { type: 'string', minLength: 2, maxLength: 20, immutable: true },
      altitude_m: { type: 'integer', minimum: 500, maximum: 4500 },
      place,
      winter_room: { type: 'boolean', default: false },
      keeper_phone: { type: 'string', pattern: /^\+[0-9]{8,14}$/u, visible: ['warden', 'office'] },
      beds: { type: 'integer', readOnly: true, derive: (row) => this.dormitory.referring('hut', row.code).reduce((sum, item) => sum + item.beds, 0) },
      season: { type: 'string', readOnly: true, enum: ['shut', 'open', 'winter'] },
    }, {
      requiredFields: ['code', 'name', 'section', 'altitude_m', 'place', 'winter_room', 'beds', 'season'],
      unique: [['name']],
      changes: [
        { field: 'altitude_m', since: MIDDLE, rename: 'altitude' },
        { field: 'winter_room', since: CURRENT, added: true },
      ],
      address: (row) => `/huts/${row.code}`,
      state: 'season',
    });
    this.dormitory = new Kind('dormitory', 'id', {
      id: { type: 'string', readOnly: true },
      hut: { type: 'string', ref: 'hut', immutable: true },
      name: { type: 'string', minLength: 2, maxLength: 30 },
      beds: { type: 'integer', minimum: 1, maximum: 40 },
    }, {
      requiredFields: ['id', 'hut', 'name', 'beds'],
      unique: [['hut', 'name']],
      generate: () => `dorm_${Make.letters(10, SMALL)}`,
    });
    this.night = new Kind('night', 'id', {
      id: { type: 'string', readOnly: true },
      dormitory: { type: 'string', ref: 'dormitory', immutable: true },
      date: { type: 'string', format: 'date', immutable: true },
      places: { type: 'integer', minimum: 1, maximum: 40 },
      price: { type: 'integer', minimum: 0, maximum: 20000 },
      deposit: { type: 'integer', minimum: 0, maximum: 5000, default: 1000 },
      free: { type: 'integer', readOnly: true, derive: (row) => this.free(row) },
    }, {
      requiredFields: ['id', 'dormitory', 'date', 'places', 'price', 'deposit', 'free'],
      unique: [['dormitory', 'date']],
      generate: () => randomUUID(),
      changes: [{
        field: 'price', since: CURRENT, was: { type: 'number', minimum: 0, maximum: 200 },
        down: (value) => value / 100, up: (value) => Math.round(value * 100),
      }],
      address: (row) => `/nights/${row.id}`,
    });
    this.booking = new Kind('booking', 'id', {
      id: { type: 'string', readOnly: true },
      number: { type: 'string', readOnly: true },
      night: { type: 'string', ref: 'night', immutable: true },
      hut: { type: 'string', ref: 'hut', readOnly: true },
      hiker: { type: 'string', readOnly: true },
      party: { type: 'integer', minimum: 1, maximum: bug('res-party-nine') ? 9 : 8, immutable: true },
      board: { type: 'string', enum: ['none', 'half', 'full'], default: 'half' },
      house_note: { type: 'string', maxLength: 200, visible: ['warden', 'office'], writable: ['warden'] },
      deposit: { type: 'integer', readOnly: true },
      status: { type: 'string', readOnly: true, enum: ['waiting', 'held', 'paid', 'arrived', 'cancelled', 'lapsed'] },
      changed_at: { type: 'string', format: 'date-time', readOnly: true },
    }, {
      requiredFields: ['id', 'number', 'night', 'hut', 'hiker', 'party', 'board', 'deposit', 'status', 'changed_at'],
      generate: () => `bk_${Make.ulid()}`,
      changes: [{ field: 'board', since: MIDDLE, added: true }],
      address: (row) => `/bookings/${row.id}`,
      state: 'status',
    });
    this.supply = new Kind('supply', 'no', {
      no: { type: 'integer', readOnly: true },
      hut: { type: 'string', ref: 'hut', immutable: true },
      goods: { type: 'array', items: { type: 'string', minLength: 2, maxLength: 30 }, minItems: 1, maxItems: 6 },
      weight_kg: { type: 'integer', minimum: 1, maximum: 1000 },
      helicopter: { type: 'string', enum: ['ecureuil', 'lama'], default: 'ecureuil' },
      due_at: { type: 'string', format: 'date-time' },
      status: { type: 'string', readOnly: true, enum: ['ordered', 'overdue', 'flown'] },
    }, {
      requiredFields: ['no', 'hut', 'goods', 'weight_kg', 'helicopter', 'due_at', 'status'],
      generate: () => ++this.#supplyNumber,
      changes: [{ field: 'weight_kg', since: CURRENT, rename: 'weight' }],
      rules: [{ field: 'weight_kg', reads: ['helicopter', 'weight_kg'], says: 'at most 700 kg for an ecureuil', if: (next) => next.helicopter === 'ecureuil' && next.weight_kg > 700 }],
      address: (row) => `/supplies/${row.no}`,
      state: 'status',
    });
    this.report = new Kind('report', 'id', {
      id: { type: 'string', readOnly: true },
      hut: { type: 'string', ref: 'hut', immutable: true },
      path: { type: 'string', minLength: 3, maxLength: 80 },
      condition: { type: 'string', enum: CONDITIONS },
      author: { type: 'string', readOnly: true },
      written_at: { type: 'string', format: 'date-time', readOnly: true },
    }, {
      requiredFields: ['id', 'hut', 'path', 'condition', 'author', 'written_at'],
      generate: () => Make.ulid(),
      keepDeleted: 30 * DAY,
      changes: [{
        field: 'condition', since: CURRENT, was: { enum: CONDITIONS.map(swap('ice', 'icy')) },
        down: swap('ice', 'icy'), up: swap('icy', 'ice'),
      }],
      address: (row) => `/reports/${row.id}`,
    });
    this.hook = new Kind('hook', 'id', {
      id: { type: 'string', readOnly: true },
      owner: { type: 'string', readOnly: true },
      url: { type: 'string', format: 'uri', maxLength: 300, also: (text) => /^https?:\/\/[^/?#]/i.test(text), alsoSays: 'an address that can be sent to' },
      kinds: { type: 'array', maxItems: 20, items: { type: 'string', also: (text) => Courier.knows(text), alsoSays: 'a kind of event' } },
      active: { type: 'boolean', default: true },
      secret: { type: 'string', readOnly: true, once: true },
    }, {
      requiredFields: ['id', 'owner', 'url', 'active'],
      generate: () => `hk_${Make.hex(16)}`,
      address: (row) => `/hooks/${row.id}`,
    });
  }

  kind(name) { return this[name]; }
  free(night) {
    const counted = ['held', 'paid', 'arrived'];
    return this.booking.referring('night', night.id).reduce((left, item) => left - (counted.includes(item.status) ? item.party : 0), night.places);
  }
  hutOfNight(id) { return this.dormitory.rows.get(this.night.rows.get(id).dormitory).hut; }
  sectionOf(hut) { return this.hut.rows.get(hut)?.section; }
  bookingNumber() { return `B-${String(++this.#bookingNumber).padStart(5, '0')}`; }
  store(kind, row) { row.$order = this.#order++; kind.insert(row); }

  // ---- changes that follow from others, or that the clock makes

  /** A booking comes to be held: it lapses two days after. */
  entered(booking) {
    booking.$timer && (booking.$timer.off = true);
    booking.$timer = null;
    if (booking.status !== 'held') return;
    const from = bug('st-lapse-from-creation') ? booking.$made : clock.now();
    booking.$timer = clock.at(from + 48 * HOUR, () => {
      if (!this.booking.rows.has(booking.id) || booking.status !== 'held') return;
      this.moveBooking('lapse booking', booking, 'lapsed', null);
    });
  }

  moveBooking(operation, booking, status, caller) {
    const was = { ...booking };
    booking.status = status;
    if (!(bug('res-changed-by-clock') && operation === 'lapse booking')) booking.changed_at = clock.iso();
    this.entered(booking);
    this.courier.emit(operation, this.booking, was, booking);
  }

  /** A supply is missed at its time, and its flight is told of a day before. */
  dueAt(supply) {
    const due = instant(supply.due_at);
    if (supply.$due === due) return;
    supply.$due = due;
    for (const timer of supply.$timers ?? []) timer.off = true;
    const miss = clock.at(due, () => {
      if (supply.status !== 'ordered' || supply.$missed.has(due)) return;
      supply.$missed.add(due);
      const was = { ...supply };
      supply.status = 'overdue';
      this.courier.emit('miss supply', this.supply, was, supply);
    });
    const told = () => {
      if (supply.$told.has(due)) return;
      supply.$told.add(due);
      this.courier.tell('supply.due', this.supply, supply, supply);
    };
    supply.$missed ??= new Set();
    supply.$told ??= new Set();
    supply.$timers = [miss];
    if (due - DAY <= clock.now()) told(); else supply.$timers.push(clock.at(due - DAY, told));
  }

  delete(kind, row) {
    if (kind === this.hut) for (const report of this.report.referring('hut', row.code)) this.delete(this.report, report);
    kind.remove(row);
    if (kind.keepDeleted) {
      kind.deleted.set(row[kind.id], { row, until: clock.now() + kind.keepDeleted });
      clock.at(clock.now() + kind.keepDeleted, () => kind.deleted.delete(row[kind.id]));
    }
    this.courier.emit(`delete ${kind.name}`, kind, row, row);
  }

  /** A row as one user is shown it in one version. */
  show(kind, row, user, version, { first = false, list = false } = {}) {
    const shown = {};
    for (const [name, field] of Object.entries(kind.view(version))) {
      if (field.visible && !field.visible.includes(user) && !(list && bug('res-note-in-lists') && field.stored === 'house_note')) continue;
      if (field.once && !first) continue;
      const value = field.derive ? field.derive(row) : row[field.stored];
      if (value !== undefined) shown[name] = field.down(value);
    }
    return shown;
  }
}

// ---------------------------------------------------------------- callers and what they may do

const CALLERS = [
  { scheme: 'card', user: 'hiker', id: 'h-anna', credential: 'card_Kq7TzR2mWb9XcV4nLp1D', section: 'Uto', scopes: ['reports'] },
  { scheme: 'card', user: 'hiker', id: 'h-beat', credential: 'card_a3Ys8GfUe6JhNo5QiMx2', section: 'Uto', scopes: ['reports'] },
  { scheme: 'card', user: 'hiker', id: 'h-carla', credential: 'card_Zw1Bt9KdSv4PyEr7HuCj', section: 'Bern', scopes: ['reports'] },
  { scheme: 'card', user: 'hiker', id: 'h-dario', credential: 'card_m8LxQg3FaO6TnWk2RbYs', section: 'Bern', scopes: [] },
  { scheme: 'pass', user: 'warden', id: 'w-urs', credential: 'pass_Vt5Np0Gc7Xe2Rz9Lh4Ks8Wd1', section: 'Uto', scopes: ['supplies'] },
  { scheme: 'pass', user: 'warden', id: 'w-vreni', credential: 'pass_b6Jy3Mf8Qo1Ta5Ui9Ex7Cn2P', section: 'Bern', scopes: ['supplies'] },
  { scheme: 'pass', user: 'warden', id: 'w-walo', credential: 'pass_H4kD7sZ1rV6gB9wY3nL8tF2q', section: 'Uto', scopes: [] },
  { scheme: 'desk', user: 'office', id: 'o-rita', credential: 'o-rita:Gipfel-Kreuz-81', section: 'Zentral', scopes: [] },
  { scheme: 'desk', user: 'office', id: 'o-sepp', credential: 'o-sepp:Murmeltier-2504', section: 'Zentral', scopes: [] },
  { scheme: 'desk', user: 'office', id: 'o-tina', credential: 'o-tina:Enzian-und-Firn-7', section: 'Zentral', scopes: [] },
];

/** The three schemes: a card, a pass behind a prefix, a name and a password. */
class Gate {
  #known = { card: new Map(), pass: new Map(), desk: new Map() };

  constructor(callers) {
    for (const caller of callers) this.#known[caller.scheme].set(caller.credential, caller);
  }

  static challenges(shown = []) {
    const bad = shown.length ? ', error="invalid_key"' : '';
    return [
      `ApiKey realm="${TITLE}", in="header", name="X-Club-Card"${shown.includes('card') ? bad : ''}`,
      `Hut realm="${TITLE}"${shown.includes('pass') ? bad : ''}`,
      `Basic realm="${TITLE}", charset="UTF-8"`,
    ];
  }

  /** Who shows what; null where nothing is shown. */
  identify(request) {
    const values = { 'x-club-card': [], authorization: [] };
    for (let i = 0; i < request.rawHeaders.length; i += 2) values[request.rawHeaders[i].toLowerCase()]?.push(request.rawHeaders[i + 1]);
    const shown = [], callers = [];
    if (values['x-club-card'].length) {
      shown.push('card');
      callers.push(values['x-club-card'].length === 1 ? this.#known.card.get(values['x-club-card'][0].trim()) : undefined);
    }
    if (values.authorization.length) {
      const found = values.authorization.length === 1 ? /^(\S+) +(\S+)$/.exec(values.authorization[0].trim()) : null;
      const prefix = bug('au-prefix-case') && found?.[1].toLowerCase() === 'hut' ? found[1].replace('Hut', 'hut') : found?.[1].toLowerCase();
      if (prefix === 'hut') {
        shown.push('pass');
        callers.push(this.#known.pass.get(found[2]));
      } else if (prefix === 'basic') {
        shown.push('desk');
        callers.push(this.#desk(found[2]));
      } else {
        shown.push('pass');
        callers.push(undefined);
      }
    }
    if (!shown.length) return { caller: null, shown };
    const [first] = callers;
    const good = callers.every((caller) => caller && caller.user === first.user && caller.id === first.id);
    return { caller: good ? first : undefined, shown };
  }

  #desk(text) {
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
    const pair = Buffer.from(text, 'base64').toString('utf8');
    if (bug('users-no-office')) return undefined;
    if (bug('au-password-case')) {
      for (const [known, caller] of this.#known.desk) if (known.toLowerCase() === pair.toLowerCase()) return caller;
      return undefined;
    }
    return this.#known.desk.get(pair);
  }
}

/** The rules. Each: what it allows, to whom, with which scopes, and if. */
class Rules {
  #rules;

  constructor(club) {
    const own = ({ row, caller }) => row.owner === caller.id;
    const author = ({ row, caller }) => row.author === caller.id;
    const hutIn = ({ row, caller }) => club.sectionOf(row.hut) === caller.section;
    const isIn = ({ row, caller }) => row.section === caller.section;
    const nightIn = ({ row, caller }) => club.sectionOf(club.dormitory.rows.get(row.dormitory)?.hut) === caller.section;
    const mine = ({ row, caller }) => row.hiker === caller.id;
    this.#rules = [
      { allow: ['list hut', 'read hut', 'list dormitory', 'list night', 'read night', 'list report', 'read report'], to: 'anyone' },
      { allow: ['create hut', 'update hut', 'delete hut', 'open hut', 'close hut'], to: ['office'] },
      { allow: ['open hut', 'close hut'], to: ['warden'], if: isIn },
      { allow: ['create dormitory'], to: ['office'] },
      { allow: ['create dormitory'], to: ['warden'], if: hutIn },
      { allow: ['create night'], to: ['warden'], if: nightIn },
      { allow: ['update night'], to: ['warden'], if: nightIn },
      { allow: ['create booking'], to: ['hiker'] },
      { allow: ['list booking'], to: ['hiker'], if: bug('au-list-all') ? hutIn : mine },
      { allow: ['read booking', 'update booking', 'pay booking', 'cancel booking'], to: ['hiker'], if: mine },
      { allow: ['list booking', 'read booking', 'update booking', 'promote booking', 'arrive booking'], to: ['warden'], if: hutIn },
      { allow: ['list booking', 'read booking', 'cancel booking'], to: ['office'] },
      { allow: ['create supply'], to: ['warden'], scopes: ['supplies'], if: hutIn },
      { allow: ['list supply', 'read supply'], to: ['warden'], if: hutIn },
      { allow: ['replace supply'], to: ['warden'], scopes: bug('au-replace-scope') ? [] : ['supplies'], if: hutIn },
      { allow: ['list supply', 'read supply', 'fly supply'], to: ['office'] },
      { allow: ['create report'], to: ['hiker'], scopes: ['reports'] },
      { allow: ['create report'], to: ['warden'] },
      { allow: ['update report', 'delete report'], to: ['hiker', 'warden'], if: author },
      { allow: ['delete report'], to: ['office'] },
      { allow: ['create hook'], to: ['hiker', 'warden', 'office'] },
      { allow: ['read hook', 'update hook', 'delete hook'], to: ['hiker', 'warden', 'office'], if: own },
    ];
  }

  for(operation, caller) {
    return this.#rules.filter((rule) => rule.allow.includes(operation) && (rule.to === 'anyone' || (caller && rule.to.includes(caller.user))));
  }
  forAnyone(operation) { return this.#rules.some((rule) => rule.to === 'anyone' && rule.allow.includes(operation)); }
  covering(operation, caller) {
    return this.for(operation, caller).filter((rule) => (rule.scopes ?? []).every((scope) => caller.scopes.includes(scope)));
  }
  may(operation, caller, row) { return this.covering(operation, caller).some((rule) => !rule.if || rule.if({ row, caller })); }

  /** Step 6: is there a rule for this user at all, and does the card cover it? */
  admit(operation, caller) {
    if (!this.for(operation, caller).length) throw new Refusal('not_yours');
    if (!this.covering(operation, caller).length) throw new Refusal('scope_missing');
  }
}

// ---------------------------------------------------------------- events

const EVENTS = [
  { kind: 'hut.opened', on: ['open hut'], payload: 'hut' },
  {
    kind: 'hut.closed', on: ['close hut'], payload: 'data',
    data: ({ next }) => ({ hut: next.code, name: next.name, season: next.season, winter_room: next.winter_room }),
  },
  { kind: 'booking.made', on: ['create booking'], payload: 'booking' },
  {
    kind: 'booking.paid', on: ['pay booking'], payload: 'data',
    data: ({ next, at }) => ({ booking: next.id, ...(bug('ev-paid-number') ? {} : { number: next.number }), amount: next.deposit, at }),
  },
  { kind: 'booking.over', on: bug('ev-no-lapse') ? ['cancel booking', 'call_off booking'] : ['cancel booking', 'call_off booking', 'lapse booking'], payload: 'booking' },
  { kind: 'supply.due', on: [], payload: 'supply' },
  { kind: 'supply.late', on: ['miss supply'], payload: 'supply' },
  { kind: 'path.danger', on: ['create report', 'update report'], payload: 'report', if: ({ next }) => ['ice', 'blocked'].includes(next.condition) },
  { kind: 'report.withdrawn', on: ['delete report'], payload: 'data', data: ({ next }) => next.id },
  { kind: 'hook.stopped', on: ['disable hook'], payload: 'hook' },
];
const RETRY = [10 * SECOND, MINUTE, 10 * MINUTE, HOUR];
const TRY_TIMEOUT = 5 * SECOND, DISABLE_AFTER = 6 * HOUR;

/** One event on its way to one hook. */
class Delivery {
  constructor(hook, event) { Object.assign(this, { hook, event, tries: 0, due: clock.now(), busy: false, done: false }); }
}

/** Records events, decides who hears of them, and brings them there. */
class Courier {
  #club; #rules;
  #queues = new Map();          // hook id -> deliveries, oldest first
  #health = new Map();          // hook id -> { failing since, not before }
  #flying = new Set();
  #agents = { 'http:': new http.Agent({ keepAlive: true, maxSockets: 64 }), 'https:': new https.Agent({ keepAlive: true, maxSockets: 64 }) };

  constructor(club, rules) { this.#club = club; this.#rules = rules; club.courier = this; }

  static knows(text) {
    if (text === '*') return true;
    return EVENTS.some(({ kind }) => kind === text || text === `${kind.slice(0, kind.indexOf('.'))}.*`);
  }
  static wanted(kinds, kind) {
    return kinds === undefined || kinds.some((text) => text === '*' || text === kind || (text.endsWith('.*') && kind.startsWith(text.slice(0, -1))));
  }

  emit(operation, kind, resource, next) {
    for (const event of EVENTS) {
      if (!event.on.includes(operation) || (event.if && !event.if({ resource, next }))) continue;
      this.tell(event.kind, kind, resource, next);
      if (bug('ev-opened-twice') && event.kind === 'hut.opened') this.tell(event.kind, kind, resource, next);
    }
  }

  tell(name, kind, resource, next) {
    const event = EVENTS.find((one) => one.kind === name);
    const id = `evt_${Make.letters(20)}`, at = clock.iso();
    for (const hook of this.#club.hook.all()) {
      if (!hook.active || !Courier.wanted(hook.kinds, name)) continue;
      const maker = hook.$maker;
      const hears = bug('ev-other-sections') && kind.name === 'booking' && maker.user === 'warden' ? true : this.#rules.may(`read ${kind.name}`, maker, next);
      if (!hears) continue;
      const version = bug('ve-newest-shape') ? CURRENT : hook.$version;
      const about = event.payload === 'data' ? event.data({ resource, next, at }) : this.#club.show(kind, next, maker.user, version);
      const body = { id, kind: name, at, about };
      this.#queue(hook.id).push(new Delivery(hook, { id, kind: name, body, about: `${kind.name}/${next[kind.id]}` }));
      setImmediate(() => this.pump(hook.id));
    }
  }

  #queue(id) {
    if (!this.#queues.has(id)) this.#queues.set(id, []);
    return this.#queues.get(id);
  }
  #healthOf(id) {
    if (!this.#health.has(id)) this.#health.set(id, { since: null, notBefore: 0 });
    return this.#health.get(id);
  }
  forget(id) { for (const delivery of this.#queue(id)) delivery.done = true; this.#queues.delete(id); this.#health.delete(id); }

  pumpAll() { for (const id of [...this.#queues.keys()]) this.pump(id); }

  /** Begins what may begin for one hook: of one row one at a time, in order; of a hook that fails one at a time at all. */
  pump(id) {
    const queue = this.#queues.get(id);
    if (!queue) return;
    const health = this.#healthOf(id), blocked = new Set();
    let busy = queue.reduce((count, delivery) => count + (delivery.busy ? 1 : 0), 0);
    for (const delivery of [...queue]) {
      if (busy >= (health.since === null ? 32 : 1)) break;
      if (blocked.has(delivery.event.about)) continue;
      blocked.add(delivery.event.about);
      if (delivery.busy || delivery.done || delivery.due > clock.now() || health.notBefore > clock.now()) continue;
      busy++;
      this.#try(delivery);
    }
  }

  #try(delivery) {
    delivery.busy = true;
    delivery.tries++;
    const { hook, event } = delivery;
    const id = bug('ev-new-id-each-try') && delivery.tries > 1 ? `evt_${Make.letters(20)}` : event.id;
    const body = JSON.stringify({ ...event.body, id });
    const timestamp = Math.floor(clock.now() / 1000);
    const signed = bug('ev-sign-body') ? body : `${timestamp}.${body}`;
    const signature = createHmac('sha256', hook.secret).update(signed).digest('hex');
    const flight = this.#post(hook.url, body, {
      'Hut-Signature': `t=${timestamp},v1=${signature}`, 'Hut-Event': event.kind, 'Hut-Event-Id': id,
    }).then((result) => {
      this.#flying.delete(flight);
      this.#landed(delivery, result);
    });
    this.#flying.add(flight);
  }

  #post(url, body, headers) {
    return new Promise((resolve) => {
      let timer;
      const done = (result) => { clearTimeout(timer); resolve(result); };
      try {
        const target = new URL(url);
        const { request } = target.protocol === 'https:' ? https : http;
        const sent = request(target, {
          method: 'POST', agent: this.#agents[target.protocol],
          headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'User-Agent': 'alp-huts' },
        }, (answer) => {
          let size = 0;
          answer.on('data', (chunk) => { if ((size += chunk.length) > 20_000) answer.destroy(); });
          answer.on('error', () => {});
          done({ status: answer.statusCode, wait: answer.headers['retry-after'] });
        });
        timer = setTimeout(() => { sent.destroy(); done({ status: 0 }); }, TRY_TIMEOUT);
        sent.on('error', () => done({ status: 0 }));
        sent.end(body);
      } catch { done({ status: 0 }); }
    });
  }

  #landed(delivery, { status, wait }) {
    delivery.busy = false;
    const { hook } = delivery, queue = this.#queues.get(hook.id);
    if (!queue || delivery.done) return;
    const finish = () => { delivery.done = true; queue.splice(queue.indexOf(delivery), 1); };
    const health = this.#healthOf(hook.id);
    if (status >= 200 && status < 300) {
      health.since = null;
      finish();
    } else {
      health.since ??= clock.now();
      if (status === 410 || clock.now() - health.since >= DISABLE_AFTER) return this.#disable(hook);
      if (delivery.tries > RETRY.length) finish();
      else {
        let pause = RETRY[delivery.tries - 1] * (0.8 + Math.random() * 0.4);
        if (wait !== undefined) {
          const asked = /^\d+$/.test(wait) ? Number(wait) * SECOND : Date.parse(wait) - clock.now();
          if (asked > 0) {
            pause = Math.max(pause, Math.min(asked, DAY));
            health.notBefore = Math.max(health.notBefore, clock.now() + Math.min(asked, DAY));
            clock.at(health.notBefore, () => this.pump(hook.id));
          }
        }
        delivery.due = clock.now() + pause;
        clock.at(delivery.due, () => this.pump(hook.id));
      }
    }
    this.pump(hook.id);
  }

  #disable(hook) {
    const was = { ...hook };
    hook.active = false;
    this.forget(hook.id);
    this.emit('disable hook', this.#club.hook, was, hook);
  }

  /** Waits until what is on its way has come to something, but not for long. */
  async settle(most) {
    const end = Date.now() + most;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#flying.size && Date.now() < end) {
      await Promise.race([Promise.all([...this.#flying]), new Promise((resolve) => setTimeout(resolve, Math.max(end - Date.now(), 1)))]);
    }
    return !this.#flying.size;
  }
}

// ---------------------------------------------------------------- limits

/** How often: each kind counts by what it is told, and only once all of a request agree. */
class Rate {
  #counts = new Map();
  constructor(limit, window, kind, key, applies) { Object.assign(this, { limit, window, kind, key, applies }); }

  #state(key, now) {
    let state = this.#counts.get(key);
    if (!state) this.#counts.set(key, state = this.kind === 'sliding' ? { uses: [] } : this.kind === 'fixed' ? { start: -Infinity, used: 0 } : { level: this.limit, at: now });
    if (this.kind === 'sliding') while (state.uses.length && state.uses[0] + this.window <= now) state.uses.shift();
    else if (this.kind === 'fixed') { if (state.start + this.window <= now) Object.assign(state, { start: -Infinity, used: 0 }); }
    else { state.level = Math.min(this.limit, state.level + ((now - state.at) * this.limit) / this.window); state.at = now; }
    return state;
  }
  left(key, now) {
    const state = this.#state(key, now);
    return this.kind === 'sliding' ? this.limit - state.uses.length : this.kind === 'fixed' ? this.limit - state.used : Math.floor(state.level + 1e-9);
  }
  use(key, now) {
    const state = this.#state(key, now);
    if (this.kind === 'sliding') state.uses.push(now);
    else if (this.kind === 'fixed') { if (state.start === -Infinity) state.start = now; state.used++; } else state.level -= 1;
  }
  /** In how many seconds there will be more. */
  more(key, now) {
    const state = this.#state(key, now);
    let ms;
    if (this.kind === 'sliding') ms = state.uses.length ? state.uses[0] + this.window - now : 0;
    else if (this.kind === 'fixed') ms = state.start === -Infinity ? 0 : state.start + this.window - now;
    else ms = state.level >= this.limit ? 0 : ((Math.floor(state.level + 1e-9) + 1 - state.level) * this.window) / this.limit;
    return Math.max(Math.ceil(ms / SECOND - 1e-9), 0);
  }
}

class Rates {
  #rates = [
    new Rate(300, MINUTE, 'sliding', ({ who }) => who, () => true),
    new Rate(90, MINUTE, 'bucket', ({ address }) => address, ({ caller }) => !caller),
    new Rate(6, HOUR, 'fixed', ({ who }) => (bug('li-reports-shared') ? 'all' : who), ({ caller, operation }) => caller?.user === 'hiker' && operation === 'create report'),
  ];

  /** Counts a request in all rates that apply, or refuses it and counts it in none. Gives the header fields. */
  count(operation, caller, address) {
    const now = clock.now();
    const call = { operation, caller, address, who: caller ? `${caller.user} ${caller.id}` : `address ${address}` };
    const apply = this.#rates.filter((rate) => rate.applies(call)).map((rate) => ({ rate, key: rate.key(call) }));
    const full = apply.filter(({ rate, key }) => rate.left(key, now) < 1);
    if (!full.length) for (const { rate, key } of apply) rate.use(key, now);
    const told = (full.length ? full : apply).map(({ rate, key }) => ({ limit: rate.limit, left: Math.max(rate.left(key, now), 0), more: rate.more(key, now) }))
      .sort((a, b) => a.left - b.left || b.more - a.more);
    const headers = { 'Hut-Limit': String(told[0].limit), 'Hut-Left': String(told[0].left), 'Hut-Reset': String(told[0].more) };
    if (full.length) {
      const wait = Math.max(1, ...full.map(({ rate, key }) => rate.more(key, now)));
      throw new Refusal('slow_down', { headers: { ...headers, 'Retry-After': String(wait) } });
    }
    return headers;
  }
}

/** Twenty bookings of a hiker in a month, by the clocks of Zurich. */
class MonthlyQuota {
  #used = new Map();
  #zone = bug('li-quota-utc') ? 'UTC' : 'Europe/Zurich';
  #format = new Intl.DateTimeFormat('en-CA', { timeZone: this.#zone, year: 'numeric', month: '2-digit' });
  constructor(limit) { this.limit = limit; }

  #month(ms) {
    const parts = Object.fromEntries(this.#format.formatToParts(new Date(ms)).map(({ type, value }) => [type, value]));
    return `${parts.year}-${parts.month}`;
  }
  #ends(now) {
    const month = this.#month(now);
    let low = now, high = now + 32 * DAY;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#month(middle) === month) low = middle; else high = middle;
    }
    return high;
  }
  #key(caller) { return `${this.#month(clock.now())} ${caller.id}`; }
  ask(caller) {
    if ((this.#used.get(this.#key(caller)) ?? 0) < this.limit) return;
    const now = clock.now();
    throw new Refusal('enough', { headers: { 'Retry-After': String(Math.ceil((this.#ends(now) - now) / SECOND)) } });
  }
  use(caller) { this.#used.set(this.#key(caller), (this.#used.get(this.#key(caller)) ?? 0) + 1); }
}

/** What was answered under a key, for a day. */
class Replays {
  #kept = new Map();
  #name(caller, operation, key) { return `${caller.user} ${caller.id}\n${operation}\n${key}`; }
  find(caller, operation, key, fingerprint) {
    const kept = this.#kept.get(this.#name(caller, operation, key));
    if (!kept || kept.until <= clock.now()) return null;
    if (kept.fingerprint !== fingerprint) throw new Refusal('key_reused');
    return kept.answer;
  }
  keep(caller, operation, key, fingerprint, answer) {
    this.#kept.set(this.#name(caller, operation, key), { fingerprint, answer, until: clock.now() + DAY });
  }
}

// ---------------------------------------------------------------- lists

const SIGNING = randomBytes(32);

class Cursor {
  static #sign(text) { return createHmac('sha256', SIGNING).update(text).digest('base64url').slice(0, 22); }
  static write(place) {
    const text = Buffer.from(JSON.stringify(place)).toString('base64url');
    return `${text}.${Cursor.#sign(text)}`;
  }
  static read(cursor, query) {
    const bad = () => new Refusal('bad_page', { violations: [new Violation('query', 'from', cursor, 'a place in this list')] });
    const [text, signature, more] = cursor.split('.');
    const expected = Cursor.#sign(text);
    if (!signature || more !== undefined || signature.length !== expected.length || !timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) throw bad();
    const place = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (place.query !== query && !bug('li-cursor-other-filter')) throw bad();
    return place;
  }
}

const wholeNumber = (text) => (/^\d+$/.test(text) ? Math.min(Number(text), 1e12) : NaN);
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** What a parameter takes, and what it keeps. */
class Filter {
  constructor(schema, keeps, { split } = {}) { Object.assign(this, { schema, keeps, split }); }
  /** The parameter of a field of its own name: it bears the shape of that field in the version. */
  static field(kind, name, { split } = {}) { return { filterOf: name, kind, split }; }

  static resolve(filter, version) {
    if (filter instanceof Filter) return filter;
    const [, field] = Object.entries(filter.kind.view(version)).find(([, one]) => one.stored === filter.filterOf) ?? [];
    if (!field) return null;
    const unmapped = bug('ve-filter-newest') && field.stored === 'condition' ? { ...field, enum: CONDITIONS, up: (value) => value } : field;
    const schema = field.ref ? { type: 'string' } : unmapped;
    return new Filter(schema, (row, value) => row[field.stored] === value, { split: filter.split, }).carrying(unmapped.up);
  }
  carrying(up) { this.up = up; return this; }

  read(name, text) {
    const one = (part) => {
      const value = this.schema.type === 'integer' ? (/^-?\d{1,15}$/.test(part) ? Number(part) : part) : part;
      const wrong = [];
      Check.value(this.schema, value, name, wrong);
      if (wrong.length) throw Refusal.query(name, part, wrong[0].expected);
      return this.up ? this.up(value) : value;
    };
    if (!this.split) { const value = one(text); return (row) => this.keeps(row, value); }
    const parts = text.split(this.split);
    if (parts.length > 100) throw Refusal.query(name, text, 'up to 100 values');
    const values = (bug('ep-status-first') ? parts.map(one).slice(0, 1) : parts.map(one));
    return (row) => values.some((value) => this.keeps(row, value));
  }
}

// ---------------------------------------------------------------- the router table

class Route {
  constructor(method, path, does, more = {}) {
    Object.assign(this, { method, path, does, ...more });
    [this.verb, this.kindName] = does.split(' ');
    this.steps = path.split('/').slice(1);
  }
  match(steps) {
    if (steps.length !== this.steps.length) return null;
    const params = {};
    for (let i = 0; i < steps.length; i++) {
      const step = this.steps[i];
      if (step.startsWith('{')) {
        if (steps[i] === '') return null;
        params[step.slice(1, -1)] = steps[i];
      } else if (step !== steps[i]) return null;
    }
    return params;
  }
}

const PAY_BODY = {
  fields: { amount: { type: 'integer', minimum: 0 }, payer: { type: 'string', maxLength: 60 } }, required: ['amount'], loose: true,
};

class Table {
  constructor(club) {
    const { hut, night, booking, supply, report } = club;
    const key = { idempotent: true };
    const since = (keeps) => new Filter({ type: 'string', format: 'date' }, keeps);
    const search = (row, value) => {
      const words = value.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 16);
      return words.every((word) => row.path.toLowerCase().includes(word));
    };
    this.routes = [
      new Route('POST', '/huts', 'create hut'),
      new Route('GET', '/huts', 'list hut', {
        filters: {
          section: Filter.field(hut, 'section'), season: Filter.field(hut, 'season'),
          min_altitude: new Filter({ type: 'integer' }, (row, value) => row.altitude_m >= value),
        },
        sorts: { name: 'name', height: 'altitude_m' }, order: 'name',
      }),
      new Route('GET', '/huts/{code}', 'read hut', { tagged: true }),
      new Route('PATCH', '/huts/{code}', 'update hut', { tagged: true, ifMatch: true }),
      new Route('DELETE', '/huts/{code}', 'delete hut'),
      new Route('POST', '/huts/{code}/open', 'open hut'),
      new Route('POST', '/huts/{code}/close', 'close hut'),
      new Route('POST', '/huts/{hut}/dormitories', 'create dormitory', { parent: 'hut' }),
      new Route('GET', '/huts/{hut}/dormitories', 'list dormitory', { parent: 'hut', order: 'name', pages: 'none' }),
      new Route('POST', '/dormitories/{dormitory}/nights', 'create night', { parent: 'dormitory' }),
      new Route('GET', '/nights', 'list night', {
        filters: {
          dormitory: Filter.field(night, 'dormitory'),
          hut: new Filter({ type: 'string' }, (row, value) => club.dormitory.rows.get(row.dormitory).hut === value),
          since: since((row, value) => row.date >= value),
          until: since((row, value) => (bug('ep-until-exclusive') ? row.date < value : row.date <= value)),
          min_free: new Filter({ type: 'integer' }, (row, value) => club.free(row) >= value),
        },
        order: 'date',
      }),
      new Route('GET', '/nights/{id}', 'read night'),
      new Route('PATCH', '/nights/{id}', 'update night'),
      new Route('POST', '/bookings', 'create booking', key),
      new Route('GET', '/bookings', 'list booking', {
        filters: { night: Filter.field(booking, 'night'), hut: Filter.field(booking, 'hut'), status: Filter.field(booking, 'status', { split: ',' }) },
        sorts: { changed_at: 'changed_at', party: 'party' }, order: '-changed_at', ties: 'newest',
      }),
      new Route('GET', '/bookings/{id}', 'read booking'),
      new Route('PATCH', '/bookings/{id}', 'update booking', { in: ['waiting', 'held'] }),
      new Route('POST', '/bookings/{id}/promote', 'promote booking', { since: MIDDLE }),
      new Route('POST', '/bookings/{id}/pay', 'pay booking', { ...key, body: PAY_BODY }),
      ...(bug('fn-no-arrive') ? [] : [new Route('POST', '/bookings/{id}/arrive', 'arrive booking')]),
      new Route('POST', '/bookings/{id}/cancel', 'cancel booking'),
      new Route('POST', '/supplies', 'create supply', { ...key, keyRequired: true }),
      new Route('GET', '/supplies', 'list supply', {
        filters: {
          hut: Filter.field(supply, 'hut'), status: Filter.field(supply, 'status'),
          due_before: new Filter({ type: 'string', format: 'date-time' }, (row, value) => instant(row.due_at) < instant(value)),
        },
      }),
      new Route('GET', '/supplies/{no}', 'read supply'),
      new Route('PUT', '/supplies/{no}', 'replace supply', { in: ['ordered', 'overdue'] }),
      new Route('POST', '/supplies/{no}/fly', 'fly supply'),
      new Route('POST', '/huts/{hut}/reports', 'create report', { parent: 'hut' }),
      new Route('GET', '/reports', 'list report', {
        filters: { hut: Filter.field(report, 'hut'), condition: Filter.field(report, 'condition'), q: new Filter({ type: 'string' }, search) },
        order: '-written_at', ties: 'newest', pages: 'cursor',
      }),
      new Route('GET', '/reports/{id}', 'read report'),
      new Route('PATCH', '/reports/{id}', 'update report'),
      new Route('DELETE', '/reports/{id}', 'delete report'),
      new Route('POST', '/hooks', 'create hook'),
      new Route('GET', '/hooks/{id}', 'read hook'),
      ...(bug('fn-no-hook-update') ? [] : [new Route('PATCH', '/hooks/{id}', 'update hook')]),
      new Route('DELETE', '/hooks/{id}', 'delete hook'),
    ];
  }

  find(path) {
    let rest = path;
    if (bug('base-reports-at-root')) {
      if (/^\/reports(\/|$)/.test(path)) rest = BASE + path;
      else if (/^\/api\/reports(\/|$)/.test(path)) return [];
    }
    if (!rest.startsWith(`${BASE}/`)) return [];
    let steps;
    try { steps = rest.slice(BASE.length + 1).split('/').map(decodeURIComponent); } catch { return []; }
    const found = [];
    for (const route of this.routes) {
      const params = route.match(steps);
      if (params) found.push({ route, params });
    }
    return found;
  }
}

// ---------------------------------------------------------------- one request and its answer

const BODY_MAX = 8 * 1024, URL_MAX = 2 * 1024, HEADERS_MAX = 8 * 1024;
const TRANSITIONS = {
  'open hut': { from: ['shut', 'winter'] },
  'close hut': { from: ['open'] },
  'promote booking': { from: ['waiting'], to: 'held' },
  'pay booking': { from: bug('st-pay-lapsed') ? ['held', 'lapsed'] : ['held'], to: 'paid' },
  'arrive booking': { from: ['paid'], to: 'arrived' },
  'cancel booking': { from: ['waiting', 'held', 'paid'], to: 'cancelled', else: 'too_late' },
  'fly supply': { from: ['ordered', 'overdue'], to: 'flown' },
};

class Answer {
  constructor(status, body, headers = {}) { Object.assign(this, { status, body, headers }); }
}

class Exchange {
  version = CURRENT;
  headers = {};
  caller = null;
  trace = `req_${Make.letters(16, SMALL)}`;

  constructor(desk, request, response) { Object.assign(this, { desk, club: desk.club, request, response }); }

  async run() {
    let answer;
    try { answer = await this.#steps(); } catch (error) { answer = this.#refused(error); }
    if (answer) this.#send(answer);
  }

  #refused(error) {
    if (!(error instanceof Refusal)) { console.error(error); error = new Refusal('broken'); }
    return new Answer(error.status, error.body(this.trace), { ...error.headers, 'Hut-Refusal': error.code });
  }

  #send({ status, body, headers }) {
    const { request, response } = this;
    if (response.destroyed || request.socket.destroyed || request.socket.writableEnded) return;
    const links = [headers.Link, this.headers.Link].filter(Boolean).join(', ');
    const all = { ...this.headers, ...headers, 'Hut-Version': this.version, Vary: 'Hut-Version, X-Club-Card, Authorization' };
    if (links) all.Link = links;
    if (bug('ve-refusals-no-sunset') && status >= 400) delete all.Sunset;
    if (!request.complete) request.resume();
    if (body === undefined) {
      response.writeHead(status, all);
      return response.end();
    }
    const text = Buffer.from(JSON.stringify(body));
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length, ...all });
    response.end(request.method === 'HEAD' ? undefined : text);
  }

  async #steps() {
    const { request, desk } = this;
    clock.runDue();
    // 1: sizes of the address and the header fields
    if (Buffer.byteLength(request.url) > URL_MAX) throw new Refusal('too_large');
    let size = 0;
    for (let i = 0; i < request.rawHeaders.length; i++) size += Buffer.byteLength(request.rawHeaders[i], 'latin1') + 2;
    if (size > HEADERS_MAX) throw new Refusal('too_large');
    // 2: route, method, version
    const mark = request.url.indexOf('?');
    this.path = mark < 0 ? request.url : request.url.slice(0, mark);
    this.search = mark < 0 ? '' : request.url.slice(mark + 1);
    const asked = request.headers['hut-version'];
    let matches = desk.table.find(this.path);
    if (!matches.length) throw new Refusal('no_such_path');
    const method = request.method === 'HEAD' && !bug('ep-no-head') ? 'GET' : request.method;
    const allow = () => {
      const methods = new Set(matches.map(({ route }) => route.method));
      if (methods.has('GET')) methods.add('HEAD');
      return [...methods, 'OPTIONS'].join(', ');
    };
    if (VERSIONS.includes(asked)) this.#enter(asked);
    matches = matches.filter(({ route }) => !route.since || !before(this.version, route.since));
    if (!matches.length) throw new Refusal('no_such_path');
    const found = matches.find(({ route }) => route.method === method);
    if (!found && method !== 'OPTIONS') throw new Refusal('wrong_method', { headers: { Allow: allow() } });
    if (asked !== undefined && !VERSIONS.includes(asked) && !bug('ve-unknown-served')) throw new Refusal('no_such_version');
    if (asked === OLD && clock.now() >= SUNSET && !bug('ve-served-after-sunset')) throw new Refusal('old_version');
    if (method === 'OPTIONS') return new Answer(204, undefined, { Allow: allow() });
    const { route, params } = found;
    Object.assign(this, { route, params, kind: this.club.kind(route.kindName) });
    // 4: who calls
    const { caller, shown } = desk.gate.identify(request);
    const anyone = desk.rules.forAnyone(route.does);
    if (caller === undefined && !(anyone && bug('au-bad-as-anyone'))) throw new Refusal('not_known', { headers: { 'WWW-Authenticate': Gate.challenges(shown) } });
    if (!caller && !anyone) throw new Refusal('who_are_you', { headers: { 'WWW-Authenticate': Gate.challenges() } });
    this.caller = caller ?? null;
    // 5: rates
    Object.assign(this.headers, desk.rates.count(route.does, this.caller, request.socket.remoteAddress));
    // 6: is there a rule at all
    desk.rules.admit(route.does, this.caller);
    // 8: the body, the parameters, the page
    await this.#body();
    this.#query();
    return this.#keyed();
  }

  #enter(version) {
    this.version = version;
    if (version !== OLD) return;
    Object.assign(this.headers, DEPRECATED);
    this.headers.Link = `<https://huts.alpineclub.example/upgrade>; rel="deprecation", <${this.request.url}>; rel="successor-version"`;
  }

  get #takesBody() { return Boolean(this.route.body) || ['create', 'update', 'replace'].includes(this.route.verb); }

  async #body() {
    const { request } = this;
    const length = Number(request.headers['content-length'] ?? 0);
    const comes = request.headers['transfer-encoding'] !== undefined || length > 0;
    if (this.#takesBody && comes) {
      const type = (request.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
      if (type !== 'application/json' && !(this.route.verb === 'update' && type === 'application/merge-patch+json')) throw new Refusal('wrong_type');
    }
    const most = bug('li-body-off-by-one') ? BODY_MAX - 1 : BODY_MAX;
    if (length > most) throw new Refusal('too_large');
    const bytes = comes ? await this.#read(most) : Buffer.alloc(0);
    clock.runDue();
    if (!this.#takesBody) return;
    if (!bytes.length) throw new Refusal('unreadable');
    try { this.sent = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)); } catch { throw new Refusal('unreadable'); }
  }

  #read(most) {
    return new Promise((resolve, reject) => {
      const chunks = [];
      let size = 0;
      this.request.on('data', (chunk) => {
        size += chunk.length;
        if (size <= most) chunks.push(chunk);
        else { chunks.length = 0; reject(new Refusal('too_large')); }
      });
      this.request.on('end', () => resolve(Buffer.concat(chunks)));
      this.request.on('error', () => reject(new Refusal('too_slow')));
    });
  }

  #query() {
    const { route } = this, given = new Map();
    if (this.search !== '') {
      for (const part of this.search.split('&')) {
        if (part === '') continue;
        const at = part.indexOf('=');
        let name, value;
        try { [name, value] = (at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]).map((text) => decodeURIComponent(text.replaceAll('+', ' '))); } catch { throw Refusal.query(part, part, 'a parameter'); }
        if (given.has(name)) throw Refusal.query(name, value, 'one value');
        given.set(name, value);
      }
    }
    const listing = route.verb === 'list';
    const paging = !listing || route.pages === 'none' ? [] : route.pages === 'cursor' ? ['from', 'limit'] : ['page', 'per_page'];
    this.keeps = [];
    this.filterText = [];
    this.order = route.order;
    for (const [name, value] of given) {
      if (paging.includes(name)) continue;
      const filter = route.filters?.[name] && Object.hasOwn(route.filters, name) ? Filter.resolve(route.filters[name], this.version) : null;
      if (filter) {
        this.keeps.push(filter.read(name, value));
        this.filterText.push(`${name}=${value}`);
      } else if (name === 'sort' && route.sorts) {
        const field = value.startsWith('-') ? value.slice(1) : value;
        if (!Object.hasOwn(route.sorts, field)) throw Refusal.query(name, value, 'a way to sort');
        this.order = (value.startsWith('-') ? '-' : '') + route.sorts[field];
      } else throw Refusal.query(name, value, 'no such parameter');
    }
    if (route.idempotent) {
      const key = this.request.headers['idempotency-key'];
      if (route.keyRequired && !key) throw new Refusal('bad_query', { violations: [new Violation('header', 'Idempotency-Key', 'nothing', 'a key')] });
      this.key = key || null;
    }
    if (!paging.length) return;
    const page = (name, low, fallback) => {
      if (!given.has(name)) return fallback;
      const number = wholeNumber(given.get(name));
      if (!(number >= low)) throw new Refusal('bad_page', { violations: [new Violation('query', name, given.get(name), `a whole number from ${low}`)] });
      return number;
    };
    this.given = given;
    if (route.pages === 'cursor') {
      this.size = page('limit', 1, 5);
      if (this.size > 20) throw new Refusal('bad_page', { violations: [new Violation('query', 'limit', given.get('limit'), 'at most 20')] });
      this.cursorQuery = createHash('sha256').update(`${this.version}\n${this.filterText.toSorted().join('\n')}`).digest('base64url').slice(0, 16);
      this.cursor = given.has('from') ? Cursor.read(given.get('from'), this.cursorQuery) : null;
    } else {
      this.size = Math.min(page('per_page', 1, 10), 50);
      this.page = page('page', 1, 1);
    }
  }

  /** 9: what was answered under this key is answered again. */
  #keyed() {
    const { desk, route, caller, key } = this;
    if (!key) return this.#act();
    const fingerprint = createHash('sha256').update(JSON.stringify([this.path, this.search, this.version, this.sent ?? null])).digest('hex');
    const kept = desk.replays.find(caller, route.does, key, fingerprint);
    if (kept) return kept;
    let answer, keep = true;
    try { answer = this.#act(); } catch (error) {
      if (!(error instanceof Refusal) || !OWN.has(error.code)) throw error;
      answer = this.#refused(error);
    }
    if (keep) desk.replays.keep(caller, route.does, key, fingerprint, answer);
    return answer;
  }

  #act() {
    const { route } = this;
    switch (route.verb) {
      case 'list': return this.#list();
      case 'create': return this.#create();
      case 'read': return this.#readRow();
      case 'update': case 'replace': return this.#change();
      case 'delete': return this.#delete();
      default: return this.#move();
    }
  }

  // ---- rows

  /** 10: the parent that the path names. */
  #parent() {
    const { route, params } = this;
    if (!route.parent) return null;
    const parent = this.club.kind(route.parent).rows.get(params[route.parent]);
    if (!parent) throw new Refusal('not_found');
    return parent;
  }

  /** 10: the row that the path names, which its caller may read, and act on. */
  #row() {
    const { kind, route, desk, caller, club } = this;
    const text = Object.values(this.params).at(-1);
    const id = kind === club.supply ? (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : null) : text;
    const row = kind.rows.get(id);
    if (!row) {
      const gone = kind.deleted.get(id);
      if (gone && gone.until > clock.now() && !(bug('er-gone-as-missing') && route.verb === 'read') && desk.rules.may(`read ${kind.name}`, caller, gone.row)) throw new Refusal('withdrawn');
      throw new Refusal('not_found');
    }
    const skip = bug('au-promote-any') && route.does === 'promote booking';
    if (!skip && !desk.rules.may(`read ${kind.name}`, caller, row)) throw new Refusal('not_found');
    if (!skip && !desk.rules.may(route.does, caller, row)) throw new Refusal('not_yours');
    return row;
  }

  #shown(row, more) { return this.club.show(this.kind, row, this.caller?.user, this.version, more); }

  #tag(row, user = this.caller?.user) {
    const seen = this.club.show(this.kind, row, user, this.version);
    if (bug('ep-tag-without-beds')) delete seen.beds;
    return `"${createHash('sha256').update(`${this.version}\n${JSON.stringify(seen)}`).digest('base64url').slice(0, 27)}"`;
  }

  #readRow() {
    const row = this.#row();
    if (!this.route.tagged) return new Answer(200, this.#shown(row));
    const tag = this.#tag(row), headers = { ETag: tag, 'Cache-Control': 'no-cache' };
    const none = this.request.headers['if-none-match'];
    if (none !== undefined && (none.trim() === '*' || none.split(',').some((one) => one.trim().replace(/^W\//, '') === tag))) return new Answer(304, undefined, headers);
    return new Answer(200, this.#shown(row), headers);
  }

  /** 11: what the caller has read is still so. */
  #precondition(row) {
    const match = this.request.headers['if-match'];
    if (match === undefined) {
      if (this.route.ifMatch) throw new Refusal('tag_missing');
      return;
    }
    if (!this.route.ifMatch || match.trim() === '*') return;
    const tags = [this.#tag(row), this.#tag(row, null)];
    if (!match.split(',').some((one) => tags.includes(one.trim()))) throw new Refusal('changed_meanwhile');
  }

  #writes(field) {
    if (field.readOnly || field.derive) return false;
    return !field.writable || field.writable.includes(this.caller.user);
  }

  /** 12: holds what was sent to its version's shape; gives the row as it would be stored. */
  #next(row) {
    const { kind, sent, route } = this, wrong = [];
    const view = kind.view(this.version), patch = route.verb === 'update';
    if (!isMap(sent)) throw Refusal.invalid([new Violation('body', '', shown(sent), 'a map', 'type')]);
    const next = {};
    if (row) {
      for (const [name, value] of Object.entries(row)) next[name] = value;
      if (!patch) for (const field of Object.values(view)) if (this.#writes(field) && !kind.required(field.stored)) delete next[field.stored];
    }
    const bound = route.parent ? { [route.parent]: this.params[route.parent] } : {};
    const bad = new Set();
    for (const [name, value] of Object.entries(sent)) {
      const field = Object.hasOwn(view, name) ? view[name] : undefined;
      if (!field) { wrong.push(new Violation('body', name, shown(value), 'no such field', 'unknown')); continue; }
      if (!this.#writes(field)) continue;
      const start = wrong.length;
      if (patch && value === null) {
        if (kind.required(field.stored)) wrong.push(new Violation('body', name, 'null', 'a value'));
        else if (!bug('ep-null-ignored')) delete next[field.stored];
      } else {
        const whole = patch && isMap(value) && field.fields && isMap(row[field.stored]) ? mergePatch(row[field.stored], value) : value;
        const emptied = whole === value ? [] : Object.keys(value).filter((key) => value[key] === null && field.required.includes(key));
        for (const key of emptied) wrong.push(new Violation('body', below(name, key), 'null', 'a value'));
        Check.value(emptied.length ? { ...field, required: field.required.filter((key) => !emptied.includes(key)) } : field, whole, name, wrong);
        if (wrong.length === start) {
          const up = row && row[field.stored] !== undefined && same(field.down(row[field.stored]), whole) ? row[field.stored] : field.up(whole);
          if (row && field.immutable && !same(up, row[field.stored])) {
            wrong.push(new Violation('body', name, shown(value), 'what it was made with'));
          } else if (bound[field.stored] !== undefined && up !== bound[field.stored]) wrong.push(new Violation('body', name, shown(value), 'what the path says'));
          else next[field.stored] = up;
        }
      }
      if (wrong.length > start) bad.add(field.stored);
    }
    for (const [name, field] of Object.entries(view)) {
      if (patch || Object.hasOwn(sent, name) || !this.#writes(field)) continue;
      if (field.default !== undefined) next[field.stored] = field.default;
      else if (bound[field.stored] !== undefined) next[field.stored] = bound[field.stored];
      else if (row && field.immutable) next[field.stored] = row[field.stored];
      else if (kind.required(field.stored)) { wrong.push(new Violation('body', name, 'nothing', 'a value', 'missing')); bad.add(field.stored); }
    }
    if (!row) for (const [name, field] of Object.entries(kind.fields)) if (field.default !== undefined && next[name] === undefined && !bad.has(name)) next[name] = field.default;
    for (const rule of kind.rules ?? []) {
      if (rule.reads.some((name) => bad.has(name)) || !rule.if(next)) continue;
      const [name] = Object.entries(view).find(([, field]) => field.stored === rule.field);
      wrong.push(new Violation('body', name, shown(next[rule.field]), rule.says));
    }
    if (wrong.length) throw Refusal.invalid(wrong);
    return next;
  }

  #references(next) {
    for (const [name, field] of Object.entries(this.kind.fields)) {
      if (!field.ref || field.readOnly || next[name] === undefined) continue;
      if (!this.club.kind(field.ref).rows.has(next[name])) {
        const [called] = Object.entries(this.kind.view(this.version)).find(([, one]) => one.stored === name);
        throw new Refusal('no_such_reference', { violations: [new Violation('body', called, next[name], `a ${field.ref} that is there`)] });
      }
    }
  }

  /** 14: the service's own errors, in their order. */
  #own(next) {
    const { club, route } = this;
    switch (route.does) {
      case 'create booking':
        if (club.hut.rows.get(next.hut).season !== 'open') throw new Refusal('hut_is_shut');
        break;
      case 'create night': case 'update night':
        if (next.places > club.dormitory.rows.get(next.dormitory).beds) throw new Refusal('more_than_beds');
        break;
      case 'create supply': case 'replace supply':
        if (instant(next.due_at) <= clock.now()) throw new Refusal('too_soon');
        break;
    }
  }

  /** 15: what has to be unique, and how many there may be. */
  #unique(next, row) {
    const { kind } = this;
    for (const fields of kind.unique) {
      if (row && bug('res-unique-on-patch')) continue;
      for (const other of kind.rows.values()) if (other !== row && fields.every((field) => other[field] === next[field])) throw new Refusal('taken');
    }
  }

  #create() {
    const { club, kind, desk, caller, route } = this;
    this.#parent();
    const next = this.#next(null);
    this.#references(next);
    if (!desk.rules.may(route.does, caller, next)) throw new Refusal('not_yours');
    const at = clock.iso();
    if (kind === club.hut) next.season = 'shut';
    if (kind === club.booking) {
      const night = club.night.rows.get(next.night);
      next.hut = club.hutOfNight(next.night);
      next.hiker = caller.id;
      next.deposit = night.deposit * next.party;
      const free = club.free(night);
      next.status = (bug('st-exact-fit-waits') ? free > next.party : free >= next.party) ? 'held' : 'waiting';
      next.changed_at = at;
      next.$made = clock.now();
    }
    if (kind === club.supply) next.status = 'ordered';
    if (kind === club.report) Object.assign(next, { author: caller.id, written_at: at });
    if (kind === club.hook) Object.assign(next, { owner: caller.id, secret: `whs_${Make.letters(24)}`, $maker: caller, $version: this.version });
    this.#own(next);
    if (kind === club.hut && kind.rows.has(next.code)) throw new Refusal('taken');
    this.#unique(next, null);
    if (kind === club.hook && kind.all().filter((hook) => hook.owner === caller.id).length >= 3) throw new Refusal('hooks_full');
    if (kind === club.booking) {
      const counting = bug('li-rows-held-only') ? ['held'] : ['waiting', 'held'];
      if (counting.includes(next.status) && kind.all().filter((booking) => booking.hiker === caller.id && counting.includes(booking.status)).length >= 5) throw new Refusal('enough');
      desk.quota.ask(caller);
      desk.quota.use(caller);
    }
    if (kind.generate) next[kind.id] = kind.generate();
    if (kind === club.booking) next.number = club.bookingNumber();
    club.store(kind, next);
    club.courier.emit(route.does, kind, next, next);
    if (kind === club.booking) club.entered(next);
    if (kind === club.supply) club.dueAt(next);
    const headers = kind.address ? { Location: BASE + kind.address(next) } : {};
    return new Answer(201, this.#shown(next, { first: true }), headers);
  }

  #state(row) {
    const { route, kind } = this;
    if (route.in && !route.in.includes(row[kind.state])) throw new Refusal('not_now');
  }

  #change() {
    const { club, kind, desk, caller, route } = this;
    const row = this.#row();
    this.#precondition(row);
    const next = this.#next(row);
    this.#references(next);
    if (!desk.rules.may(route.does, caller, next)) throw new Refusal('not_yours');
    this.#state(row);
    this.#own(next);
    this.#unique(next, row);
    const altered = Object.keys(kind.fields).some((name) => !same(next[name], row[name]));
    if (altered) {
      const was = { ...row };
      for (const name of Object.keys(kind.fields)) {
        if (next[name] === undefined) delete row[name]; else row[name] = next[name];
      }
      if (kind === club.booking) row.changed_at = clock.iso();
      if (kind === club.report) row.written_at = clock.iso();
      club.courier.emit(route.does, kind, was, row);
      if (kind === club.supply) club.dueAt(row);
      if (kind === club.hook && was.active !== row.active) club.courier.forget(row.id);
    }
    return new Answer(200, this.#shown(row), route.tagged ? { ETag: this.#tag(row) } : {});
  }

  #delete() {
    const { club, kind } = this;
    const row = this.#row();
    this.#precondition(row);
    if (kind === club.hut && [club.dormitory, club.booking, club.supply].some((other) => other.referring('hut', row.code).length)) throw new Refusal('in_use');
    club.delete(kind, row);
    if (kind === club.hook) club.courier.forget(row.id);
    return new Answer(204, undefined);
  }

  #move() {
    const { club, kind, route, caller } = this;
    const row = this.#row();
    this.#precondition(row);
    if (route.body) {
      const wrong = [];
      Check.value(route.body, this.sent, '', wrong);
      if (wrong.length) throw Refusal.invalid(wrong);
    }
    const move = TRANSITIONS[route.does];
    const amount = () => { if (route.does === 'pay booking' && this.sent.amount !== row.deposit) throw new Refusal('wrong_amount'); };
    if (bug('er-amount-first')) amount();
    if (!move.from.includes(row[kind.state])) throw new Refusal(move.else ?? 'not_now');
    amount();
    if (route.does === 'open hut' && !(kind.fields.beds.derive(row) > 0)) throw new Refusal('not_now');
    if (route.does === 'promote booking' && !(club.free(club.night.rows.get(row.night)) >= row.party)) throw new Refusal('no_room');
    if (kind === club.booking) club.moveBooking(route.does, row, move.to, caller);
    else {
      const was = { ...row };
      row[kind.state] = move.to ?? (route.does === 'open hut' ? 'open' : row.winter_room && !bug('st-never-winter') ? 'winter' : 'shut');
      club.courier.emit(route.does, kind, was, row);
    }
    if (route.does === 'close hut') {
      const from = bug('st-close-keeps-paid') ? ['waiting', 'held'] : ['waiting', 'held', 'paid'];
      for (const booking of club.booking.referring('hut', row.code)) if (from.includes(booking.status)) club.moveBooking('call_off booking', booking, 'cancelled', caller);
    }
    return new Answer(200, this.#shown(row));
  }

  // ---- lists

  #list() {
    const { kind, route, desk, caller } = this;
    const parent = this.#parent();
    let rows = parent ? kind.referring(route.parent, parent[this.club.kind(route.parent).id]) : kind.all();
    rows = rows.filter((row) => desk.rules.may(route.does, caller, row) && this.keeps.every((keep) => keep(row)));
    const ties = route.ties === 'newest' ? -1 : 1;
    const down = this.order?.startsWith('-') ? -1 : 1, field = this.order?.replace('-', '');
    const value = (row) => row[field];
    const less = (a, b) => (field ? compare(value(a), value(b)) * down : 0) || (a.$order - b.$order) * ties;
    rows.sort(less);
    const told = (list) => list.map((row) => this.#shown(row, { list: true }));
    if (route.pages === 'none') return new Answer(200, told(rows));
    if (route.pages === 'cursor') {
      const place = this.cursor;
      if (place) rows = rows.filter((row) => less(row, { [field]: place.value, $order: place.order }) > 0);
      const part = rows.slice(0, this.size), last = part.at(-1);
      const next = rows.length > this.size ? Cursor.write({ query: this.cursorQuery, value: value(last), order: last.$order }) : null;
      return new Answer(200, { reports: told(part), next_from: next });
    }
    const start = (this.page - 1) * this.size, part = rows.slice(start, start + this.size);
    const more = start + this.size < rows.length;
    const link = (page, rel) => {
      const query = new URLSearchParams(this.given);
      query.set('page', page);
      return `<${this.path}?${query}>; rel="${rel}"`;
    };
    const links = [link(1, 'first')];
    if (this.page > 1) links.push(link(this.page - 1, 'prev'));
    if (more) links.push(link(this.page + 1, 'next'));
    return new Answer(200, { entries: told(part), total: rows.length, more }, { Link: links.join(', ') });
  }
}

// ---------------------------------------------------------------- the service

class Desk {
  club = new Club();
  gate = new Gate(CALLERS);
  rules = new Rules(this.club);
  courier = new Courier(this.club, this.rules);
  table = new Table(this.club);
  rates = new Rates();
  quota = new MonthlyQuota(20);
  replays = new Replays();

  open(port) {
    const server = http.createServer({
      maxHeaderSize: 128 * 1024, requestTimeout: 8000, headersTimeout: 8000, keepAliveTimeout: 20_000, connectionsCheckingInterval: 250, noDelay: true,
    }, (request, response) => { new Exchange(this, request, response).run(); });
    if ('keepAliveTimeoutBuffer' in server) server.keepAliveTimeoutBuffer = 0;
    server.on('clientError', (error, socket) => {
      if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy();
      const code = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : error.code === 'HPE_HEADER_OVERFLOW' ? 'too_large' : 'unreadable';
      const refusal = new Refusal(code);
      const text = JSON.stringify(refusal.body(`req_${Make.letters(16, SMALL)}`));
      socket.end([
        `HTTP/1.1 ${refusal.status} ${http.STATUS_CODES[refusal.status]}`, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`,
        `Hut-Refusal: ${code}`, `Hut-Version: ${CURRENT}`, 'Connection: close', '', text,
      ].join('\r\n'));
    });
    server.listen(port, '127.0.0.1');
  }
}

process.on('uncaughtException', (error) => console.error(error));
process.on('unhandledRejection', (error) => console.error(error));
const desk = new Desk();
desk.open(Number(argument('port') ?? 24000));
if (argument('clock-port')) Door.open(Number(argument('clock-port')), desk.courier);
