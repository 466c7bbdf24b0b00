import type { Case } from '../harness.ts';

/** Books are told apart by their name here, and notes by their title within a book. */
const named =
  'resources: { book: { unique: [[name]] }, note: { fields: { book: { ref: book, onDelete: clear } }, unique: [[book, title]] } }';

/** Rows that paths name by keys. */
export const keysCases: readonly Case[] = [
  {
    snippets: [named, 'endpoints: { under: { "/books/{book}": { book: { name: name } } } }'],
    finds: ['endpoints/key-parameter @ /endpoints/under/~1books~1{book}/book/name'],
  },
  {
    snippets: [named, 'endpoints: { under: { "/books/{book}": { book: {} } } }'],
    finds: ['endpoints/key-parameter @ /endpoints/under/~1books~1{book}/book'],
  },
  {
    snippets: ['endpoints: { under: { "/books/{book}": { book: { name: book } } } }'],
    finds: ['endpoints/key-not-unique @ /endpoints/under/~1books~1{book}/book'],
  },
  {
    snippets: [named, 'endpoints: { under: { "/books/{book}": { book: { nmae: book } } } }'],
    finds: ['endpoints/key-field @ /endpoints/under/~1books~1{book}/book/nmae'],
  },
  {
    snippets: [named, 'endpoints: { "GET /notes/{id}": { identity: { title.name: id } } }'],
    finds: ['endpoints/key-field @ /endpoints/GET ~1notes~1{id}/identity/title.name'],
  },
  {
    snippets: [named, 'endpoints: { under: { "/books/{book}": { bok: { name: book } } } }'],
    finds: ['endpoints/key-use @ /endpoints/under/~1books~1{book}/bok'],
  },
  {
    snippets: [named, 'endpoints: { under: { "/books/{book}": { label: { name: book } } } }'],
    finds: ['endpoints/key-use @ /endpoints/under/~1books~1{book}/label'],
  },
  {
    snippets: [named, 'endpoints: { "GET /books/{book}/notes": { identity: { title: book } } }'],
    finds: ['endpoints/key-use @ /endpoints/GET ~1books~1{book}~1notes/identity'],
  },
  {
    snippets: [
      named,
      'endpoints: { under: { "/books/{book}": { book: { name: book } } }, "PUT /books/{book}/notes/{title}": { does: upsert note, identity: { title: title } } }',
      'purpose: { functions: { write: [create note, update note, publish note, delete note, create book, upsert note] } }',
    ],
    finds: ['endpoints/key-use @ /endpoints/PUT ~1books~1{book}~1notes~1{title}'],
  },
  {
    snippets: [named, 'endpoints: { under: { "/shelves/{shelf}": { book: { name: shelf } } } }'],
    finds: ['endpoints/under-unused @ /endpoints/under/~1shelves~1{shelf}/book'],
  },
  {
    snippets: [
      named,
      'endpoints: { under: { "/books/{book}": { book: { name: book } } }, "GET /books/{book}/hooks": { does: list hook, as: hooks of a book } }',
      'purpose: { functions: { hear of changes: [create hook, list hook, hooks of a book] } }',
      'authentication: { permissions: [{ allow: [all note, all book, notes of a book, all hook, hooks of a book, stream events], to: [writer, reader] }] }',
    ],
    finds: ['endpoints/key-unbound @ /endpoints/GET ~1books~1{book}~1hooks'],
  },
  {
    snippets: [
      named,
      'resources: { note: { fields: { book: null, first: { ref: book, onDelete: clear }, last: { ref: book, onDelete: clear } }, unique: [[owner, title]] } }',
      'endpoints: { under: { "/books/{book}": { book: { name: book } } } }',
    ],
    finds: ['endpoints/key-unbound @ /endpoints/GET ~1books~1{book}~1notes'],
  },
  {
    snippets: [
      named,
      'endpoints: { under: { "/books/{book}": { book: { name: book } } } }',
      'versioning: { changes: { "2026-06-01": [{ map: book.name, was: string, down: "value", up: "value" }] } }',
    ],
    finds: ['endpoints/key-in-versions @ /endpoints/under/~1books~1{book}/book/name'],
  },
];
