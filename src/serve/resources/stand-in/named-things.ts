/** Things that are named where rows show them whole, and parents that a row names itself. */

import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import { isSame } from '../../../document/values.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import { identifierText, type RowModel } from '../model.ts';
import type { Rows } from '../stand-in.ts';
import type { Sampling } from './sampling.ts';

/**
 * Puts the thing in the place of its identifier: a client sends `milestone: 1` or `tags: ["t1"]` where rows show `milestone: { id, title }`.
 * What of it is known is taken from its row; `before` is what stays as it is.
 */
export function withNamedThings(sampling: Sampling, rows: Rows, model: RowModel, fields: Fields, before: Fields = {}): Fields {
  let out: Fields | undefined;
  for (const [name, value] of Object.entries(fields)) {
    const field = model.fields.get(name);
    const shape = field && statedValue(field.shape);
    if (value === undefined || value === null || !shape || field.ref !== undefined || isSame(value, before[name])) continue;
    const items = sampling.samples.whole(shape).items;
    const inner = Array.isArray(value) ? (isPlainMap(items) ? items : undefined) : shape;
    const isNamed = (one: Value) => typeof one === 'string' || typeof one === 'number';
    const named = Array.isArray(value) ? value.length > 0 && value.every(isNamed) : isNamed(value);
    if (!named || !inner || sampling.samples.of(shape, name).fits(value)) continue;
    const things = (Array.isArray(value) ? value : [value]).map((one) => thingOf(sampling, rows, inner, one));
    if (things.some((one) => one === undefined)) continue;
    out ??= { ...fields };
    out[name] = Array.isArray(value) ? things : things[0];
  }
  return out ?? fields;
}

/**
 * Puts what a path says of the parent of a new row where the row shows it: `/projects/{project_gid}/sections` makes a section whose `project` is
 * that one, and `/balancers/{balancerId}/configs` one whose `balancer_id` is; `/namespaces/{namespace}/pods` one whose `metadata.namespace` is,
 * where its `metadata` was sent without it.
 */
export function withShownParents(sampling: Sampling, model: RowModel, fields: Fields): Fields {
  const out: Fields = { ...fields };
  for (const [name, { visible }] of model.fields) {
    const value = fields[name];
    if (visible?.length !== 0 || value === undefined) continue;
    for (const [other, field] of model.fields) {
      const isMeant = other !== name && other !== model.identifier.field && parentWord(other) === parentWord(name);
      if (!isMeant || out[other] !== undefined || field.visible?.length === 0) continue;
      const shape = statedValue(field.shape) ?? {};
      // What is no value of its own is a thing that has this identifier.
      if (sampling.samples.of(shape, other).fits(value) || isPlainMap(sampling.samples.whole(shape).properties))
        out[other] = value;
    }
    showInside(sampling, model, out, name, value);
  }
  return out;
}

/** Puts a parent's name in the maps of a new row that have a place for just that, and were sent without it. */
function showInside(sampling: Sampling, model: RowModel, out: Fields, parent: string, value: Value): void {
  for (const [holder, inner] of Object.entries(out)) {
    const field = model.fields.get(holder);
    const shape = field && statedValue(field.shape);
    if (!isFields(inner) || !shape || field.ref !== undefined || Object.hasOwn(inner, parent)) continue;
    const member = sampling.samples.membersOf(shape)[parent];
    if (isPlainMap(member) && sampling.samples.of(member, parent).fits(value)) out[holder] = { ...inner, [parent]: value };
  }
}

/** `project_gid`, `projectId` and `project` are one: the word for a parent, however it is written. */
function parentWord(name: string): string {
  const plain = plainName(name);
  return plain.replace(/(?<=.)(?:gid|uuid|id)$/, '');
}

/** The thing of an identifier, as a shape shows it; nothing where the shape has no place for the identifier. */
function thingOf(sampling: Sampling, { rows, models }: Rows, shape: Shape, named: Value): Fields | undefined {
  const members = sampling.samples.membersOf(shape);
  const names = identifierNames.filter((name) => Object.hasOwn(members, name));
  const id = names.find((name) => sampling.samples.of(members[name] as Json, name).fits(named));
  if (id === undefined) return undefined;
  const text = identifierText(named);
  for (const model of text === undefined ? [] : models.values()) {
    const row = model.identifier.field === id ? rows.get(model.name, String(text)) : undefined;
    if (row) return { ...membersIn(model.parse(row), members), [id]: named };
  }
  return { [id]: named };
}

const identifierNames = ['id', 'gid', 'uid', 'uuid', 'number', 'key', 'slug', 'name', 'login'];

function membersIn(row: Fields, members: Readonly<Record<string, Json>>): Fields {
  return Object.fromEntries(Object.entries(row).filter(([name, value]) => Object.hasOwn(members, name) && !isFields(value)));
}

/**
 * Sets of whom a new row is, where it says so itself: what is made by `POST /comments` with `item: { id }` is listed by
 * `GET /files/{file_id}/comments`, and what is made with `group: { id }` by `GET /groups/{group_id}/members`. A map that is not
 * called like the parent names it only where there is such a row.
 */
export function withNamedParents({ rows, models }: Rows, model: RowModel, fields: Fields): Fields {
  let out: Fields | undefined;
  for (const [name, { visible, ref }] of model.fields) {
    if (visible?.length !== 0 || fields[name] !== undefined) continue;
    const parent = ref === undefined ? undefined : models.get(ref);
    const others = Object.entries(fields).filter(([other]) => other !== name && other !== model.identifier.field);
    const called = others.find(([other]) => parentWord(other) === parentWord(name));
    const id =
      (called && identifierIn(called[1], parent)) ??
      (parent &&
        others.map(([, value]) => (isFields(value) ? identifierIn(value, parent) : undefined)).find((one) => isThere(one)));
    if (id === undefined) continue;
    out ??= { ...fields };
    out[name] = id;

    function isThere(one: Value): boolean {
      return one !== undefined && parent !== undefined && rows.get(parent.name, String(one)) !== undefined;
    }
  }
  return out ?? fields;
}

/** The identifier that a member says: it itself, or that of the thing which it shows. */
function identifierIn(value: Value, parent: RowModel | undefined): string | number | undefined {
  const own = isFields(value) ? value[parent?.identifier.field ?? 'id'] : value;
  return (typeof own === 'string' && identifierText(own) !== undefined) || typeof own === 'number' ? own : undefined;
}
