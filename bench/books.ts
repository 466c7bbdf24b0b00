/** The rows that every server of the benchmarks is given. */

/** What is sent to make a book. */
export interface NewBook {
  readonly title: string;
  readonly author: string;
  readonly isbn: string;
  readonly genre: string;
  readonly year: number;
  readonly pages: number;
  readonly price: number;
  readonly note: string;
}

const genres = ['novel', 'poetry', 'history', 'science', 'travel'];
const authors = ['Ada Marsh', 'Ben Okafor', 'Clara Lind', 'Dmitri Sand', 'Eva Horn', 'Femi Bello', 'Greta Moss'];

/** The book of a number; numbers apart by less than 10,000 give different books. */
export function book(n: number): NewBook {
  return {
    title: `The Keeper of the Light, part ${n % 1_000_000}`,
    author: authors[n % authors.length]!,
    isbn: String(9_780_000_000_000 + n),
    genre: genres[n % genres.length]!,
    year: 1900 + (n % 120),
    pages: 80 + (n % 900),
    // 7919 is prime, so prices come in no order of the numbers.
    price: 100 + ((n * 7919) % 10_000),
    note: 'Cloth, 2nd print',
  };
}

/** Header fields, by name. */
export type Headers = Readonly<Record<string, string>>;

/** A whole HTTP/1.1 request that reads. */
export function get(path: string, headers: Headers = {}): string {
  return `GET ${path} HTTP/1.1\r\n${lines({ Host: '127.0.0.1', ...headers })}\r\n`;
}

/** A whole HTTP/1.1 request that makes a row. */
export function post(path: string, row: object, headers: Headers = {}): string {
  const body = JSON.stringify(row);
  const all = { Host: '127.0.0.1', 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) };
  return `POST ${path} HTTP/1.1\r\n${lines({ ...all, ...headers })}\r\n${body}`;
}

function lines(headers: Headers): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}
