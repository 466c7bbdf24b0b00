/** Rows that are being made up, and the lists of their owners that show them. */

import { isSame } from '../../../document/values.ts';
import { statedValue } from '../../../parts/fact.ts';
import { type Ground, nothing } from '../../../parts/samples/sampler.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Reader } from '../../../store/store.ts';
import { type Fields, Refused, type Value } from '../../exchange/exchange.ts';
import type { Models, Work } from '../act.ts';
import { isFields } from '../body.ts';
import { insertRow, updateRow } from '../create.ts';
import { asChange } from '../locate.ts';
import { identifierText, identifierValue, type RowModel } from '../model.ts';
import type { Rows } from '../stand-in.ts';
import { keepSentTags } from './kept-tags.ts';
import { withNamedParents, withNamedThings, withShownParents } from './named-things.ts';
import { markChanged, markMade, tagChanged, tagMade } from './own-marks.ts';
import { keepNames, nameOf, namesOfRow, type Sampling } from './sampling.ts';

/** Rows that are being made up, by resource: one that refers back to such a row refers to it. */
type Making = ReadonlyMap<string, string>;

const nobody: Making = new Map();

/** A new identifier for a resource that does not state how they are made; nothing where none fits its shape. */
export function newIdentifier(sampling: Sampling, { rows }: Work, { name, identifier }: RowModel): string | undefined {
  const { generate } = identifier;
  for (let tries = 0; tries < triesMost; tries++) {
    const sequence = rows.next(name);
    const place = `${name}\n${sequence}`;
    const made = generate.by === 'template' ? generate.make(sampling.chance(place)) : sampling.identifier(name, place, sequence);
    const text = identifierText(made);
    if (text !== undefined && !rows.get(name, text)) return text;
  }
  return undefined;
}

/**
 * A new row with everything that its resource requires: of what is given, what fits stays.
 * @throws {Refused} `internal` where there is no such row.
 */
export function completeRow(sampling: Sampling, work: Work, model: RowModel, id: string, fields: Fields): Fields {
  const shown = withShownParents(sampling, model, withNamedParents(work, model, fields));
  const usual = listedUsually(sampling, model, shown);
  const known = withNamedThings(sampling, work, model, { ...shown, ...usual });
  const { whole, names } = complete(sampling, work, model, id, known, nobody, true);
  markMade(whole, known, work.nowMs);
  if (sampling.isTagging) keepSentTags(work, model, whole);
  const marked = [...new Set([...names, ...Object.keys(usual), ...tagMade(model, whole, work.nowMs, sampling.samples)])];
  keepNames(work.rows, model.name, id, marked);
  showInOwners(sampling, work, model, whole, false);
  work.sampled = [...(work.sampled ?? []), ...marked];
  return whole;
}

/** What a new row has so that lists show it which ask for it where nobody says otherwise: `type=active` by default. */
function listedUsually(sampling: Sampling, model: RowModel, given: Fields): Fields {
  const out: Fields = {};
  for (const [name, value] of sampling.listedUsually(model.name)) {
    const shape = statedValue(model.fields.get(name)?.shape ?? { standing: 'none', at: '' });
    if (given[name] === undefined && shape !== undefined && sampling.samples.of(shape, name).fits(value as Value))
      out[name] = value as Value;
  }
  return out;
}

/** A changed row, with what of it is made up: what does not fit its field stays as it was, and what is required and gone comes back. */
export function mendRow(
  sampling: Sampling,
  work: Work,
  model: RowModel,
  id: string,
  next: Fields,
  before: Fields,
): { readonly whole: Fields; readonly names: readonly string[] } {
  const mended: Fields = Object.assign(Object.create(null), withNamedThings(sampling, work, model, next, before));
  for (const [name, field] of model.fields) {
    const value = mended[name];
    if (isSame(value, before[name])) continue;
    const isLacking = value === undefined && statedValue(field.required) === true;
    if (!isLacking && (value === undefined || sampling.samples.of(statedValue(field.shape) ?? {}, name).fits(value))) continue;
    if (before[name] === undefined) delete mended[name];
    else mended[name] = before[name];
  }
  const { whole, names } = complete(sampling, work, model, id, mended, nobody, false);
  markChanged(whole, before, work.nowMs);
  tagChanged(model, whole, before, work.nowMs, sampling.samples);
  const old = namesOfRow(work.rows, model.name, id).filter((name) => isSame(whole[name], before[name]));
  return { whole, names: [...new Set([...old, ...names])] };
}

/** Stores a row of this identifier, made of what is given of it. */
export function makeRow(
  sampling: Sampling,
  work: Work,
  model: RowModel,
  id: string,
  given: Fields,
  making: Making = nobody,
): Fields {
  const { whole, names } = complete(sampling, work, model, id, given, making, true);
  keepNames(work.rows, model.name, id, names);
  work.rows.keep(madeUpKey(model.name, id), { fingerprint: '', body: '', expiresMs: Number.MAX_SAFE_INTEGER });
  return insertRow(work, model, id, whole, `sample ${model.name}`).fields;
}

/** The same where such a row can be: nothing where it cannot, since another has what has to be its own. */
export function makeRowIfFree(...[sampling, work, model, id, given, making]: Parameters<typeof makeRow>): Fields | undefined {
  try {
    // Who is shown a list that narrows itself, to what is in English, is shown what is there all the same.
    return makeRow(sampling, work, model, id, { ...given, ...listedUsually(sampling, model, given) }, making);
  } catch (failure) {
    if (failure instanceof Refused && failure.refusal.when === 'resource.exists') return undefined;
    throw failure;
  }
}

/** Whether a row is there since an answer needed it, and nobody made it. */
export function isMadeUp(rows: Reader, resource: string, id: string): boolean {
  return rows.record(madeUpKey(resource, id), 0) !== undefined;
}

function madeUpKey(resource: string, id: string): string {
  return `made up\n${resource}\n${id}`;
}

/** What is made up in answers follows from the request, and refers to rows that are there. */
export function groundOf(sampling: Sampling, work: Rows, place: string, sampled: (path: string) => void): Ground {
  return {
    seed: `${sampling.seed}\n${place}`,
    identifierOf: (resource) => reference(sampling, work, resource, nobody),
    rowOf: (resource, id) => rowOf(work, resource, id),
    sampled,
    budget: { left: valuesMost },
  };
}

const triesMost = 100;
/** How many values are made for one answer or row at the most. */
const valuesMost = 5000;
/** How many rows one row may need that are not there yet. */
const depthMost = 8;

function complete(
  sampling: Sampling,
  work: Work,
  model: RowModel,
  id: string,
  fields: Fields,
  making: Making,
  isNew: boolean,
): { readonly whole: Fields; readonly names: readonly string[] } {
  const told: string[] = [];
  const around = new Map(making).set(model.name, id);
  const ground: Ground = {
    seed: `${sampling.seed}\n${model.name}\n${id}`,
    identifierOf: (resource) => reference(sampling, work, resource, around),
    rowOf: (resource, id) => rowOf(work, resource, id),
    sampled: (path) => told.push(path),
    budget: { left: valuesMost },
  };
  const known = isNew ? sampling.likeness.of(model, fields, ground) : fields;
  const whole = sampling.samples.ofResource(model.name).complete(known, ground, '');
  if (whole === nothing)
    throw new Refused({ when: 'internal', message: `Nothing can be made up that is a ${model.name}: its shape has no end.` });
  // A row's shape is an object's. It is known by the identifier that it was made with, whichever form of it has come out.
  const row = whole as Fields;
  if (fields[model.identifier.field] !== undefined) row[model.identifier.field] = fields[model.identifier.field];
  if (isNew)
    for (const [name, address] of Object.entries(sampling.addressesIn(model, row)))
      if (fields[name] === undefined) row[name] = address;
  return { whole: row, names: [...new Set(told.map(nameOf))] };
}

/** The identifier of a row of a resource: one that is there, else, inside a change, of one that is made to be. */
function reference(sampling: Sampling, work: Rows, resource: string, making: Making): string | number | undefined {
  const model = work.models.get(resource);
  if (!model) return undefined;
  const change = asChange(work);
  const there = making.get(resource) ?? work.rows.scan(resource, 0, 1)[0]?.id;
  const id = there ?? (change && makeReferred(sampling, change, model, making));
  // An identifier is a text or a number.
  return id === undefined ? undefined : (identifierValue(id, model.identifier.isInteger) as string | number);
}

/** A row that is there, as a value to stand inside another. */
function rowOf({ rows, models }: Rows, resource: string, id: string | number): Fields | undefined {
  const model = models.get(resource);
  const row = model && rows.get(resource, String(id));
  return row && model.parse(row);
}

/** A row that nobody asked for by itself, made because something has to refer to it. */
function makeReferred(sampling: Sampling, work: Work, model: RowModel, making: Making): string | undefined {
  if (making.size >= depthMost) return undefined;
  const id = newIdentifier(sampling, work, model);
  if (id === undefined) return undefined;
  const given = { [model.identifier.field]: identifierValue(id, model.identifier.isInteger) };
  return makeRowIfFree(sampling, work, model, id, given, making) && id;
}

/** So many things a list of their owner shows. */
const shownMost = 1000;

/**
 * Shows a thing in the list that its owner has of such things, as it is now, or takes it out once it is gone: what
 * `POST /assets/{asset}/tracks` makes stands in the `tracks` of the asset.
 */
export function showInOwners(sampling: Sampling, work: Work, model: RowModel, row: Fields, isGone: boolean): void {
  for (const { field, owner, list } of ownersOf(sampling, model, work.models)) {
    const id = row[field];
    const there = id === undefined || id === null ? undefined : work.rows.get(owner.name, String(id));
    if (!there) continue;
    const before = owner.parse(there);
    const own = row[model.identifier.field];
    const idOf = (one: Value) => (isFields(one) ? one[model.identifier.field] : undefined);
    const listed: readonly Value[] = Array.isArray(before[list]) ? before[list] : [];
    // What was made up for the list gives way to what is its owner's.
    const known = listed.filter((one) => idOf(one) === own || isOf(work, model, idOf(one), field, id));
    const at = known.findIndex((one) => idOf(one) === own);
    const shown = isGone ? [] : [shownOf(model, row)];
    const next = at < 0 ? [...known, ...shown] : [...known.slice(0, at), ...shown, ...known.slice(at + 1)];
    if (next.length > shownMost || (isGone && at < 0)) continue;
    updateRow(work, owner, there, before, { ...before, [list]: next }, `show ${model.name}`);
  }
}

/** Whether there is a row that says it is of this owner. */
function isOf({ rows }: Work, model: RowModel, id: Value, field: string, owner: Value): boolean {
  const row = id === undefined ? undefined : rows.get(model.name, String(id));
  return row !== undefined && model.parse(row)[field] === owner;
}

interface OwnerList {
  /** The field that says whose the thing is, and is not shown. */
  readonly field: string;
  readonly owner: RowModel;
  /** The owner's one field that lists such things. */
  readonly list: string;
}

/** Found once for each resource. */
const known = new WeakMap<RowModel, readonly OwnerList[]>();

function ownersOf(sampling: Sampling, model: RowModel, models: Models): readonly OwnerList[] {
  const found = known.get(model) ?? findOwners(sampling, model, models);
  known.set(model, found);
  return found;
}

function findOwners({ samples }: Sampling, model: RowModel, models: Models): readonly OwnerList[] {
  return [...model.fields].flatMap(([field, { visible, ref }]): OwnerList[] => {
    const owner = visible?.length === 0 && ref !== undefined ? models.get(ref) : undefined;
    if (!owner || owner === model) return [];
    const lists = [...owner.fields].flatMap(([name, { shape }]) => {
      const items = samples.whole(statedValue(shape) ?? {}).items;
      return isPlainMap(items) && items.resource === model.name ? [name] : [];
    });
    const [list, ...others] = lists;
    return list === undefined || others.length > 0 ? [] : [{ field, owner, list }];
  });
}

function shownOf(model: RowModel, row: Fields): Fields {
  return Object.fromEntries(Object.entries(row).filter(([name]) => model.fields.get(name)?.visible?.length !== 0));
}
