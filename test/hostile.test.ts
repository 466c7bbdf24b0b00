import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { type RawAnswer, rawRequest, sendRaw } from './serving/raw.ts';
import { tryService } from './serving/tried.ts';

/**
 * Bad input gets its stated error: never a failure of ours, never a hang, nothing stored. Most of it goes through a bare
 * socket, since clients tidy up; what a `Request` can carry goes through that door as well and comes to the same.
 */
const tried = await tryService(`
resources:
  thing:
    identifier: { field: id, generate: client }
    fields:
      id: string
      text: string
      whole: integer
      small: { type: integer, format: int32 }
      big: { type: integer, format: int64 }
      real: number
      flag: boolean
      at: { type: string, format: date-time }
      day: { type: string, format: date }
      money: { type: string, format: decimal }
      kind: { enum: [red, green] }
      list: { type: array, items: integer }
      inner: { type: object, properties: { a: { type: object, properties: { b: integer } } } }
      tree: node
      other: { ref: thing }
    required: [id]
    unique: [[text], [whole, real], [day, kind]]
  numbered: { identifier: { field: id, generate: client }, fields: { id: integer, thing: { ref: thing } }, required: [id] }
  node: { identifier: none, fields: { name: string, children: { type: array, items: node } } }
  bag: { identifier: { field: id, generate: client }, fields: { id: string, seen: { type: integer, readOnly: true, set: { write: "1" } } }, required: [id], additionalProperties: true }
authentication: none
states: none
endpoints:
  POST /things: { does: create thing, idempotency: { header: Idempotency-Key } }
  GET /things: &list
    does: list thing
    parameters:
      text: { in: query }
      whole: { in: query }
      big: { in: query, op: ">=" }
      real: { in: query, op: "<" }
      flag: { in: query }
      at: { in: query, op: "<=" }
      kind: { in: query, op: in }
      money: { in: query }
      begins: { in: query, filters: text, op: prefix }
      sort: { in: query, enum: [text, -text, whole], sorts: true }
  GET /rest:
    does: list thing
    as: rest
    parameters: { text: { in: query } }
  GET /sorted: { does: list thing, as: sorted, parameters: { sort: { in: query, type: string, sorts: true } } }
  GET /things/{id}: { does: read thing, etag: strong }
  PATCH /things/{id}: { does: update thing, if_match: accepted, etag: strong }
  PUT /things/{id}: { does: upsert thing }
  DELETE /things/{id}: { does: delete thing }
  POST /bags: { does: create bag }
  GET /bags/{id}: { does: read bag }
  GET /bags: { does: list bag, pagination: { style: offset, size: limit, offset: offset, max: 50 } }
  PATCH /bags/{id}: { does: update bag }
  PUT /bags/{id}: { does: replace bag }
  DELETE /bags/{id}: { does: delete bag }
  POST /numbers: { does: create numbered }
  GET /numbers: { does: list numbered }
  GET /numbers/{id}: { does: read numbered }
  PUT /numbers/{id}: { does: upsert numbered }
  DELETE /numbers/{id}: { does: delete numbered }
  POST /forms: { does: create thing, as: form, consumes: [application/x-www-form-urlencoded, multipart/form-data, text/plain] }
  GET /looks:
    does: reply
    as: look
    parameters:
      X-Count: { in: header, type: integer }
      pin: { in: cookie, type: integer }
      deep: { in: query, style: deepObject, type: object, properties: { a: integer }, additionalProperties: false }
      many: { in: query, style: pipeDelimited, explode: false, type: array, items: integer }
    response: { 200: { shape: { type: object }, example: {} } }
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: request.malformed }
    parameter: { status: 400, when: request.parameter }
    page: { status: 400, when: limit.page }
    media: { status: 415, when: request.media }
    accept: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    nobody: { status: 422, when: reference.missing }
    size: { status: 413, when: limit.size }
    route: { status: 404, when: route.unknown }
    missing: { status: 404, when: resource.missing }
    method: { status: 405, when: method.unsupported }
    changed: { status: 412, when: precondition.failed }
    taken: { status: 409, when: resource.exists }
    held: { status: 409, when: reference.held }
    reused: { status: 409, when: idempotency.reused }
    others: any
limits:
  size: { body: 256KiB, url: 8KiB, headers: 12KiB }
  pagination: { style: cursor, cursor: cursor, size: limit, default: 2, max: 50, over_max: refuse, items: data, next: next, previous: previous }
`);
const { service } = tried;
const listening = await service.listen({ port: 0 });
after(async () => {
  await listening.close();
  await tried.close();
});

const prototypes = [Object.prototype, Array.prototype, String.prototype, Function.prototype].map((one) => ({
  one,
  keys: Reflect.ownKeys(one),
}));

for (const text of ['b', 'a', 'd', 'c', 'e']) {
  const { status } = await tried.send('POST', '/things', {
    body: { id: `thing ${text}`, text, whole: 1, real: text.charCodeAt(0) },
  });
  assert.equal(status, 201);
}
const stored = await everything();

afterEach(async () => {
  assert.deepEqual(tried.failures.splice(0), [], 'something failed inside');
  assert.equal(await everything(), stored, 'something was stored');
  for (const { one, keys } of prototypes) assert.deepEqual(Reflect.ownKeys(one), keys, 'a prototype was changed');
});

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

/** Bodies that are no JSON, or not the JSON of RFC 7493. */
const malformed: Readonly<Record<string, string | Buffer>> = {
  'cut short': '{"id":"x"',
  'a bare brace': '{',
  'a comma too many': '{"id":"x",}',
  'single quotes': "{'id':'x'}",
  'bare keys': '{id:"x"}',
  'a comment': '{"id":"x"/* */}',
  'something after it': '{"id":"x"} x',
  'two values': '{"id":"x"}{"id":"y"}',
  'not a number': '{"id":"x","real":NaN}',
  infinity: '{"id":"x","real":-Infinity}',
  'a number past a double': '{"id":"x","real":1e999}',
  'an integer past a double': `{"id":"x","whole":${'9'.repeat(400)}}`,
  'a hexadecimal number': '{"id":"x","whole":0x1}',
  'a leading zero': '{"id":"x","whole":01}',
  'a plus sign': '{"id":"x","whole":+1}',
  undefined: '{"id":undefined}',
  nothing: '',
  blanks: ' \n\t ',
  'a byte order mark': '\ufeff{"id":"x"}',
  'a raw line end in a text': '{"id":"a\nb"}',
  'a NUL': '{"id":"x"}\0',
  'an unknown escape': '{"id":"\\x41"}',
  'half an escape': '{"id":"\\u12"}',
  'half a surrogate pair': '{"id":"\\ud800"}',
  'the other half': '{"id":"x","text":"\\udc00 a"}',
  'half a surrogate pair as a key': '{"id":"x","\\ud800":1}',
  'bad UTF-8': Buffer.from([0x7b, 0x22, 0x69, 0x64, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
  'overlong UTF-8': Buffer.from([0x22, 0xc0, 0x80, 0x22]),
  'a surrogate in UTF-8': Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  'UTF-16': Buffer.from('{"id":"x"}', 'utf16le'),
  'lists 10,000 deep': nested('[', ']', 10_000),
  'objects 10,000 deep': `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  'lists 10,000 deep and never closed': '['.repeat(10_000),
  'a deep field': `{"id":"x","inner":${nested('[', ']', 100)}}`,
  'a key twice': '{"id":"x","id":"y"}',
  'a key twice within': '{"id":"x","inner":{"a":{"b":1,"b":2}}}',
  'a key twice, once escaped': '{"id":"x","\\u0069d":"y"}',
  '__proto__ twice': '{"id":"x","__proto__":1,"__proto__":2}',
};

for (const [what, body] of Object.entries(malformed)) {
  test(`a body that is ${what} is malformed`, async () => {
    await refusedBy('POST', '/things', 'malformed', 400, { body });
  });
}

test('a body is malformed for every operation that takes one', async () => {
  for (const target of ['PATCH /things/thing%20a', 'PUT /things/x', 'POST /bags', 'PUT /bags/x', 'PATCH /bags/x']) {
    const [method = '', path = ''] = target.split(' ');
    for (const what of ['cut short', 'a key twice', 'bad UTF-8', 'lists 10,000 deep'])
      await refusedBy(method, path, 'malformed', 400, { body: malformed[what] });
  }
});

/** Values that do not fit, by field. */
const misfits: Readonly<Record<string, readonly unknown[]>> = {
  id: [1, true, [], {}, ['x']],
  text: [0, false, [], {}, ['a'], { toString: 'x' }],
  whole: ['1', 1.5, true, [1], {}, '', { valueOf: 1 }],
  small: [2147483648, -2147483649, 1e300, '7', 0.1],
  big: ['9', 1.5, [9], true],
  real: ['1.0', 'NaN', [], {}, false],
  flag: ['true', 0, 1, [], {}],
  at: ['yesterday', 0, '2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00', '', [], '2026-01-01T25:00:00Z'],
  day: ['2026-13-01', '2026-02-30', 20260101, '26-1-1', {}],
  money: [1.5, '1,5', 'NaN', '', '1e5', 'Infinity', ' 1'],
  kind: ['blue', 'RED', 0, ['red'], 'constructor', '__proto__'],
  list: [1, 'a', [1, 'a'], [[1]], { 0: 1, length: 1 }, [1.5], [null]],
  inner: [1, [], 'a', { a: 1 }, { a: { b: 'x' } }, { a: [] }],
  tree: [1, [], { name: 1 }, { child: {} }, { children: {} }, { children: [1] }, { children: [{ children: [{ nmae: 'x' }] }] }],
  other: [1, {}, ['thing a']],
};

for (const [field, values] of Object.entries(misfits)) {
  test(`values of the wrong type are invalid in ${field}`, async () => {
    for (const value of [...values, ...(field === 'id' ? [] : [null])]) {
      const body = JSON.stringify({ id: 'x', [field]: value });
      // In a patch a null takes an optional field away.
      await refusedBy('POST', '/things', 'invalid', 422, { body });
      await refusedBy('PUT', '/things/x', 'invalid', 422, { body });
      if (value !== null && field !== 'id')
        await refusedBy('PATCH', '/things/thing%20a', 'invalid', 422, { body: JSON.stringify({ [field]: value }) });
    }
  });
}

test('a body that is no object is invalid', async () => {
  for (const body of ['null', '1', '"x"', 'true', '[]', '[{"id":"x"}]', '-0', '1e5']) {
    await refusedBy('POST', '/things', 'invalid', 422, { body });
    await refusedBy('PUT', '/things/x', 'invalid', 422, { body });
    await refusedBy('PATCH', '/things/thing%20a', 'invalid', 422, { body });
    await refusedBy('POST', '/bags', 'invalid', 422, { body });
  }
});

const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__', ''];

test('names that every object inherits are unknown fields like any other', async () => {
  for (const name of inherited) {
    const value = `{"id":"x",${JSON.stringify(name)}:{"polluted":true}}`;
    const { violations } = await refusedBy('POST', '/things', 'invalid', 422, { body: value });
    assert.ok(
      violations.some(({ path }) => path === `/${name}`),
      `${name} is not named: ${JSON.stringify(violations)}`,
    );
    await refusedBy('PATCH', '/things/thing%20a', 'invalid', 422, { body: `{${JSON.stringify(name)}:1}` });
    await refusedBy('PUT', '/things/thing%20a', 'invalid', 422, { body: value });
    await refusedBy('POST', '/things', 'invalid', 422, { body: `{"id":"x","tree":{${JSON.stringify(name)}:1}}` });
  }
});

test('names that every object inherits are kept where further fields pass', async () => {
  for (const name of inherited) {
    const key = JSON.stringify(name);
    const made = await send('POST', '/bags', { body: `{"id":"b",${key}:{"polluted":${key}}}` });
    assert.equal(made.status, 201, made.body);
    assert.ok(made.body.includes(`${key}:{"polluted":${key}}`), made.body);
    assert.equal((await send('GET', '/bags/b')).body, made.body);
    const changed = await send('PATCH', '/bags/b', { body: `{${key}:{"more":{${key}:1}}}` });
    assert.equal(changed.status, 200, changed.body);
    assert.deepEqual(own(changed.body, name), JSON.parse(`{"polluted":${key},"more":{${key}:1}}`));
    const replaced = await send('PUT', '/bags/b', { body: `{"id":"b",${key}:[{${key}:null}]}` });
    assert.equal(JSON.stringify(own(replaced.body, name)), `[{${key}:null}]`);
    const cleared = await send('PATCH', '/bags/b', { body: `{${key}:null}` });
    assert.equal(own(cleared.body, name), undefined, cleared.body);
    await send('DELETE', '/bags/b');
  }
});

test('names that every object inherits are identifiers and texts like any other', async () => {
  for (const id of inherited.filter((name) => name !== '')) {
    await refusedBy('GET', `/things/${id}`, 'missing', 404);
    const body = JSON.stringify({ id, text: id, inner: { a: { b: 1 } } });
    assert.equal((await send('PUT', `/things/${id}`, { body })).status, 201);
    assert.equal((await send('GET', `/things/${id}`)).body, body);
    assert.equal(listed((await send('GET', `/things?text=${id}`)).body).length, 1);
    assert.equal((await send('DELETE', `/things/${id}`)).status, 204);
  }
});

test('a parameter that is not stated is refused, whatever its name', async () => {
  for (const name of [...inherited, 'id', 'a'.repeat(1000), '%00', '%F0%9F%98%80', 'text[]', 'text[a]', 'TEXT']) {
    if (name !== '') await refusedBy('GET', `/things?${name}=1`, 'parameter', 400);
  }
});

test('a parameter that does not fit is refused', async () => {
  const bad = [
    'whole=a', 'whole=', 'whole=1.5', 'whole=1e999', 'whole=NaN', 'whole=0x10', 'whole=1&whole=2', 'whole=__proto__',
    'real=NaN', 'real=Infinity', 'real=1e999', 'real=', 'flag=yes', 'flag=1', 'at=today', 'at=2026-01-01', 'kind=blue', 'kind=red,blue',
    'money=x', 'sort=real', 'sort=__proto__', 'sort=', 'text=%zz', 'text=%ff', 'text=%ED%A0%80', '%zz=1', '%ff=1', 'text=a&text=b', 'big=1.0e', 'big=9.5',
  ]; // biome-ignore format: a table
  for (const query of bad) await refusedBy('GET', `/things?${query}`, 'parameter', 400);
  for (const sort of ['zzz', '-', '', 'text,zzz', '__proto__', 'constructor', 'inner', 'text desc', 'rowid', 'seq', '-text,,'])
    await refusedBy('GET', `/sorted?sort=${encodeURIComponent(sort)}`, 'parameter', 400);
  for (const query of [
    'deep[a]=x',
    'deep[b]=1',
    'deep[__proto__]=1',
    'deep[constructor][a]=1',
    'deep[a][a]=1',
    'deep=1',
    'many=1|a',
    'many=|',
  ])
    await refusedBy('GET', `/looks?${query.replaceAll('|', '%7C')}`, 'parameter', 400);
  for (const count of ['a', '1.5', '1, 2', '\x80', '9'.repeat(400)])
    await refusedBy('GET', '/looks', 'parameter', 400, { headers: { 'X-Count': count } });
  for (const cookie of ['pin=a', 'pin=%zz', 'pin="', 'pin=1.5'])
    await refusedBy('GET', '/looks', 'parameter', 400, { headers: { Cookie: cookie } });
});

test('what is large but right is answered', async () => {
  const large = [
    'whole=123456789012345678901234567890',
    'whole=-9223372036854775809',
    'whole=9007199254740993',
    'real=1e308',
    'real=-1e308',
    'text=%00',
    'text=%F0%9F%98%80',
    "text='%3B--",
    'begins=%25',
    'begins=_',
    'kind=red&kind=green',
    'money=1.00000000000000000000000000001',
    'text=',
    'at=9999-12-31T23:59:59Z',
    'at=0000-01-01T00:00:00Z',
  ];
  for (const query of large) {
    const { status, body } = await send('GET', `/things?${query}`);
    assert.equal(status, 200, `${query}: ${body}`);
    const cursor = (JSON.parse(body) as { next: string | null }).next;
    if (cursor !== null) assert.equal((await send('GET', `/things?${query}&cursor=${encodeURIComponent(cursor)}`)).status, 200);
  }
});

test('an order may be as long as it likes', async () => {
  for (const sort of [
    'text',
    '-real,text',
    'whole,-text,+real',
    'text,'.repeat(1500).slice(0, -1),
    '-at,day,money,flag,kind,other,id',
  ])
    assert.equal((await send('GET', `/sorted?sort=${sort}`)).status, 200, sort);
});

test('integers past 2^53 are kept exactly or refused, never bent', async () => {
  const numbers = [
    '9007199254740993',
    '-9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
    '9223372036854775808',
    '123456789012345678901234567890',
    '1e30',
    '-0',
    '1.0',
    '1e2',
  ];
  for (const field of ['whole', 'big', 'real']) {
    for (const number of numbers) {
      const { status, body } = await send('PUT', '/things/x', { body: `{"${field}":${number}}` });
      assert.ok(status === 201 || status === 422, `${field} ${number}: ${status} ${body}`);
      if (status !== 201) continue;
      const shown = new RegExp(`"${field}":([^,}]+)`).exec(body)?.[1] ?? '';
      if (field !== 'real' && /^-?\d+$/.test(number) && number !== '-0') assert.equal(shown, number);
      assert.equal((await send('GET', '/things/x')).body, body);
      await send('DELETE', '/things/x');
    }
  }
});

/** Paths that lead nowhere, however they are read. */
const nowhere = [
  '//things', '/things/', '/things//', '/things//x', '/./things', '/../things', '/x/../things', '/things/.', '/things/..', '/things/%2e%2e',
  '/things/%2E', '/%2e%2e/things', '/things/%2e%2e/things', '/things/%00', '/things/a%00b', '/things%00', '/things/%', '/things/%zz', '/things/%c3%28',
  '/things/%ff', '/things/%ed%a0%80', '/things%2Fthing%20a', '/THINGS', '/things;a=1', '/things%3Flimit=1', '/', '', '*', '/..%2fthings', '/..;/things',
  '/%5cthings', '/things%20', '/%20things', '/things%0d%0a', `/${'a/'.repeat(3000)}`, '/constructor', '/__proto__', '/toString/x',
]; // biome-ignore format: a table

test('paths that lead nowhere are unknown routes', async () => {
  for (const path of nowhere) {
    if (path === '') continue;
    await refusedBy('GET', path, 'route', 404);
  }
});

test('an identifier may hold what a path may not', async () => {
  const ids = [
    'a/b',
    '../x',
    'a?b',
    'a#b',
    '%',
    '%2e',
    ' ',
    'é',
    '\u{1F600}',
    '\u202e',
    "'; drop table",
    '\\',
    'a;b',
    'a&b=c',
    '*',
    '"',
    'a\tb',
  ];
  for (const id of ids) {
    const made = await send('POST', '/things', { body: JSON.stringify({ id }) });
    assert.equal(made.status, 201, id);
    const target = made.headers.get('location') ?? '';
    assert.deepEqual(JSON.parse((await send('GET', target)).body), { id });
    assert.equal((await send('DELETE', target)).status, 204);
  }
});

test('what no path can name is no identifier', async () => {
  for (const id of ['', '.', '..', '\\u0000', 'a\\u0000b'])
    await refusedBy('POST', '/things', 'invalid', 422, { body: `{"id":"${id}"}` });
});

test('an identifier stays what it was', async () => {
  for (const body of ['{"id":"other"}', '{"id":null}', '{"id":1}'])
    await refusedBy('PATCH', '/things/thing%20a', 'invalid', 422, { body });
  await refusedBy('PUT', '/things/thing%20a', 'invalid', 422, { body: '{"id":"other"}' });
  await refusedBy('PUT', '/things/new', 'invalid', 422, { body: '{"id":"other"}' });
});

test('an integer is one identifier, however it is written', async () => {
  for (const id of ['01', '1e3', '%201', '-0', '1.0', '0x1', '+1', 'NaN', 'x'])
    await refusedBy('PUT', `/numbers/${id}`, 'invalid', 422, { body: '{}' });
  for (const id of ['0', '-5', '9007199254740993', '123456789012345678901']) {
    assert.equal((await send('PUT', `/numbers/${id}`, { body: '{}' })).body, `{"id":${id}}`);
    await refusedBy('POST', '/numbers', 'taken', 409, { body: `{"id":${id}}` });
    await refusedBy('GET', `/numbers/0${id}`, 'missing', 404);
    assert.equal((await send('DELETE', `/numbers/${id}`)).status, 204);
  }
});

test('the same path written otherwise is the same path', async () => {
  for (const target of [
    '/things/thing%20a',
    '/%74hings/thing%20a',
    '/things/%74hing%20a',
    'http://elsewhere.example/things/thing%20a',
  ])
    assert.equal((await send('GET', target)).status, 200, target);
});

test('an unknown method is refused by name, on a path that takes others', async () => {
  for (const method of ['PUT', 'DELETE', 'PATCH', 'PROPFIND', 'LINK']) await refusedBy(method, '/things', 'method', 405);
});

test('cursors that were not given for this very query are refused', async () => {
  const cursorOf = async (target: string) => (JSON.parse((await send('GET', target)).body) as { next: string }).next;
  const good = await cursorOf('/things');
  const flipped = (at: number) => good.slice(0, at) + (good[at] === 'A' ? 'B' : 'A') + good.slice(at + 1);
  const [payload = '', signature = ''] = good.split('.');
  const bad = [
    '', '.', 'x', '0', 'null', payload, `${payload}.`, `.${signature}`, `${signature}.${payload}`, `${good}.`, `${good}A`, good.slice(0, -1), good.slice(1),
    flipped(0), flipped(payload.length - 1), flipped(payload.length + 1), flipped(good.length - 3), good.toUpperCase(), `${good} `, 'a'.repeat(5000), '../../etc',
    '__proto__', 'eyJ9.AAAA', `${payload}.${Buffer.alloc(16).toString('base64url')}`, await cursorOf('/rest'), await cursorOf('/things?sort=text'), await cursorOf('/things?sort=-text'),
    await cursorOf('/things?whole=1'), await cursorOf('/rest?limit=1'),
  ]; // biome-ignore format: a table
  for (const cursor of bad) await refusedBy('GET', `/things?cursor=${encodeURIComponent(cursor)}`, 'page', 400);
  await refusedBy('GET', '/things?cursor=%00', 'page', 400);
  for (const query of ['sort=text', 'whole=1', 'text=a', 'real=200', 'flag=true', 'begins='])
    await refusedBy('GET', `/things?${query}&cursor=${good}`, 'page', 400);
  await refusedBy('GET', `/rest?cursor=${good}`, 'page', 400);
  // Another size is no other query.
  assert.equal((await send('GET', `/things?limit=1&cursor=${good}`)).status, 200);
});

test('absurd pages are refused', async () => {
  for (const size of [
    '0',
    '-1',
    '1.5',
    '1e1',
    '51',
    '99999999999999999999',
    'abc',
    '',
    '%00',
    '0x10',
    'NaN',
    '\u0661',
    '1,2',
    '__proto__',
  ])
    await refusedBy('GET', `/things?limit=${encodeURIComponent(size)}`, 'page', 400);
  for (const offset of ['-1', '1.5', 'abc', '', '1e3', '9'.repeat(30), 'NaN'])
    await refusedBy('GET', `/bags?offset=${offset}`, 'page', 400);
  for (const offset of ['999999999999999', '2147483648', '0'])
    assert.equal((await send('GET', `/bags?offset=${offset}`)).body, '[]');
  await refusedBy('GET', '/things?limit=1&limit=2', 'parameter', 400);
  await refusedBy('GET', '/things?cursor=a&cursor=b', 'parameter', 400);
});

test('an absurd If-Match matches nothing', async () => {
  const tags = [
    '',
    '"',
    'W/"',
    '""',
    '"0"',
    '*x',
    '"a" "b"',
    '"a",',
    ',',
    ',,,',
    'W/*',
    'abc',
    '"\x00"',
    '"\xff\xfe"',
    `"${'a'.repeat(5000)}"`,
    `${'"a",'.repeat(1000)}"b"`,
    '__proto__',
  ];
  const current = (await send('GET', '/things/thing%20a')).headers.get('etag') ?? '';
  for (const tag of [
    ...tags.filter((one) => !one.includes('\0')),
    `W/${current}`,
    current.toUpperCase().replaceAll('"', "'"),
    current.slice(0, -1),
  ])
    await refusedBy('PATCH', '/things/thing%20a', 'changed', 412, { body: '{"text":"changed"}', headers: { 'If-Match': tag } });
  await refusedBy('PATCH', '/things/thing%20a', 'changed', 412, {
    body: '{"text":"changed"}',
    headers: { 'If-None-Match': '*' },
  });
});

test('an absurd idempotency key is refused, or is a key', async () => {
  await refusedBy('POST', '/things', 'parameter', 400, { body: '{"id":"x"}', headers: { 'Idempotency-Key': 'k'.repeat(256) } });
  for (const key of ['\xff\xfe', '__proto__', "'; drop", 'a\tb', ',', 'k'.repeat(255)]) {
    const headers = { 'Idempotency-Key': key };
    const first = await send('POST', '/things', { body: '{"id":"x"}', headers });
    assert.equal(first.status, 201, first.body);
    const again = await send('POST', '/things', { body: '{"id":"x"}', headers });
    assert.deepEqual([again.status, again.body], [201, first.body]);
    await refusedBy('POST', '/things', 'reused', 409, { body: '{"id":"y"}', headers });
    await send('DELETE', '/things/x');
  }
});

test('header values with odd bytes are refused or passed over', async () => {
  const odd = [
    '\xff\xfe',
    ';',
    ';;;',
    ',',
    '=',
    '/',
    'a/b/c',
    '"',
    'application/json;q=x',
    'é',
    '__proto__',
    'a'.repeat(2000),
    '\t',
    'text/\xe9',
  ];
  for (const value of odd) {
    const { status } = await send('GET', '/things', {
      headers: { Accept: value, 'If-None-Match': value, Cookie: value, 'X-Odd': value },
    });
    assert.ok([200, 406].includes(status), `${value}: ${status}`);
  }
  const types = [
    '',
    ';',
    'application',
    'application/',
    '/json',
    'application/json/x',
    'application/jsonx',
    'text/json',
    'application/json; charset=utf-16',
    'application/json; charset=\xff',
    'APPLICATION/XML',
    '\xff\xfe',
    '*/*',
    'application/json, application/json',
  ];
  for (const type of types) await refusedBy('POST', '/things', 'media', 415, { body: '{"id":"x"}', type });
  for (const coding of ['gzip', 'br', 'x', 'identity, gzip', '\xff'])
    await refusedBy('POST', '/things', 'media', 415, { body: '{"id":"x"}', headers: { 'Content-Encoding': coding } });
});

test('forms are no softer than JSON', async () => {
  const form = (body: string | Buffer, type = 'application/x-www-form-urlencoded') => ({ body, type });
  for (const body of ['id=x&id=y', 'id=%zz', 'id=%ff', 'id[a=x', '%ff=1', `${'a[a]'.repeat(2000)}=1`]) {
    const { status } = await send('POST', '/forms', form(body));
    assert.ok(status === 400 || status === 422, `${body.slice(0, 50)}: ${status}`);
  }
  for (const body of [
    'id=x&whole=a',
    'id=x&__proto__[polluted]=1',
    'id=x&constructor[prototype][polluted]=1',
    'id=x&inner[__proto__][polluted]=1&inner[a]=1',
    'id=x&list[__proto__]=1',
    'id[]=x',
    'id=x&real=NaN',
    'id=x&toString=1',
    'id=x&list[1000000000]=1',
    'id=x&list[-1]=1',
    '',
  ]) {
    const { status } = await send('POST', '/forms', form(body));
    assert.ok(status === 400 || status === 422, `${body}: ${status}`);
  }
  const part = (head: string, content: string) => `--b\r\n${head}\r\n\r\n${content}\r\n--b--\r\n`;
  for (const [body, type] of [
    [part('Content-Disposition: form-data; name="id"', 'x'), 'multipart/form-data'],
    [part('Content-Disposition: form-data; name="id"', 'x').slice(0, -10), 'multipart/form-data; boundary=b'],
    [part('Content-Disposition: form-data', 'x'), 'multipart/form-data; boundary=b'],
    [part('Content-Disposition: form-data; name="__proto__"', 'x'), 'multipart/form-data; boundary=b'],
    [part('Content-Disposition: form-data; name="__proto__[polluted]"', 'x'), 'multipart/form-data; boundary=b'],
    [part('Content-Disposition: form-data; name="id"; filename="../../x"', 'x'), 'multipart/form-data; boundary=b'],
    ['no parts', 'multipart/form-data; boundary=b'],
    ['', 'multipart/form-data; boundary=b'],
    [part('Content-Disposition: form-data; name="id"', 'x'), `multipart/form-data; boundary=${'b'.repeat(3000)}`],
    ['a text', 'text/plain'],
  ] as const) {
    const { status, body: text } = await send('POST', '/forms', form(body, type));
    assert.ok(status === 400 || status === 422, `${type}: ${body}: ${status} ${text}`);
  }
});

test('what is larger than stated is refused before it is read', async () => {
  await refusedBy('POST', '/things', 'size', 413, { body: `{"id":"${'x'.repeat(256 * 1024)}"}` });
  await refusedBy('GET', `/things?text=${'a'.repeat(8 * 1024)}`, 'size', 413);
  await refusedBy('GET', '/things', 'size', 413, { headers: { 'X-Large': 'a'.repeat(12 * 1024) } });
});

test('what is no HTTP is refused, and what breaks off stores nothing', async () => {
  const head = 'POST /things HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n';
  const refusedOutright = [
    `${head}Content-Length: -1\r\n\r\n{"id":"x"}`,
    `${head}Content-Length: ten\r\n\r\n{"id":"x"}`,
    `${head}Content-Length: 10\r\nContent-Length: 11\r\n\r\n{"id":"x"}`,
    `${head}Content-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\na\r\n{"id":"x"}\r\n0\r\n\r\n`,
    `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{"id":"x"}\r\n0\r\n\r\n`,
    `${head}Transfer-Encoding: x\r\n\r\n{"id":"x"}`,
    'POST /things HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"id":"x"}',
    'GET /things HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n',
    'GET \\things HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'GET /things/\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'GET /a b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'GET /things HTTP/1.1\r\nHost: 127.0.0.1\r\nbad header\r\n\r\n',
    'GET /things HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    '\0\0\0\0\r\n\r\n',
  ];
  for (const bytes of refusedOutright) {
    const { status } = await sendRaw(listening.port, Buffer.from(bytes, 'latin1'));
    assert.ok(status >= 400 && status < 500, `${JSON.stringify(bytes)}: ${status}`);
  }
  const { status } = await sendRaw(listening.port, Buffer.from(`${head}Content-Length: 10\r\n\r\n{"id":"x"},"and more"}`));
  assert.equal(status, 201);
  await send('DELETE', '/things/x');
});

interface RawSent {
  readonly body?: string | Buffer | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: string;
}

function send(
  method: string,
  target: string,
  { body, headers = {}, type = 'application/json' }: RawSent = {},
): Promise<RawAnswer> {
  const lines = Object.entries({ ...(body !== undefined && { 'Content-Type': type }), ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return sendRaw(listening.port, rawRequest(method, target, lines, body === undefined ? undefined : Buffer.from(body)));
}

/** Sends it through both doors, where a `Request` can carry it. */
async function refusedBy(
  method: string,
  target: string,
  code: string,
  status: number,
  sent: RawSent = {},
): Promise<{ readonly violations: readonly { readonly path: string }[] }> {
  const what = `${method} ${target.slice(0, 200)} ${String(sent.body ?? '').slice(0, 200)} ${JSON.stringify(sent.headers ?? sent.type ?? '').slice(0, 100)}`;
  const answer = await send(method, target, sent);
  const found = JSON.parse(answer.body || '{}');
  assert.deepEqual([answer.status, found.code], [status, code], `${what}: ${answer.status} ${answer.body}`);
  const inProcess = requestOf(method, target, sent);
  if (inProcess) {
    const response = await service.fetch(inProcess);
    const text = await response.text();
    assert.deepEqual(
      [response.status, JSON.parse(text || '{}').code],
      [status, code],
      `${what}, in process: ${response.status} ${text}`,
    );
  }
  return { violations: found.violations ?? [] };
}

/** The same as a `Request`; nothing where that would tidy it up. */
function requestOf(
  method: string,
  target: string,
  { body, headers = {}, type = 'application/json' }: RawSent,
): Request | undefined {
  try {
    const url = `http://127.0.0.1${target}`;
    if (!target.startsWith('/') || target.startsWith('//') || new URL(url).href !== url) return undefined;
    const all = { ...(body !== undefined && { 'content-type': type }), ...headers };
    if (Object.values(all).some((value) => /[^\t\x20-\x7e]/.test(value) || value.trim() !== value || value === ''))
      return undefined;
    return new Request(url, { method, headers: all, ...(body !== undefined && { body }) });
  } catch {
    return undefined;
  }
}

async function everything(): Promise<string> {
  return [
    (await tried.send('GET', '/things?limit=50')).text,
    (await tried.send('GET', '/bags?limit=50')).text,
    (await tried.send('GET', '/numbers')).text,
  ].join('\n');
}

function listed(body: string): readonly unknown[] {
  return (JSON.parse(body) as { data: unknown[] }).data;
}

function own(body: string, name: string): unknown {
  const fields = JSON.parse(body);
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
