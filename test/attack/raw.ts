/** Requests that are nearly right, drawn from a seed: bytes changed, cut, doubled and put in the wrong place. */
export function* rawRequests(seed: number, key: string): Generator<Buffer> {
  const draw = chanceOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T;
  /** One that a parser takes, so that what stands behind it has to: a known caller, a body of its length, one thing that is strange. */
  const mild = (): Buffer => {
    const body = pick(bodies);
    const strange = draw() < 0.5 ? '' : `${pick(names.slice(3, 21))}: ${pick(values).replace(/[\0\r\n]/g, '')}\r\n`;
    const known = draw() < 0.8 ? `X-Key: ${key}\r\n` : '';
    const length = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const target = pick(targets.slice(0, -2)).replace(/ /g, '');
    return Buffer.from(
      `${pick(methods.slice(0, 7))} ${target} HTTP/1.1\r\nHost: a\r\n${known}${strange}${length}\r\n${body}`,
      'latin1',
    );
  };
  for (;;) {
    if (draw() < 0.7) {
      const bytes = mild();
      if (draw() < 0.3 && bytes.length > 0) bytes[Math.floor(draw() * bytes.length)] = Math.floor(draw() * 256);
      yield bytes;
      continue;
    }
    const lines = [
      `${pick(methods)}${pick(blanks)}${pick(targets)}${pick(blanks)}${pick(versions)}`,
      ...Array.from(
        { length: Math.floor(draw() * 6) },
        () => `${pick(names)}${pick([':', ': ', ' : ', '', ':\t'])}${pick(values)}`,
      ),
    ];
    const text = `${lines.join(pick(ends))}${pick(['\r\n\r\n', '\n\n', '\r\n', '', '\r\n\r\n\r\n'])}${pick(bodies)}`;
    const bytes = Buffer.from(text, 'latin1');
    for (let changes = Math.floor(draw() * 4); changes > 0 && bytes.length > 0; changes--)
      bytes[Math.floor(draw() * bytes.length)] = Math.floor(draw() * 256);
    yield draw() < 0.1 ? bytes.subarray(0, Math.floor(draw() * bytes.length)) : bytes;
  }
}

const methods = [
  'GET',
  'POST',
  'PATCH',
  'DELETE',
  'PUT',
  'OPTIONS',
  'HEAD',
  'TRACE',
  'CONNECT',
  'get',
  'G\0T',
  '',
  'PRI',
  'QUERY',
];
const blanks = [' ', ' ', ' ', '  ', '\t', ''];
const targets = [
  '/things',
  '/things/x',
  '/things?limit=1',
  '/things?name=%',
  '/things?cursor=x.y',
  '/status',
  '/stream',
  '/hooks',
  '*',
  '/%',
  '/%00',
  '/%ff',
  '//',
  '/things/../things',
  'http://a/status',
  'http://',
  '/things;a=b',
  `/${'a'.repeat(300)}`,
  '/things?sort=name&sort=-name',
  '/\u00e9',
  '',
];
const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 ', 'HTTP/0.9', 'http/1.1', ''];
const ends = ['\r\n', '\r\n', '\r\n', '\n', '\r', '\r\n '];
const names = [
  'Host',
  'Host',
  'Host',
  'Content-Length',
  'Transfer-Encoding',
  'Content-Type',
  'X-Key',
  'Authorization',
  'Cookie',
  'Accept',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'Expect',
  'Connection',
  'Range',
  'Upgrade',
  'Origin',
  'Sec-Fetch-Site',
  'X-Forwarded-For',
  'Content-Encoding',
  '',
  ' ',
  'A\u0000b',
];
const values = [
  'a',
  'localhost',
  '0',
  '5',
  '-1',
  '99999999999999999999',
  'chunked',
  'identity, chunked',
  'gzip',
  'application/json',
  'multipart/form-data; boundary=',
  'text/plain',
  'Bearer x.y.z',
  'Basic Og==',
  '*/*;q=x',
  '"a", W/"b"',
  '*',
  '100-continue',
  'close',
  'keep-alive, upgrade',
  'h2c',
  'null',
  'session=x; session=y',
  '',
  '\u0000',
  '\u00ff'.repeat(50),
  'a'.repeat(2000),
];
const bodies = [
  '',
  '',
  '{}',
  '{"name":1}',
  '{"name":"x"}',
  '0\r\n\r\n',
  '5\r\nabcde\r\n0\r\n\r\n',
  'ffffffffff\r\n',
  '[[[[',
  '\u0000'.repeat(20),
  'GET /status HTTP/1.1\r\nHost: a\r\n\r\n',
];

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
