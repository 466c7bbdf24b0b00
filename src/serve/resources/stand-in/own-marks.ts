/** What a service notes on its things by itself: when they were made and last changed, and which version of each this is. */

import { createHash } from 'node:crypto';
import { isSame } from '../../../document/values.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import { type Fields, Refused, type Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import { isFields } from '../body.ts';
import type { RowModel } from '../model.ts';

/** Says of a thing that was just made that this is so, where nothing else was said of it. */
export function markMade(row: Fields, given: Fields, nowMs: number): void {
  mark(row, given, (value, name) => {
    if (isVersionName(name) && Number.isInteger(value)) return firstVersion;
    // A text of which nothing is known but its name was made of that.
    if (isVersionName(name) && typeof value === 'string' && value.startsWith(`${name} `)) return String(firstVersion);
    return isMomentOf(name, makings) || isMomentOf(name, changes) ? momentLike(value, nowMs) : undefined;
  });
}

/** Says of a thing that was changed that this is so, where the change said nothing else. */
export function markChanged(row: Fields, before: Fields, nowMs: number): void {
  if (isSame(row, before)) return;
  mark(
    row,
    row,
    (value, name, old) => {
      if (!isSame(value, old)) return undefined;
      if (isVersionName(name) && Number.isInteger(value)) return Number(value) + 1;
      if (isVersionName(name) && typeof value === 'string' && isCounted.test(value)) return String(Number(value) + 1);
      return isMomentOf(name, changes) ? momentLike(value, nowMs) : undefined;
    },
    before,
  );
}

/** The member in which things of a resource have a tag of their state, `etag`; nothing where they have none. It is looked for once. */
function tagField(model: RowModel, samples: Samples): string | undefined {
  if (!tagFields.has(model)) tagFields.set(model, findTagField(model, samples));
  return tagFields.get(model);
}

const tagFields = new WeakMap<RowModel, string | undefined>();

function findTagField({ fields }: RowModel, samples: Samples): string | undefined {
  return [...fields].find(
    ([name, { shape }]) => /^_?e_?tag$/i.test(name) && samples.of(statedValue(shape) ?? {}, name).fits('dGFn'),
  )?.[0];
}

/** Gives a new thing the tag of its state, and gives the member that it is in. */
export function tagMade(model: RowModel, row: Fields, nowMs: number, samples: Samples): readonly string[] {
  const field = tagField(model, samples);
  if (field === undefined) return [];
  row[field] = tagOf(row, nowMs);
  return [field];
}

/**
 * Gives a changed thing another tag of its state.
 * @throws {Refused} `precondition.failed` where the change was sent with the tag of another state
 */
export function tagChanged(model: RowModel, row: Fields, before: Fields, nowMs: number, samples: Samples): void {
  const field = tagField(model, samples);
  if (field === undefined) return;
  const [sent, known] = [row[field], before[field]];
  if (known !== undefined && sent !== undefined && sent !== '' && sent !== known)
    throw new Refused({ when: 'precondition.failed' });
  row[field] = known;
  if (known === undefined || !isSame(row, before)) row[field] = tagOf(row, nowMs);
}

/** A text that is another one for each state, in base64, as bytes are. */
function tagOf(row: Fields, nowMs: number): string {
  return createHash('sha256')
    .update(`${nowMs}\n${toJson(row)}`)
    .digest('base64')
    .slice(0, 16);
}

const firstVersion = 1;
const isCounted = /^[1-9]\d{0,9}$/;

/** Gives a member another value, by what it is, its name and what it was before; nothing leaves it. */
type Again = (value: Value, name: string, old: Value) => Value | undefined;

/** Looks at each member, and at those of the maps among them, that nothing is given of. */
function mark(row: Fields, given: Fields, again: Again, before: Fields = {}, depth = 0): void {
  for (const [name, value] of Object.entries(row)) {
    const own = given === row ? undefined : given[name];
    if (isFields(value) && depth < depthMost) {
      const [copy, old] = [{ ...value }, before[name]];
      const known = given === row ? copy : isFields(own) ? own : {};
      mark(copy, known, again, isFields(old) ? old : {}, depth + 1);
      if (!isSame(copy, value)) row[name] = copy;
    } else if (own === undefined) {
      const next = again(value, name, before[name]);
      if (next !== undefined) row[name] = next;
    }
  }
}

const depthMost = 2;

/** Now, in the form in which another moment stands there: RFC 3339, a date, or seconds or milliseconds since 1970. */
function momentLike(value: Value, nowMs: number): Value | undefined {
  if (typeof value === 'number')
    return value > millisecondsFrom ? nowMs : value > secondsFrom ? Math.floor(nowMs / 1000) : undefined;
  if (typeof value !== 'string') return undefined;
  const now = new Date(nowMs).toISOString();
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return now.slice(0, 10);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value)) return undefined;
  return /\.\d+(?:Z|[+-])/.test(value) ? now : now.replace(/\.\d+Z$/, 'Z');
}

/** What is less is no moment of these days. */
const secondsFrom = 1e9;
const millisecondsFrom = 1e12;

/** `created`, `CreationTime`, `date_created`, `submittedAt`: a word of making, and that it is a moment. */
function isMomentOf(name: string, words: ReadonlySet<string>): boolean {
  const all = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '' && word !== 'last');
  const said = all.filter((word) => !moments.has(word));
  const isOne = said.length < all.length || /ed$/.test(said.at(-1) ?? '');
  return isOne && said.length > 0 && said.length <= 2 && words.has(said.at(-1) ?? '');
}

const moments: ReadonlySet<string> = new Set([
  'at',
  'on',
  'date',
  'time',
  'timestamp',
  'datetime',
  'ts',
  'utc',
  'stamp',
  'epoch',
]);
const makings: ReadonlySet<string> = new Set([
  'create',
  'created',
  'creation',
  'inserted',
  'added',
  'registered',
  'registration',
  'submit',
  'submitted',
  'submission',
  'request',
  'requested',
  'queued',
  'uploaded',
  'upload',
  'activated',
  'activation',
  'start',
  'started',
  'opened',
  'issued',
]);
const changes: ReadonlySet<string> = new Set(['update', 'updated', 'modified', 'modification', 'changed', 'edited']);

/** Whether a service notes this of each of its things by itself, so that a new one has it. */
export function isOwnMark(name: string): boolean {
  return isVersionName(name) || isMomentOf(name, makings) || isMomentOf(name, changes);
}

/** `version`, `ApplicationVersionId`, `revisionNumber`: which of the versions of a thing this is. */
function isVersionName(name: string): boolean {
  return /(?:^|_|[a-z])(?:version|revision)(?:_?(?:id|number|no))?$/i.test(name);
}
