import assert from 'node:assert/strict';
import { inspect } from 'node:util';

/** A header with a credential: its name in lower case, the word before the credential (`Bearer`) or nothing, the credential. */
export interface PrintedHeader {
  readonly name: string;
  readonly word: string;
  readonly value: string;
}

/** Where a stand-in listens, and what it prints for its callers. */
export interface Place {
  /** Its address, without a slash at the end: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Its address and the path all of its operations begin with, without a slash at the end. */
  readonly base: string;
  readonly port: number;
  /** The headers of working callers that it printed, in its order. */
  readonly printed: readonly PrintedHeader[];
}

/** What earlier steps of a flow found out, for later ones. Reading what none of them gave fails the step. */
export type State = Record<string, string>;

/** Named steps, run in this order; each asserts what a correct service answers. */
export type Steps = Record<string, () => Promise<unknown>>;

/** One use of a service through its own client: `another` gives a client with another credential. */
export type Flow<Client> = (client: Client, state: State, another: (token: string) => Client, place: Place) => Steps;

/** A vendor's description and how a user of its client would work with it. */
export interface Vendor<Client> {
  /** The description's place in the corpus. */
  readonly document: string;
  /** The header in which the client sends its credential, and the word it puts before it; none where it sends it bare. */
  readonly header: string;
  readonly word?: string;
  /** Other headers in which it sends what has to be right, as a project's key. */
  readonly also?: readonly string[];
  /** The credential when none is printed that the client could send: the stand-in is started with it. */
  readonly made: string;
  /** Whether the client shows that credential in no header and no query: it signs with it, has a token for it, sends it in a body or a path, or needs none. Then any is taken. */
  readonly hides?: true;
  readonly client: (place: Place, token: string) => Client;
  /** Whom and what one of the project's own services knows when a flow begins: callers, who have keys, and rows of each resource. */
  readonly known?: {
    readonly callers: readonly { readonly user: string; readonly id: string }[];
    readonly rows?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  };
  /** Flows for which the service asks for its own credentials, even where it prints none that the client could send. */
  readonly strict?: readonly string[];
  readonly flows: Readonly<Record<string, Flow<Client>>>;
}

/** The printed credentials that a vendor's client could send, in the order of their printing. */
export const fitting = (place: Place, vendor: Pick<Vendor<unknown>, 'header' | 'word'>): string[] =>
  place.printed
    .filter(({ name, word }) => name === vendor.header.toLowerCase() && word === (vendor.word ?? ''))
    .map(({ value }) => value);

/** Whether the stand-in printed all that the client has to send. */
export const told = (place: Place, vendor: Vendor<unknown>): boolean =>
  fitting(place, vendor).length > 0 && (vendor.also ?? []).every((also) => place.printed.some(({ name }) => name === also));

/** A state in which what is not known cannot be read. */
export const blank = (): State =>
  new Proxy({} as State, {
    get(held, name: string) {
      assert.ok(held[name] !== undefined, `no earlier step gave "${name}"`);
      return held[name];
    },
  });

const numbers = (value: unknown, names: readonly string[]): number | undefined => {
  const object = value as Record<string, unknown> | null | undefined;
  for (const name of names) {
    const found = object?.[name];
    if (typeof found === 'number' && found >= 100 && found < 600) return found;
  }
  return undefined;
};

/** The HTTP status of what a client threw, wherever it keeps it. */
export function statusOf(thrown: unknown): number | undefined {
  const own = ['status', 'statusCode', 'code', 'httpStatus'];
  const error = thrown as { response?: unknown; rawResponse?: unknown; responseInfo?: unknown; cause?: unknown } | undefined;
  return (
    numbers(error, own) ??
    numbers(error?.response, own) ??
    numbers(error?.rawResponse, own) ??
    numbers(error?.responseInfo, own) ??
    numbers(error?.cause, own)
  );
}

/** The call is refused with one of these statuses; what the client threw is given back. */
export async function refused(call: Promise<unknown>, ...statuses: readonly number[]): Promise<unknown> {
  let answer: unknown;
  try {
    answer = await call;
  } catch (thrown) {
    const status = statusOf(thrown);
    if (status !== undefined && statuses.includes(status)) return thrown;
    if (status === undefined) throw thrown;
    throw Object.assign(new Error(`refused with ${status}, not ${statuses.join(' or ')}: ${(thrown as Error).message}`), {
      status,
    });
  }
  throw new Error(
    `not refused, but answered ${inspect(answer, { depth: 2, breakLength: Number.POSITIVE_INFINITY }).slice(0, 60)}`,
  );
}

/** Every one of these is there, and exactly once. */
export function once(rows: readonly string[], wanted: readonly string[], what = 'rows'): void {
  for (const one of wanted) {
    const times = rows.filter((row) => row === one).length;
    assert.equal(times, 1, `${what} of the list hold "${one}" ${times} times, not once`);
  }
}

/** Asks for page after page until one says that it is the last; more than `most` pages are an error. */
export async function pages<Page, Row>(
  ask: (from: string | undefined, number: number) => Promise<Page>,
  rows: (page: Page) => readonly Row[],
  next: (page: Page) => string | null | undefined,
  most = 40,
): Promise<Row[]> {
  const all: Row[] = [];
  let from: string | undefined;
  for (let number = 1; number <= most; number += 1) {
    const page = await ask(from, number);
    all.push(...rows(page));
    from = next(page) ?? undefined;
    if (from === undefined) return all;
  }
  throw new Error(`the list did not end after ${most} pages`);
}

/** Asks for numbered pages until one is empty; more than `most` pages are an error. */
export async function numbered<Row>(ask: (page: number) => Promise<readonly Row[]>, first = 1, most = 40): Promise<Row[]> {
  const all: Row[] = [];
  for (let number = first; number < first + most; number += 1) {
    const page = await ask(number);
    if (page.length === 0) return all;
    all.push(...page);
  }
  throw new Error(`the list did not end after ${most} pages`);
}

/** A value that a client's types call optional, and which the description promises here. */
export function given<T>(value: T | null | undefined, what: string): T {
  assert.ok(value !== null && value !== undefined, `the answer has no ${what}`);
  return value;
}

/** Every row of the pages a client walks by itself; more than `most` pages are an error. */
export async function gather<Page, Row>(
  walk: AsyncIterable<Page>,
  rows: (page: Page) => readonly Row[],
  most = 40,
): Promise<Row[]> {
  const all: Row[] = [];
  let number = 0;
  for await (const page of walk) {
    all.push(...rows(page));
    number += 1;
    if (number > most) throw new Error(`the list did not end after ${most} pages`);
  }
  return all;
}
