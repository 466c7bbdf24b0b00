import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTypescript } from '../src/convert/typescript.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { isKey } from '../src/parts/form.ts';
import { readSpec } from '../src/parts/spec.ts';

/** What a document, or only the fields of a resource `thing`, makes of the module. */
interface Writing {
  readonly says: string;
  readonly fields?: string;
  readonly text?: string;
  readonly file?: string;
  /** Pieces that the module has, in this order. */
  readonly has: readonly string[];
  readonly lacks?: readonly string[];
}

function write({ fields, text, file = 'service.yaml' }: Writing): string {
  const source =
    text ??
    `resources: { thing: { identifier: { field: id, generate: uuid }, fields: { id: string, ${fields} }, required: [id] } }`;
  const document = parseDocument(source, file, { isKey });
  assert.deepEqual(document.findings, []);
  return toTypescript(readSpec(document));
}

const shapes: readonly Writing[] = [
  {
    says: 'scalars, nullable ones, and what has no type',
    fields:
      'a: string, b: integer, c: "number?", d: boolean, e: { type: "null" }, f: { type: [string, integer] }, g: { minLength: 1 }',
    has: [
      'a?: string;',
      'b?: number;',
      'c?: number | null;',
      'd?: boolean;',
      'e?: null;',
      'f?: string | number;',
      'g?: unknown;',
    ],
  },
  {
    says: 'formats are strings, 64 bits a number or a bigint, bytes as they come',
    fields: 'a: { type: string, format: date-time }, b: { type: integer, format: int64 }, c: { type: string, format: binary }',
    has: ['/** Format: date-time. */', 'a?: string;', 'b?: number | bigint;', 'c?: Uint8Array | string;'],
  },
  {
    says: 'enums and constants are literals in the quotes that need no escape',
    fields: `a: { enum: [x, 1, true, null] }, b: { const: "it's" }, c: { const: 'say "a"' }, d: { type: string, enum: [x, 1] }, e: { const: { k: [1, -2.5] } }`,
    has: ["a?: 'x' | 1 | true | null;", 'b?: "it\'s";', 'c?: \'say "a"\';', "d?: 'x';", 'e?: { k: [1, -2.5] }'],
  },
  {
    says: 'an extensible enum takes what it does not list where it is shown, and nowhere else',
    text: `
resources: { thing: { identifier: { field: id, generate: uuid }, fields: { id: string, a: { enum: [x], extensible: true } }, required: [id, a] } }
endpoints: { POST /things: { does: create thing } }`,
    has: [
      "Thing = { readonly id: string; a: 'x' | (string & {}) };",
      "ThingRow = { readonly id: string; a: 'x' };",
      "ThingCreate = { a: 'x' };",
    ],
  },
  {
    says: 'lists, tuples and maps',
    fields: `a: { type: array, items: { type: [string, integer] } }, b: { type: array }, c: { type: array, prefixItems: [string, integer], minItems: 1, items: boolean },
      d: { type: array, prefixItems: [string], items: false }, e: { type: object, additionalProperties: integer }, f: object,
      g: { type: object, properties: { k: string }, additionalProperties: integer }, h: { type: object, patternProperties: { ^x: string }, additionalProperties: false },
      i: { type: object, additionalProperties: false }`,
    has: [
      'a?: (string | number)[];',
      'b?: unknown[];',
      'c?: [string, number?, ...boolean[]];',
      'd?: [string?];',
      'e?: { [key: string]: number };',
      'f?: { [key: string]: unknown };',
      'g?: { k?: string; [key: string]: number | string | undefined };',
      'h?: { [key: string]: string };',
      'i?: { [key: string]: never };',
    ],
  },
  {
    says: 'objects: what is required, what is required and not described, what is described',
    fields: 'a: { type: object, properties: { k: string, l: { type: integer, description: How many. } }, required: [k, m] }',
    has: ['a?: {\n    k: string;\n    /** How many. */\n    l?: number;\n    m: unknown;\n  };'],
  },
  {
    says: 'an object of which as many properties are asked for as there are has them all',
    fields: 'a: { type: object, properties: { k: string, l: string }, minProperties: 2, additionalProperties: false }',
    has: ['a?: { k: string; l: string }'],
  },
  {
    says: 'unions, intersections and what nothing fits',
    fields: `a: { oneOf: [string, { type: array, items: string }] }, b: { anyOf: [{ type: object, properties: { k: string } }, "null"] },
      c: { allOf: [{ type: object, properties: { k: string } }, { type: object, properties: { l: string } }] },
      d: { type: object, properties: { k: string }, anyOf: [{ required: [k] }, { required: [l] }] }, e: { not: {} }, f: { oneOf: [{ minLength: 1 }, string] }`,
    has: [
      'a?: string | string[];',
      'b?: { k?: string } | null;',
      'c?: { k?: string } & { l?: string };',
      'd?: { k?: string } & ({ k: unknown } | { l: unknown });',
      'e?: never;',
      'f?: unknown;',
    ],
  },
  {
    says: 'definitions are written out, and one that holds itself stops there',
    fields:
      'a: { $defs: { t: { type: object, properties: { next: { $ref: "#/$defs/t" } } }, u: string }, allOf: [{ $ref: "#/$defs/t" }, { type: object, properties: { u: { $ref: "#/$defs/u" } } }] }',
    has: ['a?: { next?: unknown } & { u?: string }'],
  },
];

const resources: readonly Writing[] = [
  {
    says: 'values, unions with a discriminator, recursion, nullable and listed resources',
    text: `
resources:
  card: { identifier: none, fields: { method: { const: card }, number: string }, required: [method, number] }
  transfer: { identifier: none, fields: { method: { const: transfer } }, required: [method] }
  node: { identifier: none, fields: { name: string, parent: "node?", children: [node], by: { shape: { oneOf: [card, transfer] } } }, required: [name] }
endpoints: { GET /x: { does: handler x, response: { 200: node } } }`,
    has: [
      "export type Card = { method: 'card'; number: string };",
      "export type Transfer = { method: 'transfer' };",
      'export type Node = { name: string; parent?: Node | null; children?: Node[]; by?: Card | Transfer };',
      'export type XResponse = Node;',
    ],
  },
  {
    says: 'what is shown, kept and sent of a resource are different types',
    text: `
resources:
  user:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: string, pin: { type: string, writeOnly: true }, key: { type: string, readOnly: true, generate: "{random:8}", reveal: once }, note: { type: string, visible: [desk] },
      hint: { type: string, visible: none }, made: { type: string, readOnly: true, set: { create: "'x'" } }, lang: { type: string, default: nl }, token: { type: string, stored: false } }
    required: [id, name, pin, key, note, hint, made, lang, token]
endpoints: { POST /users: { does: create user }, "PATCH /users/{id}": { does: update user } }`,
    has: [
      'export type User = {\n  readonly id: string;\n  name: string;\n  /** Read-only. Shown once, in the answer that makes it. */\n  key?: string;\n  /** Shown to: desk. */\n  note?: string;',
      'export type UserRow = {',
      '  pin: string;',
      '  key: string;',
      'export type UserCreate = {\n  name: string;\n  /** Never shown. */\n  pin: string;\n  /** Shown to: desk. */\n  note: string;\n  hint: string;\n  lang?: string;\n  token: string;\n};',
      'export type UserNext = {\n  readonly id?: string;',
      '  made?: string;',
      '  token: string;',
      'export type UserUpdate = {\n  name?: string;',
      "export type CreateUserResponse = Filled<User, 'key'>;",
      "user: NewRow<UserRow, 'name' | 'pin' | 'note' | 'hint', 'id'>",
    ],
  },
  {
    says: 'a change takes null for what need not be there, also inside a value',
    text: `
resources:
  address: { identifier: none, fields: { street: string, unit: string }, required: [street] }
  user: { identifier: { field: id, generate: uuid }, fields: { id: string, home: address, tags: [address], nick: string }, required: [id, home] }
endpoints: { "PATCH /users/{id}": { does: update user } }`,
    has: [
      'export type AddressUpdate = { street?: string; unit?: string | null };',
      'export type UserUpdate = { home?: AddressUpdate; tags?: Address[] | null; nick?: string | null };',
    ],
  },
  {
    says: 'references are identifiers, and whole where they are shown so',
    text: `
resources:
  book: { identifier: { field: no, generate: integer }, fields: { no: integer, title: string } }
  loan: { identifier: { field: id, generate: uuid }, fields: { id: string, book: { ref: book, show: expand }, spare: { ref: "book?" }, short: { ref: book, show: { type: object, properties: { title: string } } } } }
  note: { identifier: { field: id, generate: uuid }, fields: { id: string, loan: { ref: loan } } }
endpoints: { "GET /notes/{id}": { does: read note, expand: { parameter: with, depth: 1 } }, "GET /loans/{id}": { does: read loan } }`,
    has: [
      'book?: number | Book;',
      // A reference is a string or null where it may be null and says nothing else.
      'spare?: string | null;',
      'short?: number | { title?: string };',
      'export type LoanRow = {',
      'book?: number;',
      'loan?: string | Loan;',
      'export type ReadNoteParams = { id: string; with?: string | string[] };',
    ],
  },
  {
    says: 'states are the values of their field, and only transitions name them',
    text: `
resources: { job: { identifier: { field: id, generate: uuid }, fields: { id: string, state: { type: string, readOnly: true } }, required: [id, state] }, cup: { identifier: { field: id, generate: uuid }, fields: { id: string } } }
states: { job: { field: state, initial: new, states: [new, done], transitions: { finish: new -> done, drop: { from: "*", to: done, after: 1d } } }, cup: none }
endpoints: { GET /jobs: { does: list job, parameters: { state: { in: query } } } }`,
    has: [
      "readonly state: 'new' | 'done';",
      "ListJobParams = { state?: 'new' | 'done' }",
      "export type Transitions = { job: 'finish' | 'drop' };",
      "job: RowPatch<Job, 'id' | 'state'>",
    ],
    lacks: ['cup:  '],
  },
  {
    says: 'what is open is unknown, and said to be open with its question',
    text: `
resources:
  open: { identifier: !open "Which field tells them apart?" , fields: !open "What has it?" }
  thing: { identifier: { field: id, generate: uuid }, fields: { id: string, a: { required: false }, b: { type: string, required: !open "May it lack?" }, c: { type: open, required: true } } }
endpoints: { GET /a: !open "What does it do?", POST /b: { does: handler b, request: !any , response: { 200: !open "What comes back?" } } }
errors: { codes: none }
events: none`,
    has: [
      'Open: the identifier of open: Which field tells them apart?',
      'Open: the fields of open: What has it?',
      'export type Open = { [key: string]: unknown };',
      '/** Open: the type of thing.a. */\n  a?: unknown;',
      '/** Open: whether thing.b is required: May it lack? */\n  b?: string;',
      'c: Open;',
      'Left to the implementation: its request payload shape.\n */\nexport type BRequest = unknown;',
      'Open: the response payload shape of 200: What comes back?\n */\nexport type BResponse = unknown;',
      'None: the error codes.\n */\nexport type ErrorCode = never;',
      'export type EventKind = never;',
      'b: (context: BContext) => BResponse | Promise<BResponse>;',
    ],
  },
  {
    says: 'a document that states nothing makes a module in which nothing can be done',
    text: '# Nothing yet\n\nIt will come.',
    file: 'folder/deep/nothing.md',
    has: [
      '// The types and the client of Nothing yet.\n// Made by `ninefold export nothing.md --to typescript`.',
      'export type CallerUser = string;',
      'export type ErrorCode = string;',
      'export type EventPayloads = { [key: string]: unknown };',
      'export type StoredRows = object;',
      'export type Handlers = { [key: string]: never };',
    ],
    lacks: ['// Resources', '// Operations', 'folder'],
  },
];

const operations: readonly Writing[] = [
  {
    says: 'parameters come from what is stated, the path, the pages and the filtered fields',
    text: `
resources: { book: { identifier: { field: id, generate: client }, fields: { id: string, pages: integer, kind: { enum: [a, b] }, shelf: string } } }
endpoints:
  GET /shelves/{shelf}/books:
    does: list book
    parameters: { kind: { in: query, op: in }, least: { in: query, filters: pages, op: ">=" }, word: { in: query, filters: shelf, op: contains }, X-Lang: { in: header, enum: [nl], required: true }, shelf: { in: path, type: integer } }
limits: { pagination: { style: offset, offset: skip, size: take, items: books, total: count, has_more: more, next: next, data: { object: list } } }`,
    has: [
      `export type ListBookParams = {
  kind?: ('a' | 'b')[];
  least?: number;
  word?: string;
  'X-Lang': 'nl';
  shelf: number;
  skip?: number;
  take?: number;
};`,
      "export type ListBookResponse = { object: 'list'; books: Book[]; next: number | null; more: boolean; count: number };",
    ],
  },
  {
    says: 'what the path says need not be sent',
    text: `
resources: { book: { identifier: { field: id, generate: client }, fields: { id: string, title: string }, required: [id, title] }, copy: { identifier: { field: id, generate: uuid }, fields: { id: string, book: { ref: book }, shelf: string }, required: [id, book, shelf] } }
endpoints: { "POST /books/{book}/copies": { does: create copy }, "PUT /books/{id}": { does: upsert book }, POST /books: { does: create book } }`,
    has: [
      'CreateCopyRequest = {\n  /** Refers to book. */\n  book?: string;\n  shelf: string;\n};',
      'UpsertBookRequest = { id?: string; title: string };',
      'CreateBookRequest = BookCreate;',
    ],
  },
  {
    says: 'answers are those of success, bytes and texts included, and nothing where there is nothing',
    text: `
endpoints:
  GET /a: { does: handler a, response: { 200: string, 202: { type: object, properties: { later: boolean } }, 204: none, 404: integer } }
  GET /b: { does: handler b, produces: image/png, response: { 200: { type: string, format: binary } } }
  PUT /c: { does: handler c, consumes: application/octet-stream, request: { type: string, format: binary }, response: { 204: none } }
  GET /d: { does: handler d, response: { 200: { shape: integer, data: "size(result)" } } }
  GET /e: { does: reply, as: hours, response: { 200: { shape: string, example: always } } }`,
    has: [
      'export type AResponse = string | { later?: boolean } | undefined;',
      'export type BResponse = Uint8Array;',
      'export type CRequest = Uint8Array;',
      'export type DResponse = number;',
      'export type HoursResponse = string;',
      'c: (context: CContext) => void | Promise<void>;',
      // What `data` reads is not stated.
      'd: (context: DContext) => unknown',
    ],
    lacks: ['CResponse', 'hours: (context', 'HoursContext'],
  },
  {
    says: 'a handler reads its defaults filled in, and somebody known only where somebody has to be known',
    text: `
purpose: { users: { desk: At the desk., "the public": Anyone. } }
endpoints:
  POST /a: { does: handler a, parameters: { n: { in: query, type: integer, default: 3 }, m: { in: query } }, request: { type: object, properties: { k: { type: string, default: x }, l: string } }, response: { 200: integer } }
  GET /b: { does: handler b, response: { 200: integer } }
  GET /c: { does: handler the same, as: c, response: { 200: integer } }
  GET /d: { does: handler the same, as: d, response: { 200: string } }
authentication: { schemes: { key: { type: api_key, header: X-Key } }, public: [handler b], permissions: [{ allow: [handler a], to: desk, scopes: [read, write] }, { allow: [c], to: anyone }] }
errors: { codes: { wrong: { status: 400 }, "odd one": { status: 400 } } }
events: { kinds: { a.b: { on: [handler a], payload: { type: object, properties: { n: integer } } } } }`,
    has: [
      'export type AParams = { n?: number; m?: string };',
      'export type ARequest = { k?: string; l?: string };',
      "export type CallerUser = 'desk' | 'the public';",
      "export type CallerScope = 'read' | 'write' | (string & {});",
      "export type ErrorCode = 'wrong' | 'odd one';",
      "export type EventPayloads = { 'a.b': { n?: number } };",
      "export type AContext = HandlerContext<Filled<ARequest, 'k'>, Filled<AParams, 'n'>, Caller>;",
      'export type BContext = HandlerContext<undefined, object, Caller | undefined>;',
      'export type CContext = HandlerContext<undefined, object, Caller | undefined>;',
      'export type DContext = HandlerContext<undefined, object, Caller>;',
      "'the same': (context: CContext | DContext) => CResponse | DResponse | Promise<CResponse | DResponse>;",
    ],
  },
  {
    says: 'what stands before an operation is given the row and what would be stored',
    text: `
resources:
  card: { identifier: none, fields: { number: { type: string, stored: false } }, required: [number] }
  pay: { identifier: { field: id, generate: uuid }, fields: { id: string, by: card, state: string }, required: [id, by, state] }
states: { pay: { field: state, initial: new, states: [new, gone], transitions: { go: new -> gone } } }
endpoints: { POST /p: { does: create pay }, "PUT /p/{id}": { does: replace pay }, "PATCH /p/{id}": { does: update pay, as: mend }, "POST /p/{id}/go": { does: go pay }, "DELETE /p/{id}": { does: delete pay }, "GET /p/{id}": { does: read pay } }`,
    has: [
      'CreatePayContext = BeforeContext<CreatePayRequest, object, Caller | undefined, undefined, PayNext>;',
      'ReplacePayContext = BeforeContext<ReplacePayRequest, ReplacePayParams, Caller | undefined, Pay, PayNext>;',
      'GoPayContext = BeforeContext<undefined, GoPayParams, Caller | undefined, Pay, Pay>;',
      "'create pay'?: (context: CreatePayContext) => void | Promise<void>;",
      'mend?: (context: MendContext) => void | Promise<void>;',
    ],
    lacks: ["'read pay'?"],
  },
];

const names: readonly Writing[] = [
  {
    says: 'names are made of words, whatever they are written with',
    text: `
resources: { line_item: { identifier: none, fields: { a-b: string, "1st": string, $x: string, constructor: string, __proto__: string } }, 3d-model: { identifier: none, fields: {} }, größe: { identifier: none, fields: {} }, "***": { identifier: none, fields: {} } }
endpoints: { "GET /x": { does: handler all-of it, response: { 200: { oneOf: [line_item, 3d-model, größe, "***"] } } } }`,
    has: [
      "export type LineItem = { 'a-b'?: string; '1st'?: string; $x?: string; constructor?: string; __proto__?: string };",
      'export type _3dModel = object;',
      'export type Größe = object;',
      'export type Unnamed = object;',
      'export type AllOfItResponse = LineItem | _3dModel | Größe | Unnamed;',
      "'all-of it': (context: AllOfItContext)",
    ],
  },
  {
    says: 'two things of one name, and names that the module needs itself, are told apart in the order of the document',
    text: `
resources:
  foo_bar: { identifier: { field: id, generate: uuid }, fields: { id: string, a: string } }
  foo-bar: { identifier: none, fields: { b: string } }
  FooBar: { identifier: none, fields: { c: string } }
  foo_bar_create: { identifier: none, fields: { d: string } }
  caller: { identifier: none, fields: { e: string } }
  date: { identifier: none, fields: { f: string } }
endpoints: { POST /x: { does: create foo_bar, request: { oneOf: [foo_bar, foo-bar, FooBar, foo_bar_create, caller, date] } }, POST /y: { does: handler create foo_bar, response: { 204: none } } }`,
    has: [
      'export type FooBar = {',
      'export type FooBarCreate2 = { a?: string };',
      'export type FooBarResource = { b?: string };',
      'export type FooBar2 = { c?: string };',
      'export type FooBarCreate = { d?: string };',
      'export type CallerResource = { e?: string };',
      'export type DateResource = { f?: string };',
      'CreateFooBarRequest = FooBarCreate2 | FooBarResource | FooBar2 | FooBarCreate | CallerResource | DateResource;',
      'CreateFooBarContext = HandlerContext',
      'CreateFooBarOperationContext = BeforeContext',
    ],
  },
  {
    says: 'prose and descriptions stand as comments that cannot end early or speak as tags',
    text: `# A */ title
made of @words

## Resources

### thing

It ends */ here. @deprecated it is not, says me@example.com.

Two paragraphs.

\`\`\`yaml
identifier: { field: id, generate: uuid }
fields:
  id: string
  a: { type: string, description: "Long ${'word '.repeat(40)}end.", deprecated: { deprecated: 2026-01-01, sunset: 2027-01-01, alternative: b } }
\`\`\`
`,
    file: 'service.md',
    has: [
      '// The types and the client of A *\\/ title.',
      '/**\n * It ends *\\/ here. \\@deprecated it is not, says me@example.com.\n *\n * Two paragraphs.',
      '  /**\n   * Long word',
      '   * @deprecated Since 2026-01-01. Gone after 2027-01-01. Use b.\n   */\n  a?: string;',
    ],
  },
];

for (const [part, writings] of Object.entries({ shapes, resources, operations, names })) {
  for (const writing of writings) {
    test(`${part}: ${writing.says}`, () => {
      const module = write(writing);
      let from = 0;
      for (const piece of writing.has) {
        const at = module.indexOf(piece, from);
        assert.notEqual(at, -1, `${JSON.stringify(piece)} is not in what follows:\n${module.slice(from)}`);
        from = at + piece.length;
      }
      for (const piece of writing.lacks ?? []) assert.ok(!module.includes(piece), `${piece} is in:\n${module}`);
    });
  }
}
