/** The question that a page of a list asks of the store: its tests, its order, and where it goes on. */

import { hash, timingSafeEqual } from 'node:crypto';
import type { Operator } from '../../../parts/parameters.ts';
import type { Condition, Operand, QuerySpec, Scalar } from '../../../store/store.ts';
import type { RowFilter } from '../../callers/list-access.ts';
import { toJson } from '../../http/json.ts';

/** One test of a list: a column, how it is compared, and the value. */
export interface Test {
  readonly column: string;
  readonly op: Operator;
  readonly value: Scalar | readonly Scalar[];
}

export interface SortKey {
  readonly column: string;
  readonly descending: boolean;
}

/** How a page asks its question. */
interface Way {
  readonly isReversed: boolean;
  /** Whether it goes on after a row. */
  readonly isContinued: boolean;
  readonly isOffset: boolean;
}

/** What pages are told by: `id` where that is the identifier of a row, `keys` where it is what rows are sorted by. */
type CursorBasis = 'id' | 'keys' | undefined;

/** What a list asks with the same filters in the same order, whatever their values, made once for each way to ask it. */
export class Question {
  readonly #made: (QuerySpec | undefined)[] = [];
  readonly #table: string;
  readonly #where: Condition | undefined;
  readonly #order: readonly SortKey[];
  readonly #told: CursorBasis;
  readonly #newestFirst: boolean;
  /** The parameter that is the limit; the values of the tests come before it, and the offset and the row to go on after follow. */
  readonly #limit: number;

  /** `filter` = which rows the caller is shown. */
  constructor(
    table: string,
    tests: readonly Test[],
    filter: RowFilter | undefined,
    order: readonly SortKey[],
    told: CursorBasis,
    newestFirst: boolean,
  ) {
    const conditions = tests.map((test, index) => conditionOf(test, { param: index }));
    if (filter) conditions.push(filter.where(tests.length));
    this.#table = table;
    this.#where = conditions.length < 2 ? conditions[0] : { op: 'and', of: conditions };
    this.#order = order;
    this.#told = told;
    this.#newestFirst = newestFirst;
    this.#limit = tests.length + (filter?.values.length ?? 0);
  }

  ask(way: Way): QuerySpec {
    const index = (way.isReversed ? 1 : 0) + (way.isContinued ? 2 : 0) + (way.isOffset ? 4 : 0);
    const made = this.#made[index] ?? this.#make(way);
    this.#made[index] = made;
    return made;
  }

  #make({ isReversed, isContinued, isOffset }: Way): QuerySpec {
    const limit = this.#limit;
    const offset = limit + 1;
    return {
      table: this.#table,
      ...(this.#where && { where: this.#where }),
      order: this.#order.map(({ column, descending }) => ({ column, descending: descending !== isReversed })),
      newestFirst: isReversed !== this.#newestFirst,
      limit,
      ...(isOffset && { offset }),
      ...(isContinued && { after: isOffset ? offset + 1 : offset }),
      lean: this.#told !== 'id',
      keys: this.#told === 'keys',
    };
  }
}

/** How many questions of one list are kept. */
const knownMost = 256;

/** The questions of one list: the usual one, of all rows in the stated order, and those with filters or another order. */
export class Questions {
  readonly #table: string;
  readonly #told: CursorBasis;
  readonly #order: readonly SortKey[];
  readonly #newestFirst: boolean;
  readonly #usual: Question;
  readonly #known = new Map<string, Question>();
  readonly #byForm = new Map<string, Question>();

  /** `newestFirst` = of rows that the order does not tell apart, that which was made last comes first. */
  constructor(table: string, order: readonly SortKey[], told: CursorBasis, newestFirst = false) {
    this.#table = table;
    this.#told = told;
    this.#order = order;
    this.#newestFirst = newestFirst;
    this.#usual = new Question(table, [], undefined, order, told, newestFirst);
  }

  of(tests: readonly Test[], filter: RowFilter | undefined, order: readonly SortKey[]): Question {
    if (tests.length === 0 && order === this.#order) return filter ? this.#filtered(filter) : this.#usual;
    const key = `${tests.map(({ column, op }) => `${op} ${column}`).join('\n')}\n\n${order.map(({ column, descending }) => `${descending ? '-' : ''}${column}`).join('\n')}${filter ? `\n${filter.form}` : ''}`;
    const known = this.#known.get(key);
    if (known) return known;
    // A caller that makes up ever new orders must not fill the memory with them.
    if (this.#known.size >= knownMost) this.#known.clear();
    const made = new Question(this.#table, tests, filter, order, this.#told, this.#newestFirst);
    this.#known.set(key, made);
    return made;
  }

  /** In the usual order, where nothing is asked for but what the caller may see, and what parameters choose by. */
  #filtered(filter: RowFilter): Question {
    const known = this.#byForm.get(filter.form);
    if (known) return known;
    if (this.#byForm.size >= knownMost) this.#byForm.clear();
    const made = new Question(this.#table, [], filter, this.#order, this.#told, this.#newestFirst);
    this.#byForm.set(filter.form, made);
    return made;
  }
}

/** The values of a page's form, in the order in which its question takes them. */
export function valuesOf(
  tests: readonly Test[],
  filter: RowFilter | undefined,
  limit: number,
  offset: number | undefined,
  after: Position | undefined,
): Scalar[] {
  const values: Scalar[] = [];
  for (const { value, op } of tests) values.push(op === 'in' ? toJson(value) : (value as Scalar));
  if (filter) values.push(...filter.values);
  values.push(limit);
  if (offset !== undefined) values.push(offset);
  if (after) values.push(...after.keys, after.seq);
  return values;
}

function conditionOf({ column, op }: Test, right: Operand): Condition {
  const left: Operand = { column };
  return { op, left, right };
}

/** Where a page ends: the sort values of its last row and that row's creation number. */
export interface Position {
  readonly keys: readonly Scalar[];
  readonly seq: number;
  /** Whether it leads back. */
  readonly back: boolean;
}

/** Opaque, signed cursors, each bound to the query that it was given for. Nobody but us can read what one holds. */
export interface Cursors {
  write(position: Position, query: string): string;
  /** Nothing where the cursor is not ours, or was given for another query. */
  read(cursor: string, query: string): Position | undefined;
}

/** Makes cursors signed with a secret (HMAC-SHA256, RFC 2104, of which 132 bits are sent). */
export function compileCursors(secret: string): Cursors {
  const mac = hmacSha256(secret);
  const sign = (payload: string, query: string) => mac(`${payload}\n${query}`).slice(0, signatureLength);
  const seal = keyStream(hash('sha256', mac('seal'), 'hex'));
  const lately = new Lately();
  return {
    write(position, query) {
      const { keys, seq, back } = position;
      const text = JSON.stringify([seq, back ? 1 : 0, ...keys.map(writeKey)]);
      const length = Buffer.byteLength(text);
      const bytes = Buffer.from(text + ' '.repeat(Math.ceil(length / blockBytes) * blockBytes - length));
      const signature = sign(bytes.toString('base64url'), query);
      const cursor = `${seal(bytes, signature).toString('base64url')}.${signature}`;
      lately.keep(cursor, query, position);
      return cursor;
    },
    read(cursor, query) {
      const known = lately.find(cursor, query);
      if (known) return known;
      const dot = cursor.indexOf('.');
      const sent = cursor.slice(dot + 1);
      if (dot < 1 || !/^[\w-]{22}$/.test(sent)) return undefined;
      const payload = unseal(cursor.slice(0, dot), sent);
      if (payload === undefined || !isSame(sent, sign(payload, query))) return undefined;
      // The signature proves that this was written above.
      const [seq, back, ...keys] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [number, number, ...unknown[]];
      return { seq, back: back === 1, keys: keys.map(readKey) };
    },
  };

  function unseal(text: string, signature: string): string | undefined {
    const bytes = Buffer.from(text, 'base64url');
    // Of several texts that decode to the same bytes, only ours is right.
    return bytes.toString('base64url') === text ? seal(bytes, signature).toString('base64url') : undefined;
  }
}

/**
 * Seals and unseals bytes in place with SHA-256 in counter mode over the signature: the same cursor is sealed to the same text, and no two
 * others share a stream. A cipher of the platform's costs seven microseconds to set up, a hash of a text one.
 */
function keyStream(key: string): (bytes: Buffer, signature: string) => Buffer {
  return (bytes, signature) => {
    for (let from = 0; from < bytes.length; from += hashBytes) {
      const stream = hash('sha256', `${key}${signature}${from}`, 'binary');
      const to = Math.min(from + hashBytes, bytes.length);
      for (let at = from; at < to; at++) bytes[at] = bytes[at]! ^ stream.charCodeAt(at - from);
    }
    return bytes;
  };
}

const hashBytes = 32;

/** Cursors come in steps of so many bytes, so that not even their length tells how large a number is in them. */
const blockBytes = 24;

/** How many cursors are remembered, twice over, and how long each of them may be. */
const latelyMost = 512;
const latelyLength = 256;

/** The cursors that were given out last: a client that goes on to the next page sends one of them, which need not be proved to be ours. */
class Lately {
  #newer = new Map<string, { readonly query: string; readonly position: Position }>();
  #older = this.#newer;

  find(cursor: string, query: string): Position | undefined {
    const found = this.#newer.get(cursor) ?? this.#older.get(cursor);
    return found?.query === query ? found.position : undefined;
  }

  keep(cursor: string, query: string, position: Position): void {
    if (cursor.length > latelyLength) return;
    if (this.#newer.size >= latelyMost) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(cursor, { query, position });
  }
}

/**
 * HMAC-SHA256 as base64url (RFC 2104). The key is one block of hexadecimal digits, so that the padded keys are ASCII: texts
 * are hashed in one go, which costs a third of a keyed stream.
 */
function hmacSha256(secret: string): (text: string) => string {
  const key = hash('sha256', secret, 'hex');
  const padded = (pad: number) => String.fromCharCode(...Buffer.from(key).map((digit) => digit ^ pad));
  const inner = padded(0x36);
  const outer = Buffer.from(padded(0x5c) + '\0'.repeat(32));
  return (text) => {
    outer.write(hash('sha256', inner + text, 'binary'), 64, 'latin1');
    return hash('sha256', outer, 'base64url');
  };
}

const signatureLength = 22;

/** Compared as texts, in the same time wherever they differ: of several that decode to one signature, only ours is right. */
function isSame(sent: string, own: string): boolean {
  return timingSafeEqual(Buffer.from(sent), Buffer.from(own));
}

/** Integers beyond 2^53 are written as `{ "i": "…" }`. */
function writeKey(key: Scalar): unknown {
  return typeof key === 'bigint' ? { i: String(key) } : key;
}

function readKey(key: unknown): Scalar {
  if (typeof key === 'object' && key !== null && 'i' in key) return BigInt(String(key.i));
  return key as Scalar;
}
