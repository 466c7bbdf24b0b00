import { problem } from './errors.js';
import { broken } from './faults.js';
import { knownKind } from './kinds.js';
import { MODEL } from './model.js';
import { unseenDefaults, viewOf, wireName } from './versions.js';

const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const FORMATS = {
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text),
  uri: (text) => /^[A-Za-z][A-Za-z0-9+.-]*:(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/.test(text) && URL.canParse(text),
};
const safely = (check, value) => {
  try {
    return check(value);
  } catch {
    return false;
  }
};

/** Digits for a number, as a form sends them. */
const asText = (value) => typeof value === 'string' && /^\d+$/.test(value);

const KINDS = {
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isMap,
};
const ARTICLES = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
};

/** What is wrong with a value, as problems at a path. */
export function check(spec, value, path) {
  if (value === null && spec.nullable) return [];
  if (!KINDS[spec.type](value) && !(broken('re-integer-text') && path === '/capacity' && asText(value)))
    return [problem(path, ARTICLES[spec.type], value)];
  const length = spec.type === 'string' ? [...value].length : 0;
  const wrong = (expected) => [problem(path, expected, value)];
  if (spec.enum && !spec.enum.includes(value)) return wrong(`one of ${spec.enum.join(', ')}`);
  if (spec.pattern && !spec.pattern.test(value)) return wrong(`a text like ${spec.pattern.source}`);
  if (spec.minLength !== undefined && length < spec.minLength) return wrong(`${spec.minLength} characters at least`);
  if (spec.maxLength !== undefined && length > spec.maxLength) return wrong(`${spec.maxLength} characters at most`);
  if (spec.min !== undefined && value < spec.min) return wrong(`${spec.min} at least`);
  if (spec.max !== undefined && value > spec.max) return wrong(`${spec.max} at most`);
  if (spec.multipleOf !== undefined && value % spec.multipleOf !== 0) return wrong(`a multiple of ${spec.multipleOf}`);
  if (spec.format && FORMATS[spec.format] && !safely(FORMATS[spec.format], value)) return wrong(`a ${spec.format}`);
  if (spec.type === 'array') {
    if (value.length > spec.maxItems) return wrong(`${spec.maxItems} items at most`);
    return value.flatMap((item, i) => {
      const at = `${path}/${i}`;
      const problems = check(spec.items, item, at);
      if (problems.length > 0 || !spec.kinds || knownKind(item) || broken('re-events-unknown')) return problems;
      return [problem(at, 'a kind of event', item)];
    });
  }
  if (spec.of) return checkMap(MODEL[spec.of].fields, value, path);
  return [];
}

/** A map against its fields: nothing unknown, nothing missing. */
export function checkMap(fields, value, path = '') {
  if (!isMap(value)) return [problem(path, 'a map', value)];
  const problems = [];
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(fields, name)) problems.push(problem(`${path}/${name}`, 'no such field'));
    else problems.push(...check(fields[name], value[name], `${path}/${name}`));
  }
  for (const [name, spec] of Object.entries(fields)) {
    if (spec.required && !Object.hasOwn(value, name)) problems.push(problem(`${path}/${name}`, 'a value'));
  }
  return problems;
}

/** JSON Merge Patch of a map within a row. */
const merged = (before = {}, patch) =>
  Object.fromEntries(Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null));

/** The fields of a body that its caller may write, in the names of the stored shape, and what is wrong with it. */
export function readBody(resource, body, { version, mode, current, bound = {} }) {
  if (!isMap(body)) return { values: {}, removed: [], problems: [problem('', 'a map', body)] };
  const wires = viewOf(resource, version);
  const values = {};
  const removed = [];
  const problems = [];
  for (const [name, sent] of Object.entries(body)) {
    let value = sent;
    const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const wire = wires.get(name);
    if (wire === undefined) {
      if (!(broken('re-unknown-field') && resource === 'yard')) problems.push(problem(path, 'no such field'));
      continue;
    }
    const { field, spec, up } = wire;
    if (spec.readOnly || (spec.writableOn && spec.writableOn !== mode)) {
      if (broken('re-read-only-owner') && resource === 'yard' && field === 'owner') values[field] = value;
      continue;
    }
    if (mode === 'update' && value === null) {
      if (spec.required && !(broken('en-null-required') && resource === 'inspection'))
        problems.push(problem(path, 'a value', value));
      else if (field !== undefined) removed.push(field);
      continue;
    }
    if (mode === 'update' && spec.of && isMap(value) && !broken('en-merge-nested')) value = merged(current[field], value);
    const wrong = check(spec, value, path);
    if (wrong.length > 0) {
      problems.push(...wrong);
      continue;
    }
    if (field === undefined) continue;
    const carried = value === null ? null : up(value);
    const again = spec === MODEL[resource].fields[field] ? [] : check(MODEL[resource].fields[field], carried, path);
    if (again.length > 0) problems.push(...again);
    else if (spec.bound && mode === 'create' && Object.hasOwn(bound, field) && carried !== bound[field]) {
      if (!(broken('en-parent-in-body') && resource === 'hive')) problems.push(problem(path, 'what the path says', value));
    } else if (
      spec.immutable &&
      mode === 'update' &&
      current[field] !== carried &&
      !(broken('re-immutable-register') && field === 'register')
    ) {
      problems.push(problem(path, 'what it was made with', value));
    } else values[field] = carried;
  }
  if (mode === 'create') {
    for (const [field, value] of Object.entries(unseenDefaults(resource, version))) values[field] ??= value;
    for (const [field, spec] of Object.entries(MODEL[resource].fields)) {
      if (spec.readOnly || spec.bound || spec.writableOn) continue;
      if (values[field] === undefined && spec.default !== undefined) values[field] = spec.default;
      const name = wireName(resource, field, version);
      if (
        spec.required &&
        values[field] === undefined &&
        !problems.some(({ path }) => path === `/${name}` || path.startsWith(`/${name}/`))
      )
        problems.push(problem(`/${name}`, 'a value'));
    }
  }
  if (broken('er-first-problem')) problems.splice(1);
  return { values, removed, problems };
}

/** The rules over fields of a row as it would be stored. */
export function checkRules(resource, next, mode, version, problems) {
  for (const rule of MODEL[resource].rules ?? []) {
    const name = wireName(resource, rule.field, version);
    if (rule.on.includes(mode) && rule.if(next) && !problems.some(({ path }) => path === `/${name}`))
      problems.push(problem(`/${name}`, rule.message, next[rule.field]));
  }
}
