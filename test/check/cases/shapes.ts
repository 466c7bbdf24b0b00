import type { Case } from '../harness.ts';

export const shapesCases: readonly Case[] = [
  {
    snippets: ['resources: { note: { fields: { book: { default: 5 } } } }'],
    finds: ['shapes/default-misfit @ /resources/note/fields/book/default'],
  },
  {
    snippets: ['resources: { note: { fields: { label: lable, book: { ref: bok }, tags: [tag], old: { type: "lable?" } } } }'],
    finds: [
      'shapes/unknown-resource @ /resources/note/fields/label',
      'shapes/unknown-resource @ /resources/note/fields/book/ref',
      'shapes/unknown-resource @ /resources/note/fields/tags/0',
      'shapes/unknown-resource @ /resources/note/fields/old/type',
      'resources/unused @ /resources/label',
    ],
  },
  {
    snippets: [
      'resources: { note: { fields: { due: date, read: bool, size: { type: intger }, at: [datetime], "n": int64, home: { ref: date }, nott: "nott?" } } }',
    ],
    finds: [
      'shapes/unknown-resource @ /resources/note/fields/size/type',
      'shapes/unknown-resource @ /resources/note/fields/due',
      'shapes/unknown-resource @ /resources/note/fields/read',
      'shapes/unknown-resource @ /resources/note/fields/at/0',
      'shapes/unknown-resource @ /resources/note/fields/n',
      'shapes/unknown-resource @ /resources/note/fields/home/ref',
      'shapes/unknown-resource @ /resources/note/fields/nott',
    ],
  },
  {
    snippets: [
      'resources: { note: { deleted: { keep: 3d, read: { 200: { shape: nite, data: { id: result.id } } } } } }',
      'endpoints: { "GET /count": { response: { 200: null, 202: { shape: string, stream: bok, headers: { X-Size: { shape: { type: integer, minimum: 5, maximum: 2 }, data: "1" } } } } } }',
    ],
    finds: [
      'shapes/unknown-resource @ /resources/note/deleted/read/200/shape',
      'shapes/unknown-resource @ /endpoints/GET ~1count/response/202/stream',
      'shapes/admits-nothing @ /endpoints/GET ~1count/response/202/headers/X-Size/shape/minimum',
    ],
  },
  {
    snippets: ['resources: { note: { fields: { book: { ref: label } } } }'],
    finds: ['shapes/ref-to-value @ /resources/note/fields/book/ref'],
  },
  {
    snippets: ['resources: { note: { fields: { book: { type: integer } } } }'],
    finds: ['shapes/ref-type @ /resources/note/fields/book'],
  },
  {
    snippets: [
      'resources: { note: { fields: { title: { pattern: "[a-" }, extra: { type: object, properties: { a: { $ref: "#/$defs/b" } } } } } }',
    ],
    finds: ['shapes/refused @ /resources/note/fields/title', 'shapes/refused @ /resources/note/fields/extra'],
  },
  {
    snippets: [
      'resources: { note: { fields: { tree: { type: object, properties: { a: { $ref: "#" } } }, ok: { $ref: "#/$defs/b", $defs: { b: string } } } } }',
    ],
    finds: ['shapes/refused @ /resources/note/fields/tree/properties/a/$ref'],
  },
  {
    snippets: ['resources: { note: { fields: { title: { format: datetime } } } }'],
    finds: ['shapes/unknown-format @ /resources/note/fields/title/format'],
  },
  {
    snippets: ['resources: { note: { fields: { size: { maxLength: 3 }, title: { minimum: 1 } } } }'],
    finds: [
      'shapes/idle-keyword @ /resources/note/fields/title/minimum',
      'shapes/idle-keyword @ /resources/note/fields/size/maxLength',
    ],
  },
  {
    snippets: ['endpoints: { GET /count: { response: { 200: { required: [coutn] } } } }'],
    finds: ['shapes/required-not-named @ /endpoints/GET ~1count/response/200/required/0'],
  },
  {
    snippets: [
      'resources: { note: { fields: { size: { minimum: 10, maximum: 5 }, title: { pattern: "^[a-z]{81,}$" }, nr: { type: integer, exclusiveMinimum: 1, exclusiveMaximum: 2 }, box: { type: object, properties: { a: string }, required: [a, b], additionalProperties: false } } } }',
    ],
    finds: [
      'shapes/admits-nothing @ /resources/note/fields/title/pattern',
      'shapes/admits-nothing @ /resources/note/fields/size/minimum',
      'shapes/admits-nothing @ /resources/note/fields/nr/exclusiveMinimum',
      'shapes/admits-nothing @ /resources/note/fields/box/required',
    ],
  },
  {
    snippets: [
      'resources: { note: { fields: { step: { type: number, multipleOf: 10, minimum: 11, maximum: 19 }, end: { type: string, pattern: "a$b" }, many: { type: object, required: [a, b], maxProperties: 1 }, same: { type: number, minimum: 3, exclusiveMaximum: 3 } } } }',
    ],
    finds: [
      'shapes/admits-nothing @ /resources/note/fields/step/minimum',
      'shapes/admits-nothing @ /resources/note/fields/end/pattern',
      'shapes/admits-nothing @ /resources/note/fields/many/required',
      'shapes/admits-nothing @ /resources/note/fields/same/minimum',
    ],
  },
  {
    snippets: ['resources: { note: { fields: { none: { enum: [] }, nr: { type: integer, enum: [one, two] } } } }'],
    finds: [
      'shapes/no-allowed-value @ /resources/note/fields/none/enum',
      'shapes/no-allowed-value @ /resources/note/fields/nr/enum',
    ],
  },
  {
    snippets: [
      'resources: { note: { fields: { nr: { type: string, maxLength: 3, enum: [one, three] }, flag: { type: boolean, enum: [true, "yes"] } } } }',
    ],
    finds: [
      'shapes/value-never-fits @ /resources/note/fields/nr/enum/1',
      'shapes/value-never-fits @ /resources/note/fields/flag/enum/1',
    ],
  },
  {
    snippets: ['resources: { note: { fields: { kind: { enum: [plain, list, plain] } } } }'],
    finds: ['shapes/value-twice @ /resources/note/fields/kind/enum/2'],
  },
  {
    snippets: [
      'resources: { note: { fields: { kind: { default: plian } } } }',
      '{ endpoints: { GET /count: { parameters: { least: { default: many } } } } }',
    ],
    finds: [
      'shapes/default-misfit @ /resources/note/fields/kind/default',
      'shapes/default-misfit @ /endpoints/GET ~1count/parameters/least/default',
    ],
  },
  {
    snippets: ['resources: { book: { fields: { pages: { type: integer, format: int32, example: 3000000000 } } } }'],
    finds: ['shapes/example-misfit @ /resources/book/fields/pages/example'],
  },
  {
    snippets: ['resources: { note: { fields: { title: { examples: [Shopping, ""] , example: 7 } } } }'],
    finds: [
      'shapes/example-misfit @ /resources/note/fields/title/examples/1',
      'shapes/example-misfit @ /resources/note/fields/title/example',
    ],
  },
  {
    snippets: [
      'resources: { note: { fields: { pay: { oneOf: [card, account, { type: object, properties: { x: string } }] } } }, card: { identifier: none, fields: { number: string }, required: [] }, account: { identifier: none, fields: { number: string, bank: string }, required: [number] } }',
    ],
    finds: [
      'shapes/ambiguous-union @ /resources/note/fields/pay/oneOf/1',
      'shapes/ambiguous-union @ /resources/note/fields/pay/oneOf/2',
    ],
  },
  {
    snippets: ['resources: { label: { fields: { under: label }, required: [name, under] } }'],
    finds: ['shapes/never-ends @ /resources/label/fields/under'],
  },
  {
    snippets: [
      'resources: { note: { fields: { mark: { pattern: "^([\'!]).*\\\\1$" }, extra: { type: object, patternProperties: { "^(([a-z]+)+)\\\\2$": string } } } } }',
    ],
    finds: [
      'shapes/slow-pattern @ /resources/note/fields/mark/pattern',
      'shapes/slow-pattern @ /resources/note/fields/extra/patternProperties/^(([a-z]+)+)\\2$',
    ],
  },
  {
    snippets: [
      'resources: { note: { fields: { books: { type: array, maxItems: 3, items: { ref: book, show: expand } }, mark: { type: object, properties: { by: { type: string, set: { create: caller.id } } } } } } }',
    ],
    finds: [
      'shapes/field-word @ /resources/note/fields/books/items/show',
      'shapes/field-word @ /resources/note/fields/mark/properties/by/set',
    ],
  },
];
