import type { Case } from '../harness.ts';

const shown =
  'authentication: { permissions: [{ allow: [all note, all book], to: writer }, { allow: [read note, list note, notes of a book], to: [writer, reader], if: "resource.owner == caller.id" }, { allow: [create hook, list hook, stream events], to: reader }, { allow: [list entry], to: [writer, reader] }] }, purpose: { functions: { read: [read note, list note, notes of a book, handler count, stream events, list entry] } }';
const rows =
  'states: { entry: none }, resources: { entry: { identifier: { field: id, generate: "ev_{random:20}" }, fields: { id: string, kind: { type: string, readOnly: true }, note: { type: string, readOnly: true }, owner: { type: string, readOnly: true }, data: { type: object, readOnly: true, additionalProperties: true } }, required: [id, kind] } }';
const log = 'events: { log: { resource: entry, keep: 30d, set: { kind: event.kind, note: event.row, owner: row.owner } } }';
/** The base document with a log that everybody may read. */
export const soundLog = `{ ${rows}, ${shown}, endpoints: { GET /entries: { does: list entry } }, ${log} }`;

/** The log of events, beside what is sound. */
export const eventLogCases: readonly Case[] = [
  { snippets: [soundLog, 'events: { log: { resource: entri } }'], finds: ['events/log-resource @ /events/log/resource'] },
  { snippets: [soundLog, 'events: { log: { resource: null } }'], finds: ['events/log-resource @ /events/log'] },
  {
    snippets: [soundLog, 'resources: { entry: { identifier: { generate: integer }, fields: { id: integer } } }'],
    finds: ['events/log-resource @ /events/log/resource'],
  },
  { snippets: [soundLog, 'events: { log: { keep: 0s } }'], finds: ['events/log-keep @ /events/log/keep'] },
  { snippets: [soundLog, 'events: { log: { keep: null } }'], finds: ['events/log-keep @ /events/log/keep'] },
  {
    snippets: [soundLog, 'events: { log: { keep: long } }', '{ resources: { entry: { deleted: { keep: 1d } } } }'],
    finds: ['events/log-keep @ /resources/entry/deleted', 'events/log-keep @ /events/log/keep'],
  },
  {
    snippets: [soundLog, 'events: { log: { set: { kinds: event.kind, id: event.id } } }'],
    finds: ['events/log-field @ /events/log/set/kinds', 'events/log-field @ /events/log/set/id'],
  },
  { snippets: [soundLog, 'events: { log: { set: { kind: null } } }'], finds: ['events/log-lacks @ /events/log'] },
  {
    snippets: [
      soundLog,
      '{ endpoints: { POST /entries: { does: create entry } }, purpose: { functions: { write: [create note, update note, publish note, delete note, create book, create entry] } }, resources: { book: { created: { then: { create: entry, set: { kind: "\'book\'" } } } } } }',
      'authentication: { permissions: [{ allow: [all note, all book], to: writer }, { allow: [read note, list note, notes of a book], to: [writer, reader], if: "resource.owner == caller.id" }, { allow: [create hook, list hook, stream events], to: reader }, { allow: [list entry, create entry], to: [writer, reader] }] }',
    ],
    finds: [
      'events/log-written @ /resources/book/created/then',
      'resources/required-unset @ /resources/entry/fields/kind',
      'events/log-written @ /endpoints/POST ~1entries/does',
    ],
  },
  {
    snippets: [soundLog, '{ events: { kinds: { entry.made: { on: [all entry], payload: entry } } } }'],
    finds: ['events/log-told @ /events/kinds/entry.made', 'expressions/may-be-absent @ /events/log/set/owner'],
  },
  {
    snippets: [soundLog, '{ resources: { entry: { created: { then: { create: book, set: { name: next.kind } } } } } }'],
    finds: ['events/log-told @ /resources/entry/created/then'],
  },
  {
    snippets: [
      soundLog,
      '{ resources: { entry: { fields: { book: { ref: book } } }, note: { fields: { cause: { ref: entry } } } } }',
    ],
    finds: ['events/log-held @ /resources/note/fields/cause', 'events/log-held @ /resources/entry/fields/book'],
  },
  {
    snippets: [
      soundLog,
      '{ endpoints: { GET /entries: null }, purpose: { functions: { read: [read note, list note, notes of a book, handler count, stream events] } } }',
      'authentication: { permissions: [{ allow: [all note, all book], to: writer }, { allow: [read note, list note, notes of a book], to: [writer, reader], if: "resource.owner == caller.id" }, { allow: [create hook, list hook, stream events], to: reader }] }',
    ],
    finds: ['events/log-unread @ /events/log'],
  },
  {
    snippets: [
      soundLog,
      '{ resources: { entry: { fields: { data: { type: object, readOnly: true } } } }, events: { kinds: { note.named: { on: [create note], payload: { ref: note } } }, log: { set: { data: event.payload } } } }',
    ],
    finds: ['events/log-payload @ /events/log/set/data'],
  },
  {
    snippets: [
      soundLog,
      '{ resources: { entry: { fields: { data: { type: [object, string], readOnly: true } } } }, events: { kinds: { note.named: { on: [create note], payload: { ref: note } } }, log: { set: { data: event.payload } } } }',
    ],
    finds: [],
  },
  {
    snippets: [soundLog, 'events: { log: { set: { owner: row.title, note: row.titel, data: event.before } } }'],
    finds: ['expressions/unknown-field @ /events/log/set/note', 'expressions/unknown-field @ /events/log/set/data'],
  },
];
