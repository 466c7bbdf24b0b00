import type { Answered, Sent, Tried } from './tried.ts';

/** A request while it is being made wrong, and where it goes. */
export interface Draft {
  method: string;
  path: string;
  readonly query: string[];
  readonly headers: Record<string, string>;
  /** Nothing = no body is sent. */
  body: Record<string, unknown> | undefined;
  isCut: boolean;
  isPadded: boolean;
}

/** What a request is about: rows of its own, so that no two requests of a test meet in one. */
export interface World {
  readonly tried: Tried;
  readonly name: string;
  readonly shelf: string;
  readonly box: string;
  readonly tag: string;
}

/** A request that is right, and what would make it wrong. */
export interface Scenario {
  readonly name: string;
  /** The wrongs that it is born with: an effect that is open, a handler that is not there. */
  readonly born?: string;
  /** Names of wrongs that can be done to it. */
  readonly wrongs: readonly string[];
  readonly draft: (world: World) => Draft;
}

/** One way to make a request wrong. */
export interface Wrong {
  readonly name: string;
  /** Its place in section 6 of the language; within a step, in the order in which the step lists it. */
  readonly step: number;
  readonly code: string | undefined;
  readonly status: number;
  /** Two wrongs that need the same one thing cannot meet. */
  readonly needs?: string;
  /** Prepares what is stored. */
  readonly prepare?: (world: World, scenario: Scenario) => Promise<void>;
  readonly change?: (draft: Draft, world: World) => void;
}

/** Everything that section 6 counts is here once, so that every pair can meet in some request. */
export const wrongDocument = `
resources:
  shelf: { identifier: { field: id, generate: client }, fields: { id: string }, required: [id] }
  person: { identifier: { field: id, generate: client }, fields: { id: string }, required: [id] }
  box:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      shelf: { ref: shelf }
      label: string
      code: string
      owner: { ref: person }
      weight: { type: integer, minimum: 1 }
      ready: { type: boolean, default: true }
      mood: string
      status: { type: string, readOnly: true }
    required: [id, shelf, label, weight, ready, status]
    unique: [[label], { fields: [code], while: "next.status == 'sealed'" }]
  note: { identifier: { field: id, generate: integer }, fields: { id: integer, box: { ref: box, onDelete: restrict } }, required: [id, box] }
  slot:
    identifier: { field: id, generate: client }
    fields: { id: string, shelf: { ref: shelf }, label: string, owner: { ref: person }, weight: { type: integer, minimum: 1 } }
    required: [id, shelf, label, weight]
    unique: [[label]]
  parcel:
    identifier: { field: id, generate: integer }
    fields: { id: integer, weight: { type: integer, minimum: 1, required: true }, wrapping: !open "Which kinds of paper are there?" }
    required: [id, weight]
authentication: none
states:
  box:
    field: status
    initial: [{ if: "!has(next.mood) || next.mood != 'sulky'", state: open }]
    states: [open, sealed, shipped]
    transitions:
      seal: { from: open, to: sealed, if: { if: resource.ready, else: not_ready }, else: not_open }
      ship: { from: "*", to: shipped }
endpoints:
  defaults:
    all:
      parameters: &parameters
        pad: { in: query, type: string }
        count: { in: query, type: integer }
        curse: { in: query, type: string }
        jinx: { in: query, type: string }
        wait: { in: query, type: string }
    POST: &change { idempotency: { header: Idempotency-Key } }
    PATCH: *change
    PUT: *change
    DELETE: *change
  PUT /shelves/{id}: { does: upsert shelf }
  PUT /people/{id}: { does: upsert person }
  POST /notes: { does: create note }
  GET /boxes: { does: list box, parameters: { label: { in: query } } }
  GET /boxes/{id}: { does: read box, etag: strong }
  PATCH /boxes/{id}: { does: update box, as: free update }
  POST /boxes/{id}/ship: { does: ship box }
  GET /notes: { does: list note, parameters: { box: { in: query } } }
  GET /slots: { does: list slot, parameters: { label: { in: query } } }
  POST /shelves/{shelf}/boxes: { does: create box }
  GET /shelves/{shelf}/boxes:
    does: list box
    as: boxes of a shelf
    parameters:
      pad: { in: query, type: string, filters: label, op: "!=" }
      count: { in: query, type: integer, filters: weight, op: "!=" }
      curse: { in: query, type: string, filters: label, op: "!=" }
      jinx: { in: query, type: string, filters: label, op: "!=" }
  GET /shelves/{shelf}/boxes/{id}: { does: read box, as: read box on shelf }
  PATCH /shelves/{shelf}/boxes/{id}: { does: update box, in: [open], if_match: required, etag: strong }
  PUT /shelves/{shelf}/boxes/{id}: { does: replace box, in: [open], if_match: required, etag: strong }
  DELETE /shelves/{shelf}/boxes/{id}: { does: delete box, in: [open], if_match: required, request: &weighed { type: object, properties: { weight: { type: integer, minimum: 1 }, owner: { ref: person } }, required: [weight] } }
  POST /shelves/{shelf}/boxes/{id}/seal: { does: seal box, if_match: required, etag: strong, request: *weighed }
  PUT /shelves/{shelf}/slots/{id}: { does: upsert slot, if_match: required, etag: strong }
  POST /parcels: { does: create parcel }
  GET /parcels: { does: list parcel, parameters: !open "By what can parcels be found?" }
  POST /weighings: { does: handler weigh, request: *weighed, response: { 200: *weighed } }
  POST /guesses: { does: handler guess, request: *weighed, response: { 200: *weighed } }
  POST /wishes: { request: *weighed }
  POST /echoes: { does: reply, as: echo, request: *weighed, response: { 200: { shape: *weighed, example: { weight: 1 } } } }
errors:
  payload: problem
  codes:
    too_large: { status: 413, when: limit.size }
    no_route: { status: 404, when: route.unknown }
    no_method: { status: 405, when: method.unsupported }
    not_acceptable: { status: 406, when: request.accept }
    no_media: { status: 415, when: request.media }
    malformed: { status: 400, when: request.malformed }
    bad_parameter: { status: 400, when: request.parameter }
    bad_page: { status: 400, when: limit.page }
    key_busy: { status: 425, when: idempotency.busy }
    key_reused: { status: 423, when: idempotency.reused }
    missing: { status: 410, when: resource.missing }
    changed: { status: 412, when: precondition.failed }
    unconditional: { status: 428, when: precondition.required }
    invalid: { status: 422, when: request.invalid }
    nobody: { status: 424, when: reference.missing }
    wrong_state: { status: 409, when: transition.illegal }
    not_open: { status: 418 }
    not_ready: { status: 421 }
    cursed: { status: 402, on: &all [create box, update box, replace box, delete box, seal box, upsert slot, boxes of a shelf, read box on shelf, handler weigh, echo, create parcel], if: "has(params.curse) && params.curse == 'yes'" }
    jinxed: { status: 451, on: *all, if: "has(params.jinx) && params.jinx == 'yes'" }
    taken: { status: 416, when: resource.exists }
    held: { status: 417, when: reference.held }
    others: any
limits:
  size: { body: 4KiB, url: 2KiB, headers: 4KiB }
  pagination: { style: offset, offset: offset, size: limit, default: 5, max: 10, items: data, total: total }
`;

const inBody = ['media type', 'body size', 'malformed body', 'invalid body'];
const always = ['URL size', 'header size', 'unknown route', 'unknown method', 'Accept', 'parameter'];
const own = ['own error', 'second own error'];
const keyed = ['busy key', 'reused key'];
const conditional = ['no precondition', 'failed precondition'];
const onRow = ['missing parent', 'missing row', ...conditional];

/** A right request of every kind, each with rows of its own. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'create',
    wrongs: [...always, ...inBody, ...keyed, 'missing parent', 'reference', 'no initial state', ...own, 'unique'],
    draft: (world) => draft('POST', `/shelves/${world.shelf}/boxes`, { label: `new ${world.name}`, weight: 1 }),
  },
  {
    name: 'update',
    wrongs: [...always, ...inBody, ...keyed, ...onRow, 'reference', 'state for a change', ...own, 'unique'],
    draft: (world) => draft('PATCH', boxPath(world), { weight: 2 }, world.tag),
  },
  {
    name: 'replace',
    wrongs: [...always, ...inBody, ...keyed, ...onRow, 'reference', 'state for a change', ...own, 'unique'],
    draft: (world) => draft('PUT', boxPath(world), { label: `new ${world.name}`, weight: 2 }, world.tag),
  },
  {
    name: 'delete',
    wrongs: [...always, ...inBody, ...keyed, ...onRow, 'reference', 'state for a change', ...own, 'held'],
    draft: (world) => draft('DELETE', boxPath(world), { weight: 1 }, world.tag),
  },
  {
    name: 'transition',
    wrongs: [
      ...always,
      ...inBody,
      ...keyed,
      ...onRow,
      'reference',
      'state to leave',
      'condition of a transition',
      ...own,
      'unique at last',
    ],
    draft: (world) => draft('POST', `${boxPath(world)}/seal`, { weight: 1 }, world.tag),
  },
  {
    name: 'upsert',
    wrongs: [
      ...always,
      ...inBody,
      ...keyed,
      'missing parent',
      'no precondition',
      'failed condition of nothing',
      'reference',
      ...own,
      'unique',
    ],
    draft: (world) => {
      const made = draft('PUT', `/shelves/${world.shelf}/slots/s${world.name}`, { label: `new ${world.name}`, weight: 1 });
      made.headers['if-none-match'] = '*';
      return made;
    },
  },
  {
    name: 'list',
    wrongs: [...always, 'page', 'missing parent', ...own],
    draft: (world) => draft('GET', `/shelves/${world.shelf}/boxes`),
  },
  { name: 'read', wrongs: [...always, 'missing parent', 'missing row', ...own], draft: (world) => draft('GET', boxPath(world)) },
  {
    name: 'handler',
    wrongs: [...always, ...inBody, ...keyed, 'reference', ...own],
    draft: () => draft('POST', '/weighings', { weight: 1 }),
  },
  { name: 'reply', wrongs: [...always, ...inBody, 'reference', ...own], draft: () => draft('POST', '/echoes', { weight: 1 }) },
  {
    name: 'create with an open field',
    wrongs: [...always, ...inBody, ...keyed, 'open field', ...own],
    draft: () => draft('POST', '/parcels', { weight: 1 }),
  },
  {
    name: 'list with open parameters',
    wrongs: ['URL size', 'header size', 'unknown route', 'unknown method', 'Accept', 'open parameter'],
    draft: () => draft('GET', '/parcels'),
  },
  {
    name: 'open effect',
    born: 'open effect',
    wrongs: [...always, ...inBody],
    draft: () => draft('POST', '/wishes', { weight: 1 }),
  },
  {
    name: 'handler that is not supplied',
    born: 'no handler',
    wrongs: [...always, ...inBody],
    draft: () => draft('POST', '/guesses', { weight: 1 }),
  },
];

/** Ways to make a request wrong. */
export const wrongs: readonly Wrong[] = [
  { name: 'URL size', step: 1.1, code: 'too_large', status: 413, change: ({ query }) => query.push(`pad=${'a'.repeat(2100)}`) },
  { name: 'header size', step: 1.2, code: 'too_large', status: 413, change: (it) => set(it, 'x-pad', 'a'.repeat(5000)) },
  {
    name: 'unknown route',
    step: 2.1,
    code: 'no_route',
    status: 404,
    change: (it) => {
      it.path = `/nowhere${it.path}`;
    },
  },
  {
    name: 'unknown method',
    step: 2.2,
    code: 'no_method',
    status: 405,
    change: (it) => {
      it.method = 'BREW';
    },
  },
  { name: 'open effect', step: 7.1, code: undefined, status: 501 },
  { name: 'no handler', step: 7.1, code: undefined, status: 501 },
  { name: 'open field', step: 8.55, code: undefined, status: 501, change: (it) => assign(it, { wrapping: 'paper' }) },
  { name: 'open parameter', step: 8.55, code: undefined, status: 501, change: ({ query }) => query.push('colour=red') },
  { name: 'Accept', step: 8.1, code: 'not_acceptable', status: 406, change: (it) => set(it, 'accept', 'image/png') },
  { name: 'media type', step: 8.2, code: 'no_media', status: 415, change: (it) => set(it, 'content-type', 'text/csv') },
  {
    name: 'body size',
    step: 8.3,
    code: 'too_large',
    status: 413,
    change: (it) => {
      it.isPadded = true;
    },
  },
  {
    name: 'malformed body',
    step: 8.4,
    code: 'malformed',
    status: 400,
    change: (it) => {
      it.isCut = true;
    },
  },
  { name: 'parameter', step: 8.5, code: 'bad_parameter', status: 400, change: ({ query }) => query.push('count=many') },
  { name: 'page', step: 8.6, code: 'bad_page', status: 400, change: ({ query }) => query.push('limit=0') },
  { name: 'busy key', step: 9.1, code: 'key_busy', status: 425, needs: 'key' },
  {
    name: 'reused key',
    step: 9.2,
    code: 'key_reused',
    status: 423,
    needs: 'key',
    async prepare(world, scenario) {
      const first = scenario.draft(await makeWorld(world.tried, `${world.name}first`));
      set(first, 'idempotency-key', world.name);
      first.query.push('pad=other');
      succeeded(await sendDraft(world.tried, first));
    },
    change: (it, world) => set(it, 'idempotency-key', world.name),
  },
  {
    name: 'missing parent',
    step: 10.1,
    code: 'missing',
    status: 410,
    needs: 'shelf',
    change: (it, world) => {
      it.path = it.path.replace(world.shelf, 'nowhere');
    },
  },
  {
    name: 'missing row',
    step: 10.2,
    code: 'missing',
    status: 410,
    needs: 'shelf',
    // The row is there, on another shelf.
    prepare: async ({ tried, name }) => succeeded(await tried.send('PUT', `/shelves/other${name}`, { body: {} })),
    change: (it, world) => {
      it.path = it.path.replace(`/${world.shelf}/`, `/other${world.name}/`);
    },
  },
  {
    name: 'no precondition',
    step: 11.1,
    code: 'unconditional',
    status: 428,
    needs: 'precondition',
    change: ({ headers }) => {
      delete headers['if-match'];
      delete headers['if-none-match'];
    },
  },
  {
    name: 'failed precondition',
    step: 11.2,
    code: 'changed',
    status: 412,
    needs: 'precondition',
    change: (it) => set(it, 'if-match', '"stale"'),
  },
  {
    name: 'failed condition of nothing',
    step: 11.2,
    code: 'changed',
    status: 412,
    needs: 'precondition',
    change: (it) => {
      delete it.headers['if-none-match'];
      set(it, 'if-match', '"stale"');
    },
  },
  { name: 'invalid body', step: 12.1, code: 'invalid', status: 422, change: (it) => assign(it, { weight: 0 }) },
  { name: 'reference', step: 12.2, code: 'nobody', status: 424, change: (it) => assign(it, { owner: 'nobody' }) },
  { name: 'no initial state', step: 13.1, code: 'wrong_state', status: 409, change: (it) => assign(it, { mood: 'sulky' }) },
  { name: 'state for a change', step: 13.1, code: 'wrong_state', status: 409, prepare: ship },
  { name: 'state to leave', step: 13.1, code: 'not_open', status: 418, prepare: ship },
  {
    name: 'condition of a transition',
    step: 13.2,
    code: 'not_ready',
    status: 421,
    prepare: ({ tried, box }) => patch(tried, box, { ready: false }),
  },
  { name: 'own error', step: 14.1, code: 'cursed', status: 402, change: ({ query }) => query.push('curse=yes') },
  { name: 'second own error', step: 14.2, code: 'jinxed', status: 451, change: ({ query }) => query.push('jinx=yes') },
  {
    name: 'unique',
    step: 15.1,
    code: 'taken',
    status: 416,
    async prepare({ tried, name }) {
      const rival = await makeWorld(tried, `${name}rival`);
      await patch(tried, rival.box, { label: `taken ${name}` });
      const slot = { label: `taken ${name}`, weight: 1 };
      const headers = { 'if-none-match': '*' };
      succeeded(await tried.send('PUT', `/shelves/${rival.shelf}/slots/rival${name}`, { headers, body: slot }));
    },
    change: (it, { name }) => assign(it, { label: `taken ${name}` }),
  },
  {
    name: 'unique at last',
    step: 15.1,
    code: 'taken',
    status: 416,
    async prepare({ tried, name, box }) {
      const rival = await makeWorld(tried, `${name}rival`);
      await patch(tried, rival.box, { code: name });
      const { tag } = await readBox(tried, rival.box);
      const sealing = draft('POST', `${boxPath(rival)}/seal`, { weight: 1 }, tag);
      succeeded(await sendDraft(tried, sealing));
      await patch(tried, box, { code: name });
    },
  },
  {
    name: 'held',
    step: 15.2,
    code: 'held',
    status: 417,
    prepare: async ({ tried, box }) => succeeded(await tried.send('POST', '/notes', { body: { box: Number(box) } })),
  },
];

/** The request that is on its way while a key is busy: the same operation on other rows, which the user's own code holds up. */
export async function draftWaiting(world: World, scenario: Scenario): Promise<Draft> {
  const waiting = scenario.draft(await makeWorld(world.tried, `${world.name}waiting`));
  set(waiting, 'idempotency-key', world.name);
  waiting.query.push('wait=yes');
  return waiting;
}

/** Rows for one request: a shelf, and on it a box that is open. */
export async function makeWorld(tried: Tried, name: string): Promise<World> {
  const shelf = `shelf${name}`;
  succeeded(await tried.send('PUT', `/shelves/${shelf}`, { body: {} }));
  const created = await tried.send('POST', `/shelves/${shelf}/boxes`, { body: { label: `box ${name}`, weight: 1 } });
  succeeded(created);
  const box = String((created.json as { id: number }).id);
  return { tried, name, shelf, box, tag: (await readBox(tried, box)).tag };
}

/** The same rows as they are by now. */
export async function refreshed(world: World): Promise<World> {
  return { ...world, tag: (await readBox(world.tried, world.box)).tag };
}

export async function readBox(tried: Tried, box: string): Promise<{ readonly text: string; readonly tag: string }> {
  const { text, headers } = await tried.send('GET', `/boxes/${box}`);
  return { text, tag: headers.etag ?? '' };
}

export function sendDraft(tried: Tried, { method, path, query, headers, body, isCut, isPadded }: Draft): Promise<Answered> {
  const json = body === undefined ? undefined : JSON.stringify(body);
  const cut = isCut ? json?.slice(0, -1) : json;
  const text = isPadded ? `${cut}${' '.repeat(5000)}` : cut;
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  const sent: Sent = { headers, ...(text !== undefined && { body: text }) };
  return tried.send(method, target, sent);
}

function draft(method: string, path: string, body?: Record<string, unknown>, tag?: string): Draft {
  const headers: Record<string, string> = tag === undefined ? {} : { 'if-match': tag };
  return { method, path, query: [], headers, body, isCut: false, isPadded: false };
}

function boxPath({ shelf, box }: World): string {
  return `/shelves/${shelf}/boxes/${box}`;
}

function set({ headers }: Draft, name: string, value: string): void {
  headers[name] = value;
}

function assign(it: Draft, fields: Record<string, unknown>): void {
  it.body = { ...it.body, ...fields };
}

async function ship({ tried, box }: World): Promise<void> {
  succeeded(await tried.send('POST', `/boxes/${box}/ship`));
}

async function patch(tried: Tried, box: string, body: Record<string, unknown>): Promise<void> {
  succeeded(await tried.send('PATCH', `/boxes/${box}`, { body }));
}

function succeeded({ status, text }: Answered): void {
  if (status >= 300) throw new Error(`What has to be there first was refused: ${status} ${text}`);
}
