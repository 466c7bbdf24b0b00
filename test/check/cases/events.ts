import type { Case } from '../harness.ts';

export const eventsCases: readonly Case[] = [
  {
    snippets: ['events: { kinds: { note.changed: { on: [create note, chang note] } } }'],
    finds: ['events/unknown-operation @ /events/kinds/note.changed/on/1'],
  },
  {
    snippets: ['events: { kinds: { note.read: { on: [read note, list note], payload: note } } }'],
    finds: ['events/never-emitted @ /events/kinds/note.read/on'],
  },
  {
    snippets: [
      '{ events: { kinds: { note.lost: { on: [], payload: note } } }, endpoints: { GET /count: null }, authentication: { public: null }, purpose: { functions: { read: [read note, list note, notes of a book, stream events] } } }',
    ],
    finds: ['events/never-emitted @ /events/kinds/note.lost'],
  },
  {
    snippets: ['events: { kinds: { note.changed: { payload: book }, note.deleted: { data: { id: null, nr: resource.id } } } }'],
    finds: [
      'events/payload-misfit @ /events/kinds/note.changed/payload',
      'events/payload-misfit @ /events/kinds/note.deleted/data',
    ],
  },
  {
    snippets: [
      'events: { kinds: { book.made: { on: create book, payload: { type: object, properties: { id: string, pages: integer }, required: [id, pages] } } } }',
    ],
    finds: ['events/payload-misfit @ /events/kinds/book.made/payload'],
  },
  {
    snippets: [
      'events: { delivery: { webhook: null, stream: null } }',
      '{ purpose: { functions: { read: [read note, list note, notes of a book, handler count] } }, authentication: { permissions: [{ allow: [all note, all book, all hook], to: [writer, reader] }] } }',
    ],
    finds: ['events/undelivered @ /events/kinds'],
  },
  {
    snippets: ['events: { delivery: { webhook: { subscribers: { resource: hoook } } } }'],
    finds: ['events/unknown-subscribers @ /events/delivery/webhook/subscribers/resource'],
  },
  {
    snippets: ['events: { delivery: { webhook: { subscribers: { url: adress } } } }'],
    finds: ['events/unknown-subscriber-field @ /events/delivery/webhook/subscribers/url'],
  },
  {
    snippets: ['events: { delivery: { webhook: { subscribers: { events: url } } } }'],
    finds: ['events/subscriber-field-type @ /events/delivery/webhook/subscribers/events'],
  },
  {
    snippets: ['events: { delivery: { webhook: { subscribers: { url: null, secret: null } } } }'],
    finds: ['events/subscriber-field-missing @ /events/delivery/webhook/subscribers'],
  },
  {
    snippets: ['events: { delivery: { webhook: { retry: [] } } }'],
    finds: ['events/retry-of-nothing @ /events/delivery/webhook/retry'],
  },
  {
    snippets: ['events: { delivery: { webhook: { retry: [5s, soon], timeout: 15 seconds }, stream: { keep: 1y } } }'],
    finds: [
      'events/duration @ /events/delivery/webhook/retry/1',
      'events/duration @ /events/delivery/webhook/timeout',
      'events/duration @ /events/delivery/stream/keep',
    ],
  },
  {
    snippets: [
      'events: { delivery: { webhook: { signature: { header: X-Signature, value: "t={time},v1={hmac-sha256:hex}", signs: "{timestamp}.{body}" } } } }',
    ],
    finds: ['events/signature-template @ /events/delivery/webhook/signature/value'],
  },
  {
    snippets: ['events: { delivery: { webhook: { signature: { header: X Signature, value: "v1", signs: "{timestamp}" } } } }'],
    finds: [
      'events/signature-template @ /events/delivery/webhook/signature/header',
      'events/signature-template @ /events/delivery/webhook/signature/value',
      'events/signature-template @ /events/delivery/webhook/signature/signs',
    ],
  },
  {
    snippets: ['events: { delivery: { stream: { path: POST /events } } }'],
    finds: ['events/stream-path @ /events/delivery/stream/path'],
  },
];
