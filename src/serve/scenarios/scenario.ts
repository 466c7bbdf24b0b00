import type { Json, JsonMap } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { isToken } from '../../kinds/http-token.ts';
import { durationMs } from '../../kinds/measures.ts';
import { isPlainMap } from '../../parts/source.ts';

/**
 * What happens to requests in a trial in place of, or besides, what the document says. As it is written in a file, in code or to the
 * workbench; `readScenarios` makes a `Scenario` of it.
 */
export interface ScenarioInput {
  /** What it is called: in `Ninefold-Scenario`, in lists, and where a request asks for it. */
  readonly name?: string;
  /** The operations that it is for, by name or as `POST /parcels`; every one unless given. */
  readonly on?: string | readonly string[];
  /** The identifier of the only caller that it is for. */
  readonly caller?: string;
  /** The only row that it is for: the value of a parameter of the path. */
  readonly row?: string | number;
  /** Which of the requests that it is for: the n-th, or from one to another, counted from 1. */
  readonly calls?: number | { readonly from?: number; readonly to?: number };
  /** What share of them, from 0 to 1, drawn by the seed of the service. */
  readonly share?: number;
  /** Whether it is for requests alone that ask for it by its name. */
  readonly asked?: boolean;
  /** How long it is waited first: `200ms`, or drawn between two. */
  readonly delay?: string | { readonly from: string; readonly to: string };
  /** What is answered instead of what the service would. */
  readonly answer?: AnswerInput;
  readonly fault?: Fault;
  /** Whether it may answer what the document does not state. */
  readonly force?: boolean;
}

export interface AnswerInput {
  /** The code of a stated error. */
  readonly error?: string;
  readonly status?: number;
  /** The name of a stated example of the answer. */
  readonly example?: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * How an exchange breaks: `cut` ends the connection before anything is done, `lose` after all is done and before it is answered,
 * `truncate` in the middle of the answer; with `silence` there is never an answer.
 */
export type Fault = (typeof faults)[number];

const faults = ['cut', 'lose', 'truncate', 'silence'] as const;

/** A scenario as it was read: whole, within its bounds. */
export interface Scenario {
  readonly name: string;
  readonly on: readonly string[] | undefined;
  readonly caller: string | undefined;
  readonly row: string | undefined;
  readonly calls: { readonly from: number; readonly to: number } | undefined;
  readonly share: number | undefined;
  readonly asked: boolean;
  readonly delayMs: { readonly from: number; readonly to: number } | undefined;
  readonly answer: AnswerInput | undefined;
  readonly fault: Fault | undefined;
  readonly force: boolean;
  /** What it was read from, to be told as it was written. */
  readonly written: JsonMap;
}

/** A scenario that cannot be: the message says where, and what to write instead. */
export class BadScenario extends Error {}

export const scenariosMost = 1000;
/** The longest delay, in milliseconds. */
const delayMost = 600_000;
const words = ['name', 'on', 'caller', 'row', 'calls', 'share', 'asked', 'delay', 'answer', 'fault', 'force'] as const;
const answerWords = ['error', 'status', 'example', 'body', 'headers'] as const;

/** Reads a list of scenarios. @throws {BadScenario} */
export function readScenarios(value: Json | undefined): Scenario[] {
  if (!Array.isArray(value)) throw new BadScenario('Scenarios are a list: `[{ on: create parcel, answer: { status: 503 } }]`.');
  if (value.length > scenariosMost) throw new BadScenario(`There are ${value.length} scenarios; ${scenariosMost} are the most.`);
  const read = value.map((one, index) => readScenario(one, `scenario ${index + 1}`));
  const names = new Set<string>();
  for (const { name } of read) {
    if (names.has(name)) throw new BadScenario(`Two scenarios are called "${name}"; give each a name of its own.`);
    names.add(name);
  }
  return read;
}

/** Reads one scenario; `place` says where it stands, and is its name where it has none. @throws {BadScenario} */
export function readScenario(value: Json | undefined, place: string): Scenario {
  if (!isPlainMap(value)) throw new BadScenario(`${place} is no map such as { on: create parcel, answer: { status: 503 } }.`);
  refuseUnknown(value, words, place);
  const name = textOf(value, 'name', place) ?? place;
  if (!/^[ !#-+\--:<>-~]{1,100}$/.test(name))
    throw new BadScenario(
      `${place}: a name has 1 to 100 characters of ASCII, none of them a quote, a comma, a semicolon or "=".`,
    );
  const fault = wordOf(value, 'fault', faults, place);
  const answer = readAnswer(value.answer, `${place}: answer`);
  const delayMs = readDelay(value.delay, `${place}: delay`);
  if (answer === undefined && fault === undefined && delayMs === undefined)
    throw new BadScenario(`${place} does nothing: give it an answer, a delay or a fault (${faults.join(', ')}).`);
  if (answer && (fault === 'cut' || fault === 'silence'))
    throw new BadScenario(`${place}: with ${fault} nothing is answered; leave the answer out, or write truncate.`);
  return {
    name,
    on: readOn(value.on, place),
    caller: textOf(value, 'caller', place),
    row: typeof value.row === 'number' ? String(value.row) : textOf(value, 'row', place),
    calls: readCalls(value.calls, `${place}: calls`),
    share: readShare(value.share, place),
    asked: flagOf(value, 'asked', place),
    delayMs,
    answer,
    fault,
    force: flagOf(value, 'force', place),
    written: value,
  };
}

function readOn(value: Json | undefined, place: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value : [value];
  const texts = list.filter((one) => typeof one === 'string');
  if (texts.length === list.length && texts.length > 0) return texts;
  throw new BadScenario(
    `${place}: \`on\` is an operation such as "create parcel", an endpoint such as "POST /parcels", or a list of them.`,
  );
}

function readCalls(value: Json | undefined, place: string): Scenario['calls'] {
  if (value === undefined) return undefined;
  const isCount = (one: Json | undefined): one is number => typeof one === 'number' && Number.isSafeInteger(one) && one >= 1;
  if (isCount(value)) return { from: value, to: value };
  const { from = 1, to = Number.MAX_SAFE_INTEGER, ...rest } = isPlainMap(value) ? value : { from: 0 };
  if (isCount(from) && isCount(to) && from <= to && Object.keys(rest).length === 0) return { from, to };
  throw new BadScenario(`${place} is a number from 1, or { from: 2, to: 4 }.`);
}

function readShare(value: Json | undefined, place: string): number | undefined {
  if (value === undefined || (typeof value === 'number' && value >= 0 && value <= 1)) return value;
  throw new BadScenario(`${place}: \`share\` is a number from 0 to 1.`);
}

function readDelay(value: Json | undefined, place: string): Scenario['delayMs'] {
  if (value === undefined) return undefined;
  const { from, to, ...rest } = isPlainMap(value) ? value : { from: value, to: value };
  const [least, most] = [from, to].map((one) => (typeof one === 'string' ? durationMs(one) : undefined));
  if (least === undefined || most === undefined || least > most || Object.keys(rest).length > 0)
    throw new BadScenario(`${place} is a duration such as 200ms or 3s, or { from: 100ms, to: 2s }.`);
  if (most > delayMost)
    throw new BadScenario(`${place}: ten minutes are the most; with fault: silence there is never an answer.`);
  return { from: least, to: most };
}

function readAnswer(value: Json | undefined, place: string): AnswerInput | undefined {
  if (value === undefined) return undefined;
  if (!isPlainMap(value)) throw new BadScenario(`${place} is a map such as { status: 503 } or { error: sold_out }.`);
  refuseUnknown(value, answerWords, place);
  const { status, body, headers } = value;
  if (status !== undefined && !(typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599))
    throw new BadScenario(`${place}: \`status\` is a number from 200 to 599.`);
  const error = textOf(value, 'error', place);
  const example = textOf(value, 'example', place);
  if (error === undefined && status === undefined && example === undefined)
    throw new BadScenario(`${place} needs an error, a status or an example.`);
  if (error !== undefined && (status !== undefined || example !== undefined || body !== undefined))
    throw new BadScenario(`${place}: an error has the status and the body that are stated for it; leave the others out.`);
  if (example !== undefined && body !== undefined) throw new BadScenario(`${place}: it answers an example or a body, not both.`);
  return {
    ...(error !== undefined && { error }),
    ...(status !== undefined && { status }),
    ...(example !== undefined && { example }),
    ...(body !== undefined && { body }),
    ...(headers !== undefined && { headers: readHeaders(headers, place) }),
  };
}

function readHeaders(value: Json, place: string): Readonly<Record<string, string>> {
  const entries = isPlainMap(value) ? Object.entries(value) : undefined;
  const isGood = ([name, text]: readonly [string, Json]) =>
    isToken(name) && typeof text === 'string' && /^[\t\x20-\x7e]*$/.test(text);
  if (!entries?.every(isGood))
    throw new BadScenario(`${place}: \`headers\` is a map of header fields, whose values are texts in ASCII.`);
  return Object.fromEntries(entries.map(([name, text]) => [name.toLowerCase(), String(text)]));
}

function refuseUnknown(value: JsonMap, known: readonly string[], place: string): void {
  const unknown = Object.keys(value).find((word) => !known.includes(word));
  if (unknown === undefined) return;
  const meant = nearest(unknown, known);
  throw new BadScenario(
    `${place}: there is no \`${unknown}\`; ${meant === undefined ? `there are ${known.join(', ')}.` : `did you mean \`${meant}\`?`}`,
  );
}

function textOf(value: JsonMap, word: string, place: string): string | undefined {
  const found = value[word];
  if (found === undefined || (typeof found === 'string' && found !== '')) return found;
  throw new BadScenario(`${place}: \`${word}\` is a text.`);
}

function flagOf(value: JsonMap, word: string, place: string): boolean {
  const found = value[word] ?? false;
  if (typeof found === 'boolean') return found;
  throw new BadScenario(`${place}: \`${word}\` is true or false.`);
}

function wordOf<const Word extends string>(
  value: JsonMap,
  word: string,
  known: readonly Word[],
  place: string,
): Word | undefined {
  const found = value[word];
  if (found === undefined) return undefined;
  const one = known.find((candidate) => candidate === found);
  if (one !== undefined) return one;
  const meant = typeof found === 'string' ? nearest(found, known) : undefined;
  throw new BadScenario(`${place}: \`${word}\` is ${known.join(', ')}${meant === undefined ? '.' : `; did you mean ${meant}?`}`);
}
