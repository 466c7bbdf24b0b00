import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { caller, type ToldService, tellService } from './serving/callers.ts';
import type { Answered } from './serving/tried.ts';

/** Section 5 of the language, permissions: users, scopes, conditions; what is refused as missing, and what as forbidden. */
const desk = `
purpose: { purpose: Keeps notes., users: { writer: Writes., reader: Reads., robot: Fetches., guest: Looks. } }
resources:
  folder:
    identifier: { field: id, generate: client }
    fields: { id: string, owner: string, name: { type: string, minLength: 1 } }
    required: [id, owner]
  note:
    identifier: { field: id, generate: client }
    fields:
      id: { type: string, immutable: true }
      owner: string
      text: { type: string, maxLength: 20 }
      shared: { type: boolean, default: false }
      rank: { type: integer, maximum: 9, visible: [writer] }
      diary: { type: string, minLength: 3, visible: none, writable: [writer] }
      pin: { type: string, minLength: 4, writeOnly: true }
      made_by: { type: string, readOnly: true, set: { create: caller.id } }
      folder: { ref: folder, onDelete: clear, show: { type: object, properties: { id: string, name: string }, required: [id] } }
      status: { type: string, readOnly: true }
    required: [id, owner, shared, status]
    unique: [[pin]]
  slot:
    identifier: { field: id, generate: client }
    fields: { id: string, owner: string, folder: { ref: folder, onDelete: clear } }
    required: [id, owner]
states:
  note:
    field: status
    initial: [{ if: "!has(next.text) || next.text != 'stuck'", state: open }]
    states: [open, closed]
    transitions: { close: open -> closed, reopen: { from: closed, to: open } }
endpoints:
  PUT /folders/{id}: { does: upsert folder }
  GET /folders/{id}: { does: read folder }
  POST /notes: { does: create note }
  GET /notes:
    does: list note
    parameters:
      rank: { in: query }
      pin: { in: query }
      text: { in: query }
      sort: { in: query, enum: [id, -id, rank, -rank], sorts: true }
    expand: { parameter: expand, depth: 2 }
    order: -rank
  GET /shelf: { does: list note, as: shelf, order: id, pagination: { style: after, after: after, size: limit, default: 2, max: 9, items: data, has_more: more } }
  GET /notes/{id}: { does: read note, expand: { parameter: expand, depth: 2 } }
  GET /mine: { does: read note, as: read mine, identity: "caller.id + '-note'" }
  PATCH /notes/{id}: { does: update note, if_match: accepted, etag: strong }
  PUT /notes/{id}: { does: replace note }
  DELETE /notes/{id}: { does: delete note }
  POST /notes/{id}/close: { does: close note, request: { type: object, properties: { why: { type: string, minLength: 2 } }, required: [why] } }
  POST /notes/{id}/reopen: { does: reopen note }
  POST /folders/{folder}/notes: { does: create note, as: file note }
  GET /folders/{folder}/notes: { does: list note, as: notes of a folder }
  GET /folders/{folder}/notes/{id}: { does: read note, as: read filed note }
  PUT /slots/{id}: { does: upsert slot }
  POST /slots: { does: create slot }
  PUT /slots/{id}/all: { does: replace slot }
  GET /slots/{id}: { does: read slot }
  GET /hello: { does: reply, as: hello, response: { 200: { shape: { type: string }, example: hello } } }
  GET /secret: { does: reply, as: secret, parameters: { word: { in: query, type: string, required: true } }, response: { 200: { shape: { type: string }, example: "42" } } }
  POST /echo: { does: reply, as: echo, request: { type: object, properties: { word: { type: string, minLength: 2 } }, required: [word] }, response: { 200: { shape: { type: string }, example: word } } }
authentication:
  schemes: { token: { type: jwt, prefix: Bearer, algorithms: [HS256], secret_env: NOT_LOOKED_AT } }
  public: [hello]
  permissions:
`;

/** With the rules of one test. */
function deskWith(...rules: readonly string[]): string {
  return `${desk}${rules.map((rule) => `    - ${rule}\n`).join('')}errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    malformed: { status: 400, when: [request.malformed, request.parameter] }
    nobody: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    no_such_folder: { status: 400, when: reference.missing }
    taken: { status: 409, when: resource.exists }
    stale: { status: 412, when: precondition.failed }
    wrong_state: { status: 423, when: transition.illegal }
    bad_page: { status: 416, when: limit.page }
    not_yours: { status: 451 }
    others: any
limits: { pagination: { style: cursor, cursor: cursor, size: limit, default: 2, max: 9, items: data, next: next } }
`;
}

const [ann, rob] = [caller('writer', 'ann'), caller('robot', 'rob')];
const [eve, cleo] = [caller('reader', 'eve'), caller('guest', 'cleo')];
const folders = [
  { id: 'f-ann', owner: 'ann', name: 'Letters' },
  { id: 'f-bob', owner: 'bob', name: 'Bills' },
];
const notes = [
  { id: 'ann-note', owner: 'ann', shared: false, rank: 3, diary: 'dear', pin: '1111', folder: 'f-ann', status: 'open' },
  { id: 'ann-shared', owner: 'ann', shared: true, rank: 1, folder: 'f-bob', status: 'open' },
  { id: 'bob-note', owner: 'bob', shared: false, rank: 2, folder: 'f-bob', status: 'closed' },
  { id: 'bob-shared', owner: 'bob', shared: true, rank: 5, status: 'open' },
];
const own = '"resource.owner == caller.id"';
const readOwn = `{ allow: [read note], to: [writer, guest], if: ${own} }`;
const services: ToldService[] = [];

after(async () => {
  for (const service of services) await service.close();
});

async function serving(...rules: readonly string[]): Promise<ToldService> {
  const slots = [
    { id: 's-ann', owner: 'ann' },
    { id: 's-bob', owner: 'bob' },
  ];
  const service = await tellService(deskWith(...rules), { rows: { folder: folders, note: notes, slot: slots } });
  services.push(service);
  return service;
}

/** The status with the code of a refusal. */
function outcome({ status, json }: Answered): string {
  const code = (json as { code?: string } | undefined)?.code;
  return code === undefined ? String(status) : `${status} ${code}`;
}

type Row = readonly [
  who: typeof ann | undefined,
  request: string,
  expected: string,
  body?: unknown,
  headers?: Record<string, string>,
];

async function demand(service: ToldService, rows: readonly Row[]): Promise<void> {
  for (const [who, request, expected, body, headers] of rows) {
    const [method = '', target = ''] = request.split(' ');
    const answer = await service.as(who, method, target, body, headers);
    assert.equal(
      outcome(answer),
      expected,
      `${who?.id ?? 'nobody'}: ${request} ${JSON.stringify(body ?? '')} got ${answer.text}`,
    );
  }
  assert.deepEqual(service.failures, []);
}

test('what no rule allows is refused, whoever asks', async () => {
  await demand(
    await serving(
      '{ allow: [read note], to: reader }',
      '{ allow: [list note], to: anyone }',
      '{ allow: [all slot], to: [reader, robot] }',
    ),
    [
      [eve, 'GET /notes/ann-note', '200'],
      [ann, 'GET /notes/ann-note', '403 forbidden'],
      [ann, 'GET /notes/nowhere', '403 forbidden'],
      [undefined, 'GET /notes/ann-note', '401 nobody'],
      [caller('nobody stated', 'x'), 'GET /notes/ann-note', '403 forbidden'],
      [undefined, 'GET /notes', '200'],
      [ann, 'GET /notes', '200'],
      [rob, 'GET /slots/s-ann', '200'],
      [eve, 'PUT /slots/s-new', '201', { owner: 'eve' }],
      [ann, 'GET /slots/s-ann', '403 forbidden'],
      [undefined, 'GET /hello', '200'],
      [eve, 'DELETE /notes/ann-note', '403 forbidden'],
    ],
  );
});

test('all scopes of a rule have to be the caller’s, and a token that lacks one is told which', async () => {
  const service = await serving(
    '{ allow: [read note], to: [writer, reader], scopes: [notes, deep] }',
    '{ allow: [list note], to: writer, scopes: [lists], else: not_yours }',
  );
  const [some, all] = [caller('writer', 'ann', ['notes']), caller('writer', 'ann', ['deep', 'other', 'notes'])];
  await demand(service, [
    [some, 'GET /notes/ann-note', '403 forbidden'],
    [all, 'GET /notes/ann-note', '200'],
    [some, 'GET /notes', '451 not_yours'],
  ]);
  const challenge = (answer: Answered) => answer.headers['www-authenticate'];
  assert.equal(
    challenge(await service.as(some, 'GET', '/notes/ann-note')),
    'Bearer error="insufficient_scope", scope="notes deep"',
  );
  assert.equal(
    challenge(await service.as({ ...some, key: 'k1' }, 'GET', '/notes/ann-note')),
    undefined,
    'a key has no scopes to ask for',
  );
  assert.equal(challenge(await service.as(rob, 'GET', '/notes/ann-note')), undefined, 'no scope would help');
});

test('a row that a caller may not read is missing, and one that it may read but not act on is forbidden', async () => {
  const service = await serving(
    readOwn,
    '{ allow: [read note], to: writer, if: resource.shared }',
    `{ allow: [update note, delete note, close note], to: [writer, guest], if: ${own} }`,
    '{ allow: [delete note], to: robot }',
  );
  const body = { why: 'done' };
  await demand(service, [
    [ann, 'GET /notes/bob-note', '404 missing'],
    [ann, 'GET /notes/bob-shared', '200'],
    [cleo, 'GET /notes/bob-shared', '404 missing'],
    [ann, 'PATCH /notes/bob-note', '404 missing', { text: 'mine' }],
    [ann, 'PATCH /notes/bob-shared', '403 forbidden', { text: 'mine' }],
    [ann, 'PATCH /notes/ann-note', '200', { text: 'mine' }],
    [ann, 'POST /notes/bob-note/close', '404 missing', body],
    [ann, 'POST /notes/bob-shared/close', '403 forbidden', body],
    [ann, 'POST /notes/bob-shared/close', '403 forbidden', { why: '' }],
    [ann, 'POST /notes/ann-note/close', '200', body],
    [ann, 'DELETE /notes/bob-note', '404 missing'],
    [ann, 'DELETE /notes/bob-shared', '403 forbidden'],
    [ann, 'DELETE /notes/ann-note', '204'],
    // Who may do something without looking may do it.
    [rob, 'DELETE /notes/bob-note', '204'],
    [rob, 'GET /notes/bob-shared', '403 forbidden'],
  ]);
});

test('what is hidden is answered as what is missing, to the letter', async () => {
  const rules = [
    `{ allow: [read note, update note, close note], to: writer, if: ${own} }`,
    `{ allow: [delete note], to: writer, if: ${own}, else: missing }`,
    `{ allow: [reopen note], to: writer, if: ${own}, else: not_yours }`,
  ];
  const service = await serving(...rules);
  const told = ({ status, text, headers }: Answered) => [status, text.replace(/req_[\w-]+/, ''), Object.keys(headers)];
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', { rank: 'x' }],
    ['POST', '/close', {}],
    ['DELETE', ''],
  ] as const) {
    const hidden = await service.as(ann, method, `/notes/bob-note${path}`, body);
    const missing = await service.as(ann, method, `/notes/nowhere0${path}`, body);
    assert.deepEqual(told(hidden), told(missing), method);
  }
  await demand(service, [
    [ann, 'POST /notes/bob-note/reopen', '451 not_yours'],
    [ann, 'POST /notes/nowhere/reopen', '404 missing'],
  ]);
});

test('a rule over what would be stored is asked of the row as it would be, with what is set', async () => {
  const service = await serving(
    readOwn,
    '{ allow: [create note], to: writer, if: "has(next.made_by) && next.made_by == caller.id && next.owner == caller.id && next.status == \'open\'" }',
    '{ allow: [update note, replace note], to: writer, if: "resource.owner == caller.id && next.owner == caller.id" }',
    "{ allow: [close note], to: writer, if: \"next.status == 'closed' && request.why != 'no'\" }",
    '{ allow: [reopen note], to: writer, if: "next.shared" }',
  );
  const note = (id: string, owner: string, more = {}) => ({ id, owner, ...more });
  await demand(service, [
    [ann, 'POST /notes', '201', note('n1', 'ann')],
    [ann, 'POST /notes', '403 forbidden', note('n2', 'bob')],
    // Step 12 in its own order: the body, its references, the rules; then step 13.
    [ann, 'POST /notes', '422 invalid', note('n2', 'bob', { text: 'x'.repeat(21) })],
    [ann, 'POST /notes', '400 no_such_folder', note('n2', 'bob', { folder: 'nowhere' })],
    [ann, 'POST /notes', '403 forbidden', note('n2', 'bob', { text: 'stuck' })],
    [ann, 'PATCH /notes/n1', '200', { text: 'hello' }],
    [ann, 'PATCH /notes/n1', '403 forbidden', { owner: 'bob' }],
    [ann, 'PUT /notes/n1', '403 forbidden', note('n1', 'bob')],
    [ann, 'PUT /notes/n1', '200', note('n1', 'ann')],
    [ann, 'POST /notes/n1/close', '403 forbidden', { why: 'no' }],
    [ann, 'POST /notes/n1/close', '200', { why: 'done' }],
    [ann, 'POST /notes/n1/reopen', '403 forbidden'],
    [ann, 'GET /notes/n1', '200'],
  ]);
});

test('as long as no rule has let a request pass, nothing tells a hidden row from a missing one', async () => {
  const service = await serving(
    readOwn,
    '{ allow: [update note, close note], to: writer, if: "resource.owner == caller.id && (!has(request.text) || request.text != \'\')" }'.replace(
      'update note, close note',
      'update note',
    ),
    '{ allow: [close note], to: writer, if: "request.why == resource.owner" }',
  );
  await demand(service, [
    [ann, 'PATCH /notes/bob-note', '404 missing', { text: 'x'.repeat(21) }],
    [ann, 'PATCH /notes/bob-note', '404 missing', { id: 'other' }],
    [ann, 'PATCH /notes/bob-note', '404 missing', { text: 'fine' }, { 'if-match': '"stale"' }],
    [ann, 'PATCH /notes/bob-note', '404 missing', { text: 'fine' }],
    [ann, 'PATCH /notes/ann-note', '412 stale', { text: 'fine' }, { 'if-match': '"stale"' }],
    [ann, 'PATCH /notes/ann-note', '422 invalid', { text: 'x'.repeat(21) }],
    [ann, 'PATCH /notes/ann-note', '403 forbidden', { text: '' }],
    [ann, 'PATCH /notes/ann-note', '200', { text: 'fine' }],
    [ann, 'POST /notes/bob-shared/close', '404 missing', { why: '' }],
    [ann, 'POST /notes/bob-note/close', '404 missing', { why: 'ann' }],
    [ann, 'POST /notes/bob-note/close', '423 wrong_state', { why: 'bob' }],
    // What it may not read is not shown to it, whatever it may do.
    [ann, 'POST /notes/bob-shared/close', '204', { why: 'bob' }],
  ]);
});

test('acting is not reading: a change shows its row as far as its caller may read it', async () => {
  const service = await serving(
    readOwn,
    '{ allow: [update note, close note, create note], to: writer }',
    '{ allow: [replace slot], to: writer }',
  );
  for (const [method, path, body] of [
    ['PATCH', '/notes/bob-note', {}],
    ['PATCH', '/notes/bob-shared', { text: 'fine' }],
    ['POST', '/notes/bob-shared/close', { why: 'so' }],
  ] as const) {
    const { status, json, headers } = await service.as(ann, method, path, body);
    assert.deepEqual([status, json, headers.etag, headers['content-type']], [204, undefined, undefined, undefined], path);
  }
  // A row that it made, and one that it may read as it is now.
  await demand(service, [
    [ann, 'POST /notes', '201', { id: 'n9', owner: 'bob' }],
    [ann, 'PATCH /notes/ann-note', '200', { text: 'fine' }],
    [ann, 'PATCH /notes/ann-note', '204', { owner: 'bob' }],
  ]);
});

test('a condition that cannot be evaluated refuses', async () => {
  const service = await serving(
    readOwn,
    '{ allow: [list note], to: writer, if: "resource.owner == caller.claims.boss" }',
    '{ allow: [secret], to: writer, if: "int(params.word) > 3" }',
  );
  await demand(service, [
    [ann, 'GET /secret?word=4', '200'],
    [ann, 'GET /secret?word=3', '403 forbidden'],
    [ann, 'GET /secret?word=many', '403 forbidden'],
    [ann, 'GET /notes', '200'],
  ]);
  assert.deepEqual((await service.as(ann, 'GET', '/notes')).json, { data: [], next: null });
});

test('an upsert goes by rules that allow the making or the replacing of a row, and by its own', async () => {
  const service = await serving(
    '{ allow: [create slot], to: writer, if: "next.owner == caller.id" }',
    '{ allow: [replace slot], to: guest }',
    '{ allow: [upsert slot], to: robot }',
    '{ allow: [read slot], to: [writer, guest] }',
  );
  await demand(service, [
    [ann, 'PUT /slots/s1', '201', { owner: 'ann' }],
    [ann, 'PUT /slots/s2', '403 forbidden', { owner: 'bob' }],
    [ann, 'PUT /slots/s1', '403 forbidden', { owner: 'ann' }],
    [cleo, 'PUT /slots/s1', '200', { owner: 'cleo' }],
    [cleo, 'PUT /slots/s3', '403 forbidden', { owner: 'cleo' }],
    [rob, 'PUT /slots/s3', '201', { owner: 'rob' }],
    [rob, 'PUT /slots/s3', '204', { owner: 'bob' }],
    [rob, 'POST /slots', '403 forbidden', { id: 's4', owner: 'rob' }],
    [eve, 'PUT /slots/s1', '403 forbidden', { owner: 'eve' }],
  ]);
});

test('a parent in a path and a reference in a body have to be readable', async () => {
  const folder = `{ allow: [read folder], to: writer, if: ${own} }`;
  const service = await serving(
    folder,
    '{ allow: [read note, create note, update note, file note, notes of a folder, read filed note], to: writer }',
  );
  const note = (id: string, folder?: string) => ({ id, owner: 'ann', ...(folder && { folder }) });
  await demand(service, [
    [ann, 'GET /folders/f-ann/notes', '200'],
    [ann, 'GET /folders/f-bob/notes', '404 missing'],
    [ann, 'GET /folders/nowhere/notes', '404 missing'],
    [ann, 'GET /folders/f-ann/notes/ann-note', '200'],
    [ann, 'GET /folders/f-bob/notes/bob-note', '404 missing'],
    [ann, 'POST /folders/f-bob/notes', '404 missing', { ...note('n1'), text: 'x'.repeat(21) }],
    [ann, 'POST /folders/f-ann/notes', '201', note('n1')],
    [ann, 'POST /notes', '400 no_such_folder', note('n2', 'f-bob')],
    [ann, 'POST /notes', '201', note('n2', 'f-ann')],
    [ann, 'PATCH /notes/n2', '400 no_such_folder', { folder: 'f-bob' }],
    // What stands there already is no news.
    [ann, 'PATCH /notes/bob-note', '200', { folder: 'f-bob', text: 'hello' }],
  ]);
});

test('what is shown within an answer has to be readable too; else it stays its identifier', async () => {
  const service = await serving(
    `{ allow: [read folder], to: writer, if: ${own} }`,
    '{ allow: [read note, list note], to: writer }',
  );
  const folderOf = async (target: string) => ((await service.as(ann, 'GET', target)).json as { folder: unknown }).folder;
  assert.deepEqual(await folderOf('/notes/ann-note'), { id: 'f-ann', name: 'Letters' });
  assert.equal(await folderOf('/notes/bob-note'), 'f-bob');
  assert.deepEqual(await folderOf('/notes/ann-note?expand=folder'), folders[0]);
  assert.equal(await folderOf('/notes/bob-note?expand=folder'), 'f-bob');
  const { data } = (await service.as(ann, 'GET', '/notes?sort=id&limit=9&expand=folder')).json as {
    data: { folder?: unknown }[];
  };
  assert.deepEqual(
    data.map(({ folder }) => folder),
    [folders[0], 'f-bob', 'f-bob', undefined],
  );
});

test('a read operation that says itself whose row it reads allows no other', async () => {
  const service = await serving(
    '{ allow: [read mine, update note], to: writer }',
    '{ allow: [delete note], to: writer, if: "resource.owner == \'nobody\'" }',
  );
  await demand(service, [
    [ann, 'GET /mine', '200'],
    [caller('writer', 'zed'), 'GET /mine', '404 missing'],
    [ann, 'DELETE /notes/ann-note', '403 forbidden'],
    [ann, 'DELETE /notes/bob-note', '404 missing'],
  ]);
});

test('nobody filters or sorts by a field that it does not see', async () => {
  const service = await serving('{ allow: [list note], to: anyone }', '{ allow: [read note], to: anyone }');
  await demand(service, [
    [ann, 'GET /notes?rank=3', '200'],
    [ann, 'GET /notes?sort=-rank', '200'],
    [eve, 'GET /notes?rank=3', '400 malformed'],
    [eve, 'GET /notes?sort=-rank', '400 malformed'],
    [eve, 'GET /notes?sort=-id', '200'],
    [undefined, 'GET /notes?rank=3', '400 malformed'],
    [ann, 'GET /notes?pin=1111', '400 malformed'],
    [eve, 'GET /notes?text=hello', '200'],
  ]);
});

test('a cursor tells nothing of a hidden field that a list is ordered by', async () => {
  const service = await serving('{ allow: [list note], to: anyone }');
  const next = async (who: typeof ann, more = '') =>
    ((await service.as(who, 'GET', `/notes?limit=1${more}`)).json as { next: string }).next;
  const holds = (cursor: string) => Buffer.from(cursor.slice(0, cursor.indexOf('.')), 'base64url').toString('latin1');
  const sealed = await next(eve);
  for (const cursor of [await next(ann), sealed]) assert.throws(() => JSON.parse(holds(cursor)), cursor);
  const page = (await service.as(eve, 'GET', `/notes?limit=1&cursor=${encodeURIComponent(sealed)}`)).json as {
    data: { id: string }[];
  };
  assert.deepEqual(
    page.data.map(({ id }) => id),
    ['ann-note'],
  );
  await demand(service, [
    [
      eve,
      `GET /notes?limit=1&cursor=${encodeURIComponent(sealed.replace(/.(?=\.)/, (last) => (last === 'A' ? 'B' : 'A')))}`,
      '416 bad_page',
    ],
    [eve, 'GET /notes?limit=1&cursor=~.', '416 bad_page'],
  ]);
});

test('a page that begins after a row begins after one that its caller is shown', async () => {
  const service = await serving(`{ allow: [shelf], to: writer, if: ${own} }`);
  await demand(service, [
    [ann, 'GET /shelf?after=ann-note', '200'],
    [ann, 'GET /shelf?after=bob-note', '416 bad_page'],
    [ann, 'GET /shelf?after=nowhere', '416 bad_page'],
  ]);
});

test('what a refusal found is not told of a field that its caller does not see', async () => {
  const service = await serving('{ allow: [all note], to: [writer, guest] }', '{ allow: [read folder], to: anyone }');
  const found = async (who: typeof ann, body: unknown) => {
    const { json } = await service.as(who, 'POST', '/notes', body);
    return (json as { violations: { path: string; found: string }[] }).violations.map(
      ({ path, found: what }) => `${path} ${what}`,
    );
  };
  const note = { id: 'n', owner: 'ann' };
  assert.deepEqual(await found(ann, { ...note, rank: 10 }), ['/rank 10']);
  assert.deepEqual(await found(cleo, { ...note, rank: 10 }), ['/rank a value that is not shown']);
  assert.deepEqual(await found(ann, { ...note, diary: 'ab' }), ['/diary a value that is not shown']);
  assert.deepEqual(await found(ann, { ...note, pin: '12' }), ['/pin a value that is not shown']);
  assert.deepEqual(
    await found(ann, { ...note, pin: '1111' }),
    ['/pin a value that is not shown'],
    'a unique value that is taken',
  );
});

test('where rules are open and schemes are stated, or the other way round, all but what is public is in doubt', async () => {
  const tiny = (authentication: string) => `
purpose: { purpose: Keeps., users: { writer: Writes. } }
resources: { note: { identifier: { field: id, generate: client }, fields: { id: string }, required: [id] } }
endpoints: { "GET /notes": { does: list note }, "GET /hello": { does: reply, as: hello, response: { 200: { shape: { type: string }, example: hello } } } }
authentication: ${authentication}
`;
  const key = 'schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:32}" } }';
  const rule = 'permissions: [{ allow: [list note], to: writer }]';
  const cases: readonly (readonly [string, number, number, string | undefined])[] = [
    [`{ ${key}, public: [hello] }`, 501, 200, 'permission rules'],
    [`{ ${rule}, public: [hello] }`, 501, 200, 'schemes'],
    [`{ permissions: none, public: [hello] }`, 501, 200, 'schemes'],
    [`{ ${key}, permissions: none, public: [hello] }`, 200, 200, undefined],
    [`{ ${key}, ${rule} }`, 200, 403, undefined],
    ['none', 200, 200, undefined],
    ['{ public: [hello] }', 200, 200, undefined],
  ];
  for (const [authentication, notesStatus, helloStatus, kind] of cases) {
    const service = await tellService(tiny(authentication));
    services.push(service);
    const answer = await service.as(caller('writer', 'ann'), 'GET', '/notes');
    assert.equal(answer.status, notesStatus, `${authentication} ${answer.text}`);
    assert.equal((await service.as(caller('writer', 'ann'), 'GET', '/hello')).status, helloStatus, authentication);
    const open = (answer.json as { open?: { kind: string }[] }).open;
    assert.deepEqual(
      open?.map((fact) => fact.kind),
      kind === undefined ? undefined : [kind],
    );
    if (notesStatus !== 501) continue;
    const accepting = await tellService(tiny(authentication), { open: 'accept' });
    services.push(accepting);
    const accepted = await accepting.as(caller('writer', 'ann'), 'GET', '/notes');
    assert.equal(accepted.status, 200, 'what is in doubt is let through where that is asked for');
    assert.match(accepted.headers['ninefold-open'] ?? '', new RegExp(kind ?? ''));
  }
});

test('prose of open facts is told to callers that are known', async () => {
  const service = await tellService(`
purpose: { purpose: Keeps., users: { writer: Writes. } }
endpoints: { "GET /notes": { as: list notes, does: !open "Which notes?" } }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:32}" } }
  permissions: [{ allow: [list notes], to: anyone }]
`);
  services.push(service);
  const questions = async (who: typeof ann | undefined) =>
    ((await service.as(who, 'GET', '/notes')).json as { open: { question?: string }[] }).open.flatMap(
      ({ question }) => question ?? [],
    );
  assert.deepEqual(await questions(ann), ['Which notes?']);
  assert.deepEqual(await questions(undefined), []);
});
