/** Values without members: texts, numbers, and moments, by the least that their bounds allow. */

import type { Json } from '../../document/document.ts';
import { formatNamed, timeFormat } from '../../kinds/formats/all.ts';
import { lettersOf, secondsOf, standardFormatNamed } from '../../kinds/formats/standard.ts';
import { compilePattern } from '../patterns/pattern.ts';
import type { Shape } from '../shape.ts';
import { describedAlways, describedWords } from './described-words.ts';
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

/** Without a word that stands for none having been said (`STATE_UNSPECIFIED`), where there are others. */
function specified<T extends Json>(listed: readonly T[]): readonly T[] {
  const others = listed.filter((one) => !/(?:^|_)UNSPECIFIED$/.test(String(one)));
  return others.length > 0 ? others : listed;
}

/**
 * The state that a thing begins in: the first that is listed, or that the description names where the list is in the order of the alphabet;
 * nothing begins as cancelled, deleted or failed where there is another.
 */
export function firstState<T extends Json>(listed: readonly T[], name: string, description: unknown): T | undefined {
  const words = describedWords(name, description);
  const told = words.filter((word) => listed.some((one) => one === word));
  const isSorted = listed.every((one, at) => at === 0 || String(listed[at - 1]) <= String(one));
  const inOrder =
    isSorted && told.length * 2 >= listed.length ? told.flatMap((word) => listed.filter((one) => one === word)) : listed;
  return settledIn(inOrder.filter((one) => !endedBadly.test(String(one)))) ?? inOrder[0];
}

/**
 * The first of the states that a thing goes through; where that is one of its making, which nothing would ever end here, the one in which it can be used: `ACTIVE` of
 * `STATE_UNSPECIFIED, CREATING, ACTIVE, DELETING`.
 */
export function settledIn<T extends Json>(states: readonly T[]): T | undefined {
  const all = specified(states);
  const begun = all.filter((one) => !ending.test(String(one)));
  const [first, ...later] = begun.length > 0 ? begun : all;
  if (makingIt.test(String(first))) return later.find((one) => usable.test(String(one))) ?? first;
  return isInAlphabet(states) && !usable.test(String(first)) ? (firstByName(begun) ?? first) : first;
}

/** Whether words stand in the order of the alphabet, which says nothing of which comes first. */
function isInAlphabet(words: readonly Json[]): boolean {
  return words.length >= 4 && words.every((one, at) => at === 0 || String(words[at - 1]) <= String(one));
}

/** The word for what was just made; where there are words of its making, the one for what they lead to. */
function firstByName<T extends Json>(words: readonly T[]): T | undefined {
  const isMade = words.some((one) => makingIt.test(String(one)));
  const named = isMade ? [usable, ...beginnings] : beginnings;
  return named.flatMap((name) => words.filter((one) => name.test(String(one))))[0];
}

const beginnings = [
  /^(?:new|created|draft|not_?started)$/i,
  /^(?:open|requested|submitted|registered|queued|scheduled|issued)$/i,
  /^pending/i,
  /^(?:processing|running|in_?progress)$/i,
];

/** Nothing that was just made is on its way to its end. */
const ending = /^(?:delet|stopp|terminat|cancel|remov|shutting|clos|fail|expir)(?:ing|ling|ed|led)?(?![a-z])/i;
const makingIt = /^(?:creat|provision|start|initiali[sz]|prepar|launch|deploy)ing$/i;
const usable = /^(?:active|ready|running|available|online|enabled|healthy|in_?service|succeeded|completed?)$/i;

const endedBadly = /^(?:cancel|delet|fail|expir|archiv|clos|reject|declin|abort|err|terminat|void|revok|refus)/i;

/** How far something has come, `provisioningState`, is moved on by nothing: it is told as over and well, where that is among its words. */
export function overIn<T extends Json>(listed: readonly T[], name: string): T | undefined {
  return /\w(?:status|state)$/i.test(name) ? listed.find((one) => /^succeeded$/i.test(String(one))) : undefined;
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
