import type { Case } from '../harness.ts';

export const statesCases: readonly Case[] = [
  { snippets: ['states: { nott: none }'], finds: ['states/unknown-resource @ /states/nott'] },
  {
    snippets: [
      'states: { note: { initial: [{ state: draft, answer: taken }], transitions: { publish: { from: draft, to: [{ state: published, answer: nowhere }] }, archive: { from: draft, to: [{ state: archived, answer: taken }], after: 30d } } } }',
      'errors: { codes: { taken: { status: 409 } } }',
    ],
    finds: [
      'errors/unknown-error @ /states/note/transitions/publish/to/0/answer',
      'states/answer @ /states/note/transitions/archive/to/0/answer',
    ],
  },
  {
    snippets: ['states: { note: { transitions: { publish: { from: draft, to: published, on: update note } } } }'],
    finds: ['states/moved-read-only @ /resources/note/fields/status/readOnly'],
  },
  {
    snippets: [
      'resources: { note: { fields: { status: { type: string, readOnly: false } } } }',
      'states: { note: { transitions: { publish: { from: draft, to: published, on: [update note, create note] } } } }',
    ],
    finds: ['states/moved-by @ /states/note/transitions/publish/on'],
  },
  {
    snippets: [
      'states: { label: { field: colour, initial: red, states: [red], transitions: {} }, book: { field: nme, initial: on, states: [on], transitions: {} } }',
    ],
    finds: [
      'states/field-not-read-only @ /resources/label/fields/colour',
      'states/unknown-field @ /states/book/field',
      'states/of-a-value @ /states/label',
    ],
  },
  {
    snippets: [
      'states: { note: { initial: drft, transitions: { publish: "draft -> pubished", archive: { from: [draft, gone], to: archived, after: 30d } } } }',
    ],
    finds: [
      'states/unknown-state @ /states/note/initial',
      'states/unknown-state @ /states/note/transitions/publish',
      'states/unknown-state @ /states/note/transitions/archive/from/1',
    ],
  },
  {
    snippets: ['states: { note: { states: [draft, published, archived, draft] } }'],
    finds: ['states/state-twice @ /states/note/states/3'],
  },
  { snippets: ['states: { note: { field: state } }'], finds: ['states/unknown-field @ /states/note/field'] },
  { snippets: ['states: { note: { field: null } }'], finds: ['states/no-field @ /states/note'] },
  {
    snippets: [
      'resources: { note: { fields: { status: { enum: [draft, published, archived] }, made_by: { type: string, readOnly: true } } } }',
      'states: { note: { field: null } }',
    ],
    finds: ['states/no-field @ /states/note'],
  },
  {
    snippets: [
      'resources: { note: { fields: { status: { type: string, readOnly: false } } } }',
      'states: { note: { field: null } }',
    ],
    finds: ['states/no-field @ /states/note'],
  },
  {
    snippets: ['resources: { note: { fields: { status: string } } }'],
    finds: ['states/field-not-read-only @ /resources/note/fields/status'],
  },
  {
    snippets: ['resources: { note: { fields: { status: { default: published, set: { create: "\'draft\'" } } } } }'],
    finds: [
      'states/field-written @ /resources/note/fields/status/default',
      'states/field-written @ /resources/note/fields/status/set',
    ],
  },
  {
    snippets: ['resources: { note: { fields: { status: { type: integer } } } }'],
    finds: ['states/field-type @ /resources/note/fields/status/type'],
  },
  {
    snippets: ['resources: { note: { fields: { status: { enum: [draft, published] } } } }'],
    finds: ['states/field-values @ /resources/note/fields/status/enum'],
  },
  {
    snippets: ['resources: { note: { fields: { status: { enum: [draft, published, gone] } } } }'],
    finds: ['states/field-values @ /resources/note/fields/status/enum'],
  },
  {
    snippets: ['states: { note: { transitions: { delete: published -> archived } } }'],
    finds: ['states/verb-name @ /states/note/transitions/delete'],
  },
  {
    snippets: ['states: { note: { transitions: { put away: { from: draft, to: archived, by: service } } } }'],
    finds: ['states/name-with-space @ /states/note/transitions/put away'],
  },
  {
    snippets: ['states: { note: { transitions: { publish: draft => published } } }'],
    finds: ['states/arrow @ /states/note/transitions/publish'],
  },
  {
    snippets: ['states: { note: { transitions: { archive: { after: a month } } } }'],
    finds: ['states/after @ /states/note/transitions/archive/after'],
  },
  {
    snippets: ['states: { note: { transitions: { archive: { by: service } } } }'],
    finds: ['states/two-triggers @ /states/note/transitions/archive/by'],
  },
  {
    snippets: ['states: { note: { transitions: { archive: { from: "*", else: not_now } } } }'],
    finds: ['states/idle-else @ /states/note/transitions/archive/else'],
  },
  {
    snippets: ['states: { note: { initial: [draft, { if: "next.pinned", state: published }] } }'],
    finds: ['states/target-after-rest @ /states/note/initial/1'],
  },
  {
    snippets: ['states: { note: { states: [draft, published, archived, lost] } }'],
    finds: ['states/unreachable @ /states/note/states/3'],
  },
  {
    snippets: [
      'states: { note: { states: [draft, published, archived, lent], transitions: { lend: draft -> lent, keep: lent -> lent, back: lent -> draft } } }',
      '{ endpoints: { "POST /notes/{id}/lend": { does: lend note }, "POST /notes/{id}/keep": { does: keep note } } }',
    ],
    finds: ['states/never-left @ /states/note/states/3', 'states/never-fired @ /states/note/transitions/back'],
  },
  {
    snippets: ['states: { note: { transitions: { hide: published -> archived } } }'],
    finds: ['states/never-fired @ /states/note/transitions/hide'],
  },
  {
    snippets: [
      'states: { note: { transitions: { publish: { from: draft, to: published, then: [{ to: next.id }, { create: nott }, { do: hide note, to: next.id }, { update: label, to: next.id }, { create: book, delete: book }] } } } }',
    ],
    finds: [
      'states/then-act @ /states/note/transitions/publish/then/0',
      'states/then-unknown @ /states/note/transitions/publish/then/1/create',
      'states/then-unknown @ /states/note/transitions/publish/then/2/do',
      'states/then-unknown @ /states/note/transitions/publish/then/3/update',
      'states/then-act @ /states/note/transitions/publish/then/4',
    ],
  },
  {
    snippets: [
      'resources: { book: { deleted: { then: [{ do: publish note }, { delete: note, each: note.title }, { update: hook, each: note.book, set: { enabled: "false" } }, { create: book, to: resource.id, set: { name: "\'copy\'" } }] } } }',
      'endpoints: { "DELETE /books/{id}": { does: delete book } }',
      'purpose: { functions: { write: [create note, update note, publish note, delete note, create book, delete book] } }',
    ],
    finds: [
      'states/then-row @ /resources/book/deleted/then/0/do',
      'states/then-row @ /resources/book/deleted/then/1/each',
      'states/then-row @ /resources/book/deleted/then/2/each',
      'states/then-row @ /resources/book/deleted/then/3/to',
    ],
  },
  {
    snippets: [
      'states: { note: { transitions: { publish: { from: draft, to: published, then: [{ create: book, set: { titel: next.title, name: next.titel } }, { update: note, to: next.id, set: { status: "\'draft\'", id: next.id } }, { create: book, set: { name: next.size } }] } } } }',
    ],
    finds: [
      'states/then-field @ /states/note/transitions/publish/then/0/set/titel',
      'expressions/unknown-field @ /states/note/transitions/publish/then/0/set/name',
      'states/then-field @ /states/note/transitions/publish/then/1/set/status',
      'states/then-field @ /states/note/transitions/publish/then/1/set/id',
      'expressions/may-be-absent @ /states/note/transitions/publish/then/2/set/name',
      'expressions/wrong-result @ /states/note/transitions/publish/then/2/set/name',
    ],
  },
  {
    snippets: [
      'resources: { book: { fields: { notes: { type: integer, derive: count(note.book) } }, created: { then: { create: book, if: "next.name == \'a\'", set: { name: "\'b\'", notes: "0" } } } } }',
    ],
    finds: ['states/then-field @ /resources/book/created/then/set/notes'],
  },
  {
    snippets: ['resources: { book: { created: { then: { create: note, set: { owner: "\'nobody\'" } } } } }'],
    finds: ['states/then-lacks @ /resources/book/created/then/create'],
  },
  {
    snippets: ['resources: { book: { created: { then: { create: book, set: { name: next.name } } } } }'],
    finds: ['states/then-endless @ /resources/book/created/then'],
  },
  {
    snippets: [
      '{ resources: { book: { updated: { then: { create: book, set: { name: next.name } } } } }, endpoints: { "GET /count": null } }',
      'authentication: { public: null }',
      'purpose: { functions: { read: [read note, list note, notes of a book, stream events] } }',
      'states: { note: { transitions: { publish: { from: draft, to: published, then: { do: publish note, to: next.id, if: next.pinned } } } } }',
    ],
    finds: ['states/then-never @ /resources/book/updated/then', 'states/then-never @ /states/note/transitions/publish/then/do'],
  },
  {
    snippets: ['resources: { hook: { created: { then: { create: book, each: next.kinds, set: { name: item } } } } }'],
    finds: ['states/then-unbounded @ /resources/hook/created/then/each'],
  },
  {
    snippets: [
      'resources: { note: { fields: { flag: { type: string, readOnly: true } } } }',
      'states: { note.flag: { initial: off, states: [off, on], transitions: { publish: "off -> on", raise: { from: off, to: on, by: service } } } }',
    ],
    finds: [
      'states/transition-twice @ /states/note.flag/transitions/publish',
      'states/never-fired @ /states/note.flag/transitions/publish',
    ],
  },
  {
    snippets: [
      'states: { note.status: { initial: draft, states: [draft, archived], transitions: { raise: { from: draft, to: archived, by: service } } }, note.flg: { initial: on, states: [on], transitions: {} }, nott.flag: { initial: on, states: [on], transitions: {} } }',
    ],
    finds: [
      'states/field-twice @ /states/note.status',
      'states/unknown-field @ /states/note.flg',
      'states/unknown-resource @ /states/nott.flag',
      'endpoints/in-several @ /endpoints/PATCH ~1notes~1{id}/in/0',
    ],
  },
  {
    snippets: [
      'resources: { note: { fields: { flag: { type: string, readOnly: true } } } }',
      'states: { note: none, note.flag: { initial: draft, states: [draft, on], transitions: { raise: { from: draft, to: on, by: service } } } }',
    ],
    finds: [
      'resources/required-unset @ /resources/note/fields/status',
      'states/none-and-some @ /states/note.flag',
      'endpoints/unknown-transition @ /endpoints/POST ~1notes~1{id}~1publish/does',
      'events/unknown-operation @ /events/kinds/note.changed/on/3',
    ],
  },
];
