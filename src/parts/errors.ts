/** Part 7: what answers which condition, in which order refusals are made, and what their messages tell. */

import type { Json, Pointer } from '../document/document.ts';
import { pathOf } from '../document/pointer.ts';
import { type Expression, type Fact, type Named, statedValue, type Unstated } from './fact.ts';
import { readShape, type Shape } from './shape.ts';
import { named, type Source } from './source.ts';

/** What a message can say of the first thing that is wrong in a request. */
interface Told {
  readonly in: string;
  /** A JSON Pointer in a body, else the parameter's name. */
  readonly path: string;
  readonly found: string;
  readonly expected: string;
}

/** The ways in which the place of a violation in a body is written: `/items/0/price`, `items.0.price`, `items[0][price]`. */
export const violationPaths = ['pointer', 'dotted', 'bracketed'] as const;
export type ViolationPath = (typeof violationPaths)[number];

/** A JSON Pointer of a body, written in one of these ways. */
export function writtenPath(pointer: string, way: ViolationPath): string {
  if (way === 'pointer') return pointer;
  const [first = '', ...rest] = pathOf(pointer);
  return way === 'dotted' ? [first, ...rest].join('.') : first + rest.map((step) => `[${step}]`).join('');
}

const words: Readonly<Record<string, (told: Told) => string>> = {
  path: ({ path }) => path,
  name: ({ in: place, path }) => (place === 'body' ? pathOf(path).join('.') : path),
  in: (told) => told.in,
  found: ({ found }) => found,
  expected: ({ expected }) => expected,
};

const marks = /\{([a-z_]{1,40})\}/g;

/** The most characters that one word brings into a message. */
const wordMost = 200;

/** Compiles a message that says something of what is wrong; nothing where it says the same of all. Braces around anything else are text. */
export function compileMessage(message: string | undefined): ((told: Told) => string) | undefined {
  if (message === undefined || !tellsViolation(message)) return undefined;
  return (told) =>
    message.replace(marks, (mark, name: string) => (Object.hasOwn(words, name) ? cut(words[name]?.(told) ?? '') : mark));
}

/** Whether a message says something of what is wrong. */
export function tellsViolation(message: string): boolean {
  return [...message.matchAll(marks)].some(([, name = '']) => Object.hasOwn(words, name));
}

/** The names in braces that say nothing of what is wrong. */
export function unknownMarks(message: string): readonly string[] {
  return [...message.matchAll(marks)].flatMap(([, name = '']) => (Object.hasOwn(words, name) ? [] : [name]));
}

function cut(text: string): string {
  return text.length <= wordMost ? text : `${text.slice(0, wordMost).toWellFormed()}…`;
}

/** Part 7: what a refusal looks like and when which one is given. */
export interface Errors {
  readonly at: Pointer;
  readonly payload: Fact<ErrorPayload>;
  readonly codes: Fact<Named<ErrorCode>>;
  /** Header fields of every refusal. */
  readonly headers: Named<Expression>;
  /** How the place of a violation in a body is written. */
  readonly paths: ViolationPath;
  /** In which order it is refused; open where nothing is said, which promises none. */
  readonly order: Fact<readonly OrderWord[]>;
  /** Conditions that never arise (none), or that are left to the implementation (any). */
  readonly conditions: Named<Unstated>;
  readonly others?: Unstated;
}

/** RFC 9457, or an own shape made by CEL over code, status, message, path, violations, request_id and the code's constants. */
export type ErrorPayload = 'problem' | { readonly shape: Fact<Shape>; readonly data: Named<Expression> | Expression };

/** The members of a payload that say what is wrong with a request and nothing else, and that need not be there: they are absent where nothing is told. */
export function membersOfViolations(payload: ErrorPayload): readonly string[] {
  if (payload === 'problem') return ['violations'];
  const { data } = payload;
  if ('source' in data && typeof data.source === 'string') return [];
  const required = statedValue(payload.shape)?.required;
  return Object.entries(data as Named<Expression>).flatMap(([name, { source }]) =>
    source.trim() === 'violations' && !(Array.isArray(required) && required.includes(name)) ? [name] : [],
  );
}

export interface ErrorCode {
  readonly name: string;
  readonly at: Pointer;
  readonly rules: readonly ErrorRule[];
  /** Header fields of its answers. */
  readonly headers: Named<Expression>;
  /** Constants that the payload's `data` reads. */
  readonly constants: Named<Json>;
}

/** One way in which a code arises. A rule without `when` and `if` is answered only where another part names its code. */
export interface ErrorRule {
  readonly at: Pointer;
  readonly status: Fact<number>;
  readonly when: Fact<readonly string[]>;
  /** The operations it is for; absent = all. */
  readonly on?: readonly string[];
  /** The service's own condition. */
  readonly if?: Expression;
  readonly message?: string;
  readonly headers: Named<Expression>;
}

const ruleWords = ['status', 'when', 'on', 'if', 'message', 'headers'] as const;

export function readErrors(part: Source): Errors {
  const source = part.eachOf(['payload', 'codes']);
  const codes = source.get('codes');
  const others = codes.has('others') ? codes.get('others').unstated() : undefined;
  return {
    at: source.at,
    payload: source.get('payload').fact(readPayload),
    headers: source.get('headers').expressions(),
    paths: violationPaths.find((word) => word === source.get('paths').text()) ?? 'pointer',
    order: readRefusalOrder(source.get('order')),
    conditions: named(
      source
        .get('conditions')
        .entries()
        .flatMap(([word, value]) => {
          const standing = value.unstated();
          return standing && standing.standing !== 'open' ? [[word, standing] as const] : [];
        }),
    ),
    codes: codes.fact((value) =>
      named(
        value
          .entries()
          .filter(([name]) => name !== 'others')
          .map(([name, entry]) => [name, readCode(name, entry)] as const),
      ),
    ),
    ...(others && { others }),
  };
}

function readPayload(source: Source): ErrorPayload | undefined {
  if (source.text() === 'problem') return 'problem';
  if (!source.isMap) return undefined;
  const data = source.get('data');
  return {
    shape: source.get('shape').fact((value) => readShape(value)),
    data: data.isMap ? data.madeValues() : (data.expression() ?? named([])),
  };
}

function readCode(name: string, source: Source): ErrorCode {
  const rules = Array.isArray(source.value) ? source.items() : [source];
  const constants = rules.flatMap((rule) => rule.entries().filter(([key]) => !(ruleWords as readonly string[]).includes(key)));
  const read = rules.map(readRule);
  return {
    name,
    at: source.at,
    rules: read,
    headers: named(read.flatMap(({ headers }) => Object.entries(headers))),
    constants: named(constants.map(([key, value]) => [key, value.value as Json] as const)),
  };
}

function readRule(source: Source): ErrorRule {
  const condition = source.get('if').expression();
  const message = source.get('message').text();
  return {
    at: source.at,
    status: source.get('status').fact((value) => value.number(), 'tags only'),
    when: source.get('when').fact((value) => value.words()),
    ...(source.has('on') && { on: source.get('on').words() }),
    ...(condition && { if: condition }),
    ...(message !== undefined && { message }),
    headers: source.get('headers').expressions(),
  };
}

/** The steps whose order a document may state, in the order of section 6 of the language. */
export const orderWords = [
  'caller',
  'rates',
  'user',
  'accept',
  'body',
  'parameters',
  'row',
  'precondition',
  'request',
  'state',
] as const;
export type OrderWord = (typeof orderWords)[number];

/** What is asked of the row in one transaction, after all else. */
export const rowWords: ReadonlySet<OrderWord> = new Set<OrderWord>(['precondition', 'request', 'state']);

/** What can only be asked once it is known who calls. */
const callerWords: ReadonlySet<OrderWord> = new Set<OrderWord>(['rates', 'user', 'row']);

/** The stated order; words that there are not are left out, which the form of the document says. */
function readRefusalOrder(source: Source): Fact<readonly OrderWord[]> {
  return source.fact((value) => value.words().filter(isOrderWord));
}

function isOrderWord(word: string): word is OrderWord {
  return (orderWords as readonly string[]).includes(word);
}

/**
 * The order of all steps: those that are named stand in the places that they have in section 6, in the order in which they are named; of
 * the others, what is asked of the caller comes no sooner than the caller.
 */
export function wholeOrder(named: readonly OrderWord[]): OrderWord[] {
  const left = [...new Set(named)];
  const moved = new Set(left);
  const placed = orderWords.map((word) => (moved.has(word) ? (left.shift() ?? word) : word));
  const isEarly = (word: OrderWord, at: number) => callerWords.has(word) && !moved.has(word) && at < placed.indexOf('caller');
  const early = placed.filter(isEarly);
  return placed.filter((word, at) => !isEarly(word, at)).flatMap((word) => (word === 'caller' ? [word, ...early] : [word]));
}

/** The first step that stands where it cannot be carried out, and what it would have to stand behind. */
export function impossibleStep(named: readonly OrderWord[]): readonly [word: OrderWord, behind: OrderWord] | undefined {
  const order = wholeOrder(named);
  for (const [at, word] of order.entries()) {
    const later = order.slice(at + 1);
    if (callerWords.has(word) && later.includes('caller')) return [word, 'caller'];
    const earlier = rowWords.has(word) ? later.find((one) => !rowWords.has(one)) : undefined;
    if (earlier) return [word, earlier];
  }
  return undefined;
}
