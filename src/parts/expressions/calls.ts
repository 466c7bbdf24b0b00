/** The functions of the language, and the types of their calls. */

import { programOf } from '../patterns/pattern.ts';
import {
  bool,
  type CelType,
  double,
  duration,
  dyn,
  int,
  type Overload,
  slotsOf,
  slotTakes,
  string,
  timestamp,
  typeName,
  unify,
} from './cel-type.ts';
import { type CelValue, checkInt, checkTimestamp, Duration, Failed } from './cel-value.ts';
import { type Around, known, nearestRemedy, type Typed, type TypeWalk } from './member.ts';
import type { Node, NodeOf } from './node.ts';
import { textFunctions } from './text-functions.ts';
import { instantOf, timeFunctions } from './time-functions.ts';

/** The functions that turn one kind of value into another, and `size` and `round`. */
const conversions: readonly Overload[] = [
  { name: 'dyn', args: ['any'], result: dyn, run: same },
  { name: 'bool', args: ['bool'], result: bool, run: same },
  { name: 'bool', args: ['string'], result: bool, run: ([value]) => boolOf(value as string) },
  { name: 'int', args: ['int'], result: int, run: same },
  { name: 'int', args: ['double'], result: int, run: ([value]) => intOfDouble(value as number) },
  { name: 'int', args: ['string'], result: int, run: ([value]) => intOfText(value as string) },
  { name: 'int', args: ['timestamp'], result: int, run: ([value]) => BigInt(Math.floor((value as Date).getTime() / 1000)) },
  { name: 'double', args: ['double'], result: double, run: same },
  { name: 'double', args: ['int'], result: double, run: ([value]) => Number(value) },
  { name: 'double', args: ['string'], result: double, run: ([value]) => doubleOf(value as string) },
  { name: 'string', args: ['string'], result: string, run: same },
  { name: 'string', args: ['bool'], result: string, run: ([value]) => String(value) },
  { name: 'string', args: ['int'], result: string, run: ([value]) => String(value) },
  { name: 'string', args: ['double'], result: string, run: ([value]) => textOfDouble(value as number) },
  { name: 'string', args: ['timestamp'], result: string, run: ([value]) => (value as Date).toISOString() },
  { name: 'timestamp', args: ['timestamp'], result: timestamp, run: same },
  { name: 'timestamp', args: ['string'], result: timestamp, run: ([value]) => timestampOf(value as string) },
  { name: 'timestamp', args: ['int'], result: timestamp, run: ([value]) => checkTimestamp(Number(value) * 1000) },
  { name: 'duration', args: ['string'], result: duration, run: ([value]) => durationOf(value as string) },
  { name: 'round', args: ['double'], result: double, run: ([value]) => round(value as number) },
  { name: 'round', args: ['int'], result: double, run: ([value]) => Number(value) },
  ...sizes(undefined),
  ...sizes('on'),
];

// The casts of this file are proven by the slots: a value only comes here where `slotHolds` said so.

/** A function of one value that gives it back. */
function same([value]: readonly CelValue[]): CelValue {
  return value as CelValue;
}

function sizes(where: 'on' | undefined): Overload[] {
  const count = (of: (value: CelValue) => number) => (values: readonly CelValue[]) => BigInt(of(values[0] as CelValue));
  const kinds = [
    ['string', count((value) => pointsOf(value as string))],
    ['list', count((value) => (value as readonly CelValue[]).length)],
    ['map', count((value) => (value as ReadonlyMap<string, CelValue>).size)],
  ] as const;
  return kinds.map(([slot, run]) =>
    where ? { name: 'size', on: slot, args: [], result: int, run } : { name: 'size', args: [slot], result: int, run },
  );
}

/** The length of a text in code points. */
function pointsOf(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index++) if ((text.codePointAt(index) as number) > 0xffff) count--;
  return count;
}

function boolOf(text: string): boolean {
  if (['1', 't', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'false', 'FALSE', 'False'].includes(text)) return false;
  throw new Failed('conversion', 'a text that is no boolean');
}

function intOfDouble(value: number): bigint {
  if (!Number.isFinite(value)) throw new Failed('overflow', 'a number that is not finite is no integer');
  return checkInt(BigInt(Math.trunc(value)));
}

function intOfText(text: string): bigint {
  if (!/^[-+]?\d{1,20}$/.test(text)) throw new Failed('conversion', 'a text that is no integer');
  return checkInt(BigInt(text));
}

function doubleOf(text: string): number {
  if (/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  const word = /^([-+]?)(inf|infinity|nan)$/i.exec(text);
  if (!word) throw new Failed('conversion', 'a text that is no number');
  if (word[2]?.toLowerCase() === 'nan') return Number.NaN;
  return word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function textOfDouble(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

/** Halves go away from zero: 0.5 to 1, -0.5 to -1. */
function round(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

function timestampOf(text: string): Date {
  const ms = instantOf(text);
  if (ms === undefined) throw new Failed('conversion', 'a text that is no date-time');
  return checkTimestamp(ms);
}

const unitNanos: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n,
  ns: 1n,
};

/** A duration as CEL writes it: `1h30m`, `-1.5s`. */
function durationOf(text: string): Duration {
  const match = /^([-+]?)((?:\d{1,15}(?:\.\d{1,15})?(?:ns|us|µs|ms|s|m|h))+)$/.exec(text);
  if (!match || text.length > 100) throw new Failed('conversion', 'a text that is no duration');
  let nanos = 0n;
  for (const [, whole = '0', part = '', unit = 's'] of (match[2] as string).matchAll(/(\d+)(?:\.(\d+))?(ns|us|µs|ms|s|m|h)/g)) {
    const size = unitNanos[unit] as bigint;
    nanos += BigInt(whole) * size + (part === '' ? 0n : (BigInt(part) * size) / 10n ** BigInt(part.length));
  }
  return new Duration(match[1] === '-' ? -nanos : nanos);
}

/** What a call of a function gives; of one that nobody has, that there is none. */
export function typeOfCall(walking: TypeWalk, node: NodeOf<'call'>, around: Around): Typed {
  const parts = node.on ? [node.on, ...node.args] : node.args;
  const types = parts.map((part) => walking.walk(part, around).type);
  const overloads = overloadsFor(node.name, node.on !== undefined, types);
  walking.overloads.set(node, overloads);
  if (overloads.length === 0) {
    noOverload(walking, node, types);
    return known(dyn);
  }
  if (node.name === 'matches') pattern(walking, parts.at(-1));
  return known(overloads.map(({ result }) => result).reduce((a, b) => unify(a, b) ?? dyn));
}

function pattern(walking: TypeWalk, node: Node | undefined): void {
  if (node?.op !== 'literal' || typeof node.value !== 'string') return;
  const read = programOf(node.value, 're2');
  if (typeof read === 'string')
    walking.report(node, 'type', `The pattern cannot be read: ${read}.`, 'Patterns are as RE2 has them.');
}

function noOverload(walking: TypeWalk, node: NodeOf<'call'>, types: readonly CelType[]): void {
  const dotted = node.on !== undefined;
  if (overloadsNamed(node.name, dotted).length > 0) {
    const given = types.map(typeName).join(', ');
    walking.report(node, 'type', `\`${node.name}\` cannot be called with ${given === '' ? 'nothing' : given}.`);
    return;
  }
  const otherWay = overloadsNamed(node.name, !dotted).length > 0;
  const form = dotted ? `Write \`${node.name}(…)\`.` : `Write \`….${node.name}(…)\`.`;
  const remedy = otherWay
    ? form
    : nearestRemedy(node.name, [...functionNames(dotted), 'has', 'find', 'link', 'all', 'exists', 'exists_one', 'map', 'filter']);
  walking.report(node, 'scope', `There is no function \`${node.name}\`${otherWay ? ' in this form' : ''}.`, remedy);
}

/** Every function of the language. */
const functions: readonly Overload[] = [...conversions, ...textFunctions, ...timeFunctions];

const byName = Map.groupBy(functions, ({ name, on }) => `${on ? '.' : ''}${name}`);

/** The names of the functions, those that stand alone or those that follow a dot. */
function functionNames(dotted: boolean): string[] {
  return [...byName.keys()].filter((name) => name.startsWith('.') === dotted).map((name) => name.replace('.', ''));
}

/** The ways in which a function can be called with values of these types; what it is called on comes first. */
function overloadsFor(name: string, dotted: boolean, types: readonly CelType[]): Overload[] {
  return overloadsNamed(name, dotted).filter((overload) => {
    const slots = slotsOf(overload);
    return slots.length === types.length && slots.every((slot, index) => slotTakes(slot, types[index] as CelType));
  });
}

function overloadsNamed(name: string, dotted: boolean): readonly Overload[] {
  return byName.get(`${dotted ? '.' : ''}${name}`) ?? [];
}
