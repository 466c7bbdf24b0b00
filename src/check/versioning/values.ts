/** Whether values go between versions as their changes say: which values are tried, and what is found. */

import type { Json, JsonMap } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isSame } from '../../document/values.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { type Chance, chanceOf } from '../../parts/samples/sampler.ts';
import type { Shape } from '../../parts/shape.ts';
import { isPlainMap } from '../../parts/source.ts';
import { machineOn } from '../../parts/states.ts';
import type { Change } from '../../parts/versioning.ts';
import { CannotCarry, ChangeValues, shapeAfter, type ValueChange, versioningUses } from '../../parts/versions/change-values.ts';
import { shortJson } from '../subject/json-types.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** Values carried down to an older version and up again: what is lost on the way, and what comes out of it that may not be. */
export const carriedRules: readonly Rule[] = [
  warning(
    'versioning/lossy-map',
    'A value that goes down to an older version does not come back as it was.',
    'Write `down` and `up` so that each undoes the other, or let the older version keep more.',
    (subject) => trialsOf(subject).flatMap(({ lost }) => lost ?? []),
  ),
  error(
    'versioning/outside-shape',
    'What `down` or `up` comes to is no value of the version that it is for.',
    'Correct the expression, or the shape under `was`.',
    (subject) => trialsOf(subject).flatMap(({ outside }) => outside ?? []),
  ),
  warning(
    'versioning/not-one-to-one',
    'Two values of one version are the same value in the other, so that one of them is lost.',
    'Give each value a name of its own in both versions.',
    (subject) =>
      changesOf(subject).flatMap(([version, change]) => (change.kind === 'enum' ? mixedUp(subject, version, change) : [])),
  ),
];

interface Trial {
  readonly lost?: Wrong;
  readonly outside?: Wrong;
}

const tried = new WeakMap<Subject['spec'], readonly Trial[]>();

/** Both rules about maps look at the same trials, which are run once. */
function trialsOf(subject: Subject): readonly Trial[] {
  const known = tried.get(subject.spec);
  if (known) return known;
  const sound = new Set(subject.expressions.filter(({ problems }) => problems.length === 0).map(({ use }) => use.at));
  const trials = changesOf(subject).flatMap(([version, change]) =>
    change.kind === 'map' && change.down && sound.has(change.down.at) && (!change.up || sound.has(change.up.at))
      ? [tryMap(subject, version, change)]
      : [],
  );
  tried.set(subject.spec, trials);
  return trials;
}

function tryMap({ spec, schemas }: Subject, version: string, change: Extract<Change, { kind: 'map' }>): Trial {
  const now = shapeAfter(spec, change);
  const was = versioningUses(spec).find(({ at }) => at === change.down?.at)?.expected.shape ?? {};
  const carry = new ChangeValues(spec, { version, now: () => 0 }).of(change);
  const field = `${change.resource}.${change.field}`;
  const outside = (word: 'down' | 'up', message: string): Trial => ({ outside: { message, at: below(change.at, word) } });
  let left = trialsMost;
  for (const value of trialValues(now, `${change.at} ${change.down?.source} ${change.up?.source}`)) {
    if (value === null || schemas.misfit(now, value) !== undefined) continue;
    if (left-- <= -boundsMost) break;
    const older = carried(carry.down, value);
    if ('why' in older) return outside('down', `For ${shortJson(value)} of \`${field}\` there is no older value: ${older.why}`);
    const misfit = schemas.misfit(was, older.value);
    if (misfit !== undefined)
      return outside(
        'down',
        `${shortJson(value)} of \`${field}\` becomes ${shortJson(older.value)} before \`${version}\`, which does not fit there: ${misfit}.`,
      );
    if (!change.up) continue;
    const back = carried(carry.up, older.value);
    if ('why' in back)
      return outside(
        'up',
        `For ${shortJson(older.value)}, which \`${field}\` was before \`${version}\`, there is no newer value: ${back.why}`,
      );
    const wrong = schemas.misfit(now, back.value);
    if (wrong !== undefined)
      return outside(
        'up',
        `${shortJson(older.value)}, which \`${field}\` was before \`${version}\`, becomes ${shortJson(back.value)}, which does not fit: ${wrong}.`,
      );
    if (isSame(back.value, value)) continue;
    const message = `${shortJson(value)} of \`${field}\` becomes ${shortJson(older.value)} before \`${version}\` and comes back as ${shortJson(back.value)}.`;
    return { lost: { message, at: below(change.at, 'map') } };
  }
  return {};
}

/** How many bounds and allowed values are tried at most besides. */
const boundsMost = 1000;

/** Integers past 2^53 come out as bigints; no JSON value of a document is one, so they are tried as numbers. */
function carried(turn: ValueChange['down'], value: Json): { readonly value: Json } | { readonly why: string } {
  try {
    const result = turn(value);
    return { value: (typeof result === 'bigint' ? Number(result) : result) as Json };
  } catch (failure) {
    if (failure instanceof CannotCarry) return { why: failure.message };
    throw failure;
  }
}

function mixedUp({ spec }: Subject, version: string, change: Extract<Change, { kind: 'enum' }>): Wrong[] {
  const firsts = new Map<Json, string>();
  const wrongs: Wrong[] = [];
  const renamed = new Set(Object.values(change.values));
  const machine = machineOn(spec.states, change.resource, change.field);
  const { enum: listed } = shapeAfter(spec, change);
  const allowed = new Set<Json>(machine ? statedValue(machine.states) : Array.isArray(listed) ? listed : []);
  for (const [old, value] of Object.entries(change.values)) {
    const at = below(below(change.at, 'values'), old);
    const first = firsts.get(value);
    if (first !== undefined)
      wrongs.push({ message: `\`${old}\` and \`${first}\` are both ${shortJson(value)} now: it reads as \`${first}\`.`, at });
    else if (allowed.has(old) && !renamed.has(old))
      wrongs.push({
        message: `\`${old}\` is a value of its own in \`${version}\`, and was ${shortJson(value)} before: it comes back as that.`,
        at,
      });
    firsts.set(value, first ?? old);
  }
  return wrongs;
}

function changesOf({ spec }: Subject): [string, Change][] {
  return entriesOf(spec.versioning.changes).flatMap(([version, changes]) =>
    (statedValue(changes) ?? []).map((change): [string, Change] => [version, change]),
  );
}

/** How many values a field is tried with, besides its bounds. */
const trialsMost = 1000;

/**
 * Values to try a shape with: its bounds and what lies beside them, its allowed values, then others by chance that is none:
 * the same text gives the same values. Not all of them fit; that is for the shape's schema to say.
 */
function trialValues(shape: Shape, text: string): Json[] {
  const chance = chanceOf(text);
  const bounds = boundsOf(shape);
  const drawn = Array.from({ length: trialsMost }, (_, index) => draw(shape, chance, index, 0));
  return [...bounds, ...drawn.filter((value) => value !== undefined)];
}

function boundsOf(shape: JsonMap): Json[] {
  const listed = [...(Array.isArray(shape.enum) ? shape.enum : []), ...(shape.const === undefined ? [] : [shape.const])];
  const types = typesIn(shape);
  const step = numberAt(shape, 'multipleOf') ?? (has(types, 'number') ? 0.01 : 1);
  const edges = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].flatMap((word) => numberAt(shape, word) ?? []);
  const numbers = isNumeric(shape) ? [...edges.flatMap((edge) => [edge, edge - step, edge + step]), 0, step, -step] : [];
  const lengths = ['minLength', 'maxLength'].flatMap((word) => numberAt(shape, word) ?? []);
  const texts = has(types, 'string')
    ? ['', ...lengths.filter((length) => length <= textMost).map((length) => 'x'.repeat(length))]
    : [];
  return [...listed, ...numbers, ...texts, ...(has(types, 'boolean') ? [true, false] : [])];
}

const depthMost = 4;
const textMost = 10_000;

function draw(shape: JsonMap, chance: Chance, index: number, depth: number): Json | undefined {
  if (Array.isArray(shape.enum)) return one(shape.enum as readonly Json[], chance);
  if (shape.const !== undefined) return shape.const;
  const types = typesIn(shape).filter((type) => type !== 'null');
  const type = types.length === 0 ? undefined : one(types, chance);
  if (type === 'integer' || type === 'number') return drawNumber(shape, type === 'integer', chance, index);
  if (type === 'boolean') return chance.below(2) === 0;
  if (type === 'string') return drawText(shape, chance);
  if (depth > depthMost) return undefined;
  if (type === 'array') return drawList(shape, chance, index, depth);
  return type === 'object' ? drawMembers(shape, chance, index, depth) : undefined;
}

/** Spread over the whole range, and as often over its small numbers. */
function drawNumber(shape: JsonMap, isWhole: boolean, chance: Chance, index: number): number {
  const wide = 2 ** 53 - 1;
  const least = numberAt(shape, 'minimum') ?? numberAt(shape, 'exclusiveMinimum') ?? -wide;
  const most = numberAt(shape, 'maximum') ?? numberAt(shape, 'exclusiveMaximum') ?? wide;
  const step = numberAt(shape, 'multipleOf') ?? (isWhole ? 1 : undefined);
  const small = Math.min(most, Math.max(least, 0)) + (partOf(chance) - (least < 0 ? 0.5 : 0)) * 10 ** (index % 12);
  const drawn = index % 2 === 0 ? least + partOf(chance) * (most - least) : Math.min(most, Math.max(least, small));
  return step === undefined ? Number(drawn.toPrecision(1 + (index % 15))) : Math.round(drawn / step) * step;
}

const letters = [...'abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 -_.,:;/äßø漢字🚚'];

function drawText(shape: JsonMap, chance: Chance): string {
  const format = typeof shape.format === 'string' ? shape.format : undefined;
  const made = format === undefined ? undefined : ofFormat(format, chance);
  if (made !== undefined) return made;
  const least = numberAt(shape, 'minLength') ?? 0;
  const most = Math.min(numberAt(shape, 'maxLength') ?? least + 40, least + 200);
  const length = least + chance.below(most - least + 1);
  return Array.from({ length: Math.min(length, textMost) }, () => one(letters, chance)).join('');
}

function ofFormat(format: string, chance: Chance): string | undefined {
  const ms = Math.floor((partOf(chance) * 2 - 0.5) * 2 ** 41);
  const digits = (most: number) => String(chance.below(most));
  const own = formatNamed(format);
  if (own?.time && own.type === 'string') return String(own.time.write(ms));
  if (format === 'date') return new Date(ms).toISOString().slice(0, 10);
  if (format === 'time') return new Date(ms).toISOString().slice(11);
  if (own?.standsFor === 'digits') return `${digits(1e9)}.${digits(1e4)}`;
  if (own?.standsFor === 'wide integer') return digits(2 ** 53);
  return typeof own?.example === 'string' ? own.example : undefined;
}

function drawList(shape: JsonMap, chance: Chance, index: number, depth: number): Json {
  const length = (numberAt(shape, 'minItems') ?? 0) + chance.below(4);
  const { items } = shape;
  if (!isPlainMap(items)) return [];
  return Array.from({ length }, () => draw(items, chance, index, depth + 1)).filter((item) => item !== undefined);
}

function drawMembers(shape: JsonMap, chance: Chance, index: number, depth: number): Json {
  const required = new Set(Array.isArray(shape.required) ? shape.required : []);
  const members = Object.entries(isPlainMap(shape.properties) ? shape.properties : {}).flatMap(([name, inner]) => {
    const isThere = required.has(name) || chance.below(2) === 0;
    const value = isThere && isPlainMap(inner) ? draw(inner, chance, index, depth + 1) : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

/** The JSON types that a shape states. */
function typesIn({ type }: JsonMap): string[] {
  return (Array.isArray(type) ? type : [type]).filter((word: Json | undefined) => typeof word === 'string');
}

function isNumeric(shape: JsonMap): boolean {
  const types = typesIn(shape);
  return has(types, 'integer') || has(types, 'number');
}

function has(types: Iterable<string>, type: string): boolean {
  return [...types].includes(type);
}

function numberAt(shape: JsonMap, word: string): number | undefined {
  const value = shape[word];
  return typeof value === 'number' ? value : undefined;
}

/** A part of one, from nothing up to all of it. */
function partOf(chance: Chance): number {
  return chance.below(2 ** 32) / 2 ** 32;
}

function one<T>(list: readonly T[], chance: Chance): T {
  // No list that comes here is empty but an empty enum, which allows nothing.
  return list[chance.below(list.length)] as T;
}
