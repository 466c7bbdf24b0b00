import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Json } from '../../src/document/document.ts';
import { movableClock } from '../../src/serve/http/clock.ts';
import { playStory, readStories } from '../story.ts';
import { doors, openDoor, type Service } from './doors.ts';
import { differences } from './match.ts';
import { requestOf } from './request.ts';

const fits: readonly (readonly [Json, Json | undefined])[] = [
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2, d: 3 }] } }],
  [{ a: '$any' }, { a: null }],
  [{ a: '$absent' }, { b: 1 }],
  [{ $exact: { a: 1 } }, { a: 1 }],
  [{ $matches: '^pcl_' }, 'pcl_1'],
  [{ $matches: '^20' }, 204],
  [{ $length: 2 }, [1, 2]],
  [{ $contains: { a: 1 } }, [{ a: 2 }, { a: 1, b: 1 }]],
  [{ $contains: [1, 2] }, [2, 1, 3]],
  [{ $starts: [{ a: 1 }] }, [{ a: 1 }, { a: 2 }]],
  [{ $each: { a: '$any' } }, [{ a: 1 }, { a: 2 }]],
  [{ $not: 1 }, 2],
  [{ $not: { $matches: 'x' } }, undefined],
  [null, null],
];
const differs: readonly (readonly [Json, Json | undefined])[] = [
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, {}],
  [{ a: null }, {}],
  [{ a: '$any' }, {}],
  [{ a: '$absent' }, { a: null }],
  [{ $exact: { a: 1 } }, { a: 1, b: 2 }],
  [[1], [1, 2]],
  [{ $length: 2 }, [1]],
  [{ $contains: 3 }, [1, 2]],
  [{ $each: { a: 1 } }, [{ a: 1 }, { a: 2 }]],
  [{ $not: 1 }, 1],
  [{ toString: '$any' }, {}],
];

test('an expectation fits what has all that it names', () => {
  for (const [expected, actual] of fits) assert.deepEqual(differences(expected, actual, 'body'), [], JSON.stringify(expected));
});

test('an expectation says where an answer differs', () => {
  for (const [expected, actual] of differs) {
    assert.equal(differences(expected, actual, 'body').length, 1, JSON.stringify([expected, actual]));
  }
  assert.deepEqual(differences({ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, 'body'), ['body.a.0.b should be 1, and is 2']);
});

test('each kind of body is written as it is sent', () => {
  const sent = (step: Record<string, Json>) => {
    const { headers, body } = requestOf({ send: 'POST /', ...step });
    return [headers['content-type'], Buffer.from(body ?? []).toString('latin1')];
  };
  assert.deepEqual(sent({ body: { a: [1] } }), ['application/json', '{"a":[1]}']);
  assert.deepEqual(sent({ text: 'a', headers: { 'Content-Type': 'text/csv' } }), ['text/csv', 'a']);
  assert.deepEqual(sent({ text: 'a', headers: { 'Content-Type': 'none' } }), [undefined, 'a']);
  assert.deepEqual(sent({ form: { 'a[b]': 'c d', 'e[]': [1, 2] } })[1], 'a%5Bb%5D=c+d&e%5B%5D=1&e%5B%5D=2');
  assert.deepEqual(sent({ bytes: '00 ff' }), ['application/octet-stream', '\0ÿ']);
  const [type, text] = sent({ multipart: { a: 1, f: { filename: 'x.bin', type: 'a/b', bytes: 'ff' } } });
  assert.match(String(type), /^multipart\/form-data; boundary=/);
  assert.match(
    String(text),
    /name="a"\r\n\r\n1\r\n.*name="f"; filename="x\.bin"\r\nContent-Type: a\/b\r\n\r\nÿ\r\n--[^\r]+--\r\n$/s,
  );
});

const story = `
story: Things are counted, over a restart
document: examples/parcels.md
steps:
  - send: POST /things?q=a|b
    times: 2
    headers: { X-N: "{n}" }
    body: { n: "{n}", long: "{ab*3}" }
    expect: { status: 201, headers: { content-type: application/json, x-n: "{n}" }, body: { got: { $exact: { n: "{n}", long: ababab } }, query: "q=a|b" } }
    keep: { last: body.got.n, path: 'headers.location ~ ^(.+)#' }
  - send: GET {path}?x={last}
    expect: { status: 200, body: { url: /things/2?x=2 } }
  - together: [{ send: "GET /things/{n}", times: 2 }]
    expect: { statuses: [200, 200] }
  - advance: 1h
  - restart: { as: other }
  - send: GET /who
    expect: { body: { as: other, hours: 1 } }
  - administer: lend thing
    input: { to: "{last}" }
    keep: { lent: to }
  - send: GET /things/{lent}
    expect: { body: { url: /things/2 } }
  - fire: end thing {last}
  - fire: bad thing {last}
    refused: true
`;

for (const door of doors) {
  test(`a story is played ${door}`, async () => {
    const clock = movableClock(0);
    const [told] = readStories('a.story.yaml', story);
    const server = await openDoor(door, clock, async (as) => counting(as, clock));
    try {
      assert.ok(told);
      await playStory(told, server);
    } finally {
      await server.close();
    }
  });
}

test('a story that goes otherwise says where', async () => {
  const [told] = readStories('a.story.yaml', 'story: S\ndocument: d\nsteps: [{ send: GET /x, expect: { status: 404 } }]');
  const clock = { now: () => 0, advance: () => undefined };
  const server = await openDoor('in process', clock, async (as) => counting(as, clock));
  assert.ok(told);
  await assert.rejects(playStory(told, server), /a\.story\.yaml:1, step 1, GET \/x\n {2}status should be 404, and is 200/);
});

test('a word that nobody knows is not passed over', () => {
  const read = (text: string) => () => readStories('a.story.yaml', text);
  assert.throws(read('story: S\ndocument: d\nsteps: [{ send: GET /, expcet: {} }]'), /nobody knows expcet here/);
  assert.throws(read('story: S\ndocument: d\nsteps: [{ send: GET /, expect: { code: 1 } }]'), /nobody knows code here/);
  assert.throws(read('story: S\ndocument: d\nsteps: [{ send: GET /, advance: 1h }]'), /a step does one thing/);
});

/** A service that tells what it got, for trying the doors. */
function counting(as: Json | undefined, clock: { now(): number }): Service {
  const answer = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    if (pathname === '/who') return Response.json({ as, hours: clock.now() / 3_600_000 });
    if (request.method !== 'POST') return Response.json({ url: pathname + search });
    const got = (await request.json()) as { n: number };
    const headers = { location: `/things/${got.n}#`, 'x-n': String(request.headers.get('x-n')) };
    return Response.json({ got, query: search.slice(1) }, { status: 201, headers });
  };
  return {
    fetch: answer,
    async listen({ port, host }) {
      const server = createServer(async (incoming, outgoing) => {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk);
        const { method = 'GET', url, headers } = incoming;
        const body = method === 'GET' ? {} : { body: Buffer.concat(chunks) };
        const response = await answer(
          new Request(`http://x${url}`, { method, headers: headers as Record<string, string>, ...body }),
        );
        outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(Buffer.from(await response.arrayBuffer()));
      });
      await new Promise<void>((resolve) => server.listen(port, host, resolve));
      const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
      return { url: `http://${host}:${(server.address() as AddressInfo).port}`, close };
    },
    fire: async (_resource, _id, transition) => assert.notEqual(transition, 'bad'),
    administer: async (_command, input) => input,
    settled: async () => undefined,
    close: async () => undefined,
  };
}
