import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Value = null | boolean | number | string | Value[] | { [key: string]: Value };
type Row = { [key: string]: Value };

/** What a request comes to. */
interface Told {
  readonly status: number;
  readonly body?: Value | string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

class Stop extends Error {
  readonly told: Told;
  constructor(status: number, title: string, errors: readonly string[] = []) {
    super(title);
    this.told = {
      status,
      body: { title, status, ...(errors.length > 0 && { errors: [...errors] }) },
      type: 'application/problem+json',
    };
  }
}

/** The pass of whoever may. */
export const pass = 'harbour-pass';

/**
 * A harbour written by hand, with nothing of this project in it: one function for each route, checks in the order in which they came to
 * mind. A fault is a word that one of its lines asks for.
 */
export async function openHarbour(fault = 'none'): Promise<{ readonly url: string; close(): Promise<void> }> {
  const has = (word: string) => word === fault;
  const berths = new Map<string, Row>();
  const bookings = new Map<number, Row>();
  let last = 0;

  const berthFlaws = (body: Row, isWhole: boolean): string[] => {
    const flaws: string[] = [];
    const text = (name: string, least: number, most: number) => {
      const value = body[name];
      if (value === undefined) return;
      if (typeof value !== 'string' || [...value].length < least || (!has(`no longest ${name}`) && [...value].length > most))
        flaws.push(name);
    };
    if (isWhole)
      for (const name of ['name', 'length', 'kind'])
        if (body[name] === undefined && !has(`no required ${name}`)) flaws.push(`${name} is missing`);
    const known = ['name', 'code', 'length', 'depth', 'kind', 'tags', 'contact', 'note'];
    if (!has('unknown members are taken'))
      for (const name of Object.keys(body)) if (!known.includes(name)) flaws.push(`${name} is unknown`);
    text('name', 2, has('long names are refused') ? 20 : 30);
    if (has('null in a name') ? body.name === null : false) throw new TypeError('name is null');
    if (
      body.code !== undefined &&
      (typeof body.code !== 'string' || (!has('no pattern') && !/^[A-Z]{2}-[0-9]{3}$/.test(body.code)))
    )
      flaws.push('code');
    const { length, depth, kind, tags, note, contact } = body;
    if (
      length !== undefined &&
      (typeof length !== 'number' || !Number.isInteger(length) || length < 3 || (!has('no maximum') && length > 60))
    )
      flaws.push('length');
    if (depth !== undefined && (typeof depth !== 'number' || (has('zero depth') ? depth < 0 : depth <= 0) || depth > 20))
      flaws.push('depth');
    if (kind !== undefined && !has('any kind') && !['quay', 'buoy', 'pontoon'].includes(String(kind))) flaws.push('kind');
    if (tags !== undefined) {
      const isList =
        Array.isArray(tags) &&
        tags.length <= 3 &&
        tags.every((tag) => typeof tag === 'string' && tag.length > 0 && [...tag].length <= 12);
      if (!isList || (!has('tags twice') && new Set(tags).size < tags.length)) flaws.push('tags');
    }
    if (note !== undefined && note !== null && (typeof note !== 'string' || note.length > 200 || [...note].length > 100))
      flaws.push('note');
    if (has('odd notes crash') && typeof note === 'string' && /['%]/.test(note)) throw new Error('the database did not like it');
    if (contact !== undefined && typeof contact !== 'string' && !has('any contact')) flaws.push('contact');
    return flaws;
  };
  const berthOf = (id: string): Row => {
    const row = berths.get(id);
    if (!row && has('unknown berth crashes')) throw new Error('nothing there');
    if (!row) throw new Stop(404, 'No such berth');
    return row;
  };
  const shown = (row: Row): Row => {
    if (has('a member is missing')) return Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'state'));
    if (has('a number as text')) return { ...row, length: String(row.length) };
    if (has('another member')) return { ...row, _internal: 1 };
    return has('a state that is not listed') ? { ...row, state: 'open' } : row;
  };
  const unprocessable = (flaws: readonly string[]) => {
    if (flaws.length > 0) throw new Stop(has('another status for what is invalid') ? 418 : 422, 'Not right', flaws);
  };

  const routes: readonly (readonly [method: string, path: RegExp, isOpen: boolean, run: (call: Call) => Told])[] = [
    [
      'GET',
      /^\/status$/,
      true,
      () => ({
        status: 200,
        body: { up: true, load: has('load beyond its maximum') ? 12 : 0.5 },
        headers: {
          ...(!has('a header is missing') && { 'x-build': has('a header of another pattern') ? 'latest' : '1.2' }),
          ...(has('an optional header of another type') && { 'x-node': 'three' }),
        },
      }),
    ],
    [
      'GET',
      /^\/berths$/,
      has('lists are open to all'),
      ({ query }) => {
        const limit = query.get('limit');
        const kind = query.get('kind');
        const code = query.get('code');
        const flaws = [];
        if (limit !== null && (!/^-?\d+$/.test(limit) || Number(limit) < 1 || (!has('any limit') && Number(limit) > 50)))
          flaws.push('limit');
        if (kind !== null && !['quay', 'buoy', 'pontoon'].includes(kind)) flaws.push('kind');
        if (code !== null && !has('any code in the query') && !/^[A-Z]{2}-[0-9]{3}$/.test(code)) flaws.push('code');
        if (flaws.length > 0) throw new Stop(400, 'The query is not right', flaws);
        const items = [...berths.values()].filter((row) => kind === null || row.kind === kind).slice(0, Number(limit ?? 20));
        return { status: 200, body: { items: items.map(shown) }, headers: { 'x-total': String(berths.size) } };
      },
    ],
    [
      'POST',
      /^\/berths$/,
      false,
      ({ body }) => {
        unprocessable(berthFlaws(body(), true));
        const row: Row = {
          ...body(),
          id: randomUUID(),
          created_at: has('a time of its own form') ? 'yesterday' : new Date().toISOString(),
          state: 'free',
        };
        if (!has('what is made is not kept')) berths.set(String(row.id), row);
        return { status: has('200 for 201') ? 200 : 201, body: shown(row), headers: { location: `/berths/${row.id}` } };
      },
    ],
    [
      'GET',
      /^\/berths\/([^/]+)$/,
      false,
      ({ id }) => ({ status: 200, body: shown(berthOf(id)), ...(has('text for JSON') && { type: 'text/plain' }) }),
    ],
    [
      'PATCH',
      /^\/berths\/([^/]+)$/,
      has('changes are open to all'),
      ({ id, body }) => {
        const row = berthOf(id);
        if (Object.keys(body()).length === 0) throw new Stop(422, 'Nothing to change');
        unprocessable(berthFlaws(body(), false));
        Object.assign(row, body());
        return { status: 200, body: shown(row) };
      },
    ],
    [
      'DELETE',
      /^\/berths\/([^/]+)$/,
      false,
      ({ id }) => {
        if (has('deleting what is not there crashes')) berths.get(id)!.state = 'shut';
        else berthOf(id);
        if (!has('nothing is deleted')) berths.delete(id);
        return { status: 204 };
      },
    ],
    [
      'POST',
      /^\/berths\/([^/]+)\/measure$/,
      false,
      ({ id, body, headers }) => {
        const row = berthOf(id);
        const unit = headers['x-unit'];
        const isUnit = unit === 'metre' || unit === 'foot' || (has('any unit') && unit !== undefined);
        if (!has('a header that is needed is not asked for') && !isUnit) throw new Stop(400, 'X-Unit is metre or foot');
        const { by, at } = body();
        if (has('measuring crashes') && typeof by !== 'string') throw new TypeError('by.trim is no function');
        if (typeof by !== 'string' || by === '' || (at !== undefined && typeof at !== 'string'))
          throw new Stop(422, 'by is missing');
        return {
          status: 200,
          body: {
            length: Number(row.length),
            unit: has('an action answers another unit') ? 'yard' : unit === 'foot' ? 'foot' : 'metre',
          },
        };
      },
    ],
    [
      'POST',
      /^\/bookings$/,
      false,
      ({ body }) => {
        const { berth, boat, nights } = body();
        const flaws = [];
        if (typeof boat !== 'string' || boat === '' || boat.length > 80 || [...boat].length > 40) flaws.push('boat');
        if (typeof nights !== 'number' || !Number.isInteger(nights) || nights < 1 || nights > 30) flaws.push('nights');
        if (typeof berth !== 'string') flaws.push('berth');
        if (flaws.length > 0) throw new Stop(422, 'Not right', flaws);
        if (!berths.has(String(berth))) throw new Stop(409, 'No such berth is free');
        last += 1;
        const row: Row = {
          id: last,
          berth: berth as string,
          boat: boat as string,
          nights: nights as number,
          price: 12.5 * Number(nights),
        };
        bookings.set(last, row);
        return { status: 201, body: row };
      },
    ],
    [
      'GET',
      /^\/bookings\/([^/]+)$/,
      false,
      ({ id }) => {
        const row = bookings.get(Number(id));
        if (!row)
          throw has('a refusal of another shape')
            ? Object.assign(new Stop(404, 'x'), {
                told: { status: 404, body: { message: 'no' }, type: 'application/problem+json' },
              })
            : new Stop(404, 'No such booking');
        return { status: 200, body: row };
      },
    ],
    [
      'DELETE',
      /^\/bookings\/([^/]+)$/,
      false,
      ({ id }) => {
        if (!bookings.delete(Number(id))) throw new Stop(404, 'No such booking');
        return { status: 204 };
      },
    ],
    [
      'GET',
      /^\/tides$/,
      true,
      ({ query }) => {
        const port = query.get('port');
        const days = query.get('days') ?? '1';
        if (port === null ? !has('a query that is needed is not asked for') : [...port].length !== 3)
          throw new Stop(400, 'port has three letters');
        if (has('tides crash') && !/^\d+$/.test(days)) throw new RangeError('invalid days');
        if (!/^\d+$/.test(days) || Number(days) < 1 || Number(days) > 7) throw new Stop(400, 'days from 1 to 7');
        return { status: 200, body: [{ at: new Date().toISOString(), cm: has('tides of half a centimetre') ? 1.5 : 140 }] };
      },
    ],
    [
      'POST',
      /^\/messages$/,
      false,
      ({ body }) => {
        const { type, text, flags, ...rest } = body();
        const isText =
          type === 'text' && typeof text === 'string' && text !== '' && [...text].length <= 50 && flags === undefined;
        const isSignal =
          type === 'signal' &&
          Array.isArray(flags) &&
          flags.length > 0 &&
          flags.every((flag) => typeof flag === 'string' && (has('any flag') || /^[A-Z]$/.test(flag))) &&
          text === undefined;
        if (!(isText || isSignal) || (!has('more beside a message') && Object.keys(rest).length > 0))
          throw new Stop(422, 'No such message');
        return { status: 202, body: { ticket: has('short tickets') ? 'a' : randomUUID() } };
      },
    ],
    [
      'POST',
      /^\/convert$/,
      true,
      ({ body }) => {
        const { value, to, ...rest } = body();
        if (typeof value !== 'number' || (to !== 'metre' && to !== 'foot') || Object.keys(rest).length > 0)
          throw new Stop(422, 'Not right');
        return { status: 200, body: { value: has('a text for a number') ? String(value) : value } };
      },
    ],
  ];

  interface Call {
    readonly id: string;
    readonly query: URLSearchParams;
    readonly headers: IncomingMessage['headers'];
    body(): Row;
  }

  const answer = (request: IncomingMessage, text: string): Told => {
    const url = new URL(request.url ?? '/', 'http://harbour');
    const found = routes.filter(([, path]) => path.test(url.pathname));
    if (found.length === 0) throw new Stop(404, 'No such page');
    const route = found.find(([method]) => method === request.method);
    if (!route) throw new Stop(405, 'Not so');
    const [, path, isOpen, run] = route;
    // What cannot be read is said to be so before anybody asks who is there, and what is not there too.
    const body = (): Row => {
      let read: Value;
      try {
        read = JSON.parse(text) as Value;
      } catch {
        throw new Stop(400, 'No JSON');
      }
      if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new Stop(422, 'No object');
      return read;
    };
    const id = decodeURIComponent(path.exec(url.pathname)?.[1] ?? '');
    if (id !== '' && path.source.startsWith('^\\/berths') && request.method === 'GET') berthOf(id);
    const credential = request.headers.authorization;
    const isKnown = has('any pass') ? credential !== undefined : credential === `Bearer ${pass}`;
    if (!isOpen && !isKnown) throw new Stop(401, 'Show your pass');
    return run({ id, query: url.searchParams, headers: request.headers, body });
  };

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    let told: Told;
    try {
      told = answer(request, Buffer.concat(chunks).toString('utf8'));
    } catch (error) {
      told = error instanceof Stop ? error.told : { status: 500, body: 'Internal Server Error', type: 'text/plain' };
    }
    write(response, told);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // The cast holds: a server that listens on a port has an address with one.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function write(response: ServerResponse, { status, body, type = 'application/json', headers }: Told): void {
  const text = body === undefined ? '' : typeof body === 'string' && type === 'text/plain' ? body : JSON.stringify(body);
  response.writeHead(status, { ...(body !== undefined && { 'content-type': type }), ...headers });
  response.end(text);
}
