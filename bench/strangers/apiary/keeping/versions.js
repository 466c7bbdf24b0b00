import { broken } from './faults.js';
import { MODEL } from './model.js';

export const OLD = '2025-09';
export const CURRENT = '2026-03';

export const VERSIONS = {
  [OLD]: {
    deprecated: Date.UTC(2026, 2, 1),
    sunset: Date.UTC(2031, 2, 1),
    link: 'https://apiary.example/upgrade',
  },
  [CURRENT]: {},
};

/** The routes that a version lacks. */
export const lacks = (version, op) => version === OLD && op === 'survey hives' && !broken('ve-endpoint-early');

const same = (value) => value;
const REMEDIES = { oxalic_acid: 'oxalic' };
const oldRemedy = (value) => Object.entries(REMEDIES).find(([, now]) => now === value)?.[0] ?? value;

/** A resource as a version has it: wire name -> { field, spec, up, down }. */
function view(resource, version) {
  const wires = new Map(
    Object.entries(MODEL[resource].fields).map(([field, spec]) => [field, { field, spec, up: same, down: same }]),
  );
  if (version === CURRENT) return wires;
  const change = (name, more) => wires.set(name, { ...wires.get(name), ...more });
  if (resource === 'yard' && !broken('ve-rename')) {
    const renamed = [...wires].map(([name, wire]) => [name === 'capacity' ? 'places' : name, wire]);
    return new Map(renamed);
  }
  if (resource === 'hive')
    wires.set('colour', { spec: { type: 'string' }, up: same, down: () => (broken('ve-colour') ? undefined : 'white') });
  if (resource === 'harvest') {
    if (!broken('ve-added-shown')) wires.delete('moisture');
    change('price', {
      spec: { ...MODEL.harvest.fields.price, type: 'number', min: undefined, max: undefined },
      up: (value) => {
        const cents = Math.abs(value) * 100;
        return broken('ve-price-up') ? Math.trunc(value * 100) : Math.sign(value) * Math.floor(cents + 0.5);
      },
      down: (value) => (broken('ve-price-down') ? value : value / 100),
    });
  }
  if (resource === 'treatment' && !broken('ve-remedy')) {
    const spec = MODEL.treatment.fields.remedy;
    change('remedy', {
      spec: { ...spec, enum: spec.enum.map(oldRemedy) },
      up: (value) => REMEDIES[value] ?? value,
      down: oldRemedy,
    });
  }
  return wires;
}

const views = new Map();
export function viewOf(resource, version) {
  const key = `${resource} ${version}`;
  if (!views.has(key)) views.set(key, view(resource, version));
  return views.get(key);
}

/** The name of a field in a version. */
export const wireName = (resource, field, version) =>
  broken('ve-violation-name') ? field : ([...viewOf(resource, version)].find(([, wire]) => wire.field === field)?.[0] ?? field);

/** What a version's creation has in a field that it cannot see. */
export const unseenDefaults = (resource, version) =>
  version === OLD && resource === 'harvest' ? { moisture: broken('ve-added-default') ? 18 : 18.5 } : {};

/** A row as it leaves the service: in a version, for a kind of user. */
export function present(store, resource, row, { users, version = CURRENT, once = false }) {
  const shown = {};
  for (const [name, { field, spec, down }] of viewOf(resource, version)) {
    if (spec.visible && !spec.visible.some((user) => users.includes(user))) continue;
    if (spec.once && !once) continue;
    const value = spec.derive ? spec.derive(row, store) : field === undefined ? null : row[field];
    if (value === undefined) continue;
    const answer = value === null && field !== undefined ? null : down(value);
    if (answer !== undefined) shown[name] = answer;
  }
  return shown;
}
