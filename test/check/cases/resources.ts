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
    snippets: ['resources: { hook: { fields: { secret: { type: integer } } } }'],
    finds: [
      'resources/generate-type @ /resources/hook/fields/secret/generate',
      'events/subscriber-field-type @ /events/delivery/webhook/subscribers/secret',
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
];
