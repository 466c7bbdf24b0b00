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
    snippets: [
      'events: { delivery: { webhook: { confirm: { method: GET, parameters: { c: "{chalenge}" }, body: { a: 1 }, answer: yes } } } }',
    ],
    finds: [
      'events/confirm @ /events/delivery/webhook/confirm',
      'events/confirm @ /events/delivery/webhook/confirm/body',
      'events/confirm @ /events/delivery/webhook/confirm/answer',
    ],
  },
  {
    snippets: [
      'events: { delivery: { webhook: { confirm: { headers: { X Asks: "{id}" }, answer: { code: "{challenge}" } } } } }',
    ],
    finds: [
      'events/confirm @ /events/delivery/webhook/confirm/headers/X Asks',
      'events/confirm @ /events/delivery/webhook/confirm/answer',
    ],
  },
  {
    snippets: [
      'events: { delivery: { webhook: { confirm: { headers: { Content-Length: "5", Host: "{id}" }, body: { c: "{challenge}" }, answer: "{challenge}" } } } }',
    ],
    finds: [
      'events/confirm @ /events/delivery/webhook/confirm/headers/Content-Length',
      'events/confirm @ /events/delivery/webhook/confirm/headers/Host',
    ],
  },
  {
    snippets: [
      '{ resources: { hook: { fields: { sure: { type: boolean, readOnly: true, default: true } } } }, events: { delivery: { webhook: { confirm: ping, subscribers: { confirmed: sure } } } } }',
    ],
    finds: ['events/confirmed-field @ /events/delivery/webhook/subscribers/confirmed'],
  },
  {
    snippets: [
      'events: { delivery: { webhook: { signature: { header: X-Seal, value: "{hmac-sha256:hex}", signs: "{body}" }, headers: { x-seal: event.kind, X-Kind: event.kind }, confirm: { headers: { X-SEAL: "{id}" }, parameters: { c: "{challenge}" }, answer: "{challenge}" } } } }',
    ],
    finds: [
      'events/signature-header @ /events/delivery/webhook/headers/x-seal',
      'events/signature-header @ /events/delivery/webhook/confirm/headers/X-SEAL',
    ],
  },
  {
    snippets: ['events: { delivery: { webhook: { confirm: { headers: { webhook-id: "{id}", X-Asks: "{id}" } } } } }'],
    finds: ['events/signature-header @ /events/delivery/webhook/confirm/headers/webhook-id'],
  },
  {
    snippets: ['events: { delivery: { webhook: { confirm: chalenge } } }'],
    finds: ['form/wrong-value @ /events/delivery/webhook/confirm'],
  },
  {
    snippets: ['events: { delivery: { webhook: { confirm: ping, subscribers: { url: null } } } }'],
    finds: [
      'events/subscriber-field-missing @ /events/delivery/webhook/subscribers',
      'events/confirm-nobody @ /events/delivery/webhook/confirm',
    ],
  },
  {
    snippets: ['events: { delivery: { webhook: { confirm: ping, subscribers: { confirmed: enabled } } } }'],
    finds: ['events/confirmed-field @ /events/delivery/webhook/subscribers/confirmed'],
  },
  {
    snippets: [
      '{ resources: { hook: { fields: { sure: { type: boolean, readOnly: true, default: false } } } }, events: { delivery: { webhook: { subscribers: { confirmed: sure } } } } }',
    ],
    finds: ['events/confirmed-field @ /events/delivery/webhook/subscribers/confirmed'],
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
  {
    snippets: ['events: { delivery: { broker: { subject: notes } } }'],
    finds: ['events/broker-kind @ /events/delivery/broker'],
  },
  {
    snippets: ['events: { delivery: { broker: { kind: nats, subject: notes, source: /notes } } }'],
    finds: ['events/broker-kind @ /events/delivery/broker/source'],
  },
  {
    snippets: ['events: { delivery: { broker: { kind: nats } } }', 'events: { delivery: { broker: { kind: cloudevents } } }'],
    finds: ['events/broker-member @ /events/delivery/broker'],
  },
  {
    snippets: ['events: { delivery: { broker: { kind: nats, subject: "notes.>" } } }'],
    finds: ['events/broker-member @ /events/delivery/broker/subject'],
  },
  {
    snippets: ['events: { delivery: { broker: { kind: cloudevents, source: "of notes" } } }'],
    finds: ['events/broker-member @ /events/delivery/broker/source'],
  },
  {
    snippets: [
      'events: { kinds: { note.changed: { on: [update note], payload: { type: object, properties: { was: object, title: string } }, data: { was: { all: [event.before] }, title: "has(event.before.title) ? event.before.title : \'\'" } } } }',
    ],
    finds: ['events/before-in-versions @ /events/kinds/note.changed/data/was/all/0'],
  },
  {
    snippets: ['events: { kinds: { note.changed: { to: "has(event.before.title)" } } }'],
    finds: ['expressions/unknown-field @ /events/kinds/note.changed/to'],
  },
  {
    snippets: ['events: { kinds: { note.changed: { if: "event.before.title != \'\'" } } }'],
    finds: ['expressions/may-be-absent @ /events/kinds/note.changed/if'],
  },
  {
    snippets: [
      'events: { kinds: { note.made: { name: notes, action: made, on: [create note], payload: note }, note.new: { name: notes, action: made, on: [create note], payload: note }, note.old: { name: notes, on: [archive note], payload: note }, note.said: { on: [publish note], payload: note, if: "event.action == \'said\'" } } }',
    ],
    finds: [
      'events/told-alike @ /events/kinds/note.new',
      'events/told-alike @ /events/kinds/note.old',
      'expressions/unknown-field @ /events/kinds/note.said/if',
    ],
  },
  {
    snippets: [
      'events: { kinds: { note.changed: { each: next.title, if: "item.word == \'a\'" }, note.deleted: { if: "item == 3" } } }',
    ],
    finds: [
      'expressions/wrong-result @ /events/kinds/note.changed/each',
      'expressions/not-in-scope @ /events/kinds/note.deleted/if',
    ],
  },
  {
    snippets: [
      'resources: { hook: { fields: { config: { type: object, properties: { url: string, on: boolean } } } } }',
      'events: { delivery: { webhook: { subscribers: { url: config.uri, secret: config.on, enabled: subscriber.enabeld, if: "event.kind" } } } }',
    ],
    finds: [
      'events/unknown-subscriber-field @ /events/delivery/webhook/subscribers/url',
      'events/subscriber-field-type @ /events/delivery/webhook/subscribers/secret',
      'expressions/unknown-field @ /events/delivery/webhook/subscribers/enabled',
      'expressions/wrong-result @ /events/delivery/webhook/subscribers/if',
    ],
  },
  {
    snippets: [
      'events: { kinds: { note.due: { of: noet, at: resource.made_at, payload: note }, note.old: { of: note, payload: note }, note.late: { of: note, at: resource.title, on: [create note], payload: book }, note.word: { of: label, at: "null", payload: label } } }',
    ],
    finds: [
      'events/clock @ /events/kinds/note.due/of',
      'events/clock @ /events/kinds/note.old/of',
      'expressions/wrong-result @ /events/kinds/note.late/at',
      'events/clock @ /events/kinds/note.late/on',
      'events/payload-misfit @ /events/kinds/note.late/payload',
      'events/clock @ /events/kinds/note.word/of',
    ],
  },
  {
    snippets: ['events: { kinds: { note.changed: { payload: { ref: book } } } }'],
    finds: ['events/payload-misfit @ /events/kinds/note.changed/payload'],
  },
];
