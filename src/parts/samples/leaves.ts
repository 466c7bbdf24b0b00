/** Values without members: texts, numbers, and moments, by the least that their bounds allow. */

import type { Json } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import { formatNamed, timeFormat } from '../../kinds/formats/all.ts';
import { lettersOf, secondsOf, standardFormatNamed } from '../../kinds/formats/standard.ts';
import { compilePattern } from '../patterns/pattern.ts';
import type { Shape } from '../shape.ts';
import { describedAlways, describedWords } from './described-words.ts';
import { firstState, overIn, specified } from './first-state.ts';
import { compilePatternSamples, formatOf, sampleOfPattern } from './formats.ts';
import { type Chance, type Fits, nothing } from './sampler.ts';

/** Makes what has no members: a constant, a listed value, a default or an example that fits, a text or a number of the shape. */
export function compileLeaf(shape: Shape, type: string | undefined, name: string, fits: Fits): (chance: Chance) => unknown {
  if (shape.const !== undefined) return () => shape.const;
  if (Array.isArray(shape.enum)) {
    const listed = specified(shape.enum.filter((value: Json) => fits(value)));
    if (listed.includes(null)) return () => null;
    // The states that a thing goes through are listed from its first one on.
    const first = /^(?:status|state)$/i.test(name) ? firstState(listed, name, shape.description) : undefined;
    if (first !== undefined) return () => first;
    const over = overIn(listed, name);
    if (over !== undefined) return () => over;
    // What is said to be usual, or shown, is no less likely than the others of a list.
    const [usual] = [...(shape.default === undefined ? [] : [shape.default]), ...examplesIn(shape)].filter((one) =>
      listed.some((each) => isSame(each, one)),
    );
    if (usual !== undefined) return () => usual;
    return (chance) => (listed.length === 0 ? nothing : listed[chance.below(listed.length)]);
  }
  if (shape.default !== undefined && fits(shape.default)) return () => shape.default;
  const always = type === 'string' ? describedAlways(name, shape.description) : undefined;
  if (always !== undefined && fits(always)) return () => always;
  const examples = examplesIn(shape).filter((example) => typeof example !== 'object' && fits(example));
  if (examples.length > 0) return (chance) => examples[chance.below(examples.length)];
  if (type === 'boolean') return () => /^(?:ok|success|succeeded|acknowledged|result|valid)$/i.test(name);
  if (type === 'string') return orNothing(compileTexts(shape, name));
  if (type === 'integer' || type === 'number') return orNothing(compileNumbers(shape, type === 'integer', name));
  // Nothing is said of it, or that it is null.
  return () => null;
}

/** The smallest of what has no members: the first listed value or example, else a text or a number; nothing where nothing is said. */
export function compileSmallestLeaf(shape: Shape, type: string | undefined, name: string, fits: Fits): () => unknown {
  if (shape.const !== undefined) return () => shape.const;
  const listed: readonly Json[] = Array.isArray(shape.enum) ? shape.enum : [];
  const given = [overIn(listed, name), ...specified(listed), ...examplesIn(shape)].find(
    (value) => value !== null && value !== undefined && fits(value),
  );
  if (given !== undefined) return () => given;
  const made = listed.length > 0 ? nothing : smallestOf(shape, type, name);
  return () => made;
}

function smallestOf(shape: Shape, type: string | undefined, name: string): unknown {
  if (type === 'boolean') return false;
  if (type === 'string') return smallestText(shape, name) ?? nothing;
  if (type === 'integer' || type === 'number') return smallestNumber(shape, type === 'integer');
  return type === 'null' ? null : nothing;
}

/** The type of the values that are made: the first stated one, else the one that the keywords are about. */
export function typeMade(shape: Shape): string | undefined {
  const types = Array.isArray(shape.type) ? shape.type : [shape.type];
  const stated = types.find((type) => typeof type === 'string');
  if (typeof stated === 'string') return stated;
  if (shape.const !== undefined || Array.isArray(shape.enum)) return undefined;
  if (shape.properties !== undefined || shape.required !== undefined || shape.additionalProperties !== undefined) return 'object';
  if (shape.items !== undefined || shape.minItems !== undefined) return 'array';
  if (shape.pattern !== undefined || shape.minLength !== undefined || shape.format !== undefined) return 'string';
  return shape.minimum !== undefined || shape.maximum !== undefined ? 'number' : undefined;
}

/** The examples that stand beside a shape. */
export function examplesIn(shape: Shape): readonly Json[] {
  const listed = Array.isArray(shape.examples) ? shape.examples : [];
  return shape.example === undefined ? listed : [shape.example, ...listed];
}

function orNothing(make: (chance: Chance) => string | number | undefined): (chance: Chance) => unknown {
  return (chance) => make(chance) ?? nothing;
}

/** Makes numbers within the bounds of a shape; undefined where none is. */
function compileNumbers(shape: Shape, isWhole: boolean, name: string): (chance: Chance) => number | undefined {
  const bound = (key: string): number | undefined => {
    const value = shape[key];
    return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined;
  };
  const step = bound('multipleOf') ?? (isWhole ? 1 : undefined);
  const grain = step ?? 0.01;
  const least = Math.max(bound('minimum') ?? -Infinity, (bound('exclusiveMinimum') ?? -Infinity) + grain);
  const most = Math.min(bound('maximum') ?? Infinity, (bound('exclusiveMaximum') ?? Infinity) - grain);
  if (least > most) return () => undefined;
  const moment = momentOf(shape, name, isWhole, { least, most });
  if (moment && grain <= 1) return moment;
  const from = Number.isFinite(least) ? least : Math.min(1, most);
  const to = Math.min(most, from + 1000 * grain);
  return (chance) => {
    const wished = from + chance.below(Math.floor((to - from) / grain) + 1) * grain;
    const stepped = step === undefined ? Math.round(wished * 100) / 100 : Math.ceil(wished / step) * step;
    const rounded = Number(stepped.toPrecision(12));
    if (rounded >= least && rounded <= most) return rounded;
    const first = step === undefined ? from : Math.ceil(from / step) * step;
    return first <= most ? Number(first.toPrecision(12)) : undefined;
  };
}

/** Makes texts of a shape: by its pattern, its format, the name of the field, within its lengths; undefined where none is found. */
function compileTexts(shape: Shape, name: string): (chance: Chance) => string | undefined {
  const least = typeof shape.minLength === 'number' ? shape.minLength : 0;
  const most = typeof shape.maxLength === 'number' ? shape.maxLength : Number.POSITIVE_INFINITY;
  const isOfLength = (text: string): boolean => [...text].length >= least && [...text].length <= most;
  const format = typeof shape.format === 'string' ? formatOf(shape.format) : undefined;
  const pattern = typeof shape.pattern === 'string' ? compilePatternSamples(shape.pattern) : undefined;
  if (shape.pattern !== undefined) {
    const isFound = typeof shape.pattern === 'string' ? compilePattern(shape.pattern)?.test : undefined;
    const isOne = (text: string): boolean => isOfLength(text) && (format?.test(text) ?? true) && isFound?.(text) === true;
    return (chance) => {
      const way = pattern?.(chance, least, most);
      if (way !== undefined && isOne(way)) return way;
      // `^https?://` of an address: a way through the pattern is seldom one.
      const text = format?.type === 'string' ? String(format.make(chance)) : '';
      return isOne(text) ? text : undefined;
    };
  }
  if (format?.type === 'string') {
    return (chance) => {
      const text = String(format.make(chance));
      return isOfLength(text) ? text : undefined;
    };
  }
  if (least > textMost) return () => undefined;
  const byName = nameRows.find(({ named }) => named.test(name));
  const [described] = describedWords(name, shape.description);
  return (chance) => {
    const wished = described ?? byName?.make(chance);
    if (wished !== undefined && isOfLength(wished)) return wished;
    const words = `${name.replaceAll(/[^A-Za-z0-9]+/g, ' ').trim() || 'text'} ${lettersOf(chance, 4)}`;
    return words.padEnd(least, '.').slice(0, most);
  };
}

/** A text that is longer than this is nobody's sample. */
const textMost = 10_000;

/** What a text without a format is most likely by the name of its field. */
const nameRows: readonly { readonly named: RegExp; make(chance: Chance): string }[] = [
  { named: /e_?mail$/i, make: (chance) => `somebody-${lettersOf(chance, 4)}@example.com` },
  { named: /(?:^|_)(?:ur[il]|href|link)$|[a-z]Ur[il]$/, make: (chance) => `https://example.com/${lettersOf(chance, 6)}` },
  { named: /(?:^|_)phone(?:_number)?$/i, make: (chance) => `+49309018${String(chance.below(100)).padStart(2, '0')}` },
  { named: /(?:^|_)country(?:_code)?$/i, make: () => 'DE' },
  { named: /(?:^|_)currency$/i, make: () => 'eur' },
  { named: /(?:^|_)(?:created|updated|modified|expires)_?at$|[a-z](?:Created|Updated|Expires)At$/i, make: timeOf },
  { named: /(?:^|_)uuid$/i, make: (chance) => chance.uuid() },
  { named: /(?:^|_)ids?$|[a-z]I[dD]s?$/, make: (chance) => lettersOf(chance, 16) },
];

function timeOf(chance: Chance): string {
  return String(formatOf(timeFormat)?.make(chance) ?? '');
}

/**
 * Makes the moment that a number stands for: in seconds or milliseconds since 1970, as its description has it (`UNIX timestamp (in seconds)`), else in seconds by its
 * format, or by the name of a whole number alone (`created`, `expires_at`). Nothing where it is no moment, or where its bounds admit none.
 */
function momentOf(
  shape: Shape,
  name: string,
  isWhole: boolean,
  { least, most }: { readonly least: number; readonly most: number },
): ((chance: Chance) => number) | undefined {
  const unit = unitSaid(shape) ?? (isOfTime(shape.format) || (isWhole && isMoment(name, shape)) ? 'seconds' : undefined);
  if (unit === undefined) return undefined;
  const grain = unit === 'seconds' ? 1 : 1000;
  const [from, to] = secondsFrom;
  if (least > from * grain || most < to * grain) return undefined;
  return grain === 1 ? secondsOf : (chance) => secondsOf(chance) * grain;
}

function isOfTime(format: unknown): boolean {
  const known = typeof format === 'string' ? formatOf(format) : undefined;
  return known?.type === 'number' && formatNamed(format)?.time !== undefined;
}

function unitSaid({ description, format }: Shape): 'seconds' | 'milliseconds' | undefined {
  if (typeof description !== 'string') return undefined;
  const text = description.slice(0, readMost);
  if (!sinceEpoch.test(text) && !(moment.test(text) && unitNamed.test(text))) return undefined;
  const isTooMuch = typeof format === 'string' && formatOf(format)?.test(secondsFrom[0] * 1000) === false;
  return !isTooMuch && /milli-?seconds?|\bmillis?\b|\bms\b/i.test(text) ? 'milliseconds' : 'seconds';
}

const readMost = 400;
/** A count of epochs is none, nor is what is said of another timestamp. */
const sinceEpoch =
  /\bunix[ -]?(?:epoch|time(?:stamp)?|seconds|(?:milli)?second)|\bepoch (?:time(?:stamp)?|(?:milli)?seconds)|\bsince (?:the )?(?:unix )?epoch\b|\btimestamp\b[^.]{0,40}\bsince 1970/i;
const moment = /^(?:the |a )?(?:date|time|moment|timestamp)\b(?! period| window| zone)/i;
const unitNamed = /\bin (?:milli)?seconds\b|\((?:milli)?seconds\)/i;

const secondsFrom = [1_735_689_600, 1_767_225_600] as const;

/** `created`, `expires_at`, `start_date`: in interfaces whose times are integers, these are seconds since 1970. */
function isMoment(name: string, { format }: Shape): boolean {
  return format === undefined && /(?:^|_)(?:created|updated|modified|expires|timestamp)$|_(?:at|date|time)$/.test(name);
}

/** The least number that the bounds allow, from 1 on where they allow it. */
function smallestNumber(shape: Shape, isWhole: boolean): number {
  if (typeof shape.format === 'string') {
    const example = formatNamed(shape.format)?.example;
    if (typeof example === 'number') return example;
  }
  const bound = (key: string): number | undefined => (typeof shape[key] === 'number' ? shape[key] : undefined);
  const step = bound('multipleOf') ?? (isWhole ? 1 : undefined);
  const above = bound('exclusiveMinimum');
  const least = bound('minimum') ?? (above === undefined ? undefined : above + (step ?? 0.5));
  const most = bound('maximum') ?? bound('exclusiveMaximum');
  const wished = least ?? (most !== undefined && most < 1 ? most - (step ?? 1) : 1);
  return step === undefined ? wished : Math.ceil(wished / step) * step;
}

/** The name of a field as words, cut or filled up to the length that a text may have; an example of its format, or of its pattern. */
function smallestText(shape: Shape, name: string): string | undefined {
  const least = typeof shape.minLength === 'number' ? shape.minLength : 1;
  const most = typeof shape.maxLength === 'number' ? shape.maxLength : Number.POSITIVE_INFINITY;
  const format = typeof shape.format === 'string' ? shape.format : undefined;
  const own = formatNamed(format)?.example;
  const shown = typeof own === 'string' ? own : standardFormatNamed(format)?.example;
  if (typeof shape.pattern === 'string') {
    const isFound = compilePattern(shape.pattern)?.test;
    const isOne = (text: string | undefined): text is string =>
      text !== undefined && text.length >= least && text.length <= most && isFound?.(text) === true;
    const way = sampleOfPattern(shape.pattern);
    const fits = way !== undefined && (formatOf(format ?? '')?.test(way) ?? true);
    return [...(fits ? [way] : []), shown, way].find(isOne);
  }
  if (format !== undefined) return shown;
  return least > shortMost ? undefined : name.replaceAll(/[_-]+/g, ' ').padEnd(least, '.').slice(0, most);
}

const shortMost = 200;
