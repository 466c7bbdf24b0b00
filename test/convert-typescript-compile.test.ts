import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { writtenTypeName } from '../src/convert/spec/words.ts';
import { toTypescript } from '../src/convert/typescript.ts';
import type { Json } from '../src/document/document.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { readDocument } from '../src/document/read/read.ts';
import { isKey } from '../src/parts/form.ts';
import { readSpec } from '../src/parts/spec.ts';
import { isLong, times } from './long.ts';
import { byHmac, byMessage, vault } from './request-signatures/vault.ts';

const root = join(import.meta.dirname, '..');
const documents = {
  parcels: 'parcels.md',
  unspecified: 'unspecified.md',
  library: 'library.md',
  clinic: 'clinic.yaml',
  wholesale: 'wholesale.md',
  depot: 'depot.md',
};

const oddNames = [
  ...[
    'parcel',
    'Parcel',
    'parcel_row',
    'parcel_create',
    'create parcel',
    'caller',
    'date',
    'handlers',
    'promise',
    'a-b',
    '3d',
    'größe',
  ],
  ...[
    '__proto__',
    'constructor',
    '*/',
    '/*',
    "it's",
    'say "x"',
    '\\',
    '\n',
    '\u2028',
    '\u202e',
    '@tag',
    '𝔘',
    '{}',
    '`$',
    'a.b',
    '200',
    '-',
    ' ',
  ],
];
const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('parcel', 'date', 'caller', 'parcel_row', 'Parcel', '*/') },
  { weight: 4, arbitrary: fc.constantFrom(...oddNames) },
  fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
);
const scalar = fc.oneof(name, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null));
const named = <T>(value: fc.Arbitrary<T>, maxKeys = 4, minKeys = 0) =>
  fc.dictionary(name, value, { minKeys, maxKeys, size: 'max', noNullPrototype: false });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const { shape: madeUpShape } = fc.letrec<{ shape: unknown; object: unknown }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'shape' },
    fc.constantFrom('string', 'integer?', 'number', 'boolean', 'null', 'object', 'array'),
    name,
    name.map((word) => `${word}?`),
    fc.record({ enum: fc.array(scalar, { maxLength: 4 }) }),
    fc.record({ const: fc.oneof(scalar, fc.jsonValue({ maxDepth: 2 })) }),
    fc.record({ ref: name, type: optional(fc.constantFrom('string', 'string?')) }),
    fc.record({
      type: fc.constantFrom('string', 'integer'),
      format: fc.constantFrom('binary', 'int64', 'date'),
      description: optional(name),
    }),
    fc.record({ type: fc.constant('array'), items: fc.oneof(tie('shape'), fc.boolean()) }),
    fc.record({
      type: fc.constant('array'),
      prefixItems: fc.array(tie('shape'), { maxLength: 3 }),
      items: optional(tie('shape')),
      minItems: fc.nat(4),
    }),
    tie('object'),
    fc.record({
      type: fc.constant('object'),
      additionalProperties: fc.oneof(tie('shape'), fc.boolean()),
      patternProperties: optional(named(tie('shape'), 2)),
    }),
    fc.record({ oneOf: fc.array(tie('shape'), { maxLength: 3 }), type: optional(fc.constant('object')) }),
    fc.record({ allOf: fc.array(tie('shape'), { maxLength: 3 }), anyOf: optional(fc.array(tie('shape'), { maxLength: 3 })) }),
    fc.record({ $defs: named(tie('shape'), 2), $ref: fc.constant('#/$defs/parcel') }),
    fc.constantFrom({ $open: 'Which?' }, { $any: true }, { not: {} }),
  ),
  object: fc.record({
    type: fc.constant('object'),
    properties: named(fc.oneof(tie('shape'), fc.record({ type: fc.constant('string'), default: name, description: name }))),
    required: optional(fc.array(name, { maxLength: 3 })),
    additionalProperties: optional(fc.oneof(tie('shape'), fc.boolean())),
    minProperties: optional(fc.nat(3)),
  }),
}));

const flags = Object.fromEntries(
  ['readOnly', 'writeOnly', 'immutable', 'extensible', 'required', 'stored'].map((word) => [word, optional(fc.boolean())]),
);
const madeUpField = fc.oneof(
  madeUpShape,
  fc.record({
    type: fc.constantFrom('string', 'integer', 'parcel', 'date?'),
    default: optional(scalar),
    show: optional(fc.constantFrom('expand', 'id')),
    ...flags,
  }),
  fc.record({ ref: name, show: optional(fc.oneof(fc.constant('expand'), madeUpShape)), ...flags }),
  fc.record({
    visible: optional(fc.constantFrom('none', ['a'])),
    reveal: optional(fc.constant('once')),
    generate: optional(fc.constant('{ulid}')),
    shape: madeUpShape,
    ...flags,
  }),
);
const madeUpResource = fc.record({
  identifier: fc.oneof(
    fc.constant('none'),
    fc.record({ field: name, generate: fc.constantFrom('uuid', 'integer', 'client') }),
    fc.constant({ $open: 'What?' }),
  ),
  fields: fc.oneof(
    { weight: 9, arbitrary: named(madeUpField, 6, 1) },
    { weight: 1, arbitrary: fc.constant({ $open: 'Which?' }) },
  ),
  required: optional(fc.array(name, { maxLength: 6 })),
  additionalProperties: optional(fc.boolean()),
});
const verb = fc.constantFrom('create', 'read', 'list', 'update', 'replace', 'upsert', 'delete', 'handler', 'buy');
const madeUpEndpoint = fc.record({
  does: optional(fc.tuple(verb, name).map((words) => words.join(' '))),
  as: optional(name),
  parameters: optional(
    named(
      fc.oneof(
        madeUpShape,
        fc.record({
          in: fc.constantFrom('query', 'header'),
          type: fc.constantFrom('string', 'array'),
          default: optional(scalar),
          required: optional(fc.boolean()),
        }),
      ),
    ),
  ),
  request: optional(madeUpShape),
  response: optional(
    fc.dictionary(
      fc.constantFrom('200', '201', '204', '2XX', '404'),
      fc.oneof(madeUpShape, fc.record({ shape: madeUpShape, data: fc.constant('result') })),
      { maxKeys: 3, noNullPrototype: false },
    ),
  ),
  expand: optional(fc.record({ parameter: name, depth: fc.nat(3) })),
  select: optional(fc.record({ parameter: name })),
});

/** A document of odd names and of shapes as they come, sound or not. */
const madeUpDocument = fc
  .record({
    title: name,
    purpose: fc.record({ users: fc.array(name, { maxLength: 3 }) }),
    resources: named(madeUpResource, 6, 3),
    states: named(
      fc.record({
        field: name,
        states: fc.array(name, { maxLength: 3 }),
        transitions: named(fc.record({ from: name, to: name }), 3),
      }),
      3,
    ),
    endpoints: fc.dictionary(
      fc
        .tuple(fc.constantFrom('GET', 'POST', 'PATCH'), fc.constantFrom('/a', '/a/{parcel}', '/{limit}/{id}'), name)
        .map(([method, path, end]) => `${method} ${path}/${end}`),
      madeUpEndpoint,
      { minKeys: 3, maxKeys: 8, size: 'max', noNullPrototype: false },
    ),
    events: fc.record({ kinds: named(fc.record({ payload: madeUpShape }), 3) }),
    errors: fc.record({ codes: named(fc.record({ status: fc.constant(400) }), 3) }),
    limits: fc.record({
      pagination: optional(
        fc.record({
          style: fc.constantFrom('cursor', 'page'),
          size: name,
          items: optional(name),
          next: optional(name),
          data: named(scalar, 2),
        }),
      ),
    }),
  })
  // Through JSON, as it would come: what is left out is not there.
  .map((tree): Json => JSON.parse(JSON.stringify(tree)));

/** What people write over the modules of the examples. A line after `@ts-expect-error` has to be refused. */
const usages: Readonly<Record<string, string>> = {
  'wholesale-chosen': `
import { createClient, type Order, type OrderUpdate, type ReadOrderChosen, type ReadOrderParams } from './wholesale.types.ts';
const client = createClient();
export async function whole(): Promise<number> {
  const read = await client.readOrder({ params: { id: 'ord_1' } });
  const listed = await client.listOrder();
  return read.ok && listed.ok ? read.data.total + read.data.lines.length + (listed.data.data[0]?.total ?? 0) : 0;
}
export async function chosen(params: ReadOrderParams): Promise<string | undefined> {
  const read = await client.readOrder({ params: { id: 'ord_1', fields: ['total', 'lines.sacks'] } });
  if (!read.ok) return read.code;
  const other = await client.readOrder({ params });
  const listed = await client.listOrder({ params: { fields: 'status' } });
  // @ts-expect-error who chooses may have chosen another field
  const total: number = read.data.total;
  // @ts-expect-error so may whoever is handed parameters
  const status: string = other.ok ? other.data.status : '';
  // @ts-expect-error and of a row within
  const sacks: number = read.data.lines?.[0]?.sacks;
  // @ts-expect-error a page is shown whole, its rows are not
  const first: string = listed.ok && listed.data.data[0]!.status;
  const id: string = read.data.id;
  return id + (read.data.lines?.[0]?.sacks ?? 0) + (listed.ok ? listed.data.next_cursor : '') + total + status + sacks + first;
}
export const rest: ReadOrderChosen = { id: 'ord_1', lines: [{ sacks: 1 }] };
// @ts-expect-error the identifier is always there
export const none: ReadOrderChosen = {};
declare const order: Order;
export const all: ReadOrderChosen = order;
export const change: OrderUpdate = { lines: [{ id: 'lin_1', sacks: 3 }, { product: 'prd_1', position: 2 }] };
`,
  'parcels-good': `
import type { BeforeHandlers, Caller, ErrorCode, Handlers, Parcel, ParcelCreate, ParcelRow, ParcelUpdate, QuoteContext } from './parcels.types.ts';
export const handlers: Handlers = {
  quote: async ({ params }) => ({ price: params.service === 'express' ? 900 : 400, service: params.service }),
};
export const plain: Handlers = { quote: ({ params, request, now }) => ({ price: params.weight_g + now.getTime(), service: String(request) }) };
export const apart = async ({ store, fail }: QuoteContext) => {
  const [first] = await store.list('parcel', { status: 'draft', service: 'express' }, { most: 1 });
  if (!first) return fail('not_found', 'None there.');
  return { price: first.price ?? 0, service: first.service };
};
export const again: Handlers = { quote: apart };
export const writing: Handlers = {
  quote: async ({ store, fail, emit, fire, now }) => {
    const other = await store.get('parcel', 'pcl_1');
    if (!other) return fail('not_found');
    const changed = await store.update('parcel', other.id, { reference: null, weight_g: 4, price: 4 });
    const made = await store.create('parcel', { to: other.to, weight_g: 4, merchant: 'm' });
    await store.create('scan', { parcel: made.id, place: 'Hub' });
    await store.delete('scan', 'scn_1');
    emit('parcel.delivered', { parcel: changed, at: now.toISOString() });
    fire('parcel', made.id, 'expire');
    return { price: made.weight_g, service: made.service ?? changed.service };
  },
};
export const before: BeforeHandlers = {
  'create parcel': async ({ next, request, caller, store, fail }) => {
    if (caller.user !== 'merchant' || request.weight_g > 10_000) return fail('too_heavy');
    next.price = 5;
    next.to.street = next.to.street.trim();
    if (next.reference === '') delete next.reference;
    const other = await store.get('parcel', 'pcl_1');
    if (!other) return fail('not_found');
  },
  'return parcel': ({ request, resource, next }) => {
    next.reason = request.reason + resource.status + resource.merchant;
  },
};
const sent: ParcelCreate = { to: { name: 'A', street: 'B', city: 'C', country: 'DE' }, weight_g: 1 };
const change: ParcelUpdate = { reference: null, to: { postcode: null } };
declare const row: ParcelRow;
export const shown: Parcel = row;
export const record: { readonly [field: string]: unknown } = row;
export const later: Parcel['service'] = 'overnight';
export const code: ErrorCode = 'too_late';
export const who: Pick<Caller, 'user'> = { user: 'courier' };
export { change, sent };
`,
  'parcels-bad': `
import type { BeforeHandlers, Caller, ErrorCode, Handlers, Parcel, ParcelCreate, ParcelUpdate } from './parcels.types.ts';
// @ts-expect-error a handler is missing
export const none: Handlers = {};
// @ts-expect-error there is no such handler
export const more: Handlers = { quote: () => ({ price: 1, service: 'a' }), quota: () => 1 };
// @ts-expect-error the price is a number
export const price: Handlers = { quote: async () => ({ price: '400', service: 'express' }) };
// @ts-expect-error something is missing from the answer
export const half: Handlers = { quote: async () => ({ price: 400 }) };
// @ts-expect-error there is no such parameter
export const param: Handlers = { quote: async ({ params }) => ({ price: params.weight, service: 'a' }) };
// @ts-expect-error there is no such service
export const service: Handlers = { quote: async ({ params }) => ({ price: params.service === 'slow' ? 1 : 2, service: 'a' }) };
// @ts-expect-error anyone may ask for a quote
export const caller: Handlers = { quote: async ({ caller }) => ({ price: 1, service: caller.id }) };
// @ts-expect-error there is no such operation
export const operation: BeforeHandlers = { 'make parcel': () => {} };
// @ts-expect-error reading changes nothing
export const reading: BeforeHandlers = { 'read parcel': () => {} };
export const writing: Handlers = {
  quote: async ({ store, emit, fire }) => {
    // @ts-expect-error the weight is needed
    await store.create('parcel', { to: { name: 'A', street: 'B', city: 'C', country: 'DE' } });
    // @ts-expect-error the store makes the identifier
    await store.create('scan', { id: 'scn_1', parcel: 'pcl_1', place: 'Hub' });
    // @ts-expect-error a required field is not removed
    await store.update('parcel', 'pcl_1', { weight_g: null });
    // @ts-expect-error the store does not write the state
    await store.update('parcel', 'pcl_1', { status: 'bought' });
    // @ts-expect-error there is no such service
    await store.update('parcel', 'pcl_1', { service: 'overnight' });
    // @ts-expect-error there is no such kind
    emit('parcel.lost', {});
    // @ts-expect-error another kind's payload
    emit('parcel.deleted', { parcel: 'pcl_1' });
    // @ts-expect-error there is no such transition
    fire('parcel', 'pcl_1', 'lose');
    // @ts-expect-error scans have no states
    fire('scan', 'scn_1', 'buy');
    const made = await store.create('scan', { parcel: 'pcl_1', place: 'Hub' });
    // @ts-expect-error it is set when it is stored
    const seen: string = made.seen_at;
    return { price: 1, service: seen };
  },
};
export const before: BeforeHandlers = {
  // @ts-expect-error it emits nothing itself
  'buy parcel': ({ emit }) => emit('parcel.deleted', { id: 'pcl_1' }),
  // @ts-expect-error it fires nothing itself
  'return parcel': ({ fire }) => fire('parcel', 'pcl_1', 'buy'),
  'create parcel': async ({ next, resource, store, fail, caller }) => {
    // @ts-expect-error transitions alone write the state
    next.status = 'bought';
    // @ts-expect-error there is no row yet
    resource.id;
    // @ts-expect-error there is no such code
    fail('too_light');
    // @ts-expect-error there is no such resource
    await store.get('package', 'pcl_1');
    // @ts-expect-error it may not be there
    (await store.get('parcel', 'pcl_1')).id;
    // @ts-expect-error a value is not kept by itself
    await store.get('address', 'x');
    // @ts-expect-error there is no such field
    await store.list('parcel', { weight: 3 });
    // @ts-expect-error it writes nothing itself
    await store.create('scan', { parcel: 'pcl_1', place: 'Hub' });
    // @ts-expect-error there is no such user
    caller.user === 'admin';
  },
  // @ts-expect-error what is returned is not looked at: change next
  'update parcel': async ({ next }) => next,
};
// @ts-expect-error the state is not sent
export const sent: ParcelCreate = { to: { name: 'A', street: 'B', city: 'C', country: 'DE' }, weight_g: 1, status: 'draft' };
// @ts-expect-error the city is needed
export const partial: ParcelCreate = { to: { name: 'A', street: 'B', country: 'DE' }, weight_g: 1 };
// @ts-expect-error a required field is not removed
export const change: ParcelUpdate = { to: null };
// @ts-expect-error there is no such code
export const code: ErrorCode = 'too_light';
// @ts-expect-error there is no such user
export const who: Pick<Caller, 'user'> = { user: 'admin' };
declare const parcel: Parcel;
// @ts-expect-error it may not be shown
export const shown: number = parcel.price;
`,
  'parcels-client': `
import { createClient, type Credential, type CreateParcelError, type Parcel } from './parcels.types.ts';
const client = createClient({ baseUrl: 'http://localhost/v1', credential: async (): Promise<Credential> => ({ key: 'k' }), version: '2026-01-15' });
const to = { name: 'A', street: 'B', city: 'C', country: 'DE' };
export async function book(): Promise<Parcel | string> {
  const made = await client.createParcel({ body: { to, weight_g: 1 }, idempotencyKey: 'a' });
  if (made.ok) {
    const bought = await client.buyParcel({ params: { id: made.data.id }, idempotencyKey: 'b', signal: new AbortController().signal });
    if (bought.ok) return bought.data;
    if (bought.code === 'too_heavy') return \`\${bought.status satisfies 422} \${bought.error.detail}\`;
    return bought.code ?? String(bought.status);
  }
  switch (made.code) {
    case 'invalid':
      return (made.error.violations ?? []).map(({ path }) => path).join();
    case undefined:
      return \`not of the document: \${made.status}\`;
    default:
      return made.code;
  }
}
export async function more(): Promise<unknown> {
  await client.listParcel();
  const page = await client.listParcel({ params: { status: 'draft', limit: 5 }, headers: { 'X-A': 'b' } });
  const gone = await client.deleteWebhook({ params: { id: 'w' } });
  const nothing: undefined = gone.ok ? gone.data : undefined;
  await client.updateParcel({ params: { id: 'p' }, body: { reference: null }, ifMatch: '"1"' });
  return page.ok ? [page.data.data[0]?.weight_g, page.data.next_cursor, nothing] : page.headers.get('Retry-After');
}
export const codes: CreateParcelError['code'][] = ['invalid', 'exists', undefined];
export async function wrong() {
  // @ts-expect-error the weight is needed
  await client.createParcel({ body: { to } });
  // @ts-expect-error there is no such state
  await client.listParcel({ params: { status: 'lost' } });
  // @ts-expect-error the identifier is needed
  await client.readParcel();
  // @ts-expect-error there is no such operation
  await client.makeParcel();
  // @ts-expect-error nothing is kept by a key here
  await client.collectParcel({ params: { id: 'p' }, idempotencyKey: 'a' });
  const read = await client.readParcel({ params: { id: 'p' } });
  // @ts-expect-error it may be a refusal
  read.data.id;
  // @ts-expect-error reading is never too heavy
  if (!read.ok && read.code === 'too_heavy') return;
  // @ts-expect-error there is no such scheme
  createClient({ credential: { password: 'p' } });
}
`,
  'library-good': `
import type { BeforeHandlers, Book, Handlers, Loan, Member } from './library.types.ts';
export const handlers: Handlers = {
  recommend: async ({ params, store }) => {
    const books = await store.list('book', { kind: 'print' });
    return { member: params.member, books: books.slice(0, params.most) };
  },
};
export const before: BeforeHandlers = {
  'create loan': async ({ next, store, fail }) => {
    const copy = await store.get('copy', String(next.copy));
    if (copy?.short_loan) next.term = 'short';
    const member = await store.get('member', next.member);
    if (member?.pin === undefined) return fail('loan_limit');
  },
  'upsert book': ({ resource, next }) => {
    if (resource?.kind === 'audio') next.kind = 'audio';
  },
};
export const title = (book: Book): string =>
  book.contributors.map((one) => (one.kind === 'person' ? one.role : (one.website ?? one.name))).join() + book.subject?.broader?.broader?.name;
export const extra = (book: Book): unknown => book.shelf_mark;
export const whole = ({ copy }: Loan): number => (typeof copy === 'object' ? copy.number : copy);
// @ts-expect-error a pin is never shown
export const pin = (member: Member): unknown => member.pin;
// @ts-expect-error an organisation has no role
export const role = (book: Book): unknown => book.contributors.map((one) => one.role);
`,
  'clinic-good': `
import type { BeforeHandlers, Handlers, PatientRow, Referral } from './clinic.types.ts';
export const handlers: Handlers = {
  'free slots': async ({ params, store, caller }) => {
    const held = await store.list('appointment', { practitioner: params.practitioner });
    const slots = held.map(({ starts_at }) => starts_at).filter((time) => time >= params.window.from);
    return { site: params.site, locale: params['X-Clinic-Locale'] + caller.user, slots };
  },
  calendar: ({ params: { year, month } }) => ({ year, month, days: 30 }),
  'replace content': async ({ params, request, store }) => {
    await store.update('document', params.id, { content: request });
    return { id: params.id, bytes: request.byteLength };
  },
};
export const before: BeforeHandlers = {
  'create payment': ({ next, fail }) => {
    if (next.by.method === 'card' && next.by.number.endsWith('0002')) return fail('card_declined');
  },
};
export const big: PatientRow['national_number'] = 2n ** 60n;
export const open: Referral['diagnosis'] = ['whatever'];
// @ts-expect-error what is unknown is looked at before it is used
export const blind = (referral: Referral): string => referral.diagnosis.code;
// @ts-expect-error a transfer has no number
export const number: BeforeHandlers = { 'create payment': ({ next }) => void next.by.number };
`,
  'unspecified-good': `
import type { BeforeHandlers, Handlers } from './unspecified.types.ts';
export const handlers: Handlers = {};
export const before: BeforeHandlers = {};
// @ts-expect-error there is nothing that it could handle
export const more: Handlers = { quote: () => 1 };
`,
};

/** The handlers of the examples, over the types of their own documents. */
const examples: Readonly<Record<string, string>> = {
  parcels: 'export const handlers: Handlers = own.handlers;',
  library: 'export const before: BeforeHandlers = own.before;',
  clinic: 'export const handlers: Handlers = own.handlers;\nexport const before: BeforeHandlers = own.before;',
};

const settings = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'dom'],
    types: [],
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
};

test('the modules of the examples and of made-up documents compile, good usages of them too, and bad ones do not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-types-'));
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  try {
    put('package.json', '{ "type": "module" }');
    put('tsconfig.json', JSON.stringify({ ...settings, include: ['*.ts'] }));
    put(
      'exact.json',
      JSON.stringify({ compilerOptions: { ...settings.compilerOptions, exactOptionalPropertyTypes: true }, include: ['*.ts'] }),
    );
    for (const [name, file] of Object.entries(documents)) {
      const document = await readDocument(join(root, 'examples', file), { isKey });
      put(`${name}.types.ts`, toTypescript(readSpec(document)));
    }
    // One whose callers sign is made of more.
    for (const [name, scheme] of Object.entries({ byHmac, byMessage }))
      put(`${name}.types.ts`, toTypescript(readSpec(parseDocument(vault(scheme), 'vault.yaml', { isKey }))));
    for (const [name, text] of Object.entries(usages)) put(`${name}.ts`, text);
    for (const [name, text] of Object.entries(examples)) {
      const handlers = join(root, 'examples', `${name}.handlers.ts`);
      if (!existsSync(handlers)) continue;
      copyFileSync(handlers, join(folder, `${name}.handlers.ts`));
      const types = ['Handlers', 'BeforeHandlers'].filter((type) => text.includes(`: ${type} `));
      put(
        `${name}-example.ts`,
        `import type { ${types.join(', ')} } from './${name}.types.ts';\nimport * as own from './${name}.handlers.ts';\n${text}\n`,
      );
    }
    put('page.ts', fencesOf('docs/handlers.md').find((text) => text.includes("from './parcels.types.ts'")) ?? 'not found');
    const client = fencesOf('docs/export.md').find((text) => text.includes("from './parcels.ts'")) ?? 'not found';
    put('client-page.ts', client.replace('./parcels.ts', './parcels.types.ts'));
    fc.sample(madeUpDocument, { numRuns: times(20, 60), seed: 9 }).forEach((tree, index) => {
      put(`made-up-${index}.types.ts`, moduleOf(tree));
    });
    for (const config of isLong ? ['tsconfig.json', 'exact.json'] : ['exact.json']) assert.equal(compile(folder, config), '');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The TypeScript on a page of the documentation. */
function fencesOf(path: string): string[] {
  const page = readFileSync(join(root, path), 'utf8');
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
}

function compile(folder: string, config: string): string {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', config, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

test('whatever a document holds, its module can be read and is the same again', () => {
  fc.assert(
    fc.property(madeUpDocument, (tree) => {
      const module = moduleOf(tree);
      assert.doesNotThrow(() => stripTypeScriptTypes(module), module);
      assert.equal(moduleOf(tree), module);
      assert.doesNotMatch(module.replaceAll('\n', ''), /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u);
    }),
    { numRuns: times(60, 120) },
  );
});

test('a name of any letter is an identifier to every compiler, whatever the year of its Unicode', () => {
  const names = Array.from({ length: 0x32000 }, (_, code) => writtenTypeName(`x ${String.fromCodePoint(code)}`)).concat(
    Array.from({ length: 0x32000 }, (_, code) => writtenTypeName(String.fromCodePoint(code))),
  );
  const unique = [...new Set(names)];
  assert.ok(unique.length > 20_000, String(unique.length));
  const module = unique.map((name) => `export type ${name} = 1;`).join('\n');
  assert.doesNotThrow(() => stripTypeScriptTypes(module));
  if (!isLong) return;
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-letters-'));
  try {
    writeFileSync(join(folder, 'letters.ts'), module);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { noEmit: true, types: [] }, files: ['letters.ts'] }),
    );
    assert.equal(compile(folder, 'tsconfig.json'), '');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function moduleOf(tree: Json): string {
  return toTypescript(readSpec(parseDocument(JSON.stringify(tree), 'service.json', { isKey })));
}
