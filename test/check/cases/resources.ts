import type { Case } from '../harness.ts';

export const resourcesCases: readonly Case[] = [
  { snippets: ['resources: { book: { identifier: any } }'], finds: ['resources/identifier-any @ /resources/book/identifier'] },
  {
    snippets: ['resources: { book: { identifier: { field: nr } } }'],
    finds: ['resources/identifier-field @ /resources/book/identifier/field'],
  },
  {
    snippets: ['resources: { book: { identifier: { generate: integer } } }'],
    finds: ['resources/identifier-type @ /resources/book/identifier/generate'],
  },
  {
    snippets: ['resources: { note: { identifier: { generate: "note_{ulidd}" } } }'],
    finds: ['resources/identifier-template @ /resources/note/identifier/generate'],
  },
  {
    snippets: ['resources: { book: { required: [name] } }'],
    finds: ['resources/identifier-optional @ /resources/book/required'],
  },
  {
    snippets: ['resources: { book: { identifier: { generate: client }, fields: { id: { type: string, readOnly: true } } } }'],
    finds: ['resources/identifier-unwritable @ /resources/book/fields/id/readOnly'],
  },
  {
    snippets: ['resources: { label: { required: [name, color] } }'],
    finds: ['resources/unknown-required @ /resources/label/required/1'],
  },
  {
    snippets: ['resources: { note: { unique: [[owner, titel], { fields: [nr], while: "next.pinned" }] } }'],
    finds: [
      'resources/unknown-unique @ /resources/note/unique/0/1',
      'resources/unknown-unique @ /resources/note/unique/1/fields/0',
    ],
  },
  {
    snippets: ['resources: { note: { fields: { title: { stored: false } } } }'],
    finds: ['resources/not-kept @ /resources/note/unique/0/1'],
  },
  { snippets: ['resources: { label: { unique: [[name]] } }'], finds: ['resources/value-unique @ /resources/label/unique'] },
  {
    snippets: ['resources: { hook: { fields: { secret: { generate: "{base64}" } } } }'],
    finds: ['resources/generate-template @ /resources/hook/fields/secret/generate'],
  },
  {
    snippets: ['resources: { hook: { fields: { secret: { generate: "{secret}{number:0}" } } } }'],
    finds: ['resources/generate-template @ /resources/hook/fields/secret/generate'],
  },
  {
    snippets: ['resources: { book: { fields: { name: { type: string, readOnly: true, generate: integer } } } }'],
    finds: ['resources/generate-type @ /resources/book/fields/name/generate'],
  },
  ...[
    ['generate: integer', 'generate'],
    ['within: id', 'within'],
    ['readOnly: true, generate: integer, within: shelf', 'within'],
    ['readOnly: true, generate: integer, within: name', 'within'],
    ['readOnly: true, generate: integer, within: nr', 'within'],
  ].map(([words, at]) => ({
    snippets: [`resources: { book: { fields: { nr: { type: integer, ${words} } } } }`],
    finds: [`resources/counted @ /resources/book/fields/nr/${at}`],
  })),
  {
    snippets: ['resources: { hook: { fields: { secret: { type: integer } } } }'],
    finds: [
      'resources/generate-type @ /resources/hook/fields/secret/generate',
      'events/subscriber-field-type @ /events/delivery/webhook/subscribers/secret',
    ],
  },
  {
    snippets: [
      'resources: { book: { fields: { id: { type: string, pattern: "^b_" } } } }',
      'resources: { hook: { fields: { secret: { maxLength: 40 } } } }',
      'resources: { tally: { identifier: { field: nr, generate: integer }, fields: { nr: { type: integer, minimum: 1000 } }, required: [nr] } }',
      'endpoints: { GET /tallies: { does: list tally } }',
      'purpose: { functions: { read: [read note, list note, notes of a book, handler count, stream events, list tally] } }',
      'authentication: { permissions: [{ allow: [all note, all book, all hook, stream events, list tally], to: [writer, reader] }] }',
    ],
    finds: [
      'resources/generate-misfit @ /resources/book/identifier/generate',
      'resources/generate-misfit @ /resources/hook/fields/secret/generate',
      'resources/generate-misfit @ /resources/tally/identifier/generate',
    ],
  },
  {
    snippets: ['resources: { note: { fields: { size: { set: { create: 2000, update: "1" } } } } }'],
    finds: ['resources/set-misfit @ /resources/note/fields/size/set/create'],
  },
  {
    snippets: [
      `resources: { note: { fields: { size: { set: { create: "1000 + 1000", update: "has(next.size) ? 5000 : 1" } } } } }`,
    ],
    finds: [
      'resources/set-misfit @ /resources/note/fields/size/set/create',
      'resources/set-misfit @ /resources/note/fields/size/set/update',
    ],
  },
  {
    snippets: ['resources: { book: { fields: { name: { type: string, reveal: once } } } }'],
    finds: ['resources/reveal-nothing @ /resources/book/fields/name/reveal'],
  },
  {
    snippets: ['resources: { note: { fields: { size: { ignore_case: true } } } }'],
    finds: ['resources/case-of-no-text @ /resources/note/fields/size/ignore_case'],
  },
  {
    snippets: ['resources: { note: { fields: { title: { extensible: true } } } }'],
    finds: ['resources/extensible-without-enum @ /resources/note/fields/title/extensible'],
  },
  {
    snippets: ['resources: { note: { fields: { title: { visible: [writer, readr], writable: wrighter } } } }'],
    finds: [
      'resources/unknown-user @ /resources/note/fields/title/visible/1',
      'resources/unknown-user @ /resources/note/fields/title/writable',
    ],
  },
  {
    snippets: ['resources: { note: { fields: { owner: { writable: [writer] } } } }'],
    finds: ['resources/read-only-writable @ /resources/note/fields/owner/writable'],
  },
  {
    snippets: ['resources: { note: { fields: { title: { writeOnly: true, visible: [writer] } } } }'],
    finds: ['resources/write-only-visible @ /resources/note/fields/title/visible'],
  },
  {
    snippets: ['resources: { book: { fields: { shelf: { type: string, readOnly: true, writeOnly: true } } } }'],
    finds: ['resources/neither-read-nor-written @ /resources/book/fields/shelf'],
  },
  {
    snippets: ['resources: { note: { fields: { title: { onDelete: cascade } } } }'],
    finds: ['resources/on-delete-without-ref @ /resources/note/fields/title/onDelete'],
  },
  {
    snippets: [
      'resources: { label: { fields: { key: { type: string, generate: "{random:4}" }, nr: { type: string, generate: "{key}_{random:4}" }, by: { type: string, readOnly: true, set: { update: caller.id, create: "value.nam" } } } } }',
    ],
    finds: [
      'resources/value-made @ /resources/label/fields/nr/generate',
      'resources/value-made @ /resources/label/fields/by/set/update',
      'expressions/may-be-absent @ /resources/label/fields/by/set/update',
      'expressions/unknown-field @ /resources/label/fields/by/set/create',
    ],
  },
  {
    snippets: ['resources: { book: { identifier: { generate: client }, fields: { id: { type: string, ignore_case: true } } } }'],
    finds: ['resources/identifier-case @ /resources/book/fields/id/ignore_case'],
  },
  {
    snippets: ['resources: { note: { fields: { book: { set: { write: "\'b\'" } } } } }'],
    finds: ['resources/clear-set @ /resources/note/fields/book/onDelete'],
  },
  {
    snippets: ['resources: { note: { fields: { title: { show: expand } } } }'],
    finds: ['resources/show-without-ref @ /resources/note/fields/title/show'],
  },
  {
    snippets: ['resources: { note: { required: [id, owner, title, kind, pinned, status, made_at, book] } }'],
    finds: ['resources/clear-required @ /resources/note/fields/book/onDelete'],
  },
  {
    snippets: ['resources: { stamp: { identifier: none, fields: { ink: string }, required: [ink] } }'],
    finds: ['resources/unused @ /resources/stamp'],
  },
  {
    snippets: [
      'resources: { note: { fields: { made_at: { set: { publsh: now } }, owner: { set: { read note: caller.id } } } } }',
    ],
    finds: [
      'resources/set-key @ /resources/note/fields/owner/set/read note',
      'resources/set-key @ /resources/note/fields/made_at/set/publsh',
    ],
  },
  {
    snippets: ['resources: { book: { fields: { shelf: { type: string, readOnly: true } }, required: [id, name, shelf] } }'],
    finds: ['resources/required-unset @ /resources/book/fields/shelf'],
  },
  {
    snippets: ['resources: { note: { fields: { made_at: { set: { create: now, create book: now } } } } }'],
    finds: ['resources/set-key @ /resources/note/fields/made_at/set/create book'],
  },
  {
    snippets: [
      `resources: { book: { fields: {
        notes: { type: integer, derive: "count(note.owner) + count(note.bok)" },
        size: { type: integer, derive: "sum(note.book) + sum(note.book, item.title)" } } } }`,
    ],
    finds: [
      'resources/derived-aggregate @ /resources/book/fields/notes/derive',
      'resources/derived-aggregate @ /resources/book/fields/size/derive',
    ],
  },
  {
    snippets: [
      `resources: { book: { fields: {
        size: { type: integer, derive: "count(note.book, item.kind == 3) + caller.id" },
        pinned: { type: string, derive: "exists(note.book, item.pined)" } } } }`,
    ],
    finds: [
      'expressions/wrong-type @ /resources/book/fields/size/derive',
      'expressions/not-in-scope @ /resources/book/fields/size/derive',
      'expressions/wrong-result @ /resources/book/fields/pinned/derive',
      'expressions/unknown-field @ /resources/book/fields/pinned/derive',
    ],
  },
  {
    snippets: [
      `resources:
        book: { fields: { size: { type: integer, derive: "resource.total + 1" }, total: { type: integer, derive: "resource.size * 2" } }, required: [id, name, size, total] }
        note: { fields: { secret: { type: string, stored: false }, shelf: { type: string, derive: "has(resource.book) ? resource.book.name : ''" } } }
        hook: { fields: { book: { ref: book }, long: { type: boolean, derive: "resource.url == resource.secret" } } }`,
      'resources: { book: { fields: { secrets: { type: integer, derive: "count(note.book, has(item.secret))" } } } }',
    ],
    finds: [
      'resources/derived-reads @ /resources/note/fields/shelf/derive',
      'resources/derived-reads @ /resources/book/fields/size/derive',
      'resources/derived-reads @ /resources/book/fields/total/derive',
      'resources/derived-reads @ /resources/book/fields/secrets/derive',
    ],
  },
  {
    snippets: [
      `resources:
        note: { fields: { size: { type: integer, default: 3, derive: "size(resource.title)" }, status: { derive: "resource.title" } } }
        label: { fields: { colour: { type: string, derive: "resource.name" } } }
        hook: { fields: { long: { type: boolean, derive: "size(resource.url) > 80", stored: false } } }`,
    ],
    finds: [
      'resources/derived-and-written @ /resources/note/fields/size/default',
      'resources/derived-and-written @ /resources/note/fields/status/derive',
      'resources/derived-and-written @ /resources/label/fields/colour/derive',
      'resources/derived-and-written @ /resources/hook/fields/long/stored',
    ],
  },
  {
    snippets: [
      'resources: { note: { fields: { size: { type: integer, derive: "size(resource.title)" } }, unique: [[owner, size]] } }',
    ],
    finds: ['resources/derived-unique @ /resources/note/unique/0'],
  },
  {
    snippets: [
      `resources:
        book:
          fields:
            notes: { children: note.bok }
            labels: { children: label.book }
            hooks: { children: hook.owner }
            pages: { children: page.book, order: number }
            all: { children: note, order: title }
            titled: { children: note.book, order: [-titel, card], readOnly: true }
        note: { fields: { card: { type: string, stored: false } } }`,
      'resources: { label: { fields: { notes: { children: note.label } } } }',
    ],
    finds: [
      'resources/children-unknown @ /resources/label/fields/notes/children',
      'resources/children-unknown @ /resources/book/fields/notes/children',
      'resources/children-nested @ /resources/book/fields/labels/children',
      'resources/children-unknown @ /resources/book/fields/labels/children',
      'resources/children-unknown @ /resources/book/fields/hooks/children',
      'resources/children-unknown @ /resources/book/fields/pages/children',
      'resources/children-unknown @ /resources/book/fields/all/children',
      'resources/children-order @ /resources/book/fields/titled/order',
    ],
  },
  {
    snippets: [
      `resources:
        book:
          fields:
            notes: { children: note.book, default: [], immutable: true }
            name: { type: string, page: 3, envelope: { items: data } }
        note: { fields: { book: { ref: book, show: expand } } }`,
      'endpoints: { "PUT /books/{id}": { does: replace book } }',
      'purpose: { functions: { keep: [replace book] } }',
    ],
    finds: [
      'resources/children-beside @ /resources/book/fields/name/page',
      'resources/children-beside @ /resources/book/fields/name/envelope',
      'resources/children-nested @ /resources/book/fields/notes/children',
      'resources/children-beside @ /resources/book/fields/notes/default',
      'resources/children-beside @ /resources/book/fields/notes/immutable',
      'resources/children-replaced @ /endpoints/PUT ~1books~1{id}/does',
    ],
  },
  {
    snippets: [
      `resources:
        book:
          fields:
            notes: { children: note.book, taken_by: [create, update] }
            name: { type: string, taken_by: update }`,
    ],
    finds: [
      'resources/children-beside @ /resources/book/fields/name/taken_by',
      'resources/children-taken @ /resources/book/fields/notes/taken_by',
      'resources/children-taken-by-nothing @ /resources/book/fields/notes/taken_by/1',
    ],
  },
  {
    snippets: [
      'resources: { book: { fields: { notes: { children: note.book, maxItems: 20, taken_by: [create, replace, create] } } } }',
    ],
    finds: [
      'resources/children-taken-by-nothing @ /resources/book/fields/notes/taken_by/1',
      'resources/children-taken-by-nothing @ /resources/book/fields/notes/taken_by/2',
    ],
  },
  {
    snippets: ['resources: { book: { fields: { notes: { children: note.book, maxItems: 20, taken_by: replace } } } }'],
    finds: ['resources/children-taken-by-nothing @ /resources/book/fields/notes/taken_by'],
  },
  {
    snippets: [
      'resources: { book: { fields: { notes: { children: note.book, minItems: 9, maxItems: 3 }, others: { children: note.book, minItems: 1001, order: title } } } }',
    ],
    finds: [
      'resources/children-bounds @ /resources/book/fields/notes/minItems',
      'resources/children-bounds @ /resources/book/fields/others/minItems',
    ],
  },
  {
    snippets: ['resources: { book: { fields: { notes: { children: note.book, readOnly: true, taken_by: [create] } } } }'],
    finds: ['resources/children-taken @ /resources/book/fields/notes/taken_by'],
  },
  {
    snippets: [
      'resources: { book: { fields: { notes: { children: note.book, maxItems: 9, taken_by: replace } } } }',
      'endpoints: { "PUT /books/{id}": { does: upsert book } }',
      'purpose: { functions: { keep: [upsert book] } }',
    ],
    finds: ['resources/children-taken @ /resources/book/fields/notes/taken_by'],
  },
  {
    snippets: [
      `resources:
        note: { deleted: { keep: a month, read: { 404: { shape: { type: object } } }, restore: publsh } }
        label: { deleted: { keep: 3d } }
        book: { deleted: { read: 410, restore: back } }
        hook: { deleted: { keep: forever } }`,
    ],
    finds: [
      'resources/kept @ /resources/note/deleted/keep',
      'resources/kept @ /resources/note/deleted/read/404',
      'resources/kept-restore @ /resources/note/deleted/restore',
      'resources/kept @ /resources/label/deleted',
      'resources/kept @ /resources/book/deleted/keep',
      'resources/kept-restore @ /resources/book/deleted/restore',
    ],
  },
  {
    snippets: [
      `resources:
        label:
          rows: [{ name: blue }]
        note:
          rows:
            - { title: none }
            - { id: n1, title: one, tilte: one, size: many, status: lost }
            - { id: n1 }`,
    ],
    finds: [
      'resources/rows @ /resources/note/rows/0',
      'resources/rows @ /resources/note/rows/1/tilte',
      'resources/rows @ /resources/note/rows/1/size',
      'resources/rows @ /resources/note/rows/1/status',
      'resources/rows @ /resources/note/rows/2',
      'resources/rows @ /resources/label/rows/0',
    ],
  },
  {
    snippets: ['resources: { note: { deleted: { keep: 3d, restore: publish } } }'],
    finds: ['resources/kept-restore @ /resources/note/deleted/restore'],
  },
  {
    snippets: ['resources: { note: { rules: { long: { if: "size(next.title) > 70", field: titel } }, one_of: [[size, bok]] } }'],
    finds: ['resources/rule-field @ /resources/note/rules/long/field', 'resources/rule-field @ /resources/note/one_of/0/1'],
  },
  {
    snippets: ['resources: { note: { rules: { late: { if: "next.made_at < now" }, big: { if: "next.size > 3" } } } }'],
    finds: [
      'expressions/may-be-absent @ /resources/note/rules/late/if',
      'expressions/not-in-scope @ /resources/note/rules/late/if',
      'expressions/may-be-absent @ /resources/note/rules/big/if',
    ],
  },
  {
    snippets: ['resources: { note: { one_of: [[size], [label, owner], [book, title], [size, pinned]] } }'],
    finds: [
      'resources/choice-of-one @ /resources/note/one_of/0',
      'resources/choice-of-one @ /resources/note/one_of/1/1',
      'resources/choice-of-one @ /resources/note/one_of/2/1',
      'resources/choice-of-one @ /resources/note/one_of/3/1',
    ],
  },
  {
    snippets: ['resources: { label: { rules: { grey: { if: "next.name == \'grey\'" } } } }'],
    finds: ['resources/rule-of-value @ /resources/label/rules'],
  },
  {
    snippets: ['resources: { note: { fields: { size: { null: kept }, label: { null: lost } } } }'],
    finds: ['resources/null-kept @ /resources/note/fields/size/null', 'form/wrong-value @ /resources/note/fields/label/null'],
  },
];
