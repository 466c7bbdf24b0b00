import type { Json } from '../../document/document.ts';
import { timeFormat } from '../../kinds/formats/all.ts';
import { lettersOf } from '../../kinds/formats/standard.ts';
import type { Shape } from '../shape.ts';
import type { Chance } from './chance.ts';
import { describedAlways, describedWords } from './described-words.ts';
import type { Fits } from './fit.ts';
import { formatOf } from './formats.ts';
import { momentOf } from './moments.ts';
import { compilePatternSamples } from './pattern.ts';
import { nothing } from './sampler.ts';
import { smallestNumber, smallestText } from './smallest.ts';

/** Makes what has no members: a constant, a listed value, a default or an example that fits, a text or a number of the shape. */
export function compileLeaf(shape: Shape, type: string | undefined, name: string, fits: Fits): (chance: Chance) => unknown {
  if (shape.const !== undefined) return () => shape.const;
  if (Array.isArray(shape.enum)) {
    const listed: readonly Json[] = shape.enum.filter((value: Json) => fits(value));
    if (listed.includes(null)) return () => null;
    // The states that a thing goes through are listed from its first one on.
    if (/^(?:status|state)$/i.test(name) && listed.length > 0) return () => listed[0];
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
  const given = [...listed, ...examplesIn(shape)].find((value) => value !== null && fits(value));
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
    return (chance) => {
      const text = pattern?.(chance, least);
      return text !== undefined && isOfLength(text) && (format?.test(text) ?? true) ? text : undefined;
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
