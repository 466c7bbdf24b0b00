import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { isDone, isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { ReceivedDelivery } from '../trials/events/receiver.ts';
import {
  alteredTexts,
  depthMax,
  listVariants,
  membersIn,
  membersMost,
  otherThan,
  otherVariants,
  ownVariants,
  stranger,
  type Variants,
  withAltered,
  withLists,
  withStranger,
} from './altered-json.ts';

/** What alterations begin with, and what they can put in. */
export interface Altering {
  /** The member that the fact is about: it is altered first, and in more ways. */
  readonly member: string | undefined;
  /** The alterations that were made so far: each is made once, whatever claims are judged of it. */
  readonly made: Map<TrialExchange, Map<string, Iterable<TrialExchange>>>;
  /** Events that came to somebody in this run, and refusals that the document states. */
  readonly events: readonly ReceivedDelivery[];
  readonly refusals: readonly Answered[];
}

type Answered = Pick<TrialExchange, 'status' | 'headers' | 'body' | 'text'>;

/** What is made as it is first asked for, and given again to whoever asks later. */
class Repeated implements Iterable<TrialExchange> {
  readonly #from: Iterator<TrialExchange>;
  readonly #so: TrialExchange[] = [];

  constructor(from: Iterable<TrialExchange>) {
    this.#from = from[Symbol.iterator]();
  }

  *[Symbol.iterator](): Iterator<TrialExchange> {
    for (let at = 0; ; at++) {
      const next = this.#so[at] ?? this.#more();
      if (!next) return;
      yield next;
    }
  }

  #more(): TrialExchange | undefined {
    const { done, value } = this.#from.next();
    if (done) return undefined;
    this.#so.push(value);
    return value;
  }
}

/** How many headers of an answer are altered. */
const headersMost = 12;

/** What a step gave, as a service that breaks its word might have answered: one thing is altered in each. */
export function* alterationsOf(value: unknown, altering: Altering): Iterable<unknown> {
  if (isExchange(value)) yield* alteredExchanges(value, altering);
  else if (isHeard(value)) yield* alteredHeard(value, altering);
  else if (Array.isArray(value)) yield* alteredList(value, altering);
  else if (typeof value === 'object' && value !== null) yield* alteredPlain(value, altering);
  else if (typeof value === 'number') yield* [value + 1, value + 1_000_000, 0];
}

function* alteredExchanges(exchange: TrialExchange, { member, refusals, made }: Altering): Iterable<TrialExchange> {
  const own = made.get(exchange) ?? new Map<string, Iterable<TrialExchange>>();
  made.set(exchange, own);
  const once = (name: string, make: () => Iterable<TrialExchange>): Iterable<TrialExchange> => {
    const known = own.get(name) ?? new Repeated(make());
    own.set(name, known);
    return known;
  };
  if (member !== undefined) yield* once(`own ${member}`, () => alteredMembers(exchange, member));
  yield* once('', () => alteredAnswers(exchange, refusals));
}

function* alteredMembers(exchange: TrialExchange, member: string): Iterable<TrialExchange> {
  const { body } = exchange;
  if (body === undefined) return;
  if (membersIn(body).includes(member)) yield* withMembers(exchange, member, ownVariants);
  else yield withBody(exchange, withStranger(body, { [member]: 'altered' }));
}

function* alteredAnswers(exchange: TrialExchange, refusals: Altering['refusals']): Iterable<TrialExchange> {
  const { status, caller } = exchange;
  for (const other of isDone(exchange) ? [500, 404, 405, 401, 403, 422, status === 201 ? 200 : 201, 204] : [200, 500]) {
    yield { ...exchange, status: other };
  }
  if (!isDone(exchange)) yield { ...exchange, status: status === 404 ? 403 : 404 };
  // What a service gives out as a credential is an answer of its too.
  if (caller?.credential) yield { ...exchange, caller: { ...caller, credential: { ...caller.credential, value: '\u0001' } } };
  // Of a claim about several answers each is altered less often: neither what is refused nor what is shown waits for the other.
  yield* byTurns(
    refusals.map((refusal) => answeredAs(exchange, refusal)),
    alteredOtherwise(exchange),
  );
}

function* alteredOtherwise(exchange: TrialExchange): Iterable<TrialExchange> {
  const { body, headers } = exchange;
  yield { ...exchange, headers: { ...headers, 'content-type': 'text/x-altered' } };
  yield* ledElsewhere(exchange);
  yield { ...exchange, body: undefined, text: '' };
  if (body === undefined) yield { ...exchange, text: `${exchange.text}altered` };
  else yield* alteredBodies(exchange, body);
  yield* alteredHeaders(exchange);
}

function* byTurns<T>(...each: readonly Iterable<T>[]): Iterable<T> {
  let left = each.map((one) => one[Symbol.iterator]());
  while (left.length > 0) {
    const given = left.map((one) => ({ one, next: one.next() }));
    for (const { next } of given) if (!next.done) yield next.value;
    left = given.flatMap(({ one, next }) => (next.done ? [] : [one]));
  }
}

function* alteredBodies(exchange: TrialExchange, body: Json): Iterable<TrialExchange> {
  for (const alter of listVariants) {
    const altered = withLists(body, alter);
    if (altered !== undefined) yield withBody(exchange, altered);
  }
  yield withBody(exchange, withStranger(body, stranger));
  for (const name of membersIn(body).slice(0, membersMost)) yield* withMembers(exchange, name, otherVariants);
  yield withBody(exchange, { nf_altered: 'altered' });
  // A row may stand in a member.
  for (const [name, value] of isMap(body) ? Object.entries(body) : [])
    if (isMap(value as Json)) yield withBody(exchange, { ...(body as JsonMap), [name]: { nf_altered: 'altered' } });
  yield withBody(exchange, Array.isArray(body) ? {} : []);
}

/** The answer of another request instead. */
export function answeredAs(exchange: TrialExchange, { status, headers, body, text }: Answered): TrialExchange {
  return { ...exchange, status, headers, body, text };
}

/** The addresses that an answer tells lead elsewhere. */
function* ledElsewhere(exchange: TrialExchange): Iterable<TrialExchange> {
  for (const name of ['location', 'link']) {
    const { [name]: told } = exchange.headers;
    if (told === undefined) continue;
    const elsewhere = told.replaceAll(/(^|<)(https?:\/\/[^/>]+)?\//g, '$1$2/altered/');
    yield { ...exchange, headers: { ...exchange.headers, [name]: elsewhere } };
  }
}

function* alteredHeaders(exchange: TrialExchange): Iterable<TrialExchange> {
  const names = Object.keys(exchange.headers).filter((name) => !/^(?:date|connection|keep-alive|content-length)$/.test(name));
  for (const name of names.slice(0, headersMost)) {
    const { [name]: value, ...rest } = exchange.headers;
    yield { ...exchange, headers: rest };
    yield { ...exchange, headers: { ...rest, [name]: `${value}-altered` } };
    // A number that is less by some than it was.
    if (/^\d{1,9}$/.test(value ?? ''))
      yield { ...exchange, headers: { ...rest, [name]: String(Math.max(0, Number(value) - 7)) } };
  }
  for (const name of ['deprecation', 'sunset', 'etag', 'location'].filter((one) => !names.includes(one)))
    yield { ...exchange, headers: { ...exchange.headers, [name]: 'altered' } };
}

function withBody(exchange: TrialExchange, body: Json): TrialExchange {
  return {
    ...exchange,
    body,
    // Few claims read it.
    get text() {
      return JSON.stringify(body);
    },
  };
}

/** A member left out, of another type, or with another value, wherever it stands. */
function* withMembers(exchange: TrialExchange, name: string, variants: Variants): Iterable<TrialExchange> {
  const { body } = exchange;
  if (body === undefined) return;
  const count = variants('').length;
  for (let at = 0; at < count; at++) {
    const altered = withAltered(body, name, (value) => variants(value)[at], 0);
    yield withBody(exchange, altered);
  }
}

/** What somebody who listens was told. */
interface Heard {
  readonly deliveries: readonly ReceivedDelivery[];
}

export function isHeard(value: unknown): value is Heard {
  return typeof value === 'object' && value !== null && 'deliveries' in value && Array.isArray(value.deliveries);
}

/** An event that never came, that came twice, that came without a cause, or that says something else. */
function* alteredHeard(heard: Heard, { events, member }: Altering): Iterable<Heard> {
  const { deliveries } = heard;
  const [first] = deliveries;
  if (first) {
    yield { ...heard, deliveries: [] };
    yield { ...heard, deliveries: deliveries.slice(1) };
    if (deliveries.length > 1) yield { ...heard, deliveries: [first] };
    for (const one of deliveries.slice(0, 4)) yield { ...heard, deliveries: [...deliveries, asAnother(one)] };
  }
  for (const sample of events) yield { ...heard, deliveries: [...deliveries, asAnother(sample)] };
  if (!first) return;
  for (const name of first.body === undefined ? [] : membersIn(first.body).slice(0, membersMost)) {
    for (let at = 0; at < otherVariants('').length; at++) {
      const alter = (value: Json) => otherVariants(value)[at];
      const altered = deliveries.map((one) =>
        one.body === undefined ? one : asTold(one, withAltered(one.body, name, alter, 0)),
      );
      yield { ...heard, deliveries: altered };
    }
  }
  for (const name of Object.keys(first.headers).slice(0, headersMost)) {
    if (name === member) continue;
    yield { ...heard, deliveries: deliveries.map((one) => ({ ...one, headers: { ...one.headers, [name]: 'altered' } })) };
  }
  yield { ...heard, deliveries: deliveries.map((one) => ({ ...one, method: 'PATCH' })) };
}

/** The same event under another identifier. */
function asAnother(delivery: ReceivedDelivery): ReceivedDelivery {
  const id = delivery.headers['webhook-id'];
  const body = delivery.body === undefined ? undefined : withAltered(delivery.body, 'id', otherThan, depthMax);
  const named = id === undefined ? delivery : { ...delivery, headers: { ...delivery.headers, 'webhook-id': `${id}~` } };
  return body === undefined ? { ...named, text: `${named.text} ` } : asTold(named, body);
}

/** A delivery with another body. */
export function asTold(delivery: ReceivedDelivery, body: Json): ReceivedDelivery {
  return { ...delivery, body, text: JSON.stringify(body) };
}

/** One of the last few, or the first, missing, there twice, or altered itself. */
const itemsMost = 2;

function* alteredList(list: readonly unknown[], altering: Altering): Iterable<readonly unknown[]> {
  const some = [...new Set([...list.keys()].slice(-itemsMost).reverse().concat(0))].filter((at) => at in list);
  for (const at of some) yield list.toSpliced(at, 1);
  if (list.length > 0) yield [...list, list[0]];
  for (const item of some) {
    for (const altered of alterationsOf(list[item], altering)) yield list.with(item, altered);
  }
  // What is true of all is only altered where it is so in all.
  if (list.every(isExchange)) {
    for (const status of [200, 404, 429, 500]) yield list.map((one) => ({ ...one, status }));
  } else if (list.every((one) => typeof one === 'object' && one !== null && 'status' in one)) {
    for (const status of [200, 404, 429, 500]) yield list.map((one) => ({ ...(one as object), status }));
  }
}

function* alteredPlain(value: object, altering: Altering): Iterable<object> {
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string' && isJson(member)) {
      for (const variant of alteredTexts(member)) yield { ...value, [name]: variant };
    } else if (typeof member === 'string') yield { ...value, [name]: `${member}~` };
    else if (typeof member === 'boolean') yield { ...value, [name]: !member };
    else if (typeof member !== 'function' && member !== undefined) {
      for (const altered of alterationsOf(member, altering)) yield { ...value, [name]: altered };
    }
  }
}

function isJson(text: string): boolean {
  return text.startsWith('{') && text.endsWith('}');
}
