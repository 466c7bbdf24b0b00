import { below } from '../../document/pointer.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import type { Resource, StatedRow } from '../../parts/resources.ts';
import { machineOn } from '../../parts/states.ts';
import { shortJson } from '../subject/json-types.ts';
import { listed } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';

/** Rows that are there from the start. */
export const statedRowRules: readonly Rule[] = [
  error(
    'resources/rows',
    'A row that is to be there from the start cannot be, or is not told from another one.',
    'State its identifier and values that fit its fields; what is derived, generated or shown of other rows is left out.',
    (subject) =>
      [...subject.resources.values()].flatMap((resource) => (resource.rows ? wrongRows(subject, resource, resource.rows) : [])),
  ),
];

function wrongRows(subject: Subject, resource: Resource, rows: readonly StatedRow[]): Wrong[] {
  const { name, identifier } = resource;
  const first = rows[0];
  if (identifier.standing === 'none' && first)
    return [{ message: `\`${name}\` is a value, of which there are no rows.`, at: first.at }];
  const field = statedValue(identifier)?.field;
  const seen = new Set<string>();
  return rows.flatMap((row): Wrong[] => {
    const id = field === undefined ? undefined : row.fields[field];
    const key = typeof id === 'object' ? JSON.stringify(id) : String(id);
    const isSecond = seen.has(key);
    seen.add(key);
    if (field !== undefined && id === undefined) return [{ message: `This row has no \`${field}\`.`, at: row.at }];
    if (isSecond) return [{ message: `A row before this one is ${shortJson(id ?? null)} as well.`, at: row.at }];
    return wrongFields(subject, resource, row);
  });
}

function wrongFields({ schemas, spec }: Subject, resource: Resource, { at, fields }: StatedRow): Wrong[] {
  const known = statedValue(resource.fields);
  if (!known) return [];
  return Object.entries(fields).flatMap(([name, value]): Wrong[] => {
    const place = below(at, name);
    const field = entryOf(resource.fields, name);
    if (!field) {
      if (resource.additionalProperties) return [];
      const remedy = `Known: ${listed(Object.keys(known))}.`;
      return [{ message: `\`${resource.name}\` has no field \`${name}\`.`, remedy, at: place, onKey: true }];
    }
    if (field.derive || field.children)
      return [{ message: `\`${name}\` is made of other rows, and never stored.`, at: place, onKey: true }];
    const states = statedValue(machineOn(spec.states, resource.name, name)?.states);
    if (states && (typeof value === 'object' || !states.includes(String(value))))
      return [{ message: `${shortJson(value)} is no state; there are ${listed([...states])}.`, at: place }];
    const shape = field.ref === undefined ? statedValue(field.shape) : undefined;
    // Of a value with fields of its own, some are never stored: what is wrong with one is told when a service starts.
    const why = shape && shape.resource === undefined ? schemas.misfit(shape, value) : undefined;
    return why === undefined ? [] : [{ message: `${shortJson(value)} does not fit \`${name}\`: ${why}.`, at: place }];
  });
}
