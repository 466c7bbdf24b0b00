import { randomBytes, randomInt } from 'node:crypto';
import { refuse } from './errors.js';
import { etagOf } from './etags.js';
import { broken } from './faults.js';
import { MACHINES, moveTo } from './machines.js';
import { MODEL, referrers } from './model.js';
import { may, mayRead } from './rights.js';
import { checkMap, checkRules, readBody } from './validate.js';
import { CURRENT, present } from './versions.js';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const ALL = `${LETTERS}abcdefghijklmnopqrstuvwxyz`;
const random = (length, of) => Array.from({ length }, () => of[randomInt(of.length)]).join('');

/** The errors of the service's own before something is made, in the order of the document. */
const BEFORE = {
  hive: [
    [
      'yard_full',
      (store, next) => {
        const yard = store.get('yard', next.yard);
        const kept = MODEL.yard.fields.hives_kept.derive(yard, store);
        return broken('er-yard-full-bound') ? kept > yard.capacity : kept >= yard.capacity;
      },
    ],
  ],
  harvest: [
    [
      'under_treatment',
      (store, next) => !broken('er-under-treatment') && MODEL.hive.fields.treated.derive(store.get('hive', next.hive), store),
    ],
    [
      'hive_at_rest',
      (store, next) => {
        const { state } = store.get('hive', next.hive);
        return broken('er-at-rest-building') ? state !== 'active' && state !== 'building' : state !== 'active';
      },
    ],
  ],
  reservation: [
    [
      'too_much',
      (store, next) => {
        const left = MODEL.harvest.fields.left_g.derive(store.get('harvest', next.harvest), store);
        return broken('er-too-much-bound') ? left <= next.weight_g : left < next.weight_g;
      },
    ],
  ],
};

/** What callers, and the clock, can do to the rows. */
export class Service {
  constructor({ store, clock, timers, events }) {
    Object.assign(this, { store, clock, timers, events });
  }

  #context(given) {
    const at = this.clock.now();
    return { caller: null, version: CURRENT, ...given, at, now: this.clock.iso(at) };
  }

  /** A row that the caller may act on: missing where it may not even read it. */
  load(context, operation, resource, id) {
    const row = this.store.get(resource, id);
    if (
      row === undefined ||
      !(mayRead(this.store, context.caller, resource, row) || (broken('au-missing-hidden') && resource === 'yard'))
    )
      refuse('not_found');
    if (!may(this.store, context.caller, operation, resource, row))
      refuse(broken('er-forbidden-missing') && resource === 'inspection' ? 'not_found' : 'not_allowed');
    return row;
  }

  /** A parent that a path names. */
  parent(context, resource, id) {
    const row = this.store.get(resource, id);
    if (row === undefined || !mayRead(this.store, context.caller, resource, row)) {
      if (!(row !== undefined && broken('au-parent-unread'))) refuse('not_found');
    }
    return row;
  }

  list(context, operation, resource, keep = () => true) {
    const rows = this.store.all(resource).filter((row) => keep(row) && may(this.store, context.caller, operation, resource, row));
    return rows;
  }

  matches(context, resource, row, tags) {
    const tag = etagOf(present(this.store, resource, row, { ...context.caller, version: context.version }));
    return tags.trim() === '*' || tags.split(',').some((one) => one.trim() === tag);
  }

  precondition(context, resource, row, { header, mode }) {
    if (header === undefined) {
      if (mode === 'required' && !(broken('en-if-match-hive') && resource === 'hive')) refuse('if_match_missing');
      return;
    }
    if (broken('en-if-match-harvest') && resource === 'harvest') return;
    if (!this.matches(context, resource, row, header)) refuse('changed_meanwhile');
  }

  create(given, resource, body, { bound = {}, exists = false, unchecked = false, quota } = {}) {
    return this.store.transaction(() => {
      const context = this.#context({ ...given, request: body });
      const { values, problems } = readBody(resource, body, { version: context.version, mode: 'create', bound });
      checkRules(resource, { ...values, ...bound }, 'create', context.version, problems);
      if (problems.length > 0) refuse('invalid', { problems });
      const next = this.#made(context, resource, { ...values, ...bound });
      if (!may(this.store, context.caller, `create ${resource}`, resource, next)) refuse('not_allowed');
      for (const [code, holds] of unchecked ? [] : (BEFORE[resource] ?? [])) if (holds(this.store, next)) refuse(code);
      const twin = this.#twin(resource, next);
      if (twin) {
        if (!exists || !mayRead(this.store, context.caller, resource, twin) || broken('en-exists-refused')) refuse('exists');
        if (broken('en-exists-overwrites')) this.store.put(resource, { ...twin, name: next.name });
        return { row: this.store.get(resource, twin.id), made: false };
      }
      quota?.();
      this.#insert(context, resource, next);
      return { row: this.store.get(resource, next.id), made: true };
    });
  }

  update(given, resource, id, body, { states, ifMatch } = {}) {
    return this.store.transaction(() => {
      const context = this.#context({ ...given, request: body });
      const operation = `update ${resource}`;
      const row = this.load(context, operation, resource, id);
      if (ifMatch) this.precondition(context, resource, row, ifMatch);
      const { values, removed, problems } = readBody(resource, body, { version: context.version, mode: 'update', current: row });
      let next = { ...row, ...values };
      for (const field of removed) delete next[field];
      if (problems.length === 0) checkRules(resource, next, 'update', context.version, problems);
      if (problems.length > 0) refuse('invalid', { problems });
      if (states && !states.includes(row.state)) refuse('wrong_state');
      const moved = MACHINES[resource] !== undefined && next.state !== row.state;
      if (this.#same(row, next)) {
        if (broken('ev-update-nothing') && resource === 'hive')
          this.events.record(operation, 'hive', row, { ...context, store: this.store });
        return broken('en-update-nothing') && resource === 'yard'
          ? this.store.put(resource, { ...row, updated_at: context.now })
          : row;
      }
      let name;
      if (moved) {
        name = moveTo(resource, row.state, next.state);
        if (name === undefined) refuse('wrong_state');
        this.#guard(context, resource, name, row);
      }
      if (this.#twin(resource, next)) refuse('exists');
      next = this.#set(context, resource, next, ['update', 'write', ...(name ? [name] : [])]);
      this.store.put(resource, next);
      if (name) this.#arm(resource, next, name);
      this.#record(context, [operation, ...(name ? [`${name} ${resource}`] : [])], resource, row, next);
      if (name) this.#follow(context, resource, name, next);
      return this.store.get(resource, id);
    });
  }

  remove(given, resource, id, { states } = {}) {
    this.store.transaction(() => {
      const context = this.#context(given);
      const row = this.load(context, `delete ${resource}`, resource, id);
      if (states && !states.includes(row.state)) refuse('wrong_state');
      this.#remove(resource, row);
    });
  }

  /** A transition that a caller asks for. */
  move(given, resource, id, name, request, shape) {
    return this.store.transaction(() => {
      const context = this.#context({ ...given, request });
      const row = this.load(context, `${name} ${resource}`, resource, id);
      const problems = shape ? checkMap(shape, request) : [];
      if (problems.length > 0) refuse('invalid', { problems });
      if (broken('ev-before-commit') && name === 'release')
        this.events.record('release harvest', resource, row, { ...context, store: this.store, early: true });
      this.#allowed(resource, name, row);
      this.#guard(context, resource, name, row);
      this.#moved(context, resource, name, row);
      return this.store.get(resource, id);
    });
  }

  /** A transition that is due. */
  due(resource, id, name) {
    this.store.transaction(() => {
      const row = this.store.get(resource, id);
      if (row === undefined || !MACHINES[resource].transitions[name].from.includes(row.state)) return;
      this.#moved(this.#context({}), resource, name, row);
    });
  }

  #made(context, resource, values) {
    const { fields, prefix } = MODEL[resource];
    const given = { ...values, id: `${prefix}${random(12, ALL)}` };
    const row = {};
    for (const [name, spec] of Object.entries(fields)) {
      if (given[name] !== undefined) row[name] = given[name];
      else if (spec.state) row[name] = MACHINES[resource].initial;
      else if (spec.set?.create) row[name] = spec.set.create(context);
      else if (spec.set?.write) row[name] = spec.set.write(context);
      else if (spec.random) row[name] = random(spec.random, LETTERS);
      else if (spec.secret) row[name] = `whsec_${randomBytes(broken('re-secret-length') ? 24 : 32).toString('base64')}`;
    }
    // a subscriber is told what its maker may read, in the version it was made in
    if (resource === 'hook') row.maker = { ...context.caller, version: context.version };
    return row;
  }

  #insert(context, resource, next) {
    for (const [name, spec] of Object.entries(MODEL[resource].fields)) {
      if (!spec.counted) continue;
      const number = this.store.next(`${resource}.${name} ${spec.counted === 'all' ? '' : next[spec.counted]}`);
      next[name] = spec.as ? spec.as(number) : number;
    }
    this.store.put(resource, next);
    this.#arm(resource, next);
    this.#record(context, [`create ${resource}`], resource, undefined, next);
  }

  #remove(resource, row) {
    for (const [name, field, onDelete] of referrers(resource)) {
      const rows = this.store.children(name, field, row.id);
      if (rows.length === 0) continue;
      if (onDelete === 'restrict') {
        if (broken('re-restrict-retired') && name === 'hive' && rows.every(({ state }) => state === 'retired'))
          for (const child of rows) this.#remove(name, child);
        else refuse('in_use');
      } else for (const child of rows) this.#remove(name, child);
    }
    this.store.remove(resource, row);
    this.timers.cancel(`${resource} ${row.id}`);
  }

  #allowed(resource, name, row) {
    const move = MACHINES[resource].transitions[name];
    if (!move.from.includes(row.state)) refuse(move.else ?? 'wrong_state');
  }

  #guard(context, resource, name, row) {
    const code = MACHINES[resource].transitions[name].guard?.({
      row,
      request: context.request,
      derived: (field) => MODEL[resource].fields[field].derive(row, this.store),
      up: (...path) => this.store.up(resource, row, ...path),
    });
    if (code) refuse(code);
  }

  #moved(context, resource, name, row) {
    const { to } = MACHINES[resource].transitions[name];
    const next = this.#set(context, resource, { ...row, state: to }, [name, 'write']);
    this.store.put(resource, next);
    this.#arm(resource, next, name);
    this.#record(context, [`${name} ${resource}`], resource, row, next);
    this.#follow(context, resource, name, next);
  }

  #follow(context, resource, name, next) {
    for (const act of MACHINES[resource].transitions[name].follows ?? []) {
      if (act.create) {
        this.#insert(context, act.create, this.#made(context, act.create, act.set(next, context.request)));
        continue;
      }
      const [child, field] = act.each;
      for (const row of this.store.children(child, field, next.id)) {
        if (act.skip && !MACHINES[child].transitions[act.do].from.includes(row.state)) continue;
        this.#allowed(child, act.do, row);
        this.#moved({ ...context, caller: null, request: undefined }, child, act.do, row);
      }
    }
  }

  #set(context, resource, row, names) {
    const next = { ...row };
    for (const [field, spec] of Object.entries(MODEL[resource].fields)) {
      for (const name of names) {
        if (!spec.set?.[name]) continue;
        if (broken('re-updated-at') && name === 'write' && resource === 'harvest') continue;
        if (broken('re-released-at') && field === 'released_at') continue;
        next[field] = spec.set[name](context);
      }
    }
    return next;
  }

  /** Another row with values that are unique. */
  #twin(resource, next) {
    for (const { fields, while: holds } of MODEL[resource].unique ?? []) {
      if (holds && !holds(next)) continue;
      const rows = fields[0] === 'yard' ? this.store.children('hive', 'yard', next.yard) : this.store.all(resource);
      const twin = rows.find(
        (row) => row.id !== next.id && (!holds || holds(row)) && fields.every((field) => row[field] === next[field]),
      );
      if (twin) return twin;
    }
    return undefined;
  }

  #same(row, next) {
    return JSON.stringify(Object.entries(row).sort()) === JSON.stringify(Object.entries(next).sort());
  }

  /** The timer of the state that a row has come into. */
  #arm(resource, row) {
    const timed = Object.entries(MACHINES[resource]?.transitions ?? {}).find(
      ([, move]) => (move.after || move.at) && move.from.includes(row.state),
    );
    const key = `${resource} ${row.id}`;
    const at = timed && (timed[1].at ? timed[1].at(row) : this.clock.now() + timed[1].after);
    if (at === undefined) this.store.afterwards(() => this.timers.cancel(key));
    else this.store.afterwards(() => this.timers.set(key, at, () => this.due(resource, row.id, timed[0])));
  }

  #record(context, operations, resource, before, next) {
    for (const operation of operations) this.events.record(operation, resource, next, { ...context, before, store: this.store });
  }
}
