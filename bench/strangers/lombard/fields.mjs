// What may be sent: fields of the resources, how each is checked, and what each version calls them.
import { Problem } from './problems.mjs';

export const CATEGORIES = ['watch', 'jewel', 'instrument', 'tool'];
export const STATUSES = ['brought', 'offered', 'pawned', 'redeemed', 'forfeited', 'sold', 'withdrawn'];
export const TOPICS = ['pledge.brought', 'pledge.repriced', 'pledge.moved', 'pledge.erased', 'payment.booked', 'payment.voided', 'rack.changed'];
const SUBSCRIBABLE = new Set([...TOPICS, '*', ...TOPICS.map((topic) => `${topic.split('.')[0]}.*`)]);

const string = (min, max, pattern) => (v) => {
  if (typeof v !== 'string' || !v.isWellFormed()) return false;
  const length = [...v].length;
  return length >= min && length <= max && (!pattern || pattern.test(v));
};
const integer = (min, max) => (v) => Number.isInteger(v) && v >= min && v <= max;
const oneOf = (words) => (v) => words.includes(v);
const bool = (v) => typeof v === 'boolean';
const url = (v) => typeof v === 'string' && v.length <= 200 && /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$/.test(v) && URL.canParse(v);
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
function day(v) {
  const [, y, m, d] = (typeof v === 'string' && /^(\d{4})-(\d{2})-(\d{2})$/.exec(v)) || [];
  if (!y || +m < 1 || +m > 12 || +d < 1) return false;
  const leap = (+y % 4 === 0 && +y % 100 !== 0) || +y % 400 === 0;
  return +d <= DAYS[m - 1] + (+m === 2 && leap ? 1 : 0);
}
export function instant(text) {
  const m = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.exec(text);
  if (!m || !day(m[1]) || +m[2] > 23 || +m[3] > 59 || +m[4] > 59) return Number.NaN;
  return Date.parse(text.toUpperCase());
}

/** `by`: who writes it; `out: false` is never shown; `once` is shown by its creation alone. */
export function shapes(fault) {
  return {
    rack: {
      code: { ok: string(0, 99, fault === 'rack-code-lower' ? /^[A-Z]-[0-9]{2}$/i : /^[A-Z]-[0-9]{2}$/), must: true },
      label: { ok: string(2, 30), must: true },
      locked: { ok: bool, must: true, fallback: false },
      note: { ok: string(0, fault === 'note-any-length' ? 9999 : 80) },
      stored: { ro: true },
    },
    pledge: {
      id: { ro: true },
      number: { ro: true },
      item: { ok: string(3, fault === 'item-short-bound' ? 59 : 60), must: true },
      maker: { ok: string(fault === 'empty-maker' ? 0 : 1, 40) },
      category: { ok: oneOf(CATEGORIES), must: true },
      weight_g: { ok: integer(1, 50_000) },
      asking: { ok: fault === 'asking-decimals' ? (v) => typeof v === 'number' && v >= 100 && v <= 5_000_000 : integer(100, 5_000_000), must: true },
      insured: { ok: fault === 'insured-as-text' ? (v) => bool(v) || v === 'true' || v === 'false' : bool, must: true, fallback: false },
      marks: { ok: (v) => Array.isArray(v) && v.length <= (fault === 'five-marks' ? 5 : 4), each: string(1, 16) },
      made_on: { ok: fault === 'thirtieth-of-february' ? (v) => typeof v === 'string' && /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(v) : day, fixed: true },
      secret_mark: { ok: string(0, 40), out: false },
      remark: { ok: string(0, 120), by: 'clerk', seenBy: 'clerk' },
      rack: { ok: string(0, Number.POSITIVE_INFINITY), by: 'clerk' },
      status: { ro: true },
      loan: { ro: true },
      paid: { ro: true },
      renewals: { ro: true },
      owner: { ro: true, out: false },
      brought_at: { ro: true },
      due_at: { ro: true },
      touched_at: { ro: true },
    },
    payment: {
      id: { ro: true },
      pledge: { ok: string(0, Number.POSITIVE_INFINITY) },
      amount: { ok: integer(fault === 'nothing-paid' ? 0 : 1, 5_000_000), must: true },
      method: { ok: oneOf(['cash', 'card', 'transfer']), must: true, fallback: 'cash' },
      reference: { ok: string(0, 35) },
      status: { ro: true },
      taken_by: { ro: true },
      taken_at: { ro: true },
    },
    hook: {
      id: { ro: true },
      url: { ok: url, must: true },
      secret: { ro: true, once: true },
      events: { ok: Array.isArray, each: (v) => fault === 'unknown-topics' ? typeof v === 'string' : SUBSCRIBABLE.has(v) },
      active: { ok: bool, must: true, fallback: true },
      keeper: { ro: true, out: false },
    },
  };
}

// ---- versions
/** The newest name of a field of that version, or nothing where that version has no such field. */
const upName = (resource, name, version) => {
  if (resource !== 'pledge' || version !== 'v1') return name;
  if (name === 'weight_kg') return 'weight_g';
  return name === 'weight_g' || name === 'insured' ? undefined : name;
};
export const downName = (resource, name, version) => (resource === 'pledge' && version === 'v1' && name === 'weight_g' ? 'weight_kg' : name);
export const upCategory = (word, version) => (version !== 'v1' ? word : word === 'gem' ? 'jewel' : word === 'jewel' ? undefined : word);
export const downCategory = (word, version) => (version === 'v1' && word === 'jewel' ? 'gem' : word);

/**
 * Reads what was sent of a resource: `values` under the newest names (null = to be taken away), `wrong` in the order in which it was sent.
 * `mode` is create, update or replace; `before` the row as it is stored.
 */
export function readSent(house, resource, sent, { mode, version, user, before, prefix = '' }) {
  const { fault } = house;
  const shape = house.shapes[resource];
  const values = {};
  const wrong = [];
  const blame = (name, kind = 'invalid') => wrong.push({ at: prefix + name, kind });
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw new Problem('invalid', { at: [prefix.slice(0, -1)] });
  for (const [key, given] of Object.entries(sent)) {
    const name = upName(resource, key, version);
    const field = name !== undefined && Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (!field) {
      if (!(fault === 'unknown-on-patch' && mode === 'update')) blame(key, 'unknown');
      continue;
    }
    if (field.ro || (field.by && field.by !== user && !(fault === 'rack-by-anyone' && name === 'rack'))) {
      if (fault === 'status-on-create' && name === 'status' && mode === 'create' && STATUSES.includes(given)) values.status = given;
      continue;
    }
    let value = given;
    if (value === null) {
      if (mode === 'update' && field.fixed && before[name] !== undefined && fault !== 'made-on-moves') blame(key);
      else if (mode === 'update' && !field.must) {
        if (fault !== 'maker-stays' || name !== 'maker') values[name] = null;
      } else if (!(fault === 'null-asking' && name === 'asking' && mode === 'update')) blame(key);
      continue;
    }
    if (resource === 'pledge' && name === 'category') value = typeof value === 'string' ? upCategory(value, version) : value;
    if (resource === 'pledge' && name === 'weight_g' && version === 'v1') {
      const fits = typeof value === 'number' && value >= 0.001 && value <= 50;
      value = fits ? (before?.weight_g !== undefined && before.weight_g / 1000 === value ? before.weight_g : Math.round(value * 1000)) : undefined;
      if (fault === 'kilos-cut-off' && fits) value = Math.floor(given);
      if (fault === 'kilos-cut-off' && fits && value < 1) value = 1;
    }
    if (!field.ok(value)) blame(key);
    else if (field.each && !value.every(field.each)) {
      for (const [at, item] of value.entries()) if (!field.each(item)) blame(`${key}.${at}`);
    } else if (field.fixed && mode === 'update' && value !== before[name] && fault !== 'made-on-moves') blame(key);
    else values[name] = fault === 'insured-as-text' && name === 'insured' ? value === true || value === 'true' : value;
  }
  if (mode !== 'update') {
    for (const [name, field] of Object.entries(shape)) {
      if (field.fallback !== undefined) values[name] ??= field.fallback;
      const told = downName(resource, name, version);
      if (field.must && values[name] === undefined && !Object.hasOwn(sent, told)) blame(told);
    }
  }
  return { values, wrong };
}

/** Refuses what is wrong: the first thing that was sent names the code. */
export function orRefuse({ values, wrong }) {
  if (wrong.length > 0) throw new Problem(wrong[0].kind === 'unknown' ? 'unknown_field' : 'invalid', { at: wrong.map(({ at }) => at) });
  return values;
}
